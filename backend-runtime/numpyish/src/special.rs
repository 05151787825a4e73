//! Linear interpolation. The module `softmax` has `softmax` and related ops.

mod softmax;

pub use softmax::{log_softmax, logsumexp, softmax};

use super::{
    OpContext,
    buffer::Buffer,
    copy,
    parallel::{self, COSTLY},
    raw::{RawArray, View},
};
use backend_core::{DType, Precision, Result, rules};

/// Interpolates linearly between the points (xp, fp), at each element of `x`. `xp` must increase. The result is `left`
/// before the first point and `right` after the last point. By default, `left` is the value of the first point, and
/// `right` is the value of the last point.
///
/// Computes in `f64`, like NumPy, and rounds once.
pub fn interp(
    _: OpContext<'_>,
    x: View<'_>,
    xp: View<'_>,
    fp: View<'_>,
    left: Option<f64>,
    right: Option<f64>,
) -> Result<RawArray> {
    match x.dtype {
        DType::Float32 => interpolated::<f32>(x, xp, fp, left, right),
        _ => interpolated::<f64>(x, xp, fp, left, right),
    }
}

fn interpolated<T: Precision>(
    x: View<'_>,
    xp: View<'_>,
    fp: View<'_>,
    left: Option<f64>,
    right: Option<f64>,
) -> Result<RawArray> {
    let op = "interp";
    let n = rules::interpolated(op, xp.shape, fp.shape)?;
    let (at, values, from) = (copy::pack(op, xp)?, copy::pack(op, fp)?, copy::pack(op, x)?);
    // SAFETY: the packed arrays have elements of type `T`, and these are their numbers of elements.
    let (at, values, from) = unsafe { (at.slice::<T>(n), values.slice::<T>(n), from.slice::<T>(x.len())) };
    let left = left.unwrap_or(values[0].to_f64());
    let right = right.unwrap_or(values[n - 1].to_f64());
    let out = Buffer::new(op, rules::count(op, x.shape, size_of::<T>())?, T::DTYPE)?;
    let ends = copy::Ends { from: from.as_ptr(), to: out.start().cast::<T>() };
    parallel::parallel(out.len(), COSTLY, |range| {
        let ends = &ends;
        for i in range {
            // SAFETY: the index lies in both arrays, and tasks write different elements.
            unsafe { *ends.to.add(i) = T::of(at_point((*ends.from.add(i)).to_f64(), at, values, left, right)) };
        }
    });
    // SAFETY: every element has been written.
    unsafe { RawArray::new(op, x.shape.to_vec(), out) }
}

fn at_point<T: Precision>(x: f64, xp: &[T], fp: &[T], left: f64, right: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    // the number of points at or before `x`
    let n = xp.partition_point(|p| p.to_f64() <= x);
    if n == 0 {
        return left;
    }
    let (x0, f0) = (xp[n - 1].to_f64(), fp[n - 1].to_f64());
    if n == xp.len() {
        return if x > x0 { right } else { f0 };
    }
    if x == x0 {
        return f0; // exact even if the slope is not finite
    }
    let (x1, f1) = (xp[n].to_f64(), fp[n].to_f64());
    let slope = (f1 - f0) / (x1 - x0);
    let from_left = slope * (x - x0) + f0;
    if !from_left.is_nan() {
        return from_left;
    }
    let from_right = slope * (x - x1) + f1;
    if from_right.is_nan() && f0 == f1 { f0 } else { from_right }
}

/// The ops over arrays with a static dtype, for tests.
#[cfg(any(test, feature = "testing"))]
#[allow(missing_docs)] // each function is the op of its name
pub mod typed {
    use crate::special;
    use backend_core::Axes;

    backend_core::typed_ops! { special:
        softmax<T: Real>(x; axis: Axes) -> T;
        log_softmax<T: Real>(x; axis: Axes) -> T;
        logsumexp<T: Real>(x; axis: Axes, keepdims: bool) -> T;
        interp<T: Precision>(x, xp, fp; left: Option<f64>, right: Option<f64>) -> T;
    }
}

#[cfg(test)]
mod tests {
    use super::typed::interp;
    use backend_core::{
        Error,
        numpyish::{NdArray, Numpyish, testing::layouts},
    };
    use ndarray::{ArrayD, IxDyn, arr1};

    const B: Numpyish = Numpyish::new();

    fn a(values: &[f64]) -> NdArray<f64> {
        arr1(values).into_dyn().into_shared()
    }

    fn run(x: &[f64], xp: &[f64], fp: &[f64], left: Option<f64>, right: Option<f64>) -> Vec<f64> {
        interp(&B, &a(x), &a(xp), &a(fp), left, right).unwrap().iter().copied().collect()
    }

    #[test]
    fn between_points_and_beyond_them() {
        let (xp, fp) = ([0.0, 1.0, 3.0], [10.0, 20.0, 0.0]);
        assert_eq!(
            run(&[-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0], &xp, &fp, None, None),
            [10.0, 10.0, 15.0, 20.0, 10.0, 0.0, 0.0]
        );
        assert_eq!(run(&[-1.0, 3.0, 4.0], &xp, &fp, Some(-7.0), Some(7.0)), [-7.0, 0.0, 7.0]);
        assert_eq!(run(&[0.0, 1.0, 2.0], &[1.0], &[5.0], Some(1.0), Some(9.0)), [1.0, 5.0, 9.0]);
        assert!(run(&[f64::NAN], &xp, &fp, None, None)[0].is_nan());
    }

    /// The expected values come from NumPy.
    #[test]
    fn infinite_points() {
        let x = [f64::INFINITY, f64::NEG_INFINITY, 0.0, 2.0, 1.5];
        let got = run(&x, &[0.0, 1.0, 2.0], &[1.0, f64::INFINITY, 3.0], None, None);
        assert_eq!(got, [3.0, 1.0, 1.0, 3.0, f64::INFINITY]);
        assert_eq!(run(&[0.5], &[0.0, f64::INFINITY], &[2.0, 2.0], None, None), [2.0]);
    }

    #[test]
    fn every_layout_and_many_points() {
        let x = ArrayD::from_shape_fn(IxDyn(&[70, 300]), |i| ((i[0] * 300 + i[1]) % 977) as f64 / 100.0);
        let expected = x.mapv(|v| 3.0 * v - 1.0);
        let xp: Vec<f64> = (0..=100).map(f64::from).collect();
        let fp: Vec<f64> = xp.iter().map(|v| 3.0 * v - 1.0).collect();
        for x in layouts(&x) {
            let got = interp(&B, &x, &a(&xp), &a(&fp), None, None).unwrap();
            assert!(got.iter().zip(&expected).all(|(g, e)| (g - e).abs() < 1e-12));
        }
    }

    #[test]
    fn what_is_refused() {
        let none = a(&[]);
        let two = ArrayD::<f64>::zeros(IxDyn(&[2, 1])).into_shared();
        assert!(matches!(interp(&B, &none, &none, &none, None, None), Err(Error::Shape { op: "interp", .. })));
        assert!(matches!(interp(&B, &none, &two, &two, None, None), Err(Error::Shapes { op: "interp", .. })));
        assert!(interp(&B, &none, &a(&[1.0]), &a(&[1.0, 2.0]), None, None).is_err());
        assert_eq!(interp(&B, &none, &a(&[1.0]), &a(&[1.0]), None, None).unwrap().shape(), [0]);
        // points that are not in order give an unspecified result, but no panic
        assert_eq!(run(&[0.5, 5.0], &[3.0, f64::NAN, 1.0], &[1.0, 2.0, 3.0], None, None).len(), 2);
    }
}
