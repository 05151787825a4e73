//! Ops of the group `manipulation` that are written once over any backend.

use crate::{Backend, Element, Error, Result, SearchsortedOptions, Side, runtime::rules};

/// As many copies of each element along an axis as `counts` says: one number for all, or one for each.
pub fn repeat_each<B: Backend, T: Element>(
    b: &B,
    x: &B::Array<T>,
    counts: &B::Array<i64>,
    axis: isize,
) -> Result<B::Array<T>> {
    const OP: &str = "repeat_each";
    let mut shape = b.shape(x).to_vec();
    let axis = rules::counted(OP, &shape, b.shape(counts), axis)?;
    if shape[axis] == 0 {
        return Ok(x.clone());
    }
    let counts = b.broadcast_to(counts, [shape[axis]])?;
    // as floats, whose sum does not wrap
    let (least, total) = (b.min(&counts, ..)?, b.sum(&b.astype::<f64, _>(&counts)?, ..)?);
    let facts = b.to_ndarray(&b.stack([b.astype::<f64, _>(least)?, total])?)?;
    let (least, total) = (facts[[0]], facts[[1]]);
    if least < 0.0 {
        return Err(Error::argument(OP, "a count is negative"));
    }
    // from here on sums of floats are not exact
    if total >= 2_f64.powi(53) {
        return Err(Error::Memory { op: OP, bytes: usize::MAX });
    }
    shape[axis] = total as usize;
    rules::count(OP, &shape, size_of::<T>())?;
    let ends = b.cumulative_sum(&counts, 0)?;
    let places = b.arange(0, total as i64, 1)?;
    let from = b.searchsorted_with(&ends, &places, SearchsortedOptions::new().side(Side::Right))?;
    b.take(x, &from, axis as isize)
}
