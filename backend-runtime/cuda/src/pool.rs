//! Keeps the freed memory of a device for reuse, and counts the memory in use.
//!
//! All work of a device runs in order on one stream, so freed memory can be handed out at once: kernels that still read
//! it run before kernels that will write to it.

use cudarc::driver::sys;
use std::{
    collections::HashMap,
    env,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

/// The numbers of bytes that a device's memory blocks take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Bytes that arrays use.
    pub in_use: usize,
    /// The maximum of `in_use` so far.
    pub peak: usize,
    /// Bytes of freed blocks kept for reuse.
    pub kept: usize,
}

#[derive(Debug, Default)]
struct State {
    /// The addresses of freed blocks, by size in bytes.
    free: HashMap<usize, Vec<sys::CUdeviceptr>>,
    counts: Counts,
}

/// The blocks of a device: blocks in use are counted, and freed blocks are kept.
#[derive(Debug)]
pub(super) struct Pool {
    state: Mutex<State>,
    caching: AtomicBool,
}

impl Counts {
    /// Counts `size` more bytes as in use.
    fn used(&mut self, size: usize) {
        self.in_use += size;
        self.peak = self.peak.max(self.in_use);
    }
}

impl Pool {
    pub(super) fn new() -> Pool {
        let off = env::var_os("BACKENDS_CUDA_CACHE").is_some_and(|value| value == "0");
        Pool { state: Mutex::default(), caching: AtomicBool::new(!off) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Removes a block of exactly `size` bytes from the freed blocks, if there is one, and counts it as in use.
    pub(super) fn take(&self, size: usize) -> Option<sys::CUdeviceptr> {
        let mut state = self.state();
        let pointer = state.free.get_mut(&size)?.pop()?;
        state.counts.kept -= size;
        state.counts.used(size);
        Some(pointer)
    }

    /// Counts a new block as in use.
    pub(super) fn add(&self, size: usize) {
        self.state().counts.used(size);
    }

    /// Counts a block as no longer in use. Keeps the block for reuse, or returns its address so that the caller frees
    /// it.
    pub(super) fn give(&self, pointer: sys::CUdeviceptr, size: usize) -> Option<sys::CUdeviceptr> {
        let mut state = self.state();
        state.counts.in_use -= size;
        if !self.is_caching() {
            return Some(pointer);
        }
        state.counts.kept += size;
        state.free.entry(size).or_default().push(pointer);
        None
    }

    /// Removes and returns all freed blocks.
    pub(super) fn drain(&self) -> impl Iterator<Item = sys::CUdeviceptr> {
        let mut state = self.state();
        state.counts.kept = 0;
        std::mem::take(&mut state.free).into_values().flatten()
    }

    /// The current counts.
    pub(super) fn counts(&self) -> Counts {
        self.state().counts
    }

    /// Resets the peak to the number of bytes now in use.
    pub(super) fn reset_peak(&self) {
        let counts = &mut self.state().counts;
        counts.peak = counts.in_use;
    }

    /// Returns whether freed memory is kept for reuse.
    pub(super) fn is_caching(&self) -> bool {
        self.caching.load(Ordering::Relaxed)
    }

    /// Sets whether freed memory is kept for reuse.
    pub(super) fn set_caching(&self, on: bool) {
        self.caching.store(on, Ordering::Relaxed);
    }
}

/// Returns the number of bytes to allocate if `bytes` bytes are needed: a multiple of 512 bytes. Above 4 KiB, there are
/// eight such sizes between successive powers of two, so that at most an eighth is wasted and a freed block fits many
/// requests.
pub(super) fn size_class(bytes: usize) -> usize {
    let step = (bytes.next_power_of_two() / 16).max(512);
    bytes.div_ceil(step) * step
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn every_byte_is_counted_once() {
        let pool = Pool::new();
        let counts = |in_use, peak, kept| assert_eq!(pool.counts(), Counts { in_use, peak, kept });
        pool.set_caching(true);
        assert_eq!(pool.take(512), None);
        pool.add(512);
        pool.add(1024);
        counts(1536, 1536, 0);
        assert_eq!(pool.give(7, 1024), None);
        counts(512, 1536, 1024);
        assert_eq!((pool.take(512), pool.take(1024)), (None, Some(7)));
        counts(1536, 1536, 0);
        assert_eq!((pool.give(7, 1024), pool.give(9, 512)), (None, None));
        pool.reset_peak();
        counts(0, 0, 1536);
        let mut freed: Vec<_> = pool.drain().collect();
        freed.sort_unstable();
        assert_eq!(freed, [7, 9]);
        counts(0, 0, 0);
        pool.set_caching(false);
        pool.add(4);
        assert_eq!(pool.give(11, 4), Some(11));
        counts(0, 4, 0);
    }
}
