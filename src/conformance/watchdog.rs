//! Ends the process with a message that names the call if a call does not return; a hanging test would give no reason.

use std::{
    io::Write,
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread,
    time::Duration,
};

/// The time limit of a call; no call takes that long, even on slow machines with slow compilers.
const PATIENCE: Duration = Duration::from_secs(300);

/// Watches calls, one at a time, until it is dropped.
pub(super) struct Watchdog(Sender<Option<String>>);

impl Watchdog {
    /// A watchdog that ends the process when a call takes too long.
    pub fn new() -> Watchdog {
        Watchdog::with(PATIENCE, |call| {
            // written directly to stderr, since the test harness holds back the output of a test until its end
            let _ = writeln!(std::io::stderr(), "{call}: no result and no error within {} s", PATIENCE.as_secs());
            std::process::abort();
        })
    }

    /// Like [`Watchdog::new`], with a function that is called when a call takes longer than `patience`.
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

    /// Runs `f`, described by `call`, under the watchdog.
    pub fn over<R>(&self, call: &str, f: impl FnOnce() -> R) -> R {
        // without a watchdog thread, calls go unwatched
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
