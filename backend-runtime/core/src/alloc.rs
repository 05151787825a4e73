//! A global allocator that keeps the pages of large blocks.
//!
//! Each op on arrays of some megabytes allocates new blocks. Most allocators return large blocks to the system when an
//! array is dropped, and the system clears every page before it hands the page out again. Clearing takes longer than
//! many ops. A program can select this allocator instead:
//!
//! ```
//! #[global_allocator]
//! static PAGES: backend_core::alloc::Pages = backend_core::alloc::Pages::new();
//! # let x = vec![1.0_f64; 1 << 20];
//! # drop(x);
//! # assert!(backend_core::alloc::usage().kept >= 8 << 20);
//! ```
//!
//! Outside this crate, the type is `backends::alloc::Pages`. It keeps freed blocks of 64 KiB or more, up to a total
//! number of bytes, and reuses them for the next allocation of the same size. These blocks are aligned to a page.
//! Blocks of 2 MiB or more are aligned to a huge page, which is requested from the system. Blocks below 64 KiB are
//! allocated by [`System`].
//!
//! Programs without this allocator use another one, on Linux usually glibc's. [`Numpyish`](crate::numpyish::Numpyish)
//! configures glibc's allocator once to keep the freed memory of blocks up to 32 MiB; see [`keep_heap`].

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::UnsafeCell,
    sync::atomic::{
        AtomicBool, AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
    },
};

/// Minimum size of the blocks that [`Pages`] manages.
const LARGE: usize = 64 << 10;

/// If [`System`] allocates a block of at least this size, [`keep_heap`] is called first.
const NOTABLE: usize = 16 << 10;

/// Alignment of blocks, in bytes.
const PAGE: usize = 4096;

/// Size of a huge page, in bytes.
#[cfg(any(target_os = "linux", test))]
const HUGE: usize = 2 << 20;

/// Maximum number of freed blocks that are kept.
const SLOTS: usize = 64;

/// An allocator that keeps freed large blocks. The kept blocks belong to the process; this struct contains only the
/// limit on their total size.
#[derive(Debug)]
pub struct Pages {
    keep: usize,
}

/// Memory use of large blocks, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Bytes of the blocks in use.
    pub in_use: usize,
    /// Maximum of `in_use` since the program began or [`reset_peak`] was called.
    pub peak: usize,
    /// Bytes of the freed blocks that are kept for reuse.
    pub kept: usize,
}

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static KEPT: Kept = Kept { is_taken: AtomicBool::new(false), blocks: UnsafeCell::new(Blocks::NONE) };

/// Returns the memory use of large blocks; all zero if [`Pages`] is not the program's allocator.
pub fn usage() -> Usage {
    let kept = KEPT.with(|blocks| blocks.bytes).unwrap_or(0);
    Usage { in_use: IN_USE.load(Relaxed), peak: PEAK.load(Relaxed), kept }
}

/// Returns whether [`Pages`] is the program's allocator and large blocks are in use. If so, the memory of most
/// results consists of pages that the system has already mapped.
#[cfg(all(any(target_arch = "x86_64", target_os = "linux"), not(miri)))]
pub(crate) fn keeps_pages() -> bool {
    IN_USE.load(Relaxed) > 0
}

/// Configures glibc's allocator, once, to keep up to 256 MiB of free memory at the end of its heap, and to allocate
/// blocks up to 32 MiB from the heap.
///
/// By default both limits begin at 128 KiB. When glibc frees a larger block, it raises the block limit only to the size
/// of this block, and the heap limit to twice this size. So an op on arrays of 2 MiB returns its pages to the system
/// and gets cleared pages back. The CPU backend calls this function before its first large result. The function does
/// nothing with another C library, or if the environment sets these limits (`MALLOC_TRIM_THRESHOLD_`,
/// `MALLOC_MMAP_THRESHOLD_`, `MALLOC_TOP_PAD_`, or `glibc.malloc` in `GLIBC_TUNABLES`). The function does not change
/// other allocators of the program. A program that sets its own limits by `mallopt` should call this function first, so
/// that the program's limits take effect.
pub fn keep_heap() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.load(Relaxed) && !TOLD.swap(true, Relaxed) {
        system::keep_heap();
    }
}

/// Resets [`Usage::peak`] to the bytes in use now.
pub fn reset_peak() {
    PEAK.store(IN_USE.load(Relaxed), Relaxed);
}

/// Returns all kept blocks to the system.
pub fn free_cache() {
    while let Some(Some(block)) = KEPT.with(Blocks::oldest) {
        // SAFETY: a kept block was freed, and was just removed from the list, so nothing else refers to it.
        unsafe { system::unmap(block.start, block.bytes) };
    }
}

impl Pages {
    /// Creates an allocator that keeps up to 1 GiB of freed blocks.
    pub const fn new() -> Pages {
        Pages::keeping(1 << 30)
    }

    /// Creates an allocator that keeps up to `bytes` bytes of freed blocks, in at most 64 blocks.
    pub const fn keeping(bytes: usize) -> Pages {
        Pages { keep: bytes }
    }

    /// Returns a block of `bytes` bytes, and a flag that is true if the block is zeroed. The pointer is null if memory
    /// is exhausted.
    fn take(&self, bytes: usize) -> (*mut u8, bool) {
        let kept = KEPT.with(|blocks| blocks.take(bytes)).flatten();
        let (start, is_zero) = kept.map_or_else(|| (system::map(bytes), true), |start| (start, false));
        if !start.is_null() {
            let in_use = IN_USE.fetch_add(bytes, Relaxed) + bytes;
            PEAK.fetch_max(in_use, Relaxed);
        }
        (start, is_zero)
    }

    /// Keeps a freed block, or returns it to the system.
    ///
    /// # Safety
    /// The block came from [`Pages::take`] with the same number of bytes, and is no longer in use.
    unsafe fn give(&self, start: *mut u8, bytes: usize) {
        IN_USE.fetch_sub(bytes, Relaxed);
        if bytes > self.keep {
            // SAFETY: the caller guarantees that the block came from `take`, which maps memory, and is no longer in
            // use.
            return unsafe { system::unmap(start, bytes) };
        }
        let block = Block { start, bytes };
        let mut left = Some(block);
        loop {
            let room = |blocks: &mut Blocks| {
                let fits = blocks.count < SLOTS && blocks.bytes + bytes <= self.keep;
                if fits { left.take().and_then(|block| blocks.keep(block)) } else { blocks.oldest() }
            };
            match KEPT.with(room) {
                // SAFETY: the oldest block was kept, hence is not in use, and was just removed from the list.
                Some(Some(old)) => unsafe { system::unmap(old.start, old.bytes) },
                _ => break,
            }
        }
        if let Some(block) = left {
            // another thread is using the list of blocks; instead of waiting, return the block to the system
            // SAFETY: the caller guarantees that the block came from `take`, which maps memory, and is no longer in
            // use.
            unsafe { system::unmap(block.start, block.bytes) };
        }
    }
}

impl Default for Pages {
    fn default() -> Pages {
        Pages::new()
    }
}

/// Returns the size of the block for a layout: at most a sixteenth more than the layout's size, so that arrays of
/// similar sizes share blocks. Returns `None` if [`System`] allocates the layout.
fn class(layout: &Layout) -> Option<usize> {
    if layout.size() < LARGE || layout.align() > PAGE {
        return None;
    }
    let step = (1 << (layout.size().ilog2() - 4)).max(PAGE);
    layout.size().checked_next_multiple_of(step)
}

// SAFETY: a block has the size and the alignment that its layout asks for, and belongs to one caller until freed. The
// layout alone determines which allocator owns a block. Nothing here allocates or panics.
unsafe impl GlobalAlloc for Pages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match class(&layout) {
            Some(bytes) => self.take(bytes).0,
            None => {
                if layout.size() >= NOTABLE {
                    keep_heap();
                }
                // SAFETY: the caller guarantees the conditions of `GlobalAlloc::alloc`, and `System` requires the same
                // conditions.
                unsafe { System.alloc(layout) }
            }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(bytes) = class(&layout) else {
            // SAFETY: the caller guarantees the conditions of `GlobalAlloc::alloc_zeroed`, and `System` requires them
            // too.
            return unsafe { System.alloc_zeroed(layout) };
        };
        let (start, is_zero) = self.take(bytes);
        if !start.is_null() && !is_zero {
            // SAFETY: the block is at least `layout.size()` bytes long.
            unsafe { start.write_bytes(0, layout.size()) };
        }
        start
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees that `start` was allocated with this layout, which determines the allocator.
        unsafe {
            match class(&layout) {
                Some(bytes) => self.give(start, bytes),
                None => System.dealloc(start, layout),
            }
        }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller guarantees that the new size is valid for this alignment.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (class(&layout), class(&new)) {
            // SAFETY: the caller guarantees the conditions of `GlobalAlloc::realloc`, and `System` allocated the block.
            (None, None) => unsafe { System.realloc(start, layout, size) },
            (old, new) if old == new => start,
            // SAFETY: the old and the new block are distinct, the copy stays within both, and the old block is freed
            // once.
            _ => unsafe {
                let to = self.alloc(new);
                if !to.is_null() {
                    start.copy_to_nonoverlapping(to, layout.size().min(size));
                    self.dealloc(start, layout);
                }
                to
            },
        }
    }
}

/// A freed block.
#[derive(Clone, Copy)]
struct Block {
    start: *mut u8,
    bytes: usize,
}

/// The kept blocks, the oldest first.
struct Blocks {
    all: [Block; SLOTS],
    count: usize,
    bytes: usize,
}

impl Blocks {
    const NONE: Blocks = Blocks { all: [Block { start: std::ptr::null_mut(), bytes: 0 }; SLOTS], count: 0, bytes: 0 };

    /// Removes the most recently kept block of `bytes` bytes, which may still be in the processor's caches.
    fn take(&mut self, bytes: usize) -> Option<*mut u8> {
        let at = self.all[..self.count].iter().rposition(|block| block.bytes == bytes)?;
        Some(self.remove(at).start)
    }

    fn oldest(&mut self) -> Option<Block> {
        (self.count > 0).then(|| self.remove(0))
    }

    fn remove(&mut self, at: usize) -> Block {
        let block = self.all[at];
        self.all.copy_within(at + 1..self.count, at);
        self.count -= 1;
        self.bytes -= block.bytes;
        block
    }

    /// Adds a block. Returns the block if the list is full.
    fn keep(&mut self, block: Block) -> Option<Block> {
        let Some(slot) = self.all.get_mut(self.count) else { return Some(block) };
        *slot = block;
        self.count += 1;
        self.bytes += block.bytes;
        None
    }
}

/// The kept blocks of the process, used by one thread at a time. No thread waits: after `fork`, a child could wait
/// forever for a thread that only its parent has.
struct Kept {
    is_taken: AtomicBool,
    blocks: UnsafeCell<Blocks>,
}

// SAFETY: only the thread that set the flag `is_taken` accesses the blocks.
unsafe impl Sync for Kept {}

impl Kept {
    /// Calls `f` with the blocks; `None` if another thread holds them. `f` must neither allocate nor panic.
    fn with<R>(&self, f: impl FnOnce(&mut Blocks) -> R) -> Option<R> {
        self.is_taken.compare_exchange(false, true, Acquire, Relaxed).ok()?;
        // SAFETY: the flag was clear, this thread set it, and no other thread can set it before this thread clears it.
        let found = f(unsafe { &mut *self.blocks.get() });
        self.is_taken.store(false, Release);
        Some(found)
    }
}

/// Pages from the operating system.
#[cfg(all(target_os = "linux", not(miri)))]
mod system {
    use super::HUGE;
    use std::ptr::null_mut;

    /// Sets both limits described at [`super::keep_heap`]. Once one limit is set, glibc no longer raises the other.
    #[cold]
    pub fn keep_heap() {
        #[cfg(target_env = "gnu")]
        {
            let set = [c"MALLOC_TRIM_THRESHOLD_", c"MALLOC_MMAP_THRESHOLD_", c"MALLOC_TOP_PAD_"];
            // SAFETY: the names end in NUL, and the value is read while nothing changes the environment, as every
            // program must ensure. `std::env` would allocate, which an allocator must not.
            let of = |name: &std::ffi::CStr| unsafe {
                let value = libc::getenv(name.as_ptr());
                (!value.is_null()).then(|| std::ffi::CStr::from_ptr(value))
            };
            let tuned =
                of(c"GLIBC_TUNABLES").is_some_and(|all| all.to_bytes().windows(12).any(|part| part == b"glibc.malloc"));
            if tuned || set.into_iter().any(|name| of(name).is_some()) {
                return;
            }
            // SAFETY: `mallopt` accepts these limits and may be called at any time.
            unsafe {
                libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
                libc::mallopt(libc::M_TRIM_THRESHOLD, 256 << 20);
            }
        }
    }

    /// Maps zeroed memory that begins at a page, or at a huge page for `HUGE` bytes or more. Returns null if the system
    /// gives no memory.
    pub fn map(bytes: usize) -> *mut u8 {
        let more = if bytes >= HUGE { HUGE } else { 0 };
        let Some(all) = bytes.checked_add(more) else { return null_mut() };
        // SAFETY: the mapping is new, and only its unneeded ends are unmapped.
        unsafe {
            let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let start = libc::mmap(null_mut(), all, access, kind, -1, 0);
            if start == libc::MAP_FAILED {
                return null_mut();
            }
            let start: *mut u8 = start.cast();
            if more == 0 {
                return start;
            }
            let before = start.addr().next_multiple_of(HUGE) - start.addr();
            if before > 0 {
                libc::munmap(start.cast(), before);
            }
            if before < more {
                libc::munmap(start.add(before + bytes).cast(), more - before);
            }
            let start = start.add(before);
            libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE);
            start
        }
    }

    /// # Safety
    /// The memory came from [`map`] with the same size, and is no longer in use.
    pub unsafe fn unmap(start: *mut u8, bytes: usize) {
        // SAFETY: the caller guarantees that the memory came from `map` with this size and is no longer in use.
        unsafe { libc::munmap(start.cast(), bytes) };
    }
}

/// Pages from the standard allocator.
#[cfg(not(all(target_os = "linux", not(miri))))]
mod system {
    use super::PAGE;
    use std::alloc::{GlobalAlloc, Layout, System};

    pub fn keep_heap() {}

    pub fn map(bytes: usize) -> *mut u8 {
        // SAFETY: `bytes` is not zero.
        Layout::from_size_align(bytes, PAGE)
            .map_or(std::ptr::null_mut(), |layout| unsafe { System.alloc_zeroed(layout) })
    }

    /// # Safety
    /// The memory came from [`map`] with the same size, and is no longer in use.
    pub unsafe fn unmap(start: *mut u8, bytes: usize) {
        // SAFETY: `map` allocated the memory with this layout.
        unsafe { System.dealloc(start, Layout::from_size_align_unchecked(bytes, PAGE)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    #[test]
    fn blocks_of_a_class_are_little_more_than_asked_for() {
        assert_eq!((class(&layout(LARGE - 1, 8)), class(&layout(LARGE, 2 * PAGE))), (None, None));
        for size in [LARGE, LARGE + 1, 1_000_000, 8_000_000, (1 << 30) + 7] {
            let bytes = class(&layout(size, 8)).unwrap();
            assert!(bytes >= size && bytes - size <= (size / 16).max(PAGE) && bytes.is_multiple_of(PAGE), "{size}");
            assert_eq!(class(&layout(bytes, 8)), Some(bytes));
        }
    }

    // one test covers everything, because the kept blocks belong to the process
    #[test]
    fn blocks_are_kept_within_bounds_and_cleared_when_asked() {
        let a = Pages::keeping(20 << 20);
        let of = |mib: usize| layout((mib << 20) - 100, 16);
        // SAFETY: every block is freed once, with its own layout, and is written only within its size.
        unsafe {
            let first = a.alloc(of(8));
            assert!(first.addr().is_multiple_of(if cfg!(miri) { PAGE } else { HUGE }));
            first.write_bytes(7, of(8).size());
            assert_eq!(usage(), Usage { in_use: 8 << 20, peak: 8 << 20, kept: 0 });
            a.dealloc(first, of(8));
            assert_eq!(usage(), Usage { in_use: 0, peak: 8 << 20, kept: 8 << 20 });
            // the same block serves a slightly smaller request, and is zeroed if the request asks for zeros
            let less = layout((8 << 20) - 4000, 64);
            let again = a.alloc_zeroed(less);
            assert_eq!((again, usage().kept), (first, 0));
            assert!(std::slice::from_raw_parts(again, less.size()).iter().all(|&byte| byte == 0));
            // reallocation within a size class keeps the address; otherwise the contents move
            again.write(9);
            assert_eq!(a.realloc(again, less, less.size() - 7), again);
            let less = layout(less.size() - 7, 64);
            let small = a.realloc(again, less, 1000);
            assert_eq!((*small, usage().in_use, usage().kept), (9, 0, 8 << 20));
            let large = a.realloc(small, layout(1000, 64), 3 << 20);
            assert_eq!((*large, *large.add(999), usage().in_use), (9, 0, 3 << 20));
            a.dealloc(large, layout(3 << 20, 64));
            assert_eq!(usage().kept, 11 << 20);
            // the oldest block is released to make room; a block larger than the limit is not kept
            let (x, y) = (a.alloc(of(10)), a.alloc(of(32)));
            reset_peak();
            a.dealloc(x, of(10));
            assert_eq!(usage(), Usage { in_use: 32 << 20, peak: 42 << 20, kept: 13 << 20 });
            a.dealloc(y, of(32));
            assert_eq!(usage().kept, 13 << 20);
            free_cache();
            assert_eq!((usage().in_use, usage().kept), (0, 0));
            // fill every slot
            let many: Vec<_> = (0..SLOTS + 3).map(|_| a.alloc(layout(LARGE, 8))).collect();
            many.into_iter().for_each(|start| a.dealloc(start, layout(LARGE, 8)));
            assert_eq!(usage().kept, SLOTS * LARGE);
            free_cache();
            // requests more than the machine's memory
            assert!(a.alloc(layout(isize::MAX as usize / 2, 8)).is_null());
            assert_eq!(usage().in_use, 0);
        }
    }
}
