//! Sums, extremes, means and scans, whose results do not depend on the number of threads.
//!
//! A `ReductionPlan` walks the array without knowing element types; a `Folding` has the typed loops. This module
//! chooses a `Folding` by dtype.

mod arg;
mod fold;
mod folding;
mod lanes;
mod moments;
mod order;
mod plan;
mod reading;
mod rows;
mod tile;

pub use arg::{argmax, argmax_of, argmin, argmin_of};
pub use rows::{FoldLoops, fold, fold_of};

use super::{
    OpContext,
    buffer::Buffer,
    convert::{Value, computed_in, conversion, convert, nonzero_bytes, sum_dtype},
    raw::{RawArray, View},
    source::Source,
};
use crate::{Axes, DType, Result, rules};
use folding::Folding;
use lanes::StridedLanes;
use plan::ReductionPlan;
use reading::Reading;

/// Sum over axes.
pub fn sum(_: OpContext<'_>, x: View<'_>, axis: Axes, keepdims: bool) -> Result<RawArray> {
    sum_of(x.into(), axis, keepdims)
}

/// Like `sum`, for an array or an unevaluated formula.
pub fn sum_of(x: Source<'_>, axis: Axes, keepdims: bool) -> Result<RawArray> {
    total("sum", x, axis, keepdims)
}

/// Tests whether any element along the axes is nonzero.
pub fn any(_: OpContext<'_>, x: View<'_>, axis: Axes, keepdims: bool) -> Result<RawArray> {
    any_of(x.into(), axis, keepdims)
}

/// Like `any`, for an array or an unevaluated formula.
pub fn any_of(x: Source<'_>, axis: Axes, keepdims: bool) -> Result<RawArray> {
    nonzero("any", x, axis, keepdims, folding::maxima, 0.0)
}

/// Tests whether all elements along the axes are nonzero.
pub fn all(_: OpContext<'_>, x: View<'_>, axis: Axes, keepdims: bool) -> Result<RawArray> {
    all_of(x.into(), axis, keepdims)
}

/// Like `all`, for an array or an unevaluated formula.
pub fn all_of(x: Source<'_>, axis: Axes, keepdims: bool) -> Result<RawArray> {
    nonzero("all", x, axis, keepdims, folding::minima, 1.0)
}

/// Largest element over axes.
pub fn max(_: OpContext<'_>, x: View<'_>, axis: Axes, keepdims: bool) -> Result<RawArray> {
    max_of(x.into(), axis, keepdims)
}

/// Like `max`, for an array or an unevaluated formula.
pub fn max_of(x: Source<'_>, axis: Axes, keepdims: bool) -> Result<RawArray> {
    extreme("max", x, axis, keepdims, folding::maxima)
}

/// Smallest element over axes.
pub fn min(_: OpContext<'_>, x: View<'_>, axis: Axes, keepdims: bool) -> Result<RawArray> {
    min_of(x.into(), axis, keepdims)
}

/// Like `min`, for an array or an unevaluated formula.
pub fn min_of(x: Source<'_>, axis: Axes, keepdims: bool) -> Result<RawArray> {
    extreme("min", x, axis, keepdims, folding::minima)
}

/// Arithmetic mean over axes.
pub fn mean(_: OpContext<'_>, x: View<'_>, axis: Axes, keepdims: bool) -> Result<RawArray> {
    mean_of(x.into(), axis, keepdims)
}

/// Like `mean`, for an array or an unevaluated formula.
pub fn mean_of(x: Source<'_>, axis: Axes, keepdims: bool) -> Result<RawArray> {
    moments::mean("mean", x, axis, keepdims)
}

/// Variance over axes.
pub fn var(_: OpContext<'_>, x: View<'_>, axis: Axes, correction: f64, keepdims: bool) -> Result<RawArray> {
    var_of(x.into(), axis, correction, keepdims)
}

/// Like `var`, for an array or an unevaluated formula. A formula is computed twice if that is cheaper than storing its
/// values.
pub fn var_of(x: Source<'_>, axis: Axes, correction: f64, keepdims: bool) -> Result<RawArray> {
    moments::variance("var", x, axis, correction, keepdims, false)
}

/// Standard deviation over axes.
pub fn std(_: OpContext<'_>, x: View<'_>, axis: Axes, correction: f64, keepdims: bool) -> Result<RawArray> {
    std_of(x.into(), axis, correction, keepdims)
}

/// Like `std`, for an array or an unevaluated formula. A formula is computed twice if that is cheaper than storing its
/// values.
pub fn std_of(x: Source<'_>, axis: Axes, correction: f64, keepdims: bool) -> Result<RawArray> {
    moments::variance("std", x, axis, correction, keepdims, true)
}

/// Folds all elements of a contiguous 1-D array of few elements, in the same order as a [`ReductionPlan`]. For so few
/// elements, making a plan would take longer than the fold. Returns `None` if the arguments describe another reduction.
fn of_few(
    op: &'static str,
    x: Source<'_>,
    axis: Axes,
    keepdims: bool,
    folding: fn(DType) -> &'static Folding,
) -> Option<Result<RawArray>> {
    let of = computed_in(sum_dtype(x.dtype));
    let few = x.shape.len() == 1 && (1..=order::BLOCK).contains(&x.shape[0]);
    let together = x.formula().is_none() && x.strides.first() == Some(&1);
    if !few || !together || keepdims || axis != Axes::All || x.dtype != of {
        return None;
    }
    let folded = |of| {
        let value = Buffer::new(op, 1, of)?;
        // SAFETY: the elements have the dtype of the folding, except that integers may differ in signedness, and the
        // buffer has room for a value.
        unsafe {
            let folding = folding(of);
            (folding.lanes)(&StridedLanes::one(x.start, x.shape[0], std::ptr::null(), value.start()));
            RawArray::new(op, Vec::new(), value)
        }
    };
    Some(folded(of))
}

fn plan(op: &'static str, x: Source<'_>, axis: Axes, keepdims: bool) -> Result<ReductionPlan> {
    Ok(ReductionPlan::new(op, x, &rules::reduction(op, axis, x.shape.len())?, keepdims))
}

/// A buffer with the same value for every output.
fn constant(plan: &ReductionPlan, dtype: DType, value: f64) -> Result<Buffer> {
    let values = Buffer::new(plan.op(), plan.outputs(), dtype)?;
    // SAFETY: the value has this dtype, and the buffer has room for `values.len()` values.
    unsafe { Value::from_f64(dtype, value).fill(dtype, values.start(), values.len()) };
    Ok(values)
}

/// Converts values to another dtype. Returns values that already have this dtype as they are.
fn converted(op: &'static str, values: Buffer, dtype: DType) -> Result<Buffer> {
    if conversion(values.dtype(), dtype).is_none() {
        return Ok(values);
    }
    let to = Buffer::new(op, values.len(), dtype)?;
    // SAFETY: both buffers have the same number of elements, and these dtypes.
    unsafe { convert(values.dtype(), dtype, values.start(), to.start(), values.len()) };
    Ok(to)
}

/// Folds the elements of `x` to one value per output. The values have the accumulator dtype of `folding`.
///
/// # Safety
/// `folding` must be for the dtype `of`, and `plan` and the operands `given` must be for `x`. There must be elements to
/// fold.
unsafe fn folded(
    plan: &ReductionPlan,
    x: Source<'_>,
    of: DType,
    folding: &Folding,
    given: Option<&Buffer>,
) -> Result<Buffer> {
    let reading = Reading::new(x, conversion(x.dtype, of), of.size());
    // SAFETY: the caller guarantees the folding, the plan and the operands.
    unsafe { plan.fold(&reading, folding, given) }
}

/// Sum over axes. 16-bit floats are added in `f32`, all other elements in the dtype of the result.
fn total(op: &'static str, x: Source<'_>, axis: Axes, keepdims: bool) -> Result<RawArray> {
    if let Some(value) = of_few(op, x, axis, keepdims, folding::sums) {
        return value;
    }
    let plan = plan(op, x, axis, keepdims)?;
    let result = sum_dtype(x.dtype);
    let values = if plan.inputs() == 0 {
        constant(&plan, result, 0.0)?
    } else {
        let of = computed_in(result);
        let (read, folding) = match x.dtype {
            DType::Bool => (DType::Bool, folding::ONES),
            _ => (of, folding::sums(of)),
        };
        // SAFETY: the folding is for the dtype that elements are read as. Integers may differ in signedness, but their
        // sums have the same bits.
        converted(op, unsafe { folded(&plan, x, read, folding, None)?.with_dtype(of) }, result)?
    };
    // SAFETY: every value has been written.
    unsafe { plan.array(values) }
}

/// Folds bytes that are 1 for nonzero elements and 0 for zeros. `identity` is the result if there are no elements.
fn nonzero(
    op: &'static str,
    x: Source<'_>,
    axis: Axes,
    keepdims: bool,
    folding: fn(DType) -> &'static Folding,
    identity: f64,
) -> Result<RawArray> {
    let plan = plan(op, x, axis, keepdims)?;
    let values = if plan.inputs() == 0 {
        constant(&plan, DType::Bool, identity)?
    } else {
        let convert = (x.dtype != DType::Bool).then(|| nonzero_bytes(x.dtype));
        let reading = Reading::new(x, convert, 1);
        // SAFETY: the bytes of bools and the bytes computed here are 0 or 1, and the folding is for bytes.
        unsafe { plan.fold_until(&reading, folding(DType::UInt8), (identity == 0.0).into())? }
    };
    // SAFETY: every value has been written, and is a bool: the largest or smallest of bytes that are 0 or 1.
    unsafe { plan.array(values.with_dtype(DType::Bool)) }
}

fn extreme(
    op: &'static str,
    x: Source<'_>,
    axis: Axes,
    keepdims: bool,
    folding: fn(DType) -> &'static Folding,
) -> Result<RawArray> {
    if let Some(value) = of_few(op, x, axis, keepdims, folding) {
        return value;
    }
    let axes = rules::reduction(op, axis, x.shape.len())?;
    rules::require_elements(op, x.shape, &axes)?;
    let plan = ReductionPlan::new(op, x, &axes, keepdims);
    if plan.outputs() == 0 {
        // SAFETY: there is nothing to write.
        return unsafe { plan.array(Buffer::new(op, 0, x.dtype)?) };
    }
    let of = computed_in(x.dtype);
    // SAFETY: the folding is for the dtype of computation, or for the bytes of bools. The result is one of the
    // elements.
    let values = converted(op, unsafe { folded(&plan, x, of, folding(of), None)?.with_dtype(of) }, x.dtype)?;
    // SAFETY: every value has been written.
    unsafe { plan.array(values) }
}

/// The ops over arrays with a static dtype, for tests.
#[cfg(any(test, feature = "testing"))]
#[allow(missing_docs)] // each function is the op of its name
pub mod typed {
    use crate::{Axes, numpyish::reduction};

    crate::typed_ops! { reduction:
        sum<T: Element>(x; axis: Axes, keepdims: bool) -> T::Sum;
        any<T: Element>(x; axis: Axes, keepdims: bool) -> bool;
        all<T: Element>(x; axis: Axes, keepdims: bool) -> bool;
        max<T: Ordered>(x; axis: Axes, keepdims: bool) -> T;
        min<T: Ordered>(x; axis: Axes, keepdims: bool) -> T;
        mean<T: Float>(x; axis: Axes, keepdims: bool) -> T;
        var<T: Float>(x; axis: Axes, correction: f64, keepdims: bool) -> T::Real;
        std<T: Float>(x; axis: Axes, correction: f64, keepdims: bool) -> T::Real;
        argmax<T: Ordered>(x; axis: Option<isize>, keepdims: bool) -> i64;
        argmin<T: Ordered>(x; axis: Option<isize>, keepdims: bool) -> i64;
    }
}

#[cfg(test)]
mod tests {
    use super::{
        rows::tests::{count_nonzero, prod},
        typed::{all, any, max, mean, min, std, sum, var},
        *,
    };
    use crate::{
        Complex, Element, Error, bf16, f16,
        numpyish::{
            NdArray, Numpyish,
            testing::{counting, layouts},
        },
    };
    use ndarray::{ArrayD, Axis, IxDyn};

    const B: Numpyish = Numpyish::new();

    /// All subsets of the axes of an array of `ndim` axes.
    fn axis_sets(ndim: usize) -> Vec<Vec<isize>> {
        (0..1 << ndim).map(|bits| (0..ndim as isize).filter(|a| bits >> a & 1 == 1).collect()).collect()
    }

    /// Computes a reference result: applies `f` to the elements of each output.
    fn naive<T: Element, U: Element>(
        x: &ArrayD<T>,
        axes: &[isize],
        f: impl Fn(&mut dyn Iterator<Item = T>) -> U,
    ) -> ArrayD<U> {
        let kept: Vec<usize> = (0..x.ndim()).filter(|a| !axes.contains(&(*a as isize))).collect();
        let order: Vec<usize> = kept.iter().copied().chain(axes.iter().map(|&a| a as usize)).collect();
        let shape: Vec<usize> = kept.iter().map(|&a| x.shape()[a]).collect();
        let n: usize = axes.iter().map(|&a| x.shape()[a as usize]).product();
        let lanes: Vec<T> = x.view().permuted_axes(order).iter().copied().collect();
        let outputs = shape.iter().product::<usize>();
        let values = (0..outputs).map(|o| f(&mut lanes[o * n..(o + 1) * n].iter().copied())).collect();
        ArrayD::from_shape_vec(IxDyn(&shape), values).unwrap()
    }

    const SHAPES: [&[usize]; 8] =
        [&[3, 4, 5], &[2, 300, 3], &[40, 2, 70], &[1100, 3], &[3, 1100], &[7], &[1, 5, 1], &[17, 33, 2]];

    #[test]
    fn integers_over_all_axes_and_layouts() {
        for shape in SHAPES {
            let x = counting::<i32>(shape).mapv(|i| i * 7919 % 101 - 50);
            for a in layouts(&x) {
                for axes in axis_sets(shape.len()) {
                    let by = || Axes::from(&axes[..]);
                    let what = format!("{shape:?} {axes:?} {:?}", a.strides());
                    assert_eq!(
                        sum(&B, &a, by(), false).unwrap(),
                        naive(&x, &axes, |v| v.map(i64::from).sum::<i64>()),
                        "{what}"
                    );
                    assert_eq!(max(&B, &a, by(), false).unwrap(), naive(&x, &axes, |v| v.max().unwrap()), "{what}");
                    assert_eq!(min(&B, &a, by(), false).unwrap(), naive(&x, &axes, |v| v.min().unwrap()), "{what}");
                    assert_eq!(
                        count_nonzero(&B, &a, by(), false).unwrap(),
                        naive(&x, &axes, |v| v.filter(|&i| i != 0).count() as i64),
                        "{what}"
                    );
                    assert_eq!(
                        any(&B, &a, by(), false).unwrap(),
                        naive(&x, &axes, |mut v| Iterator::any(&mut v, |i| i != 0)),
                        "{what}"
                    );
                    assert_eq!(
                        all(&B, &a, by(), false).unwrap(),
                        naive(&x, &axes, |mut v| Iterator::all(&mut v, |i| i != 0)),
                        "{what}"
                    );
                    let kept = sum(&B, &a, by(), true).unwrap();
                    let expected: Vec<usize> =
                        (0..shape.len()).map(|i| if axes.contains(&(i as isize)) { 1 } else { shape[i] }).collect();
                    assert_eq!(kept.shape(), expected);
                }
            }
        }
    }

    #[test]
    fn floats_over_all_axes_and_layouts() {
        for shape in SHAPES {
            let x = counting::<f64>(shape).mapv(|i| (i * 0.37).sin() + 0.5);
            let z = x.mapv(|v| Complex::new(v, 1.0 - v * v));
            for axes in axis_sets(shape.len()) {
                let by = || Axes::from(&axes[..]);
                for a in layouts(&x) {
                    let near = |got: NdArray<f64>, expected: ArrayD<f64>| {
                        assert_eq!(got.shape(), expected.shape());
                        got.iter()
                            .zip(&expected)
                            .for_each(|(g, e)| assert!((g - e).abs() <= 1e-11 * e.abs().max(1.0), "{g} {e}"));
                    };
                    let mean_of = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
                    near(mean(&B, &a, by(), false).unwrap(), naive(&x, &axes, |v| mean_of(&v.collect::<Vec<_>>())));
                    near(prod(&B, &a, by(), false).unwrap(), naive(&x, &axes, |v| v.product()));
                    let variance = |v: &mut dyn Iterator<Item = f64>| {
                        let v: Vec<f64> = v.collect();
                        let m = mean_of(&v);
                        v.iter().map(|x| (x - m) * (x - m)).sum::<f64>() / (v.len() as f64 + 0.5)
                    };
                    near(var(&B, &a, by(), -0.5, false).unwrap(), naive(&x, &axes, variance));
                    near(std(&B, &a, by(), -0.5, false).unwrap(), naive(&x, &axes, |v| variance(v).sqrt()));
                }
                for a in layouts(&z) {
                    let got = var(&B, &a, by(), 0.0, false).unwrap();
                    let expected = naive(&z, &axes, |v| {
                        let v: Vec<_> = v.collect();
                        let m = v.iter().sum::<Complex<f64>>() / v.len() as f64;
                        v.iter().map(|x| (x - m).norm_sqr()).sum::<f64>() / v.len() as f64
                    });
                    got.iter().zip(&expected).for_each(|(g, e)| assert!((g - e).abs() <= 1e-11, "{g} {e}"));
                }
            }
        }
    }

    /// The arrays are large enough for several threads, and their reductions have one output, few outputs, or many
    /// outputs.
    #[test]
    fn large_arrays() {
        for shape in [&[300_001][..], &[3, 100_003], &[100_003, 3], &[517, 601], &[40, 300, 31]] {
            let x =
                counting::<i64>(shape).mapv(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64) >> 40).into_shared();
            for axes in axis_sets(shape.len()) {
                let by = || Axes::from(&axes[..]);
                assert_eq!(sum(&B, &x, by(), false).unwrap(), naive(&x.to_owned(), &axes, |v| v.sum::<i64>()));
                assert_eq!(min(&B, &x, by(), false).unwrap(), naive(&x.to_owned(), &axes, |v| v.min().unwrap()));
            }
        }
    }

    /// Adding n equal numbers one by one would have a relative error of up to n / 2 times the precision.
    #[test]
    fn errors_of_sums_grow_slowly() {
        let n = 1 << 20;
        let x = ArrayD::from_elem(IxDyn(&[n]), 0.1_f32).into_shared();
        let error = |s: f32| (s as f64 / (n as f64 * 0.1_f32 as f64) - 1.0).abs();
        assert!(error(sum(&B, &x, Axes::All, false).unwrap()[[]]) < 1e-6);
        let tall = ArrayD::from_elem(IxDyn(&[n, 4]), 0.1_f32).into_shared();
        assert!(sum(&B, &tall, Axes::from(0), false).unwrap().iter().all(|&s| error(s) < 1e-5));
        let half = ArrayD::from_elem(IxDyn(&[4096]), f16::from_f32(0.1)).into_shared();
        assert_eq!(sum(&B, &half, Axes::All, false).unwrap()[[]], f16::from_f64(f16::from_f32(0.1).to_f64() * 4096.0));
        let brain = ArrayD::from_elem(IxDyn(&[3, 4096]), bf16::from_f32(0.1)).into_shared();
        let expected = bf16::from_f32(0.1);
        assert!(mean(&B, &brain, Axes::from(1), false).unwrap().iter().all(|&m| m == expected));
        assert!(std(&B, &brain, Axes::from(1), 0.0, false).unwrap().iter().all(|&s| s == bf16::ZERO));
    }

    /// One nonzero element decides the result at any index, for bools and for integers.
    #[test]
    fn one_element_decides_wherever_it_is() {
        for n in [1, 1023, 1024, 9000, 200_000, 1_000_003] {
            for place in [0, n / 3, n - 1] {
                let mut x = ArrayD::from_elem(IxDyn(&[n]), false);
                let found = |x: &ArrayD<bool>, step: isize| {
                    let x = x.to_shared().slice_move(ndarray::s![..;step]).into_dyn();
                    let not = x.mapv(|v| !v as i16).into_shared();
                    (any(&B, &x, Axes::All, false).unwrap()[[]], !all(&B, &not, Axes::All, true).unwrap()[[0]])
                };
                assert_eq!(found(&x, 1), (false, false));
                x[place] = true;
                assert_eq!(found(&x, 1), (true, true), "{place} of {n}");
                assert_eq!(found(&x, -1), (true, true), "{place} of {n}");
                let even = place % 2 == 0;
                assert_eq!(found(&x, 2), (even, even), "{place} of {n}");
            }
        }
    }

    #[test]
    fn truth_is_not_value() {
        let x = counting::<i64>(&[3, 50]).mapv(|i| i - 2).into_shared();
        assert_eq!(count_nonzero(&B, &x, Axes::All, false).unwrap()[[]], 149);
        assert_eq!(count_nonzero(&B, &x, Axes::from(0), false).unwrap()[[2]], 2);
        let bytes = ArrayD::from_elem(IxDyn(&[40]), 2_u8).into_shared();
        assert!(all(&B, &bytes, Axes::All, false).unwrap()[[]]);
    }

    #[test]
    fn nothing_to_reduce() {
        let none = ArrayD::<f64>::zeros(IxDyn(&[0, 3])).into_shared();
        assert_eq!(sum(&B, &none, Axes::from(0), false).unwrap(), ArrayD::zeros(IxDyn(&[3])));
        assert_eq!(prod(&B, &none, Axes::All, true).unwrap(), ArrayD::ones(IxDyn(&[1, 1])));
        assert_eq!(sum(&B, &none, Axes::from(1), false).unwrap().shape(), [0]);
        assert!(mean(&B, &none, Axes::All, false).unwrap()[[]].is_nan());
        assert!(var(&B, &none, Axes::All, 0.0, false).unwrap()[[]].is_nan());
        assert!(!any(&B, &none, Axes::All, false).unwrap()[[]] && all(&B, &none, Axes::All, false).unwrap()[[]]);
        assert_eq!(max(&B, &none, Axes::from(1), false).unwrap().shape(), [0]);
        assert_eq!(max(&B, &none, Axes::from(0), false).unwrap_err().op(), Some("max"));
        assert_eq!(min(&B, &none, Axes::All, false).unwrap_err().op(), Some("min"));
        assert!(matches!(sum(&B, &none, Axes::from(2), false), Err(Error::Axis { op: "sum", axis: 2, ndim: 2, .. })));
        let two = ndarray::arr1(&[1.0, 2.0]).into_dyn().into_shared();
        assert_eq!(var(&B, &two, Axes::All, 3.0, false).unwrap()[[]], f64::INFINITY);
        assert!(
            std(&B, &ndarray::arr1(&[1.0_f64]).into_dyn().into_shared(), Axes::All, 1.0, false).unwrap()[[]].is_nan()
        );
    }

    #[test]
    fn nan_and_negative_zero() {
        let mut x = ArrayD::from_elem(IxDyn(&[5, 70]), 1.0_f32);
        x[[3, 66]] = f32::NAN;
        for a in layouts(&x) {
            let by_row = max(&B, &a, Axes::from(1), false).unwrap();
            assert!(by_row.iter().enumerate().all(|(i, v)| v.is_nan() == (i == 3)));
            let by_column = min(&B, &a, Axes::from(0), false).unwrap();
            assert!(by_column.iter().enumerate().all(|(i, v)| v.is_nan() == (i == 66)));
        }
        let zeros = ArrayD::from_elem(IxDyn(&[9]), -0.0_f64).into_shared();
        assert!(sum(&B, &zeros, Axes::All, false).unwrap()[[]].is_sign_negative());
        assert!(any(&B, &x.clone().into_shared(), Axes::All, false).unwrap()[[]]);
    }

    #[test]
    fn broadcast_axes_count_every_time() {
        let row = counting::<f64>(&[1, 40]).into_shared();
        let wide = row.broadcast(IxDyn(&[500, 40])).unwrap();
        let wide: NdArray<f64> = wide.to_shared();
        let total = sum(&B, &wide, Axes::from(0), false).unwrap();
        assert_eq!(total, counting::<f64>(&[40]).mapv(|v| v * 500.0));
        assert_eq!(sum(&B, &wide, Axes::All, false).unwrap()[[]], 780.0 * 500.0);
        assert_eq!(total.len_of(Axis(0)), 40);
    }
}
