//! Functions that implement ops: the ops' rows in `my_ops.toml` name them. They run on any backend. Together, they
//! return every kind of result.

use crate::Metric;
use backends::{Result, Slice, prelude::*};

/// Result of `extrema`. A function returns several arrays as a tuple, in the order in which the op's row in the table
/// names them.
type Extrema<B, T> = (Array<B, T>, Array<B, T>, Array<B, i64>);

/// An array of a backend.
type Array<B, T> = <B as Arrays>::Array<T>;

/// Distance between the points `x1` and `x2`, whose coordinates are along the last axis. Each coordinate is multiplied
/// by its weight, and only coordinates whose mask is true count.
pub fn distance<B: Backend, T: Precision>(
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    weights: Option<&B::Array<T>>,
    mask: Option<&B::Array<bool>>,
    metric: Metric,
) -> Result<B::Array<T>> {
    let apart = b.subtract(x1, x2)?;
    let mut terms = match metric {
        Metric::Euclidean => b.square(&apart)?,
        Metric::Manhattan => as_real(b, &b.abs(&apart)?)?,
    };
    if let Some(weights) = weights {
        terms = b.multiply(&terms, weights)?;
    }
    if let Some(mask) = mask {
        terms = b.multiply(&terms, &b.astype::<T, _>(mask)?)?;
    }
    let total = b.astype::<T, _>(&b.sum(&terms, -1)?)?;
    if metric == Metric::Euclidean { b.sqrt(&total) } else { Ok(total) }
}

/// Converts an array to `T`. The array has the dtype of the magnitudes of `T`. Because `T` is real, this dtype is `T`
/// itself, but the compiler does not know that.
fn as_real<B: Backend, T: Precision>(b: &B, x: &B::Array<T::Magnitude>) -> Result<B::Array<T>> {
    b.astype::<T, _>(x)
}

/// The smallest element, the largest element, and the index of the largest element.
pub fn extrema<B: Backend, T: Precision>(b: &B, x: &B::Array<T>, axis: isize) -> Result<Extrema<B, T>> {
    Ok((b.min(x, axis)?, b.max(x, axis)?, b.argmax(x, axis)?))
}

/// Returns whether the elements along the last axis are in ascending order. The result is copied to the host.
pub fn is_sorted<B: Backend, T: Precision>(b: &B, x: &B::Array<T>) -> Result<bool> {
    let Some((&length, _)) = b.shape(x).split_last() else { return Ok(true) };
    if length < 2 {
        return Ok(true);
    }
    let axes = b.ndim(x);
    let part = |slice: Slice| {
        let mut slices = vec![Slice::ALL; axes];
        slices[axes - 1] = slice;
        b.getitem(x, slices)
    };
    let in_order = b.greater_equal(&part(Slice::from(1..))?, &part(Slice::from(..-1))?)?;
    let all = b.to_ndarray(&b.all(&in_order, ..)?)?;
    Ok(all.iter().all(|x| *x))
}

/// The elements of the table `colours` at the indices `image + offset`. Indices wrap around.
pub fn palette<B: Backend, T: Element>(
    b: &B,
    colours: &B::Array<T>,
    image: &B::Array<u8>,
    offset: &B::Array<i32>,
) -> Result<B::Array<T>> {
    let places = b.add(&b.astype::<i64, _>(image)?, &b.astype::<i64, _>(offset)?)?;
    b.take(&b.flatten(colours)?, &b.remainder(&places, b.size(colours) as i64)?, 0)
}

/// Computes the gradient of the op `power_mean`, whose row in the table names this function: `(|x| / y)^(p - 1) / n`
/// times `g`, in the direction of `x`. `y` is the result of the op, `g` is the gradient with respect to `y`, and `n` is
/// the number of elements of each mean.
pub fn power_mean_gradient<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T::Real>,
    y: &B::Array<T::Real>,
    x: &B::Array<T>,
    axis: Axes,
    p: f64,
) -> Result<B::Array<T>> {
    let axes = if x.ndim() == 0 { Vec::new() } else { axis.resolve("power_mean", x.ndim())? };
    let n: f64 = axes.iter().map(|&axis| x.shape()[axis] as f64).product();
    let lengths = x.shape().iter().enumerate().map(|(k, &d)| if axes.contains(&k) { 1 } else { d as isize });
    let whole = lengths.collect::<Vec<_>>();
    let real = |x: f64| <T::Real as Element>::from_f64(x);
    // the power of the quotient is within the range of the dtype even if the powers of `|x|` and `y` are not
    let share = b.divide(b.abs::<T>(x)?, b.reshape(y, &whole)?)?;
    let along = b.multiply(b.pow(share, real(p - 1.0))?, b.reshape(b.divide(g, real(n))?, &whole)?)?;
    b.multiply(b.astype::<T, T::Real>(along)?, b.conj::<T>(b.sign::<T>(x)?)?)
}
