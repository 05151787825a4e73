//! The freed memory of a device that is used again.
//!
//! All work of a device runs in order on one stream, so freed memory can be handed out at once: kernels that still read it
//! run before those that will write it.

use cudarc::driver::sys;
use std::{
    collections::HashMap,
    env,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

/// Freed memory of a device, by size.
#[derive(Debug)]
pub(super) struct Pool {
    free: Mutex<HashMap<usize, Vec<sys::CUdeviceptr>>>,
    caching: AtomicBool,
}

impl Pool {
    pub(super) fn new() -> Pool {
        let off = env::var_os("BACKENDS_CUDA_CACHE").is_some_and(|value| value == "0");
        Pool { free: Mutex::default(), caching: AtomicBool::new(!off) }
    }

    /// Freed blocks by their size.
    pub(super) fn lists(&self) -> MutexGuard<'_, HashMap<usize, Vec<sys::CUdeviceptr>>> {
        self.free.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Whether freed memory is kept for reuse.
    pub(super) fn is_caching(&self) -> bool {
        self.caching.load(Ordering::Relaxed)
    }

    /// Sets whether freed memory is kept for reuse.
    pub(super) fn set_caching(&self, on: bool) {
        self.caching.store(on, Ordering::Relaxed);
    }
}

/// The size that is allocated for `bytes`: eight sizes between powers of two, so that at most an eighth is unused and
/// a freed block fits many requests.
pub(super) fn size_class(bytes: usize) -> usize {
    let step = (bytes.next_power_of_two() / 16).max(512);
    bytes.div_ceil(step) * step
}

#[cfg(test)]
mod tests {
    use super::size_class;

    #[test]
    fn sizes_are_rounded_by_at_most_an_eighth() {
        assert_eq!(size_class(1), 512);
        assert_eq!(size_class(512), 512);
        assert_eq!(size_class(513), 1024);
        for bytes in [9_000, 100_000, 1 << 20, (1 << 20) + 1, 3 << 30, (1 << 40) - 5] {
            let size = size_class(bytes);
            assert!(size >= bytes && (size - bytes) * 8 <= bytes, "{bytes} -> {size}");
            assert_eq!(size_class(size), size);
        }
    }
}
