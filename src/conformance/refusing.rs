//! Memory that is refused: an allocator for the tests of a backend on the host.
//!
//! ```text
//! #[global_allocator]
//! static ALLOCATOR: backends::conformance::Refusing = backends::conformance::Refusing;
//! ```
//!
//! Where a test binary has it, the tests `arguments` also call every row while no block of more than [`MOST`] bytes is to
//! be had on the thread that calls. A library that allocates without asking ends the process there, and so fails the test.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

/// Bytes of the largest block that is given while memory is refused: tables of fixed size are smaller.
const MOST: usize = 1 << 15;

thread_local! {
    /// Bytes of the largest block that this thread is given. It allocates nothing itself.
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The system's allocator, which refuses large blocks to a thread that asks for that.
pub struct Refusing;

impl Refusing {
    fn refuses(size: usize) -> bool {
        size > LIMIT.try_with(Cell::get).unwrap_or(usize::MAX)
    }
}

// SAFETY: every call goes to the system's allocator unchanged, or fails as any allocator may.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        if Refusing::refuses(layout.size()) { std::ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        if Refusing::refuses(layout.size()) { std::ptr::null_mut() } else { unsafe { System.alloc_zeroed(layout) } }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        if Refusing::refuses(size) { std::ptr::null_mut() } else { unsafe { System.realloc(start, layout, size) } }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(start, layout) }
    }
}

/// Restores the limit also where the closure panics.
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

/// Runs `f` while this thread gets small blocks only.
pub(super) fn refused<R>(f: impl FnOnce() -> R) -> R {
    limited(MOST, f)
}

/// Runs `f`, a step of the harness within [`refused`], with all the memory there is.
pub(super) fn allowed<R>(f: impl FnOnce() -> R) -> R {
    limited(usize::MAX, f)
}

/// Whether a block of so many bytes would be refused now.
pub(super) fn is_refused(bytes: usize) -> bool {
    Refusing::refuses(bytes)
}

/// Whether this process has the allocator.
pub(super) fn is_installed() -> bool {
    refused(|| Vec::<u8>::new().try_reserve_exact(MOST + 1).is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_blocks_are_refused_within_and_only_there() {
        let layout = Layout::from_size_align(MOST + 1, 8).unwrap();
        // SAFETY: the layout is not empty; what is given is freed with the same layout.
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
