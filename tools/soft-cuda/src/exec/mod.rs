//! Runs a launch. Blocks run one after the other, and so do the threads of a block; each thread runs until it has to
//! wait.
//!
//! `thread` runs the steps (decoded instructions) of a thread, `block` lets threads wait for each other, `space` checks
//! each memory access, `race` checks accesses to shared memory for races, and `alu` has the arithmetic.

pub(crate) mod alu;
mod block;
mod launch;
mod machine;
mod order;
mod private;
mod race;
mod space;
#[cfg(test)]
mod tests;
mod thread;
mod warp;
pub(crate) mod window;

pub use launch::Launch;
pub use order::Order;

use crate::{
    fault::Fault,
    memory::{Hint, Memory},
    ptx::Module,
};
use block::Block;
use machine::Machine;
use race::Races;

/// The number of steps (decoded instructions), summed over all threads, after which a launch counts as endless.
pub const STEPS: u64 = 1 << 36;

/// Runs a kernel of a loaded module to its end.
pub fn run(
    module: &Module,
    kernel: usize,
    launch: &Launch,
    memory: &mut Memory,
    order: &mut Order,
) -> Result<(), Fault> {
    run_within(STEPS, module, kernel, launch, memory, order).map(|_| ())
}

/// Like [`run`], but fails after `limit` steps. Returns the number of executed steps.
pub fn run_within(
    limit: u64,
    module: &Module,
    kernel: usize,
    launch: &Launch,
    memory: &mut Memory,
    order: &mut Order,
) -> Result<u64, Fault> {
    let kernel = &module.kernels[kernel];
    let [across, down, deep] = launch.grid.map(u64::from);
    let threads = launch.block.iter().map(|&n| u64::from(n)).product::<u64>();
    let blocks = across * down * deep;
    if blocks == 0 || !(1..=1024).contains(&threads) {
        return Err(Fault::Failed(format!("a launch of {blocks} blocks of {threads} threads")));
    }
    let shared = if launch.shared == 0 { kernel.info.shared_bytes } else { kernel.dynamic + launch.shared as usize };
    let mut machine = Machine {
        module,
        kernel,
        launch,
        memory,
        hints: vec![Hint::default(); module.accesses.min(1 << 16)],
        shared: vec![0; shared],
        races: Races::new(shared, threads as usize),
        block: [0; 3],
        left: limit,
    };
    let mut block = Block::default();
    for index in order.blocks(blocks) {
        machine.block = [index % across, index / across % down, index / across / down].map(|i| i as u32);
        block.run(&mut machine, order)?;
    }
    Ok(limit - machine.left)
}
