//! `World`: the ranks of a program, and the calls that communicate between them.

use crate::{
    DType, Error, Join, Result, Transport,
    alone::Alone,
    board::Board,
    bytes, check, describe,
    environment::is_set,
    join,
    queue::{self, Queue},
    say::say,
    tagged::Tag,
    watch::{self, Call, Watch},
};
use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// The ranks of a program, of which this process (or thread) is one. Cheap to clone.
///
/// A buffer is a slice of bytes that holds elements of one [`DType`], in the byte order of this machine. Counts are
/// numbers of elements. **Every call is collective unless its documentation says otherwise**: all ranks make the call,
/// in the same order, with matching arguments, and the call may wait for all ranks. If several threads of one rank
/// make calls, the calls run one after another.
///
/// # Errors
/// Every call returns [`Error::Argument`] or [`Error::NoJoin`] if its own arguments are wrong, before anything is sent.
/// If the calls of the ranks do not match, the result depends on the transport: [`threads`](crate::threads) return
/// [`Error::Diverged`], and MPI returns an error of the library or waits. With `WORLD_CHECK=1` every transport returns
/// `Diverged`. After any error except an argument error, the ranks may be at different calls; then end the job, as
/// [`run`](crate::run) does.
#[derive(Clone)]
pub struct World(Arc<Inner>);

/// A handle of a world that does not keep the world alive.
pub(crate) struct WeakWorld(Weak<Inner>);

impl WeakWorld {
    pub(crate) fn upgrade(&self) -> Option<World> {
        self.0.upgrade().map(World)
    }
}

struct Inner {
    transport: Arc<dyn Transport>,
    rank: usize,
    size: usize,
    /// Messages that this rank sends to itself, which are not passed to the library. A program that sends messages
    /// around a ring of ranks can therefore also run on a single rank.
    own: Mutex<Queue>,
    state: Arc<State>,
    /// The world that contains this group, if this is a group. A group keeps its world alive.
    parent: Option<World>,
}

/// State of a rank that is shared by its world and all its groups.
struct State {
    /// Lock that is held during a call, because libraries do not have to support calls from several threads at once.
    turn: Mutex<()>,
    nanos: AtomicU64,
    bytes: AtomicU64,
    calls: AtomicU64,
    check: AtomicBool,
    watch: Arc<Watch>,
}

/// Statistics of the calls of this rank, in the world and all its groups.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Spent {
    /// Seconds spent in calls. Not measured if there is only one rank.
    pub seconds: f64,
    /// Total size in bytes of the buffers that this rank passed to be sent.
    pub bytes: u64,
    /// Number of calls, including calls that check whether a started call is done.
    pub calls: u64,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "World({} of {})", self.rank(), self.size())
    }
}

impl World {
    /// Creates a world with a single rank, without a library.
    pub fn alone() -> World {
        World::new(Box::new(Alone))
    }

    /// Creates a world with a custom transport. `WORLD_CHECK` and `WORLD_TIMEOUT` are read from the environment.
    pub fn new(transport: Box<dyn Transport>) -> World {
        let limit = watch::limit_of_environment().unwrap_or_else(|why| {
            say(&format!("{why}: there is no time limit"));
            watch::Limit::Never
        });
        World::with(transport, is_set("WORLD_CHECK"), limit.given())
    }

    /// Like [`World::new`], with settings on which all ranks have agreed.
    pub(crate) fn with(transport: Box<dyn Transport>, check: bool, limit: Option<Duration>) -> World {
        let state = State {
            turn: Mutex::new(()),
            nanos: 0.into(),
            bytes: 0.into(),
            calls: 0.into(),
            check: check.into(),
            watch: Arc::default(),
        };
        let world = World::of(transport, Arc::new(state), None);
        world.set_timeout(limit);
        world
    }

    /// Starts to watch the other ranks. If `is_default` is true, the default limit applies to calls while the state of
    /// the other ranks is unknown.
    pub(crate) fn look(&self, board: Option<Arc<Board>>, is_default: bool) {
        self.0.state.watch.look(board, is_default, &self.0.transport);
    }

    fn of(transport: Box<dyn Transport>, state: Arc<State>, parent: Option<World>) -> World {
        let (rank, size) = (transport.rank(), transport.size());
        World(Arc::new(Inner { transport: transport.into(), rank, size, own: Mutex::default(), state, parent }))
    }

    pub(crate) fn downgrade(&self) -> WeakWorld {
        WeakWorld(Arc::downgrade(&self.0))
    }

    /// The number of this rank, which is less than [`size`](World::size). Not collective.
    pub fn rank(&self) -> usize {
        self.0.rank
    }

    /// The number of ranks, which is at least 1. Not collective.
    pub fn size(&self) -> usize {
        self.0.size
    }

    /// The name of the transport, with its version. Not collective.
    pub fn name(&self) -> String {
        self.0.transport.name()
    }

    /// The number of this rank among the ranks on its machine. It can be used to choose one of the machine's devices.
    /// Not collective.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a custom transport does not implement this call.
    pub fn local_rank(&self) -> Result<usize> {
        Ok(self.0.transport.local()?.0)
    }

    /// The number of ranks on this machine. Not collective.
    ///
    /// # Errors
    /// The errors of [`local_rank`](World::local_rank).
    pub fn local_size(&self) -> Result<usize> {
        Ok(self.0.transport.local()?.1)
    }

    /// Ends all ranks immediately, with this exit status. Not collective. With [`threads`](crate::threads) it panics,
    /// which also ends all ranks.
    pub fn abort(&self, code: i32) -> ! {
        self.0.transport.abort(code)
    }

    /// Statistics of the calls since the program began, or since [`reset_spent`](World::reset_spent). Not collective.
    pub fn spent(&self) -> Spent {
        let state = &self.0.state;
        Spent {
            seconds: Duration::from_nanos(state.nanos.load(Relaxed)).as_secs_f64(),
            bytes: state.bytes.load(Relaxed),
            calls: state.calls.load(Relaxed),
        }
    }

    /// Resets the statistics of calls. Not collective.
    pub fn reset_spent(&self) {
        let state = &self.0.state;
        for of in [&state.nanos, &state.bytes, &state.calls] {
            of.store(0, Relaxed);
        }
    }

    /// Sets the time limit of calls, beginning with the next call. `None` means no limit. The initial limit is
    /// `WORLD_TIMEOUT`, in seconds or `none`. The limit applies to this rank, in the world and in its groups. Not
    /// collective.
    ///
    /// Even without a limit, MPI ends waits that no rank will answer. A wait for a rank of the same machine that has
    /// left ends within a few seconds. If all ranks are on one machine and all of them wait, the wait ends after 60 s
    /// (`WORLD_DEADLOCK`). If some ranks are on other machines, a wait ends after 30 minutes, whatever these ranks do.
    /// If all ranks are on one machine, a rank that waits for a computing rank continues to wait, and prints a message
    /// after 30 minutes.
    ///
    /// Every rank whose call exceeds the limit prints the name of the call to stderr, and then all ranks end with
    /// status [`TIMED_OUT`](crate::status::TIMED_OUT). With [`threads`](crate::threads) the call returns
    /// [`Error::Timeout`]. Time between calls does not count.
    pub fn set_timeout(&self, limit: Option<Duration>) {
        let mut world = self;
        // the limit is set on the outermost world: the measuring thread ends when its transport is dropped, and the
        // transport of a group may be dropped before the transport of the world
        while let Some(parent) = &world.0.parent {
            world = parent;
        }
        self.0.state.watch.set_limit(limit, &world.0.transport);
    }

    /// Enables or disables the comparison of calls between ranks, like `WORLD_CHECK=1`. All ranks must make this call
    /// at the same point of the program.
    pub fn set_check(&self, check: bool) {
        self.0.state.check.store(check, Relaxed);
    }

    /// Returns whether a thread of this rank is in a call.
    pub(crate) fn is_calling(&self) -> bool {
        matches!(self.0.state.turn.try_lock(), Err(TryLockError::WouldBlock))
    }

    pub(crate) fn own(&self) -> MutexGuard<'_, Queue> {
        self.0.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call of the transport. Calls run one at a time, and the measuring thread checks their time limit.
    pub(crate) fn call<R>(&self, call: Call, bytes: usize, f: impl FnOnce(&dyn Transport) -> Result<R>) -> Result<R> {
        self.watched(call, bytes, self.0.parent.is_none() && call.is_of_all(), f)
    }

    /// Waits for a call that was started earlier. Like `call`, but no bytes are counted, and the board does not count
    /// the wait as a call of all ranks.
    pub(crate) fn wait_for<R>(&self, call: Call, f: impl FnOnce(&dyn Transport) -> Result<R>) -> Result<R> {
        self.watched(call, 0, false, f)
    }

    /// Like `call`, for a message to or from the rank `peer`.
    fn message<R>(
        &self,
        call: Call,
        bytes: usize,
        peer: usize,
        f: impl FnOnce(&dyn Transport) -> Result<R>,
    ) -> Result<R> {
        // in a group, `peer` is not a rank of the world, so it is not reported
        let peer = Some(peer).filter(|_| self.0.parent.is_none());
        self.watched(call, bytes, false, |transport| {
            self.0.state.watch.set_peer(peer);
            let result = f(transport);
            self.0.state.watch.set_peer(None);
            result
        })
    }

    fn watched<R>(
        &self,
        call: Call,
        bytes: usize,
        is_of_all: bool,
        f: impl FnOnce(&dyn Transport) -> Result<R>,
    ) -> Result<R> {
        let state = &*self.0.state;
        let turn = state.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let number = state.calls.fetch_add(1, Relaxed);
        state.bytes.fetch_add(bytes as u64, Relaxed);
        state.watch.begin(call, number, is_of_all);
        // with a single rank, time is not measured, because reading the clock would take longer than the call
        let start = (self.0.size > 1).then(Instant::now);
        let result = f(&*self.0.transport);
        if let Some(start) = start {
            state.nanos.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        }
        state.watch.end();
        drop(turn);
        result
    }

    /// With `WORLD_CHECK=1`, compares a text between ranks, to check that all ranks are about to do the same. This
    /// comparison is collective and costs a message to each rank. Without `WORLD_CHECK=1`, the call costs nothing.
    ///
    /// `op` is the name of the operation, which messages about time limits also contain. `what` describes the operation
    /// further, and must not contain anything that differs between ranks.
    ///
    /// # Errors
    /// [`Error::Diverged`] with both texts, on all ranks.
    pub fn agree(&self, op: &str, what: impl FnOnce() -> String) -> Result<()> {
        self.0.state.watch.note(op);
        self.0.transport.note(op);
        self.compare(|| match what() {
            more if more.is_empty() => op.into(),
            more => format!("{op} {more}"),
        })
    }

    /// Returns whether ranks compare their calls, because of `WORLD_CHECK=1` or [`set_check`](World::set_check). Not
    /// collective.
    #[inline]
    pub fn checks(&self) -> bool {
        self.0.size > 1 && self.0.state.check.load(Relaxed)
    }

    /// Compares a text between ranks, if the comparison of calls is enabled.
    pub(crate) fn compare(&self, text: impl FnOnce() -> String) -> Result<()> {
        if !self.checks() {
            return Ok(());
        }
        let mine = text();
        let size = self.size();
        let gather = |send: &[u8], recv: &mut [u8], counts: &[usize], dtype| {
            self.call(Call::Agree, send.len(), |transport| transport.all_gather(send, recv, counts, dtype))
        };
        let key = [hash(mine.as_bytes()), mine.len() as u64];
        let mut keys = vec![0_u64; 2 * size];
        gather(bytes::of(&key), bytes::of_mut(&mut keys), &vec![2; size], DType::UInt64)?;
        let Some(rank) = keys.chunks_exact(2).position(|other| other != key) else { return Ok(()) };
        // all ranks have seen that the hashes differ, so all take part in the exchange of the texts
        let lengths: Vec<usize> = keys.chunks_exact(2).map(|key| key[1] as usize).collect();
        let mut texts = vec![0; lengths.iter().sum()];
        gather(mine.as_bytes(), &mut texts, &lengths, DType::UInt8)?;
        let start = lengths[..rank].iter().sum::<usize>();
        let theirs = String::from_utf8_lossy(&texts[start..start + lengths[rank]]).into_owned();
        Err(Error::Diverged { mine, theirs, rank })
    }

    /// With `WORLD_CHECK=1`, checks that the counts match for an exchange that is made without this world. `to[r]` is
    /// the number of elements that this rank sends to rank r, and `from[r]` is the number that it expects from rank r.
    /// This check is collective. Without `WORLD_CHECK=1`, the call costs nothing.
    ///
    /// # Errors
    /// [`Error::Diverged`] with the mismatch, on all ranks; [`Error::Argument`] unless there is one count for each
    /// rank.
    pub fn agree_counts(&self, to: &[usize], from: &[usize]) -> Result<()> {
        check::counts("agree_counts", "to", to, self.size())?;
        check::counts("agree_counts", "from", from, self.size())?;
        self.compare_counts(to, from)
    }

    /// Compares the counts of an all-to-all between ranks, if the comparison of calls is enabled.
    pub(crate) fn compare_counts(&self, to: &[usize], from: &[usize]) -> Result<()> {
        if !self.checks() {
            return Ok(());
        }
        let size = self.size();
        let mine: Vec<u64> = to.iter().chain(from).map(|count| *count as u64).collect();
        let mut all = vec![0_u64; 2 * size * size];
        let counts = vec![2 * size; size];
        self.call(Call::Agree, 16 * size, |transport| {
            transport.all_gather(bytes::of(&mine), bytes::of_mut(&mut all), &counts, DType::UInt64)
        })?;
        let all: Vec<usize> = all.into_iter().map(|count| count as usize).collect();
        let row = |rank: usize| &all[2 * size * rank..];
        match describe::unequal_counts(size, |rank| &row(rank)[..size], |rank| &row(rank)[size..2 * size]) {
            Some(pair) => Err(pair.error(self.rank())),
            None => Ok(()),
        }
    }

    /// Waits until all ranks have made this call.
    pub fn barrier(&self) -> Result<()> {
        self.compare(|| "barrier".into())?;
        self.call(Call::Barrier, 0, |transport| transport.barrier())
    }

    /// Copies the buffer of rank `root` to all ranks. The buffer must have the same length on all ranks.
    pub fn broadcast(&self, buf: &mut [u8], dtype: DType, root: usize) -> Result<()> {
        check::whole("broadcast", "buf", buf, dtype)?;
        check::rank("broadcast", "root", root, self.size())?;
        self.compare(|| describe::broadcast(buf.len(), dtype, root))?;
        let bytes = if self.rank() == root { buf.len() } else { 0 };
        self.call(Call::Broadcast, bytes, |transport| transport.broadcast(buf, dtype, root))
    }

    /// Copies the parts of all ranks, one after another in the order of ranks, to every rank. `counts` are the numbers
    /// of elements of the parts, and are the same on all ranks. `send` is the part of this rank, and `recv` has room
    /// for all parts.
    pub fn all_gather(&self, send: &[u8], recv: &mut [u8], counts: &[usize], dtype: DType) -> Result<()> {
        let sum = check::counts("all_gather", "counts", counts, self.size())?;
        check::length("all_gather", "send", send, counts[self.rank()], dtype)?;
        check::length("all_gather", "recv", recv, sum, dtype)?;
        self.compare(|| describe::all_gather(counts, dtype))?;
        self.call(Call::AllGather, send.len(), |transport| transport.all_gather(send, recv, counts, dtype))
    }

    /// Like [`all_gather`](World::all_gather), with a tag that identifies the purpose of the exchange. If ranks gather
    /// for different ops, all ranks get an error. For short messages the tag is part of the message; for long messages
    /// it is sent separately.
    ///
    /// # Errors
    /// The errors of [`all_gather`](World::all_gather); [`Error::Diverged`] names the ops.
    pub fn all_gather_for(&self, tag: Tag, send: &[u8], recv: &mut [u8], counts: &[usize], dtype: DType) -> Result<()> {
        if self.size() == 1 || !self.0.transport.has_tags() {
            return self.all_gather(send, recv, counts, dtype);
        }
        let sum = check::counts("all_gather", "counts", counts, self.size())?;
        check::length("all_gather", "send", send, counts[self.rank()], dtype)?;
        check::length("all_gather", "recv", recv, sum, dtype)?;
        self.compare(|| describe::all_gather(counts, dtype))?;
        self.call(Call::AllGather, send.len(), |transport| tag.all_gather(transport, send, recv, counts, dtype))
    }

    /// Like [`all_to_all`](World::all_to_all), with a tag that identifies the purpose of the exchange. If two ranks
    /// exchange a short part for different ops, they get an error.
    ///
    /// # Errors
    /// The errors of [`all_to_all`](World::all_to_all); [`Error::Diverged`] names the ops.
    pub fn all_to_all_for(
        &self,
        tag: Tag,
        send: &[u8],
        to: &[usize],
        recv: &mut [u8],
        from: &[usize],
        dtype: DType,
    ) -> Result<()> {
        if self.size() == 1 || !self.0.transport.has_tags() {
            return self.all_to_all(send, to, recv, from, dtype);
        }
        self.check_all_to_all(send, to, from, dtype)?;
        check::length("all_to_all", "recv", recv, from.iter().sum(), dtype)?;
        self.compare(|| describe::all_to_all(dtype))?;
        self.compare_counts(to, from)?;
        let bytes = send.len() - to[self.rank()] * dtype.size();
        self.call(Call::AllToAll, bytes, |transport| tag.all_to_all(transport, (send, to), (recv, from), dtype))
    }

    /// Copies the parts of all ranks, one after another, to rank `root`. `counts` are the numbers of elements of the
    /// parts, as in [`all_gather`](World::all_gather). `recv` is used only on the root.
    pub fn gather(
        &self,
        send: &[u8],
        recv: Option<&mut [u8]>,
        counts: &[usize],
        dtype: DType,
        root: usize,
    ) -> Result<()> {
        let sum = check::counts("gather", "counts", counts, self.size())?;
        check::rank("gather", "root", root, self.size())?;
        check::length("gather", "send", send, counts[self.rank()], dtype)?;
        let recv = if self.rank() == root { Some(check::given("gather", "recv", recv)?) } else { None };
        if let Some(recv) = &recv {
            check::length("gather", "recv", recv, sum, dtype)?;
        }
        self.compare(|| describe::gather(counts, dtype, root))?;
        self.call(Call::Gather, send.len(), |transport| transport.gather(send, recv, counts, dtype, root))
    }

    /// Distributes the parts of `send` on rank `root`, one part to each rank. `counts` are the numbers of elements of
    /// the parts, and are the same on all ranks. `recv` has room for this rank's part. `send` is used only on the root.
    pub fn scatter(
        &self,
        send: Option<&[u8]>,
        counts: &[usize],
        recv: &mut [u8],
        dtype: DType,
        root: usize,
    ) -> Result<()> {
        let sum = check::counts("scatter", "counts", counts, self.size())?;
        check::rank("scatter", "root", root, self.size())?;
        check::length("scatter", "recv", recv, counts[self.rank()], dtype)?;
        let send = if self.rank() == root { Some(check::given("scatter", "send", send)?) } else { None };
        if let Some(send) = send {
            check::length("scatter", "send", send, sum, dtype)?;
        }
        self.compare(|| describe::scatter(counts, dtype, root))?;
        let bytes = send.map_or(0, <[u8]>::len);
        self.call(Call::Scatter, bytes, |transport| transport.scatter(send, counts, recv, dtype, root))
    }

    /// Sends part `r` of `send` to rank `r`, and receives part `r` of `recv` from rank `r`. `to` and `from` are the
    /// numbers of elements of these parts. For each pair of ranks, the number that the sender passes in `to` must equal
    /// the number that the receiver passes in `from`.
    pub fn all_to_all(&self, send: &[u8], to: &[usize], recv: &mut [u8], from: &[usize], dtype: DType) -> Result<()> {
        self.check_all_to_all(send, to, from, dtype)?;
        check::length("all_to_all", "recv", recv, from.iter().sum(), dtype)?;
        self.compare(|| describe::all_to_all(dtype))?;
        self.compare_counts(to, from)?;
        let bytes = send.len() - to[self.rank()] * dtype.size();
        self.call(Call::AllToAll, bytes, |transport| transport.all_to_all(send, to, recv, from, dtype))
    }

    pub(crate) fn check_all_to_all(&self, send: &[u8], to: &[usize], from: &[usize], dtype: DType) -> Result<()> {
        let sum = check::counts("all_to_all", "to", to, self.size())?;
        check::counts("all_to_all", "from", from, self.size())?;
        check::own_part(to, from, self.rank())?;
        check::length("all_to_all", "send", send, sum, dtype)
    }

    /// Joins the buffers of all ranks elementwise, in place. All ranks get the result. The order in which floats are
    /// added depends on the library.
    pub fn all_reduce(&self, buf: &mut [u8], dtype: DType, join: Join) -> Result<()> {
        self.check_reduction("all_reduce", buf, dtype, join)?;
        self.compare(|| describe::all_reduce(buf.len(), dtype, join))?;
        self.call(Call::AllReduce, buf.len(), |transport| transport.all_reduce(buf, dtype, join))
    }

    pub(crate) fn check_reduction(&self, call: &'static str, buf: &[u8], dtype: DType, join: Join) -> Result<()> {
        join::check(dtype, join)?;
        check::whole(call, "buf", buf, dtype)
    }

    /// Like [`all_reduce`](World::all_reduce), but only rank `root` gets the result. The buffers of the other ranks
    /// keep their values.
    pub fn reduce(&self, buf: &mut [u8], dtype: DType, join: Join, root: usize) -> Result<()> {
        self.check_reduction("reduce", buf, dtype, join)?;
        check::rank("reduce", "root", root, self.size())?;
        self.compare(|| describe::reduce(buf.len(), dtype, join, root))?;
        self.call(Call::Reduce, buf.len(), |transport| transport.reduce(buf, dtype, join, root))
    }

    /// Joins the `send` buffers of all ranks elementwise, and gives each rank its part of the result. `counts` are the
    /// numbers of elements of the parts, and are the same on all ranks. `send` has the elements of all parts, and
    /// `recv` has room for this rank's part.
    pub fn reduce_scatter(
        &self,
        send: &[u8],
        recv: &mut [u8],
        counts: &[usize],
        dtype: DType,
        join: Join,
    ) -> Result<()> {
        self.check_reduce_scatter(send, counts, dtype, join)?;
        check::length("reduce_scatter", "recv", recv, counts[self.rank()], dtype)?;
        self.compare(|| describe::reduce_scatter(counts, dtype, join))?;
        self.call(Call::ReduceScatter, send.len(), |transport| {
            transport.reduce_scatter(send, recv, counts, dtype, join)
        })
    }

    pub(crate) fn check_reduce_scatter(&self, send: &[u8], counts: &[usize], dtype: DType, join: Join) -> Result<()> {
        join::check(dtype, join)?;
        let sum = check::counts("reduce_scatter", "counts", counts, self.size())?;
        check::length("reduce_scatter", "send", send, sum, dtype)
    }

    /// Joins the buffers of this rank and all lower ranks elementwise, in place.
    pub fn scan(&self, buf: &mut [u8], dtype: DType, join: Join) -> Result<()> {
        self.check_reduction("scan", buf, dtype, join)?;
        self.compare(|| describe::scan("scan", buf.len(), dtype, join))?;
        self.call(Call::Scan, buf.len(), |transport| transport.scan(buf, dtype, join))
    }

    /// Joins the buffers of the ranks before this rank, in place. Rank 0 gets the identity of the join, for example 1
    /// for products, and -0 for sums of floats.
    pub fn exscan(&self, buf: &mut [u8], dtype: DType, join: Join) -> Result<()> {
        self.check_reduction("exscan", buf, dtype, join)?;
        self.compare(|| describe::scan("exscan", buf.len(), dtype, join))?;
        self.call(Call::Exscan, buf.len(), |transport| transport.exscan(buf, dtype, join))
    }

    /// Sends a message to rank `to`, which must receive it. Not collective. Messages between two ranks arrive in the
    /// order in which they were sent.
    ///
    /// The call may wait until the other rank receives, and with [`threads`](crate::threads) it always waits. Two ranks
    /// that send to each other before they receive would therefore wait forever. [`start_send`](World::start_send) does
    /// not wait. A message to this rank itself is kept until it is received.
    pub fn send(&self, buf: &[u8], dtype: DType, to: usize) -> Result<()> {
        check::whole("send", "buf", buf, dtype)?;
        check::rank("send", "to", to, self.size())?;
        if to == self.rank() {
            self.own().send(buf.to_vec(), dtype);
            return Ok(());
        }
        self.message(Call::Send, buf.len(), to, |transport| transport.send(buf, dtype, to))
    }

    /// Receives the next message from rank `from`. Not collective.
    ///
    /// # Errors
    /// [`Error::Diverged`] if the message has another dtype or another number of elements.
    pub fn recv(&self, buf: &mut [u8], dtype: DType, from: usize) -> Result<()> {
        check::whole("recv", "buf", buf, dtype)?;
        check::rank("recv", "from", from, self.size())?;
        if from == self.rank() {
            let mut own = self.own();
            let message = own.next();
            let message = own.take(message).ok_or_else(|| self.nothing_of_own())?;
            own.ask();
            return queue::deliver(message, buf, dtype, from);
        }
        self.message(Call::Recv, 0, from, |transport| transport.recv(buf, dtype, from))
    }

    /// The error of a receive from this rank itself, if this rank has sent no message to itself.
    pub(crate) fn nothing_of_own(&self) -> Error {
        let waits = format!("rank {} waits for a message that it has not sent to itself", self.rank());
        Error::Deadlock { call: "recv", waits }
    }

    /// Forms groups of ranks: ranks with the same color are in one group. Returns the group of this rank, or `None` if
    /// `color` is `None`. The ranks in the group are numbered by `key`, and, if keys are equal, by their rank in this
    /// world. A group is a separate world. The messages of a group never mix with the messages of other worlds.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a custom transport has no groups.
    pub fn group(&self, color: Option<usize>, key: i64) -> Result<Option<World>> {
        self.compare(|| "group".into())?;
        let size = self.size();
        let mine = [u64::from(color.is_some()), color.unwrap_or(0) as u64, key.cast_unsigned()];
        let mut all = vec![0_u64; 3 * size];
        let transport = self.call(Call::Group, 24, |transport| {
            transport.all_gather(bytes::of(&mine), bytes::of_mut(&mut all), &vec![3; size], DType::UInt64)?;
            let mut members: Vec<usize> = (0..size).filter(|rank| all[3 * rank..3 * rank + 2] == mine[..2]).collect();
            if color.is_none() {
                members.clear();
            }
            // the number of a group is the smallest rank with its color
            let number = members.first().copied();
            members.sort_by_key(|rank| (all[3 * rank + 2].cast_signed(), *rank));
            transport.split(number, &members)
        })?;
        Ok(transport.map(|transport| World::of(transport, self.0.state.clone(), Some(self.clone()))))
    }
}

/// The hash FNV-1a, which is the same in all processes; std does not guarantee this for its hasher.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
