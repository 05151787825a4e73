//! Address windows: the ranges of generic addresses that stand for shared memory, parameters and local memory.

use crate::ptx::step::Space;

/// The first generic address of shared memory. It is below all device memory and above all host memory.
pub(crate) const SHARED: u64 = 0x0100_0000_0000_0000;

/// The first generic address of a kernel's parameters.
pub(crate) const PARAM: u64 = 0x0140_0000_0000_0000;

/// The first generic address of the threads' local memory.
pub(crate) const LOCAL: u64 = 0x0180_0000_0000_0000;

/// Shared memory, parameters, and the local memory of each thread each have an address window of this size, in bytes.
const WINDOW: u64 = 1 << 32;

/// Returns the first generic address of a thread's local memory.
pub(crate) fn local_window(thread: u32) -> u64 {
    LOCAL + u64::from(thread) * WINDOW
}

/// Returns the memory space of a generic address, and the corresponding address within this space.
pub(super) fn resolve(address: u64, thread: u32) -> (Space, u64) {
    if address.wrapping_sub(SHARED) < WINDOW {
        (Space::Shared, address - SHARED)
    } else if address.wrapping_sub(PARAM) < WINDOW {
        (Space::Kernel, address - PARAM)
    } else if address.wrapping_sub(local_window(thread)) < WINDOW {
        (Space::Local, address - local_window(thread))
    } else {
        (Space::Global, address)
    }
}
