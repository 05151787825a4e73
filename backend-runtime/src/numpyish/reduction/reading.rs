//! The elements that a fold reads: of an array in memory, of any stride and dtype, or of a formula.

use super::{
    super::{
        convert::{Convert, Value},
        copy::by_bits,
        source::{Fused, Source, gather},
    },
    fold::BLOCK,
};
use std::mem::MaybeUninit;

/// The elements of an array, converted to those of a fold when they are read.
pub struct Reading<'a> {
    formula: Option<&'a Fused<'a>>,
    start: *const u8,
    /// Bytes of an element of the array, and of one of the fold.
    size: usize,
    wide: usize,
    /// Copies elements of any stride together.
    gather: unsafe fn(from: *const u8, stride: isize, n: usize, to: *mut u8),
    convert: Option<Convert>,
}

// SAFETY: it only reads, and what it reads may be shared.
unsafe impl Sync for Reading<'_> {}

/// Elements that are converted together.
const SOME: usize = 128;

/// Room for a block of any dtype, at a cache line: a vector that is written into two lines, and read again soon, takes longer.
#[repr(align(64))]
pub struct Block([MaybeUninit<Value>; BLOCK]);

/// Such room, not written yet.
pub const NO_BLOCK: Block = Block([const { MaybeUninit::uninit() }; BLOCK]);

impl Block {
    /// The first byte.
    pub fn start_mut(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

impl<'a> Reading<'a> {
    /// The elements of `x`, as `convert` makes them, `wide` bytes each.
    pub fn new(x: Source<'a>, convert: Option<Convert>, wide: usize) -> Reading<'a> {
        let gather = by_bits!(x.dtype, U => gather::<U>);
        Reading { formula: x.formula(), start: x.start, size: x.dtype.size(), wide, gather, convert }
    }

    /// Bytes of an element of the fold.
    pub fn wide(&self) -> usize {
        self.wide
    }

    /// Whether elements of stride 1 are read where they lie.
    pub fn direct(&self) -> bool {
        self.convert.is_none() && self.formula.is_none()
    }

    /// As [`Fused::dense_factors`], of elements that are read as they are.
    pub fn dense_factors(&self) -> Option<[*const u8; 2]> {
        self.formula.filter(|_| self.convert.is_none())?.dense_factors()
    }

    /// As [`Fused::factors`], of elements that are read as they are.
    ///
    /// # Safety
    /// The offsets are those of elements.
    pub unsafe fn factors(&self, offset: isize, n: usize) -> Option<[*const u8; 2]> {
        let formula = self.formula.filter(|_| self.convert.is_none())?;
        // SAFETY: the caller's promise.
        unsafe { formula.factors(offset, n) }
    }

    /// Where the element of an offset lies, if elements are read where they lie.
    pub fn place(&self, offset: isize) -> *const u8 {
        self.start.wrapping_offset(offset * self.size as isize)
    }

    /// `n` elements of this stride, [`BLOCK`] at most, from an offset on: where they lie, or in `scratch`.
    ///
    /// # Safety
    /// The offsets are those of elements of the array.
    pub unsafe fn load(&self, offset: isize, stride: isize, n: usize, scratch: &mut Block) -> *const u8 {
        if stride == 1 && self.direct() {
            return self.place(offset);
        }
        assert!(n <= BLOCK, "elements fit a block");
        let to = scratch.start_mut();
        // SAFETY: the caller's promise; a block has room for as many elements.
        unsafe { self.fetch(offset, stride, n, to) };
        to
    }

    /// Writes `n` elements of this stride, from an offset on, to memory of the fold's own.
    ///
    /// # Safety
    /// The offsets are those of elements of the array, and there is room for as many.
    #[inline(never)]
    pub unsafe fn fetch(&self, offset: isize, stride: isize, n: usize, to: *mut u8) {
        // SAFETY: the caller's elements, and room for as many.
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

    /// As [`Reading::fetch`], of elements that have to be brought together before they are converted.
    #[inline(never)]
    unsafe fn fetch_converted(&self, convert: Convert, offset: isize, stride: isize, n: usize, to: *mut u8) {
        let mut some = [const { MaybeUninit::<Value>::uninit() }; SOME];
        let here = some.as_mut_ptr().cast::<u8>();
        for first in (0..n).step_by(SOME) {
            let many = SOME.min(n - first);
            let at = offset + first as isize * stride;
            // SAFETY: the caller's promise; there is room for some elements.
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
