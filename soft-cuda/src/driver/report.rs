//! Reports of counts and leaks, for tests.

use super::{
    config::Output,
    counts::{self, Counts},
    edge::lock,
    error::put,
    state::{Device, Driver},
};
use std::fs;

impl Driver {
    /// The counts so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Allocations that were not freed: address and size.
    pub fn leaks(&self) -> Vec<(u64, u64)> {
        let of = |device: &Device| {
            let all = device.memory.allocations();
            all.filter(|(start, _)| device.allocated.contains_key(start)).collect::<Vec<_>>()
        };
        self.devices.iter().flat_map(of).collect()
    }

    /// Writes counts and leaks to the configured destination, when the process ends.
    pub(super) fn report(&self) {
        match &self.config.counts {
            Some(Output::Stderr) => eprint!("soft-cuda:\n{}", self.counts),
            Some(Output::File(path)) => {
                if let Err(error) = fs::write(path, self.counts.to_string()) {
                    eprintln!("soft-cuda: {}: {error}", path.display());
                }
            }
            None => {}
        }
        if self.config.leaks {
            self.leaks()
                .iter()
                .for_each(|(start, size)| eprintln!("soft-cuda: never freed: {size} bytes at {start:#x}"));
        }
    }
}

/// Returns the counts so far: launches, allocations, copies from the host and their bytes, copies to the host and their
/// bytes, refused frees. For tests, which look it up by name.
///
/// # Safety
/// `out` must be null or valid for writing seven numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn soft_cuda_counts(out: *mut [u64; 7]) {
    // SAFETY: guaranteed by the caller; null is ignored, as there is no way to report it.
    let _ = unsafe { put(out, lock().counts().all()) };
}

/// Makes allocations fail: `count` of them, from the `n`-th from now on; none if `n` or `count` is 0. For tests, which
/// look it up by name.
#[unsafe(no_mangle)]
pub extern "C" fn soft_cuda_fail_allocations(n: u64, count: u64) {
    lock().fail_allocations(n, count);
}

/// Bytes that the calling thread has copied to the host. For tests, which run in parallel and look it up by name.
#[unsafe(no_mangle)]
pub extern "C" fn soft_cuda_copied() -> u64 {
    counts::copied()
}

/// Kernels that the calling thread has launched. For tests, as above.
#[unsafe(no_mangle)]
pub extern "C" fn soft_cuda_launched() -> u64 {
    counts::launched()
}

/// Allocations that the calling thread has attempted. For tests, as above.
#[unsafe(no_mangle)]
pub extern "C" fn soft_cuda_allocated() -> u64 {
    counts::allocated()
}
