//! Pending MPI calls, which own the memory that they use.

use super::{
    arguments::{count, ints, longs, start as start_of},
    functions::{Aint, Count, Ptr, Status, Word},
    session::Session,
};
use crate::{DType, Error, Request, Result, Transport, describe, queue::another, transport::Start};
use std::{ffi::c_int, mem::ManuallyDrop};

/// The MPI tag of messages whose elements have this dtype.
pub(super) fn tag(dtype: DType) -> c_int {
    dtype as c_int
}

/// Checks that a received message has the expected length and dtype. `status` describes the message.
pub(super) fn examine(session: &Session, status: &Status, wanted: usize, dtype: DType, from: usize) -> Result<()> {
    let abi = &session.loaded.abi;
    let (datatype, mut received, mut short) = (abi.moved(DType::UInt8), 0, 0);
    // SAFETY: the status belongs to a message that was received as bytes.
    let code = unsafe {
        match &session.loaded.long {
            Some(long) => (long.get_count)(status, datatype, &mut received),
            None => (session.loaded.functions.get_count)(status, datatype, &mut short),
        }
    };
    session.check("MPI_Get_count", code)?;
    let received = usize::try_from(received.max(Count::from(short))).unwrap_or(0);
    let sent = DType::ALL.into_iter().find(|of| tag(*of) == status.0[abi.tag]);
    match sent {
        Some(sent) if sent == dtype && received == wanted => Ok(()),
        sent => Err(another(wanted, dtype, &describe::elements(received, sent.unwrap_or(DType::UInt8)), from)),
    }
}

/// Memory that the library uses during a call. It does not move, and is freed only after the call has ended. If a call
/// never ends, its memory is never freed.
struct Memory {
    vec: ManuallyDrop<Vec<u8>>,
    /// The offset of the first element in the vector, chosen so that the elements are aligned.
    shift: usize,
    len: usize,
}

impl Memory {
    fn new(mut vec: Vec<u8>, dtype: DType) -> Memory {
        let len = vec.len();
        let is_aligned = |vec: &Vec<u8>| vec.as_ptr().addr().is_multiple_of(dtype.align());
        let mut shift = 0;
        if len > 0 && !is_aligned(&vec) {
            vec.resize(len + dtype.align(), 0);
            shift = vec.as_ptr().addr().next_multiple_of(dtype.align()) - vec.as_ptr().addr();
            vec.copy_within(0..len, shift);
        }
        Memory { vec: ManuallyDrop::new(vec), shift, len }
    }

    fn start(&mut self) -> Ptr {
        if self.len == 0 { start_of(&[]) } else { self.vec[self.shift..].as_mut_ptr().cast() }
    }

    fn take(self) -> Vec<u8> {
        let mut vec = ManuallyDrop::into_inner(self.vec);
        vec.copy_within(self.shift..self.shift + self.len, 0);
        vec.truncate(self.len);
        vec
    }
}

/// Counts of parts and their offsets, which the library reads until the call ends.
enum Counts {
    Long(Vec<Count>, Vec<Aint>),
    Short(Vec<c_int>, Vec<c_int>),
}

impl Counts {
    fn new(session: &Session, call: &'static str, counts: &[usize]) -> Result<Counts> {
        Ok(match &session.loaded.long {
            Some(_) => {
                let (counts, starts) = longs(counts);
                Counts::Long(counts, starts)
            }
            None => {
                let (counts, starts) = ints(call, counts, session.most)?;
                Counts::Short(counts, starts)
            }
        })
    }

    fn long(&self) -> (*const Count, *const Aint) {
        match self {
            Counts::Long(counts, starts) => (counts.as_ptr(), starts.as_ptr()),
            Counts::Short(..) => (std::ptr::null(), std::ptr::null()),
        }
    }

    fn short(&self) -> (*const c_int, *const c_int) {
        match self {
            Counts::Short(counts, starts) => (counts.as_ptr(), starts.as_ptr()),
            Counts::Long(..) => (std::ptr::null(), std::ptr::null()),
        }
    }
}

/// A call that was started and may not have ended yet.
struct Started {
    session: &'static Session,
    call: &'static str,
    request: Word,
    /// The buffer of the result.
    result: Memory,
    /// The second buffer of the call, from which the library sends; `None` if the call has only one buffer.
    sent: Option<Memory>,
    counts: ManuallyDrop<Vec<Counts>>,
    /// For a receive, the expected dtype and the sender.
    receives: Option<(DType, usize)>,
    /// The outcome of the call, after it has ended.
    ended: Option<Result<()>>,
}

/// Starts a call whose arguments the caller has checked.
pub(super) fn start(session: &'static Session, comm: Word, call: Start) -> Result<Box<dyn Request>> {
    let (f, abi) = (&session.loaded.functions, &session.loaded.abi);
    let long = session.loaded.long.as_ref();
    let name = name_of(&call);
    session.on_right_thread(name)?;
    let mut request = 0;
    let out = &raw mut request;
    // if the library lacks 64-bit counts, the number of elements must fit into an int, because several smaller calls
    // would need several requests
    let int = |elements: usize| ints(name, &[elements], session.most).map(|(counts, _)| counts[0]);
    let bytes = |n: usize, dtype: DType| int(n).map_err(|_| Error::Count { call: name, count: n / dtype.size() });
    let mut receives = None;
    let mut kept = Vec::new();
    // SAFETY of every call below: the buffers have the numbers of elements in the counts, and `Started` keeps buffers
    // and counts until the call has ended.
    let (code, result, sent) = match call {
        Start::Barrier => {
            // SAFETY: the communicator is valid.
            (unsafe { (f.start_barrier)(comm, out) }, Memory::new(Vec::new(), DType::UInt8), None)
        }
        Start::Broadcast { buf, dtype, root } => {
            let (n, datatype, root) = (count(&buf, dtype), abi.moved(dtype), root as c_int);
            let short = if long.is_none() { int(n as usize)? } else { 0 };
            let mut buf = Memory::new(buf, dtype);
            // SAFETY: the buffer has `n` elements, and `Started` keeps it until the call has ended.
            let code = unsafe {
                match long {
                    Some(long) => (long.start_broadcast)(buf.start(), n, datatype, root, comm, out),
                    None => (f.start_broadcast)(buf.start(), short, datatype, root, comm, out),
                }
            };
            (code, buf, None)
        }
        Start::AllGather { send, recv, counts, dtype } => {
            let (n, datatype) = (count(&send, dtype), abi.moved(dtype));
            kept.push(Counts::new(session, name, &counts)?);
            let (mut recv, mut send) = (Memory::new(recv, dtype), Memory::new(send, dtype));
            let (from, to) = (send.start(), recv.start());
            // SAFETY: the buffers have the numbers of elements in the counts, and `Started` keeps them until the call
            // has ended.
            let code = unsafe {
                match long {
                    Some(long) => {
                        let (counts, starts) = kept[0].long();
                        (long.start_all_gather)(from, n, datatype, to, counts, starts, datatype, comm, out)
                    }
                    None => {
                        let (counts, starts) = kept[0].short();
                        (f.start_all_gather)(from, n as c_int, datatype, to, counts, starts, datatype, comm, out)
                    }
                }
            };
            (code, recv, Some(send))
        }
        Start::AllToAll { send, to, recv, from, dtype } => {
            let datatype = abi.moved(dtype);
            kept.push(Counts::new(session, name, &to)?);
            kept.push(Counts::new(session, name, &from)?);
            let (mut recv, mut send) = (Memory::new(recv, dtype), Memory::new(send, dtype));
            let (sent, received) = (send.start(), recv.start());
            // SAFETY: the buffers have the numbers of elements in the counts, and `Started` keeps them until the call
            // has ended.
            let code = unsafe {
                match long {
                    Some(long) => {
                        let ((to, ts), (from, fs)) = (kept[0].long(), kept[1].long());
                        (long.start_all_to_all)(sent, to, ts, datatype, received, from, fs, datatype, comm, out)
                    }
                    None => {
                        let ((to, ts), (from, fs)) = (kept[0].short(), kept[1].short());
                        (f.start_all_to_all)(sent, to, ts, datatype, received, from, fs, datatype, comm, out)
                    }
                }
            };
            (code, recv, Some(send))
        }
        Start::AllReduce { buf, dtype, join } => {
            let (n, (datatype, operation)) = (count(&buf, dtype), session.reduction(dtype, join)?);
            let short = if long.is_none() { int(n as usize)? } else { 0 };
            let mut buf = Memory::new(buf, dtype);
            let in_place = abi.in_place();
            // SAFETY: the buffer has `n` elements, and `Started` keeps it until the call has ended.
            let code = unsafe {
                match long {
                    Some(long) => (long.start_all_reduce)(in_place, buf.start(), n, datatype, operation, comm, out),
                    None => (f.start_all_reduce)(in_place, buf.start(), short, datatype, operation, comm, out),
                }
            };
            (code, buf, None)
        }
        Start::ReduceScatter { send, recv, counts, dtype, join } => {
            let (datatype, operation) = session.reduction(dtype, join)?;
            kept.push(Counts::new(session, name, &counts)?);
            let (mut recv, mut send) = (Memory::new(recv, dtype), Memory::new(send, dtype));
            let (from, to) = (send.start(), recv.start());
            // SAFETY: the buffers have the numbers of elements in the counts, and `Started` keeps them until the call
            // has ended.
            let code = unsafe {
                match long {
                    Some(long) => {
                        (long.start_reduce_scatter)(from, to, kept[0].long().0, datatype, operation, comm, out)
                    }
                    None => (f.start_reduce_scatter)(from, to, kept[0].short().0, datatype, operation, comm, out),
                }
            };
            (code, recv, Some(send))
        }
        Start::Send { buf, dtype, to } => {
            let (n, datatype, to) = (buf.len(), abi.moved(DType::UInt8), to as c_int);
            let short = if long.is_none() { bytes(n, dtype)? } else { 0 };
            let mut buf = Memory::new(buf, DType::UInt8);
            // SAFETY: the buffer has `n` bytes, and `Started` keeps it until the call has ended.
            let code = unsafe {
                match long {
                    Some(long) => (long.start_send)(buf.start(), n as Count, datatype, to, tag(dtype), comm, out),
                    None => (f.start_send)(buf.start(), short, datatype, to, tag(dtype), comm, out),
                }
            };
            (code, buf, None)
        }
        Start::Recv { buf, dtype, from } => {
            let (n, datatype, rank) = (buf.len(), abi.moved(DType::UInt8), from as c_int);
            let short = if long.is_none() { bytes(n, dtype)? } else { 0 };
            let mut buf = Memory::new(buf, DType::UInt8);
            receives = Some((dtype, from));
            // SAFETY: the buffer has `n` bytes, and `Started` keeps it until the call has ended.
            let code = unsafe {
                match long {
                    Some(long) => (long.start_recv)(buf.start(), n as Count, datatype, rank, abi.any_tag, comm, out),
                    None => (f.start_recv)(buf.start(), short, datatype, rank, abi.any_tag, comm, out),
                }
            };
            (code, buf, None)
        }
    };
    session.check(name, code)?;
    let counts = ManuallyDrop::new(kept);
    Ok(Box::new(Started { session, call: name, request, result, sent, counts, receives, ended: None }))
}

fn name_of(call: &Start) -> &'static str {
    match call {
        Start::Barrier => "MPI_Ibarrier",
        Start::Broadcast { .. } => "MPI_Ibcast",
        Start::AllGather { .. } => "MPI_Iallgatherv",
        Start::AllToAll { .. } => "MPI_Ialltoallv",
        Start::AllReduce { .. } => "MPI_Iallreduce",
        Start::ReduceScatter { .. } => "MPI_Ireduce_scatter",
        Start::Send { .. } => "MPI_Isend",
        Start::Recv { .. } => "MPI_Irecv",
    }
}

impl Started {
    /// Records that the call has ended with this code.
    fn end(&mut self, code: c_int, status: &Status) {
        let ended = match self.receives {
            Some((dtype, from)) if self.session.is_truncated(code) => {
                Err(another(self.result.len, dtype, "more elements", from))
            }
            Some((dtype, from)) if code == 0 => examine(self.session, status, self.result.len, dtype, from),
            _ => self.session.check(self.call, code),
        };
        self.ended = Some(ended);
    }
}

impl Request for Started {
    fn wait(mut self: Box<Self>, _: &dyn Transport) -> Result<Vec<u8>> {
        if self.ended.is_none() {
            self.session.on_right_thread("MPI_Wait")?;
            let mut status = Status([0; 64]);
            // SAFETY: the request was started and has not ended, and the status is longer than the status of any
            // library.
            let code = unsafe { (self.session.loaded.functions.wait)(&mut self.request, &mut status) };
            self.end(code, &status);
        }
        let Started { result, sent, counts, ended, .. } = *self;
        // after a failed call the library may still use the memory, so it is never freed
        ended.unwrap_or(Ok(()))?;
        drop(ManuallyDrop::into_inner(counts));
        drop(sent.map(Memory::take));
        Ok(result.take())
    }

    fn is_done(&mut self, _: &dyn Transport) -> Result<bool> {
        if self.ended.is_none() {
            self.session.on_right_thread("MPI_Test")?;
            let (mut done, mut status) = (0, Status([0; 64]));
            // SAFETY: the request was started and has not ended, and the status is longer than the status of any
            // library.
            let code = unsafe { (self.session.loaded.functions.test)(&mut self.request, &mut done, &mut status) };
            if done != 0 || code != 0 {
                self.end(code, &status);
            }
        }
        Ok(self.ended.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_as_it_was_and_is_aligned_meanwhile() {
        for len in [0, 1, 8, 1000] {
            let vec: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let mut memory = Memory::new(vec.clone(), DType::Complex128);
            assert_eq!(memory.start().addr() % 8, 0);
            assert_ne!(memory.start().addr(), 1);
            assert_eq!(memory.take(), vec);
        }
    }
}
