//! The interface of `stream.rs` without streaming stores: on processors that are not x86-64, and under Miri.

pub use super::kernel::stretch;

/// One core's share, in bytes, of a cache that many cores share.
pub const SHARE: usize = 64 << 20;

/// False: there are no streaming stores.
#[inline]
pub fn pays(_: usize, _: usize) -> bool {
    false
}

/// Copies bytes.
///
/// # Safety
/// `from` and `to` have `bytes` bytes, which do not overlap.
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller guarantees `bytes` bytes at both addresses.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
}

/// Does nothing, as there are no streaming stores.
pub fn finish() {}
