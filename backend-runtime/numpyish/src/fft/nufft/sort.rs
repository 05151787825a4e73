//! Converts points from angles to positions on the grid, in units of cells, and sorts them by tile and bin. The
//! conversion moves points by whole periods into the grid, and is called folding.

use super::layout::Layout;
use backend_core::{
    Error, Real, Result,
    numpyish::{
        buffer,
        parallel::{Shared, parallel},
        simd::versions,
    },
    rules, threads,
};
use std::{
    f64::consts::PI,
    sync::atomic::{AtomicBool, Ordering},
};

/// Number of points that are folded (moved into one period of the grid) at a time.
const BLOCK: usize = 512;

/// Minimum number of points per thread if several threads count the points with each sort key.
const CHUNK: usize = 16384;

/// Maximum length, in cells, of an axis for which a table has the results of [`Layout::key`] for all cells.
const TABULATED: usize = 16384;

/// Sorted points. Each point has a record: its position along each axis, as the bits of a float64, and its index among
/// the unsorted points. The records are followed by the index of the first record of each tile, and by the number of
/// points.
#[derive(Clone, Copy, Debug)]
pub struct Sorted<'a> {
    /// Records of `axes + 1` numbers each.
    pub records: &'a [i64],
    /// Number of points.
    pub points: usize,
    starts: &'a [i64],
}

impl<'a> Sorted<'a> {
    /// Splits `all` into records and tile starts. `all` must be a result of [`sort`] for this layout and this number of
    /// points. The positions and indices in the records are not checked, so code that reads them must keep them within
    /// their ranges.
    pub fn new(op: &'static str, layout: &Layout, points: usize, all: &'a [i64]) -> Result<Sorted<'a>> {
        let wrong =
            || Error::argument(op, "`sorted` is not the result of `nufft_sort` for these points, grid and width");
        if all.len() != layout.sorted_len(op, points)? {
            return Err(wrong());
        }
        let (records, starts) = all.split_at(points * (layout.axes + 1));
        let ascending = starts.is_sorted() && starts.first() == Some(&0) && starts.last() == Some(&(points as i64));
        if ascending { Ok(Sorted { records, points, starts }) } else { Err(wrong()) }
    }

    /// Returns the index of the first record of each tile, followed by the number of points.
    pub fn starts(&self, op: &'static str) -> Result<Vec<usize>> {
        let mut starts = rules::list(op, self.starts.len())?;
        starts.extend(self.starts.iter().map(|&start| start as usize));
        Ok(starts)
    }
}

/// Sorts `points` of shape (points, axes), which are angles in radians. Points of the same bin keep their order. The
/// result has [`Layout::sorted_len`] numbers.
pub fn sort<T: Real>(op: &'static str, points: &[T], layout: &Layout) -> Result<Vec<i64>> {
    match layout.axes {
        1 => sort_along::<T, 1>(op, points, layout),
        2 => sort_along::<T, 2>(op, points, layout),
        _ => sort_along::<T, 3>(op, points, layout),
    }
}

fn sort_along<T: Real, const AXES: usize>(op: &'static str, points: &[T], layout: &Layout) -> Result<Vec<i64>> {
    let n = points.len() / AXES;
    let keys = layout.tile_count() * layout.bins_per_tile();
    // keys are 32-bit numbers; a grid with more than 2^32 keys does not fit into memory
    if u32::try_from(keys).is_err() {
        return Err(buffer::no_memory(op, keys.saturating_mul(size_of::<u32>())));
    }
    let folding = Folding::<AXES>::new(layout);
    let mut tables: [Vec<u32>; AXES] = std::array::from_fn(|_| Vec::new());
    for (axis, table) in tables.iter_mut().enumerate() {
        // longer axes have no table, because it would not stay in the cache
        let length = if layout.lengths[axis] <= TABULATED { layout.lengths[axis] } else { 0 };
        *table = buffer::vec(op, length)?;
        table.extend((0..length).map(|cell| layout.key(axis, cell)));
    }
    let chunks = if n < 2 * CHUNK { 1 } else { threads::count().min(n / CHUNK) };
    let length = n.div_ceil(chunks).max(1);
    let chunk = |c: usize| (c * length).min(n)..((c + 1) * length).min(n);

    // computes the key of each point, and counts the points with each key in each chunk
    let mut key = buffer::zeros::<u32>(op, n)?;
    let mut counts = buffer::zeros::<u32>(op, rules::count(op, &[chunks, keys], size_of::<u32>())?)?;
    let not_finite = AtomicBool::new(false);
    {
        let (key, counts) = (Shared::new(&mut key), Shared::new(&mut counts));
        parallel(chunks, 1, |range| {
            for c in range {
                // SAFETY: chunks are disjoint, and so are their counts.
                let (key, counts) = unsafe { (key.part(chunk(c)), counts.part(c * keys..(c + 1) * keys)) };
                let mut folded = [Folded::NONE; AXES];
                let mut finite = true;
                for (block, key) in key.chunks_mut(BLOCK).enumerate() {
                    let start = chunk(c).start + block * BLOCK;
                    finite &= folding.fold(&points[start * AXES..][..key.len() * AXES], &mut folded);
                    for (axis, (table, folded)) in tables.iter().zip(&folded).enumerate() {
                        let cells = folded.cells.iter().map(|&cell| cell as usize);
                        if table.is_empty() {
                            key.iter_mut().zip(cells).for_each(|(key, cell)| *key += layout.key(axis, cell));
                        } else {
                            key.iter_mut().zip(cells).for_each(|(key, cell)| *key += table[cell]);
                        }
                    }
                    key.iter().for_each(|&key| counts[key as usize] += 1);
                }
                if !finite {
                    not_finite.store(true, Ordering::Relaxed);
                }
            }
        });
    }
    if not_finite.into_inner() {
        return Err(Error::argument(op, "a coordinate is not finite"));
    }

    // replaces each count by the index of the first record for that chunk and key
    let mut sorted = buffer::zeros::<i64>(op, layout.sorted_len(op, n)?)?;
    let (records, starts) = sorted.split_at_mut(n * (AXES + 1));
    let mut next = 0;
    for k in 0..keys {
        if k % layout.bins_per_tile() == 0 {
            starts[k / layout.bins_per_tile()] = next.into();
        }
        for c in 0..chunks {
            let count = &mut counts[c * keys + k];
            (*count, next) = (next, next + *count);
        }
    }
    starts[layout.tile_count()] = next.into();

    let (records, counts) = (Shared::new(records), Shared::new(&mut counts));
    parallel(chunks, 1, |range| {
        for c in range {
            // SAFETY: chunks have disjoint counts.
            let next = unsafe { counts.part(c * keys..(c + 1) * keys) };
            let mut folded = [Folded::NONE; AXES];
            for (block, key) in key[chunk(c)].chunks(BLOCK).enumerate() {
                let start = chunk(c).start + block * BLOCK;
                folding.fold(&points[start * AXES..][..key.len() * AXES], &mut folded);
                for (i, &key) in key.iter().enumerate() {
                    let at = next[key as usize] as usize;
                    next[key as usize] += 1;
                    // SAFETY: every point has its own record, because the ranges of records per chunk and key are
                    // disjoint.
                    let record = unsafe { records.part(at * (AXES + 1)..(at + 1) * (AXES + 1)) };
                    for axis in 0..AXES {
                        record[axis] = folded[axis].places[i].to_bits() as i64;
                    }
                    record[AXES] = (start + i) as i64;
                }
            }
        }
    });
    Ok(sorted)
}

/// The points of one block, along one axis. For each point: its position on the grid minus half of the kernel's width,
/// in cells, and the cell that contains this shifted position.
#[derive(Clone, Copy)]
struct Folded {
    places: [f64; BLOCK],
    cells: [u32; BLOCK],
}

impl Folded {
    const NONE: Folded = Folded { places: [0.0; BLOCK], cells: [0; BLOCK] };
}

/// Converts angles to positions on the grid, in cells.
struct Folding<const AXES: usize> {
    lengths: [f64; AXES],
    half_width: f64,
}

impl<const AXES: usize> Folding<AXES> {
    fn new(layout: &Layout) -> Self {
        Folding {
            lengths: std::array::from_fn(|axis| layout.lengths[axis] as f64),
            half_width: layout.width as f64 / 2.0,
        }
    }

    /// Converts the points to shifted positions (see [`Folded`]) with `0 <= position < length` along each axis,
    /// beginning with the contiguous axis. Returns whether all coordinates are finite.
    fn fold<T: Real>(&self, points: &[T], folded: &mut [Folded; AXES]) -> bool {
        let mut finite = true;
        for (axis, folded) in folded.iter_mut().enumerate() {
            let points = points.as_chunks().0;
            // SAFETY: the function has no conditions besides the instruction set, which it chooses itself.
            finite &=
                unsafe { fold_axis::<T, AXES>(points, AXES - 1 - axis, self.lengths[axis], self.half_width, folded) };
        }
        finite
    }
}

versions! {
    /// Converts the coordinates along one axis to shifted positions (see [`Folded`]). Returns whether all coordinates
    /// are finite.
    unsafe fn fold_axis[T: Real, const AXES: usize][T, AXES](
        points: &[[T; AXES]], axis: usize, length: f64, half_width: f64, folded: &mut Folded,
    ) -> bool {
        let (mut not_finite, inverse) = (0_u64, 1.0 / length);
        let cells = folded.cells.iter_mut();
        for ((place, cell), point) in folded.places.iter_mut().zip(cells).zip(points) {
            let angle = point[axis].to_f64();
            let turns = angle * (0.5 / PI);
            let at = (turns - turns.floor()) * length - half_width;
            // the position may be several lengths below 0, because a kernel may be wider than the grid
            let at = at - (at * inverse).floor() * length;
            // rounding may have made the subtracted number of lengths too large by one, or the position equal to
            // `length`
            let at = if at < 0.0 { at + length } else { at };
            let at = if at >= length { at - length } else { at };
            *place = at;
            // NaN is counted in cell 0
            let within = if at < length { at } else { 0.0 };
            // SAFETY: the number is at least 0 and less than the length of an axis, so an `i32` can hold it.
            *cell = unsafe { within.to_int_unchecked::<i32>() } as u32;
            not_finite |= u64::from(!angle.is_finite());
        }
        not_finite == 0
    }
}
