//! Runs a launch: block after block, thread after thread, each as far as it can go alone.

use crate::{fault::Fault, memory::Memory, ptx::Module};

/// How a kernel is started. What a driver refuses must be refused before.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Blocks in each direction.
    pub grid: [u32; 3],
    /// Threads of a block in each direction.
    pub block: [u32; 3],
    /// Bytes of shared memory besides those the kernel declares.
    pub shared: u32,
    /// The bytes of all parameters, laid out as [`crate::ptx::KernelInfo::params`] says.
    pub params: Vec<u8>,
}

/// The order in which blocks, and threads of a block, run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The first one first.
    Forward,
    /// The last one first.
    Reverse,
    /// Mixed; the state of the generator goes on from launch to launch.
    Random(u64),
}

/// Runs a kernel of a loaded module to its end.
pub fn run(
    module: &Module,
    kernel: usize,
    launch: &Launch,
    memory: &mut Memory,
    order: &mut Order,
) -> Result<(), Fault> {
    let _ = (launch, memory, order);
    Err(Fault::Unsupported(format!("way to run {}", module.kernel_info(kernel).name)))
}
