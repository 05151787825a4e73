//! Sources of the elements that a reduction reads: an array or a formula. A formula computes its elements block by
//! block when they are read, so that the whole array is never stored.

use super::{
    buffer::Buffer,
    copy::by_bits,
    kernel::{self, Kernel, MAX_OPERANDS},
    layout::Dim,
    parallel::{self, COSTLY},
    raw::View,
    walk,
};
use crate::{DType, Result, rules};
use std::{mem::MaybeUninit, ops::Deref};

/// The elements that a reduction reads.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    view: View<'a>,
    formula: Option<&'a Fused<'a>>,
}

impl<'a> Source<'a> {
    /// The formula that computes the elements, or `None` if they are in memory.
    pub fn formula(&self) -> Option<&'a Fused<'a>> {
        self.formula
    }

    /// Dtype, shape and strides of the elements. For a formula, these values describe the array that the formula would
    /// fill, and the address is null.
    pub fn view(&self) -> View<'a> {
        self.view
    }
}

impl<'a> From<View<'a>> for Source<'a> {
    fn from(view: View<'a>) -> Source<'a> {
        Source { view, formula: None }
    }
}

impl<'a> Deref for Source<'a> {
    type Target = View<'a>;

    fn deref(&self) -> &View<'a> {
        &self.view
    }
}

/// An elementwise formula of arrays. Each element can be computed separately.
pub struct Fused<'a> {
    kernel: &'a Kernel,
    op: *const u8,
    operands: &'a [View<'a>],
    /// Axes of the array that the formula would fill, in memory order. Neighbouring axes are joined if all operands
    /// allow it.
    dims: Vec<Dim>,
    /// Strides of each operand along the axes in `dims`.
    steps: Vec<Vec<isize>>,
    shape: Vec<usize>,
    strides: Vec<isize>,
    /// True if computing an element takes long. Code that reads elements twice should then store them.
    costly: bool,
    /// If the formula is a product of two operands, the indices of these operands.
    factors: Option<[usize; 2]>,
}

// SAFETY: the ops of all kernels are `Sync`, and operands are only read.
unsafe impl Sync for Fused<'_> {}

/// Number of elements that are computed together if an operand must be copied to contiguous memory first.
const SEGMENT: usize = 256;

/// Minimum length of the last axis for which calling the kernel's loop once per row is faster than copying the elements
/// of many rows to contiguous memory. A row is a 1-D slice along the last axis.
const SHORT: usize = 32;

impl<'a> Fused<'a> {
    /// Creates a formula over arrays, which are broadcast to one shape. The elements of the formula have the order in
    /// which [`walk`] would store them.
    ///
    /// # Errors
    /// If the shapes do not broadcast.
    ///
    /// # Safety
    /// `op` points to the kernel's op, the operands have the number and the dtypes that the kernel requires, and the op
    /// and the operands outlive the result. If `factors` is not `None`, the formula is the product of the two operands
    /// with these indices, and both have the dtype of the kernel's result.
    pub unsafe fn new(
        kernel: &'a Kernel,
        op: *const u8,
        operands: &'a [View<'a>],
        costly: bool,
        factors: Option<[usize; 2]>,
    ) -> Result<Fused<'a>> {
        let walk::Geometry { shape, order, dims, strides: steps } = walk::Geometry::new(kernel.name(), operands)?;
        let dims = dims.iter().zip(rules::c_strides(&dims)).map(|(&len, stride)| Dim { len, stride });
        let in_order: Vec<usize> = order.iter().map(|&k| shape[k]).collect();
        let mut strides = vec![0; shape.len()];
        order.iter().zip(rules::c_strides(&in_order)).for_each(|(&k, stride)| strides[k] = stride);
        Ok(Fused { kernel, op, operands, dims: dims.collect(), steps, shape, strides, costly, factors })
    }

    /// A source that yields the elements of the formula.
    pub fn source(&'a self) -> Source<'a> {
        let Fused { shape, strides, .. } = self;
        Source { view: View { start: std::ptr::null(), dtype: self.dtype(), shape, strides }, formula: Some(self) }
    }

    fn dtype(&self) -> DType {
        self.kernel.output()
    }

    /// Computes all elements in the memory order of [`Fused::source`]. Returns `None` if the elements are cheap to
    /// compute; the caller should then compute them again whenever it reads them.
    pub fn kept(&self) -> Result<Option<Buffer>> {
        if !self.costly {
            return Ok(None);
        }
        let (name, dtype) = (self.kernel.name(), self.dtype());
        let elements = Buffer::new(name, rules::count(name, &self.shape, dtype.size())?, dtype)?;
        parallel::parallel(elements.len(), COSTLY, |range| {
            // SAFETY: the range lies in the elements and in the buffer, and no other task writes it.
            unsafe {
                let to = elements.start().add(range.start * dtype.size());
                self.compute(range.start as isize, 1, range.len(), to);
            }
        });
        Ok(Some(elements))
    }

    /// Addresses of the two factors of the first element. Returns `None` unless the formula is a product and each
    /// factor is contiguous over all elements.
    pub fn dense_factors(&self) -> Option<[*const u8; 2]> {
        let factors = self.factors?;
        let is_dense = self.dims.len() == 1 && factors.iter().all(|&k| self.steps[k][0] == 1);
        is_dense.then(|| factors.map(|k| self.operands[k].start))
    }

    /// Addresses of the two factors of the element at `offset`. Returns `None` unless the formula is a product and each
    /// factor is contiguous over the `n` elements that begin at `offset`.
    ///
    /// # Safety
    /// The offsets belong to elements of the source.
    pub unsafe fn factors(&self, offset: isize, n: usize) -> Option<[*const u8; 2]> {
        let factors = self.factors?;
        let inner = self.dims.len().checked_sub(1)?;
        if factors.iter().any(|&k| self.steps[k][inner] != 1) {
            return None;
        }
        let (mut at, mut rest) = ([0; 2], offset);
        for (axis, dim) in self.dims[..inner].iter().enumerate() {
            let index = rest / dim.stride;
            rest %= dim.stride;
            factors.iter().zip(&mut at).for_each(|(&k, at)| *at += index * self.steps[k][axis]);
        }
        if rest as usize + n > self.dims[inner].len {
            return None;
        }
        let size = self.dtype().size() as isize;
        Some([0, 1].map(|k| self.operands[factors[k]].start.wrapping_offset((at[k] + rest) * size)))
    }

    /// Computes `n` elements and writes them to `out`. Their offsets in the view of [`Fused::source`] begin with
    /// `offset` and are `stride` apart.
    ///
    /// # Safety
    /// The offsets belong to elements of the source, and `out` has room for `n` elements.
    pub unsafe fn compute(&self, offset: isize, stride: isize, n: usize, out: *mut u8) {
        // SAFETY: the caller guarantees the offsets and enough room.
        unsafe {
            match self.dims[..] {
                [_] if stride == 1 && self.steps.iter().all(|steps| matches!(steps[0], 0 | 1)) => {
                    self.compute_dense(offset, n, out);
                }
                [_, .., Dim { len: ..SHORT, .. }] if stride == 1 => self.compute_short(offset as usize, n, out),
                _ => self.compute_any(offset, stride, n, out),
            }
        }
    }

    /// Like [`Fused::compute`], for contiguous elements of a formula whose operands are contiguous or scalars.
    ///
    /// # Safety
    /// The conditions of [`Fused::compute`] hold, and there is exactly one axis.
    unsafe fn compute_dense(&self, offset: isize, n: usize, out: *mut u8) {
        let (mut x, mut scalars) = ([std::ptr::null(); MAX_OPERANDS], 0);
        for (k, (operand, steps)) in self.operands.iter().zip(&self.steps).enumerate() {
            x[k] = operand.start.wrapping_offset(offset * steps[0] * operand.dtype.size() as isize);
            scalars |= u8::from(steps[0] == 0) << k;
        }
        // SAFETY: every operand has `n` elements, or one if it is a scalar, and `out` has room for `n` results.
        unsafe { kernel::stretch(self.kernel, self.op, x, scalars, out, n) };
    }

    /// Like [`Fused::compute`], for elements and operands of any strides.
    ///
    /// # Safety
    /// The conditions of [`Fused::compute`] hold.
    #[inline(never)] // it has large arrays on the stack
    unsafe fn compute_any(&self, offset: isize, stride: isize, n: usize, out: *mut u8) {
        let mut copies = [const { MaybeUninit::<[u128; SEGMENT]>::uninit() }; MAX_OPERANDS];
        let mut done = 0;
        while done < n {
            let mut x = [std::ptr::null(); MAX_OPERANDS];
            self.operands.iter().zip(&mut x).for_each(|(operand, x)| *x = operand.start);
            // the next `count` elements have the same index on all axes except `along`; on this axis, their indices are
            // `apart` apart
            let (mut along, mut apart, mut count) = (0, 1, 1);
            let mut rest = offset + done as isize * stride;
            for (axis, dim) in self.dims.iter().enumerate() {
                let index = rest / dim.stride;
                rest %= dim.stride;
                for (k, operand) in self.operands.iter().enumerate() {
                    let bytes = index * self.steps[k][axis] * operand.dtype.size() as isize;
                    x[k] = x[k].wrapping_offset(bytes);
                }
                if (dim.stride..dim.stride * dim.len as isize).contains(&stride) {
                    apart = stride / dim.stride;
                    (along, count) = (axis, (dim.len - index as usize).div_ceil(apart as usize));
                }
            }
            count = count.min(n - done);
            let step = |k: usize| self.steps[k][along] * apart;
            if (0..self.operands.len()).any(|k| !matches!(step(k), 0 | 1)) {
                count = count.min(SEGMENT);
            }
            let mut scalars = 0;
            for (k, operand) in self.operands.iter().enumerate() {
                match step(k) {
                    1 => {}
                    0 => scalars |= 1 << k,
                    step => {
                        let to = copies[k].as_mut_ptr().cast::<u8>();
                        // SAFETY: the operand has elements at these indices, and `to` has room for `SEGMENT` elements
                        // of 16 bytes.
                        unsafe { by_bits!(operand.dtype, U => gather::<U>)(x[k], step, count, to) };
                        x[k] = to;
                    }
                }
            }
            // SAFETY: every operand has `count` elements, or one if it is a scalar, and `out` has room for `count`
            // results.
            unsafe {
                let out = out.add(done * self.dtype().size());
                kernel::stretch(self.kernel, self.op, x, scalars, out, count);
            }
            done += count;
        }
    }

    /// Like [`Fused::compute`], for contiguous elements of a formula whose last axis is too short to call the kernel's
    /// loop once per row. Copies the operands' elements of many rows to contiguous memory, and calls the loop once for
    /// all these rows.
    ///
    /// # Safety
    /// The conditions of [`Fused::compute`] hold, and there are at least two axes.
    unsafe fn compute_short(&self, offset: usize, n: usize, out: *mut u8) {
        let mut copies = [const { MaybeUninit::<[u128; SEGMENT]>::uninit() }; MAX_OPERANDS];
        let (mut x, mut scalars) = ([std::ptr::null(); MAX_OPERANDS], 0);
        for done in (0..n).step_by(SEGMENT) {
            let count = SEGMENT.min(n - done);
            for (k, operand) in self.operands.iter().enumerate() {
                if self.steps[k].iter().all(|step| *step == 0) {
                    (x[k], scalars) = (operand.start, scalars | 1 << k);
                    continue;
                }
                let to = copies[k].as_mut_ptr().cast::<u8>();
                let (start, dims, steps) = (operand.start, &self.dims, &self.steps[k]);
                // SAFETY: the operand has elements at these strides, and `to` has room for `SEGMENT` elements of 16
                // bytes.
                unsafe { by_bits!(operand.dtype, U => rows::<U>)(start, dims, steps, offset + done, count, to) };
                x[k] = to;
            }
            // SAFETY: every operand has `count` elements, or one if it is a scalar, and `out` has room for `count`
            // results.
            unsafe {
                let out = out.add(done * self.dtype().size());
                kernel::stretch(self.kernel, self.op, x, scalars, out, count);
            }
        }
    }
}

/// Copies the elements of an operand that are needed for `n` consecutive elements of the result to contiguous memory at
/// `to`. `first` is the index of the first of the `n` result elements, in the memory order of the result.
///
/// # Safety
/// With the strides `steps`, the operand has an element for every index of the axes. The result has `n` elements from
/// `first` on, and `to` has room for `n` elements.
unsafe fn rows<U: Copy>(start: *const u8, dims: &[Dim], steps: &[isize], first: usize, n: usize, to: *mut u8) {
    let (start, to) = (start.cast::<U>(), to.cast::<U>());
    let inner = dims.len() - 1;
    let mut done = 0;
    while done < n {
        // `from` is the operand's offset for the row (1-D slice along the last axis) that contains result element
        // `first + done`. Along the second-to-last axis, neighbouring rows are `next` elements apart, and `count` rows
        // remain, including this row.
        let (mut from, mut next, mut count, mut rest) = (0, 0, 1, (first + done) as isize);
        for (dim, step) in dims[..inner].iter().zip(steps) {
            let index = rest / dim.stride;
            rest %= dim.stride;
            from += index * step;
            (next, count) = (*step, dim.len as isize - index);
        }
        let (len, step, mut begin) = (dims[inner].len, steps[inner], rest as usize);
        let many = (count as usize * len - begin).min(n - done);
        let first = from + begin as isize * step;
        // SAFETY: the caller guarantees the elements and enough room.
        unsafe {
            if step == 1 && next == len as isize {
                to.add(done).copy_from_nonoverlapping(start.offset(first), many);
                done += many;
                continue;
            }
            // if all rows repeat the first row, only the first row is read, and it is copied to all other rows
            let own = if next == 0 { many.min(len) } else { many };
            let mut written = 0;
            for row in 0.. {
                let base = start.offset(from + row * next);
                for k in begin..len.min(begin + own - written) {
                    *to.add(done + written) = *base.offset(k as isize * step);
                    written += 1;
                }
                if written == own {
                    break;
                }
                begin = 0;
            }
            while written < many {
                let more = written.min(many - written);
                to.add(done + written).copy_from_nonoverlapping(to.add(done), more);
                written += more;
            }
            done += many;
        }
    }
}

/// Copies `n` elements that are `stride` elements apart to contiguous memory.
///
/// # Safety
/// `from` has `n` elements at this stride, and `to` has room for `n` elements.
pub unsafe fn gather<U: Copy>(from: *const u8, stride: isize, n: usize, to: *mut u8) {
    for i in 0..n {
        // SAFETY: the caller guarantees the elements and enough room.
        unsafe { *to.cast::<U>().add(i) = *from.cast::<U>().offset(i as isize * stride) };
    }
}
