//! Sums, extremes, means, scans: our own loops, the results of which do not depend on the number of threads.

mod arg;
mod fold;
mod plan;
mod quantile;
mod scan;

pub use arg::{argmax, argmin};
pub use quantile::quantile;
pub use scan::{cumulative_prod, cumulative_sum, diff};

use super::{
    NdArray, Numpyish, buffer,
    convert::{converted, is_half},
};
use crate::{Axes, Element, Error, Float, Numeric, Ordered, Real, Result};
use fold::{Fold, Max, Min, Product, Spread, Sum};
use plan::Plan;

/// Sum over axes.
pub fn sum<T: Element>(_: &Numpyish, x: &NdArray<T>, axis: Axes, keepdims: bool) -> Result<NdArray<T::Sum>> {
    accumulate::<T, Sum>("sum", x, axis, keepdims, T::Sum::ZERO)
}

/// Product over axes.
pub fn prod<T: Element>(_: &Numpyish, x: &NdArray<T>, axis: Axes, keepdims: bool) -> Result<NdArray<T::Sum>> {
    accumulate::<T, Product>("prod", x, axis, keepdims, T::Sum::ONE)
}

/// How many elements are true, over axes.
pub fn count_nonzero<T: Element>(_: &Numpyish, x: &NdArray<T>, axis: Axes, keepdims: bool) -> Result<NdArray<i64>> {
    let source = plan::mapped(x, |x: T| x.truth() as i64);
    let plan = plan("count_nonzero", x, axis, keepdims)?;
    let counts = if plan.inputs() == 0 { zeros(&plan, 0)? } else { plan.fold::<i64, Sum>(&source, &[])? };
    plan.array(counts)
}

/// Whether any element is true, over axes.
pub fn any<T: Element>(_: &Numpyish, x: &NdArray<T>, axis: Axes, keepdims: bool) -> Result<NdArray<bool>> {
    truth::<T, Max>("any", x, axis, keepdims, false)
}

/// Whether all elements are true, over axes.
pub fn all<T: Element>(_: &Numpyish, x: &NdArray<T>, axis: Axes, keepdims: bool) -> Result<NdArray<bool>> {
    truth::<T, Min>("all", x, axis, keepdims, true)
}

/// The largest element, over axes.
pub fn max<T: Ordered>(_: &Numpyish, x: &NdArray<T>, axis: Axes, keepdims: bool) -> Result<NdArray<T>> {
    extreme::<T, Max>("max", x, axis, keepdims)
}

/// The smallest element, over axes.
pub fn min<T: Ordered>(_: &Numpyish, x: &NdArray<T>, axis: Axes, keepdims: bool) -> Result<NdArray<T>> {
    extreme::<T, Min>("min", x, axis, keepdims)
}

/// Arithmetic mean over axes.
pub fn mean<T: Float>(_: &Numpyish, x: &NdArray<T>, axis: Axes, keepdims: bool) -> Result<NdArray<T>> {
    let plan = plan("mean", x, axis, keepdims)?;
    if is_half::<T>() {
        plan.array(converted("mean", means::<T, f32>(&plan, x)?)?)
    } else {
        plan.array(means::<T, T>(&plan, x)?)
    }
}

/// Variance over axes.
pub fn var<T: Float>(
    _: &Numpyish,
    x: &NdArray<T>,
    axis: Axes,
    correction: f64,
    keepdims: bool,
) -> Result<NdArray<T::Real>> {
    spread("var", x, axis, correction, keepdims, |variance| variance)
}

/// Standard deviation over axes.
pub fn std<T: Float>(
    _: &Numpyish,
    x: &NdArray<T>,
    axis: Axes,
    correction: f64,
    keepdims: bool,
) -> Result<NdArray<T::Real>> {
    spread("std", x, axis, correction, keepdims, f64::sqrt)
}

fn plan<T: Element>(op: &'static str, x: &NdArray<T>, axis: Axes, keepdims: bool) -> Result<Plan> {
    Ok(Plan::new(op, x, &axis.resolve(op, x.ndim())?, keepdims))
}

/// One value for every output.
fn zeros<A: Element>(plan: &Plan, value: A) -> Result<Vec<A>> {
    let mut v = buffer::vec(plan.op(), plan.outputs())?;
    v.resize(plan.outputs(), value);
    Ok(v)
}

/// A sum or product, in `f32` for 16-bit floats, else in the dtype of the result.
fn accumulate<T: Element, F>(
    op: &'static str,
    x: &NdArray<T>,
    axis: Axes,
    keepdims: bool,
    of_none: T::Sum,
) -> Result<NdArray<T::Sum>>
where
    F: Fold<f32, Acc = f32> + Fold<T::Sum, Acc = T::Sum>,
{
    let plan = plan(op, x, axis, keepdims)?;
    if plan.inputs() == 0 {
        plan.array(zeros(&plan, of_none)?)
    } else if is_half::<T>() {
        let wide = plan.fold::<f32, F>(&plan::cast::<T, f32>(x), &[])?;
        plan.array(converted(op, wide)?)
    } else {
        plan.array(plan.fold::<T::Sum, F>(&plan::cast::<T, T::Sum>(x), &[])?)
    }
}

fn truth<T: Element, F>(
    op: &'static str,
    x: &NdArray<T>,
    axis: Axes,
    keepdims: bool,
    of_none: bool,
) -> Result<NdArray<bool>>
where
    F: Fold<u8, Acc = u8>,
{
    let plan = plan(op, x, axis, keepdims)?;
    if plan.inputs() == 0 {
        return plan.array(zeros(&plan, of_none)?);
    }
    let source = plan::mapped(x, |x: T| x.truth() as u8);
    plan.array(converted(op, plan.fold::<u8, F>(&source, &[])?)?)
}

fn extreme<T: Ordered, F>(op: &'static str, x: &NdArray<T>, axis: Axes, keepdims: bool) -> Result<NdArray<T>>
where
    F: Fold<f32, Acc = f32> + Fold<T, Acc = T>,
{
    let plan = plan(op, x, axis, keepdims)?;
    if plan.outputs() == 0 {
        return plan.array(Vec::new());
    }
    if plan.inputs() == 0 {
        return Err(Error::shape(op, x.shape(), "has no elements to choose from"));
    }
    if is_half::<T>() {
        let wide = plan.fold::<f32, F>(&plan::cast::<T, f32>(x), &[])?;
        plan.array(converted(op, wide)?)
    } else {
        plan.array(plan.fold::<T, F>(&plan::cast::<T, T>(x), &[])?)
    }
}

/// The means of all outputs, computed in `A`.
fn means<T: Element, A: Float>(plan: &Plan, x: &NdArray<T>) -> Result<Vec<A>> {
    if plan.inputs() == 0 {
        return zeros(plan, A::from_f64(f64::NAN));
    }
    let mut sums = plan.fold::<A, Sum>(&plan::cast::<T, A>(x), &[])?;
    let n = A::from_f64(plan.inputs() as f64);
    sums.iter_mut().for_each(|s| *s = s.over(n));
    Ok(sums)
}

/// Sums of squared distances from the mean, divided by n - correction, then `last`.
fn spread<T: Float>(
    op: &'static str,
    x: &NdArray<T>,
    axis: Axes,
    correction: f64,
    keepdims: bool,
    last: impl Fn(f64) -> f64,
) -> Result<NdArray<T::Real>> {
    let plan = plan(op, x, axis, keepdims)?;
    let over = (plan.inputs() as f64 - correction).max(0.0);
    if is_half::<T>() {
        finish_spread::<T, f32>(&plan, x, over, last)
    } else {
        finish_spread::<T, T>(&plan, x, over, last)
    }
}

fn finish_spread<T: Float, A: Float>(
    plan: &Plan,
    x: &NdArray<T>,
    over: f64,
    last: impl Fn(f64) -> f64,
) -> Result<NdArray<T::Real>> {
    let squares = if plan.inputs() == 0 {
        zeros(plan, A::Real::ZERO)?
    } else {
        plan.fold::<A, Spread>(&plan::cast::<T, A>(x), &means::<T, A>(plan, x)?)?
    };
    let mut out = buffer::vec(plan.op(), squares.len())?;
    out.extend(squares.iter().map(|s| T::Real::of(last(s.to_f64() / over))));
    plan.array(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Complex, bf16, f16,
        numpyish::layout::tests::{counting, layouts},
    };
    use ndarray::{ArrayD, Axis, IxDyn};

    const B: Numpyish = Numpyish::new();

    /// Every set of axes of an array of three or fewer.
    fn axis_sets(ndim: usize) -> Vec<Vec<isize>> {
        (0..1 << ndim).map(|bits| (0..ndim as isize).filter(|a| bits >> a & 1 == 1).collect()).collect()
    }

    /// Folds axis by axis, one element at a time.
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

    /// Sizes above the thresholds of threads: one output, few outputs, many.
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

    /// The largest relative error of a sum of n equal numbers added one by one would be n / 2 times the precision.
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

    /// Dtypes that truth is counted in have values other than 0 and 1.
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
        assert!(matches!(sum(&B, &none, Axes::from(2), false), Err(Error::Axis { op: "sum", axis: 2, ndim: 2 })));
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
