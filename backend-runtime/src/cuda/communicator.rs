//! A communicator of NCCL: one GPU of each rank, and messages between them on the backend's stream.

use super::{
    device::Device,
    nccl::{self, Nccl},
};
use crate::{Error, Result, link::Peers, threads};
use cudarc::nccl::sys::{ncclComm_t, ncclUniqueId};
use std::{
    ffi::c_char,
    sync::{Arc, Mutex, PoisonError},
};

const OP: &str = "link";

/// Bytes of device memory that go to a rank, or come from one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) rank: usize,
    pub(super) address: u64,
    pub(super) bytes: usize,
}

/// A rank's end of a communicator.
pub(super) struct Communicator {
    nccl: &'static Nccl,
    device: Arc<Device>,
    pub(super) rank: usize,
    pub(super) size: usize,
    state: Mutex<State>,
}

/// The handle, which one thread at a time may use.
struct State {
    comm: ncclComm_t,
    /// What went wrong: nothing goes this way again, as the ranks may disagree on what comes next.
    failed: Option<Error>,
}

// SAFETY: a handle of the library, which any thread may use as long as it is alone, which the lock sees to.
unsafe impl Send for State {}

impl Communicator {
    /// Of all ranks, each on its device. Collective.
    pub(super) fn open(device: &Arc<Device>, peers: &dyn Peers) -> Result<Communicator> {
        let nccl = nccl::load()?;
        // whoever fails before the ranks wait for each other says so to all of them: else they would for ever
        let made = (peers.rank() == 0).then(|| nccl.unique_id(OP));
        let ready =
            device.bind(OP).and(made.as_ref().map_or(Ok(()), |made| made.as_ref().map(drop).map_err(Error::clone)));
        let mut mine = [0_u8; 129];
        mine[128] = u8::from(ready.is_ok());
        if let Some(Ok(id)) = &made {
            mine.iter_mut().zip(id.internal).for_each(|(to, byte)| *to = byte as u8);
        }
        let all = peers.all_gather(&mine)?;
        ready?;
        if let Some(rank) = all.chunks_exact(129).position(|theirs| theirs[128] == 0) {
            return Err(Error::library(OP, "cuda", format!("rank {rank} cannot begin with NCCL")));
        }
        let mut id = ncclUniqueId { internal: [0; 128] };
        id.internal.iter_mut().zip(&all).for_each(|(to, byte)| *to = *byte as c_char);
        let (rank, size) = (peers.rank(), peers.size());
        let comm = nccl.init_rank(OP, id, rank, size)?;
        Ok(Communicator { nccl, device: device.clone(), rank, size, state: Mutex::new(State { comm, failed: None }) })
    }

    /// Puts messages on the stream, all of which go at once. There is at most one to each rank and one from each, and each has its other end.
    ///
    /// # Safety
    /// The messages are of memory of the device, which nothing but work on its stream changes or frees.
    pub(super) unsafe fn exchange(&self, op: &'static str, sends: &[Message], receives: &[Message]) -> Result<()> {
        self.device.bind(op)?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = &state.failed {
            return Err(why.clone().within(op));
        }
        // SAFETY: the caller's promise; the communicator is alive as long as this.
        let done = unsafe { self.messages(op, state.comm, sends, receives) };
        if let Err(why) = &done {
            state.failed = Some(why.clone());
        }
        done
    }

    /// # Safety
    /// As [`Communicator::exchange`]; the communicator is alive.
    unsafe fn messages(
        &self,
        op: &'static str,
        comm: ncclComm_t,
        sends: &[Message],
        receives: &[Message],
    ) -> Result<()> {
        let (nccl, stream) = (self.nccl, self.device.stream().cast());
        // SAFETY: the caller's promise.
        unsafe { nccl.async_error(op, comm)? };
        nccl.group_start(op)?;
        let all = || {
            for Message { rank, address, bytes } in sends {
                // SAFETY: the caller's promise.
                unsafe { nccl.send(op, *address, *bytes, *rank, comm, stream)? };
            }
            for Message { rank, address, bytes } in receives {
                // SAFETY: the caller's promise.
                unsafe { nccl.recv(op, *address, *bytes, *rank, comm, stream)? };
            }
            Ok(())
        };
        let done = all();
        // a group that was begun is ended whatever is in it: its error is that of what is in it
        let ended = nccl.group_end(op);
        done.and(ended)?;
        // SAFETY: the caller's promise.
        unsafe { nccl.async_error(op, comm) }
    }
}

impl Drop for Communicator {
    /// `drop` cannot return an error; a communicator that fails as it ends has done its work.
    fn drop(&mut self) {
        // what a forked process has of the library belongs to its parent
        if threads::refuse_forked("cuda").is_err() || self.device.bind(OP).is_err() {
            return;
        }
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // a rank that panics leaves the others where they are, and must not wait for them
        let whole = state.failed.is_none() && !std::thread::panicking() && self.device.synchronize(OP).is_ok();
        // SAFETY: the handle is alive, and this is its end.
        let _ = unsafe { if whole { self.nccl.destroy(state.comm) } else { self.nccl.abort(state.comm) } };
    }
}
