//! Threads that share the work on one matrix.

use crate::Result;

/// Runs the tasks of a factorization, on one or several threads. The caller of this crate chooses the threads.
///
/// Factorizations divide a matrix by its size alone, and no task reads what another task of the same `run` writes. The
/// bits of a result therefore depend neither on the number of threads nor on the order of the tasks.
pub trait Team: Sync {
    /// Calls `task` once with each index below `tasks`, in any order and on any threads, and returns after all calls
    /// have ended. Task 0 takes the longest, so it should start first.
    ///
    /// # Errors
    /// If a task fails, or if the team cannot run a task, returns one of the errors. Some of the other tasks may then
    /// not have run.
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()>;
}

/// The team of the calling thread alone. It runs the tasks one after another.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Team for Alone {
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()> {
        (0..tasks).try_for_each(task)
    }
}
