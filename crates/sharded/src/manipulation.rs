//! Ops that change the shape or the order of elements. Some only permute, insert or remove axes, and send nothing. The
//! others move rows, the indices along the split axis, from rank to rank.

use crate::{
    Layout, Sharded, ShardedArray, Split,
    array::LocalPart,
    rows::{Moving, Run, runs_of},
};
use backends::{Number, Result, prelude::*, runtime::rules};
use std::{borrow::Cow, ops::Range};

/// Converts axes for the inner backend.
fn list(axes: &[usize]) -> Axes {
    Axes::from(axes)
}

/// Builds a result whose axis `k` is axis `order[k]` of `x`; if `order[k]` is `None`, axis `k` is new.
fn renamed<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    order: &[Option<usize>],
    part: LocalPart<B, T>,
) -> ShardedArray<B, T> {
    let shape: Vec<usize> = order.iter().map(|axis| axis.map_or(1, |axis| x.layout.shape[axis])).collect();
    let split = x.layout.split.as_ref().and_then(|split| {
        let axis = order.iter().position(|axis| *axis == Some(split.axis))?;
        Some(Split { axis, held: split.held.clone() })
    });
    b.array(Layout::new(shape, split), part)
}

fn some(order: &[usize]) -> Vec<Option<usize>> {
    order.iter().copied().map(Some).collect()
}

pub fn permute_dims<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    axes: Axes,
) -> Result<ShardedArray<B, T>> {
    let order = rules::permutation("permute_dims", axes, &x.layout.shape)?;
    Ok(renamed(b, x, &some(&order), b.within.permute_dims(&x.part, axes)?))
}

pub fn transpose<B: Backend, T: Element>(b: &Sharded<B>, x: &ShardedArray<B, T>) -> Result<ShardedArray<B, T>> {
    let order: Vec<usize> = (0..x.layout.shape.len()).rev().collect();
    Ok(renamed(b, x, &some(&order), b.within.transpose(&x.part)?))
}

pub fn matrix_transpose<B: Backend, T: Element>(b: &Sharded<B>, x: &ShardedArray<B, T>) -> Result<ShardedArray<B, T>> {
    rules::matrix("matrix_transpose", &x.layout.shape)?;
    let n = x.layout.shape.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.swap(n - 2, n - 1);
    Ok(renamed(b, x, &some(&order), b.within.matrix_transpose(&x.part)?))
}

pub fn moveaxis<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    source: Axes,
    destination: Axes,
) -> Result<ShardedArray<B, T>> {
    let order = rules::moved("moveaxis", source, destination, x.layout.shape.len())?;
    Ok(renamed(b, x, &some(&order), b.within.moveaxis(&x.part, source, destination)?))
}

pub fn expand_dims<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    axis: Axes,
) -> Result<ShardedArray<B, T>> {
    let places = rules::new_axes("expand_dims", axis, x.layout.shape.len())?;
    let mut order = some(&(0..x.layout.shape.len()).collect::<Vec<_>>());
    places.into_iter().for_each(|place| order.insert(place, None));
    Ok(renamed(b, x, &order, b.within.expand_dims(&x.part, axis)?))
}

pub fn squeeze<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    axis: Axes,
) -> Result<ShardedArray<B, T>> {
    let gone = rules::single_axes("squeeze", axis, &x.layout.shape)?;
    let order: Vec<usize> = (0..x.layout.shape.len()).filter(|axis| !gone.contains(axis)).collect();
    // passes the axes explicitly, because this part may have length 1 along the split axis although the whole array is
    // longer
    let part = b.within.squeeze(&x.part, list(&gone))?;
    Ok(renamed(b, x, &some(&order), part))
}

pub fn broadcast_to<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    shape: &[usize],
) -> Result<ShardedArray<B, T>> {
    let op = "broadcast_to";
    rules::check_broadcast_to(op, &x.layout.shape, shape)?;
    rules::count(op, shape, size_of::<T>())?;
    let new = shape.len() - x.layout.shape.len();
    let axis = match x.split() {
        Some(axis) => Some(axis + new),
        None => b.usual_axis(shape),
    };
    let Some(axis) = axis else { return Ok(b.array(Layout::whole(shape), b.within.broadcast_to(&x.part, shape)?)) };
    let repeats = axis < new || x.layout.shape[axis - new] == 1;
    let (split, from) = match (&x.layout.split, repeats) {
        (Some(split), _) => (Split { axis, held: split.held.clone() }, x.part.clone()),
        (None, true) => (Split { axis, held: None }, x.part.clone()),
        (None, false) => (Split { axis, held: None }, b.cut(&x.part, axis - new, b.mine(shape[axis]))?),
    };
    let layout = Layout::new(shape, Some(split));
    let rows = layout.ranges(b.ranks())[b.rank()].clone();
    let part = b.within.broadcast_to(&from, layout.part(&rows))?;
    Ok(b.array(layout, part))
}

pub fn broadcast_arrays<B: Backend, T: Element>(
    b: &Sharded<B>,
    xs: &[&ShardedArray<B, T>],
) -> Result<Vec<ShardedArray<B, T>>> {
    let op = "broadcast_arrays";
    let shape = rules::broadcast_all(op, xs.iter().map(|x| &x.layout.shape[..]))?;
    xs.iter().map(|x| broadcast_to(b, x, &shape).map_err(|why| why.within(op))).collect()
}

pub fn concat<B: Backend, T: Element>(
    b: &Sharded<B>,
    xs: &[&ShardedArray<B, T>],
    axis: Option<isize>,
) -> Result<ShardedArray<B, T>> {
    let op = "concat";
    let Some(axis) = axis else {
        let shapes: Vec<&[usize]> = xs.iter().map(|x| &x.layout.shape[..]).collect();
        rules::joined_rows(op, &shapes, size_of::<T>())?;
        let rows = xs.iter().map(|x| crate::manipulation::flatten(b, x)).collect::<Result<Vec<_>>>()?;
        return concat(b, &rows.iter().collect::<Vec<_>>(), Some(0));
    };
    let shapes: Vec<&[usize]> = xs.iter().map(|x| &x.layout.shape[..]).collect();
    let (along, shape) = rules::joined(op, &shapes, axis, size_of::<T>())?;
    let layouts: Vec<&Layout> = xs.iter().map(|x| &x.layout).collect();
    let options = || ConcatOptions::new().axis(along as isize);
    let Some(split) = b.common_axis(&shape, &layouts) else {
        let parts = xs.iter().map(|x| b.gather(op, Cow::Borrowed(*x))).collect::<Result<Vec<_>>>()?;
        return b.settle(b.within.concat_with(&parts, options())?);
    };
    if split != along {
        let first = xs.iter().find(|x| x.split() == Some(split)).and_then(|x| x.layout.split.clone());
        let held = first.and_then(|split| split.held);
        let parts = xs.iter().map(|x| Ok(b.with_rows(op, Cow::Borrowed(*x), split, held.as_ref())?.into_owned()));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let layout = Layout::new(shape, Some(Split { axis: split, held }));
        return Ok(b.array(layout, b.within.concat_with(&parts, options())?));
    }
    if b.ranks() == 1 {
        let parts: Vec<_> = xs.iter().map(|x| x.part.clone()).collect();
        return Ok(b.array(Layout::along(shape, along), b.within.concat_with(&parts, options())?));
    }
    let wanted = b.ranges(shape[along]);
    let (mut at, mut runs, mut held, mut parts) = (0, Vec::new(), Vec::new(), Vec::new());
    for (source, x) in xs.iter().enumerate() {
        let n = x.layout.shape[along];
        runs.push(Run { source, from: 0, step: 1, to: at, len: n });
        match x.split() {
            Some(axis) => {
                // changes the split if the array is split along another axis; if the new axis is too short, every rank
                // gets the whole array
                let x =
                    if axis == along { Cow::Borrowed(*x) } else { b.split_along(op, Cow::Borrowed(*x), Some(along))? };
                if x.split().is_some() {
                    held.push(x.layout.ranges(b.ranks()));
                    parts.push(x.part.clone());
                } else {
                    let (own, rows) = kept(b, &x.part, along, at, &wanted)?;
                    held.push(rows);
                    parts.push(own);
                }
            }
            None => {
                let (own, rows) = kept(b, &x.part, along, at, &wanted)?;
                held.push(rows);
                parts.push(own);
            }
        }
        at += n;
    }
    let sources: Vec<_> = parts.iter().collect();
    let moving = Moving { sources: &sources, axis: along, held: &held, wanted: &wanted, runs: &runs, fill: None };
    let part = b.move_rows(op, moving)?;
    Ok(b.array(Layout::along(shape, along), part))
}

/// Cuts this rank's rows out of `x`, whose first row is row `at` of the concatenated result. `wanted` has each rank's
/// range of the result's rows. Every rank holds all of `x`, so nothing is sent. Returns this rank's rows, and for each
/// rank the range of its rows in `x`.
#[allow(clippy::type_complexity)] // this rank's rows, and the rows of all ranks
fn kept<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &LocalPart<B, T>,
    axis: usize,
    at: usize,
    wanted: &[Range<usize>],
) -> Result<(LocalPart<B, T>, Vec<Range<usize>>)> {
    let n = b.within.shape(x)[axis];
    let inside = |i: usize| i.clamp(at, at + n) - at;
    let held: Vec<Range<usize>> = wanted.iter().map(|rows| inside(rows.start)..inside(rows.end)).collect();
    Ok((b.cut(x, axis, held[b.rank()].clone())?, held))
}

pub fn stack<B: Backend, T: Element>(
    b: &Sharded<B>,
    xs: &[&ShardedArray<B, T>],
    axis: isize,
) -> Result<ShardedArray<B, T>> {
    let op = "stack";
    let shapes: Vec<&[usize]> = xs.iter().map(|x| &x.layout.shape[..]).collect();
    let (along, _) = rules::stacked(op, &shapes, axis, size_of::<T>())?;
    let wide = xs.iter().map(|x| expand_dims(b, x, Axes::from(along))).collect::<Result<Vec<_>>>()?;
    concat(b, &wide.iter().collect::<Vec<_>>(), Some(along as isize)).map_err(|why| why.within(op))
}

pub fn unstack<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    axis: isize,
) -> Result<Vec<ShardedArray<B, T>>> {
    let op = "unstack";
    let along = rules::axis(op, axis, x.layout.shape.len())?;
    let free = (0..x.layout.shape.len()).filter(|&k| k != along).find(|&k| b.may_split(x.layout.shape[k]));
    let x = match x.split() {
        Some(split) if split == along => b.split_along(op, Cow::Borrowed(x), free)?,
        _ => Cow::Borrowed(x),
    };
    let order: Vec<usize> = (0..x.layout.shape.len()).filter(|&k| k != along).collect();
    let parts = b.within.unstack_with(&x.part, UnstackOptions::new().axis(along as isize))?;
    Ok(parts.into_iter().map(|part| renamed(b, &x, &some(&order), part)).collect())
}

pub fn tile<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    repetitions: &[usize],
) -> Result<ShardedArray<B, T>> {
    let op = "tile";
    let shape = rules::tiled(op, &x.layout.shape, repetitions, size_of::<T>())?.shape;
    if shape.contains(&0) {
        return b.zeros(&shape[..]);
    }
    let Some(axis) = x.split() else { return b.settle(b.within.tile(&x.part, repetitions)?) };
    let new = shape.len() - x.layout.shape.len();
    let at = axis + new;
    if b.ranks() == 1 {
        return b.alone(b.within.tile(&x.part, repetitions)?, at);
    }
    let mut times = vec![1; shape.len()];
    times[shape.len() - repetitions.len()..].copy_from_slice(repetitions);
    let along = std::mem::replace(&mut times[at], 1);
    let mut wide = shape.clone();
    wide[at] = x.layout.shape[axis];
    let split = x.layout.split.clone().map(|split| Split { axis: at, ..split });
    let y = b.array(Layout::new(wide, split), b.within.tile(&x.part, times)?);
    if along == 1 {
        return Ok(y);
    }
    let n = x.layout.shape[axis];
    let mut runs = rules::list(op, along)?;
    runs.extend((0..along).map(|k| Run { source: 0, from: 0, step: 1, to: k * n, len: n }));
    b.moved(op, Cow::Owned(y), at, shape[at], &runs, None)
}

pub fn repeat<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    repeats: usize,
    axis: Option<isize>,
) -> Result<ShardedArray<B, T>> {
    let op = "repeat";
    let Some(given) = axis else {
        let row = flatten(b, x).map_err(|why| why.within(op))?;
        return repeat(b, &row, repeats, Some(0));
    };
    let (along, repeated) = rules::repeated(op, &x.layout.shape, repeats, given, size_of::<T>())?;
    if repeated.shape.contains(&0) {
        return b.zeros(&repeated.shape[..]);
    }
    let part = b.within.repeat(&x.part, repeats, along as isize)?;
    let Some(split) = &x.layout.split else { return b.settle(part) };
    if split.axis != along {
        return Ok(b.array(Layout::new(repeated.shape, Some(split.clone())), part));
    }
    if b.ranks() == 1 {
        return b.alone(part, along);
    }
    // moves each rank's repeated rows to the default layout of the longer axis
    let held: Vec<Range<usize>> =
        x.layout.ranges(b.ranks()).iter().map(|rows| rows.start * repeats..rows.end * repeats).collect();
    let len = repeated.shape[along];
    let run = Run { source: 0, from: 0, step: 1, to: 0, len };
    let long = Split { axis: along, held: Some(held.into()) };
    let y = b.array(Layout::new(repeated.shape, Some(long)), part);
    b.moved(op, Cow::Owned(y), along, len, &[run], None)
}

/// Rolls the array along each axis `k` by `shifts[k]` elements.
fn shifted<B: Backend, T: Element>(
    b: &Sharded<B>,
    op: &'static str,
    x: &ShardedArray<B, T>,
    shifts: &[usize],
) -> Result<ShardedArray<B, T>> {
    let here: Vec<usize> =
        (0..shifts.len()).filter(|&k| (Some(k) != x.split() || b.ranks() == 1) && shifts[k] != 0).collect();
    let part = match &here[..] {
        [] => x.part.clone(),
        here => {
            let places: Vec<isize> = here.iter().map(|&k| shifts[k] as isize).collect();
            b.within.roll(&x.part, places, list(here))?
        }
    };
    let y = b.array(x.layout.clone(), part);
    let Some(axis) = x.split().filter(|&axis| shifts[axis] != 0 && b.ranks() > 1) else { return Ok(y) };
    let (n, by) = (x.layout.shape[axis], shifts[axis]);
    let runs = [
        Run { source: 0, from: n - by, step: 1, to: 0, len: by },
        Run { source: 0, from: 0, step: 1, to: by, len: n - by },
    ];
    b.moved(op, Cow::Owned(y), axis, n, &runs, None)
}

pub fn roll<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    shift: &[isize],
    axis: Axes,
) -> Result<ShardedArray<B, T>> {
    let op = "roll";
    match rules::roll(op, shift, axis, &x.layout.shape)? {
        rules::Roll::Axes(shifts) => shifted(b, op, x, &shifts),
        rules::Roll::Row(by) => {
            let row = shifted(b, op, &flatten(b, x).map_err(|why| why.within(op))?, &[by])?;
            reshaped(b, op, &row, &x.layout.shape)
        }
    }
}

pub fn fftshift<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    axes: Axes,
) -> Result<ShardedArray<B, T>> {
    let op = "fftshift";
    shifted(b, op, x, &rules::halves(op, axes, &x.layout.shape, |n| n / 2)?)
}

pub fn ifftshift<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    axes: Axes,
) -> Result<ShardedArray<B, T>> {
    let op = "ifftshift";
    shifted(b, op, x, &rules::halves(op, axes, &x.layout.shape, |n| n.div_ceil(2))?)
}

pub fn flip<B: Backend, T: Element>(b: &Sharded<B>, x: &ShardedArray<B, T>, axis: Axes) -> Result<ShardedArray<B, T>> {
    let op = "flip";
    let axes = axis.resolve(op, x.layout.shape.len())?;
    let here: Vec<usize> = axes.iter().copied().filter(|&k| Some(k) != x.split() || b.ranks() == 1).collect();
    let part = if here.is_empty() { x.part.clone() } else { b.within.flip(&x.part, list(&here))? };
    let y = b.array(x.layout.clone(), part);
    let Some(axis) = x.split().filter(|axis| axes.contains(axis) && b.ranks() > 1) else { return Ok(y) };
    let n = x.layout.shape[axis];
    b.moved(op, Cow::Owned(y), axis, n, &[Run { source: 0, from: n - 1, step: -1, to: 0, len: n }], None)
}

pub fn pad<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    widths: &[usize],
    mode: PadMode,
    value: Number,
) -> Result<ShardedArray<B, T>> {
    let op = "pad";
    let fill = value.element::<T>(op)?;
    let (widths, shape) = rules::padded(op, &x.layout.shape, widths, mode, size_of::<T>())?;
    let options = PadOptions::new().mode(mode).value(value);
    let Some(axis) = x.split() else { return b.settle(b.within.pad_with(&x.part, widths, options)?) };
    if b.ranks() == 1 {
        return b.alone(b.within.pad_with(&x.part, widths, options)?, axis);
    }
    let (before, after, n) = (widths[2 * axis], widths[2 * axis + 1], x.layout.shape[axis]);
    let mut here = widths;
    (here[2 * axis], here[2 * axis + 1]) = (0, 0);
    let part = if here.iter().all(|&n| n == 0) { x.part.clone() } else { b.within.pad_with(&x.part, here, options)? };
    let mut between = shape.clone();
    between[axis] = n;
    let y = b.array(Layout::new(between, x.layout.split.clone()), part);
    if before == 0 && after == 0 {
        return Ok(y);
    }
    let (runs, fill) = match mode {
        PadMode::Constant => (vec![Run { source: 0, from: 0, step: 1, to: before, len: n }], Some(fill)),
        _ => (runs_of(&rules::pad_sources(op, n, before, after, mode)?), None),
    };
    b.moved(op, Cow::Owned(y), axis, shape[axis], &runs, fill)
}

/// Returns the elements in C order as a 1-D array.
pub fn flatten<B: Backend, T: Element>(b: &Sharded<B>, x: &ShardedArray<B, T>) -> Result<ShardedArray<B, T>> {
    let op = "flatten";
    reshaped(b, op, x, &[rules::count(op, &x.layout.shape, size_of::<T>())?])
}

pub fn reshape<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    shape: &[isize],
) -> Result<ShardedArray<B, T>> {
    let op = "reshape";
    reshaped(b, op, x, &rules::infer(op, &x.layout.shape, shape)?)
}

/// Reshapes the array: the elements keep their C order.
fn reshaped<B: Backend, T: Element>(
    b: &Sharded<B>,
    op: &'static str,
    x: &ShardedArray<B, T>,
    shape: &[usize],
) -> Result<ShardedArray<B, T>> {
    rules::count(op, shape, size_of::<T>())?;
    let local = |part: &LocalPart<B, T>, shape: &[usize]| {
        b.within.reshape(part, shape.iter().map(|&n| n as isize).collect::<Vec<_>>())
    };
    if shape.contains(&0) {
        return b.zeros(shape);
    }
    let Some(axis) = x.split() else { return b.settle(local(&x.part, shape)?) };
    // nothing moves if the new shape has an axis of the split axis's length, with the same product of lengths before it
    let before: usize = x.layout.shape[..axis].iter().product();
    let mut elements = 1;
    for (at, &n) in shape.iter().enumerate() {
        if elements == before && n == x.layout.shape[axis] {
            let layout = Layout::new(shape, x.layout.split.clone().map(|split| Split { axis: at, ..split }));
            let rows = layout.ranges(b.ranks())[b.rank()].clone();
            let part = local(&x.part, &layout.part(&rows))?;
            return Ok(b.array(layout, part));
        }
        elements *= n;
    }
    // otherwise, splits the array along its first axis with more than one element, and moves ranges of the flattened
    // array
    let first = x.layout.shape.iter().position(|&n| n > 1).unwrap_or(0);
    let x = b.split_along(op, Cow::Borrowed(x), Some(first))?;
    if x.split().is_none() {
        return b.settle(local(&x.part, shape)?);
    }
    if b.ranks() == 1 {
        let to = shape.iter().position(|&n| n > 1).unwrap_or(0);
        return b.alone(local(&x.part, shape)?, to);
    }
    let Some(to) = shape.iter().position(|&n| n > 1).filter(|&to| b.may_split(shape[to])) else {
        // if the first axis of the result with more than one element is too short, gathers the array and splits it
        // along another axis
        return b.settle(local(&b.gather(op, x)?, shape)?);
    };
    let (row, new_row) =
        (x.layout.shape[first + 1..].iter().product::<usize>(), shape[to + 1..].iter().product::<usize>());
    let flat = local(&x.part, &[b.within.size(&x.part)])?;
    let held: Vec<Range<usize>> = b.ranges(x.layout.shape[first]).iter().map(|r| r.start * row..r.end * row).collect();
    let wanted: Vec<Range<usize>> = b.ranges(shape[to]).iter().map(|r| r.start * new_row..r.end * new_row).collect();
    let run = Run { source: 0, from: 0, step: 1, to: 0, len: x.layout.size() };
    let moving = Moving { sources: &[&flat], axis: 0, held: &[held], wanted: &wanted, runs: &[run], fill: None };
    let part = b.move_rows(op, moving)?;
    let layout = Layout::along(shape, to);
    let part = local(&part, &layout.part(&b.mine(shape[to])))?;
    Ok(b.array(layout, part))
}
