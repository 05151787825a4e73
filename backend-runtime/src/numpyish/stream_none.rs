//! What `stream.rs` has, where there are no streaming stores: on processors of other makers, and under Miri.

pub use super::kernel::stretch;

/// Whether streaming stores are the faster ones where a call reads and writes so many bytes.
#[inline]
pub fn pays(_: usize) -> bool {
    false
}

/// Copies bytes.
///
/// # Safety
/// So many bytes can be read and written, which are not the same.
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
}

/// Nothing waits.
pub fn finish() {}
