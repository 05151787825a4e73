//! Calls that are started now and waited for later.

use crate::{DType, Join, Request, Result, World, check, describe, queue, transport::Start, watch::Call};

/// A started call and its buffers. [`wait`](Pending::wait) returns its result.
///
/// The call may progress only while this rank is in some call of its world. Dropping the `Pending` waits for the call
/// and discards its result. On a rank that unwinds, dropping does not wait, because the job is about to end.
#[must_use = "a call is complete when it was waited for"]
pub struct Pending {
    world: World,
    call: Call,
    work: Work,
}

enum Work {
    /// A call that the transport has started.
    Request(Box<dyn Request>),
    /// A receive of a message that this rank sends to itself; `number` identifies the message.
    Own { number: u64, buf: Vec<u8>, dtype: DType },
    /// A finished call, with its result.
    Done(Vec<u8>),
    /// The result has been returned.
    Taken,
}

impl World {
    fn start(&self, call: Call, bytes: usize, start: Start) -> Result<Pending> {
        let request = self.call(call, bytes, |transport| transport.start(start))?;
        Ok(Pending::new(self, call, Work::Request(request)))
    }

    /// Starts a [`barrier`](World::barrier).
    pub fn start_barrier(&self) -> Result<Pending> {
        self.compare(|| "start_barrier".into())?;
        self.start(Call::StartBarrier, 0, Start::Barrier)
    }

    /// Starts a [`broadcast`](World::broadcast). The buffers of all ranks must have the same length.
    pub fn start_broadcast(&self, buf: Vec<u8>, dtype: DType, root: usize) -> Result<Pending> {
        check::whole("broadcast", "buf", &buf, dtype)?;
        check::rank("broadcast", "root", root, self.size())?;
        self.compare(|| format!("start_{}", describe::broadcast(buf.len(), dtype, root)))?;
        let bytes = if self.rank() == root { buf.len() } else { 0 };
        self.start(Call::StartBroadcast, bytes, Start::Broadcast { buf, dtype, root })
    }

    /// Starts an [`all_gather`](World::all_gather).
    pub fn start_all_gather(&self, send: Vec<u8>, counts: &[usize], dtype: DType) -> Result<Pending> {
        let sum = check::counts("all_gather", "counts", counts, self.size())?;
        check::length("all_gather", "send", &send, counts[self.rank()], dtype)?;
        let recv = check::room("all_gather", sum, dtype)?;
        self.compare(|| format!("start_{}", describe::all_gather(counts, dtype)))?;
        self.start(Call::StartAllGather, send.len(), Start::AllGather { send, recv, counts: counts.to_vec(), dtype })
    }

    /// Starts an [`all_to_all`](World::all_to_all).
    pub fn start_all_to_all(&self, send: Vec<u8>, to: &[usize], from: &[usize], dtype: DType) -> Result<Pending> {
        self.check_all_to_all(&send, to, from, dtype)?;
        let recv = check::room("all_to_all", from.iter().sum(), dtype)?;
        self.compare(|| format!("start_{}", describe::all_to_all(dtype)))?;
        self.compare_counts(to, from)?;
        let bytes = send.len() - to[self.rank()] * dtype.size();
        self.start(
            Call::StartAllToAll,
            bytes,
            Start::AllToAll { send, to: to.to_vec(), recv, from: from.to_vec(), dtype },
        )
    }

    /// Starts an [`all_reduce`](World::all_reduce).
    pub fn start_all_reduce(&self, buf: Vec<u8>, dtype: DType, join: Join) -> Result<Pending> {
        self.check_reduction("all_reduce", &buf, dtype, join)?;
        self.compare(|| format!("start_{}", describe::all_reduce(buf.len(), dtype, join)))?;
        self.start(Call::StartAllReduce, buf.len(), Start::AllReduce { buf, dtype, join })
    }

    /// Starts a [`reduce_scatter`](World::reduce_scatter).
    pub fn start_reduce_scatter(&self, send: Vec<u8>, counts: &[usize], dtype: DType, join: Join) -> Result<Pending> {
        self.check_reduce_scatter(&send, counts, dtype, join)?;
        let recv = check::room("reduce_scatter", counts[self.rank()], dtype)?;
        self.compare(|| format!("start_{}", describe::reduce_scatter(counts, dtype, join)))?;
        self.start(
            Call::StartReduceScatter,
            send.len(),
            Start::ReduceScatter { send, recv, counts: counts.to_vec(), dtype, join },
        )
    }

    /// Starts a [`send`](World::send). Not collective.
    pub fn start_send(&self, buf: Vec<u8>, dtype: DType, to: usize) -> Result<Pending> {
        check::whole("send", "buf", &buf, dtype)?;
        check::rank("send", "to", to, self.size())?;
        if to == self.rank() {
            self.own().send(buf.clone(), dtype);
            return Ok(Pending::new(self, Call::StartSend, Work::Done(buf)));
        }
        self.start(Call::StartSend, buf.len(), Start::Send { buf, dtype, to })
    }

    /// Starts a [`recv`](World::recv) of `elements` elements. Not collective. Several receives from one rank get its
    /// messages in the order in which the receives were started.
    pub fn start_recv(&self, elements: usize, dtype: DType, from: usize) -> Result<Pending> {
        check::rank("recv", "from", from, self.size())?;
        let buf = check::room("recv", elements, dtype)?;
        if from == self.rank() {
            let number = self.own().ask();
            return Ok(Pending::new(self, Call::StartRecv, Work::Own { number, buf, dtype }));
        }
        self.start(Call::StartRecv, 0, Start::Recv { buf, dtype, from })
    }
}

impl Pending {
    fn new(world: &World, call: Call, work: Work) -> Pending {
        Pending { world: world.clone(), call, work }
    }

    /// Waits for the call and returns its result:
    /// - broadcast, reduction or receive: the buffer, which holds the received data or the reduced values
    /// - all-gather or all-to-all: the parts from all ranks, in the order of the ranks
    /// - reduce-scatter: this rank's part of the reduced values
    /// - send: the buffer that was sent, so that it can be used again
    /// - barrier: an empty buffer
    ///
    /// # Errors
    /// Errors of the blocking call with the same name.
    pub fn wait(mut self) -> Result<Vec<u8>> {
        self.finish()
    }

    /// Returns whether [`wait`](Pending::wait) would return immediately.
    ///
    /// # Errors
    /// Errors of the call, which `wait` then returns as well.
    pub fn is_done(&mut self) -> Result<bool> {
        match &mut self.work {
            Work::Request(request) => self.world.wait_for(self.call, |transport| request.is_done(transport)),
            Work::Own { number, .. } => Ok(self.world.own().has(*number)),
            Work::Done(_) | Work::Taken => Ok(true),
        }
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        match std::mem::replace(&mut self.work, Work::Taken) {
            Work::Request(request) => self.world.wait_for(self.call, |transport| request.wait(transport)),
            Work::Own { number, mut buf, dtype } => {
                let message = self.world.own().take(number).ok_or_else(|| self.world.nothing_of_own())?;
                queue::deliver(message, &mut buf, dtype, self.world.rank())?;
                Ok(buf)
            }
            Work::Done(buf) => Ok(buf),
            Work::Taken => Ok(Vec::new()),
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // the library may still write to the memory of the request, so the memory is never freed
            std::mem::forget(std::mem::replace(&mut self.work, Work::Taken));
        } else {
            // `drop` cannot return the error; the next call encounters the same error again
            let _ = self.finish();
        }
    }
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pending({} of {:?})", self.call.name(), self.world)
    }
}
