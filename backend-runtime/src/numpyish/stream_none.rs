//! What `stream.rs` has, where there are no streaming stores: on processors that are not x86-64, and under Miri.

pub use super::kernel::stretch;

/// Of a cache that many share.
pub const SHARE: usize = 64 << 20;

/// Whether streaming stores are the faster ones where a call reads and writes so many bytes.
#[inline]
pub fn pays(_: usize, _: usize) -> bool {
    false
}

/// Copies bytes.
///
/// # Safety
/// So many bytes can be read and written, which do not overlap.
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
}

/// Nothing waits.
pub fn finish() {}
