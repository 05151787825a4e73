//! `diff`: differences of neighbouring elements along an axis.

use super::super::{
    NdArray, Numpyish, OpContext,
    buffer::Buffer,
    copy,
    manipulation::{broadcast_to, concat},
    parallel::{self, CHEAP},
    raw::{RawArray, View, view},
    simd::versions,
    typed::{changed_by, typed},
};
use crate::{Complex, DType, Numeric, Result, bf16, f16, rules};

/// Differences of neighbouring elements along one axis. Differences are taken `n` times, each time of the previous
/// result.
pub fn diff<T: Numeric>(
    b: &Numpyish,
    x: &NdArray<T>,
    axis: isize,
    n: usize,
    prepend: Option<&NdArray<T>>,
    append: Option<&NdArray<T>>,
) -> Result<NdArray<T>> {
    let op = "diff";
    let axis = rules::axis(op, axis, x.ndim())?;
    let longer = with_edges(b, op, x, axis, prepend, append)?;
    let x = longer.as_ref().unwrap_or(x);
    let (left, times) = rules::differences(x.shape(), axis, n);
    if left.contains(&0) {
        return typed(RawArray::empty(op, left, T::DTYPE));
    }
    match times {
        0 => Ok(x.clone()),
        times => typed(differences(op, view(x), axis, times)),
    }
}

/// Concatenates `before`, `x` and `after`. Returns `None` if both `before` and `after` are `None`.
fn with_edges<T: Numeric>(
    b: &Numpyish,
    op: &'static str,
    x: &NdArray<T>,
    axis: usize,
    before: Option<&NdArray<T>>,
    after: Option<&NdArray<T>>,
) -> Result<Option<NdArray<T>>> {
    let shape = |edge: &NdArray<T>| rules::edge(op, x.shape(), edge.shape(), axis);
    // the shapes of `before` and `after` are checked before any memory is allocated
    let shapes = [before.map(shape).transpose()?, after.map(shape).transpose()?];
    let on = OpContext::new(b, op, T::DTYPE);
    let edge = |(edge, shape): (&NdArray<T>, &Vec<usize>)| changed_by(edge, broadcast_to(on, view(edge), shape));
    let before = before.zip(shapes[0].as_ref()).map(edge).transpose()?;
    let after = after.zip(shapes[1].as_ref()).map(edge).transpose()?;
    if before.is_none() && after.is_none() {
        return Ok(None);
    }
    let parts: Vec<View<'_>> = before.iter().chain([x]).chain(&after).map(view).collect();
    typed(concat(on, &parts, Some(axis as isize))).map(Some)
}

fn differences(op: &'static str, x: View<'_>, axis: usize, n: usize) -> Result<RawArray> {
    let mut shape = x.shape.to_vec();
    let packed = copy::pack(op, x)?;
    let mut out = difference(op, packed.start(), x.dtype, &mut shape, axis)?;
    for _ in 1..n {
        out = difference(op, out.start(), x.dtype, &mut shape, axis)?;
    }
    // SAFETY: every element has been written.
    unsafe { RawArray::new(op, shape, out) }
}

/// Differences of neighbouring elements along an axis of an array in C order. The axis must not be empty; its length in
/// `shape` decreases by one.
fn difference(op: &'static str, from: *const u8, dtype: DType, shape: &mut [usize], axis: usize) -> Result<Buffer> {
    let (subtract, size) = (subtraction(dtype), dtype.size());
    let inner: usize = shape[axis + 1..].iter().product();
    let before = shape[axis] * inner;
    shape[axis] -= 1;
    let after = shape[axis] * inner;
    let out = Buffer::new(op, rules::count(op, shape, size)?, dtype)?;
    if out.len() > 0 {
        let ends = copy::Ends { from, to: out.start() };
        // along the axis, an element and its neighbour are `inner` elements apart
        parallel::parallel(out.len() / after, (CHEAP / after).max(1), |slabs| {
            let ends = &ends;
            for slab in slabs {
                // SAFETY: the slab is within both arrays, and belongs to one task only.
                unsafe {
                    let from = ends.from.add(slab * before * size);
                    subtract(from.add(inner * size), from, ends.to.add(slab * after * size), after);
                }
            }
        });
    }
    Ok(out)
}

/// Writes `n` differences `x - y`.
type Subtract = unsafe fn(x: *const u8, y: *const u8, out: *mut u8, n: usize);

/// Chooses the loop for a dtype. Signed and unsigned integers share a loop, because their differences have the same
/// bits.
fn subtraction(dtype: DType) -> Subtract {
    use DType::*;
    match dtype {
        Bool | Int8 | UInt8 => subtract::<u8>,
        Int16 | UInt16 => subtract::<u16>,
        Int32 | UInt32 => subtract::<u32>,
        Int64 | UInt64 => subtract::<u64>,
        Float16 => subtract::<f16>,
        BFloat16 => subtract::<bf16>,
        Float32 => subtract::<f32>,
        Float64 => subtract::<f64>,
        Complex64 => subtract::<Complex<f32>>,
        Complex128 => subtract::<Complex<f64>>,
    }
}

versions! {
    unsafe fn subtract[T: Numeric][T](x: *const u8, y: *const u8, out: *mut u8, n: usize) {
        let (x, y, out) = (x.cast::<T>(), y.cast::<T>(), out.cast::<T>());
        for i in 0..n {
            // SAFETY: `x`, `y` and `out` have `n` elements.
            unsafe { *out.add(i) = (*x.add(i)).minus(*y.add(i)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numpyish::layout::tests::{counting, layouts};
    use ndarray::{ArrayD, Axis, IxDyn, Slice};

    const B: Numpyish = Numpyish::new();

    #[test]
    fn differences() {
        for shape in [&[3, 4, 5][..], &[2, 9], &[9], &[600, 300]] {
            let x = counting::<u16>(shape).mapv(|i| i.wrapping_mul(7919));
            for a in layouts(&x) {
                for axis in 0..shape.len() {
                    for n in 0..4 {
                        let mut expected = x.clone();
                        for _ in 0..n.min(shape[axis]) {
                            let low = expected.slice_axis(Axis(axis), Slice::from(..-1)).to_owned();
                            let high = expected.slice_axis(Axis(axis), Slice::from(1..)).to_owned();
                            expected = ndarray::Zip::from(&high).and(&low).map_collect(|h, l| h.wrapping_sub(*l));
                        }
                        assert_eq!(
                            diff(&B, &a, axis as isize, n, None, None).unwrap(),
                            expected,
                            "{shape:?} {axis} {n}"
                        );
                    }
                }
            }
        }
        let x = counting::<f64>(&[4]).into_shared();
        assert_eq!(diff(&B, &x, 0, usize::MAX, None, None).unwrap().shape(), [0]);
        let scalar = ArrayD::<f64>::zeros(IxDyn(&[])).into_shared();
        assert_eq!(diff(&B, &scalar, -1, 1, None, None).unwrap_err().op(), Some("diff"));
    }
}
