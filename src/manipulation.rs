//! Ops of the group `manipulation` that are composed of other ops, for any backend.

use crate::{
    Axes, Backend, Element, Error, Number, PadMode, PadOptions, Result, SearchsortedOptions, Side, Slice,
    runtime::{numpyish::repeats::Repeats, rules},
};
use std::ops::Range;

/// Repeats each element along an axis. `counts` has one number for the whole axis, or one number per index.
pub fn repeat_each<B: Backend, T: Element>(
    b: &B,
    x: &B::Array<T>,
    counts: &B::Array<i64>,
    axis: Option<isize>,
) -> Result<B::Array<T>> {
    const OP: &str = "repeat_each";
    let Some(axis) = axis else {
        return repeat_each(b, &b.flatten(x)?, counts, Some(0));
    };
    let mut shape = b.shape(x).to_vec();
    let axis = rules::counted(OP, &shape, b.shape(counts), axis)?;
    if shape[axis] == 0 {
        return Ok(x.clone());
    }
    let counts = b.broadcast_to(counts, [shape[axis]])?;
    if let Some(counts) = b.host_view(&counts) {
        let repeats = Repeats::new(OP, counts)?;
        shape[axis] = repeats.total();
        rules::count(OP, &shape, T::dtype().size())?;
        return b.take(x, &b.of_loop(repeats.places(OP)?)?, axis as isize);
    }
    // computes the total in floating point, because an integer sum might wrap
    let (least, total) = (b.min(&counts, ..)?, b.sum(&b.astype::<f64, _>(&counts)?, ..)?);
    let facts = b.to_ndarray(&b.stack([b.astype::<f64, _>(least)?, total])?)?;
    let (least, total) = (facts[[0]], facts[[1]]);
    if least < 0.0 {
        return Err(Error::argument(OP, "a count is negative, but none must be"));
    }
    // sums of floats from this size on are not exact
    if total >= 2_f64.powi(53) {
        return Err(Error::memory(OP, usize::MAX));
    }
    shape[axis] = total as usize;
    rules::count(OP, &shape, T::dtype().size())?;
    let ends = b.cumulative_sum(&counts, 0)?;
    let places = b.arange(0, total as i64, 1)?;
    let from = b.searchsorted_with(&ends, &places, SearchsortedOptions::new().side(Side::Right))?;
    b.take(x, &from, axis as isize)
}

/// Rotates by multiples of 90 degrees in the plane of two axes. If the library supports views, the result is a view.
pub fn rot90<B: Backend, T: Element>(b: &B, x: &B::Array<T>, k: isize, axes: Axes) -> Result<B::Array<T>> {
    const OP: &str = "rot90";
    let [from, to] = axes.resolve(OP, b.shape(x).len())?[..] else {
        return Err(Error::argument(OP, "`axes` must name two axes, those of a plane"));
    };
    match k.rem_euclid(4) {
        0 => Ok(x.clone()),
        1 => b.swapaxes(b.flip(x, to)?, from, to),
        2 => b.flip(x, [from, to]),
        _ => b.flip(b.swapaxes(x, from, to)?, to),
    }
}

/// Swaps two axes.
pub fn swapaxes<B: Backend, T: Element>(b: &B, x: &B::Array<T>, axis1: isize, axis2: isize) -> Result<B::Array<T>> {
    let n = b.shape(x).len();
    let (axis1, axis2) = (rules::axis("swapaxes", axis1, n)?, rules::axis("swapaxes", axis2, n)?);
    let mut order: Vec<usize> = (0..n).collect();
    order.swap(axis1, axis2);
    b.permute_dims(x, order)
}

/// Moves an axis to the position before another axis.
pub fn rollaxis<B: Backend, T: Element>(b: &B, x: &B::Array<T>, axis: isize, start: isize) -> Result<B::Array<T>> {
    const OP: &str = "rollaxis";
    let n = b.shape(x).len();
    let axis = rules::axis(OP, axis, n)?;
    // `start` may also be the number of axes, which is the position after the last axis
    let start = if start == n as isize { n } else { rules::axis(OP, start, n)? };
    b.moveaxis(x, axis, if axis < start { start - 1 } else { start })
}

/// Splits an array into parts of equal length along an axis.
pub fn split<B: Backend, T: Element>(b: &B, x: &B::Array<T>, sections: usize, axis: isize) -> Result<Vec<B::Array<T>>> {
    const OP: &str = "split";
    let axis = rules::axis(OP, axis, b.shape(x).len())?;
    let len = b.shape(x)[axis];
    if len.checked_rem(sections) != Some(0) {
        return Err(Error::argument(
            OP,
            format!("axis {axis} has {len} elements, but must be divisible into {sections} parts of the same length"),
        ));
    }
    let ends = (1..=sections).map(|k| k * (len / sections));
    parts(b, OP, x, axis, sections, ends)
}

/// Splits an array along an axis into parts whose lengths differ by at most one.
pub fn array_split<B: Backend, T: Element>(
    b: &B,
    x: &B::Array<T>,
    sections: usize,
    axis: isize,
) -> Result<Vec<B::Array<T>>> {
    const OP: &str = "array_split";
    let axis = rules::axis(OP, axis, b.shape(x).len())?;
    let len = b.shape(x)[axis];
    if sections == 0 {
        return Err(Error::argument(OP, "`sections` is 0, but must be at least 1"));
    }
    let (least, longer) = (len / sections, len % sections);
    let ends = (1..=sections).map(|k| k * least + k.min(longer));
    parts(b, OP, x, axis, sections, ends)
}

/// Splits an array into `count` consecutive parts along an axis; `ends` are the end indices (exclusive) of the parts.
fn parts<B: Backend, T: Element>(
    b: &B,
    op: &'static str,
    x: &B::Array<T>,
    axis: usize,
    count: usize,
    ends: impl Iterator<Item = usize>,
) -> Result<Vec<B::Array<T>>> {
    let mut parts = rules::list(op, count)?;
    let mut start = 0;
    for end in ends {
        parts.push(part(b, x, axis, start as i128..end as i128)?);
        start = end;
    }
    Ok(parts)
}

/// Splits an array along an axis, before each index in `indices`.
pub fn split_at<B: Backend, T: Element>(
    b: &B,
    x: &B::Array<T>,
    indices: &[isize],
    axis: isize,
) -> Result<Vec<B::Array<T>>> {
    const OP: &str = "split_at";
    let axis = rules::axis(OP, axis, b.shape(x).len())?;
    let len = b.shape(x)[axis] as i128;
    let mut parts = rules::list(OP, indices.len().saturating_add(1))?;
    let mut start = 0;
    for end in indices.iter().map(|&index| index as i128).chain([len]) {
        parts.push(part(b, x, axis, start..end)?);
        start = end;
    }
    Ok(parts)
}

/// Crops or pads an axis to length `size`: keeps the first elements, or appends copies of `value`.
pub fn pad_to<B: Backend, T: Element>(
    b: &B,
    x: &B::Array<T>,
    size: usize,
    axis: isize,
    value: Number,
) -> Result<B::Array<T>> {
    const OP: &str = "pad_to";
    let axis = rules::axis(OP, axis, b.shape(x).len())?;
    let value = value.element::<T>(OP)?;
    let len = b.shape(x)[axis];
    if size <= len {
        return part(b, x, axis, 0..size as i128);
    }
    let mut widths = vec![(0, 0); b.shape(x).len()];
    widths[axis].1 = size - len;
    b.pad_with(x, widths, PadOptions::new().value(Number::of(value)))
}

/// Repeats the array along an axis until the axis has length `size`.
pub fn tile_to<B: Backend, T: Element>(b: &B, x: &B::Array<T>, size: usize, axis: isize) -> Result<B::Array<T>> {
    const OP: &str = "tile_to";
    let axis = rules::axis(OP, axis, b.shape(x).len())?;
    let len = b.shape(x)[axis];
    let copies = match size.checked_rem(len) {
        Some(0) => size / len,
        None if size == 0 => 1,
        _ => {
            return Err(Error::argument(
                OP,
                format!("`size` is {size}, but must be a multiple of {len}, the length of axis {axis}"),
            ));
        }
    };
    let mut repetitions = vec![1; b.shape(x).len()];
    repetitions[axis] = copies;
    b.tile(x, repetitions)
}

/// Returns the elements of `x` whose indices along an axis are in `range`, by Python's slicing rules.
pub(crate) fn part<B: Backend, T: Element>(
    b: &B,
    x: &B::Array<T>,
    axis: usize,
    range: Range<i128>,
) -> Result<B::Array<T>> {
    let mut slices = vec![Slice::ALL; axis];
    slices.push(Slice { start: Some(range.start), stop: Some(range.end), ..Slice::ALL });
    b.getitem(x, slices)
}

/// Pads with constant values, which may differ for each side of each axis.
pub fn pad_values<B: Backend, T: Element>(
    b: &B,
    x: &B::Array<T>,
    widths: &[usize],
    values: &B::Array<T>,
) -> Result<B::Array<T>> {
    const OP: &str = "pad_values";
    let shape = b.shape(x).to_vec();
    let (widths, _) = rules::padded(OP, &shape, widths, PadMode::Constant, T::dtype().size())?;
    let values = b.broadcast_to(values, [shape.len(), 2]).map_err(|e| e.within(OP))?;
    let pairs: Vec<(usize, usize)> = widths.chunks_exact(2).map(|width| (width[0], width[1])).collect();
    if pairs.is_empty() {
        return Ok(x.clone());
    }
    let mut padded = b.pad(x, pairs.as_slice())?;
    // the region to be written next: axes that are not yet handled have only the range of the original elements, so in
    // a corner where two borders meet, the value of the later axis is written
    let mut within: Vec<Slice> =
        pairs.iter().zip(&shape).map(|(&(before, _), &len)| Slice::from(before..before + len)).collect();
    for (axis, &(before, after)) in pairs.iter().enumerate() {
        let end = before + shape[axis];
        for (side, border) in [(0, 0..before), (1, end..end + after)] {
            within[axis] = Slice::from(border);
            let value = b.getitem(&values, [Slice::from(axis), Slice::from(side)])?;
            b.set(&mut padded, within.as_slice(), value)?;
        }
        within[axis] = Slice::ALL;
    }
    Ok(padded)
}

/// Pads arrays with `value` to the largest length of each axis, and stacks them along a new first axis.
pub fn pad_stack<B: Backend, T: Element>(b: &B, xs: &[&B::Array<T>], value: Number) -> Result<B::Array<T>> {
    const OP: &str = "pad_stack";
    let shapes: Vec<&[usize]> = xs.iter().map(|x| b.shape(x)).collect();
    let (shape, value) = (rules::pad_stacked(OP, &shapes, T::dtype().size())?, value.element::<T>(OP)?);
    if shapes.iter().all(|one| *one == &shape[1..]) {
        return b.stack(xs);
    }
    let mut joined = b.full(shape, value)?;
    for (k, (x, shape)) in xs.iter().zip(shapes).enumerate() {
        let place: Vec<Slice> =
            [Slice::from(k)].into_iter().chain(shape.iter().map(|&len| Slice::from(0..len))).collect();
        b.set(&mut joined, place, *x)?;
    }
    Ok(joined)
}
