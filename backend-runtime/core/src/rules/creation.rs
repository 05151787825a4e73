//! Rules for the number of elements of new arrays.

use crate::{Complex, DType, DTypeKind, Element, Error, Result, f16, raw::RawElement};

/// The elements of `arange`. In a real dtype, element `i` is `from + i * by`. In an integer dtype, element `i` is
/// `start + i * step`, computed from the op's parameters in wrapping arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// Number of elements.
    pub n: usize,
    /// First element. It has the precision of the computation: `f64` for the dtype `f64`, and `f32` for all other real
    /// dtypes.
    pub from: f64,
    /// Distance between the first two elements, in the precision of `from`.
    pub by: f64,
}

/// Plans `arange`: the values `start`, `start + step` and so on that lie before `stop`. All three are integers or real
/// floats of the dtype of the result.
pub fn steps(op: &'static str, start: RawElement, stop: RawElement, step: RawElement) -> Result<Steps> {
    let dtype = step.dtype();
    if step.to_f64() == 0.0 {
        return Err(Error::argument(op, "`step` is 0, but must not be 0"));
    }
    if dtype.kind() < DTypeKind::Real {
        let exact = |x: RawElement| match dtype.kind() {
            DTypeKind::Unsigned => i128::from(x.cast::<u64>()),
            _ => i128::from(x.cast::<i64>()),
        };
        let (distance, step) = (exact(stop) - exact(start), exact(step));
        let n = if (distance < 0) == (step < 0) { distance.unsigned_abs().div_ceil(step.unsigned_abs()) } else { 0 };
        let n = usize::try_from(n).map_err(|_| Error::memory(op, usize::MAX))?;
        return Ok(Steps { n, from: 0.0, by: 0.0 });
    }
    let [from, to, by] = [start, stop, step].map(RawElement::to_f64);
    let steps = (to - from) / by;
    // if `(to - from) / by` underflows to 0, the range still contains the first element
    let n = if steps == 0.0 && steps.is_sign_positive() && to != from { 1.0 } else { steps.ceil() };
    if n.is_nan() {
        return Err(Error::argument(
            op,
            "`start`, `stop` or `step` makes the number of steps NaN, but it must be a number",
        ));
    }
    if n >= isize::MAX as f64 {
        return Err(Error::memory(op, usize::MAX));
    }
    // a negative length gives an empty array; as in NumPy, `by` is the difference of the first two elements
    let n = n.max(0.0) as usize;
    let second = from + by;
    if dtype == DType::Float64 {
        return Ok(Steps { n, from, by: second - from });
    }
    let is_half = dtype == DType::Float16;
    let second = if is_half { <f16 as Element>::from_f64(second).cast::<f32>() } else { second as f32 };
    let from = from as f32;
    Ok(Steps { n, from: from.into(), by: (second - from).into() })
}

/// Returns 2 if `stop - start` overflows although both numbers are finite, and otherwise 1. If it is 2, the points
/// between `start` and `stop` must be computed from the halves of both numbers, and then doubled.
pub fn doubled(start: Complex<f64>, stop: Complex<f64>) -> f64 {
    let is_far = |from: f64, to: f64| from.is_finite() && to.is_finite() && !(to - from).is_finite();
    if is_far(start.re, stop.re) || is_far(start.im, stop.im) { 2.0 } else { 1.0 }
}

/// Returns the row and the column of the first element of diagonal `k` of a matrix, and the length of the diagonal.
pub fn diagonal(rows: usize, columns: usize, k: isize) -> (usize, usize, usize) {
    let (down, right) = if k < 0 { (k.unsigned_abs(), 0) } else { (0, k.unsigned_abs()) };
    (down, right, rows.saturating_sub(down).min(columns.saturating_sub(right)))
}

/// Returns the number of elements to read from a buffer of `bytes` bytes, after an offset in bytes. The number is
/// `wanted`, or if this is `None`, the number of all elements after the offset.
pub fn items(op: &'static str, dtype: DType, bytes: usize, wanted: Option<usize>, offset: usize) -> Result<usize> {
    let size = dtype.size();
    let Some(rest) = bytes.checked_sub(offset) else {
        return Err(Error::argument(
            op,
            format!("`offset` is {offset}, but must be at most the {bytes} bytes of the buffer"),
        ));
    };
    match wanted {
        None if rest % size != 0 => Err(Error::argument(
            op,
            format!("{rest} bytes are left of the buffer, but must be a whole number of elements of {size} bytes"),
        )),
        None => Ok(rest / size),
        Some(n) if n > rest / size => Err(Error::argument(
            op,
            format!("`count` is {n}, but must be at most the {} elements of {size} bytes in {rest} bytes", rest / size),
        )),
        Some(n) => Ok(n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_as_numpy_does() {
        fn steps_of<T: Element>(ends: [T; 3]) -> Result<Steps> {
            let [start, stop, step] = ends.map(RawElement::of);
            steps("arange", start, stop, step)
        }
        let n = |start: f64, stop: f64, step: f64| steps_of([start, stop, step]).map(|s| s.n);
        assert_eq!((n(0.0, 5e-324, 10.0), n(0.0, -5e-324, -10.0), n(0.0, 5e-324, -10.0)), (Ok(1), Ok(1), Ok(0)));
        assert_eq!((n(0.0, 1.0, 0.1), n(3.0, 4.0, f64::INFINITY), n(1.0, 0.0, 1.0)), (Ok(10), Ok(1), Ok(0)));
        assert!(matches!(n(0.0, 1.0, 0.0), Err(Error::Argument { .. })));
        assert!(matches!(n(0.0, f64::NAN, 1.0), Err(Error::Argument { .. })));
        assert!(matches!(n(0.0, f64::INFINITY, 1.0), Err(Error::Memory { .. })));
        assert_eq!(steps_of([i64::MIN, i64::MAX, i64::MAX]).unwrap().n, 3);
        assert_eq!(steps_of([5_i8, -5, -4]).unwrap().n, 3);
    }

    #[test]
    fn diagonals_far_outside_are_empty() {
        assert_eq!(diagonal(3, 5, 1), (0, 1, 3));
        assert_eq!(diagonal(3, 5, -2), (2, 0, 1));
        for k in [isize::MIN, -3, 5, isize::MAX] {
            assert_eq!(diagonal(3, 5, k).2, 0, "{k}");
        }
    }

    #[test]
    fn elements_in_bytes() {
        let of = |wanted, offset| items("frombuffer", DType::Float64, 17, wanted, offset);
        assert_eq!((of(None, 1), of(Some(1), 9), of(Some(0), 17)), (Ok(2), Ok(1), Ok(0)));
        for (wanted, offset) in [(None, 0), (None, 18), (Some(3), 1), (Some(usize::MAX), 1), (None, usize::MAX)] {
            assert!(matches!(of(wanted, offset), Err(Error::Argument { .. })), "{wanted:?} {offset}");
        }
    }
}
