//! Results that do not stay in the caches, written past them.
//!
//! A usual store reads the line of memory that it writes to before. Where a result and what it is computed of do not stay in a cache that reading is a
//! third of the traffic of a sum of two arrays, half of that of a copy: such results are computed by blocks that stay near, and these are written with the
//! processor's streaming stores, which read nothing. Pages that are new were cleared by the system a moment ago and lie in a cache, where usual stores are
//! the faster ones: so only programs whose allocator keeps pages ([`Pages`](crate::alloc::Pages)) have this.

use super::{
    kernel::{self, Kernel, MOST, advanced},
    simd,
};
use crate::alloc;
use std::{arch::x86_64 as arch, mem::MaybeUninit, ptr, sync::OnceLock};

/// A line of the caches.
const LINE: usize = 64;

/// Bytes that are computed before they are written: few enough that the processor computes the next of them while it writes.
const BLOCK: usize = 1024;

/// They begin at a page, as large results do. A processor takes a load for one of the bytes that were stored just before where their addresses are the same
/// in their last 12 bits, and waits: the operands of the next elements are further on than what was written of these.
#[repr(align(4096))]
struct Block(MaybeUninit<[u8; BLOCK]>);

/// What one core can expect of a cache that many share, for loops that wait for nothing but memory, as running sums do. Little is computed while lines are
/// written: on an Intel Xeon with a cache of 480 MB square roots of ten million numbers take longer so than with usual stores. So ops, of which some compute
/// much, go past the caches only where results do not fit the whole.
pub const SHARE: usize = 64 << 20;

/// Whether streaming stores are the faster ones where a call reads and writes so many bytes, and so many stay in a cache at most.
#[inline]
pub fn pays(bytes: usize, share: usize) -> bool {
    /// Smaller calls are in some cache of any processor.
    const LEAST: usize = 4 << 20;
    bytes >= LEAST && bytes > last_cache().min(share) && alloc::keeps_pages()
}

/// Bytes of the largest cache.
pub fn last_cache() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| {
        /// Of a processor that does not say.
        const USUAL: usize = 32 << 20;
        // the leaves of Intel's and AMD's processors that describe their caches, in one form
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

/// [`kernel::stretch`], with a result that is written past the caches.
///
/// # Safety
/// As for that function.
#[inline(never)]
pub unsafe fn stretch(kernel: &Kernel, op: *const u8, x: [*const u8; MOST], scalars: u8, out: *mut u8, n: usize) {
    let size = kernel.output().size();
    // up to the first whole line
    let head = out.align_offset(LINE) / size;
    if n * size < 4 * BLOCK || !(out.addr() + head * size).is_multiple_of(LINE) {
        // SAFETY: the caller's promise.
        return unsafe { kernel::stretch(kernel, op, x, scalars, out, n) };
    }
    let _finish = Finish;
    let mut block = Block(MaybeUninit::uninit());
    let near: *mut u8 = block.0.as_mut_ptr().cast();
    // SAFETY: parts of the stretch; there is room for a block, and what is written of it has been computed.
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

/// Calls [`finish`] when it is dropped: also where an op of a user panics.
struct Finish;

impl Drop for Finish {
    fn drop(&mut self) {
        finish();
    }
}

/// Copies bytes from near memory to where they are not needed soon. [`finish`] has to follow.
///
/// # Safety
/// So many bytes can be read and written, which do not overlap.
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    let head = to.align_offset(LINE).min(bytes);
    let whole = (bytes - head) / LINE * LINE;
    // SAFETY: three parts of the bytes; the second begins at a line.
    unsafe {
        ptr::copy_nonoverlapping(from, to, head);
        write(from.add(head), to.add(head), whole);
        ptr::copy_nonoverlapping(from.add(head + whole), to.add(head + whole), bytes - head - whole);
    }
}

/// Streaming stores are not ordered among others: after this, whoever learns of the result sees it.
pub fn finish() {
    // SAFETY: every x86-64 has the instruction, which does nothing else.
    unsafe { arch::_mm_sfence() };
}

/// Writes lines past the caches.
///
/// # Safety
/// So many bytes, a multiple of a line, can be read and written; those to write begin at a line.
unsafe fn write(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the processor has these instructions; for the rest, the caller's promise.
    unsafe { if simd::set() > 1 { whole_lines(from, to, bytes) } else { quarters(from, to, bytes) } }
}

/// A line by one store, of which the processor has nothing to gather.
#[target_feature(enable = "avx512f")]
unsafe fn whole_lines(from: *const u8, to: *mut u8, bytes: usize) {
    let (from, to) = (from.cast::<arch::__m512i>(), to.cast::<arch::__m512i>());
    for i in 0..bytes / LINE {
        // SAFETY: the caller's promise.
        unsafe { arch::_mm512_stream_si512(to.add(i), from.add(i).read_unaligned()) };
    }
}

unsafe fn quarters(from: *const u8, to: *mut u8, bytes: usize) {
    let (from, to) = (from.cast::<arch::__m128i>(), to.cast::<arch::__m128i>());
    for i in 0..bytes / size_of::<arch::__m128i>() {
        // SAFETY: the caller's promise; every x86-64 has these instructions.
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

    /// Results at every place of a line, of lengths that are no multiple of a block.
    fn same<T: Element + std::ops::Add<Output = T>>(of: impl Fn(usize) -> T) {
        let kernel = kernel::<2, T, Op>();
        for (shift, n) in [(0, 8192), (1, 5000), (7, 9001), (3, 0), (5, 17), (2, 2048)] {
            let x: Vec<T> = (0..n).map(&of).collect();
            for scalars in [0, 0b10] {
                let y = if scalars == 0 { x.clone() } else { vec![of(3)] };
                let mut out = vec![of(0); shift + n + 1];
                let operands = [from_ref(&x[..]).cast(), from_ref(&y[..]).cast()];
                let mut at = [std::ptr::null(); MOST];
                at[..2].copy_from_slice(&operands);
                let y = |i: usize| if scalars == 0 { x[i] } else { of(3) };
                simd::with_each(|_| {
                    // SAFETY: `n` elements of each operand, or one, and room for the result.
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
                    // SAFETY: so many bytes of both.
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
