//! Streaming stores for x86-64. They bypass the caches, and are used for results that are too large to stay in a cache.
//!
//! A usual store first reads the cache line that it writes to. If a result and its operands do not stay in a cache,
//! these reads add a third to the memory traffic of a sum of two arrays, and half to the memory traffic of a copy. Such
//! results are computed in blocks that stay in the first-level cache. Streaming stores write these blocks without
//! reading. If the allocator gets new pages for a result, the system has just cleared these pages, so they are in a
//! cache, and usual stores are faster. Therefore only programs whose allocator keeps pages
//! ([`Pages`](crate::alloc::Pages)) use streaming stores.

use super::{
    kernel::{self, Kernel, MAX_OPERANDS, advanced},
    simd,
};
use crate::alloc;
use std::{arch::x86_64 as arch, mem::MaybeUninit, ptr, sync::OnceLock};

/// Size of a cache line in bytes.
const LINE: usize = 64;

/// Number of bytes that are computed before they are written: few enough for the processor to compute the next block
/// while it writes this block.
const BLOCK: usize = 1024;

/// A block of results. Like large results, it begins at a page boundary. If the addresses of a load and a recent store
/// have the same last 12 bits, the processor assumes that both access the same bytes, and waits. The alignment avoids
/// this: the operands that are read next have larger offsets in their pages than the bytes that were just written to
/// the block.
#[repr(align(4096))]
struct Block(MaybeUninit<[u8; BLOCK]>);

/// The share of the largest cache, in bytes, that a cumulative sum or product may use; many cores share this cache.
/// These calls compute so little that they mostly wait for memory. If such a call reads and writes more bytes than
/// this, or more than the cache has, its result bypasses the caches.
///
/// Elementwise ops have no such share: their results bypass the caches only if a call reads and writes more bytes than
/// the cache has. The reason is that the processor computes little during streaming stores. For example, on an Intel
/// Xeon with a cache of 480 MB, square roots of ten million numbers (160 MB in total) take longer with streaming stores
/// than with usual stores.
pub const SHARE: usize = 64 << 20;

/// Returns whether streaming stores are faster for a call that reads and writes `bytes` bytes in total. The caches keep
/// at most `share` bytes for the call.
#[inline]
pub fn pays(bytes: usize, share: usize) -> bool {
    /// If a call reads and writes fewer bytes than this, its data fits in a cache of every processor.
    const MIN_BYTES: usize = 4 << 20;
    bytes >= MIN_BYTES && bytes > last_cache().min(share) && alloc::keeps_pages()
}

/// Size of the largest cache, in bytes.
pub fn last_cache() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| {
        /// Size that is assumed for processors that do not report their caches.
        const USUAL: usize = 32 << 20;
        // Intel's and AMD's processors describe their caches in these two CPUID leaves, in the same format
        let caches = [4, 0x8000_001d].map(|leaf| {
            let known = arch::__cpuid(leaf & 0x8000_0000).eax >= leaf;
            (0..if known { 8 } else { 0 })
                .map(|cache| arch::__cpuid_count(leaf, cache))
                .take_while(|cache| cache.eax & 0x1f != 0)
                .map(|cache| {
                    let part = |low: u32, bits: u32| (cache.ebx >> low & ((1 << bits) - 1)) as usize + 1;
                    part(22, 10) * part(12, 10) * part(0, 12) * (cache.ecx as usize + 1)
                })
                .max()
        });
        caches.into_iter().flatten().max().unwrap_or(USUAL)
    })
}

/// Like [`kernel::stretch`], but the result bypasses the caches.
///
/// # Safety
/// The conditions of [`kernel::stretch`] hold.
#[inline(never)]
pub unsafe fn stretch(
    kernel: &Kernel,
    op: *const u8,
    x: [*const u8; MAX_OPERANDS],
    scalars: u8,
    out: *mut u8,
    n: usize,
) {
    let size = kernel.output().size();
    // the number of elements before the first whole cache line
    let head = out.align_offset(LINE) / size;
    if n * size < 4 * BLOCK || !(out.addr() + head * size).is_multiple_of(LINE) {
        // SAFETY: the caller guarantees the conditions of the kernel's loop.
        return unsafe { kernel::stretch(kernel, op, x, scalars, out, n) };
    }
    let _finish = Finish;
    let mut block = Block(MaybeUninit::uninit());
    let near: *mut u8 = block.0.as_mut_ptr().cast();
    // SAFETY: all parts are ranges of the stretch. The block has room for `BLOCK` bytes, which are computed before
    // `write` reads them.
    unsafe {
        kernel::stretch(kernel, op, x, scalars, out, head);
        let mut done = head;
        while done < n {
            let len = (BLOCK / size).min(n - done);
            let (here, to) = (advanced(kernel, x, scalars, done), out.add(done * size));
            if len * size == BLOCK {
                kernel::stretch(kernel, op, here, scalars, near, len);
                write(near, to, BLOCK);
            } else {
                kernel::stretch(kernel, op, here, scalars, to, len);
            }
            done += len;
        }
    }
}

/// Calls [`finish`] when it is dropped, even if a user's op panics.
struct Finish;

impl Drop for Finish {
    fn drop(&mut self) {
        finish();
    }
}

/// Copies bytes with streaming stores. The source should be in a cache, and the target should not be read soon. The
/// caller must call [`finish`] afterwards.
///
/// # Safety
/// `from` and `to` have `bytes` bytes each, and the two ranges do not overlap.
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    let head = to.align_offset(LINE).min(bytes);
    let whole = (bytes - head) / LINE * LINE;
    // SAFETY: the three parts make up all bytes, and the second part begins at a cache line.
    unsafe {
        ptr::copy_nonoverlapping(from, to, head);
        write(from.add(head), to.add(head), whole);
        ptr::copy_nonoverlapping(from.add(head + whole), to.add(head + whole), bytes - head - whole);
    }
}

/// Orders streaming stores before all later stores, so that a thread that is notified by a later store sees the result.
pub fn finish() {
    // SAFETY: every x86-64 processor has the instruction, which has no other effect.
    unsafe { arch::_mm_sfence() };
}

/// Writes whole cache lines with streaming stores.
///
/// # Safety
/// `from` and `to` have `bytes` bytes each. `bytes` is a multiple of `LINE`, and `to` begins at a cache line.
unsafe fn write(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the processor has these instructions, and the caller guarantees the bytes.
    unsafe { if simd::set() > 1 { whole_lines(from, to, bytes) } else { quarters(from, to, bytes) } }
}

/// Writes each cache line with a single store, so that the processor need not combine several stores.
#[target_feature(enable = "avx512f")]
unsafe fn whole_lines(from: *const u8, to: *mut u8, bytes: usize) {
    let (from, to) = (from.cast::<arch::__m512i>(), to.cast::<arch::__m512i>());
    for i in 0..bytes / LINE {
        // SAFETY: the caller guarantees whole cache lines in the source and in the target.
        unsafe { arch::_mm512_stream_si512(to.add(i), from.add(i).read_unaligned()) };
    }
}

unsafe fn quarters(from: *const u8, to: *mut u8, bytes: usize) {
    let (from, to) = (from.cast::<arch::__m128i>(), to.cast::<arch::__m128i>());
    for i in 0..bytes / size_of::<arch::__m128i>() {
        // SAFETY: the caller guarantees the bytes, and every x86-64 processor has these instructions.
        unsafe { arch::_mm_stream_si128(to.add(i), from.add(i).read_unaligned()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Complex, Each, EachSource, Element, numpyish::kernel::kernel};
    use std::ptr::from_ref;

    /// `x + x + y`
    struct Op;
    impl EachSource for Op {
        const NAME: &'static str = "op";
        const CUDA: &'static str = "";
        const INPUTS: &'static [&'static str] = &[];
        const PARAMS: &'static [&'static str] = &[];
    }
    impl<T: Element + std::ops::Add<Output = T>> Each<2, T> for Op {
        type Out = T;
        #[inline(always)]
        fn apply(&self, &[x, y]: &[T; 2]) -> T {
            x + x + y
        }
    }

    /// Checks results that begin at several offsets in a cache line, and whose lengths are not multiples of a block.
    fn same<T: Element + std::ops::Add<Output = T>>(of: impl Fn(usize) -> T) {
        let kernel = kernel::<2, T, Op>();
        for (shift, n) in [(0, 8192), (1, 5000), (7, 9001), (3, 0), (5, 17), (2, 2048)] {
            let x: Vec<T> = (0..n).map(&of).collect();
            for scalars in [0, 0b10] {
                let y = if scalars == 0 { x.clone() } else { vec![of(3)] };
                let mut out = vec![of(0); shift + n + 1];
                let operands = [from_ref(&x[..]).cast(), from_ref(&y[..]).cast()];
                let mut at = [std::ptr::null(); MAX_OPERANDS];
                at[..2].copy_from_slice(&operands);
                let y = |i: usize| if scalars == 0 { x[i] } else { of(3) };
                simd::with_each(|_| {
                    // SAFETY: each operand has `n` elements, or one if it is a scalar, and there is room for the
                    // result.
                    unsafe { stretch(kernel, from_ref(&Op).cast(), at, scalars, out[shift..].as_mut_ptr().cast(), n) };
                    assert!((0..n).all(|i| out[shift + i] == x[i] + x[i] + y(i)));
                    out[shift..shift + n].fill(of(0));
                    assert!(out.iter().all(|&x| x == of(0)), "nothing else is written");
                });
            }
        }
    }

    #[test]
    fn results_are_the_same_at_any_place() {
        same(|i| i as f64);
        same(|i| i as f32);
        same(|i| i as u8 & 31);
        same(|i| Complex::new(i as f64, 1.0));
    }

    #[test]
    fn bytes_at_any_place() {
        let from: Vec<u8> = (0..700).map(|i| i as u8).collect();
        simd::with_each(|_| {
            for shift in 0..70 {
                for n in [0, 1, 63, 64, 65, 129, 500] {
                    let mut to = vec![255; shift + n + 70];
                    // SAFETY: both slices have `n` bytes.
                    unsafe { copy(from[shift..].as_ptr(), to[shift..].as_mut_ptr(), n) };
                    finish();
                    assert!(to[shift..shift + n] == from[shift..shift + n]);
                    assert!(to[..shift].iter().chain(&to[shift + n..]).all(|&x| x == 255), "nothing else is written");
                }
            }
        });
    }

    #[test]
    fn the_largest_cache_has_a_size() {
        assert!((64 << 10..4 << 30).contains(&last_cache()), "{}", last_cache());
    }
}
