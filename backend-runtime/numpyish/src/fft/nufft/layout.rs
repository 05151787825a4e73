//! Divides the grid of a nonuniform FFT into tiles, and each tile into bins. The nonuniform points are sorted by tile
//! and bin, so that successive points touch neighbouring cells of the grid.
//!
//! In this module, axis 0 is the grid's last axis, which is contiguous in memory.

use backend_core::{Result, rules};

/// Desired lengths of a tile along each axis, in cells, for grids of one to three axes. The cells of a tile of this
/// size stay in the cache.
const TILE: [[usize; 3]; 3] = [[2048, 1, 1], [64, 64, 1], [32, 16, 16]];

/// Lengths of a bin along each axis, in cells, for grids of one to three axes.
const BIN: [[usize; 3]; 3] = [[2048, 1, 1], [64, 16, 1], [16, 4, 4]];

/// A tile with at most this number of points is not divided into parts.
const MIN_PART: usize = 8192;

/// The division of a grid into tiles, and of each tile into bins.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Number of the grid's axes.
    pub axes: usize,
    /// Width of the kernel, in cells.
    pub width: usize,
    /// Lengths of the grid's axes, in cells; missing axes have length 1.
    pub lengths: [usize; 3],
    /// Length of a tile along each axis, in cells; the last tile may be shorter.
    pub tile: [usize; 3],
    /// Number of tiles along each axis: 1 or an even number. Then tiles of the same colour are not adjacent, not even
    /// across the ends of the periodic axis.
    pub tiles: [usize; 3],
    /// Length of a bin along each axis, in cells; the last bin of a tile may be shorter.
    bin: [usize; 3],
    /// Number of bins of a tile along each axis.
    bins: [usize; 3],
    /// Largest number of points in a part of a tile.
    part: usize,
}

/// Some or all points of one tile. One task processes them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TilePart {
    pub tile: usize,
    /// Index of the part's first point among the sorted points; `end` is the index after the last one.
    pub start: usize,
    pub end: usize,
}

impl Layout {
    pub fn new(grid: &[usize], width: usize) -> Layout {
        let axes = grid.len();
        let ones = [1; 3];
        let mut layout = Layout { axes, width, lengths: ones, tile: ones, tiles: ones, bin: ones, bins: ones, part: 0 };
        for axis in 0..axes {
            let length = grid[axes - 1 - axis];
            layout.lengths[axis] = length;
            (layout.tile[axis], layout.tiles[axis]) = cut(length, TILE[axes - 1][axis], width);
            layout.bin[axis] = BIN[axes - 1][axis].min(layout.tile[axis]);
            layout.bins[axis] = layout.tile[axis].div_ceil(layout.bin[axis]);
        }
        let cells: usize = (0..axes).map(|axis| layout.tile[axis] + width - 1).product();
        layout.part = MIN_PART.max(2 * cells);
        layout
    }

    /// Number of tiles.
    pub fn tile_count(&self) -> usize {
        self.tiles.iter().product()
    }

    /// Number of bins in a tile.
    pub fn bins_per_tile(&self) -> usize {
        self.bins.iter().product()
    }

    /// Returns the index along each axis of the tile with number `tile`.
    pub fn tile_at(&self, tile: usize) -> [usize; 3] {
        let [x, y, _] = self.tiles;
        [tile % x, tile / x % y, tile / x / y]
    }

    /// Length of the array of sorted points, in `i64` numbers. The array has a record for each point (its position
    /// along each axis and its index), then the index of each tile's first record, and the number of points.
    pub fn sorted_len(&self, op: &'static str, points: usize) -> Result<usize> {
        let records = rules::count(op, &[points, self.axes + 1], size_of::<i64>())?;
        rules::count(op, &[records.saturating_add(self.tile_count() + 1)], size_of::<i64>())
    }

    /// Returns the term of a point's sort key for one axis, if the point is in cell `cell` along this axis. The key is
    /// the sum of the terms of all axes.
    pub fn key(&self, axis: usize, cell: usize) -> u32 {
        let tile = cell / self.tile[axis];
        let bin = (cell - tile * self.tile[axis]) / self.bin[axis];
        let of_tile: usize = self.tiles[..axis].iter().product();
        let of_bin: usize = self.bins[..axis].iter().product();
        (tile * of_tile * self.bins_per_tile() + bin * of_bin) as u32
    }

    /// Divides the points of each tile into parts, and groups the parts by their tile's colour. Neighbouring tiles have
    /// different colours. `starts` has the index of each tile's first point, followed by the number of points.
    pub fn parts(&self, op: &'static str, starts: &[usize]) -> Result<[Vec<TilePart>; 8]> {
        let mut all: [Vec<TilePart>; 8] = Default::default();
        for tile in 0..self.tile_count() {
            let [x, y, z] = self.tile_at(tile);
            let parts = &mut all[(x & 1) | (y & 1) << 1 | (z & 1) << 2];
            let (mut start, end) = (starts[tile], starts[tile + 1]);
            // the parts of a tile have about the same length
            let count = (end - start).div_ceil(self.part).max(1);
            let length = (end - start).div_ceil(count);
            while start < end {
                let stop = end.min(start + length);
                parts
                    .try_reserve(1)
                    .map_err(|_| backend_core::Error::memory(op, parts.len() * size_of::<TilePart>()))?;
                parts.push(TilePart { tile, start, end: stop });
                start = stop;
            }
        }
        Ok(all)
    }
}

/// Divides an axis of `length` cells into tiles of about `aimed` cells. Returns the length of a tile and the number of
/// tiles. If there are several tiles, each has at least `width - 1` cells. A window reaches at most `width - 1` cells
/// beyond its tile, so the windows of two tiles with another tile between them do not overlap.
fn cut(length: usize, aimed: usize, width: usize) -> (usize, usize) {
    let mut count = (length as f64 / aimed as f64 / 2.0).round() as usize * 2;
    while count >= 2 {
        let tile = length.div_ceil(count);
        let last = (length as isize) - (tile * (count - 1)) as isize;
        if tile + 1 >= width && last + 1 >= width as isize {
            return (tile, count);
        }
        count -= 2;
    }
    (length, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_the_axis_and_colours_are_apart() {
        for length in (1..300).chain([1000, 1023, 4096, 100_000]) {
            for aimed in [16, 32, 64, 2048] {
                for width in [2, 7, 16] {
                    let (tile, count) = cut(length, aimed, width);
                    assert!(count == 1 || count.is_multiple_of(2));
                    assert!(tile * count >= length && tile * (count - 1) < length, "{length} {aimed} {width}");
                    // the first and the last cell of each tile's window
                    let spans: Vec<_> =
                        (0..count).map(|t| (t * tile + 1, (tile * (t + 1)).min(length) - 1 + width)).collect();
                    for even in [0, 1] {
                        let mut touched = vec![0; length];
                        for (first, last) in spans.iter().skip(even).step_by(2) {
                            (*first..=*last).for_each(|cell| touched[cell % length] += 1);
                        }
                        assert!(count == 1 || touched.iter().all(|&n| n < 2), "{length} {aimed} {width}");
                    }
                }
            }
        }
    }

    #[test]
    fn keys_of_a_tile_follow_each_other() {
        let layout = Layout::new(&[40, 100], 5);
        let mut seen = vec![0; layout.tile_count() * layout.bins_per_tile()];
        for y in 0..40 {
            for x in 0..100 {
                let key = (layout.key(0, x) + layout.key(1, y)) as usize;
                let [tx, ty, _] = layout.tile_at(key / layout.bins_per_tile());
                assert_eq!((tx, ty), (x / layout.tile[0], y / layout.tile[1]));
                seen[key] += 1;
            }
        }
        assert_eq!(seen.iter().sum::<usize>(), 4000);
    }
}
