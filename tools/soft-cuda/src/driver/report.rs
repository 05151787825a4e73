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
    /// Returns the counts of launches, allocations, copies and refused frees so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the address and the size in bytes of each allocation that was not freed.
    pub fn leaks(&self) -> Vec<(u64, u64)> {
        let of = |device: &Device| {
            let all = device.memory.allocations();
            all.filter(|(start, _)| device.allocated.contains_key(start)).collect::<Vec<_>>()
        };
        self.devices.iter().flat_map(of).collect()
    }

    /// Writes the counts to the configured destination, and leaks to stderr, if the settings request them. It is called
    /// when the process ends.
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
/// bytes, refused frees. Tests look this function up by name.
///
/// # Safety
/// `out` must be null or valid for writing seven numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn soft_cuda_counts(out: *mut [u64; 7]) {
    // SAFETY: the caller guarantees that `out` is null or valid for writing seven numbers. The error for null is
    // ignored, because this function cannot report it.
    let _ = unsafe { put(out, lock().counts().all()) };
}

/// Makes `count` allocations fail, beginning with the `n`-th from now. If `n` or `count` is 0, no allocation fails.
/// Tests look this function up by name.
#[unsafe(no_mangle)]
pub extern "C" fn soft_cuda_fail_allocations(n: u64, count: u64) {
    lock().fail_allocations(n, count);
}

/// Returns the number of bytes that the calling thread has copied to the host. Each thread has its own count, because
/// tests run in parallel. Tests look this function up by name.
#[unsafe(no_mangle)]
pub extern "C" fn soft_cuda_copied() -> u64 {
    counts::copied()
}

/// Returns the number of kernels that the calling thread has launched. Tests look this function up by name.
#[unsafe(no_mangle)]
pub extern "C" fn soft_cuda_launched() -> u64 {
    counts::launched()
}

/// Returns the number of allocations that the calling thread has attempted. Tests look this function up by name.
#[unsafe(no_mangle)]
pub extern "C" fn soft_cuda_allocated() -> u64 {
    counts::allocated()
}
