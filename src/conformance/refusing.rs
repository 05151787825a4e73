//! An allocator that can refuse memory, for the tests of a backend on the host.
//!
//! ```text
//! #[global_allocator]
//! static ALLOCATOR: backends::conformance::Refusing = backends::conformance::Refusing;
//! ```
//!
//! In a test binary with this allocator, the tests named `arguments` also call every op while the calling thread cannot
//! allocate blocks of more than [`MAX_BLOCK_BYTES`] bytes. A library that aborts when an allocation fails ends the
//! process, and so fails the test.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

/// Size in bytes of the largest block that can be allocated while memory is refused. Internal tables of fixed size are
/// smaller, so they are not refused.
const MAX_BLOCK_BYTES: usize = 1 << 15;

thread_local! {
    /// Size in bytes of the largest block that this thread can allocate. The variable is initialized without an
    /// allocation.
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The system's allocator, except that it refuses large blocks to threads that have requested this.
pub struct Refusing;

impl Refusing {
    fn refuses(size: usize) -> bool {
        size > LIMIT.try_with(Cell::get).unwrap_or(usize::MAX)
    }
}

// SAFETY: every call is passed to the system's allocator unchanged, or returns a null pointer, as any allocator may.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of `alloc`, which is the same for the system's allocator.
        if Refusing::refuses(layout.size()) { std::ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of `alloc_zeroed`, which is the same for the system's allocator.
        if Refusing::refuses(layout.size()) { std::ptr::null_mut() } else { unsafe { System.alloc_zeroed(layout) } }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller upholds the contract of `realloc`, and the block was allocated by the system's allocator.
        if Refusing::refuses(size) { std::ptr::null_mut() } else { unsafe { System.realloc(start, layout, size) } }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`, and the block was allocated by the system's allocator.
        unsafe { System.dealloc(start, layout) }
    }
}

/// Restores the previous limit when dropped, even after a panic.
struct Restored(usize);

impl Drop for Restored {
    fn drop(&mut self) {
        LIMIT.set(self.0);
    }
}

fn limited<R>(limit: usize, f: impl FnOnce() -> R) -> R {
    let _restored = Restored(LIMIT.replace(limit));
    f()
}

/// Runs `f` while this thread can allocate only small blocks.
pub(super) fn refused<R>(f: impl FnOnce() -> R) -> R {
    limited(MAX_BLOCK_BYTES, f)
}

/// Runs `f`, a step of the test harness inside [`refused`], without the limit.
pub(super) fn allowed<R>(f: impl FnOnce() -> R) -> R {
    limited(usize::MAX, f)
}

/// Returns whether a block of this size would be refused now.
pub(super) fn is_refused(bytes: usize) -> bool {
    Refusing::refuses(bytes)
}

/// Returns whether this process uses the allocator.
pub(super) fn is_installed() -> bool {
    refused(|| Vec::<u8>::new().try_reserve_exact(MAX_BLOCK_BYTES + 1).is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_blocks_are_refused_within_and_only_there() {
        let layout = Layout::from_size_align(MAX_BLOCK_BYTES + 1, 8).unwrap();
        // SAFETY: the size of the layout is not 0, and the block is freed with the same layout.
        let given = || unsafe {
            let start = Refusing.alloc(layout);
            if !start.is_null() {
                Refusing.dealloc(start, layout);
            }
            !start.is_null()
        };
        assert!(given());
        assert!(!refused(given));
        assert!(refused(|| allowed(given)));
        assert!(!refused(|| {
            allowed(|| ());
            given()
        }));
        assert!(given());
    }
}
