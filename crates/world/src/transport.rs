//! The interface that a communication library must provide for a [`World`](crate::World).

use crate::{DType, Error, Join, Result, join, say::say, status};
use std::time::Duration;

/// A communication library. The trait is object safe, because the library is chosen once, when a program starts.
///
/// Only `World` calls a transport. `World` checks all arguments first: every buffer holds a whole number of elements
/// and has the length that the counts give, there is one count for each rank, ranks are in range, the rank in `send`
/// and `recv` is not this rank, and the reduction exists. `World` makes one call at a time on each rank. Each method
/// does the same as the method of `World` with the same name.
///
/// Most methods have a default body, which calls the required methods. It is correct but slow.
pub trait Transport: Send + Sync {
    /// The name and version of the library.
    fn name(&self) -> String;

    /// The number of this rank, which is less than `size`.
    fn rank(&self) -> usize;

    /// The number of ranks, which is at least 1.
    fn size(&self) -> usize;

    /// Sends part `r` of `send` to rank `r`, and receives part `r` of `recv` from rank `r`. The counts `to` and `from`
    /// are in elements.
    fn all_to_all(&self, send: &[u8], to: &[usize], recv: &mut [u8], from: &[usize], dtype: DType) -> Result<()>;

    /// Joins the buffers of all ranks elementwise, in place.
    fn all_reduce(&self, buf: &mut [u8], dtype: DType, join: Join) -> Result<()>;

    /// Sends a message to rank `to`. Only the two ranks take part. Messages between them arrive in the order in which
    /// they were sent.
    fn send(&self, buf: &[u8], dtype: DType, to: usize) -> Result<()>;

    /// Receives a message from rank `from`. Only the two ranks take part. Returns an error if the message has another
    /// dtype or length.
    fn recv(&self, buf: &mut [u8], dtype: DType, from: usize) -> Result<()>;

    /// Ends all ranks with this exit status.
    fn abort(&self, code: i32) -> !;

    /// Returns whether exchanges carry a [`Tag`](crate::Tag) that identifies their purpose. Returns false for a
    /// transport without other ranks.
    fn has_tags(&self) -> bool {
        true
    }

    /// Announces the op that makes the next calls. The default body does nothing.
    fn note(&self, _op: &str) {}

    /// Waits until all ranks have made this call.
    fn barrier(&self) -> Result<()> {
        self.all_reduce(&mut [0], DType::UInt8, Join::Max)
    }

    /// Copies the buffer of `root` to all ranks.
    fn broadcast(&self, buf: &mut [u8], dtype: DType, root: usize) -> Result<()> {
        let counts = vec![buf.len() / dtype.size(); self.size()];
        let sent = if self.rank() == root { buf.to_vec() } else { Vec::new() };
        self.scatter((self.rank() == root).then(|| sent.repeat(self.size())).as_deref(), &counts, buf, dtype, root)
    }

    /// Copies the parts of all ranks, one after another, to every rank.
    fn all_gather(&self, send: &[u8], recv: &mut [u8], counts: &[usize], dtype: DType) -> Result<()> {
        let to = vec![counts[self.rank()]; self.size()];
        self.all_to_all(&send.repeat(self.size()), &to, recv, counts, dtype)
    }

    /// Copies the parts of all ranks to `root`. Only `root` passes `recv`.
    fn gather(&self, send: &[u8], recv: Option<&mut [u8]>, counts: &[usize], dtype: DType, root: usize) -> Result<()> {
        let mut to = vec![0; self.size()];
        to[root] = counts[self.rank()];
        let nothing = vec![0; self.size()];
        let from = if self.rank() == root { counts } else { &nothing };
        self.all_to_all(send, &to, recv.unwrap_or_default(), from, dtype)
    }

    /// Distributes the parts of `send` to the ranks. Only `root` passes `send`.
    fn scatter(&self, send: Option<&[u8]>, counts: &[usize], recv: &mut [u8], dtype: DType, root: usize) -> Result<()> {
        let mut from = vec![0; self.size()];
        from[root] = counts[self.rank()];
        let nothing = vec![0; self.size()];
        let to = if self.rank() == root { counts } else { &nothing };
        self.all_to_all(send.unwrap_or_default(), to, recv, &from, dtype)
    }

    /// Like [`all_reduce`](Transport::all_reduce), but only `root` gets the result. The buffers of the other ranks keep
    /// their values.
    fn reduce(&self, buf: &mut [u8], dtype: DType, join: Join, root: usize) -> Result<()> {
        let mut all = buf.to_vec();
        self.all_reduce(&mut all, dtype, join)?;
        if self.rank() == root {
            buf.copy_from_slice(&all);
        }
        Ok(())
    }

    /// Joins the buffers of all ranks elementwise, and gives each rank its part.
    fn reduce_scatter(&self, send: &[u8], recv: &mut [u8], counts: &[usize], dtype: DType, join: Join) -> Result<()> {
        let mut all = send.to_vec();
        self.all_reduce(&mut all, dtype, join)?;
        let start = counts[..self.rank()].iter().sum::<usize>() * dtype.size();
        recv.copy_from_slice(&all[start..start + recv.len()]);
        Ok(())
    }

    /// Joins the buffers of this rank and all lower ranks elementwise, in place.
    fn scan(&self, buf: &mut [u8], dtype: DType, join: Join) -> Result<()> {
        let mut all = vec![0; buf.len() * self.size()];
        self.all_gather(buf, &mut all, &vec![buf.len() / dtype.size(); self.size()], dtype)?;
        join_parts(&all, self.rank() + 1, buf, dtype, join);
        Ok(())
    }

    /// Joins the buffers of the ranks before this rank, in place. On rank 0 the result is the identity of the join.
    fn exscan(&self, buf: &mut [u8], dtype: DType, join: Join) -> Result<()> {
        let mut all = vec![0; buf.len() * self.size()];
        self.all_gather(buf, &mut all, &vec![buf.len() / dtype.size(); self.size()], dtype)?;
        join_parts(&all, self.rank(), buf, dtype, join);
        Ok(())
    }

    /// Starts a call, and returns a request with which the caller waits for the end of the call.
    ///
    /// The default body makes a collective call immediately. This is correct because all ranks make the same calls in
    /// the same order. A library whose `send` waits for the receiver must implement this method, so that two ranks can
    /// send to each other. For a receive the default body returns an error, because a receive that runs immediately
    /// would wait for the sender.
    fn start(&self, call: Start) -> Result<Box<dyn Request>> {
        let buf = match call {
            Start::Barrier => {
                self.barrier()?;
                Vec::new()
            }
            Start::Broadcast { mut buf, dtype, root } => {
                self.broadcast(&mut buf, dtype, root)?;
                buf
            }
            Start::AllGather { send, mut recv, counts, dtype } => {
                self.all_gather(&send, &mut recv, &counts, dtype)?;
                recv
            }
            Start::AllToAll { send, to, mut recv, from, dtype } => {
                self.all_to_all(&send, &to, &mut recv, &from, dtype)?;
                recv
            }
            Start::AllReduce { mut buf, dtype, join } => {
                self.all_reduce(&mut buf, dtype, join)?;
                buf
            }
            Start::ReduceScatter { send, mut recv, counts, dtype, join } => {
                self.reduce_scatter(&send, &mut recv, &counts, dtype, join)?;
                recv
            }
            Start::Send { buf, dtype, to } => {
                self.send(&buf, dtype, to)?;
                buf
            }
            Start::Recv { .. } => return Err(Error::Unsupported { call: "start_recv", transport: self.name() }),
        };
        Ok(Box::new(Done(buf)))
    }

    /// Forms groups of ranks. Ranks that pass the same number, which is less than `size`, form one group; a rank that
    /// passes `None` is in no group. `members` lists the ranks of this rank's group, in the order of their numbers in
    /// the group. All ranks must make this call.
    fn split(&self, _number: Option<usize>, _members: &[usize]) -> Result<Option<Box<dyn Transport>>> {
        Err(Error::Unsupported { call: "group", transport: self.name() })
    }

    /// The number of this rank among the ranks of its machine, and the number of ranks on the machine. Not collective.
    fn local(&self) -> Result<(usize, usize)> {
        Err(Error::Unsupported { call: "local_rank", transport: self.name() })
    }

    /// Handles a call of this rank, `waited.call`, that has exceeded its limit. Another thread calls this method. The
    /// default body prints a message, gives other ranks time to print their messages, and ends all ranks.
    fn expire(&self, waited: &Waited) {
        say(&waited.to_string());
        std::thread::sleep(waited.grace);
        self.abort(waited.status)
    }
}

/// A call that has exceeded its limit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Waited {
    /// The rank that waits.
    pub rank: usize,
    /// The number of ranks.
    pub size: usize,
    /// The name of the call.
    pub call: &'static str,
    /// The op for which the call was made, if known.
    pub op: Option<String>,
    /// The number of seconds that the call has waited.
    pub seconds: f64,
    /// The time between this rank's message and the end of all ranks. It allows the other ranks to print their
    /// messages.
    pub grace: Duration,
    /// The reason why the wait has ended, such as the time limit.
    pub why: String,
    /// The exit status with which all ranks end.
    pub status: i32,
}

impl Waited {
    pub(crate) fn new(
        rank: usize,
        size: usize,
        call: &'static str,
        op: Option<String>,
        waited: Duration,
        grace: Duration,
    ) -> Waited {
        let (seconds, why) = (waited.as_secs_f64(), "that is the time limit".into());
        Waited { rank, size, call, op, seconds, grace, why, status: status::TIMED_OUT }
    }
}

impl std::fmt::Display for Waited {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {} of {} has waited for {:.1} s in {}", self.rank, self.size, self.seconds, self.call)?;
        if let Some(op) = &self.op {
            write!(f, ", in the op {op}")?;
        }
        write!(f, ": {}, all ranks end", self.why)
    }
}

/// A call with its buffers, which [`Transport::start`] starts and [`Request::wait`] completes. The fields of a variant
/// are the arguments of the [`World`](crate::World) method with the same name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs)] // each field is an argument
pub enum Start {
    /// The result is an empty buffer.
    Barrier,
    /// The result is the buffer of `root`.
    Broadcast { buf: Vec<u8>, dtype: DType, root: usize },
    /// The result consists of the parts of all ranks.
    AllGather { send: Vec<u8>, recv: Vec<u8>, counts: Vec<usize>, dtype: DType },
    /// The result consists of the parts that all ranks sent to this rank.
    AllToAll { send: Vec<u8>, to: Vec<usize>, recv: Vec<u8>, from: Vec<usize>, dtype: DType },
    /// The result is the joined buffer.
    AllReduce { buf: Vec<u8>, dtype: DType, join: Join },
    /// The result is this rank's part of the joined buffer.
    ReduceScatter { send: Vec<u8>, recv: Vec<u8>, counts: Vec<usize>, dtype: DType, join: Join },
    /// The result is the sent buffer.
    Send { buf: Vec<u8>, dtype: DType, to: usize },
    /// The result is the buffer with the received message.
    Recv { buf: Vec<u8>, dtype: DType, from: usize },
}

/// A started call. The caller must wait for it, except on a rank that unwinds after a panic.
pub trait Request: Send {
    /// Waits for the call and returns its result. `transport` is the transport that started the call.
    fn wait(self: Box<Self>, transport: &dyn Transport) -> Result<Vec<u8>>;

    /// Returns whether [`wait`](Request::wait) would return immediately.
    fn is_done(&mut self, transport: &dyn Transport) -> Result<bool>;
}

/// A call that `Transport::start` has already completed.
struct Done(Vec<u8>);

impl Request for Done {
    fn wait(self: Box<Self>, _: &dyn Transport) -> Result<Vec<u8>> {
        Ok(self.0)
    }

    fn is_done(&mut self, _: &dyn Transport) -> Result<bool> {
        Ok(true)
    }
}

/// Joins the first `n` parts of `all` elementwise, in order, and stores the result in `into`. Each part has the length
/// of `into`.
pub(crate) fn join_parts(all: &[u8], n: usize, into: &mut [u8], dtype: DType, join: Join) {
    let len = into.len();
    if n == 0 {
        return join::fill_identity(into, dtype, join);
    }
    into.copy_from_slice(&all[..len]);
    for part in 1..n {
        let mut next = all[part * len..(part + 1) * len].to_vec();
        join::join_bytes(into, &mut next, dtype, join);
        into.copy_from_slice(&next);
    }
}
