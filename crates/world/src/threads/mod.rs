//! A transport whose ranks are threads of one process, for tests. Calls are deterministic, and a mistake immediately
//! gives an error on every rank that waits.
//!
//! ```
//! use backends_world::{Join, DType, bytes, threads};
//!
//! let sums = threads::run(3, |world| {
//!     let mut x = [world.rank() as f64];
//!     world.all_reduce(bytes::of_mut(&mut x), DType::Float64, Join::Sum)?;
//!     Ok::<_, backends_world::Error>(x[0])
//! });
//! assert_eq!(sums, [Ok(3.0), Ok(3.0), Ok(3.0)]);
//! ```
//!
//! - Every call waits for its partners, including [`send`](World::send), for which MPI often does not wait. So a
//!   program that runs with threads does not depend on the buffering of a library.
//! - Reductions join elements in the order of ranks, so results are always the same.
//! - Ranks that make different calls get [`Error::Diverged`]. A rank that waits for a rank that has returned or
//!   panicked gets [`Error::Gone`]. If all ranks wait for each other, each gets [`Error::Deadlock`], in this call and
//!   in all later calls.

mod state;

use crate::{
    DType, Error, Join, Request, Result, Transport, World, describe, queue,
    transport::{Start, Waited, join_parts},
};
use queue::Queue;
use state::{Brought, Comm, Meeting, Standing, State, Wait};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

/// The state that the threads of one [`run`] share.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // a thread never panics while it holds the lock; even if it did, the state would still be consistent
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs `f` on `n` ranks at the same time, each in a thread. Returns the results in the order of ranks.
///
/// # Panics
/// Panics with the panic of the first rank that panicked, after all ranks have ended. Also panics if the system cannot
/// create the threads.
pub fn run<R: Send>(n: usize, f: impl Fn(&World) -> R + Sync) -> Vec<R> {
    let shared = Arc::new(Shared { state: Mutex::new(State::new(n)), changed: Condvar::new() });
    let rank_of = |rank: usize| {
        let transport = Rank { shared: shared.clone(), comm: 0, rank, size: n, thread: rank };
        let ended = catch_unwind(AssertUnwindSafe(|| f(&World::new(Box::new(transport)))));
        let mut state = shared.lock();
        state.ended[rank] = Some(if ended.is_ok() { "it has returned" } else { "it panicked" });
        if ended.is_err() {
            state.panicked.get_or_insert(rank);
        }
        // the end of this rank may leave all remaining ranks waiting for each other
        if state.deadlock.is_none() && state.ended.iter().any(Option::is_none) {
            state.deadlock = state.all_wait();
        }
        drop(state);
        shared.changed.notify_all();
        ended
    };
    let mut ended: Vec<thread::Result<R>> = thread::scope(|scope| {
        let spawn =
            |rank| thread::Builder::new().name(format!("rank {rank}")).spawn_scoped(scope, move || rank_of(rank));
        let threads: Vec<_> = (0..n).map(spawn).collect();
        for (rank, _) in threads.iter().enumerate().filter(|(_, thread)| thread.is_err()) {
            shared.lock().ended[rank] = Some("its thread could not be started");
            shared.changed.notify_all();
        }
        let join = |thread: std::io::Result<thread::ScopedJoinHandle<'_, _>>| match thread {
            Ok(thread) => thread.join().unwrap_or_else(Err),
            Err(why) => {
                Err(Box::new(format!("the thread of a rank could not be started: {why}")) as Box<dyn Any + Send>)
            }
        };
        threads.into_iter().map(join).collect()
    });
    if let Some(first) = shared.lock().panicked
        && let Err(why) = ended.swap_remove(first)
    {
        resume_unwind(why);
    }
    ended.into_iter().map(|ended| ended.unwrap_or_else(|why| resume_unwind(why))).collect()
}

/// The transport of one rank of a world or group.
#[derive(Clone)]
struct Rank {
    shared: Arc<Shared>,
    comm: usize,
    rank: usize,
    size: usize,
    /// The index of the thread, which is its rank in the world of all threads.
    thread: usize,
}

type All = Vec<Arc<Brought>>;

impl Rank {
    /// Waits for the event described by `wait`. Returns the locked state, or an error with the reason.
    fn wait(&self, call: &'static str, wait: Wait) -> Result<MutexGuard<'_, State>> {
        let mut state = self.shared.lock();
        state.expired[self.thread] = None;
        loop {
            let standing = state.standing(wait);
            // a deadlock takes precedence: events that happen after it are only consequences of the errors that it
            // caused
            if standing == Standing::Ready && state.deadlock.is_none() {
                state.waits[self.thread] = None;
                return Ok(state);
            }
            let expired = state.expired[self.thread].take();
            let error = match (&state.deadlock, standing, expired) {
                (Some(waits), ..) => Some(Error::Deadlock { call, waits: waits.clone() }),
                (_, Standing::Gone(rank), _) => {
                    let why = state.ended[state.comms[self.comm].members[rank]].unwrap_or("it has ended");
                    Some(Error::Gone { call, rank, why: why.into() })
                }
                (_, _, Some(seconds)) => Some(Error::Timeout { call, seconds }),
                _ => None,
            };
            if let Some(error) = error {
                state.waits[self.thread] = None;
                return Err(error);
            }
            state.waits[self.thread] = Some((call, wait));
            state.deadlock = state.all_wait();
            if state.deadlock.is_some() {
                self.shared.changed.notify_all();
                continue;
            }
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Enters the next meeting, which is the next collective call of this world or group. Does not wait for the other
    /// ranks. Returns the number of the meeting.
    fn come(&self, what: String, data: Vec<u8>, counts: Option<(Vec<usize>, Vec<usize>)>) -> u64 {
        let mut state = self.shared.lock();
        let comm = &mut state.comms[self.comm];
        let number = comm.come[self.rank];
        comm.come[self.rank] += 1;
        let empty = || Meeting { brought: vec![None; self.size], left: 0 };
        let meeting = comm.meetings.entry(number).or_insert_with(empty);
        meeting.brought[self.rank] = Some(Arc::new(Brought { what, data, counts }));
        drop(state);
        self.shared.changed.notify_all();
        number
    }

    /// Waits until all ranks have entered the meeting `number`. Returns the data of all ranks, or an error if the ranks
    /// made different calls.
    fn meet(&self, call: &'static str, number: u64) -> Result<All> {
        let mut state = self.wait(call, Wait::Meeting { comm: self.comm, number })?;
        let meetings = &mut state.comms[self.comm].meetings;
        let Some(meeting) = meetings.get_mut(&number) else {
            return Err(Error::Gone { call, rank: self.rank, why: "the call was waited for before".into() });
        };
        let all: All = meeting.brought.iter().flatten().cloned().collect();
        meeting.left += 1;
        if meeting.left == self.size {
            meetings.remove(&number);
        }
        drop(state);
        let mine = &all[self.rank].what;
        if let Some(rank) = all.iter().position(|other| other.what != *mine) {
            return Err(Error::Diverged { mine: mine.clone(), theirs: all[rank].what.clone(), rank });
        }
        let counts = |rank: usize| all[rank].counts.as_ref().map_or((&[][..], &[][..]), |(to, from)| (to, from));
        if all[self.rank].counts.is_some()
            && let Some(pair) = describe::unequal_counts(self.size, |rank| counts(rank).0, |rank| counts(rank).1)
        {
            return Err(pair.error(self.rank));
        }
        Ok(all)
    }

    /// Makes a call to which every rank brings data: enters the next meeting and waits for it.
    fn gathered(&self, call: &'static str, what: String, data: &[u8]) -> Result<All> {
        let number = self.come(what, data.to_vec(), None);
        self.meet(call, number)
    }

    /// Joins the data that the first `n` ranks brought, element by element, into `buf`.
    fn join(&self, all: &All, n: usize, buf: &mut [u8], dtype: DType, join: Join) {
        let data = all.iter().flat_map(|brought| brought.data.iter().copied()).collect::<Vec<u8>>();
        join_parts(&data, n, buf, dtype, join);
    }

    /// Fills `recv` with the parts that all ranks send to this rank in an all-to-all.
    fn turn(&self, all: &All, recv: &mut [u8], dtype: DType) {
        let mut at = 0;
        for brought in all {
            let Some((to, _)) = &brought.counts else { continue };
            let start = to[..self.rank].iter().sum::<usize>() * dtype.size();
            let len = to[self.rank] * dtype.size();
            recv[at..at + len].copy_from_slice(&brought.data[start..start + len]);
            at += len;
        }
    }

    /// Returns this rank's part of `data`, which contains the parts of all ranks one after another. `counts` are the
    /// numbers of elements of the parts.
    fn part<'a>(&self, data: &'a [u8], counts: &[usize], dtype: DType) -> &'a [u8] {
        let start = counts[..self.rank].iter().sum::<usize>() * dtype.size();
        &data[start..start + counts[self.rank] * dtype.size()]
    }

    /// Enqueues a message to rank `to`. Returns the number of the message.
    fn put(&self, buf: Vec<u8>, dtype: DType, to: usize) -> u64 {
        let mut state = self.shared.lock();
        let number = state.comms[self.comm].queues.entry((self.rank, to)).or_default().send(buf, dtype);
        drop(state);
        self.shared.changed.notify_all();
        number
    }

    fn sent(&self, to: usize, number: u64) -> Wait {
        Wait::Received { comm: self.comm, from: self.rank, to, number }
    }

    fn incoming(&self, from: usize, number: u64) -> Wait {
        Wait::Message { comm: self.comm, from, to: self.rank, number }
    }

    /// Applies `f` to the queue of messages from rank `from`.
    fn from<R>(&self, from: usize, f: impl FnOnce(&mut Queue) -> R) -> R {
        f(self.shared.lock().comms[self.comm].queues.entry((from, self.rank)).or_default())
    }

    /// Waits for message `number` of rank `from`, and copies it into `buf`.
    fn receive(&self, buf: &mut [u8], dtype: DType, from: usize, number: u64) -> Result<()> {
        drop(self.wait("recv", self.incoming(from, number))?);
        let message = self.from(from, |queue| queue.take(number));
        self.shared.changed.notify_all();
        let gone = || Error::Gone { call: "recv", rank: from, why: "the message was received before".into() };
        queue::deliver(message.ok_or_else(gone)?, buf, dtype, from)
    }
}

fn copy_all(all: &All, recv: &mut [u8]) {
    let mut at = 0;
    for brought in all {
        recv[at..at + brought.data.len()].copy_from_slice(&brought.data);
        at += brought.data.len();
    }
}

impl Transport for Rank {
    fn name(&self) -> String {
        format!("{} threads of one process", self.size)
    }
    fn rank(&self) -> usize {
        self.rank
    }
    fn size(&self) -> usize {
        self.size
    }
    fn local(&self) -> Result<(usize, usize)> {
        Ok((self.rank, self.size))
    }
    fn barrier(&self) -> Result<()> {
        self.gathered("barrier", "barrier".into(), &[]).map(drop)
    }
    fn broadcast(&self, buf: &mut [u8], dtype: DType, root: usize) -> Result<()> {
        let what = describe::broadcast(buf.len(), dtype, root);
        let data = if self.rank == root { &*buf } else { &[] };
        let all = self.gathered("broadcast", what, data)?;
        buf.copy_from_slice(&all[root].data);
        Ok(())
    }
    fn all_gather(&self, send: &[u8], recv: &mut [u8], counts: &[usize], dtype: DType) -> Result<()> {
        let all = self.gathered("all_gather", describe::all_gather(counts, dtype), send)?;
        copy_all(&all, recv);
        Ok(())
    }
    fn gather(&self, send: &[u8], recv: Option<&mut [u8]>, counts: &[usize], dtype: DType, root: usize) -> Result<()> {
        let all = self.gathered("gather", describe::gather(counts, dtype, root), send)?;
        if let Some(recv) = recv {
            copy_all(&all, recv);
        }
        Ok(())
    }
    fn scatter(&self, send: Option<&[u8]>, counts: &[usize], recv: &mut [u8], dtype: DType, root: usize) -> Result<()> {
        let all = self.gathered("scatter", describe::scatter(counts, dtype, root), send.unwrap_or_default())?;
        recv.copy_from_slice(self.part(&all[root].data, counts, dtype));
        Ok(())
    }
    fn all_to_all(&self, send: &[u8], to: &[usize], recv: &mut [u8], from: &[usize], dtype: DType) -> Result<()> {
        let number = self.come(describe::all_to_all(dtype), send.to_vec(), Some((to.to_vec(), from.to_vec())));
        let all = self.meet("all_to_all", number)?;
        self.turn(&all, recv, dtype);
        Ok(())
    }
    fn all_reduce(&self, buf: &mut [u8], dtype: DType, join: Join) -> Result<()> {
        let all = self.gathered("all_reduce", describe::all_reduce(buf.len(), dtype, join), buf)?;
        self.join(&all, self.size, buf, dtype, join);
        Ok(())
    }
    fn reduce(&self, buf: &mut [u8], dtype: DType, join: Join, root: usize) -> Result<()> {
        let all = self.gathered("reduce", describe::reduce(buf.len(), dtype, join, root), buf)?;
        if self.rank == root {
            self.join(&all, self.size, buf, dtype, join);
        }
        Ok(())
    }
    fn reduce_scatter(&self, send: &[u8], recv: &mut [u8], counts: &[usize], dtype: DType, join: Join) -> Result<()> {
        let all = self.gathered("reduce_scatter", describe::reduce_scatter(counts, dtype, join), send)?;
        let mut joined = vec![0; send.len()];
        self.join(&all, self.size, &mut joined, dtype, join);
        recv.copy_from_slice(self.part(&joined, counts, dtype));
        Ok(())
    }
    fn scan(&self, buf: &mut [u8], dtype: DType, join: Join) -> Result<()> {
        let all = self.gathered("scan", describe::scan("scan", buf.len(), dtype, join), buf)?;
        self.join(&all, self.rank + 1, buf, dtype, join);
        Ok(())
    }
    fn exscan(&self, buf: &mut [u8], dtype: DType, join: Join) -> Result<()> {
        let all = self.gathered("exscan", describe::scan("exscan", buf.len(), dtype, join), buf)?;
        self.join(&all, self.rank, buf, dtype, join);
        Ok(())
    }
    fn send(&self, buf: &[u8], dtype: DType, to: usize) -> Result<()> {
        let number = self.put(buf.to_vec(), dtype, to);
        self.wait("send", self.sent(to, number)).map(drop)
    }
    fn recv(&self, buf: &mut [u8], dtype: DType, from: usize) -> Result<()> {
        let number = self.from(from, |queue| queue.next());
        let received = self.receive(buf, dtype, from, number);
        // if a receive fails before its message arrives, the next receive gets this message
        if !matches!(received, Err(Error::Timeout { .. } | Error::Deadlock { .. } | Error::Gone { .. })) {
            self.from(from, Queue::ask);
        }
        received
    }
    fn start(&self, call: Start) -> Result<Box<dyn Request>> {
        let meeting = |call, what: String, data, counts, finish: Finish| -> Box<dyn Request> {
            let number = self.come(format!("start_{what}"), data, counts);
            Box::new(Later { rank: self.clone(), call, number, finish })
        };
        Ok(match call {
            Start::Barrier => meeting("barrier", "barrier".into(), Vec::new(), None, Box::new(|_, _| Vec::new())),
            Start::Broadcast { buf, dtype, root } => {
                let what = describe::broadcast(buf.len(), dtype, root);
                let data = if self.rank == root { buf } else { Vec::new() };
                meeting("broadcast", what, data, None, Box::new(move |_, all| all[root].data.clone()))
            }
            Start::AllGather { send, mut recv, counts, dtype } => {
                let finish = move |_: &Rank, all: All| {
                    copy_all(&all, &mut recv);
                    recv
                };
                meeting("all_gather", describe::all_gather(&counts, dtype), send, None, Box::new(finish))
            }
            Start::AllToAll { send, to, mut recv, from, dtype } => {
                let finish = move |rank: &Rank, all: All| {
                    rank.turn(&all, &mut recv, dtype);
                    recv
                };
                meeting("all_to_all", describe::all_to_all(dtype), send, Some((to, from)), Box::new(finish))
            }
            Start::AllReduce { buf, dtype, join } => {
                let mut joined = vec![0; buf.len()];
                let finish = move |rank: &Rank, all: All| {
                    rank.join(&all, rank.size, &mut joined, dtype, join);
                    joined
                };
                meeting("all_reduce", describe::all_reduce(buf.len(), dtype, join), buf, None, Box::new(finish))
            }
            Start::ReduceScatter { send, mut recv, counts, dtype, join } => {
                let mut joined = vec![0; send.len()];
                let what = describe::reduce_scatter(&counts, dtype, join);
                let finish = move |rank: &Rank, all: All| {
                    rank.join(&all, rank.size, &mut joined, dtype, join);
                    recv.copy_from_slice(rank.part(&joined, &counts, dtype));
                    recv
                };
                meeting("reduce_scatter", what, send, None, Box::new(finish))
            }
            Start::Send { buf, dtype, to } => {
                let number = self.put(buf.clone(), dtype, to);
                Box::new(Sent { rank: self.clone(), wait: self.sent(to, number), buf })
            }
            Start::Recv { buf, dtype, from } => {
                let number = self.from(from, Queue::ask);
                Box::new(Incoming { rank: self.clone(), buf, dtype, from, number })
            }
        })
    }
    fn split(&self, number: Option<usize>, members: &[usize]) -> Result<Option<Box<dyn Transport>>> {
        let Some(number) = number else { return Ok(None) };
        let mut state = self.shared.lock();
        // the ranks have just exchanged the numbers of their groups in a meeting, so all of them have entered the same
        // number of meetings
        let key = (self.comm, state.comms[self.comm].come[self.rank], number);
        let comm = match state.groups.get(&key) {
            Some(there) => *there,
            None => {
                let threads = members.iter().map(|rank| state.comms[self.comm].members[*rank]).collect();
                state.comms.push(Comm::new(threads));
                let new = state.comms.len() - 1;
                state.groups.insert(key, new);
                new
            }
        };
        let rank = members.iter().position(|rank| *rank == self.rank).unwrap_or(0);
        Ok(Some(Box::new(Rank { shared: self.shared.clone(), comm, rank, size: members.len(), thread: self.thread })))
    }
    fn abort(&self, code: i32) -> ! {
        panic!("rank {} ended all ranks with status {code}", self.thread)
    }
    fn expire(&self, waited: &Waited) {
        self.shared.lock().expired[self.thread] = Some(waited.seconds);
        self.shared.changed.notify_all();
    }
}

/// Computes the result of a rank from the data that all ranks brought to a meeting.
type Finish = Box<dyn FnOnce(&Rank, All) -> Vec<u8> + Send>;

/// A meeting that this rank has entered but not yet waited for.
struct Later {
    rank: Rank,
    call: &'static str,
    number: u64,
    finish: Finish,
}

/// A message that was sent and may not have been received yet.
struct Sent {
    rank: Rank,
    wait: Wait,
    buf: Vec<u8>,
}

/// A receive that was started.
struct Incoming {
    rank: Rank,
    buf: Vec<u8>,
    dtype: DType,
    from: usize,
    number: u64,
}

impl Rank {
    /// Returns whether waiting would end immediately, with a result or an error.
    fn is_over(&self, wait: Wait) -> bool {
        let state = self.shared.lock();
        state.deadlock.is_some() || !matches!(state.standing(wait), Standing::For(_))
    }
}

impl Request for Later {
    fn wait(self: Box<Self>, _: &dyn Transport) -> Result<Vec<u8>> {
        let all = self.rank.meet(self.call, self.number)?;
        Ok((self.finish)(&self.rank, all))
    }
    fn is_done(&mut self, _: &dyn Transport) -> Result<bool> {
        Ok(self.rank.is_over(Wait::Meeting { comm: self.rank.comm, number: self.number }))
    }
}

impl Request for Sent {
    fn wait(self: Box<Self>, _: &dyn Transport) -> Result<Vec<u8>> {
        drop(self.rank.wait("send", self.wait)?);
        Ok(self.buf)
    }
    fn is_done(&mut self, _: &dyn Transport) -> Result<bool> {
        Ok(self.rank.is_over(self.wait))
    }
}

impl Request for Incoming {
    fn wait(mut self: Box<Self>, _: &dyn Transport) -> Result<Vec<u8>> {
        self.rank.receive(&mut self.buf, self.dtype, self.from, self.number)?;
        Ok(self.buf)
    }
    fn is_done(&mut self, _: &dyn Transport) -> Result<bool> {
        Ok(self.rank.is_over(self.rank.incoming(self.from, self.number)))
    }
}
