//! The two steps of non-uniform Fourier transforms that involve points: values at non-uniform points are spread over a
//! grid, or a grid is interpolated at the points. Each rank has some of the points, and the whole grid.

use crate::{Layout, Sharded, ShardedArray, Split, array::LocalPart};
use backends::{
    Backend, ComplexFloat, Error, Real, Result,
    options::*,
    runtime::{
        rules::{self, Spreading},
        spreading::KernelOptions,
    },
};
use std::{borrow::Cow, ops::Range, sync::Arc};

/// Splits the points over the ranks. If there are too few points for a split, every rank gets all points.
fn points_by_rank<'a, B: Backend, T: Real>(
    b: &Sharded<B>,
    op: &'static str,
    points: &'a ShardedArray<B, T>,
) -> Result<Cow<'a, ShardedArray<B, T>>> {
    match points.split() {
        Some(0) => Ok(Cow::Borrowed(points)),
        _ => b.split_along(op, Cow::Borrowed(points), Some(0)),
    }
}

/// Sorts the points of each rank. The result is split over the ranks; the part of each rank describes the sorted points
/// of that rank.
pub fn nufft_sort<B: Backend, T: Real>(
    b: &Sharded<B>,
    points: &ShardedArray<B, T>,
    grid: &[usize],
    width: usize,
) -> Result<ShardedArray<B, i64>> {
    let op = "nufft_sort";
    rules::on_grid(op, &points.layout.shape, grid)?;
    sorted(b, op, &*points_by_rank(b, op, points)?, grid, width)
}

fn sorted<B: Backend, T: Real>(
    b: &Sharded<B>,
    op: &'static str,
    points: &ShardedArray<B, T>,
    grid: &[usize],
    width: usize,
) -> Result<ShardedArray<B, i64>> {
    let part = b.within.nufft_sort(&points.part, grid, width);
    if points.split().is_none() || b.ranks() == 1 {
        let part = part?;
        return Ok(b.array(Layout::new(b.within.shape(&part), points.layout.split.clone()), part));
    }
    // a coordinate of one rank may be infinite or NaN
    let part = b.agreed(op, part)?;
    let own = points.layout.ranges(b.ranks())[b.rank()].len();
    let records = points.layout.shape[1] + 1;
    let starts = b.within.size(&part) - own * records;
    let held = sorted_ranges(b, points, starts);
    let length = held.last().map_or(0, |last| last.end);
    Ok(b.array(Layout::new([length], Some(Split { axis: 0, held: Some(held) })), part))
}

/// The range of each rank in the result of `nufft_sort`. A rank has a record of a few numbers for each of its points,
/// followed by `starts` numbers: for each tile (block) of the grid, the index of its first record.
fn sorted_ranges<B: Backend, T: Real>(
    b: &Sharded<B>,
    points: &ShardedArray<B, T>,
    starts: usize,
) -> Arc<[Range<usize>]> {
    let (records, mut end) = (points.layout.shape[1] + 1, 0);
    let next = |rows: Range<usize>| {
        let start = end;
        end += rows.len() * records + starts;
        start..end
    };
    points.layout.ranges(b.ranks()).iter().cloned().map(next).collect()
}

/// Returns this rank's part of `sorted`, or an error if `sorted` is not split like the result of `nufft_sort` for these
/// points.
fn own_sorted<'a, B: Backend, T: Real>(
    b: &Sharded<B>,
    op: &'static str,
    points: &ShardedArray<B, T>,
    sorted: &'a ShardedArray<B, i64>,
) -> Result<&'a LocalPart<B, i64>> {
    let wrong = || Error::argument(op, "`sorted` is not the result of `nufft_sort` for these points, grid and width");
    if b.ranks() == 1 {
        return Ok(&sorted.part);
    }
    let ([length], Some(_)) = (&sorted.layout.shape[..], points.split()) else {
        return if sorted.split() == points.split() { Ok(&sorted.part) } else { Err(wrong()) };
    };
    let records = points.layout.size() + points.layout.shape[0];
    let starts = length.checked_sub(records).filter(|all| all.is_multiple_of(b.ranks())).ok_or_else(wrong)?;
    let expected = sorted_ranges(b, points, starts / b.ranks());
    let is_split_so = sorted.layout.split.as_ref().is_some_and(|split| split.held.as_ref() == Some(&expected));
    if is_split_so { Ok(&sorted.part) } else { Err(wrong()) }
}

/// Spreads points over a grid. Each rank spreads its own points over a separate, whole grid. Then each rank computes
/// its part of the result: it adds this part of the grids of all ranks, in the order of the ranks.
#[allow(clippy::too_many_arguments)] // the parameters of the row
pub fn nufft_spread<B: Backend, T: ComplexFloat>(
    b: &Sharded<B>,
    points: &ShardedArray<B, T::Real>,
    values: &ShardedArray<B, T>,
    grid: &[usize],
    width: usize,
    beta: f64,
    eps: f64,
    axis: isize,
    sorted: Option<&ShardedArray<B, i64>>,
) -> Result<ShardedArray<B, T>> {
    let op = "nufft_spread";
    let Spreading { shape, .. } = rules::spread(op, &points.layout.shape, &values.layout.shape, grid, size_of::<T>())?;
    KernelOptions { width, beta, eps, axis }.kernel(op, grid.len())?;
    let points = points_by_rank(b, op, points)?;
    let sorted = match sorted {
        Some(sorted) => Cow::Borrowed(own_sorted(b, op, &points, sorted)?),
        None => Cow::Owned(self::sorted(b, op, &points, grid, width)?.part),
    };
    let options = NufftSpreadOptions::new().eps(eps).axis(axis).sorted(&*sorted);
    let Some(split) = points.layout.split.as_ref().filter(|_| b.ranks() > 1) else {
        let values = b.gather(op, Cow::Borrowed(values))?;
        return b.settle(b.within.nufft_spread_with(&points.part, &values, grid, width, beta, options)?);
    };
    let values = b.with_rows(op, Cow::Borrowed(values), values.layout.shape.len() - 1, split.held.as_ref())?;
    // `sorted` may belong to other points of one rank
    let own = b.agreed(op, b.within.nufft_spread_with(&points.part, &*values, grid, width, beta, options))?;
    let Some(axis) = b.usual_axis(&shape) else {
        let counts = vec![b.within.size(&own); b.ranks()];
        let mut all = b.gather_parts(op, &own, &counts)?;
        return b.settle(added(b, || all.next(&b.within, &shape))?);
    };
    let layout = Layout::along(&shape[..], axis);
    let send = b.ranges(shape[axis]).into_iter().map(|range| Ok(vec![b.cut(&own, axis, range)?]));
    let send = send.collect::<Result<Vec<_>>>()?;
    let mine = layout.part(&b.mine(shape[axis]));
    let mut all = b.exchange(op, &send, &vec![mine.iter().product(); b.ranks()])?;
    let part = added(b, || all.next(&b.within, &mine))?;
    Ok(b.array(layout, part))
}

/// Adds one array of each rank. `next` returns these arrays in the order of the ranks.
fn added<B: Backend, T: ComplexFloat>(
    b: &Sharded<B>,
    mut next: impl FnMut() -> Result<LocalPart<B, T>>,
) -> Result<LocalPart<B, T>> {
    let mut sum = next()?;
    for _ in 1..b.ranks() {
        sum = b.within.add(sum, next()?)?;
    }
    Ok(sum)
}

/// Interpolates a grid at points. Each rank has the whole grid, and interpolates it at its own points.
#[allow(clippy::too_many_arguments)] // the parameters of the row
pub fn nufft_interpolate<B: Backend, T: ComplexFloat>(
    b: &Sharded<B>,
    points: &ShardedArray<B, T::Real>,
    grid: &ShardedArray<B, T>,
    width: usize,
    beta: f64,
    eps: f64,
    axis: isize,
    sorted: Option<&ShardedArray<B, i64>>,
) -> Result<ShardedArray<B, T>> {
    let op = "nufft_interpolate";
    let found = rules::interpolated_grid(op, &points.layout.shape, &grid.layout.shape, size_of::<T>())?;
    KernelOptions { width, beta, eps, axis }.kernel(op, found.grid.len())?;
    let points = points_by_rank(b, op, points)?;
    let sorted = match sorted {
        Some(sorted) => Cow::Borrowed(own_sorted(b, op, &points, sorted)?),
        None => Cow::Owned(self::sorted(b, op, &points, &found.grid, width)?.part),
    };
    let options = NufftInterpolateOptions::new().eps(eps).axis(axis).sorted(&*sorted);
    let grid = b.whole(op, Cow::Borrowed(grid))?;
    let part = b.within.nufft_interpolate_with(&points.part, &grid, width, beta, options);
    let Some(split) = &points.layout.split else { return b.settle(part?) };
    let part = b.agreed(op, part)?;
    let split = Split { axis: found.shape.len() - 1, held: split.held.clone() };
    Ok(b.array(Layout::new(found.shape, Some(split)), part))
}
