//! Ops that look up points in a table. Every rank holds the whole table, and looks up its own points.

use crate::{Layout, Sharded, ShardedArray, Split};
use backends::{
    Operand, Result,
    prelude::*,
    runtime::{Precision, WideFloat, rules},
};
use std::borrow::Cow;

pub fn searchsorted<B: Backend, T: Ordered>(
    b: &Sharded<B>,
    x1: &ShardedArray<B, T>,
    x2: Operand<'_, Sharded<B>, T>,
    side: Side,
    sorter: Option<&ShardedArray<B, i64>>,
) -> Result<ShardedArray<B, i64>> {
    let op = "searchsorted";
    rules::sorted(op, &x1.layout.shape)?;
    let table = b.whole(op, Cow::Borrowed(x1))?;
    let sorter = sorter.map(|sorter| b.whole(op, Cow::Borrowed(sorter))).transpose()?;
    let mut options = SearchsortedOptions::new().side(side);
    if let Some(sorter) = &sorter {
        options = options.sorter(sorter);
    }
    let plan = b.plan_each(op, &[Sharded::layout_of(&x2)])?;
    let points = b.arrange_operand(op, &plan, 0, x2)?;
    b.place(op, &plan, b.within.searchsorted_with(&table, points, options)?)
}

pub fn interp<B: Backend, T: Precision>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    xp: &ShardedArray<B, T>,
    fp: &ShardedArray<B, T>,
    left: Option<f64>,
    right: Option<f64>,
) -> Result<ShardedArray<B, T>> {
    let op = "interp";
    rules::interpolated(op, &xp.layout.shape, &fp.layout.shape)?;
    let (xp, fp) = (b.whole(op, Cow::Borrowed(xp))?, b.whole(op, Cow::Borrowed(fp))?);
    let mut options = InterpOptions::new();
    if let Some(left) = left {
        options = options.left(left);
    }
    if let Some(right) = right {
        options = options.right(right);
    }
    let part = b.within.interp_with(&x.part, &xp, &fp, options)?;
    Ok(b.array(x.layout.clone(), part))
}

/// Interpolates an image at points. Each rank has the whole image, and interpolates it at its own points.
#[allow(clippy::too_many_arguments)] // the parameters of the row
pub fn map_coordinates<B: Backend, T: WideFloat>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    coordinates: &ShardedArray<B, T::Real>,
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
) -> Result<ShardedArray<B, T>> {
    let op = "map_coordinates";
    rules::mapped(op, &x.layout.shape, &coordinates.layout.shape, size_of::<T>())?;
    let options = MapCoordinatesOptions::new().order(order).mode(mode).cval(cval).prefilter(prefilter);
    let image = b.whole(op, Cow::Borrowed(x))?;
    // the first axis of `coordinates` counts the coordinates of each point, and is not an axis of the result
    let points = match coordinates.split() {
        Some(0) => {
            let shape = &coordinates.layout.shape;
            let other = (1..shape.len()).find(|&axis| b.may_split(shape[axis]));
            b.split_along(op, Cow::Borrowed(coordinates), other)?
        }
        _ => Cow::Borrowed(coordinates),
    };
    let part = b.within.map_coordinates_with(&image, &points.part, options)?;
    let Some(split) = &points.layout.split else { return b.settle(part) };
    let split = Split { axis: split.axis - 1, held: split.held.clone() };
    Ok(b.array(Layout::new(&points.layout.shape[1..], Some(split)), part))
}

/// Samples a grid at coordinates. Each rank has the whole grid, and samples it at its own coordinates.
pub fn grid_sample<B: Backend, T: WideFloat>(
    b: &Sharded<B>,
    grid: &ShardedArray<B, T>,
    coordinates: &ShardedArray<B, T::Real>,
    mode: Boundary,
    cval: f64,
) -> Result<ShardedArray<B, T>> {
    let op = "grid_sample";
    let found = rules::grid_sampled(op, &grid.layout.shape, &coordinates.layout.shape, size_of::<T>())?;
    let options = GridSampleOptions::new().mode(mode).cval(cval);
    let grid = b.whole(op, Cow::Borrowed(grid))?;
    // the coordinates cannot be split along the first axis, because it is the batch axis of both arrays, nor along the
    // last axis, because the result does not have it
    let shape = &coordinates.layout.shape;
    let is_of_points = |axis: &usize| (1..shape.len() - 1).contains(axis) && b.may_split(shape[*axis]);
    let axis = coordinates.split().filter(is_of_points).or_else(|| (0..shape.len()).find(is_of_points));
    let points = b.split_along(op, Cow::Borrowed(coordinates), axis)?;
    let part = b.within.grid_sample_with(&grid, &points.part, options)?;
    let Some(split) = &points.layout.split else { return b.settle(part) };
    Ok(b.array(Layout::new(found.shape, Some(split.clone())), part))
}

/// Correlates lanes (1-D slices along `axis`) with weights. Each rank has some of the lanes, and all weights.
pub fn correlate1d<B: Backend, T: WideFloat>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    weights: &ShardedArray<B, T::Real>,
    axis: isize,
    mode: Boundary,
    cval: f64,
    origin: isize,
) -> Result<ShardedArray<B, T>> {
    let op = "correlate1d";
    rules::axis(op, axis, x.layout.shape.len())?;
    rules::weights(op, &weights.layout.shape)?;
    let weights = b.whole(op, Cow::Borrowed(weights))?;
    let plan = b.plan_lanes(op, &[Some(&x.layout)], &[Axes::from(axis)])?;
    let part = b.arrange(op, &plan, 0, Cow::Borrowed(x))?;
    let options = Correlate1dOptions::new().axis(axis).mode(mode).cval(cval).origin(origin);
    let result = b.within.correlate1d_with(&*part, &weights, options);
    b.place(op, &plan, result.map_err(|why| b.explained(&plan, why))?)
}
