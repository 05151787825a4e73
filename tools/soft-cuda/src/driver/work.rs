//! The work that the driver's functions put on streams, and streams, which are queues of work.

use crate::{exec::Launch, fault::Fault, memory::Memory, ptx::Module};
use std::{borrow::Cow, collections::VecDeque, fmt, sync::Arc};

/// A function that reads and writes a device's memory.
pub(crate) type Job = Box<dyn FnOnce(&mut Memory) -> std::result::Result<(), Fault> + Send>;

/// Work that depends on other devices, of this process or of other processes, and waits for their data.
pub(crate) trait Remote: Send {
    /// Begins the work. It is called when all earlier work of the stream is done.
    fn begin(&mut self, memory: &mut Memory) -> std::result::Result<(), Fault>;

    /// Ends the work if all data that it waits for has arrived; returns whether the work has ended.
    fn end(&mut self, memory: &mut Memory) -> std::result::Result<bool, Fault>;
}

/// The kind of a stream. It determines whether the stream and the default stream wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamKind {
    /// The default stream itself.
    Default,
    /// A stream for which the default stream waits, and which waits for the default stream.
    Blocking,
    /// A stream that is independent of the default stream: neither of the two waits for the other.
    NonBlocking,
}

impl StreamKind {
    /// Returns a kind of streams: work on a stream of kind `self` waits for earlier work on the device's streams of the
    /// returned kind.
    pub(super) fn ordered_against(self) -> Option<StreamKind> {
        match self {
            StreamKind::Default => Some(StreamKind::Blocking),
            StreamKind::Blocking => Some(StreamKind::Default),
            StreamKind::NonBlocking => None,
        }
    }
}

/// A stream: a queue of work on one device.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) device: usize,
    pub(super) kind: StreamKind,
    /// Whether the stream's handle is destroyed. The stream is removed when its work is done.
    pub(super) destroyed: bool,
    pub(super) queue: VecDeque<Entry>,
}

impl Stream {
    pub(super) fn new(device: usize, kind: StreamKind) -> Stream {
        Stream { device, kind, destroyed: false, queue: VecDeque::new() }
    }

    /// Returns the number ([`Entry::order`]) of the oldest work in the stream.
    pub(super) fn front(&self) -> Option<u64> {
        self.queue.front().map(|entry| entry.order)
    }
}

/// A position in a stream. It stands for all work of the stream whose number is at most `order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) stream: u64,
    pub(super) order: u64,
}

/// Work in the queue of a stream, with a name for messages.
#[derive(Debug)]
pub(super) struct Entry {
    /// The number of the work. The numbers of all streams form one sequence, in the order of the calls.
    pub(super) order: u64,
    pub(super) what: Cow<'static, str>,
    pub(super) work: Work,
    /// Number of bytes of host memory that the work holds.
    pub(super) staged: usize,
}

/// Work on a stream.
pub(crate) enum Work {
    /// Work on the memory of one device.
    On(usize, Job),
    /// A launch of a kernel: the device, the module, the index of the kernel, and the configuration.
    Launch(usize, Arc<Module>, usize, Launch),
    /// A copy from one range of device memory to another.
    Copy {
        /// The device and the address of the source.
        from: (usize, u64),
        /// The device and the address of the destination.
        to: (usize, u64),
        /// The number of bytes.
        bytes: usize,
    },
    /// Frees an allocation of a device.
    Free(usize, u64),
    /// Records an event.
    Record(u64),
    /// Waits until the work up to a position in a stream is done; `None` waits for nothing.
    Wait(Option<Waited>),
    /// Work of a device that involves other devices.
    Remote {
        /// The device.
        device: usize,
        /// The work.
        remote: Box<dyn Remote>,
        /// Whether the work has begun.
        begun: bool,
    },
}

/// The position in another stream for which a stream waits.
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
