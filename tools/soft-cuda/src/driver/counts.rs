//! Counts of launches, allocations, copies and refused frees.

use std::{cell::Cell, fmt};

/// Counts of operations since the start of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of kernels launched.
    pub launches: u64,
    /// Number of attempted allocations.
    pub allocations: u64,
    /// Number of copies from the host.
    pub copies_in: u64,
    /// Number of bytes copied from the host.
    pub bytes_in: u64,
    /// Number of copies to the host.
    pub copies_out: u64,
    /// Number of bytes copied to the host.
    pub bytes_out: u64,
    /// Number of attempts to free an address that was not allocated, or that was already freed.
    pub refused: u64,
}

impl Counts {
    /// The counts as an array, in the order of the fields.
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

    pub(super) fn launched(&mut self) {
        self.launches += 1;
        LAUNCHED.with(|launched| launched.set(launched.get() + 1));
    }

    pub(super) fn allocated(&mut self) {
        self.allocations += 1;
        ALLOCATED.with(|allocated| allocated.set(allocated.get() + 1));
    }
}

thread_local! {
    /// Number of bytes that this thread has copied to the host.
    static COPIED: Cell<u64> = const { Cell::new(0) };
    /// Number of kernels that this thread has launched.
    static LAUNCHED: Cell<u64> = const { Cell::new(0) };
    /// Number of allocations that this thread has attempted.
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
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

/// Number of bytes that this thread has copied to the host.
pub(super) fn copied() -> u64 {
    COPIED.with(Cell::get)
}

/// Number of kernels that this thread has launched.
pub(super) fn launched() -> u64 {
    LAUNCHED.with(Cell::get)
}

/// Number of allocations that this thread has attempted.
pub(super) fn allocated() -> u64 {
    ALLOCATED.with(Cell::get)
}
