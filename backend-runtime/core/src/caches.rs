//! The caches of ops on the CPU, such as the plans of Fourier transforms.

use std::sync::{Mutex, PoisonError};

/// For each cache, the function that empties it.
static CACHES: Mutex<Vec<fn()>> = Mutex::new(Vec::new());

/// Registers a function that empties a cache. It is called once for each cache.
pub fn register(empty: fn()) {
    CACHES.lock().unwrap_or_else(PoisonError::into_inner).push(empty);
}

/// Empties all caches. The lock is released first, because a function may take long.
pub(crate) fn empty_all() {
    let all = CACHES.lock().unwrap_or_else(PoisonError::into_inner).clone();
    all.into_iter().for_each(|empty| empty());
}
