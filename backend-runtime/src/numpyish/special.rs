//! Interpolation.

use super::{
    NdArray, Numpyish,
    buffer::{self, COSTLY},
};
use crate::{Error, Precision, Result};

/// Linear interpolation of the points (xp, fp) at x.
pub fn interp<T: Precision>(
    _: &Numpyish,
    x: &NdArray<T>,
    xp: &NdArray<T>,
    fp: &NdArray<T>,
    left: Option<f64>,
    right: Option<f64>,
) -> Result<NdArray<T>> {
    const OP: &str = "interp";
    if xp.ndim() != 1 || fp.ndim() != 1 || xp.len() != fp.len() {
        return Err(Error::shapes(OP, xp.shape(), fp.shape()));
    }
    let (xp, fp, at) = (buffer::packed(OP, xp)?, buffer::packed(OP, fp)?, buffer::packed(OP, x)?);
    let (Some(&first), Some(&last)) = (fp.first(), fp.last()) else {
        return Err(Error::shape(OP, &[0], "there are no points to interpolate"));
    };
    let (left, right) = (left.map_or(first, T::of), right.map_or(last, T::of));
    let mut y = buffer::vec::<T>(OP, at.len())?;
    y.resize(at.len(), T::ZERO);
    buffer::chunks(&mut y, 1, COSTLY, |start, part| {
        for (y, &x) in part.iter_mut().zip(&at[start..]) {
            *y = point(x, &xp, &fp, left, right);
        }
    });
    buffer::array(OP, x.shape(), y)
}

/// One point, with NumPy's care: the end points are exact, and a slope that makes NaN is taken from the other end.
fn point<T: Precision>(x: T, xp: &[T], fp: &[T], left: T, right: T) -> T {
    if x.is_nan() {
        return x;
    }
    let n = xp.len();
    // the number of points at or before x
    let after = xp.partition_point(|&p| p <= x);
    if after == 0 {
        return left;
    }
    let j = after - 1;
    if j == n - 1 {
        return if x == xp[j] { fp[j] } else { right };
    }
    if x == xp[j] {
        return fp[j];
    }
    let slope = (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j]);
    let y = slope * (x - xp[j]) + fp[j];
    if !y.is_nan() {
        return y;
    }
    let y = slope * (x - xp[j + 1]) + fp[j + 1];
    if y.is_nan() && fp[j] == fp[j + 1] { fp[j] } else { y }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{arr0, arr1, arr2};

    fn at(x: f64, xp: &[f64], fp: &[f64], left: Option<f64>) -> Result<f64> {
        let b = Numpyish::new();
        let dynamic = |v: &[f64]| arr1(v).into_dyn().into_shared();
        interp(&b, &arr0(x).into_dyn().into_shared(), &dynamic(xp), &dynamic(fp), left, None).map(|y| y[[]])
    }

    #[test]
    fn ends_and_between() {
        let (xp, fp) = ([1.0, 2.0, 4.0], [10.0, 20.0, 0.0]);
        for (x, y) in [(0.0, 10.0), (1.0, 10.0), (1.5, 15.0), (2.0, 20.0), (3.0, 10.0), (4.0, 0.0), (9.0, 0.0)] {
            assert_eq!(at(x, &xp, &fp, None), Ok(y), "{x}");
        }
        assert_eq!(at(0.0, &xp, &fp, Some(-1.0)), Ok(-1.0));
        assert!(at(f64::NAN, &xp, &fp, None).unwrap().is_nan());
        assert_eq!(at(5.0, &[1.0], &[7.0], None), Ok(7.0));
    }

    #[test]
    fn infinite_values_do_not_make_nan_where_numpy_has_none() {
        assert_eq!(at(1.5, &[1.0, 2.0], &[f64::INFINITY, f64::INFINITY], None), Ok(f64::INFINITY));
    }

    #[test]
    fn bad_points_are_errors() {
        assert!(at(0.0, &[], &[], None).is_err());
        assert!(at(0.0, &[1.0], &[1.0, 2.0], None).is_err());
        let (b, m) = (Numpyish::new(), arr2(&[[1.0]]).into_dyn().into_shared());
        assert!(interp(&b, &m, &m, &m, None, None).is_err());
    }
}
