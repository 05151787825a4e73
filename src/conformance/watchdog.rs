//! Ends the process if a call does not return, with a message that names the call. A hanging test would print no
//! message.

use std::{
    io::Write,
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread,
    time::Duration,
};

/// The time limit of a call. It is far above the time of any call, even on a slow machine with a slow compiler.
const PATIENCE: Duration = Duration::from_secs(300);

/// A thread that watches one call at a time, until this handle is dropped.
pub(super) struct Watchdog(Sender<Option<String>>);

impl Watchdog {
    /// Creates a watchdog that ends the process when a call takes too long.
    pub fn new() -> Watchdog {
        Watchdog::with(PATIENCE, |call| {
            // writes directly to stderr, because the test harness captures the output of a test until the test ends
            let _ = writeln!(std::io::stderr(), "{call}: no result and no error within {} s", PATIENCE.as_secs());
            std::process::abort();
        })
    }

    /// Like [`Watchdog::new`], but calls `late` when a call takes longer than `patience`.
    fn with(patience: Duration, late: impl Fn(String) + Send + 'static) -> Watchdog {
        let (sender, calls) = channel::<Option<String>>();
        thread::spawn(move || {
            while let Ok(next) = calls.recv() {
                let Some(call) = next else { continue };
                match calls.recv_timeout(patience) {
                    Ok(_) => {}
                    Err(RecvTimeoutError::Timeout) => late(call),
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        });
        Watchdog(sender)
    }

    /// Runs `f` under the watchdog, which reports `call` if `f` takes too long.
    pub fn over<R>(&self, call: &str, f: impl FnOnce() -> R) -> R {
        // if the thread of the watchdog has ended, the send fails and `f` runs unwatched
        let _ = self.0.send(Some(call.into()));
        let result = f();
        let _ = self.0.send(None);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn only_what_takes_too_long_is_told() {
        let late = Arc::new(Mutex::new(Vec::new()));
        let told = late.clone();
        let watchdog = Watchdog::with(Duration::from_millis(50), move |call| told.lock().unwrap().push(call));
        assert_eq!(watchdog.over("quick", || 1), 1);
        watchdog.over("slow", || thread::sleep(Duration::from_millis(400)));
        assert_eq!(watchdog.over("quick again", || 2), 2);
        assert_eq!(*late.lock().unwrap(), ["slow"]);
    }
}
