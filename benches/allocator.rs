//! An allocator that forwards to `Pages` or to the system's allocator. The program chooses between them when it starts.

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

/// Selects `Pages` for all later allocations. This function must be called before any large allocation. Small blocks
/// always come from the system's allocator.
pub fn keep_pages() {
    KEEPS_PAGES.store(true, Relaxed);
}

/// Forwards each function to `Pages` or to the system's allocator.
macro_rules! by_choice {
    ($($name:ident($($arg:ident: $ty:ty),*) $(-> $out:ty)?;)*) => {
        // SAFETY: both allocators fulfil the contract. A block is freed by the allocator that served it: small blocks
        // always come from the system's allocator, and the choice is made before any larger block exists.
        unsafe impl GlobalAlloc for Chosen {$(
            #[inline]
            unsafe fn $name(&self, $($arg: $ty),*) $(-> $out)? {
                // SAFETY: the caller upholds the contract of this function, and both allocators have the same contract.
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
