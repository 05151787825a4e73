//! The objects that handles refer to, except streams.

use super::work::{Mark, Waited};
use crate::ptx::{KernelInfo, Module};
use std::{sync::Arc, time::Instant};

/// An event: the position in a stream at which it was recorded last, and the time when the stream reached this
/// position.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) device: usize,
    pub(super) timed: bool,
    /// The position at which the event was recorded last.
    pub(super) mark: Option<Mark>,
    /// The time at which the stream reached that position.
    pub(super) happened: Option<Instant>,
}

impl Event {
    /// Returns the position up to which a stream waits if it waits for this event; `None` if the event was never
    /// recorded.
    pub(super) fn waited(&self) -> Option<Waited> {
        self.mark.map(Waited)
    }
}

/// A PTX module that is loaded on a device.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) device: usize,
    pub(super) module: Arc<Module>,
}

/// A kernel of a loaded module.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) device: usize,
    /// Handle of the loaded module.
    pub(super) loaded: u64,
    pub(super) module: Arc<Module>,
    pub(super) kernel: usize,
    /// The largest dynamic shared memory, in bytes, that a launch may request.
    pub(super) most_shared: u32,
}

impl Function {
    pub(super) fn info(&self) -> &KernelInfo {
        self.module.kernel_info(self.kernel)
    }
}
