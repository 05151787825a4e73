//! Interpolation at the points of a grid, one row of the result at a time. All points of a row lie between the same
//! few lines (1-D slices along the last axis) of the array. So these lines are first combined into one line, in spans
//! that fit the cache. Each point is then interpolated along this line only.

use super::{
    super::{parallel, simd::versions},
    Pixel,
    sample::{Place, Taps},
};
use backend_core::{Result, rules};
use std::ops::Range;

/// Maximum number of elements of a line that are combined at a time. They stay in the L1 cache.
const SPAN: usize = 512;

/// Maximum number of lines that are combined for one row of the result: 4 along each of two axes.
const LINES: usize = 16;

/// Consecutive points of a row of the result.
enum Piece {
    /// Points that are interpolated together. They depend only on `len` elements of a line, beginning with index
    /// `first`.
    Joined { points: Range<usize>, first: isize, len: usize },
    /// Points at the edges of the axis, each of which is computed separately.
    Alone(Range<usize>),
}

/// The index of a point's first tap along the last axis, and the weights of its `W` taps. A tap is an element of the
/// array that the point depends on. This type is smaller than `Taps`.
struct Near<const W: usize> {
    at: isize,
    weight: [f64; W],
}

/// The rows of a grid, and the arrays that are interpolated at their points.
pub struct Rows<'a, P> {
    /// For each axis (2 or 3 of them), the taps of all positions along this axis.
    pub tables: &'a [Vec<Taps>],
    /// Number of elements from the start of one input array to the start of the next; there may be several arrays of
    /// the same shape.
    pub apart: usize,
    /// Address of the input arrays.
    pub from: *const P,
    /// Address of the result.
    pub to: *mut P,
    /// Function that writes a range of points one by one.
    pub one_by_one: &'a (dyn Fn(Range<usize>) + Sync),
}

// SAFETY: elements are only read, and each task writes its own rows.
unsafe impl<P: Sync> Sync for Rows<'_, P> {}

impl<P: Pixel> Rows<'_, P> {
    /// Returns whether this module can interpolate along `count` axes at this order, and whether there are so many
    /// points that it is faster to combine lines. `from` is the length of the last axis of the array, and `to` is the
    /// number of points along this axis.
    pub fn suit(count: usize, order: usize, channels: usize, from: usize, to: usize) -> bool {
        matches!(count, 2 | 3) && matches!(order, 1 | 3) && channels == 1 && from / 2 <= to
    }

    /// Interpolates at all `n` points, and writes the results.
    ///
    /// # Safety
    /// The arrays and the result must fit the tables, nobody else may use the result, and `W` must be the number of
    /// taps along an axis, which is the order of the spline plus 1.
    pub unsafe fn run<const W: usize>(&self, op: &'static str, n: usize) -> Result<()> {
        let Some((last, outer)) = self.tables.split_last() else { return Ok(()) };
        let (width, pieces) = (last.len(), pieces::<W>(op, last)?);
        let mut near: Vec<Near<W>> = rules::list(op, width)?;
        near.extend(last.iter().map(|taps| Near { at: taps.at[0], weight: std::array::from_fn(|k| taps.weight[k]) }));
        parallel::parallel_timed(n / width, width, |rows| {
            for row in rows {
                let (mut rest, mut lines, mut count, mut inside) = (row, [(0, 1.0); LINES], 1, true);
                // replaces each line by its `W` neighbours along the axis of `table`, and the weight of the line by its
                // products with the weights of the neighbours
                for table in outer.iter().rev() {
                    let taps = &table[rest % table.len()];
                    rest /= table.len();
                    inside &= taps.place == Place::Inside;
                    if !inside {
                        // the row is computed point by point, because a position beyond the array has no offset
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
                        // SAFETY: the address is within an array of the stack, all lines are inside that array, and the
                        // points belong to this row.
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

/// Divides the points of a row into ranges for joint interpolation, and ranges of single points.
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
    /// Combines lines into one line, and writes the points interpolated along it. Each line is given by its offset
    /// from `line` and its weight.
    ///
    /// # Safety
    /// Each line must have `len` elements, at most `SPAN`, and `to` must have room for the points. The taps of the
    /// points must be among these elements, and the first element has the offset `first`.
    unsafe fn joined[P: Pixel, const W: usize][P, W](lines: &[(isize, f64)], line: *const P, len: usize, near: &[Near<W>], first: isize, to: *mut P) {
        let mut sums = [P::number(0.0); SPAN];
        let sums = &mut sums[..len];
        let mut pairs = lines.chunks_exact(2);
        // SAFETY: the lines have `len` elements.
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
            // SAFETY: the taps are among the elements, and `to` has room for the point.
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
