//! Work, and the streams that are queues of it.

use crate::{exec::Launch, fault::Fault, memory::Memory, ptx::Module};
use std::{borrow::Cow, collections::VecDeque, fmt, sync::Arc};

/// Work on a device's memory.
pub(crate) type Job = Box<dyn FnOnce(&mut Memory) -> std::result::Result<(), Fault> + Send>;

/// Work that does not end by itself: it waits for what other devices, of this process or of others, send it.
pub(crate) trait Remote: Send {
    /// The stream has come to it.
    fn begin(&mut self, memory: &mut Memory) -> std::result::Result<(), Fault>;

    /// Ends it, where all has come that it waits for. Whether it has ended.
    fn end(&mut self, memory: &mut Memory) -> std::result::Result<bool, Fault>;
}

/// How a stream is ordered against the default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamKind {
    /// It is the default stream.
    Default,
    /// It waits for the default stream, and the default stream for it.
    Blocking,
    /// Not at all.
    NonBlocking,
}

impl StreamKind {
    /// The streams of its device for which its work waits.
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
    /// Whether its handle is gone: it lives on until its work is done.
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

/// A place in a stream: all that was put on it up to and with this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) stream: u64,
    pub(super) order: u64,
}

/// Work, and what it is called in messages.
#[derive(Debug)]
pub(super) struct Entry {
    /// Grows from call to call over all streams.
    pub(super) order: u64,
    pub(super) what: Cow<'static, str>,
    pub(super) work: Work,
    /// Bytes of host memory it holds.
    pub(super) staged: usize,
}

/// What can be put on a stream.
pub(crate) enum Work {
    /// Work on the memory of one device.
    On(usize, Job),
    /// A launch on a device of a kernel of a module.
    Launch(usize, Arc<Module>, usize, Launch),
    /// A copy between (device, address) and (device, address).
    Copy {
        /// Where from.
        from: (usize, u64),
        /// Where to.
        to: (usize, u64),
        /// How much.
        bytes: usize,
    },
    /// The end of an allocation of a device.
    Free(usize, u64),
    /// An event happens.
    Record(u64),
    /// Nothing, but not before this.
    Wait(Option<Waited>),
    /// Work of a device with others.
    Remote {
        /// The device.
        device: usize,
        /// What it does.
        remote: Box<dyn Remote>,
        /// Whether it has begun.
        begun: bool,
    },
}

/// What is waited for.
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
