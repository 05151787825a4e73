//! Work, and streams, which are queues of work.

use crate::{exec::Launch, fault::Fault, memory::Memory, ptx::Module};
use std::{borrow::Cow, collections::VecDeque, fmt, sync::Arc};

/// Work on a device's memory.
pub(crate) type Job = Box<dyn FnOnce(&mut Memory) -> std::result::Result<(), Fault> + Send>;

/// Work that depends on other devices, of this process or others: it waits for what they send.
pub(crate) trait Remote: Send {
    /// Called when the stream reaches the work.
    fn begin(&mut self, memory: &mut Memory) -> std::result::Result<(), Fault>;

    /// Ends the work if everything it waits for has arrived; returns whether it has ended.
    fn end(&mut self, memory: &mut Memory) -> std::result::Result<bool, Fault>;
}

/// The order of a stream relative to the default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamKind {
    /// The default stream itself.
    Default,
    /// A stream that waits for the default stream, and the default stream for it.
    Blocking,
    /// A stream without such an order.
    NonBlocking,
}

impl StreamKind {
    /// The streams of its device that its work waits for.
    pub(super) fn ordered_against(self) -> Option<StreamKind> {
        match self {
            StreamKind::Default => Some(StreamKind::Blocking),
            StreamKind::Blocking => Some(StreamKind::Default),
            StreamKind::NonBlocking => None,
        }
    }
}

/// A stream.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) device: usize,
    pub(super) kind: StreamKind,
    /// Whether its handle is destroyed; the stream lives on until its work is done.
    pub(super) destroyed: bool,
    pub(super) queue: VecDeque<Entry>,
}

impl Stream {
    pub(super) fn new(device: usize, kind: StreamKind) -> Stream {
        Stream { device, kind, destroyed: false, queue: VecDeque::new() }
    }

    /// The order of its oldest work.
    pub(super) fn front(&self) -> Option<u64> {
        self.queue.front().map(|entry| entry.order)
    }
}

/// A position in a stream: all work enqueued up to and including this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) stream: u64,
    pub(super) order: u64,
}

/// Work, and its name in messages.
#[derive(Debug)]
pub(super) struct Entry {
    /// Increases from call to call, over all streams.
    pub(super) order: u64,
    pub(super) what: Cow<'static, str>,
    pub(super) work: Work,
    /// Host memory in bytes that it holds.
    pub(super) staged: usize,
}

/// The kinds of work on a stream.
pub(crate) enum Work {
    /// Work on the memory of one device.
    On(usize, Job),
    /// A launch: device, module, index of the kernel, and launch.
    Launch(usize, Arc<Module>, usize, Launch),
    /// A copy between (device, address) and (device, address).
    Copy {
        /// The source.
        from: (usize, u64),
        /// The destination.
        to: (usize, u64),
        /// The number of bytes.
        bytes: usize,
    },
    /// Frees an allocation of a device.
    Free(usize, u64),
    /// Records an event.
    Record(u64),
    /// Waits for a mark, if any.
    Wait(Option<Waited>),
    /// Work of a device that involves other devices.
    Remote {
        /// The device.
        device: usize,
        /// The work.
        remote: Box<dyn Remote>,
        /// Whether it has begun.
        begun: bool,
    },
}

/// The mark that is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waited(pub(super) Mark);

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Work::On(..) => "On",
            Work::Launch(..) => "Launch",
            Work::Copy { .. } => "Copy",
            Work::Free(..) => "Free",
            Work::Record(_) => "Record",
            Work::Wait(_) => "Wait",
            Work::Remote { .. } => "Remote",
        })
    }
}
