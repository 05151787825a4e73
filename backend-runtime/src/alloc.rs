//! A global allocator that keeps the pages of large blocks.
//!
//! Arrays of some megabytes are new memory in each op: most allocators give such blocks back to the system when an array goes, and the system clears
//! every page that it gives again, which takes longer than many ops. With
//!
//! ```
//! #[global_allocator]
//! static PAGES: backend_runtime::alloc::Pages = backend_runtime::alloc::Pages::new();
//! # let x = vec![1.0_f64; 1 << 20];
//! # drop(x);
//! # assert!(backend_runtime::alloc::usage().kept >= 8 << 20);
//! ```
//!
//! in a program (as `backends::alloc::Pages`), blocks of 64 KiB or more that are freed are kept, up to a number of bytes, and given to
//! whoever asks for as much next. They begin at a page, of 2 MiB or more at a huge page, which the system is asked for. Smaller blocks are those of [`System`].
//!
//! A program without it has the allocator of its own. On Linux that is mostly glibc's, which [`Numpyish`](crate::numpyish::Numpyish) tells once to keep
//! freed memory of blocks up to 32 MiB: see [`keep_heap`].

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::UnsafeCell,
    sync::atomic::{
        AtomicBool, AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
    },
};

/// Blocks from this size on are ours.
const LARGE: usize = 64 << 10;

/// Smaller blocks from this size on are worth a look at how the system's allocator is set.
const NOTABLE: usize = 16 << 10;

/// Blocks begin at a multiple of this.
const PAGE: usize = 4096;

/// A huge page.
#[cfg(any(target_os = "linux", test))]
const HUGE: usize = 2 << 20;

/// How many blocks are kept at most.
const SLOTS: usize = 64;

/// The allocator. It holds nothing but a number: what is kept belongs to the process.
#[derive(Debug)]
pub struct Pages {
    keep: usize,
}

/// What large blocks take, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Of blocks that somebody has.
    pub in_use: usize,
    /// The most that these were, since the beginning or [`reset_peak`].
    pub peak: usize,
    /// Of blocks that are kept for whoever asks next.
    pub kept: usize,
}

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static KEPT: Kept = Kept { is_taken: AtomicBool::new(false), blocks: UnsafeCell::new(Blocks::NONE) };

/// What large blocks take; all zero where [`Pages`] is not the program's allocator.
pub fn usage() -> Usage {
    let kept = KEPT.with(|blocks| blocks.bytes).unwrap_or(0);
    Usage { in_use: IN_USE.load(Relaxed), peak: PEAK.load(Relaxed), kept }
}

/// Whether [`Pages`] is the program's allocator, and had a large block: the pages of results are there already but for the first few.
#[cfg(all(any(target_arch = "x86_64", target_os = "linux"), not(miri)))]
pub(crate) fn keeps_pages() -> bool {
    IN_USE.load(Relaxed) > 0
}

/// Tells glibc's allocator, once, to keep up to 256 MiB that are free at the end of its heap, and to take blocks up to 32 MiB from there.
///
/// By itself it begins with 128 KiB for both limits, and raises them to the size and twice the size of the largest block that was freed: an op on arrays of
/// 2 MiB gives pages back to the system and gets them again, cleared, time after time. The backend on the CPU calls this before its first large result.
/// Nothing happens where the environment sets these limits (`MALLOC_TRIM_THRESHOLD_`, `MALLOC_MMAP_THRESHOLD_`, `MALLOC_TOP_PAD_`, or `glibc.malloc` in
/// `GLIBC_TUNABLES`), nor with another C library. Another allocator of the program is not touched. A program that sets limits of its own by `mallopt`
/// calls this before, so that its own are the last.
pub fn keep_heap() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.load(Relaxed) && !TOLD.swap(true, Relaxed) {
        system::keep_heap();
    }
}

/// Counts [`Usage::peak`] from now on.
pub fn reset_peak() {
    PEAK.store(IN_USE.load(Relaxed), Relaxed);
}

/// Gives all blocks that are kept back to the system.
pub fn free_cache() {
    while let Some(Some(block)) = KEPT.with(Blocks::oldest) {
        // SAFETY: nobody else has a block that was kept.
        unsafe { system::unmap(block.start, block.bytes) };
    }
}

impl Pages {
    /// One that keeps up to 1 GiB.
    pub const fn new() -> Pages {
        Pages::keeping(1 << 30)
    }

    /// One that keeps up to so many bytes, in at most 64 blocks.
    pub const fn keeping(bytes: usize) -> Pages {
        Pages { keep: bytes }
    }

    /// A block of so many bytes, and whether they are zeros; null if there is no memory.
    fn take(&self, bytes: usize) -> (*mut u8, bool) {
        let kept = KEPT.with(|blocks| blocks.take(bytes)).flatten();
        let (start, is_zero) = kept.map_or_else(|| (system::map(bytes), true), |start| (start, false));
        if !start.is_null() {
            let in_use = IN_USE.fetch_add(bytes, Relaxed) + bytes;
            PEAK.fetch_max(in_use, Relaxed);
        }
        (start, is_zero)
    }

    /// Keeps a block, or gives it back to the system.
    ///
    /// # Safety
    /// It is one of [`Pages::take`] of as many bytes, and nobody has it any more.
    unsafe fn give(&self, start: *mut u8, bytes: usize) {
        IN_USE.fetch_sub(bytes, Relaxed);
        if bytes > self.keep {
            // SAFETY: the caller's promise.
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
                // SAFETY: the oldest is nobody's.
                Some(Some(old)) => unsafe { system::unmap(old.start, old.bytes) },
                _ => break,
            }
        }
        if let Some(block) = left {
            // another thread is at the blocks, which are not worth waiting for
            // SAFETY: the caller's promise.
            unsafe { system::unmap(block.start, block.bytes) };
        }
    }
}

impl Default for Pages {
    fn default() -> Pages {
        Pages::new()
    }
}

/// Bytes of a block for so many: a sixteenth more at most, so that arrays of about the same size share blocks. None of what is not ours.
fn class(layout: &Layout) -> Option<usize> {
    if layout.size() < LARGE || layout.align() > PAGE {
        return None;
    }
    let step = (1 << (layout.size().ilog2() - 4)).max(PAGE);
    layout.size().checked_next_multiple_of(step)
}

// SAFETY: blocks have the size and the alignment that the layout asks for, and are given to one caller until it gives them back; which allocator has a block
// follows from its layout alone. Nothing here allocates or panics.
unsafe impl GlobalAlloc for Pages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match class(&layout) {
            Some(bytes) => self.take(bytes).0,
            None => {
                if layout.size() >= NOTABLE {
                    keep_heap();
                }
                // SAFETY: the caller's promise.
                unsafe { System.alloc(layout) }
            }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(bytes) = class(&layout) else {
            // SAFETY: the caller's promise.
            return unsafe { System.alloc_zeroed(layout) };
        };
        let (start, is_zero) = self.take(bytes);
        if !start.is_null() && !is_zero {
            // SAFETY: the block has these bytes.
            unsafe { start.write_bytes(0, layout.size()) };
        }
        start
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise: the layout is that of the allocation.
        unsafe {
            match class(&layout) {
                Some(bytes) => self.give(start, bytes),
                None => System.dealloc(start, layout),
            }
        }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise: the new size is a valid one.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (class(&layout), class(&new)) {
            // SAFETY: the caller's promise.
            (None, None) => unsafe { System.realloc(start, layout, size) },
            (old, new) if old == new => start,
            // SAFETY: two blocks, of which the first goes.
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

/// A block that nobody has.
#[derive(Clone, Copy)]
struct Block {
    start: *mut u8,
    bytes: usize,
}

/// The blocks that are kept, the oldest first.
struct Blocks {
    all: [Block; SLOTS],
    count: usize,
    bytes: usize,
}

impl Blocks {
    const NONE: Blocks = Blocks { all: [Block { start: std::ptr::null_mut(), bytes: 0 }; SLOTS], count: 0, bytes: 0 };

    /// The latest of so many bytes, which the caches of the processor may still have.
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

    /// Keeps one more; there is room.
    fn keep(&mut self, block: Block) -> Option<Block> {
        let Some(slot) = self.all.get_mut(self.count) else { return Some(block) };
        *slot = block;
        self.count += 1;
        self.bytes += block.bytes;
        None
    }
}

/// The blocks of the process, which one thread at a time looks at. Nobody waits: a thread of a process that forked meanwhile would wait for ever.
struct Kept {
    is_taken: AtomicBool,
    blocks: UnsafeCell<Blocks>,
}

// SAFETY: the flag says who alone may use the blocks.
unsafe impl Sync for Kept {}

impl Kept {
    /// What `f` gives, or none where another thread is at the blocks. `f` neither allocates nor panics.
    fn with<R>(&self, f: impl FnOnce(&mut Blocks) -> R) -> Option<R> {
        self.is_taken.compare_exchange(false, true, Acquire, Relaxed).ok()?;
        // SAFETY: the flag was not set, and nobody else sets it before it is cleared.
        let found = f(unsafe { &mut *self.blocks.get() });
        self.is_taken.store(false, Release);
        Some(found)
    }
}

/// Pages of the system.
#[cfg(all(target_os = "linux", not(miri)))]
mod system {
    use super::HUGE;
    use std::ptr::null_mut;

    /// See [`super::keep_heap`]. Once one limit is set glibc raises neither by itself, so that both are set.
    #[cold]
    pub fn keep_heap() {
        #[cfg(target_env = "gnu")]
        {
            let set = [c"MALLOC_TRIM_THRESHOLD_", c"MALLOC_MMAP_THRESHOLD_", c"MALLOC_TOP_PAD_"];
            // SAFETY: the names end in NUL, and the value is read while nobody changes the environment, as every program has to see to. `std::env` would
            // allocate, which an allocator must not.
            let of = |name: &std::ffi::CStr| unsafe {
                let value = libc::getenv(name.as_ptr());
                (!value.is_null()).then(|| std::ffi::CStr::from_ptr(value))
            };
            let tuned =
                of(c"GLIBC_TUNABLES").is_some_and(|all| all.to_bytes().windows(12).any(|part| part == b"glibc.malloc"));
            if tuned || set.into_iter().any(|name| of(name).is_some()) {
                return;
            }
            // SAFETY: limits that the library allows, which it may be told at any time.
            unsafe {
                libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
                libc::mallopt(libc::M_TRIM_THRESHOLD, 256 << 20);
            }
        }
    }

    /// Zeros, at a page; of a huge page or more at one of these. Null if there are none.
    pub fn map(bytes: usize) -> *mut u8 {
        let more = if bytes >= HUGE { HUGE } else { 0 };
        let Some(all) = bytes.checked_add(more) else { return null_mut() };
        // SAFETY: new memory, of which the ends that are not wanted are given back.
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
    /// They are of [`map`], and nobody has them.
    pub unsafe fn unmap(start: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { libc::munmap(start.cast(), bytes) };
    }
}

/// Pages of the system's allocator.
#[cfg(not(all(target_os = "linux", not(miri))))]
mod system {
    use super::PAGE;
    use std::alloc::{GlobalAlloc, Layout, System};

    pub fn keep_heap() {}

    pub fn map(bytes: usize) -> *mut u8 {
        // SAFETY: there are bytes.
        Layout::from_size_align(bytes, PAGE)
            .map_or(std::ptr::null_mut(), |layout| unsafe { System.alloc_zeroed(layout) })
    }

    /// # Safety
    /// They are of [`map`], and nobody has them.
    pub unsafe fn unmap(start: *mut u8, bytes: usize) {
        // SAFETY: the layout of `map`.
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

    // one test: what is kept is the process's
    #[test]
    fn blocks_are_kept_within_bounds_and_cleared_when_asked() {
        let a = Pages::keeping(20 << 20);
        let of = |mib: usize| layout((mib << 20) - 100, 16);
        // SAFETY: every block is freed with its layout, once, and written within its size.
        unsafe {
            let first = a.alloc(of(8));
            assert!(first.addr().is_multiple_of(if cfg!(miri) { PAGE } else { HUGE }));
            first.write_bytes(7, of(8).size());
            assert_eq!(usage(), Usage { in_use: 8 << 20, peak: 8 << 20, kept: 0 });
            a.dealloc(first, of(8));
            assert_eq!(usage(), Usage { in_use: 0, peak: 8 << 20, kept: 8 << 20 });
            // the same block, for a little less; zeros where they are asked for
            let less = layout((8 << 20) - 4000, 64);
            let again = a.alloc_zeroed(less);
            assert_eq!((again, usage().kept), (first, 0));
            assert!(std::slice::from_raw_parts(again, less.size()).iter().all(|&byte| byte == 0));
            // sizes of one class stay where they are, others move with what they hold
            again.write(9);
            assert_eq!(a.realloc(again, less, less.size() - 7), again);
            let less = layout(less.size() - 7, 64);
            let small = a.realloc(again, less, 1000);
            assert_eq!((*small, usage().in_use, usage().kept), (9, 0, 8 << 20));
            let large = a.realloc(small, layout(1000, 64), 3 << 20);
            assert_eq!((*large, *large.add(999), usage().in_use), (9, 0, 3 << 20));
            a.dealloc(large, layout(3 << 20, 64));
            assert_eq!(usage().kept, 11 << 20);
            // the oldest goes where there is no room; what is larger than all that is kept is not kept
            let (x, y) = (a.alloc(of(10)), a.alloc(of(32)));
            reset_peak();
            a.dealloc(x, of(10));
            assert_eq!(usage(), Usage { in_use: 32 << 20, peak: 42 << 20, kept: 13 << 20 });
            a.dealloc(y, of(32));
            assert_eq!(usage().kept, 13 << 20);
            free_cache();
            assert_eq!((usage().in_use, usage().kept), (0, 0));
            // as many as there are places
            let many: Vec<_> = (0..SLOTS + 3).map(|_| a.alloc(layout(LARGE, 8))).collect();
            many.into_iter().for_each(|start| a.dealloc(start, layout(LARGE, 8)));
            assert_eq!(usage().kept, SLOTS * LARGE);
            free_cache();
            // more than the machine has
            assert!(a.alloc(layout(isize::MAX as usize / 2, 8)).is_null());
            assert_eq!(usage().in_use, 0);
        }
    }
}
