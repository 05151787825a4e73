//! The state that all threads of a launch share.

use super::{launch::Launch, race::Races, window::local_window};
use crate::{
    memory::{Hint, Memory},
    ptx::{
        Module,
        module::Kernel,
        step::{LaneMask, Special},
    },
};

/// The state of a launch besides its threads.
pub(super) struct Machine<'m> {
    pub module: &'m Module,
    pub kernel: &'m Kernel,
    pub launch: &'m Launch,
    pub memory: &'m mut Memory,
    /// For each instruction that accesses memory, the allocation that this instruction accessed last.
    pub hints: Vec<Hint>,
    /// The shared memory of the running block.
    pub shared: Vec<u8>,
    pub races: Races,
    /// The index of the running block.
    pub block: [u32; 3],
    /// The number of steps (instructions) that may still run before the launch counts as endless.
    pub left: u64,
}

impl Machine<'_> {
    /// Returns a thread's coordinates in its block.
    pub fn position(&self, thread: u32) -> [u32; 3] {
        let [x, y, _] = self.launch.block;
        [thread % x, thread / x % y, thread / x / y]
    }

    /// Returns the value of a special register, in a function whose local variables begin at the address `local`.
    pub fn special(&self, special: Special, thread: u32, local: usize) -> u64 {
        let lane = thread % 32;
        match special {
            Special::Thread(axis) => self.position(thread)[axis].into(),
            Special::Threads(axis) => self.launch.block[axis].into(),
            Special::Block(axis) => self.block[axis].into(),
            Special::Blocks(axis) => self.launch.grid[axis].into(),
            Special::Lane => lane.into(),
            Special::Warp => (thread / 32).into(),
            Special::Warps => self.launch.block.iter().product::<u32>().div_ceil(32).into(),
            Special::Dynamic => self.kernel.dynamic as u64,
            Special::DynamicBytes => self.launch.shared.into(),
            Special::Local(place) => local as u64 + u64::from(place),
            Special::LocalWindow => local_window(thread),
            Special::LaneMask(mask) => u64::from(match mask {
                LaneMask::Equal => 1 << lane,
                LaneMask::Less => (1 << lane) - 1,
                LaneMask::LessEqual => u32::MAX >> (31 - lane),
                LaneMask::Greater => !(u32::MAX >> (31 - lane)),
                LaneMask::GreaterEqual => u32::MAX << lane,
            }),
        }
    }
}
