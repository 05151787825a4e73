//! The allocator of a program that chooses between `Pages` and the system's when it begins.

use backends::alloc::Pages;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

struct Chosen;

#[global_allocator]
static CHOSEN: Chosen = Chosen;

static PAGES: Pages = Pages::new();
static KEEPS_PAGES: AtomicBool = AtomicBool::new(false);

/// From here on `Pages` has the memory. To be called before anything large is allocated: small blocks are the system's in both.
pub fn keep_pages() {
    KEEPS_PAGES.store(true, Relaxed);
}

/// Calls a function of `Pages` or of the system's allocator.
macro_rules! by_choice {
    ($($name:ident($($arg:ident: $ty:ty),*) $(-> $out:ty)?;)*) => {
        // SAFETY: both keep the contract, and have the same small blocks; the choice is made while there are no others.
        unsafe impl GlobalAlloc for Chosen {$(
            #[inline]
            unsafe fn $name(&self, $($arg: $ty),*) $(-> $out)? {
                // SAFETY: the caller's promise.
                unsafe { if KEEPS_PAGES.load(Relaxed) { PAGES.$name($($arg),*) } else { System.$name($($arg),*) } }
            }
        )*}
    };
}
by_choice! {
    alloc(layout: Layout) -> *mut u8;
    alloc_zeroed(layout: Layout) -> *mut u8;
    dealloc(start: *mut u8, layout: Layout);
    realloc(start: *mut u8, layout: Layout, size: usize) -> *mut u8;
}
