//! Ops of the group `special` that are composed of other ops, for any backend.

use crate::{
    Axes, Backend, LogsumexpOptions, MaxOptions, Real, Result, SumOptions, lazy, runtime::rules, segments::is_16_bit,
};

/// The exponentials of the elements, divided by their sum.
pub fn softmax<B: Backend, T: Real>(b: &B, x: &B::Array<T>, axis: Axes) -> Result<B::Array<T>> {
    let axes = over("softmax", b.shape(x), axis)?;
    if is_long::<T>(b.shape(x), &axes) {
        return b.astype::<T, _>(b.softmax(b.astype::<f32, _>(x)?, axis)?);
    }
    let top = b.max_with(x, axes.as_slice(), MaxOptions::new().keepdims(true))?;
    let e = (lazy(x) - &top).exp().eval(b)?;
    let sum = b.sum_with(&e, axes, SumOptions::new().keepdims(true))?;
    b.divide(e, sum)
}

/// The logarithm of the softmax.
pub fn log_softmax<B: Backend, T: Real>(b: &B, x: &B::Array<T>, axis: Axes) -> Result<B::Array<T>> {
    let axes = over("log_softmax", b.shape(x), axis)?;
    if is_long::<T>(b.shape(x), &axes) {
        return b.astype::<T, _>(b.log_softmax(b.astype::<f32, _>(x)?, axis)?);
    }
    let (top, log) = top_and_log(b, x, &axes)?;
    // subtracts `top` and `log` separately, because their sum would lose digits if the largest element is far from 0
    (lazy(x) - &top - &log).eval(b)
}

/// The logarithm of the sum of the elements' exponentials.
pub fn logsumexp<B: Backend, T: Real>(b: &B, x: &B::Array<T>, axis: Axes, keepdims: bool) -> Result<B::Array<T>> {
    let axes = over("logsumexp", b.shape(x), axis)?;
    if is_long::<T>(b.shape(x), &axes) {
        return b.astype::<T, _>(b.logsumexp_with(
            b.astype::<f32, _>(x)?,
            axis,
            LogsumexpOptions::new().keepdims(keepdims),
        )?);
    }
    let (top, log) = top_and_log(b, x, &axes)?;
    let value = b.add(log, top)?;
    if keepdims { Ok(value) } else { b.squeeze(value, axes) }
}

/// Returns `top`, the largest element over the axes, and the logarithm of the sum of `exp(x - top)`. If the largest
/// element is not finite, `top` is 0, so that the logarithm of a zero or infinite sum is correct.
fn top_and_log<B: Backend, T: Real>(b: &B, x: &B::Array<T>, axes: &[isize]) -> Result<(B::Array<T>, B::Array<T>)> {
    let top = b.max_with(x, axes, MaxOptions::new().keepdims(true))?;
    let top = lazy(&top).isfinite().r#where(&top, 0.0).eval(b)?;
    let sum = (lazy(x) - &top).exp().sum_with(axes, SumOptions::new().keepdims(true)).eval(b)?;
    Ok((top, b.log(sum)?))
}

/// Returns whether a sum has so many terms that 16-bit floats cannot represent their number.
fn is_long<T: Real>(shape: &[usize], axes: &[isize]) -> bool {
    is_16_bit::<T>() && axes.iter().map(|&axis| shape[axis as usize] as f64).product::<f64>() > 2048.0
}

/// Resolves the axes. Returns an error if one of them is empty.
fn over(op: &'static str, shape: &[usize], axis: Axes) -> Result<Vec<isize>> {
    let axes = rules::reduction(op, axis, shape.len())?;
    rules::require_elements(op, shape, &axes)?;
    Ok(axes.into_iter().map(|axis| axis as isize).collect())
}
