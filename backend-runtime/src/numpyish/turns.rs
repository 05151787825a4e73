//! Tasks on several threads that hand a value from one to the next, in order.

use super::team::{self, LOOKS};
use crate::threads;
use std::{
    cell::UnsafeCell,
    hint,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// The value, and the number of the task whose turn it is.
struct Turns<T> {
    next: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: the value may be sent between threads, and only one thread at a time uses it.
unsafe impl<T: Send> Sync for Turns<T> {}

/// The turn of a task, which the task may take once. If the task does not take it, the turn passes on when the task
/// ends, also by a panic.
pub struct Turn<'a, T> {
    turns: &'a Turns<T>,
    number: usize,
}

/// Runs `n` tasks. They begin in order, and each can wait for its turn to change the value, so a task waits only for
/// tasks that have begun. Before its turn, a task must not wait for rayon: the thread might run a later task meanwhile,
/// which would wait for this task.
pub fn in_turn<T: Send>(n: usize, value: T, task: impl Fn(Turn<'_, T>) + Sync) {
    let turns = Turns { next: AtomicUsize::new(0), value: UnsafeCell::new(value) };
    team::run(n, threads::count(), &|number| task(Turn { turns: &turns, number }));
}

impl<T> Turn<'_, T> {
    /// Number of the task.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Waits for the tasks before this one, and changes the value that they left.
    pub fn take(self, change: impl FnOnce(&mut T)) {
        self.wait();
        // SAFETY: each number belongs to one task, earlier tasks have finished with the value, and the next task waits
        // until `self` is dropped.
        change(unsafe { &mut *self.turns.value.get() });
    }

    fn wait(&self) {
        let mut looks = 0;
        while self.turns.next.load(Ordering::Acquire) != self.number {
            if looks < LOOKS {
                looks += 1;
                hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        self.wait();
        self.turns.next.store(self.number + 1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::Mutex,
    };

    /// The tasks in the order of their turns, and the values they find, on a pool of `threads` threads.
    fn seen(n: usize, threads: usize, task: impl Fn(usize) + Sync) -> Vec<(usize, u64)> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let seen = Mutex::new(Vec::new());
        let run = || {
            in_turn(n, 1_u64, |turn| {
                let number = turn.number();
                task(number);
                turn.take(|value| {
                    seen.lock().unwrap().push((number, *value));
                    *value = value.wrapping_mul(3) + number as u64;
                });
            });
        };
        _ = catch_unwind(AssertUnwindSafe(|| pool.install(run)));
        seen.into_inner().unwrap()
    }

    #[test]
    fn each_finds_what_the_one_before_left() {
        for n in [0, 1, 2, 50] {
            let one = seen(n, 1, |_| ());
            assert!(one.iter().map(|of| of.0).eq(0..n));
            for threads in [2, 5] {
                let slow = |number: usize| (0..number % 3).for_each(|_| thread::yield_now());
                assert_eq!(seen(n, threads, slow), one);
            }
        }
    }

    #[test]
    fn a_task_that_panics_holds_nobody_up() {
        for threads in [1, 4] {
            let left = seen(40, threads, |number| assert!(number != 7));
            assert!(left.iter().all(|of| of.0 != 7) && left.iter().take(7).map(|of| of.0).eq(0..7));
        }
    }
}
