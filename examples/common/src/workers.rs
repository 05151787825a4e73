//! Divides work among threads.

use std::{panic, thread};

/// The number of threads that the CPU's loops use.
pub fn count() -> usize {
    rayon::current_num_threads()
}

/// Runs `work` on several parts at the same time. Each part has a separate thread, and the CPU backend's loops within
/// the part run on this thread only. A single part runs in the caller's thread, and its loops use all threads.
pub fn each<P: Send, R: Send>(parts: impl IntoIterator<Item = P>, work: impl Fn(P) -> R + Sync) -> Vec<R> {
    let mut parts: Vec<P> = parts.into_iter().collect();
    if parts.len() < 2 {
        return parts.pop().map(work).into_iter().collect();
    }
    let alone = |part| {
        // creates a thread pool that consists of the current thread only; if that fails, loops use the program's
        // threads
        let _pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
        work(part)
    };
    let alone = &alone;
    thread::scope(|scope| {
        let threads: Vec<_> = parts.into_iter().map(|part| scope.spawn(move || alone(part))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|why| panic::resume_unwind(why))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_parts() {
        assert_eq!(each(0..3, |part| (part, count())), [(0, 1), (1, 1), (2, 1)]);
        assert_eq!(each([7], |part| part), [7]);
        assert_eq!(each([0; 0], |part| part), [0; 0]);
    }
}
