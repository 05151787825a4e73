//! Reads the elements that a fold (an operation such as a sum) combines. They come from an array in memory, of any
//! strides and dtype, or from an elementwise formula that is computed block by block.

use super::{
    super::{
        convert::{Convert, Value},
        copy::by_bits,
        source::{Fused, Source, gather},
    },
    order::BLOCK,
};
use std::mem::MaybeUninit;

/// The elements of an array or a formula, which are converted to the dtype of a fold when they are read.
pub struct Reading<'a> {
    formula: Option<&'a Fused<'a>>,
    start: *const u8,
    /// Size in bytes of an element of the array; `wide` is its size in bytes in the dtype of the fold.
    size: usize,
    wide: usize,
    /// Gathers elements of any stride into contiguous memory.
    gather: unsafe fn(from: *const u8, stride: isize, n: usize, to: *mut u8),
    convert: Option<Convert>,
}

// SAFETY: a `Reading` only reads, and the array may be shared between threads.
unsafe impl Sync for Reading<'_> {}

/// Number of elements that are converted at a time.
const SOME: usize = 128;

/// Scratch memory for a block of any dtype. It is aligned to a cache line, because a vector that crosses a line is
/// slower to read soon after it is written.
#[repr(align(64))]
pub struct Block([MaybeUninit<Value>; BLOCK]);

/// Uninitialised scratch memory.
pub const NO_BLOCK: Block = Block([const { MaybeUninit::uninit() }; BLOCK]);

impl Block {
    /// Address of the first byte.
    pub fn start_mut(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

impl<'a> Reading<'a> {
    /// Creates a `Reading` of the elements of `x`. `convert` converts the elements to the dtype of the fold, in which
    /// an element has `wide` bytes.
    pub fn new(x: Source<'a>, convert: Option<Convert>, wide: usize) -> Reading<'a> {
        let gather = by_bits!(x.dtype, U => gather::<U>);
        Reading { formula: x.formula(), start: x.start, size: x.dtype.size(), wide, gather, convert }
    }

    /// Size in bytes of an element in the dtype of the fold.
    pub fn wide(&self) -> usize {
        self.wide
    }

    /// Returns whether elements of stride 1 are read directly from the array.
    pub fn direct(&self) -> bool {
        self.convert.is_none() && self.formula.is_none()
    }

    /// Returns the addresses of both factors of the first element if the elements are products of two contiguous arrays
    /// and need no conversion; see [`Fused::dense_factors`].
    pub fn dense_factors(&self) -> Option<[*const u8; 2]> {
        self.formula.filter(|_| self.convert.is_none())?.dense_factors()
    }

    /// Returns the addresses of both factors of the element at `offset` if the elements are products and need no
    /// conversion, and if the factors of `n` elements are contiguous; see [`Fused::factors`].
    ///
    /// # Safety
    /// There must be elements at all offsets that are read.
    pub unsafe fn factors(&self, offset: isize, n: usize) -> Option<[*const u8; 2]> {
        let formula = self.formula.filter(|_| self.convert.is_none())?;
        // SAFETY: the caller guarantees elements at the offsets.
        unsafe { formula.factors(offset, n) }
    }

    /// Address of the element at an offset, if elements are read directly from the array.
    pub fn place(&self, offset: isize) -> *const u8 {
        self.start.wrapping_offset(offset * self.size as isize)
    }

    /// Returns the address of `n` elements that begin at `offset` and have this stride. The address is in the array if
    /// elements can be read there. Otherwise, at most [`BLOCK`] elements are copied to `scratch`.
    ///
    /// # Safety
    /// The array must have elements at the offsets.
    pub unsafe fn load(&self, offset: isize, stride: isize, n: usize, scratch: &mut Block) -> *const u8 {
        if stride == 1 && self.direct() {
            return self.place(offset);
        }
        assert!(n <= BLOCK, "elements fit a block");
        let to = scratch.start_mut();
        // SAFETY: the caller guarantees the elements, and a block has room for `n` elements.
        unsafe { self.fetch(offset, stride, n, to) };
        to
    }

    /// Copies `n` elements that begin at `offset` and have this stride. Writes them to `to` in the dtype of the fold.
    ///
    /// # Safety
    /// The array must have elements at the offsets, and `to` must have room for them.
    #[inline(never)]
    pub unsafe fn fetch(&self, offset: isize, stride: isize, n: usize, to: *mut u8) {
        // SAFETY: the caller guarantees the elements, and room for `n` elements.
        unsafe {
            match (self.formula, self.convert) {
                (None, Some(convert)) if stride == 1 => convert(self.place(offset), to, n),
                (None, None) if stride == 1 => to.copy_from_nonoverlapping(self.place(offset), n * self.size),
                (None, None) => (self.gather)(self.place(offset), stride, n, to),
                (Some(formula), None) => formula.compute(offset, stride, n, to),
                (_, Some(convert)) => self.fetch_converted(convert, offset, stride, n, to),
            }
        }
    }

    /// Like [`Reading::fetch`], for elements that must be gathered or computed before they are converted.
    #[inline(never)]
    unsafe fn fetch_converted(&self, convert: Convert, offset: isize, stride: isize, n: usize, to: *mut u8) {
        let mut some = [const { MaybeUninit::<Value>::uninit() }; SOME];
        let here = some.as_mut_ptr().cast::<u8>();
        for first in (0..n).step_by(SOME) {
            let many = SOME.min(n - first);
            let at = offset + first as isize * stride;
            // SAFETY: the caller guarantees the elements, and `some` has room for `SOME` elements.
            unsafe {
                match self.formula {
                    Some(formula) => formula.compute(at, stride, many, here),
                    None => (self.gather)(self.place(at), stride, many, here),
                }
                convert(here, to.add(first * self.wide), many);
            }
        }
    }
}
