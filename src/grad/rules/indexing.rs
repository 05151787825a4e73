//! Rules of ops that take elements at places, and put them there.

use super::shapes::{axis_of, signed};
use crate::{
    ArrayAttributes, Backend, Float, Real, Result, Slice,
    runtime::{Index, Indices, Operand},
};

/// `getitem`: zeros, with the gradient in its place.
pub fn getitem<B: Backend, T: Float>(b: &B, g: &B::Array<T>, slices: &[Slice], shape: &[usize]) -> Result<B::Array<T>> {
    let mut zeros = b.zeros::<T>(shape)?;
    b.set(&mut zeros, slices, g)?;
    Ok(zeros)
}

/// `get`: as [`getitem`]; elements that were taken more than once have the sum.
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

/// `index_put`, by the array: what was put has none of it.
pub fn index_put_x<B: Backend, T: Float>(b: &B, g: &B::Array<T>, index: Indices<'_, B>) -> Result<B::Array<T>> {
    let mut g = g.clone();
    b.set(&mut g, index, T::ZERO)?;
    Ok(g)
}

/// `index_put`, by the values: of those that went to one place the last counts.
pub fn index_put_values<B: Backend, T: Float>(b: &B, g: &B::Array<T>, index: Indices<'_, B>) -> Result<B::Array<T>> {
    let taken = b.get(g, index)?;
    // every value leaves its number; those whose number stands there are the last
    let count = taken.len() as i64;
    let numbers = b.reshape(b.arange::<i64>(0, count, 1)?, signed(taken.shape()))?;
    let mut places = b.zeros::<i64>(g.shape())?;
    b.set(&mut places, index, &numbers)?;
    let is_last = b.equal(b.get(&places, index)?, &numbers)?;
    b.r#where(is_last, taken, T::ZERO)
}

/// `take`: the sum of what was taken from each place.
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
    // the axes of the indices as one
    let mut joined = lengths.to_vec();
    joined[axis] = flat.len();
    let g = b.reshape(g, signed(&joined))?;
    let sum = b.segment_sum_with(g, &places, n, crate::SegmentSumOptions::new().axis(axis as isize))?;
    b.reshape(sum, signed(shape))
}

/// `take_along_axis`: the sum of what was taken from each place.
pub fn take_along_axis<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    indices: &B::Array<i64>,
    shape: &[usize],
    axis: isize,
) -> Result<B::Array<T>> {
    let axis = axis_of("take_along_axis", axis, shape.len())?;
    // along each other axis every element stays in its place
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

/// `scatter`, by the array: what was put has none of it.
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

/// `scatter`, by the values: of those that went to one place the last counts.
pub fn scatter_values<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    indices: &B::Array<i64>,
    axis: isize,
) -> Result<B::Array<T>> {
    let along = axis_of("scatter", axis, g.ndim())?;
    // every value leaves its number; those whose number stands there are the last
    let numbers = b.arange::<i64>(0, indices.len() as i64, 1)?;
    let places = b.scatter(b.zeros::<i64>(g.shape()[along])?, indices, &numbers, 0)?;
    let is_last = b.equal(b.take(places, indices, 0)?, numbers)?;
    let mut lengths = vec![1_isize; g.ndim()];
    lengths[along] = -1;
    b.r#where(b.reshape(is_last, lengths)?, b.take(g, indices, axis)?, T::ZERO)
}

/// `scatter_mul`, by the values: NaN where one is 0.
pub fn scatter_mul_values<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    indices: &B::Array<i64>,
    values: &B::Array<T>,
    axis: isize,
) -> Result<B::Array<T>> {
    b.divide(b.take(b.multiply(g, y)?, indices, axis)?, values)
}

/// Of a largest or least value, the gradient of each element that is it: shared among these.
fn shared<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x: &B::Array<T>,
    indices: &B::Array<i64>,
    values: &B::Array<T>,
    axis: isize,
) -> Result<B::Array<T>> {
    let own = b.astype::<T, bool>(b.equal(x, y)?)?;
    let of_values = b.astype::<T, bool>(b.equal(values, b.take(y, indices, axis)?)?)?;
    b.divide(g, b.scatter_add(own, indices, of_values, axis)?)
}

/// `scatter_max` and `scatter_min`, by the array: shared among the elements that are the result.
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
    b.r#where(b.equal(x, y)?, g, T::ZERO)
}

/// The same by the values.
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
    let is_it = b.equal(values, b.take(y, indices, axis)?)?;
    b.r#where(is_it, g, T::ZERO)
}

/// `boolean_mask`: zeros, with the gradient where the mask is true.
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
