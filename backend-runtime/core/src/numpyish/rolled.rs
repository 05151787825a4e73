//! Runs a kernel over operands of which some are rolled (shifted cyclically along axes), without a rolled copy of any
//! operand.
//!
//! The result is computed row by row; a row is a line along the last axis. Each row is divided at the indices at which
//! a rolled operand passes its end. In each part, every operand is a slice or a scalar.

use super::{
    buffer::Buffer,
    copy,
    kernel::{Kernel, MAX_OPERANDS, stretch, stretch_over},
    parallel,
    raw::{RawArray, View},
};
use crate::{Result, rules};

/// The number of positions by which an operand is shifted along each of its axes; each is less than the length of the
/// axis. `None` if the operand is not rolled.
pub type Shifts<'a> = Option<&'a [usize]>;

/// Minimum length of the last axis of an operand that is rolled without a copy. For shorter rows, a rolled copy takes
/// less time than the calls of the kernel's loop.
pub const MIN_ROW: usize = 32;

/// Returns whether a kernel can read `x` as a rolled operand: its rows must be contiguous, and not too short.
pub fn takes(x: &View<'_>) -> bool {
    matches!((x.shape.last(), x.strides.last()), (Some(&len), Some(1)) if len >= MIN_ROW)
}

/// Runs a kernel over operands, which are broadcast to one shape. The result is in C order.
///
/// # Safety
/// `op` points to the kernel's op. The operands have the number and the dtypes that the kernel requires. `shifts` has
/// an entry for each operand, and [`takes`] is true for each operand that is rolled.
pub unsafe fn run(kernel: &Kernel, op: *const u8, operands: &[View<'_>], shifts: &[Shifts<'_>]) -> Result<RawArray> {
    let shape = rules::broadcast_all(kernel.name, operands.iter().map(|x| x.shape))?;
    let n = rules::count(kernel.name, &shape, kernel.output.size())?;
    let buffer = Buffer::new(kernel.name, n, kernel.output)?;
    if n > 0 {
        let packed = packed(kernel, operands)?;
        let rows = Rows::new(kernel, op, operands, shifts, &packed, &shape, buffer.start());
        // SAFETY: the caller guarantees the op and the operands, and the buffer has room for the result.
        unsafe { rows.run(0) };
    }
    // SAFETY: the rows fill the result.
    unsafe { RawArray::new(kernel.name, shape, buffer) }
}

/// Like [`run`], but writes the result to the existing array `out`, which may be one of the operands that are not
/// rolled. Returns false, and changes nothing, if this is not possible.
///
/// # Safety
/// The conditions of [`run`] hold. `out` has the dtype of the result, and only operands that start at the same address
/// use its memory.
pub unsafe fn run_over(
    kernel: &Kernel,
    op: *const u8,
    operands: &[View<'_>],
    shifts: &[Shifts<'_>],
    out: View<'_>,
) -> bool {
    let mut over = 0;
    for (k, (x, shifts)) in operands.iter().zip(shifts).enumerate().filter(|(_, (x, _))| x.start == out.start) {
        if shifts.is_some() || x.shape != out.shape || x.strides != out.strides || x.dtype.size() != out.dtype.size() {
            return false;
        }
        over |= 1 << k;
    }
    let shape = rules::broadcast_all(kernel.name, operands.iter().map(|x| x.shape));
    if shape.is_ok_and(|shape| shape != out.shape) || !out.is_c_order() || out.len() == 0 {
        return false;
    }
    let Ok(packed) = packed(kernel, operands) else { return false };
    let rows = Rows::new(kernel, op, operands, shifts, &packed, out.shape, out.start.cast_mut());
    // SAFETY: the caller guarantees the op, the operands and the memory of `out`.
    unsafe { rows.run(over) };
    true
}

/// The elements of an operand in C order.
struct Copied {
    elements: Buffer,
    strides: Vec<isize>,
}

/// Copies the operands whose rows are neither contiguous nor a single element; `None` stands for all other operands.
fn packed(kernel: &Kernel, operands: &[View<'_>]) -> Result<Vec<Option<Copied>>> {
    let has_rows = |x: &View<'_>| match (x.shape.last(), x.strides.last()) {
        (Some(&len), Some(&stride)) => len == 1 || matches!(stride, 0 | 1),
        _ => true,
    };
    let copied =
        |x: &View<'_>| Ok(Copied { elements: copy::to_buffer(kernel.name, *x)?, strides: rules::c_strides(x.shape) });
    operands.iter().map(|x| if has_rows(x) { Ok(None) } else { copied(x).map(Some) }).collect()
}

/// An operand, with its axes aligned to the axes of the result.
struct Operand {
    start: *const u8,
    size: isize,
    axes: Vec<Axis>,
}

#[derive(Clone, Copy)]
struct Axis {
    len: usize,
    /// 0 if the operand is repeated along the axis.
    stride: isize,
    shift: usize,
}

impl Axis {
    /// The offset, in elements, of the element that belongs to index `i` of the result.
    #[inline(always)]
    fn offset(self, i: usize) -> isize {
        let from = if i < self.shift { i + self.len - self.shift } else { i - self.shift };
        from as isize * self.stride
    }
}

/// A call of a kernel, row by row.
struct Rows<'a> {
    kernel: &'a Kernel,
    op: *const u8,
    operands: Vec<Operand>,
    /// Lengths of the axes of the result, except the last.
    outer: &'a [usize],
    /// The indices along the last axis at which the parts of a row begin, followed by the length of the axis.
    cuts: Vec<usize>,
    /// The operands that have one element per row, as a bit set.
    scalars: u8,
    out: *mut u8,
}

// SAFETY: tasks read shared operands and write different rows of the result; ops are `Sync`.
unsafe impl Sync for Rows<'_> {}

impl<'a> Rows<'a> {
    /// `packed` has the copies of [`packed`], and `shape` has at least one axis.
    fn new(
        kernel: &'a Kernel,
        op: *const u8,
        operands: &[View<'_>],
        shifts: &[Shifts<'_>],
        packed: &[Option<Copied>],
        shape: &'a [usize],
        out: *mut u8,
    ) -> Rows<'a> {
        let aligned = operands.iter().zip(shifts).zip(packed).map(|((x, shifts), packed)| {
            let (start, strides) = match packed {
                Some(copied) => (copied.elements.start().cast_const(), &copied.strides[..]),
                None => (x.start, x.strides),
            };
            let own = x.shape.iter().zip(strides).enumerate().map(|(k, (&len, &stride))| Axis {
                len,
                stride: if len == 1 { 0 } else { stride },
                shift: shifts.map_or(0, |shifts| shifts[k]),
            });
            let repeated = Axis { len: 1, stride: 0, shift: 0 };
            let axes = std::iter::repeat_n(repeated, shape.len() - x.shape.len()).chain(own).collect();
            Operand { start, size: x.dtype.size() as isize, axes }
        });
        let operands: Vec<Operand> = aligned.collect();
        let (&last, outer) = shape.split_last().expect("a rolled operand has an axis");
        let mut cuts: Vec<usize> = operands.iter().filter_map(|x| x.axes.last()).map(|axis| axis.shift).collect();
        cuts.extend([0, last]);
        cuts.sort_unstable();
        cuts.dedup();
        let is_scalar = |x: &Operand| x.axes.last().is_none_or(|axis| axis.stride == 0);
        let bit = |(k, x): (usize, &Operand)| u8::from(is_scalar(x)) << k;
        let scalars = operands.iter().enumerate().map(bit).sum();
        Rows { kernel, op, operands, outer, cuts, scalars, out }
    }

    /// Computes all rows. The result overwrites the operands whose bits are set in `over`.
    ///
    /// # Safety
    /// The conditions of [`run`] hold, and `out` has room for the result.
    unsafe fn run(&self, over: u8) {
        let (rows, last) = (self.outer.iter().product(), self.cuts[self.cuts.len() - 1]);
        parallel::parallel_timed(rows, last, |range| {
            let mut index = vec![0; self.outer.len()];
            let mut rest = range.start;
            for (i, len) in index.iter_mut().zip(self.outer).rev() {
                (*i, rest) = (rest % len, rest / len);
            }
            for row in range {
                // SAFETY: the caller guarantees the operands, and this row belongs to one task.
                unsafe { self.row(&index, row * last, over) };
                for (i, &len) in index.iter_mut().zip(self.outer).rev() {
                    *i += 1;
                    if *i < len {
                        break;
                    }
                    *i = 0;
                }
            }
        });
    }

    /// Computes the row at `index`, whose first element is element `begin` of the result.
    ///
    /// # Safety
    /// The conditions of [`Rows::run`] hold, and nothing else uses the row.
    #[inline]
    unsafe fn row(&self, index: &[usize], begin: usize, over: u8) {
        let &Rows { kernel, op, scalars, out, .. } = self;
        let mut offsets = [0; MAX_OPERANDS];
        for (offset, x) in offsets.iter_mut().zip(&self.operands) {
            *offset = x.axes.iter().zip(index).map(|(axis, &i)| axis.offset(i)).sum();
        }
        for part in self.cuts.windows(2) {
            let mut at = [std::ptr::null(); MAX_OPERANDS];
            for (k, x) in self.operands.iter().enumerate() {
                let offset = offsets[k] + x.axes.last().map_or(0, |axis| axis.offset(part[0]));
                at[k] = x.start.wrapping_offset(offset * x.size);
            }
            let n = part[1] - part[0];
            // SAFETY: within the part, every operand has `n` elements or is a scalar, and the part lies in the result.
            unsafe {
                let out = out.add((begin + part[0]) * kernel.output.size());
                match over {
                    0 => stretch(kernel, op, at, scalars, out, n),
                    _ => stretch_over(kernel, op, at, scalars, over, out, n),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            NdArray,
            kernel::kernel,
            raw::view,
            testing::{Dice, layouts},
            typed::Typed,
        },
        *,
    };
    use crate::{Each, EachSource, Numeric};
    use ndarray::{ArrayD, IxDyn};
    use std::ptr;

    /// `x - y * z`
    struct Op;
    impl EachSource for Op {
        const NAME: &'static str = "op";
        const CUDA: &'static str = "";
        const INPUTS: &'static [&'static str] = &[];
        const PARAMS: &'static [&'static str] = &[];
    }
    impl<T: Numeric> Each<3, T> for Op {
        type Out = T;
        #[inline(always)]
        fn apply(&self, &[x, y, z]: &[T; 3]) -> T {
            x.minus(y.times(z))
        }
    }

    fn kernel_of_op() -> (&'static Kernel, *const u8) {
        (kernel::<3, i32, Op>(), ptr::from_ref(&Op).cast())
    }

    /// Returns a random array of this shape in C order.
    fn random(dice: &mut Dice, shape: &[usize]) -> ArrayD<i32> {
        ArrayD::from_shape_fn(IxDyn(shape), |_| dice.below(1000) as i32)
    }

    /// The rolled array, by its definition.
    fn rolled(x: &ArrayD<i32>, shifts: &[usize]) -> ArrayD<i32> {
        ArrayD::from_shape_fn(x.raw_dim(), |index| {
            let from: Vec<usize> =
                (0..x.ndim()).map(|k| (index[k] + x.shape()[k] - shifts[k]) % x.shape()[k]).collect();
            x[&from[..]]
        })
    }

    #[test]
    fn rolled_operands_beside_operands_of_any_layout() {
        let mut dice = Dice(3);
        let (kernel, op) = kernel_of_op();
        for shape in [&[40][..], &[3, 40], &[2, 3, 33], &[1, 35]] {
            let (x, y) = (random(&mut dice, shape), random(&mut dice, shape));
            for other in [&shape[shape.len() - 1..], &[1], &[]] {
                let z = random(&mut dice, other);
                for z in layouts(&z) {
                    let shifts: Vec<usize> = shape.iter().map(|&len| dice.below(len)).collect();
                    let more: Vec<usize> = shape.iter().map(|&len| dice.below(len)).collect();
                    let (x, y) = (x.clone().into_shared(), y.clone().into_shared());
                    let views = [view(&x), view(&y), view(&z)];
                    // SAFETY: the operands have the dtype of the kernel, and the rows of `x` and `y` are contiguous.
                    let got = unsafe { run(kernel, op, &views, &[Some(&shifts), Some(&more), None]) };
                    let got: NdArray<i32> = i32::numpyish_typed(got.unwrap());
                    let (x, y) = (rolled(&x.to_owned(), &shifts), rolled(&y.to_owned(), &more));
                    assert_eq!(got, x - y * z, "{shape:?} {other:?} {shifts:?} {more:?}");
                }
            }
        }
    }

    #[test]
    fn results_over_operands_that_are_not_rolled() {
        let mut dice = Dice(5);
        let (kernel, op) = kernel_of_op();
        let (x, y) = (random(&mut dice, &[3, 40]).into_shared(), random(&mut dice, &[40]).into_shared());
        let z = random(&mut dice, &[3, 40]);
        let expected = rolled(&x.to_owned(), &[1, 39]) - &y * &z;
        let mut memory = z.into_raw_vec_and_offset().0;
        let start = memory.as_mut_ptr();
        let out = View { start: start.cast(), dtype: crate::DType::Int32, shape: &[3, 40], strides: &[40, 1] };
        let shifts: [Shifts<'_>; 3] = [Some(&[1, 39]), None, None];
        // SAFETY: the operands have the dtype of the kernel, the rows of `x` are contiguous, and only the third operand
        // has the memory of the result.
        assert!(unsafe { run_over(kernel, op, &[view(&x), view(&y), out], &shifts, out) });
        // a result never overwrites an operand that is rolled
        // SAFETY: as above, for the first operand.
        assert!(!unsafe { run_over(kernel, op, &[out, view(&y), view(&x)], &shifts, out) });
        let transposed = View { strides: &[1, 3], ..out };
        // SAFETY: as above, for the third operand.
        assert!(!unsafe { run_over(kernel, op, &[view(&x), view(&y), transposed], &shifts, transposed) });
        assert_eq!(memory, expected.into_raw_vec_and_offset().0);
    }

    #[test]
    fn short_rows_and_rows_with_gaps_need_a_copy() {
        let of = |shape: &[usize], strides: &[isize]| {
            takes(&View { start: ptr::null(), dtype: crate::DType::Float64, shape, strides })
        };
        assert!(of(&[MIN_ROW], &[1]) && of(&[2, 50], &[70, 1]));
        assert!(!of(&[MIN_ROW - 1], &[1]) && !of(&[50], &[2]) && !of(&[50], &[-1]) && !of(&[], &[]));
    }
}
