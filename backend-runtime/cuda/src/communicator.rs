//! An NCCL communicator, which sends messages between the GPUs of several ranks (processes of a parallel program).
//! Each rank has one GPU, and the messages are sent on the stream of its backend.

use super::{
    device::Device,
    nccl::{self, Nccl},
};
use backend_core::{Error, Result, link::Peers, threads};
use cudarc::nccl::sys::{ncclComm_t, ncclUniqueId};
use std::{
    ffi::c_char,
    sync::{Arc, Mutex, PoisonError},
};

const OP: &str = "link";

/// A range of device memory to send to a rank, or to receive from a rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) rank: usize,
    pub(super) address: u64,
    pub(super) bytes: usize,
}

/// One rank's handle of a communicator between all ranks.
pub(super) struct Communicator {
    nccl: &'static Nccl,
    device: Arc<Device>,
    pub(super) rank: usize,
    pub(super) size: usize,
    state: Mutex<State>,
}

/// The communicator's handle, which only one thread at a time may use, and the first error.
struct State {
    comm: ncclComm_t,
    /// The error of an earlier exchange. After an error no more messages are sent, because the ranks may disagree on
    /// the next message.
    failed: Option<Error>,
}

// SAFETY: any thread may use the library's handle as long as only one thread uses it at a time, which the mutex
// ensures.
unsafe impl Send for State {}

impl Communicator {
    /// Opens a communicator between all ranks, each with its own device. Every rank must call this function.
    pub(super) fn open(device: &Arc<Device>, peers: &dyn Peers) -> Result<Communicator> {
        let nccl = nccl::load()?;
        // a rank that fails here tells all ranks before they wait for each other; otherwise they would wait forever
        let made = (peers.rank() == 0).then(|| nccl.unique_id(OP));
        let ready =
            device.bind(OP).and(made.as_ref().map_or(Ok(()), |made| made.as_ref().map(drop).map_err(Error::clone)));
        let mut mine = [0_u8; 129];
        mine[128] = u8::from(ready.is_ok());
        if let Some(Ok(id)) = &made {
            mine.iter_mut().zip(id.internal).for_each(|(to, byte)| *to = byte.to_ne_bytes()[0]);
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

    /// Puts messages on the stream, all in one NCCL group. There is at most one message to each rank, and at most one
    /// message from each rank. For each message, the rank that it names must post the matching receive or send.
    ///
    /// # Safety
    /// The messages refer to memory of the device, and only work on its stream changes or frees that memory.
    pub(super) unsafe fn exchange(&self, op: &'static str, sends: &[Message], receives: &[Message]) -> Result<()> {
        self.device.bind(op)?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = &state.failed {
            return Err(why.clone().within(op));
        }
        // SAFETY: the caller guarantees the conditions on the messages, and the communicator lives as long as `self`.
        let done = unsafe { self.messages(op, state.comm, sends, receives) };
        if let Err(why) = &done {
            state.failed = Some(why.clone());
        }
        done
    }

    /// # Safety
    /// The conditions of [`Communicator::exchange`] hold, and `comm` is alive.
    unsafe fn messages(
        &self,
        op: &'static str,
        comm: ncclComm_t,
        sends: &[Message],
        receives: &[Message],
    ) -> Result<()> {
        let (nccl, stream) = (self.nccl, self.device.stream().cast());
        // SAFETY: the caller guarantees that `comm` is alive.
        unsafe { nccl.async_error(op, comm)? };
        nccl.group_start(op)?;
        let all = || {
            for Message { rank, address, bytes } in sends {
                // SAFETY: the caller guarantees that `comm` is alive, and that only work on the stream changes or frees
                // the memory of the message.
                unsafe { nccl.send(op, *address, *bytes, *rank, comm, stream)? };
            }
            for Message { rank, address, bytes } in receives {
                // SAFETY: the caller guarantees that `comm` is alive, and that only work on the stream uses the memory
                // of the message.
                unsafe { nccl.recv(op, *address, *bytes, *rank, comm, stream)? };
            }
            Ok(())
        };
        let done = all();
        // a started group must be ended even after an error; if both fail, the first error is returned
        let ended = nccl.group_end(op);
        done.and(ended)?;
        // SAFETY: the caller guarantees that `comm` is alive.
        unsafe { nccl.async_error(op, comm) }
    }
}

impl Drop for Communicator {
    /// Errors are ignored, because `drop` cannot return them, and because the communicator has done its work by then.
    fn drop(&mut self) {
        // in a forked process, the library's state belongs to the parent
        if threads::refuse_forked("cuda").is_err() || self.device.bind(OP).is_err() {
            return;
        }
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // a rank that panics does not finish its exchanges, and must not wait for the other ranks
        let whole = state.failed.is_none() && !std::thread::panicking() && self.device.synchronize(OP).is_ok();
        // SAFETY: the handle is alive, and is not used again.
        let _ = unsafe { if whole { self.nccl.destroy(state.comm) } else { self.nccl.abort(state.comm) } };
    }
}
