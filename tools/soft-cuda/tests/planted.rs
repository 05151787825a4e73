//! Tests that typical mistakes are detected. The mistakes are planted in kernels, which NVRTC compiles from CUDA C++,
//! and in callers of kernels.

use backend_runtime::{
    available,
    cuda::nvrtc::{Target, compile},
};
use soft_cuda::{
    driver::{Driver, config::Config, error::Code},
    exec::{Launch, Order},
};
use std::{env, process::Command};

/// A device with one kernel, `k`.
struct Device {
    driver: Driver,
    kernel: u64,
}

/// The orders of threads in which each kernel runs.
const ORDERS: [Order; 3] = [Order::Forward, Order::Reverse, Order::Random(7)];

impl Device {
    fn new(source: &str, order: Order) -> Option<Device> {
        let target = available("nvrtc", Target::of((9, 1)))?;
        let compiled = compile(source, &["k".into()], &target).unwrap();
        let text = std::str::from_utf8(&compiled.image).unwrap().trim_end_matches('\0');
        let mut driver = Driver::new(Config { order, ..Config::default() });
        driver.initialise().unwrap();
        driver.retain(0).unwrap();
        let module = driver.module_load(0, text).unwrap();
        let kernel = driver.module_function(module, &compiled.names[0]).unwrap();
        Some(Device { driver, kernel })
    }

    /// Copies 32-bit words into newly allocated memory; returns the address.
    fn words(&mut self, content: &[u32]) -> u64 {
        let memory = self.driver.allocate(0, 4 * content.len()).unwrap();
        let bytes: Vec<u8> = content.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.driver.copy_in(0, memory, &bytes, 0).unwrap();
        memory
    }

    /// Allocates uninitialised memory for 32-bit words.
    fn memory(&mut self, words: usize) -> u64 {
        self.driver.allocate(0, 4 * words).unwrap()
    }

    /// Runs the kernel on one block, and waits for it.
    fn run(&mut self, threads: u32, pointers: &[u64]) -> Result<(), Code> {
        let params = pointers.iter().flat_map(|pointer| pointer.to_le_bytes()).collect();
        self.driver.launch(0, self.kernel, Launch { grid: [1; 3], block: [threads, 1, 1], shared: 0, params }, 0)?;
        self.driver.stream_synchronize(0, 0)
    }

    fn read(&mut self, address: u64, words: usize) -> Vec<u32> {
        let mut content = Vec::new();
        let read = |bytes: &[u8]| {
            content = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        };
        self.driver.copy_out(0, address, 4 * words, 0, read).unwrap();
        content
    }
}

/// Runs a kernel with pointers to `pointers` arrays of 64 words. Checks that the kernel fails with the error code
/// `code` in every order of threads.
#[track_caller]
fn stops(source: &str, threads: u32, pointers: usize, code: Code) {
    for order in ORDERS {
        let Some(mut device) = Device::new(source, order) else { return };
        let content: Vec<u32> = (0..64).collect();
        let pointers: Vec<u64> = (0..pointers).map(|_| device.words(&content)).collect();
        assert_eq!(device.run(threads, &pointers), Err(code), "{order:?}");
        assert_eq!(device.driver.stream_synchronize(0, 0), Err(code), "every later call says so too");
    }
}

#[test]
fn memory_that_was_never_written() {
    let source =
        "extern \"C\" __global__ void k(float *to, const float *from) { to[threadIdx.x] = from[threadIdx.x] + 1; }";
    let Some(mut device) = Device::new(source, Order::Forward) else { return };
    let (to, from) = (device.memory(8), device.memory(8));
    device.run(8, &[to, from]).unwrap();
    assert!(device.read(to, 8).iter().all(|&word| f32::from_bits(word).is_nan()));
}

#[test]
fn shared_memory_that_was_never_written() {
    let source = "extern \"C\" __global__ void k(int *to) {
        __shared__ int sums[32];
        atomicAdd(&sums[threadIdx.x], 5);
        __syncthreads();
        to[threadIdx.x] = sums[threadIdx.x];
    }";
    let Some(mut device) = Device::new(source, Order::Forward) else { return };
    let to = device.memory(32);
    device.run(32, &[to]).unwrap();
    assert_eq!(device.read(to, 32), [4; 32], "-1 and 5, not 0 and 5");
}

#[test]
fn an_index_one_too_large() {
    let write = "extern \"C\" __global__ void k(int *to) { to[threadIdx.x] = 1; }";
    stops(write, 65, 1, Code::ILLEGAL_ADDRESS);
    let read = "extern \"C\" __global__ void k(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x + 1]; }";
    stops(read, 64, 2, Code::ILLEGAL_ADDRESS);
}

#[test]
fn an_index_before_the_first() {
    let source = "extern \"C\" __global__ void k(int *to) { to[(int)threadIdx.x - 1] = 1; }";
    stops(source, 1, 1, Code::ILLEGAL_ADDRESS);
}

#[test]
fn a_vector_where_none_may_begin() {
    let source = "extern \"C\" __global__ void k(float *to) { *(float4 *)(to + 1) = make_float4(1, 2, 3, 4); }";
    stops(source, 1, 1, Code::MISALIGNED_ADDRESS);
}

#[test]
fn a_null_pointer() {
    let source = "extern \"C\" __global__ void k() { *(int volatile *)0 = 1; }";
    stops(source, 1, 0, Code::ILLEGAL_ADDRESS);
}

/// A kernel that reverses 64 words: each thread writes a word to shared memory, and thread `i` reads the word of thread
/// `63 - i`.
const REVERSE: &str = "extern \"C\" __global__ void k(int *x) {
    __shared__ int words[64];
    words[threadIdx.x] = x[threadIdx.x];
    BARRIER
    x[threadIdx.x] = words[63 - threadIdx.x];
}";

#[test]
fn a_missing_barrier() {
    stops(&REVERSE.replace("BARRIER", ""), 64, 1, Code::LAUNCH_FAILED);
    for order in ORDERS {
        let Some(mut device) = Device::new(&REVERSE.replace("BARRIER", "__syncthreads();"), order) else { return };
        let x = device.words(&(0..64).collect::<Vec<_>>());
        device.run(64, &[x]).unwrap();
        assert_eq!(device.read(x, 64), (0..64).rev().collect::<Vec<_>>());
    }
}

#[test]
fn a_barrier_that_is_missing_between_two_rounds() {
    // the sum is correct if all threads finish a round before the next round begins
    let source = "extern \"C\" __global__ void k(int *x) {
        __shared__ int words[64];
        words[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        for (int half = 32; half; half /= 2) {
            if (threadIdx.x < half) words[threadIdx.x] += words[threadIdx.x + half];
            BARRIER
        }
        if (threadIdx.x == 0) x[0] = words[0];
    }";
    stops(&source.replace("BARRIER", ""), 64, 1, Code::LAUNCH_FAILED);
    for order in ORDERS {
        let Some(mut device) = Device::new(&source.replace("BARRIER", "__syncthreads();"), order) else { return };
        let x = device.words(&(0..64).collect::<Vec<_>>());
        device.run(64, &[x]).unwrap();
        assert_eq!(device.read(x, 1), [2016]);
    }
}

#[test]
fn a_barrier_within_a_warp_that_is_missing() {
    let source = "extern \"C\" __global__ void k(int *x) {
        __shared__ int words[32];
        words[threadIdx.x] = x[threadIdx.x];
        BARRIER
        x[threadIdx.x] = words[31 - threadIdx.x];
    }";
    stops(&source.replace("BARRIER", ""), 32, 1, Code::LAUNCH_FAILED);
    for order in ORDERS {
        let Some(mut device) = Device::new(&source.replace("BARRIER", "__syncwarp();"), order) else { return };
        let x = device.words(&(0..32).collect::<Vec<_>>());
        device.run(32, &[x]).unwrap();
        assert_eq!(device.read(x, 32), (0..32).rev().collect::<Vec<_>>());
    }
}

#[test]
fn a_shuffle_that_not_all_lanes_reach() {
    let source = "extern \"C\" __global__ void k(int *x) {
        if (threadIdx.x < 16) x[threadIdx.x] = __shfl_down_sync(0xffffffff, x[threadIdx.x], 1);
        else __syncwarp(0xffff0000);
        __syncthreads();
    }";
    stops(source, 32, 1, Code::LAUNCH_FAILED);
}

#[test]
fn a_shuffle_by_a_lane_that_is_not_in_its_mask() {
    let source = "extern \"C\" __global__ void k(int *x) {
        x[threadIdx.x] = __shfl_xor_sync(0x0000ffff, x[threadIdx.x], 1);
    }";
    stops(source, 32, 1, Code::LAUNCH_FAILED);
}

#[test]
fn a_barrier_that_part_of_a_block_waits_at_for_ever() {
    let source = "extern \"C\" __global__ void k(int *x) {
        if (threadIdx.x < 16) __syncthreads();
        else x[threadIdx.x] = __shfl_down_sync(0xffffffff, x[threadIdx.x], 1);
    }";
    stops(source, 32, 1, Code::LAUNCH_FAILED);
}

#[test]
fn a_sum_that_is_not_atomic() {
    let source = "extern \"C\" __global__ void k(int *x) {
        __shared__ int sum;
        if (threadIdx.x == 0) sum = 0;
        __syncthreads();
        ADD
        __syncthreads();
        if (threadIdx.x == 0) x[0] = sum;
    }";
    stops(&source.replace("ADD", "sum += x[threadIdx.x];"), 64, 1, Code::LAUNCH_FAILED);
    for order in ORDERS {
        let Some(mut device) = Device::new(&source.replace("ADD", "atomicAdd(&sum, x[threadIdx.x]);"), order) else {
            return;
        };
        let x = device.words(&(0..64).collect::<Vec<_>>());
        device.run(64, &[x]).unwrap();
        assert_eq!(device.read(x, 1), [2016]);
    }
}

#[test]
fn a_sum_in_global_memory_that_is_not_atomic() {
    let sum = |add: &str| {
        let source = format!("extern \"C\" __global__ void k(int *x) {{ {add} }}");
        let mut device = Device::new(&source, Order::Random(7))?;
        let x = device.words(&[0]);
        device.run(64, &[x]).unwrap();
        Some(device.read(x, 1)[0])
    };
    let (Some(wrong), Some(right)) = (sum("x[0] += 1;"), sum("atomicAdd(x, 1);")) else { return };
    assert!(wrong < 64, "others come between the read and the write of a thread: {wrong}");
    assert_eq!(right, 64);
}

#[test]
fn memory_that_was_freed() {
    let source = "extern \"C\" __global__ void k(int *to) { to[threadIdx.x] = 1; }";
    let Some(mut device) = Device::new(source, Order::Forward) else { return };
    let to = device.memory(4);
    device.driver.free_on(0, to, 0).unwrap();
    assert_eq!(device.run(4, &[to]), Err(Code::ILLEGAL_ADDRESS));
}

#[test]
fn a_result_that_was_not_waited_for() {
    let source = "extern \"C\" __global__ void k(int *to) { to[threadIdx.x] = 1; }";
    let Some(mut device) = Device::new(source, Order::Forward) else { return };
    // two streams that do not wait for the default stream
    let [one, other] = [0, 1].map(|_| device.driver.stream_create(0, 1).unwrap());
    let to = device.words(&[0; 4]);
    device.driver.stream_synchronize(0, 0).unwrap();
    let params = to.to_le_bytes().to_vec();
    let launch = Launch { grid: [1; 3], block: [4, 1, 1], shared: 0, params };
    device.driver.launch(0, device.kernel, launch, one).unwrap();
    let mut first = 1;
    device.driver.copy_out(0, to, 4, other, |bytes| first = bytes[0]).unwrap();
    assert_eq!(first, 0, "the other stream did not wait");
}

#[test]
fn an_allocation_that_fails() {
    let mut driver = Driver::new(Config { fail_allocation: Some(2), ..Config::default() });
    driver.initialise().unwrap();
    driver.retain(0).unwrap();
    assert!(driver.allocate(0, 8).is_ok());
    assert_eq!(driver.allocate(0, 8), Err(Code::OUT_OF_MEMORY));
    assert!(driver.allocate(0, 8).is_ok());
}

/// The environment variable that makes this program run as the child that reads device memory.
const CHILD: &str = "SOFT_CUDA_PLANTED_CHILD";

#[test]
fn host_code_that_reads_device_memory() {
    if env::var_os(CHILD).is_some() {
        let mut driver = Driver::new(Config::default());
        driver.initialise().unwrap();
        driver.retain(0).unwrap();
        let address = driver.allocate(0, 64).unwrap() as *const u32;
        // SAFETY: this access is not sound; it is the planted mistake, and it ends the process.
        let word = unsafe { address.read_volatile() };
        println!("the host read {word}");
        return;
    }
    let test = "host_code_that_reads_device_memory";
    let output = Command::new(env::current_exe().unwrap()).args([test, "--exact"]).env(CHILD, "1").output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        const SEGMENTATION_FAULT: i32 = 11;
        assert_eq!(output.status.signal(), Some(SEGMENTATION_FAULT), "{output:?}");
    }
}
