//! Comparison of a result with the reference.

use super::{Values, accuracy::Tolerance, data::REGENERATE};
use backend_runtime::{Complex, DType, DTypeKind, Element, Numeric, bf16, f16};
use std::fmt::{Display, Write};

/// Maximum number of elements in a message.
const SHOWN: usize = 4;

/// Describes the difference between `got` and `expected`; `None` if it is within the tolerance. With `any_zero`, 0.0
/// and -0.0 are equal.
pub(crate) fn difference(got: &Values, expected: &Values, tolerance: Tolerance, any_zero: bool) -> Option<String> {
    difference_beside(got, expected, tolerance, any_zero, 0.0)
}

/// Like [`difference`], but relative errors are relative to `scale` if `scale` exceeds the largest element.
pub(crate) fn difference_beside(
    got: &Values,
    expected: &Values,
    tolerance: Tolerance,
    any_zero: bool,
    scale: f64,
) -> Option<String> {
    let lengths_differ = match tolerance {
        Tolerance::Ndim => got.shape.len() != expected.shape.len(),
        _ => got.shape != expected.shape,
    };
    if got.dtype != expected.dtype || lengths_differ {
        let (g, e) = (got, expected);
        return Some(format!("a {} array of shape {:?} instead of {} of {:?}", g.dtype, g.shape, e.dtype, e.shape));
    }
    if matches!(tolerance, Tolerance::Shape | Tolerance::Ndim) {
        return None;
    }
    if expected.bytes.is_none() {
        return Some(format!("the data hold no elements: {REGENERATE}"));
    }
    match got.dtype {
        DType::Bool => integers::<bool>(got, expected),
        DType::Int8 => integers::<i8>(got, expected),
        DType::Int16 => integers::<i16>(got, expected),
        DType::Int32 => integers::<i32>(got, expected),
        DType::Int64 => integers::<i64>(got, expected),
        DType::UInt8 => integers::<u8>(got, expected),
        DType::UInt16 => integers::<u16>(got, expected),
        DType::UInt32 => integers::<u32>(got, expected),
        DType::UInt64 => integers::<u64>(got, expected),
        DType::Float16 => floats::<f16>(got, expected, tolerance, any_zero, scale),
        DType::BFloat16 => floats::<bf16>(got, expected, tolerance, any_zero, scale),
        DType::Float32 => floats::<f32>(got, expected, tolerance, any_zero, scale),
        DType::Float64 => floats::<f64>(got, expected, tolerance, any_zero, scale),
        DType::Complex64 => floats::<Complex<f32>>(got, expected, tolerance, any_zero, scale),
        DType::Complex128 => floats::<Complex<f64>>(got, expected, tolerance, any_zero, scale),
        other => Some(format!("{other} cannot be compared")),
    }
}

fn integers<T: Element>(got: &Values, expected: &Values) -> Option<String> {
    report(got, expected, |g: T, e: T| if g == e { None } else { Some(String::new()) })
}

/// A real or complex dtype: its values convert exactly to double precision, and their distances are measured in ulps
/// (units in the last place).
trait Wide: Element {
    /// Converts exactly to double precision; reals get the imaginary part 0.
    fn wide(self) -> Complex<f64>;

    /// Distance from the reference value `expected`, in units in the last place of `expected`. Infinity counts as one
    /// unit beyond the largest value.
    fn ulps(self, expected: Self) -> f64;
}

macro_rules! wide_real {
    ($($t:ty)*) => {$(
        impl Wide for $t {
            fn wide(self) -> Complex<f64> {
                Complex::new(self.into(), 0.0)
            }

            fn ulps(self, expected: $t) -> f64 {
                // the magnitudes of floats have the same order as their bits, read as integers
                let order = |x: $t| {
                    let magnitude = i128::from(Numeric::abs(x).to_bits());
                    if x.is_sign_negative() { -magnitude } else { magnitude }
                };
                match self.is_nan() || expected.is_nan() {
                    true => f64::INFINITY,
                    false => (order(self) - order(expected)).abs() as f64,
                }
            }
        }
    )*};
}
wide_real!(f16 bf16 f32 f64);

macro_rules! wide_complex {
    ($($t:ident)*) => {$(
        impl Wide for Complex<$t> {
            fn wide(self) -> Complex<f64> {
                Complex::new(self.re.into(), self.im.into())
            }

            fn ulps(self, expected: Self) -> f64 {
                let smallest = f64::from($t::from_bits(1));
                let unit = f64::from($t::EPSILON) * magnitude(expected.wide());
                magnitude(self.wide() - expected.wide()) / unit.max(smallest)
            }
        }
    )*};
}
wide_complex!(f32 f64);

fn floats<T: Wide>(
    got: &Values,
    expected: &Values,
    tolerance: Tolerance,
    any_zero: bool,
    scale: f64,
) -> Option<String> {
    let complex = T::DTYPE.kind() == DTypeKind::Complex;
    let magnitudes = expected.elements::<T>()?.into_iter().map(|x| magnitude(x.wide()));
    let largest = magnitudes.filter(|x| x.is_finite()).fold(0.0, f64::max);
    let (largest, of) = if scale > largest { (scale, "term") } else { (largest, "element") };
    report(got, expected, |got: T, expected: T| {
        let (g, e) = (got.wide(), expected.wide());
        if complex && tolerance != Tolerance::Exact && !e.is_finite() {
            // C99 and NumPy do not specify which part of a non-finite complex number is infinite and which is NaN
            return (g.is_finite()).then(|| ", which is finite".into());
        }
        match tolerance {
            // the sign of zero is guaranteed only for reals
            Tolerance::Exact | Tolerance::Ulp(_) if same(g, e, any_zero) => None,
            Tolerance::Exact => Some(format!(", off by {} ulp", got.ulps(expected))),
            Tolerance::Ulp(ulp) if complex || g != e => {
                let off = got.ulps(expected);
                (off > ulp).then(|| format!(", off by {off:.1} ulp, allowed {ulp}"))
            }
            Tolerance::Ulp(_) => Some(", which is zero with the other sign".into()),
            Tolerance::Relative(rtol) => {
                let off = magnitude(g - e) / largest.max(f64::MIN_POSITIVE);
                let fits = same(g, e, true) || off <= rtol;
                (!fits).then(|| format!(", off by {off:.3e} of the largest {of}, allowed {rtol:.3e}"))
            }
            Tolerance::Shape | Tolerance::Ndim => None,
        }
    })
}

/// Largest distance of an element from its reference, in units in the last place, over the elements that are finite in
/// both arrays; `None` if the dtype is not a float, or if the shapes or dtypes differ.
pub(crate) fn farthest(got: &Values, expected: &Values) -> Option<f64> {
    fn of<T: Wide>(got: &Values, expected: &Values) -> Option<f64> {
        let (got, expected) = (got.elements::<T>()?, expected.elements::<T>()?);
        let finite = |(g, e): &(T, T)| g.wide().is_finite() && e.wide().is_finite();
        Some(got.into_iter().zip(expected).filter(finite).map(|(g, e)| g.ulps(e)).fold(0.0, f64::max))
    }
    if (got.dtype, &got.shape) != (expected.dtype, &expected.shape) {
        return None;
    }
    match got.dtype {
        DType::Float16 => of::<f16>(got, expected),
        DType::BFloat16 => of::<bf16>(got, expected),
        DType::Float32 => of::<f32>(got, expected),
        DType::Float64 => of::<f64>(got, expected),
        DType::Complex64 => of::<Complex<f32>>(got, expected),
        DType::Complex128 => of::<Complex<f64>>(got, expected),
        _ => None,
    }
}

fn magnitude(x: Complex<f64>) -> f64 {
    x.re.hypot(x.im)
}

/// Returns whether the real parts are equal and the imaginary parts are equal. NaN equals NaN; with `any_zero`, 0.0
/// equals -0.0.
fn same(g: Complex<f64>, e: Complex<f64>, any_zero: bool) -> bool {
    let part = |g: f64, e: f64| {
        (g.is_nan() && e.is_nan()) || (g == e && (any_zero || g.is_sign_negative() == e.is_sign_negative()))
    };
    part(g.re, e.re) && part(g.im, e.im)
}

/// Compares element by element, and reports the first few elements for which `wrong` returns a reason.
fn report<T: Element + Display>(
    got: &Values,
    expected: &Values,
    wrong: impl Fn(T, T) -> Option<String>,
) -> Option<String> {
    let (g, e) = (got.elements::<T>()?, expected.elements::<T>()?);
    let bad: Vec<_> =
        g.iter().zip(&e).enumerate().filter_map(|(i, (&g, &e))| wrong(g, e).map(|why| (i, g, e, why))).collect();
    let mut text = match bad.len() {
        0 => return None,
        n => format!("{n} of {} elements:", g.len()),
    };
    for (i, g, e, why) in bad.iter().take(SHOWN) {
        let index = unravel(*i, &got.shape);
        let _ = write!(text, "\n    {index:?}: expected {e:?}, got {g:?}{why}");
    }
    if bad.len() > SHOWN {
        text += "\n    ..";
    }
    Some(text)
}

/// The multi-dimensional index of an element, from its flat index in C order.
fn unravel(mut place: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (i, &length) in shape.iter().enumerate().rev() {
        index[i] = place % length.max(1);
        place /= length.max(1);
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values<T: Element>(x: &[T]) -> Values {
        Values::of(&ndarray::arr1(x).into_dyn().into_shared())
    }

    fn differ<T: Element>(got: &[T], expected: &[T], tolerance: Tolerance) -> Option<String> {
        difference(&values(got), &values(expected), tolerance, false)
    }

    #[test]
    fn exact_is_exact() {
        let quiet = f64::from_bits(f64::NAN.to_bits() | 7);
        assert_eq!(differ(&[1.0, quiet, f64::INFINITY], &[1.0, f64::NAN, f64::INFINITY], Tolerance::Exact), None);
        assert!(differ(&[0.0], &[-0.0], Tolerance::Exact).is_some());
        assert_eq!(difference(&values(&[0.0]), &values(&[-0.0]), Tolerance::Exact, true), None);
        assert!(differ(&[1.0_f32.next_up()], &[1.0_f32], Tolerance::Exact).unwrap().contains("off by 1 ulp"));
        assert!(differ(&[1_u8, 3], &[1, 2], Tolerance::Exact).unwrap().contains("[1]: expected 2, got 3"));
        assert!(differ(&[f64::NAN], &[1.0], Tolerance::Exact).is_some());
    }

    #[test]
    fn the_farthest_element_is_found() {
        let (one, inf) = (1.0_f32, f32::INFINITY);
        let got = values(&[one, one.next_up().next_up(), inf]);
        assert_eq!(farthest(&got, &values(&[one, one, one])), Some(2.0));
        assert_eq!(farthest(&got, &values(&[one])), None);
        assert_eq!(farthest(&values(&[1]), &values(&[2])), None);
    }

    #[test]
    fn ulps_are_steps_between_values() {
        fn steps<T: Wide>(from: T, next: impl Fn(T) -> T) {
            let mut to = from;
            for n in 0..5 {
                assert_eq!(to.ulps(from), n as f64, "{n} steps from {from:?}");
                to = next(to);
            }
        }
        for x in [0.0, 1.0, -1.0, 0.999_999_9, -1e-323, f64::MIN_POSITIVE.next_down().next_down(), 1e300] {
            steps(x, f64::next_up);
        }
        for x in [0.0, 1.999_999_9, -2.0, f32::MIN_POSITIVE.next_down(), -f32::MIN_POSITIVE, 3e38] {
            steps(x, f32::next_up);
        }
        assert_eq!(f16::INFINITY.ulps(f16::MAX), 1.0);
        assert_eq!(bf16::INFINITY.ulps(bf16::MAX), 1.0);
        assert_eq!(f32::INFINITY.ulps(f32::MAX), 1.0);
        assert_eq!(f64::NEG_INFINITY.ulps(f64::MIN), 1.0);
        assert_eq!(f16::from_f32(1.0).ulps(f16::from_f32(1.0 + 3.0 / 1024.0)), 3.0);
        assert!(f64::NAN.ulps(1.0).is_infinite());
    }

    #[test]
    fn tolerances_bound_the_error() {
        let four = Tolerance::Ulp(4.0);
        let e = f32::EPSILON;
        assert_eq!(differ(&[1.0 + 4.0 * e], &[1.0], four), None);
        assert!(differ(&[1.0 + 5.0 * e], &[1.0], four).unwrap().contains("off by 5.0 ulp, allowed 4"));
        assert!(differ(&[0.0], &[-0.0], four).is_some(), "the sign of zero is promised");
        assert!(differ(&[f32::NAN], &[1.0], four).is_some() && differ(&[1.0], &[f32::NAN], four).is_some());

        let z = |re: f64, im: f64| Complex::new(re, im);
        assert_eq!(differ(&[z(1e10, 1e-7)], &[z(1e10, 0.0)], four), None, "by the magnitude of the number");
        assert!(differ(&[z(1e10, 1e-4)], &[z(1e10, 0.0)], four).is_some());
        assert_eq!(differ(&[z(f64::INFINITY, 1.0)], &[z(f64::NAN, f64::INFINITY)], four), None, "both have no value");
        assert!(differ(&[z(1.0, 1.0)], &[z(f64::NAN, 1.0)], four).is_some());

        let relative = Tolerance::Relative(1e-6);
        assert_eq!(differ(&[1.0, 1e-7], &[1.0, 0.0], relative), None);
        assert!(differ(&[1.0, 1e-5], &[1.0, 0.0], relative).is_some());
        assert!(differ(&[f64::INFINITY], &[1.0], relative).is_some());
        assert_eq!(differ(&[f64::INFINITY, -0.0], &[f64::INFINITY, 0.0], relative), None);
    }

    #[test]
    fn shape_and_dtype_always_count() {
        assert!(differ(&[1.0], &[1.0, 2.0], Tolerance::Shape).unwrap().contains("[1] instead of float64 of [2]"));
        assert!(difference(&values(&[1_i32]), &values(&[1_i64]), Tolerance::Shape, true).is_some());
        assert_eq!(differ(&[1.0], &[2.0], Tolerance::Shape), None);
        assert_eq!(differ(&[1.0], &[1.0, 2.0], Tolerance::Ndim), None);
        assert!(difference(&values(&[1_i32]), &values(&[1_i64]), Tolerance::Ndim, true).is_some());
        let mut empty = values(&[1.0]);
        empty.bytes = None;
        assert!(difference(&values(&[1.0]), &empty, Tolerance::Exact, false).unwrap().contains(REGENERATE));
    }
}
