//! Tasks that run on several threads, but change a shared value in the order of their indices.

use super::team::{self, LOOKS};
use crate::threads;
use std::{
    cell::UnsafeCell,
    hint,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// The shared value, and the index of the task that may change it next.
struct Turns<T> {
    next: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: the value may be sent between threads, and only one thread uses it at a time.
unsafe impl<T: Send> Sync for Turns<T> {}

/// The turn of a task: its one chance to change the shared value. If the task ends without using its turn, even by a
/// panic, the turn passes to the next task.
pub struct Turn<'a, T> {
    turns: &'a Turns<T>,
    number: usize,
}

/// Runs `n` tasks, each of which may wait for its turn to change the value. Tasks begin in order, so a task waits only
/// for tasks that have already begun. Before its turn, a task must not call rayon's loops: while its thread waits for
/// such a loop, it might run a later task, which would wait for the turn of this task.
pub fn in_turn<T: Send>(n: usize, value: T, task: impl Fn(Turn<'_, T>) + Sync) {
    let turns = Turns { next: AtomicUsize::new(0), value: UnsafeCell::new(value) };
    team::run(n, threads::count(), &|number| task(Turn { turns: &turns, number }));
}

impl<T> Turn<'_, T> {
    /// Index of the task.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Waits until all earlier tasks have had their turns, and then calls `change` with the value.
    pub fn take(self, change: impl FnOnce(&mut T)) {
        self.wait();
        // SAFETY: each index belongs to one task, all earlier tasks have had their turns, and the next task waits until
        // `self` is dropped.
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

    /// Runs tasks on a pool of `threads` threads. Returns the indices of the tasks in the order of their turns, each
    /// with the shared value before the turn.
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
