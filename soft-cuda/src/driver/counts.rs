//! What was done, for tests that count it.

use super::{
    config::Output,
    edge::{lock, put, try_lock},
    state::Driver,
};
use std::{cell::Cell, fmt, fs};

/// How often things were done since the start of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Kernels launched.
    pub launches: u64,
    /// Allocations tried.
    pub allocations: u64,
    /// Copies from the host.
    pub copies_in: u64,
    /// Bytes copied from the host.
    pub bytes_in: u64,
    /// Copies to the host.
    pub copies_out: u64,
    /// Bytes copied to the host.
    pub bytes_out: u64,
    /// Frees of what was not allocated or was freed before.
    pub refused: u64,
}

impl Counts {
    /// As numbers, in this order.
    pub fn all(&self) -> [u64; 7] {
        let Counts { launches, allocations, copies_in, bytes_in, copies_out, bytes_out, refused } = *self;
        [launches, allocations, copies_in, bytes_in, copies_out, bytes_out, refused]
    }

    pub(super) fn copied_in(&mut self, bytes: usize) {
        self.copies_in += 1;
        self.bytes_in += bytes as u64;
    }

    pub(super) fn copied_out(&mut self, bytes: usize) {
        self.copies_out += 1;
        self.bytes_out += bytes as u64;
        COPIED.with(|copied| copied.set(copied.get() + bytes as u64));
    }
}

thread_local! {
    /// Bytes that this thread has copied to the host.
    static COPIED: Cell<u64> = const { Cell::new(0) };
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "launches {}", self.launches)?;
        writeln!(f, "allocations {}", self.allocations)?;
        writeln!(f, "host-to-device copies {} bytes {}", self.copies_in, self.bytes_in)?;
        writeln!(f, "device-to-host copies {} bytes {}", self.copies_out, self.bytes_out)?;
        writeln!(f, "refused frees {}", self.refused)
    }
}

impl Driver {
    /// What was done so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// What was allocated and not freed: address and size.
    pub fn leaks(&self) -> Vec<(u64, u64)> {
        let of = |device: &super::state::Device| {
            let all = device.memory.allocations();
            all.filter(|(start, _)| device.allocated.contains_key(start)).collect::<Vec<_>>()
        };
        self.devices.iter().flat_map(of).collect()
    }

    fn report(&self) {
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

/// Lets the report be made when the process ends.
pub(super) fn at_exit() {
    extern "C" fn report() {
        // a thread that is still at work has the lock: what it has counted so far is nothing to rely on
        if let Some(driver) = try_lock() {
            driver.report();
        }
    }
    // SAFETY: the function is one of this library and takes nothing.
    unsafe { libc::atexit(report) };
}

/// Counts so far: launches, allocations, copies from the host and their bytes, copies to the host and their bytes,
/// refused frees. For tests, which find it by its name.
///
/// # Safety
/// `out` is null or a place for seven numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn soft_cuda_counts(out: *mut [u64; 7]) {
    // SAFETY: the caller's promise; there is nobody to be told of a null.
    let _ = unsafe { put(out, lock().counts().all()) };
}

/// Lets the `n`-th allocation from now fail, and those after it until there were `count`; none if one of them is 0. For
/// tests, which find it by its name.
#[unsafe(no_mangle)]
pub extern "C" fn soft_cuda_fail_allocations(n: u64, count: u64) {
    lock().fail_allocations(n, count);
}

/// Bytes that the calling thread has copied to the host. For tests, which run side by side and find it by its name.
#[unsafe(no_mangle)]
pub extern "C" fn soft_cuda_copied() -> u64 {
    COPIED.with(Cell::get)
}
