//! Gradient rules of ops that gather and scatter elements.

use super::{
    in_float32,
    shapes::{axis_of, signed},
};
use crate::{
    ArrayAttributes, Backend, DType, DTypeKind, Float, Real, Result, Slice,
    runtime::{Index, Indices, Operand},
    segments::is_16_bit,
};

/// Gradient of `getitem`: zeros, except for the output gradient at the selected elements.
pub fn getitem<B: Backend, T: Float>(b: &B, g: &B::Array<T>, slices: &[Slice], shape: &[usize]) -> Result<B::Array<T>> {
    let mut zeros = b.zeros::<T>(shape)?;
    b.set(&mut zeros, slices, g)?;
    Ok(zeros)
}

/// Gradient of `get`: like [`getitem`], but an element that was selected several times gets the sum of the output
/// gradients.
pub fn get<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    index: Indices<'_, B>,
    shape: &[usize],
) -> Result<B::Array<T>> {
    let mut zeros = b.zeros::<T>(shape)?;
    b.add_at(&mut zeros, index, g)?;
    Ok(zeros)
}

/// Gradient of `index_put` with respect to the array: the output gradient, with 0 for overwritten elements.
pub fn index_put_x<B: Backend, T: Float>(b: &B, g: &B::Array<T>, index: Indices<'_, B>) -> Result<B::Array<T>> {
    let mut g = g.clone();
    b.set(&mut g, index, T::ZERO)?;
    Ok(g)
}

/// Gradient of `index_put` with respect to the values: for each value, the output gradient of the element to which it
/// was written, or 0 if a later value has overwritten it.
pub fn index_put_values<B: Backend, T: Float>(b: &B, g: &B::Array<T>, index: Indices<'_, B>) -> Result<B::Array<T>> {
    let taken = b.get(g, index)?;
    // writes the index of each value in place of the value; if several values go to the same element, the index of the
    // last one remains
    let count = taken.len() as i64;
    let numbers = b.reshape(b.arange::<i64>(0, count, 1)?, signed(taken.shape()))?;
    let mut places = b.zeros::<i64>(g.shape())?;
    b.set(&mut places, index, &numbers)?;
    let is_last = b.equal(b.get(&places, index)?, &numbers)?;
    b.r#where(is_last, taken, T::ZERO)
}

/// Gradient of `take`: each element gets the sum of the gradients of its copies.
pub fn take<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    indices: &B::Array<i64>,
    shape: &[usize],
    axis: Option<isize>,
) -> Result<B::Array<T>> {
    let row = [shape.iter().product()];
    let (lengths, axis) = match axis {
        Some(axis) => (shape, axis_of("take", axis, shape.len())?),
        None => (&row[..], 0),
    };
    let n = lengths[axis];
    let flat = b.reshape(indices, -1)?;
    let places = b.r#where(b.less(&flat, 0)?, b.add(&flat, n as i64)?, &flat)?;
    // merges the axes of the indices into one
    let mut joined = lengths.to_vec();
    joined[axis] = flat.len();
    let g = b.reshape(g, signed(&joined))?;
    let sum = b.segment_sum_with(g, &places, n, crate::SegmentSumOptions::new().axis(axis as isize))?;
    b.reshape(sum, signed(shape))
}

/// Gradient of `take_along_axis`: each element gets the sum of the gradients of its copies.
pub fn take_along_axis<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    indices: &B::Array<i64>,
    shape: &[usize],
    axis: isize,
) -> Result<B::Array<T>> {
    let axis = axis_of("take_along_axis", axis, shape.len())?;
    // along all axes other than `axis`, the source and the copy of an element have the same index
    let places = |k: usize| {
        let mut lengths = vec![1_isize; shape.len()];
        lengths[k] = -1;
        b.reshape(b.arange::<i64>(0, g.shape()[k] as i64, 1)?, lengths)
    };
    let others = (0..shape.len()).map(|k| if k == axis { Ok(indices.clone()) } else { places(k) });
    let all = others.collect::<Result<Vec<_>>>()?;
    let index: Vec<Index<'_, B>> = all.iter().map(Index::Array).collect();
    let mut zeros = b.zeros::<T>(shape)?;
    b.add_at(&mut zeros, index, g)?;
    Ok(zeros)
}

/// Gradient of `scatter` with respect to the array: the output gradient, with 0 for overwritten elements.
pub fn scatter_x<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    indices: &B::Array<i64>,
    axis: isize,
) -> Result<B::Array<T>> {
    let mut lengths = g.shape().to_vec();
    lengths[axis_of("scatter", axis, g.ndim())?] = indices.len();
    b.scatter(g, indices, b.zeros::<T>(lengths)?, axis)
}

/// Gradient of `scatter` with respect to the values: for each value, the output gradient of the element to which it was
/// written, or 0 if a later value has overwritten it.
pub fn scatter_values<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    indices: &B::Array<i64>,
    axis: isize,
) -> Result<B::Array<T>> {
    let along = axis_of("scatter", axis, g.ndim())?;
    // writes the index of each value in place of the value; if several values go to the same element, the index of the
    // last one remains
    let numbers = b.arange::<i64>(0, indices.len() as i64, 1)?;
    let places = b.scatter(b.zeros::<i64>(g.shape()[along])?, indices, &numbers, 0)?;
    let is_last = b.equal(b.take(places, indices, 0)?, numbers)?;
    let mut lengths = vec![1_isize; g.ndim()];
    lengths[along] = -1;
    b.r#where(b.reshape(is_last, lengths)?, b.take(g, indices, axis)?, T::ZERO)
}

/// Gradient of `scatter_mul` with respect to the values: the output gradient times the product of all other factors.
/// Any of the factors may be zero.
pub fn scatter_mul_values<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    indices: &B::Array<i64>,
    values: &B::Array<T>,
    axis: isize,
) -> Result<B::Array<T>> {
    b.multiply(b.take(g, indices, axis)?, others::<B, T>(b, x, indices, values, axis)?)
}

/// For each value, the product of all other factors at the same index of the result. Narrow real dtypes are computed in
/// float64, because the product of all factors may overflow although the product without one factor does not.
fn others<B: Backend, T: Float>(
    b: &B,
    x: &B::Array<T>,
    indices: &B::Array<i64>,
    values: &B::Array<T>,
    axis: isize,
) -> Result<B::Array<T>> {
    if matches!(T::dtype().kind(), DTypeKind::Real) && T::dtype() != DType::Float64 {
        let (x, values) = (b.astype::<f64, T>(x)?, b.astype::<f64, T>(values)?);
        return b.astype::<T, f64>(others::<B, f64>(b, &x, indices, &values, axis)?);
    }
    let is_zero = b.equal(values, T::ZERO)?;
    let other = b.r#where(&is_zero, T::ONE, values)?;
    let product = b.take(b.scatter_mul(x, indices, &other, axis)?, indices, axis)?;
    // for each value, `count` is the number of zeros among the other factors of the same element, and `zeros` is the
    // sum of these zeros; the sum of a single zero equals this zero and has the same derivative
    let summed = |of: &B::Array<T>| -> Result<B::Array<T>> {
        let sums = b.scatter_add(b.zeros_like::<T>(x)?, indices, of, axis)?;
        b.subtract(b.take(sums, indices, axis)?, of)
    };
    let count = summed(&b.astype::<T, bool>(&is_zero)?)?;
    let zeros = summed(&b.r#where(&is_zero, values, T::ZERO)?)?;
    let factor = b.r#where(b.equal(&count, T::ONE)?, zeros, T::ZERO)?;
    let factor = b.r#where(b.equal(count, T::ZERO)?, T::ONE, factor)?;
    b.multiply(b.divide(product, other)?, factor)
}

/// The output gradient of `scatter_max` or `scatter_min`, divided by the number of elements that equal the maximum or
/// minimum.
fn shared<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x: &B::Array<T>,
    indices: &B::Array<i64>,
    values: &B::Array<T>,
    axis: isize,
) -> Result<B::Array<T>> {
    let own = b.astype::<i64, bool>(is_that::<B, T>(b, x, y)?)?;
    let of_values = b.astype::<i64, bool>(is_that::<B, T>(b, values, &b.take(y, indices, axis)?)?)?;
    let count = b.scatter_add(own, indices, of_values, axis)?;
    // the number of elements may exceed the range of 16-bit floats
    match is_16_bit::<T>() {
        true => in_float32::<B, T, 1>(b, [g], |[g]| b.divide(g, b.astype::<T::InFloat32, i64>(count)?)),
        false => b.divide(g, b.astype::<T, i64>(count)?),
    }
}

/// True for elements that equal the result. NaN counts as equal to NaN.
fn is_that<B: Backend, T: Real>(b: &B, x: &B::Array<T>, y: &B::Array<T>) -> Result<B::Array<bool>> {
    b.logical_or(b.equal(x, y)?, b.logical_and(b.isnan(x)?, b.isnan(y)?)?)
}

/// Gradient of `scatter_max` and `scatter_min` with respect to the array. All elements that equal the result share the
/// output gradient.
pub fn scatter_extremum_x<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x: &B::Array<T>,
    indices: &B::Array<i64>,
    values: &B::Array<T>,
    axis: isize,
) -> Result<B::Array<T>> {
    let g = shared::<B, T>(b, g, y, x, indices, values, axis)?;
    b.r#where(is_that::<B, T>(b, x, y)?, g, T::ZERO)
}

/// Gradient of `scatter_max` and `scatter_min` with respect to the values.
pub fn scatter_extremum_values<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x: &B::Array<T>,
    indices: &B::Array<i64>,
    values: &B::Array<T>,
    axis: isize,
) -> Result<B::Array<T>> {
    let g = b.take(shared::<B, T>(b, g, y, x, indices, values, axis)?, indices, axis)?;
    let is_it = is_that::<B, T>(b, values, &b.take(y, indices, axis)?)?;
    b.r#where(is_it, g, T::ZERO)
}

/// Gradient of `boolean_mask`: zeros, except for the output gradient at the elements where the mask is true.
pub fn boolean_mask<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    mask: &B::Array<bool>,
    shape: &[usize],
) -> Result<B::Array<T>> {
    let mut zeros = b.zeros::<T>(shape)?;
    b.set(&mut zeros, [Index::Mask(mask)], Operand::array(g))?;
    Ok(zeros)
}
