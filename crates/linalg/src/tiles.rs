//! Divides matrices into groups of columns, and runs a task for each group.
//!
//! The widths of the groups are constants, so that each element is computed by the same operations in the same order on
//! any number of threads.

use crate::{Failure, Result, team::Team};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A part of a matrix. Each part has one task, so a lock never waits.
pub type LockedPart<'a, T> = Mutex<&'a mut [T]>;

/// Locks a value. The value is valid even if a task panicked while it held the lock, because the panic reaches the
/// caller of the factorization, which then has no result.
pub fn lock<V>(value: &Mutex<V>) -> MutexGuard<'_, V> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Divides a slice into a first part of `first` elements, which may be 0, and parts of `size` elements. The last part
/// may have fewer elements, and so may the first.
pub fn parts<T>(all: &mut [T], first: usize, size: usize) -> Result<Vec<LockedPart<'_, T>>> {
    let (first, rest) = all.split_at_mut(first.min(all.len()));
    let rest = rest.chunks_mut(size.max(1));
    let (mut parts, count) = (Vec::new(), 1 + rest.len());
    parts
        .try_reserve_exact(count)
        .map_err(|_| Failure::Memory(count.saturating_mul(size_of::<LockedPart<'_, T>>())))?;
    parts.push(Mutex::new(first));
    parts.extend(rest.map(Mutex::new));
    Ok(parts)
}

/// Calls `f` with the index and the elements of each part that is not empty, as tasks of a team.
pub fn each<T: Send>(
    team: &dyn Team,
    parts: &[LockedPart<'_, T>],
    f: impl Fn(usize, &mut [T]) -> Result<()> + Sync,
) -> Result<()> {
    let task = |i: usize| {
        let mut part = lock(&parts[i]);
        if part.is_empty() { Ok(()) } else { f(i, &mut part) }
    };
    match parts.len() {
        1 => task(0),
        tasks => team.run(tasks, &task),
    }
}
