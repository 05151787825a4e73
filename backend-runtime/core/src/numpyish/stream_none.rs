//! Replaces `stream.rs` on processors that are not x86-64, and under Miri: the same functions without streaming stores.

pub use super::kernel::stretch;

/// The constant of the same name in `stream.rs`. It has no effect here, because there are no streaming stores.
pub const SHARE: usize = 64 << 20;

/// Always false, because there are no streaming stores.
#[inline]
pub fn pays(_: usize, _: usize) -> bool {
    false
}

/// Copies bytes with usual stores.
///
/// # Safety
/// `from` and `to` have `bytes` bytes each, and the two ranges do not overlap.
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller guarantees `bytes` bytes at both addresses.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
}

/// Does nothing, because there are no streaming stores.
pub fn finish() {}
