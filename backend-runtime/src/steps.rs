//! Evenly spaced values: how many there are, and how NumPy counts them.

use crate::{DType, Error, Kind, RealNumeric, Result};

/// What `arange` counts: element `i` of a real dtype is `from + i * by`, of an integer one `start + i * step`, wrapping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// How many elements there are.
    pub n: usize,
    /// The first, in the precision that is counted in: `f64` for `f64`, else `f32`.
    pub from: f64,
    /// The distance of the first two, in the same precision.
    pub by: f64,
}

/// The values in [start, stop), `step` apart.
pub fn steps<T: RealNumeric>(op: &'static str, start: T, stop: T, step: T) -> Result<Steps> {
    if step == T::ZERO {
        return Err(Error::argument(op, "a step of 0 leads nowhere"));
    }
    if T::DTYPE.kind() < Kind::Real {
        let exact = |x: T| match T::DTYPE.kind() {
            Kind::Unsigned => i128::from(x.cast::<u64>()),
            _ => i128::from(x.cast::<i64>()),
        };
        let (distance, step) = (exact(stop) - exact(start), exact(step));
        let n = if (distance < 0) == (step < 0) { distance.unsigned_abs().div_ceil(step.unsigned_abs()) } else { 0 };
        let n = usize::try_from(n).map_err(|_| Error::Memory { op, bytes: usize::MAX })?;
        return Ok(Steps { n, from: 0.0, by: 0.0 });
    }
    let [from, to, by] = [start, stop, step].map(|x| x.cast::<f64>());
    let steps = (to - from) / by;
    // a distance too small against the step still holds the first element
    let n = if steps == 0.0 && steps.is_sign_positive() && to != from { 1.0 } else { steps.ceil() };
    if n.is_nan() {
        return Err(Error::argument(op, "the length is not a number"));
    }
    if n >= isize::MAX as f64 {
        return Err(Error::Memory { op, bytes: usize::MAX });
    }
    // a negative length is an empty array; as in NumPy, the distance is that of the first two elements
    let n = n.max(0.0) as usize;
    let second = from + by;
    if T::DTYPE == DType::Float64 {
        return Ok(Steps { n, from, by: second - from });
    }
    let second = if T::DTYPE == DType::Float16 { T::from_f64(second).cast::<f32>() } else { second as f32 };
    let from = from as f32;
    Ok(Steps { n, from: from.into(), by: (second - from).into() })
}
