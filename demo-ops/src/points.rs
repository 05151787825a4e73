//! What rows of `my_ops.toml` name: functions over any backend, with every kind of result.

use crate::Metric;
use backends::prelude::*;

/// `extrema`: a result of several arrays is a tuple here, in the order of the row's names.
type Extrema<B, T> = (Array<B, T>, Array<B, T>, Array<B, i64>);

/// An array of a backend.
type Array<B, T> = <B as Arrays>::Array<T>;

/// Distance along the last axis, of coordinates that count by their weights, and only where the mask is true.
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

/// The real dtype of a real dtype is itself; this says it to the compiler.
fn as_real<B: Backend, T: Precision>(b: &B, x: &B::Array<T::Magnitude>) -> Result<B::Array<T>> {
    b.astype::<T, _>(x)
}

/// The smallest and the largest element, and where the largest is.
pub fn extrema<B: Backend, T: Precision>(b: &B, x: &B::Array<T>, axis: isize) -> Result<Extrema<B, T>> {
    Ok((b.min(x, axis)?, b.max(x, axis)?, b.argmax(x, axis)?))
}

/// Whether the elements along the last axis are in order: the answer comes to the host.
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

/// The elements of a table at bytes and offsets, which wrap around.
pub fn palette<B: Backend, T: Element>(
    b: &B,
    colours: &B::Array<T>,
    image: &B::Array<u8>,
    offset: &B::Array<i32>,
) -> Result<B::Array<T>> {
    let places = b.add(&b.astype::<i64, _>(image)?, &b.astype::<i64, _>(offset)?)?;
    b.take(&b.flatten(colours)?, &b.remainder(&places, b.size(colours) as i64)?, 0)
}

/// `blend` where there are no loops over scalar expressions: ops instead.
pub fn blend<B: Backend, T: Real>(
    b: &B,
    mask: &B::Array<bool>,
    x1: Operand<'_, B, T>,
    x2: Operand<'_, B, T>,
    share: f64,
) -> Result<B::Array<T>> {
    // the operands meet in the order of the row, so that shapes which do not fit are told in the same words
    let first = b.r#where(mask, &x1, &x1)?;
    let mixed = b.add(&first, b.multiply(b.subtract(&first, x2)?, T::from_f64(-share))?)?;
    b.r#where(mask, mixed, &first)
}

/// `quantize` where there are no loops over scalar expressions: ops instead.
pub fn quantize<B: Backend, U: Integer, T: Precision>(b: &B, x: &B::Array<T>, step: f64) -> Result<B::Array<U>> {
    b.astype::<U, _>(&b.round(&b.divide(x, T::from_f64(step))?)?)
}

/// `power_mean` where there are no loops over scalar expressions: ops instead.
pub fn power_mean<B: Backend, T: Float>(
    b: &B,
    x: &B::Array<T>,
    axis: Axes,
    p: f64,
    keepdims: bool,
) -> Result<B::Array<T::Real>> {
    let powers = b.pow(&b.astype::<T::Real, _>(&b.abs(x)?)?, T::Real::from_f64(p))?;
    let mean = b.mean_with(&powers, axis, MeanOptions::new().keepdims(keepdims))?;
    b.pow(&mean, T::Real::from_f64(1.0 / p))
}

/// `xor_over` where there are no loops over scalar expressions: halves of the axes that go are joined until one is left.
pub fn xor_over<B: Backend, T: Integer>(b: &B, x: &B::Array<T>, axis: Axes, keepdims: bool) -> Result<B::Array<T>> {
    let shape = b.shape(x).to_vec();
    let gone = backends::runtime::rules::reduction("xor_over", axis, shape.len())?;
    let kept: Vec<usize> = (0..shape.len()).filter(|axis| !gone.contains(axis)).collect();
    let lengths = |axes: &[usize]| axes.iter().map(|&axis| shape[axis]).collect::<Vec<_>>();
    let order: Vec<usize> = gone.iter().chain(&kept).copied().collect();
    let mut all = b.permute_dims(x, order)?;
    let mut n: usize = lengths(&gone).iter().product();
    let flat: Vec<isize> = [n].iter().chain(&lengths(&kept)).map(|&n| n as isize).collect();
    all = b.reshape(&all, flat)?;
    while n > 1 {
        let half = n / 2;
        let joined =
            b.bitwise_xor(&b.getitem(&all, [Slice::from(..half)])?, &b.getitem(&all, [Slice::from(half..2 * half)])?)?;
        let rest = b.getitem(&all, [Slice::from(2 * half..)])?;
        all = b.concat([&joined, &rest])?;
        n -= half;
    }
    let one = if n == 0 { b.zeros(lengths(&kept))? } else { b.getitem(&all, [Slice::at(0)])? };
    if keepdims { b.expand_dims(&one, gone.iter().map(|&axis| axis as isize).collect::<Vec<_>>()) } else { Ok(one) }
}
