//! Runs the tasks of a loop on the calling thread and on all threads of rayon's pool that start before the tasks are
//! finished.
//!
//! If a thread outside the pool calls one of rayon's own loops, the loop hands all work to the pool, and the thread
//! sleeps until it is woken. Handing over and waking take some 20 microseconds, which is as long as many loops take.
//! Here, the calling thread begins at once and runs one task after another. If a thread of the pool starts when no task
//! is left, it does nothing, and no thread waits for it.

use std::{
    any::Any,
    hint,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, Thread},
};

/// Number of times that a waiting thread checks its condition before it gives up its processor. The checks take some 10
/// microseconds.
pub const LOOKS: usize = 1 << 9;

/// Bit of [`Team::others`] that is set when no more threads may enter the team.
const CLOSED: usize = 1 << (usize::BITS - 1);

struct Team {
    /// The loop's body, which stays alive while the calling thread waits for the threads that have entered.
    task: *const (dyn Fn(usize) + Sync),
    /// Number of tasks. The field `next` is the index of the next task to run.
    tasks: usize,
    next: AtomicUsize,
    /// Number of threads that have entered, without the calling thread, combined with the bit [`CLOSED`].
    others: AtomicUsize,
    caller: Thread,
    /// The panic of a task that ran on a thread of the pool.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: the task is `Sync`, and all other fields are `Send` and `Sync`.
unsafe impl Send for Team {}
// SAFETY: the task and all other fields are `Sync`.
unsafe impl Sync for Team {}

/// Calls `task` once with each index below `tasks`, on at most `threads` threads, including the calling thread.
///
/// # Panics
/// If a task panics. The panic is passed on after all other running tasks have ended.
pub fn run(tasks: usize, threads: usize, task: &(dyn Fn(usize) + Sync)) {
    let task: *const (dyn Fn(usize) + Sync + '_) = task;
    let team = Arc::new(Team {
        // SAFETY: only the lifetime changes, and `Closing` makes sure that no thread uses the task after this function
        // returns.
        task: unsafe { std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const (dyn Fn(usize) + Sync)>(task) },
        tasks,
        next: AtomicUsize::new(0),
        others: AtomicUsize::new(0),
        caller: thread::current(),
        panic: Mutex::new(None),
    });
    let closing = Closing(&team);
    invite(&team, 1, threads.min(tasks));
    team.work();
    drop(closing);
    let panicked = team.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(why) = panicked {
        resume_unwind(why);
    }
}

/// Asks the pool for at most two more threads: the children of node `place` in a binary tree of `threads` nodes. Node 1
/// is the calling thread. When a requested thread starts, it asks for the children of its node, so that no thread has
/// to ask for all threads.
fn invite(team: &Arc<Team>, place: usize, threads: usize) {
    for place in [2 * place, 2 * place + 1] {
        if place <= threads {
            let team = team.clone();
            rayon::spawn(move || {
                if team.enter() {
                    invite(&team, place, threads);
                    if let Err(why) = catch_unwind(AssertUnwindSafe(|| team.work())) {
                        team.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
                    }
                    team.leave();
                }
            });
        }
    }
}

impl Team {
    /// Runs tasks until none is left.
    fn work(&self) {
        loop {
            let i = self.next.fetch_add(1, Ordering::Relaxed);
            if i >= self.tasks {
                return;
            }
            // SAFETY: the task is alive: either this is the calling thread, or the calling thread waits for this
            // thread, which has entered the team.
            unsafe { (*self.task)(i) };
        }
    }

    /// Tries to enter the team. Returns true if this thread is now counted in `others`.
    fn enter(&self) -> bool {
        if self.next.load(Ordering::Relaxed) >= self.tasks {
            return false;
        }
        let enter = |n: usize| if n & CLOSED == 0 { Some(n + 1) } else { None };
        self.others.fetch_update(Ordering::Acquire, Ordering::Relaxed, enter).is_ok()
    }

    fn leave(&self) {
        let caller = self.caller.clone();
        if self.others.fetch_sub(1, Ordering::Release) == CLOSED + 1 {
            caller.unpark();
        }
    }
}

/// When dropped, closes the team and waits for all threads that have entered, even if a task panics on the calling
/// thread.
struct Closing<'a>(&'a Team);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        // tasks are left only after a panic; this makes sure that no thread begins them
        self.0.next.fetch_max(self.0.tasks, Ordering::Relaxed);
        self.0.others.fetch_or(CLOSED, Ordering::Relaxed);
        let mut looks = 0;
        while self.0.others.load(Ordering::Acquire) != CLOSED {
            if looks < LOOKS {
                looks += 1;
                hint::spin_loop();
            } else {
                thread::park();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn every_task_runs_once_on_any_number_of_threads() {
        for _ in 0..200 {
            for (tasks, threads) in [(0, 4), (1, 4), (2, 2), (7, 3), (100, 8), (64, 64)] {
                let runs: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
                run(tasks, threads, &|i| _ = runs[i].fetch_add(1, Ordering::Relaxed));
                assert!(runs.iter().all(|n| n.load(Ordering::Relaxed) == 1), "{tasks} {threads}");
            }
        }
    }

    #[test]
    fn tasks_within_tasks_end() {
        let count = AtomicUsize::new(0);
        rayon::join(
            || run(8, 4, &|_| run(8, 4, &|_| _ = count.fetch_add(1, Ordering::Relaxed))),
            || run(8, 4, &|_| run(8, 4, &|_| _ = count.fetch_add(1, Ordering::Relaxed))),
        );
        assert_eq!(count.into_inner(), 128);
    }

    #[test]
    fn a_panic_comes_to_the_caller_when_nobody_is_inside() {
        for panics in [0, 3, 15] {
            let (inside, late) = (AtomicUsize::new(0), AtomicBool::new(false));
            let caught = catch_unwind(AssertUnwindSafe(|| {
                run(16, 4, &|i| {
                    inside.fetch_add(1, Ordering::SeqCst);
                    thread::yield_now();
                    if i == panics {
                        inside.fetch_sub(1, Ordering::SeqCst);
                        panic!("task {i}");
                    }
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }));
            late.store(inside.load(Ordering::SeqCst) != 0, Ordering::SeqCst);
            let message = caught.unwrap_err().downcast_ref::<String>().cloned();
            assert_eq!(message, Some(format!("task {panics}")));
            assert!(!late.into_inner(), "a task was still running");
        }
    }

    #[test]
    fn a_slow_task_is_waited_for() {
        let done = AtomicUsize::new(0);
        run(2, 2, &|_| {
            thread::sleep(std::time::Duration::from_millis(20));
            done.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(done.into_inner(), 2);
    }
}
