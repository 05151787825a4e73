//! Time limits of calls. A separate thread measures how long calls take.
//!
//! A call stores a number when it begins and when it ends. The thread measures the time of a call by checking
//! repeatedly whether this number has changed. The thread also reads the published states of the machine's other ranks.
//! So it detects that a rank has left, or that all ranks wait.

use crate::{
    Error, Result, Transport,
    board::{Board, Doing},
    say::say,
    status,
    transport::Waited,
};
use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError, Weak,
        atomic::{
            AtomicBool, AtomicU64, AtomicUsize,
            Ordering::{AcqRel, Relaxed},
        },
    },
    thread,
    time::{Duration, Instant},
};

macro_rules! calls {
    ($($call:ident $name:literal,)*) => {
        /// The calls that can wait for other ranks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Call { $($call),* }

        impl Call {
            const ALL: &[Call] = &[$(Call::$call),*];

            /// The name of the method of `World` that makes the call.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Call::$call => $name),* }
            }

            /// Returns whether the call is collective, that is, made by all ranks.
            pub(crate) fn is_of_all(self) -> bool {
                !matches!(self, Call::Send | Call::Recv | Call::StartSend | Call::StartRecv)
            }
        }
    };
}
calls! {
    Barrier "barrier", Broadcast "broadcast", AllGather "all_gather", Gather "gather", Scatter "scatter", AllToAll "all_to_all",
    AllReduce "all_reduce", Reduce "reduce", ReduceScatter "reduce_scatter", Scan "scan", Exscan "exscan", Send "send", Recv "recv",
    Group "group", Agree "agree",
    // the calls `start_..` return immediately; the program waits for their results later
    StartBarrier "start_barrier", StartBroadcast "start_broadcast", StartAllGather "start_all_gather",
    StartAllToAll "start_all_to_all", StartAllReduce "start_all_reduce", StartReduceScatter "start_reduce_scatter",
    StartSend "start_send", StartRecv "start_recv",
}

/// The bit in the encoding of a running call that is set if all ranks of the world make the call.
const MEETS: u64 = 1 << 8;

/// If a rank has left the program without making a call, another rank that waits in this call gives up after this time.
const MISSED: Duration = Duration::from_millis(1500);

/// If all ranks of a world wait for this time, the wait counts as a deadlock. `WORLD_DEADLOCK` sets another number of
/// seconds.
const DEADLOCK: Duration = Duration::from_secs(60);

/// The time limit if no limit is set and the state of the other ranks is unknown.
pub(crate) const DEFAULT: Duration = Duration::from_secs(30 * 60);

/// The current activity of a rank, and the time limit of the rank's calls.
#[derive(Default)]
pub(crate) struct Watch {
    /// The time limit of a call in nanoseconds; 0 for no limit.
    limit: AtomicU64,
    /// True if the time limit is the default.
    is_default: AtomicBool,
    /// The running call, or 0 if no call is running. The low byte is the `Call`, the next bit is set for calls that all
    /// ranks make, and the higher bits are the number of the call on this rank.
    now: AtomicU64,
    /// During a send or receive, the other rank plus 1; otherwise 0.
    peer: AtomicUsize,
    /// The op that makes the calls, as passed to `agree`.
    op: Mutex<String>,
    /// True if the measuring thread has been started.
    started: AtomicBool,
    /// The board with the activities of the other ranks of this machine.
    board: OnceLock<Arc<Board>>,
}

impl Watch {
    /// Marks the beginning of call number `number` of this rank. A rank makes one call at a time. `is_of_all` is true
    /// if all ranks of the world make the call.
    #[inline]
    pub(crate) fn begin(&self, call: Call, number: u64, is_of_all: bool) {
        if is_of_all && let Some(board) = self.board.get() {
            board.meet();
        }
        self.now.store((number + 1) << 9 | if is_of_all { MEETS } else { 0 } | call as u64, Relaxed);
    }

    /// Marks the end of the call.
    #[inline]
    pub(crate) fn end(&self) {
        self.now.store(0, Relaxed);
    }

    /// Sets the partner in the next message: `rank` is its number in the world, or `None` if this number is unknown.
    #[inline]
    pub(crate) fn set_peer(&self, rank: Option<usize>) {
        self.peer.store(rank.map_or(0, |rank| rank + 1), Relaxed);
    }

    /// Sets the op that makes the next calls.
    #[inline]
    pub(crate) fn note(&self, op: &str) {
        if self.started.load(Relaxed) {
            let mut own = self.op.lock().unwrap_or_else(PoisonError::into_inner);
            own.clear();
            own.push_str(op);
        }
    }

    /// Sets the time limit. The first limit starts the measuring thread, which ends when the transport is dropped.
    pub(crate) fn set_limit(self: &Arc<Watch>, limit: Option<Duration>, transport: &Arc<dyn Transport>) {
        let nanos = limit.map_or(0, |limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX).max(1));
        self.is_default.store(false, Relaxed);
        self.limit.store(nanos, Relaxed);
        if nanos != 0 {
            self.start(transport);
        }
    }

    /// Starts to watch the other ranks through the board. If `is_default` is true and the state of the other ranks is
    /// unknown, applies the default limit.
    pub(crate) fn look(self: &Arc<Watch>, board: Option<Arc<Board>>, is_default: bool, transport: &Arc<dyn Transport>) {
        if let Some(board) = board {
            let _ = self.board.set(board);
        }
        if is_default {
            self.limit.store(DEFAULT.as_nanos() as u64, Relaxed);
            self.is_default.store(true, Relaxed);
        }
        self.start(transport);
    }

    fn start(self: &Arc<Watch>, transport: &Arc<dyn Transport>) {
        if !self.started.swap(true, AcqRel) {
            let (watch, transport) = (self.clone(), Arc::downgrade(transport));
            let thread = thread::Builder::new().name("time limit of ranks".into()).stack_size(256 << 10);
            if let Err(why) = thread.spawn(move || watch.run(&transport)) {
                say(&format!("there is no time limit for calls between ranks: {why}"));
            }
        }
    }

    fn run(&self, transport: &Weak<dyn Transport>) {
        let deadlock = seconds_of("WORLD_DEADLOCK").unwrap_or(DEADLOCK);
        let (mut last, mut since) = (0, Instant::now());
        // `missed`: the time at which the thread noticed that a rank is missing; `still`: the time of the last change
        // in the activities of the other ranks
        let (mut missed, mut doing, mut still) = (None, Vec::new(), Instant::now());
        let mut has_said = 0;
        loop {
            let limit = Duration::from_nanos(self.limit.load(Relaxed));
            let least = Duration::from_millis(2);
            let pause = (if limit.is_zero() { DEFAULT } else { limit } / 20).clamp(least, Duration::from_millis(200));
            thread::sleep(pause);
            if transport.strong_count() == 0 {
                return;
            }
            let now = self.now.load(Relaxed);
            let board = self.board.get();
            if let Some(board) = board {
                board.show(now);
            }
            if now != last || now == 0 {
                (last, since) = (now, Instant::now());
                (missed, still) = (None, since);
                continue;
            }
            let waited = since.elapsed();
            let mut found = None;
            if let Some(board) = board {
                let absent = self.absent(board, now);
                missed =
                    absent.map(|rank| missed.filter(|(other, _)| *other == rank).unwrap_or((rank, Instant::now())));
                let others: Vec<_> = board.others().collect();
                if others != doing {
                    (doing, still) = (others, Instant::now());
                }
                if let Some((rank, _)) = missed.filter(|(_, since)| since.elapsed() >= MISSED) {
                    found = Some((format!("rank {rank} has left without it"), status::LEFT));
                } else if board.is_whole && nobody_computes(&doing) && still.elapsed() >= deadlock {
                    found = Some((format!("no rank computes ({})", in_words(&doing)), status::TIMED_OUT));
                }
            }
            if found.is_none() {
                if limit.is_zero() || waited < limit {
                    continue;
                }
                let is_default = self.is_default.load(Relaxed);
                found = Some(match is_default {
                    false => ("that is the time limit".into(), status::TIMED_OUT),
                    // a rank that computes is expected to answer later
                    true if board.is_some_and(|board| board.is_whole) => {
                        if has_said != now {
                            let others = in_words(&doing);
                            has_said = now;
                            say(&format!(
                                "a rank has waited for {:.0} s in {}: {others}; it continues to wait, and WORLD_TIMEOUT can set a limit in seconds",
                                waited.as_secs_f64(),
                                name_of(now)
                            ));
                        }
                        continue;
                    }
                    true => (
                        "no rank answered within the default time limit, which WORLD_TIMEOUT changes (seconds, or none)"
                            .into(),
                        status::TIMED_OUT,
                    ),
                });
            }
            let Some((why, status)) = found else { continue };
            // the thread that drops the last handle of the world finalises MPI, so the measuring thread holds a handle
            // only briefly
            let Some(transport) = transport.upgrade() else { return };
            let op = self.op.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let grace = (pause * 4).max(Duration::from_millis(300));
            let mut waited = Waited::new(
                transport.rank(),
                transport.size(),
                name_of(now),
                (!op.is_empty()).then_some(op),
                waited,
                grace,
            );
            (waited.why, waited.status) = (why, status);
            transport.expire(&waited);
            since = Instant::now();
        }
    }

    /// If the running call `now` waits for a rank that has left, returns this rank.
    fn absent(&self, board: &Board, now: u64) -> Option<usize> {
        if now & MEETS != 0 {
            return board.missed();
        }
        self.peer.load(Relaxed).checked_sub(1).filter(|rank| board.has_left(*rank))
    }
}

fn name_of(now: u64) -> &'static str {
    Call::ALL[(now & 0xff) as usize].name()
}

fn nobody_computes(doing: &[(usize, Doing)]) -> bool {
    doing.iter().all(|(_, doing)| matches!(doing, Doing::Left | Doing::Calls(_)))
}

/// Returns a text such as `rank 1 is in recv, rank 2 computes`.
fn in_words(doing: &[(usize, Doing)]) -> String {
    let one = |(rank, doing): &(usize, Doing)| match doing {
        Doing::Unknown => format!("rank {rank} shows nothing"),
        Doing::Computes => format!("rank {rank} computes"),
        Doing::Calls(now) => format!("rank {rank} is in {}", name_of(*now)),
        Doing::Left => format!("rank {rank} has left"),
    };
    // the text names at most eight ranks
    let some: Vec<String> = doing.iter().take(8).map(one).collect();
    some.join(", ")
}

/// The time limit set by the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// The environment sets no limit.
    Default,
    /// There is no limit.
    Never,
    /// The limit has this duration.
    Of(Duration),
}

impl Limit {
    /// Encodes the limit as an integer, which ranks can exchange.
    pub(crate) fn to_number(self) -> u64 {
        match self {
            Limit::Default => 0,
            Limit::Never => u64::MAX,
            Limit::Of(limit) => u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX - 1).clamp(1, u64::MAX - 1),
        }
    }

    pub(crate) fn of_number(number: u64) -> Limit {
        match number {
            0 => Limit::Default,
            u64::MAX => Limit::Never,
            nanos => Limit::Of(Duration::from_nanos(nanos)),
        }
    }

    /// The duration of the limit; `None` for `Default` and `Never`.
    pub(crate) fn given(self) -> Option<Duration> {
        match self {
            Limit::Of(limit) => Some(limit),
            _ => None,
        }
    }
}

fn seconds_of(name: &str) -> Option<Duration> {
    limit_of_text(&std::env::var(name).ok()?).ok()?.given()
}

/// Reads the time limit from the environment variable `WORLD_TIMEOUT`, which is a number of seconds or `none`.
pub(crate) fn limit_of_environment() -> Result<Limit> {
    match std::env::var("WORLD_TIMEOUT") {
        Ok(text) => limit_of_text(&text),
        Err(_) => Ok(Limit::Default),
    }
}

fn limit_of_text(text: &str) -> Result<Limit> {
    let text = text.trim();
    match text {
        "" => return Ok(Limit::Default),
        "none" => return Ok(Limit::Never),
        _ => {}
    }
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(limit) => Ok(Limit::Of(limit)),
        None => Err(Error::Argument {
            call: "init",
            why: format!("WORLD_TIMEOUT is {text:?}, which is not a number of seconds"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_named_by_their_numbers() {
        for (i, call) in Call::ALL.iter().enumerate() {
            assert_eq!(*call as usize, i);
        }
        assert_eq!(Call::ALL[Call::AllToAll as usize].name(), "all_to_all");
    }

    #[test]
    fn limits_are_seconds() {
        assert_eq!(limit_of_text(" 2.5 "), Ok(Limit::Of(Duration::from_millis(2500))));
        assert_eq!(limit_of_text(""), Ok(Limit::Default));
        assert_eq!(limit_of_text("none"), Ok(Limit::Never));
        for limit in [Limit::Default, Limit::Never, Limit::Of(Duration::from_millis(2500))] {
            assert_eq!(Limit::of_number(limit.to_number()), limit);
        }
        for wrong in ["0", "-1", "5 s", "inf", "nan"] {
            assert!(limit_of_text(wrong).unwrap_err().to_string().contains(wrong), "{wrong}");
        }
    }
}
