//! Interpolation on a grid, row by row. The lines of the array that a row of the result lies between are the same for all of its points, so that these
//! are joined into one line first, a part of it at a time, and points then have neighbours along one axis only.

use super::{
    super::{parallel, simd::versions},
    Pixel,
    sample::{Place, Taps},
};
use crate::{Result, rules};
use std::ops::Range;

/// Elements of a line that are joined at once: they stay in the first-level cache.
const SPAN: usize = 512;

/// Most lines that one row lies between: 4 along each of two axes.
const LINES: usize = 16;

/// Consecutive points of a row.
enum Piece {
    /// Points that all depend on `len` elements of a line, from `first` on, alone.
    Joined { points: Range<usize>, first: isize, len: usize },
    /// Points at the edges of the axis, which are computed one by one.
    Alone(Range<usize>),
}

/// The taps of a point along the last axis, in less memory.
struct Near<const W: usize> {
    at: isize,
    weight: [f64; W],
}

/// The rows of a grid.
pub struct Rows<'a, P> {
    /// The places along each axis, of 2 or 3.
    pub tables: &'a [Vec<Taps>],
    /// Elements from one array of the stack to the next.
    pub apart: usize,
    /// The arrays.
    pub from: *const P,
    /// The points of the result.
    pub to: *mut P,
    /// Writes a range of points one by one.
    pub one_by_one: &'a (dyn Fn(Range<usize>) + Sync),
}

// SAFETY: elements are only read, and each task writes rows of its own.
unsafe impl<P: Sync> Sync for Rows<'_, P> {}

impl<P: Pixel> Rows<'_, P> {
    /// Whether there is a loop for as many axes of this length, with splines of this order, and enough points that lines are worth joining.
    pub fn suit(count: usize, order: usize, channels: usize, from: usize, to: usize) -> bool {
        matches!(count, 2 | 3) && matches!(order, 1 | 3) && channels == 1 && from / 2 <= to
    }

    /// Writes all points of `n`.
    ///
    /// # Safety
    /// The elements and the points are those of the tables, nobody else uses the points, and the order is that of `W` taps.
    pub unsafe fn run<const W: usize>(&self, op: &'static str, n: usize) -> Result<()> {
        let Some((last, outer)) = self.tables.split_last() else { return Ok(()) };
        let (width, pieces) = (last.len(), pieces::<W>(op, last)?);
        let mut near: Vec<Near<W>> = rules::list(op, width)?;
        near.extend(last.iter().map(|taps| Near { at: taps.at[0], weight: std::array::from_fn(|k| taps.weight[k]) }));
        parallel::parallel_timed(n / width, width, |rows| {
            for row in rows {
                let (mut rest, mut lines, mut count, mut inside) = (row, [(0, 1.0); LINES], 1, true);
                // of every line so far, the ones beside it along one axis more
                for table in outer.iter().rev() {
                    let taps = &table[rest % table.len()];
                    rest /= table.len();
                    inside &= taps.place == Place::Inside;
                    if !inside {
                        // the row is computed point by point: a place beyond the array has no offset
                        break;
                    }
                    for k in (0..count * W).rev() {
                        let (at, weight) = lines[k % count];
                        lines[k] = (at + taps.at[k / count], weight * taps.weight[k / count]);
                    }
                    count *= W;
                }
                let start = row * width;
                if !inside {
                    (self.one_by_one)(start..start + width);
                    continue;
                }
                for piece in &pieces {
                    match piece {
                        Piece::Alone(points) => (self.one_by_one)(start + points.start..start + points.end),
                        // SAFETY: an array of the stack; lines that are inside of it, and points of this row.
                        Piece::Joined { points, first, len } => unsafe {
                            let line = self.from.add(rest * self.apart).offset(*first);
                            let to = self.to.add(start + points.start);
                            joined::<P, W>(&lines[..count], line, *len, &near[points.clone()], *first, to);
                        },
                    }
                }
            }
        });
        Ok(())
    }
}

/// The points of an axis.
fn pieces<const W: usize>(op: &'static str, table: &[Taps]) -> Result<Vec<Piece>> {
    let mut pieces: Vec<Piece> = rules::list(op, table.len())?;
    for (k, taps) in table.iter().enumerate() {
        let (at, inside) = (taps.at[0], taps.place == Place::Inside);
        match pieces.last_mut() {
            Some(Piece::Joined { points, first, len })
                if inside && at >= *first && (at - *first) as usize + W <= SPAN =>
            {
                points.end = k + 1;
                *len = (*len).max((at - *first) as usize + W);
            }
            Some(Piece::Alone(points)) if !inside => points.end = k + 1,
            _ if inside => pieces.push(Piece::Joined { points: k..k + 1, first: at, len: W }),
            _ => pieces.push(Piece::Alone(k..k + 1)),
        }
    }
    Ok(pieces)
}

versions! {
    /// Points between lines, which are given by their distances from `line` and their weights.
    ///
    /// # Safety
    /// Every line has `len` elements, no more than `SPAN`, and `to` has room for the points, whose taps lie among these elements, the first of
    /// which has the offset `first`.
    unsafe fn joined[P: Pixel, const W: usize][P, W](lines: &[(isize, f64)], line: *const P, len: usize, near: &[Near<W>], first: isize, to: *mut P) {
        let mut sums = [P::number(0.0); SPAN];
        let sums = &mut sums[..len];
        let mut pairs = lines.chunks_exact(2);
        // SAFETY: the elements of lines.
        unsafe {
            if let Some(&[(a, v), (b, w)]) = pairs.next() {
                let (a, b) = (line.offset(a), line.offset(b));
                for (k, sum) in sums.iter_mut().enumerate() {
                    *sum = (*a.add(k)).wide() * v + (*b.add(k)).wide() * w;
                }
            }
            for pair in pairs {
                let &[(a, v), (b, w)] = pair else { continue };
                let (a, b) = (line.offset(a), line.offset(b));
                for (k, sum) in sums.iter_mut().enumerate() {
                    *sum = *sum + ((*a.add(k)).wide() * v + (*b.add(k)).wide() * w);
                }
            }
        }
        for (k, near) in near.iter().enumerate() {
            // SAFETY: the elements of a point, and its place.
            unsafe {
                let at = sums.as_ptr().add((near.at - first) as usize);
                let mut value = *at * near.weight[0];
                for tap in 1..W {
                    value = value + *at.add(tap) * near.weight[tap];
                }
                *to.add(k) = P::rounded(value);
            }
        }
    }
}
