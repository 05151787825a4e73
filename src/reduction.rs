//! Reductions written once over the ops of any backend.

use crate::{Axes, Backend, QuantileOptions, Real, Result, runtime::rules};

/// Median over the given axes; NaN for an empty axis.
pub fn median<B: Backend, T: Real>(b: &B, x: &B::Array<T>, axis: Axes, keepdims: bool) -> Result<B::Array<T>> {
    let shape = b.shape(x);
    let axes = rules::reduction("median", axis, shape.len())?;
    if axes.iter().any(|&axis| shape[axis] == 0) {
        return b.full(rules::reduced(shape, &axes, keepdims), T::of(f64::NAN));
    }
    let half = b.full([1], T::of(0.5))?;
    b.squeeze(&b.quantile_with(x, &half, axis, QuantileOptions::new().keepdims(keepdims))?, 0)
}
