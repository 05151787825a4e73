//! Groups of calls between `ncclGroupStart` and `ncclGroupEnd`. The sends and receives of a group with the same
//! communicator and stream are enqueued together.

use super::{
    comm::Comm,
    status::{Result, Status},
};
use crate::{
    driver::{self, Remote, Work},
    fault::Fault,
    memory::{Hint, Memory},
};
use std::{cell::RefCell, sync::Arc};

/// A range of device memory to send to a rank, or to receive from one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) peer: usize,
    pub(super) address: u64,
    pub(super) bytes: usize,
}

/// The sends and receives of a group with the same communicator and stream.
pub(super) struct Exchange {
    comm: Arc<Comm>,
    stream: u64,
    sends: Vec<Transfer>,
    receives: Vec<Transfer>,
}

/// The groups that a thread has started and not ended.
#[derive(Default)]
struct Groups {
    depth: usize,
    work: Vec<Exchange>,
    /// The first error within the groups.
    error: Option<Status>,
}

thread_local! {
    static GROUPS: RefCell<Groups> = RefCell::default();
}

/// Returns whether the thread has started a group.
pub(super) fn is_open() -> bool {
    GROUPS.with_borrow(|groups| groups.depth > 0)
}

pub(super) fn start() {
    GROUPS.with_borrow_mut(|groups| groups.depth += 1);
}

/// Ends a group. The end of the outermost group enqueues the work on its streams, unless a call of the group failed.
pub(super) fn end() -> Result<()> {
    let ended = GROUPS.with_borrow_mut(|groups| match groups.depth {
        0 => Err(Status::INVALID_USAGE.because("ncclGroupEnd: not in a group call.")),
        1 => Ok(Some(std::mem::take(groups))),
        _ => {
            groups.depth -= 1;
            Ok(None)
        }
    });
    let Some(groups) = ended? else { return Ok(()) };
    match groups.error {
        Some(error) => Err(error),
        None => put(groups.work),
    }
}

/// Records an error of a call within a group, which makes the group fail.
pub(super) fn note(error: Status) {
    GROUPS.with_borrow_mut(|groups| {
        if groups.depth > 0 {
            groups.error.get_or_insert(error);
        }
    });
}

/// Adds a send or receive to the open group. If no group is open, enqueues it alone.
pub(super) fn add(comm: Arc<Comm>, stream: u64, part: Transfer, is_send: bool) -> Result<()> {
    let alone = GROUPS.with_borrow_mut(|groups| {
        let same = |exchange: &&mut Exchange| Arc::ptr_eq(&exchange.comm, &comm) && exchange.stream == stream;
        let place = match groups.work.iter_mut().find(same) {
            Some(place) => place,
            None => {
                groups.work.push(Exchange { comm, stream, sends: Vec::new(), receives: Vec::new() });
                groups.work.last_mut()?
            }
        };
        if is_send { &mut place.sends } else { &mut place.receives }.push(part);
        (groups.depth == 0).then(|| std::mem::take(&mut groups.work))
    });
    alone.map_or(Ok(()), put)
}

/// Enqueues the work on its streams. Runs the streams up to this work even if nobody in this process waits for it,
/// because other ranks wait for it.
fn put(work: Vec<Exchange>) -> Result<()> {
    let mut driver = driver::lock();
    for exchange in work {
        let (device, stream) = (exchange.comm.device, exchange.stream);
        let work = Work::Remote { device, remote: Box::new(exchange), begun: false };
        let put = driver.put_on(stream, "ncclGroup", work, 0);
        put.map_err(|code| Status::UNHANDLED_CUDA.because(format!("ncclGroupEnd: the device fails with {}", code.0)))?;
    }
    driver.advance();
    Ok(())
}

impl Exchange {
    /// Records the failure of this rank's work in its communicator; returns the fault.
    fn failed(&self, status: Status, why: String) -> Fault {
        self.comm.fail(status.because(why.clone()));
        Fault::Failed(why)
    }

    /// Returns the number of messages to receive from a rank.
    fn count(&self, from: usize) -> usize {
        self.receives.iter().filter(|part| part.peer == from).count()
    }
}

impl Remote for Exchange {
    fn begin(&mut self, memory: &mut Memory) -> std::result::Result<(), Fault> {
        for part in &self.sends {
            self.comm.send(part.peer, memory.read(&mut Hint::default(), part.address, part.bytes)?);
        }
        Ok(())
    }

    fn end(&mut self, memory: &mut Memory) -> std::result::Result<bool, Fault> {
        for part in &self.receives {
            match self.comm.has(part.peer, self.count(part.peer)) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(why) => return Err(self.failed(Status::REMOTE, why)),
            }
        }
        for part in &self.receives {
            let message = self.comm.take(part.peer).unwrap_or_default();
            if message.len() != part.bytes {
                let (rank, Transfer { peer, bytes, .. }) = (self.comm.rank, part);
                let why = format!(
                    "ncclRecv: rank {rank} waits for {bytes} bytes of rank {peer}, which sends {}",
                    message.len()
                );
                return Err(self.failed(Status::INVALID_USAGE, why));
            }
            memory.write(&mut Hint::default(), part.address, part.bytes)?.copy_from_slice(&message);
        }
        Ok(true)
    }
}
