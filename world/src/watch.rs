//! Time limits: a thread that sees for how long a call has run.
//!
//! A call stores one number when it begins and one when it ends, and where there is no limit not even those. The thread takes the
//! time itself, by looking now and then whether the number is still the same.

use crate::{Error, Result, Transport, say::say, transport::Waited};
use std::{
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{AcqRel, Relaxed},
        },
    },
    thread,
    time::{Duration, Instant},
};

macro_rules! calls {
    ($($call:ident $name:literal,)*) => {
        /// The calls that can wait.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Call { $($call),* }

        impl Call {
            const ALL: &[Call] = &[$(Call::$call),*];

            /// The name of its method.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Call::$call => $name),* }
            }
        }
    };
}
calls! {
    Barrier "barrier", Broadcast "broadcast", AllGather "all_gather", Gather "gather", Scatter "scatter", AllToAll "all_to_all",
    AllReduce "all_reduce", Reduce "reduce", ReduceScatter "reduce_scatter", Scan "scan", Exscan "exscan", Send "send", Recv "recv",
    Group "group", Agree "agree",
    // these are waited for where their result is
    StartBarrier "start_barrier", StartBroadcast "start_broadcast", StartAllGather "start_all_gather",
    StartAllToAll "start_all_to_all", StartAllReduce "start_all_reduce", StartReduceScatter "start_reduce_scatter",
    StartSend "start_send", StartRecv "start_recv",
}

/// What a rank does at the moment, and for how long it may.
#[derive(Default)]
pub(crate) struct Watch {
    /// Nanoseconds that a call may take; 0 is no limit.
    limit: AtomicU64,
    /// The call that runs: its number among the calls of this rank, and in the low byte which one it is; 0 is none.
    now: AtomicU64,
    /// The op for which calls are made, as `agree` was told.
    op: Mutex<Option<String>>,
    /// Whether the thread was started.
    started: AtomicBool,
}

impl Watch {
    /// A call begins, the `number`th of this rank. The rank makes one call at a time.
    #[inline]
    pub(crate) fn begin(&self, call: Call, number: u64) {
        if self.limit.load(Relaxed) != 0 {
            self.now.store((number + 1) << 8 | call as u64, Relaxed);
        }
    }

    /// The call has ended.
    #[inline]
    pub(crate) fn end(&self) {
        if self.limit.load(Relaxed) != 0 {
            self.now.store(0, Relaxed);
        }
    }

    /// The next calls are made for this op.
    #[inline]
    pub(crate) fn note(&self, op: &str) {
        if self.limit.load(Relaxed) != 0 {
            *self.op.lock().unwrap_or_else(PoisonError::into_inner) = Some(op.into());
        }
    }

    /// Sets the limit, and starts the thread with the first one. It ends with the transport.
    pub(crate) fn set_limit(self: &Arc<Watch>, limit: Option<Duration>, transport: &Arc<dyn Transport>) {
        let nanos = limit.map_or(0, |limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX).max(1));
        self.limit.store(nanos, Relaxed);
        if nanos != 0 && !self.started.swap(true, AcqRel) {
            let (watch, transport) = (self.clone(), Arc::downgrade(transport));
            let thread = thread::Builder::new().name("time limit of ranks".into()).stack_size(256 << 10);
            if let Err(why) = thread.spawn(move || watch.run(&transport)) {
                say(&format!("there is no time limit for calls between ranks: {why}"));
            }
        }
    }

    fn run(&self, transport: &Weak<dyn Transport>) {
        let (mut last, mut since) = (0, Instant::now());
        loop {
            let limit = Duration::from_nanos(self.limit.load(Relaxed));
            let pause = (limit / 20).clamp(Duration::from_millis(2), Duration::from_millis(200));
            thread::sleep(pause);
            if transport.strong_count() == 0 {
                return;
            }
            let now = self.now.load(Relaxed);
            if now != last || now == 0 || limit.is_zero() {
                (last, since) = (now, Instant::now());
                continue;
            }
            let waited = since.elapsed();
            if waited < limit {
                continue;
            }
            // held for the moment only: who drops the last handle finalises
            let Some(transport) = transport.upgrade() else { return };
            let call = Call::ALL[(now & 0xff) as usize].name();
            let op = self.op.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let grace = (pause * 4).max(Duration::from_millis(300));
            transport.expire(&Waited::new(transport.rank(), transport.size(), call, op, waited, grace));
            since = Instant::now();
        }
    }
}

/// The limit that the environment sets: `WORLD_TIMEOUT`, in seconds.
pub(crate) fn limit_of_environment() -> Result<Option<Duration>> {
    match std::env::var("WORLD_TIMEOUT") {
        Ok(text) => limit_of_text(&text),
        Err(_) => Ok(None),
    }
}

fn limit_of_text(text: &str) -> Result<Option<Duration>> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(limit) => Ok(Some(limit)),
        None => Err(Error::Argument {
            call: "init",
            why: format!("WORLD_TIMEOUT is {text:?}, which is no number of seconds"),
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
        assert_eq!(limit_of_text(" 2.5 "), Ok(Some(Duration::from_millis(2500))));
        assert_eq!(limit_of_text(""), Ok(None));
        for wrong in ["0", "-1", "5 s", "inf", "nan"] {
            assert!(limit_of_text(wrong).unwrap_err().to_string().contains(wrong), "{wrong}");
        }
    }
}
