//! A transport that uses an MPI communicator.

use super::{
    arguments::{count, ints, longs, start},
    functions::{Count, Functions, Long, Ptr, Status, Word},
    request,
    session::Session,
    shared,
};
use crate::{
    DType, Join, Request, Result, Transport, board::Board, bytes, join, queue::another, say::say, status,
    transport::Start,
};
use std::{ffi::c_int, sync::Arc};

/// A communicator that only this crate uses, so that its messages never mix with messages of other code in the process.
pub(super) struct Mpi {
    session: &'static Session,
    comm: Word,
    /// A second communicator, if there are exactly two ranks. The ranks exchange the parts of collective calls on it,
    /// so that these parts never mix with messages of `send`.
    pair: Option<Word>,
    rank: usize,
    size: usize,
    /// For each rank, the smallest rank of the world on the same machine. This number identifies the machine.
    machines: Arc<[u64]>,
    /// True for the communicator of the whole world: when it is dropped, MPI is finalised.
    is_world: bool,
}

impl Mpi {
    /// Creates the communicator of all ranks. All ranks must call this function.
    pub fn world(session: &'static Session) -> Result<Mpi> {
        let (f, abi) = (&session.loaded.functions, &session.loaded.abi);
        let (mut comm, mut shared) = (0, 0);
        // SAFETY: the library is initialised, and the handles come from it. Errors are returned as codes.
        unsafe {
            (f.set_errhandler)(abi.world, abi.errors_return);
            session.check("MPI_Comm_dup", (f.dup)(abi.world, &mut comm))?;
        }
        let mut world = Mpi::of(session, comm, true)?;
        session.set_rank(world.rank, world.size);
        // SAFETY: the library is initialised, and the handles come from it. Errors are returned as codes.
        let code = unsafe { (f.split_type)(comm, abi.shared_memory, 0, abi.no_info, &mut shared) };
        session.check("MPI_Comm_split_type", code)?;
        let machine = Mpi::of(session, shared, false)?;
        let mut mine = [world.rank as u64];
        machine.broadcast(bytes::of_mut(&mut mine), DType::UInt64, 0)?;
        let mut machines = vec![0_u64; world.size];
        world.all_gather(bytes::of(&mine), bytes::of_mut(&mut machines), &vec![1; world.size], DType::UInt64)?;
        world.machines = machines.into();
        Ok(world)
    }

    /// Creates the board on which the ranks of this machine publish their state. Returns `None` if this machine has a
    /// single rank, or if any of its ranks cannot share memory. All ranks must call this function.
    pub fn board(&self) -> Result<Option<Arc<Board>>> {
        let (session, abi) = (self.session, &self.session.loaded.abi);
        let mut shared = 0;
        // SAFETY: the communicator is valid.
        let code = unsafe { (self.f().split_type)(self.comm, abi.shared_memory, 0, abi.no_info, &mut shared) };
        session.check("MPI_Comm_split_type", code)?;
        let machine = Mpi::of(session, shared, false)?;
        let slots = if machine.size > 1 { shared::slots(&machine) } else { None };
        let number = self.machines[self.rank];
        let ranks: Vec<usize> = (0..self.size).filter(|rank| self.machines[*rank] == number).collect();
        Ok(slots.filter(|slots| slots.len() == ranks.len()).and_then(|slots| {
            let own = ranks.iter().position(|rank| *rank == self.rank)?;
            let board = Arc::new(Board::new(slots, ranks, own, self.size));
            session.set_board(board.clone());
            Some(board)
        }))
    }

    /// Creates the transport for a new communicator.
    fn of(session: &'static Session, comm: Word, is_world: bool) -> Result<Mpi> {
        let f = &session.loaded.functions;
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the communicator is valid.
        unsafe {
            session.check("MPI_Comm_set_errhandler", (f.set_errhandler)(comm, session.loaded.abi.errors_return))?;
            session.check("MPI_Comm_rank", (f.rank)(comm, &mut rank))?;
            session.check("MPI_Comm_size", (f.size)(comm, &mut size))?;
        }
        let (rank, size) = (usize::try_from(rank).unwrap_or(0), usize::try_from(size).unwrap_or(1));
        let mut pair = None;
        if size == 2 {
            // SAFETY: the communicator is valid, and errors are returned as codes.
            session.check("MPI_Comm_dup", unsafe { (f.dup)(comm, pair.insert(0)) })?;
        }
        Ok(Mpi { session, comm, pair, rank, size, machines: Arc::from([]), is_world })
    }

    fn f(&self) -> &'static Functions {
        &self.session.loaded.functions
    }

    fn long(&self) -> Option<&'static Long> {
        self.session.loaded.long.as_ref()
    }

    /// The MPI datatype with which elements of a dtype are moved.
    fn moved(&self, dtype: DType) -> Word {
        self.session.loaded.abi.moved(dtype)
    }

    fn in_place(&self) -> Ptr {
        self.session.loaded.abi.in_place()
    }

    /// Calls `f` with successive chunks of a buffer. Each chunk has at most as many elements as the library can count.
    fn in_pieces(&self, buf: &mut [u8], dtype: DType, mut f: impl FnMut(Ptr, c_int) -> Result<()>) -> Result<()> {
        let piece = self.session.most.saturating_mul(dtype.size());
        if buf.len() <= piece {
            return f(start(buf), (buf.len() / dtype.size()) as c_int);
        }
        buf.chunks_mut(piece).try_for_each(|part| f(start(part), (part.len() / dtype.size()) as c_int))
    }

    /// Converts the numbers of elements of the parts to C ints. Also returns the offset of each part, in elements.
    fn ints(&self, call: &'static str, counts: &[usize]) -> Result<(Vec<c_int>, Vec<c_int>)> {
        ints(call, counts, self.session.most)
    }

    /// Returns whether the library can count the sum of `counts` in one call.
    fn fits(&self, counts: &[usize]) -> bool {
        self.long().is_some() || counts.iter().sum::<usize>() <= self.session.most
    }

    /// Checks that the received message has the expected dtype and length.
    fn examine(&self, status: &Status, buf: &[u8], dtype: DType, from: usize) -> Result<()> {
        request::examine(self.session, status, buf.len(), dtype, from)
    }

    /// Exchanges parts with the only other rank, by one message in each direction. The parts of both ranks are stored
    /// one after another in `recv`. With MPICH this is faster than `MPI_Allgatherv`.
    fn exchange(&self, pair: Word, send: &[u8], recv: &mut [u8], dtype: DType) -> Result<()> {
        const CALL: &str = "MPI_Sendrecv";
        self.session.on_right_thread(CALL)?;
        let (first, second) = recv.split_at_mut(if self.rank == 0 { send.len() } else { recv.len() - send.len() });
        let (own, others) = if self.rank == 0 { (first, second) } else { (second, first) };
        own.copy_from_slice(send);
        let (datatype, other, tag) = (self.moved(dtype), (1 - self.rank) as c_int, request::tag(dtype));
        let (sent, come) = (count(send, dtype) as c_int, count(others, dtype) as c_int);
        let (from, to, mut status) = (start(send), start(others), Status([0; 64]));
        // SAFETY: the buffers have the numbers of elements that the call passes, and the status is longer than the
        // status of any library.
        let code = unsafe {
            (self.f().send_recv)(from, sent, datatype, other, tag, to, come, datatype, other, tag, pair, &mut status)
        };
        self.session.check(CALL, code)
    }

    fn reduce_piece(&self, buf: Ptr, count: Count, root: usize, of: (Word, Word)) -> Result<()> {
        let (datatype, operation) = of;
        // only the buffer of the root changes
        let (send, recv) = if self.rank == root { (self.in_place(), buf) } else { (buf, std::ptr::null_mut()) };
        let root = root as c_int;
        // SAFETY: the buffer has `count` elements, and on ranks other than the root `recv` is ignored.
        let code = unsafe {
            match self.long() {
                Some(long) => (long.reduce)(send, recv, count, datatype, operation, root, self.comm),
                None => (self.f().reduce)(send, recv, count as c_int, datatype, operation, root, self.comm),
            }
        };
        self.session.check("MPI_Reduce", code)
    }
}

/// Calls `f` with the buffer, or with an aligned copy of it, because libraries expect aligned elements in reductions.
fn aligned(buf: &mut [u8], dtype: DType, f: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
    if buf.as_ptr().addr().is_multiple_of(dtype.align()) {
        return f(buf);
    }
    let mut memory = vec![0_u64; buf.len().div_ceil(8)];
    let copy = &mut bytes::of_mut(&mut memory)[..buf.len()];
    copy.copy_from_slice(buf);
    f(copy)?;
    buf.copy_from_slice(copy);
    Ok(())
}

/// Implements an in-place reduction: `in_place!(self, scan "MPI_Scan", buf, dtype, join)`.
macro_rules! in_place {
    ($self:ident, $call:ident $name:literal, $buf:ident, $dtype:ident, $join:ident) => {{
        $self.session.on_right_thread($name)?;
        let (datatype, operation) = $self.session.reduction($dtype, $join)?;
        aligned($buf, $dtype, |buf| match $self.long() {
            Some(long) => {
                let (buf, count) = (start(buf), count(buf, $dtype));
                // SAFETY: the buffer has `count` elements, and the call uses no other buffer because it is in place.
                let code = unsafe { (long.$call)($self.in_place(), buf, count, datatype, operation, $self.comm) };
                $self.session.check($name, code)
            }
            None => $self.in_pieces(buf, $dtype, |buf, count| {
                // SAFETY: the buffer has `count` elements, and the call uses no other buffer because it is in place.
                let code = unsafe { ($self.f().$call)($self.in_place(), buf, count, datatype, operation, $self.comm) };
                $self.session.check($name, code)
            }),
        })
    }};
}

impl Transport for Mpi {
    fn name(&self) -> String {
        let loaded = &self.session.loaded;
        let counts = if loaded.long.is_some() { "long" } else { "short" };
        format!("{} ({} binary interface, {counts} counts, {})", loaded.version, loaded.abi.name, loaded.path)
    }
    fn rank(&self) -> usize {
        self.rank
    }
    fn size(&self) -> usize {
        self.size
    }
    fn local(&self) -> Result<(usize, usize)> {
        let here = |of: &[u64]| of.iter().filter(|machine| **machine == self.machines[self.rank]).count();
        Ok((here(&self.machines[..self.rank]), here(&self.machines)))
    }
    fn barrier(&self) -> Result<()> {
        self.session.on_right_thread("MPI_Barrier")?;
        // SAFETY: the communicator is valid.
        self.session.check("MPI_Barrier", unsafe { (self.f().barrier)(self.comm) })
    }
    fn broadcast(&self, buf: &mut [u8], dtype: DType, root: usize) -> Result<()> {
        self.session.on_right_thread("MPI_Bcast")?;
        let (datatype, root) = (self.moved(dtype), root as c_int);
        match self.long() {
            Some(long) => {
                // SAFETY: the buffer has the number of elements that the call passes.
                let code = unsafe { (long.broadcast)(start(buf), count(buf, dtype), datatype, root, self.comm) };
                self.session.check("MPI_Bcast", code)
            }
            None => self.in_pieces(buf, dtype, |buf, count| {
                // SAFETY: the buffer has the number of elements that the call passes.
                let code = unsafe { (self.f().broadcast)(buf, count, datatype, root, self.comm) };
                self.session.check("MPI_Bcast", code)
            }),
        }
    }
    fn all_gather(&self, send: &[u8], recv: &mut [u8], counts: &[usize], dtype: DType) -> Result<()> {
        if let Some(pair) = self.pair.filter(|_| counts.iter().all(|count| *count <= self.session.most)) {
            return self.exchange(pair, send, recv, dtype);
        }
        self.session.on_right_thread("MPI_Allgatherv")?;
        if !self.fits(counts) {
            // the library cannot count all elements in one call, so each part is broadcast separately
            let mut rest = recv;
            for (rank, count) in counts.iter().enumerate() {
                let (part, after) = rest.split_at_mut(count * dtype.size());
                if rank == self.rank {
                    part.copy_from_slice(send);
                }
                self.broadcast(part, dtype, rank)?;
                rest = after;
            }
            return Ok(());
        }
        let (datatype, from, to) = (self.moved(dtype), start(send), start(recv));
        // SAFETY: the buffers have the numbers of elements in the counts.
        let code = unsafe {
            match self.long() {
                Some(long) => {
                    let (counts, starts) = longs(counts);
                    (long.all_gather)(
                        from,
                        count(send, dtype),
                        datatype,
                        to,
                        counts.as_ptr(),
                        starts.as_ptr(),
                        datatype,
                        self.comm,
                    )
                }
                None => {
                    let (counts, starts) = self.ints("MPI_Allgatherv", counts)?;
                    let sent = counts[self.rank];
                    (self.f().all_gather)(
                        from,
                        sent,
                        datatype,
                        to,
                        counts.as_ptr(),
                        starts.as_ptr(),
                        datatype,
                        self.comm,
                    )
                }
            }
        };
        self.session.check("MPI_Allgatherv", code)
    }
    fn gather(&self, send: &[u8], recv: Option<&mut [u8]>, counts: &[usize], dtype: DType, root: usize) -> Result<()> {
        self.session.on_right_thread("MPI_Gatherv")?;
        let (datatype, from, to, root) =
            (self.moved(dtype), start(send), start(recv.unwrap_or_default()), root as c_int);
        // SAFETY: the buffers have the numbers of elements in the counts, and on ranks other than the root `to` is
        // ignored.
        let code = unsafe {
            match self.long() {
                Some(long) => {
                    let (counts, starts) = longs(counts);
                    let (counts, starts, sent) = (counts.as_ptr(), starts.as_ptr(), count(send, dtype));
                    (long.gather)(from, sent, datatype, to, counts, starts, datatype, root, self.comm)
                }
                None => {
                    let (counts, starts) = self.ints("MPI_Gatherv", counts)?;
                    let sent = counts[self.rank];
                    (self.f().gather)(
                        from,
                        sent,
                        datatype,
                        to,
                        counts.as_ptr(),
                        starts.as_ptr(),
                        datatype,
                        root,
                        self.comm,
                    )
                }
            }
        };
        self.session.check("MPI_Gatherv", code)
    }
    fn scatter(&self, send: Option<&[u8]>, counts: &[usize], recv: &mut [u8], dtype: DType, root: usize) -> Result<()> {
        self.session.on_right_thread("MPI_Scatterv")?;
        let (datatype, from, to, root) =
            (self.moved(dtype), start(send.unwrap_or_default()), start(recv), root as c_int);
        // SAFETY: the buffers have the numbers of elements in the counts, and buffers that only the root uses are
        // ignored elsewhere.
        let code = unsafe {
            match self.long() {
                Some(long) => {
                    let (counts, starts) = longs(counts);
                    let (counts, starts, wanted) = (counts.as_ptr(), starts.as_ptr(), count(recv, dtype));
                    (long.scatter)(from, counts, starts, datatype, to, wanted, datatype, root, self.comm)
                }
                None => {
                    let (counts, starts) = self.ints("MPI_Scatterv", counts)?;
                    let wanted = counts[self.rank];
                    (self.f().scatter)(
                        from,
                        counts.as_ptr(),
                        starts.as_ptr(),
                        datatype,
                        to,
                        wanted,
                        datatype,
                        root,
                        self.comm,
                    )
                }
            }
        };
        self.session.check("MPI_Scatterv", code)
    }
    fn all_to_all(&self, send: &[u8], to: &[usize], recv: &mut [u8], from: &[usize], dtype: DType) -> Result<()> {
        self.session.on_right_thread("MPI_Alltoallv")?;
        let (datatype, sent, received) = (self.moved(dtype), start(send), start(recv));
        // SAFETY: the buffers have the numbers of elements in the counts.
        let code = unsafe {
            match self.long() {
                Some(long) => {
                    let ((to, to_starts), (from, from_starts)) = (longs(to), longs(from));
                    let (to, to_starts) = (to.as_ptr(), to_starts.as_ptr());
                    let (from, from_starts) = (from.as_ptr(), from_starts.as_ptr());
                    (long.all_to_all)(sent, to, to_starts, datatype, received, from, from_starts, datatype, self.comm)
                }
                None => {
                    let ((to, to_starts), (from, from_starts)) =
                        (self.ints("MPI_Alltoallv", to)?, self.ints("MPI_Alltoallv", from)?);
                    let (to, to_starts) = (to.as_ptr(), to_starts.as_ptr());
                    let (from, from_starts) = (from.as_ptr(), from_starts.as_ptr());
                    (self.f().all_to_all)(
                        sent,
                        to,
                        to_starts,
                        datatype,
                        received,
                        from,
                        from_starts,
                        datatype,
                        self.comm,
                    )
                }
            }
        };
        self.session.check("MPI_Alltoallv", code)
    }
    fn all_reduce(&self, buf: &mut [u8], dtype: DType, join: Join) -> Result<()> {
        in_place!(self, all_reduce "MPI_Allreduce", buf, dtype, join)
    }
    fn reduce(&self, buf: &mut [u8], dtype: DType, join: Join, root: usize) -> Result<()> {
        self.session.on_right_thread("MPI_Reduce")?;
        let of = self.session.reduction(dtype, join)?;
        aligned(buf, dtype, |buf| match self.long() {
            Some(_) => self.reduce_piece(start(buf), count(buf, dtype), root, of),
            None => self.in_pieces(buf, dtype, |buf, count| self.reduce_piece(buf, Count::from(count), root, of)),
        })
    }
    fn reduce_scatter(&self, send: &[u8], recv: &mut [u8], counts: &[usize], dtype: DType, join: Join) -> Result<()> {
        self.session.on_right_thread("MPI_Reduce_scatter")?;
        if !self.fits(counts) {
            // the library cannot count all elements in one call, so each part is reduced separately
            let mut rest = send;
            for (rank, count) in counts.iter().enumerate() {
                let (part, after) = rest.split_at(count * dtype.size());
                let mut part = part.to_vec();
                self.reduce(&mut part, dtype, join, rank)?;
                if rank == self.rank {
                    recv.copy_from_slice(&part);
                }
                rest = after;
            }
            return Ok(());
        }
        let (datatype, operation) = self.session.reduction(dtype, join)?;
        // an unaligned send buffer is copied to aligned memory, because it is borrowed and cannot be realigned in place
        let (mut copy, is_aligned) = (Vec::new(), send.as_ptr().addr().is_multiple_of(dtype.align()));
        let send = if is_aligned {
            send
        } else {
            copy.resize(send.len().div_ceil(8), 0_u64);
            let copy = &mut bytes::of_mut(&mut copy)[..send.len()];
            copy.copy_from_slice(send);
            copy
        };
        aligned(recv, dtype, |recv| {
            let (from, to) = (start(send), start(recv));
            // SAFETY: the buffers have the numbers of elements in the counts.
            let code = unsafe {
                match self.long() {
                    Some(long) => {
                        let (counts, _) = longs(counts);
                        (long.reduce_scatter)(from, to, counts.as_ptr(), datatype, operation, self.comm)
                    }
                    None => {
                        let (counts, _) = self.ints("MPI_Reduce_scatter", counts)?;
                        (self.f().reduce_scatter)(from, to, counts.as_ptr(), datatype, operation, self.comm)
                    }
                }
            };
            self.session.check("MPI_Reduce_scatter", code)
        })
    }
    fn scan(&self, buf: &mut [u8], dtype: DType, join: Join) -> Result<()> {
        in_place!(self, scan "MPI_Scan", buf, dtype, join)
    }
    fn exscan(&self, buf: &mut [u8], dtype: DType, join: Join) -> Result<()> {
        in_place!(self, exscan "MPI_Exscan", buf, dtype, join)?;
        // MPI leaves the result of rank 0 undefined, so it is set to the identity
        if self.rank == 0 {
            join::fill_identity(buf, dtype, join);
        }
        Ok(())
    }
    fn send(&self, buf: &[u8], dtype: DType, to: usize) -> Result<()> {
        self.session.on_right_thread("MPI_Send")?;
        let (datatype, to, tag) = (self.moved(DType::UInt8), to as c_int, request::tag(dtype));
        // a message is sent as bytes, with the dtype as its tag, so that the receiver detects a wrong dtype
        for part in buf.chunks(self.piece()).chain(buf.is_empty().then_some(buf)) {
            // SAFETY: the buffer has the number of bytes that the call passes, and they are only read.
            let code = unsafe {
                match self.long() {
                    Some(long) => (long.send)(start(part), count(part, DType::UInt8), datatype, to, tag, self.comm),
                    None => (self.f().send)(start(part), part.len() as c_int, datatype, to, tag, self.comm),
                }
            };
            self.session.check("MPI_Send", code)?;
        }
        Ok(())
    }
    fn recv(&self, buf: &mut [u8], dtype: DType, from: usize) -> Result<()> {
        self.session.on_right_thread("MPI_Recv")?;
        let (wanted, is_empty) = (buf.len(), buf.is_empty());
        let none: &mut [u8] = &mut [];
        for part in buf.chunks_mut(self.piece()).chain(is_empty.then_some(none)) {
            let (datatype, rank, tag) = (self.moved(DType::UInt8), from as c_int, self.session.loaded.abi.any_tag);
            let mut status = Status([0; 64]);
            // SAFETY: the buffer has room for the number of bytes that the call passes, and the status is longer than
            // the status of any library.
            let code = unsafe {
                match self.long() {
                    Some(long) => {
                        (long.recv)(start(part), count(part, DType::UInt8), datatype, rank, tag, self.comm, &mut status)
                    }
                    None => {
                        (self.f().recv)(start(part), part.len() as c_int, datatype, rank, tag, self.comm, &mut status)
                    }
                }
            };
            if self.session.is_truncated(code) {
                return Err(another(wanted, dtype, "more elements", from));
            }
            self.session.check("MPI_Recv", code)?;
            self.examine(&status, part, dtype, from)?;
        }
        Ok(())
    }
    fn start(&self, call: Start) -> Result<Box<dyn Request>> {
        request::start(self.session, self.comm, call)
    }
    fn split(&self, number: Option<usize>, members: &[usize]) -> Result<Option<Box<dyn Transport>>> {
        self.session.on_right_thread("MPI_Comm_split")?;
        self.session.free_left_over();
        let color = number.map_or(self.session.loaded.abi.undefined, |number| number as c_int);
        let place = members.iter().position(|rank| *rank == self.rank).unwrap_or(0) as c_int;
        let mut comm = 0;
        // SAFETY: the communicator is valid, and both integers are below its size.
        let code = unsafe { (self.f().split)(self.comm, color, place, &mut comm) };
        self.session.check("MPI_Comm_split", code)?;
        if number.is_none() {
            return Ok(None);
        }
        let mut group = Mpi::of(self.session, comm, false)?;
        group.machines = members.iter().map(|rank| self.machines[*rank]).collect();
        Ok(Some(Box::new(group)))
    }
    fn abort(&self, code: i32) -> ! {
        self.session.abort(code)
    }
}

impl Mpi {
    /// Maximum length in bytes of the chunks into which a message is split.
    fn piece(&self) -> usize {
        if self.long().is_some() { isize::MAX as usize } else { self.session.most }
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // other ranks may wait for this rank, and finalising MPI would wait for them, so all ranks are aborted
            if self.is_world && self.size > 1 {
                say(&format!("rank {} panicked: all ranks end", self.rank));
                self.session.abort(status::PANICKED)
            }
            return;
        }
        if self.is_world {
            self.session.end();
        } else {
            self.session.leave(self.comm);
            self.pair.into_iter().for_each(|pair| self.session.leave(pair));
        }
    }
}
