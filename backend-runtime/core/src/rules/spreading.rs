//! Rules for spreading and interpolation between non-uniform points and a grid. Spreading adds the value at each point
//! to the grid points around it. Interpolation computes the value at each point from the grid points around it.

use super::count;
use crate::{Error, Result};

/// The plan of a spreading or of an interpolation.
#[derive(Clone, Debug, PartialEq)]
pub struct Spreading {
    /// Number of points.
    pub points: usize,
    /// Number of grids to which values are spread, or which are interpolated.
    pub batch: usize,
    /// Lengths of one grid's axes.
    pub grid: Vec<usize>,
    /// Shape of the result.
    pub shape: Vec<usize>,
}

/// Plans the spreading of values of shape (.., points) over grids of the lengths `grid`. The points have the shape
/// (points, axes), and an element has `size` bytes.
pub fn spread(op: &'static str, points: &[usize], values: &[usize], grid: &[usize], size: usize) -> Result<Spreading> {
    let n = on_grid(op, points, grid)?;
    let front = match values {
        [front @ .., last] if *last == n => front,
        _ => return Err(Error::shapes(op, points, values)),
    };
    let batch = count(op, front, size)?;
    let shape = [front, grid].concat();
    count(op, &shape, size)?;
    Ok(Spreading { points: n, batch, grid: grid.to_vec(), shape })
}

/// Plans the interpolation of grids of shape (.., lengths) at points of shape (points, axes).
pub fn interpolated_grid(op: &'static str, points: &[usize], grid: &[usize], size: usize) -> Result<Spreading> {
    let axes = match points {
        [_, axes] => *axes,
        _ => return Err(not_points(op, points)),
    };
    let Some((front, lengths)) = grid.len().checked_sub(axes).map(|front| grid.split_at(front)) else {
        return Err(Error::shapes(op, points, grid));
    };
    let n = on_grid(op, points, lengths)?;
    let batch = count(op, front, size)?;
    let shape = [front, &[n]].concat();
    count(op, &shape, size)?;
    Ok(Spreading { points: n, batch, grid: lengths.to_vec(), shape })
}

/// Returns the number of points. `points` is the shape (number of points, number of axes). The shape `grid` must have
/// this number of axes.
pub fn on_grid(op: &'static str, points: &[usize], grid: &[usize]) -> Result<usize> {
    let &[n, axes @ 1..=3] = points else {
        return Err(not_points(op, points));
    };
    if grid.len() != axes {
        return Err(Error::shapes(op, points, grid));
    }
    if grid.contains(&0) {
        return Err(Error::shape(op, grid, "of the grid must have elements"));
    }
    if grid.iter().any(|&length| i32::try_from(length).is_err()) {
        return Err(Error::shape(op, grid, format!("of the grid may have at most {} points along an axis", i32::MAX)));
    }
    // the indices of sorted points have 32 bits
    if u32::try_from(n).is_err() {
        return Err(Error::memory(op, count(op, points, 8).map_or(usize::MAX, |n| n * 8)));
    }
    Ok(n)
}

fn not_points(op: &'static str, points: &[usize]) -> Error {
    Error::shape(op, points, "of the points must be (points, axes), with 1 to 3 axes")
}
