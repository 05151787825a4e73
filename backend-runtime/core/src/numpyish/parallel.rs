//! Splits loops into tasks and runs the tasks on several threads.

use super::team;
use crate::threads;
use std::{
    ops::Range,
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

/// Minimum number of elements per task for loops that do little work per element. With fewer than twice as many
/// elements, one thread is faster.
pub const CHEAP: usize = 1 << 16;

/// Minimum number of elements per task for loops with many instructions per element, such as `exp`, sorting and random
/// numbers.
pub const COSTLY: usize = 1 << 12;

/// Calls `f` with ranges that together make up `0..n`, on several threads if `n` is at least `2 * grain`.
#[inline]
pub fn parallel(n: usize, grain: usize, f: impl Fn(Range<usize>) + Sync) {
    if n / 2 < grain.max(1) { f(0..n) } else { split(0..n, grain.max(1), &f) }
}

/// Like [`parallel`], for loops of unknown cost. Measures how long the loop over a first range takes, to choose the
/// size of the tasks. Every index stands for `unit` elements.
#[inline]
pub fn parallel_timed(n: usize, unit: usize, f: impl Fn(Range<usize>) + Sync) {
    if NO_CLOCK || n.saturating_mul(unit) < 4 * PROBE { f(0..n) } else { probe(n, unit.max(1), &f) }
}

/// Calls `task` once with each index below `tasks`, on several threads. Threads take the tasks one by one, in the order
/// of their indices, so a long task should have a low index.
pub fn tasks(tasks: usize, task: &(dyn Fn(usize) + Sync)) {
    let threads = if tasks > 1 { threads::count() } else { 1 };
    if threads == 1 {
        return (0..tasks).for_each(task);
    }
    team::run(tasks, threads, task);
    LAST.store(clock(), Ordering::Relaxed);
}

/// A slice that several threads write to; each thread writes different elements.
#[derive(Clone, Copy)]
pub struct Shared<T> {
    start: *mut T,
    len: usize,
}

// SAFETY: a `Shared` only gives out parts, and callers of its unsafe method guarantee that the parts are disjoint.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: callers of the unsafe method guarantee that parts are disjoint.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// Shares a slice, so that threads can write to parts of it. The slice itself must not be used while a part exists.
    pub fn new(out: &mut [T]) -> Shared<T> {
        Shared { start: out.as_mut_ptr(), len: out.len() }
    }

    /// Returns the part of the slice with these indices.
    ///
    /// # Safety
    /// The slice that was passed to `new` is alive, and no other part that is in use at the same time overlaps this
    /// part.
    #[allow(clippy::mut_from_ref)] // callers keep parts disjoint
    pub unsafe fn part(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.len, "a part lies in its slice");
        // SAFETY: the range is in bounds, as just checked. The caller guarantees that the slice is alive and parts are
        // disjoint.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.end - range.start) }
    }
}

/// True if the system has neither a clock nor threads: WebAssembly without WASI.
const NO_CLOCK: bool = cfg!(all(target_family = "wasm", target_os = "unknown"));

/// Number of elements in the first range, whose duration [`parallel_timed`] measures.
const PROBE: usize = 1 << 12;

/// Minimum duration of a task for which waking a thread pays off. Waking a thread takes 5 to 30 microseconds, depending
/// on the machine.
const TASK_NANOSECONDS: u64 = 20_000;

/// Minimum duration of a task for which another thread pays off if the threads are awake.
const AWAKE_TASK_NANOSECONDS: u64 = 8_000;

/// Minimum time after a loop for which the threads of rayon's pool look for more work before they sleep.
const AWAKE_NANOSECONDS: u64 = 20_000;

/// Time at which the last loop on several threads ended, in nanoseconds of [`clock`].
static LAST: AtomicU64 = AtomicU64::new(0);

/// Nanoseconds since the first call, plus `AWAKE_NANOSECONDS`. Because of this addition, threads do not count as awake
/// before the first loop.
fn clock() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    AWAKE_NANOSECONDS + START.elapsed().as_nanos() as u64
}

#[inline(never)]
fn probe(n: usize, unit: usize, f: &(dyn Fn(Range<usize>) + Sync)) {
    let probed = PROBE.div_ceil(unit).min(n);
    let start = clock();
    f(0..probed);
    let now = clock();
    let nanoseconds = now.saturating_sub(start).max(1);
    let awake = now.saturating_sub(LAST.load(Ordering::Relaxed)) < AWAKE_NANOSECONDS;
    let task = if awake { AWAKE_TASK_NANOSECONDS } else { TASK_NANOSECONDS };
    // `most` limits the size of the tasks if the clock is too coarse to measure the first range
    let most = (CHEAP / unit).max(1);
    let grain = usize::try_from(task * probed as u64 / nanoseconds).unwrap_or(most).clamp(1, most);
    if n - probed < 2 * grain { f(probed..n) } else { split(probed..n, grain, f) }
}

/// Calls `f` with parts of a range, on several threads. `f` is a `dyn` closure, so that the thread pool's code is
/// compiled once, not once per op and dtype.
#[inline(never)]
fn split(range: Range<usize>, grain: usize, f: &(dyn Fn(Range<usize>) + Sync)) {
    let threads = threads::count();
    if threads == 1 {
        return f(range);
    }
    let n = range.end - range.start;
    // the loop is divided into a few tasks per thread, so that it does not have to wait for a slow thread
    let size = n.div_ceil(threads * 4).max(grain);
    team::run(n.div_ceil(size), threads, &|i| {
        let start = range.start + i * size;
        f(start..range.end.min(start + size));
    });
    LAST.store(clock(), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn every_task_runs_once() {
        for n in [0, 1, 2, 100] {
            let hits: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
            tasks(n, &|i| _ = hits[i].fetch_add(1, Ordering::Relaxed));
            assert!(hits.iter().all(|h| h.load(Ordering::Relaxed) == 1), "{n}");
        }
    }

    #[test]
    fn every_index_runs_once_on_any_number_of_threads() {
        for (n, grain) in [(0, 1), (1, 1), (7, 2), (1000, 1), (1000, 333), (100_000, CHEAP), (10, 0)] {
            let hits: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
            let hit = |r: Range<usize>| r.for_each(|i| _ = hits[i].fetch_add(1, Ordering::Relaxed));
            parallel(n, grain, hit);
            parallel_timed(n, grain % 7, hit);
            assert!(hits.iter().all(|h| h.load(Ordering::Relaxed) == 2), "{n} {grain}");
        }
    }
}
