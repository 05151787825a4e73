//! `diff`: differences of neighbouring elements along an axis.

use super::super::{
    OpContext,
    buffer::Buffer,
    copy, manipulation,
    parallel::{self, CHEAP},
    raw::{RawArray, View},
    region::Region,
    simd::versions,
    typed::Change,
};
use backend_core::{Complex, DType, Numeric, Result, bf16, f16, rules};

/// Differences of neighbouring elements along one axis. With `n` of 2 or more, the differences of the differences are
/// taken, and so on, `n` times in total.
pub fn diff(
    on: OpContext<'_>,
    x: View<'_>,
    axis: isize,
    n: usize,
    prepend: Option<View<'_>>,
    append: Option<View<'_>>,
) -> Result<Change> {
    let op = on.op;
    let axis = rules::axis(op, axis, x.shape.len())?;
    let Some(longer) = with_edges(op, x, axis, prepend, append)? else {
        return Ok(differences(op, x, axis, n)?.map_or(Change::View(Vec::new()), Change::Copy));
    };
    let less = differences(op, longer.view(&longer.strides()), axis, n)?;
    Ok(Change::Copy(less.unwrap_or(longer)))
}

/// Concatenates `before`, `x` and `after`. Returns `None` if both `before` and `after` are `None`.
fn with_edges(
    op: &'static str,
    x: View<'_>,
    axis: usize,
    before: Option<View<'_>>,
    after: Option<View<'_>>,
) -> Result<Option<RawArray>> {
    let edge = |edge: View<'_>| Region::of(edge).broadcast(op, &rules::edge(op, x.shape, edge.shape, axis)?);
    let [before, after] = [before.map(edge).transpose()?, after.map(edge).transpose()?];
    if before.is_none() && after.is_none() {
        return Ok(None);
    }
    let parts: Vec<View<'_>> =
        before.iter().map(Region::view).chain([x]).chain(after.iter().map(Region::view)).collect();
    let shapes: Vec<&[usize]> = parts.iter().map(|part| part.shape).collect();
    let (axis, shape) = rules::joined(op, &shapes, axis as isize, x.dtype.size())?;
    manipulation::joined(op, shape, axis, &parts).map(Some)
}

/// Takes differences of neighbouring elements `n` times. Returns `None` if the result equals `x`, because `n` is 0.
fn differences(op: &'static str, x: View<'_>, axis: usize, n: usize) -> Result<Option<RawArray>> {
    let (left, times) = rules::differences(x.shape, axis, n);
    if left.contains(&0) {
        return RawArray::empty(op, left, x.dtype).map(Some);
    }
    if times == 0 { Ok(None) } else { repeated(op, x, axis, times).map(Some) }
}

/// Takes differences of neighbouring elements `n` times. `n` must be at least 1.
fn repeated(op: &'static str, x: View<'_>, axis: usize, n: usize) -> Result<RawArray> {
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
    use backend_core::dtype::Arithmetic::*;
    match dtype.arithmetic() {
        UInt8 => subtract::<u8>,
        UInt16 => subtract::<u16>,
        UInt32 => subtract::<u32>,
        UInt64 => subtract::<u64>,
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
    use super::super::typed::diff;
    use backend_core::numpyish::{
        Numpyish,
        testing::{counting, layouts},
    };
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
