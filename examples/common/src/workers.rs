//! Parts of the work in threads of their own.

use std::{panic, thread};

/// How many threads the CPU's loops have.
pub fn count() -> usize {
    rayon::current_num_threads()
}

/// Does the parts of some work at the same time, each in a thread of its own, where the loops of the CPU's backend have that thread alone; in the
/// caller's, with all threads for its loops, where there is but one part.
pub fn each<P: Send, R: Send>(parts: impl IntoIterator<Item = P>, work: impl Fn(P) -> R + Sync) -> Vec<R> {
    let mut parts: Vec<P> = parts.into_iter().collect();
    if parts.len() < 2 {
        return parts.pop().map(work).into_iter().collect();
    }
    let alone = |part| {
        // a pool of the one thread that it is made in; where there is none, loops share the threads of the program
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
