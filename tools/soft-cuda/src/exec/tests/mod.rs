//! Tests that launch small kernels.

mod control;
mod memory;
mod registers;
mod together;

use super::{Launch, Order, run_within};
use crate::{
    fault::Fault,
    memory::{Hint, Memory},
    ptx::Module,
};

/// A device with one module loaded.
struct Device {
    memory: Memory,
    module: Module,
    order: Order,
}

/// The shape of a launch: blocks, threads of a block, and bytes of dynamic shared memory.
type Shape = (u32, u32, u32);

impl Device {
    /// Creates a device, and loads the module with this PTX text.
    fn with(text: &str) -> Device {
        let mut memory = Memory::new(0, 1 << 30);
        let mut module = Module::parse(text).unwrap_or_else(|error| panic!("{error}"));
        module.load(&mut memory).unwrap();
        Device { memory, module, order: Order::Forward }
    }

    fn buffer(&mut self, content: &[u8]) -> u64 {
        let address = self.memory.allocate(content.len() as u64).unwrap();
        self.memory.write(&mut Hint::default(), address, content.len()).unwrap().copy_from_slice(content);
        address
    }

    fn bytes(&self, address: u64, bytes: usize) -> Vec<u8> {
        self.memory.read(&mut Hint::default(), address, bytes).unwrap().to_vec()
    }

    /// Launches the kernel `k`, whose parameters all have 64 bits.
    fn launch(&mut self, (blocks, threads, shared): Shape, params: &[u64]) -> Result<u64, Fault> {
        let kernel = self.module.kernel("k").expect("a kernel k");
        let params = params.iter().flat_map(|param| param.to_le_bytes()).collect();
        let launch = Launch { grid: [blocks, 1, 1], block: [threads, 1, 1], shared, params };
        run_within(1 << 30, &self.module, kernel, &launch, &mut self.memory, &mut self.order)
    }
}

/// Launches a kernel `k(u64* out, ..)` and returns the first `count` numbers of `out`, which must be the same in every
/// order of threads.
fn outcome(text: &str, shape: Shape, count: usize, params: &[u64]) -> Result<Vec<u64>, Fault> {
    let mut results = Vec::new();
    for order in [Order::Forward, Order::Reverse, Order::Random(5)] {
        let mut device = Device::with(text);
        device.order = order;
        let out = device.buffer(&vec![0; 8 * count]);
        let params: Vec<u64> = [out].iter().chain(params).copied().collect();
        let result = device.launch(shape, &params).map(|_| {
            let bytes = device.bytes(out, 8 * count);
            bytes.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect::<Vec<_>>()
        });
        results.push(result);
    }
    let first = results.swap_remove(0);
    if let Ok(first) = &first {
        for result in results {
            assert_eq!(result.as_ref(), Ok(first), "the order of threads shows");
        }
    }
    first
}

/// Returns the PTX text of a module with one kernel `k(u64* out, u64 n)`. In its body `%out` and `%n` are the
/// parameters, `%t` is the thread in the block, `%g` the thread in the grid, and `%mine` the address of `out[%g]`;
/// `%r<40>`, `%rd<40>`, `%f<40>`, `%fd<40>`, `%rs<40>` and `%p<10>` are free.
fn kernel(body: &str) -> String {
    kernel_after("", body)
}

/// Like [`kernel`], with other items before the kernel.
fn kernel_after(items: &str, body: &str) -> String {
    format!(
        ".version 9.0
.target sm_90
.address_size 64
{items}
.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1)
{{
    .reg .pred %p<10>; .reg .b16 %rs<40>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .f32 %f<40>; .reg .f64 %fd<40>;
    .reg .b64 %out, %n, %mine; .reg .b32 %t, %g, %b, %w;
    ld.param.u64 %out, [k_param_0];
    ld.param.u64 %n, [k_param_1];
    mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %w, %ntid.x;
    mad.lo.s32 %g, %b, %w, %t;
    mad.wide.u32 %mine, %g, 8, %out;
{body}
    ret;
}}
"
    )
}
