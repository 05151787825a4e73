//! The window of a tile: a separate array for the cells of a grid that the tile's points touch.

use super::{
    layout::{Layout, TilePart},
    sort::Sorted,
};

/// Minimum number of spare cells after the end of each row, so that whole vectors can be loaded and stored.
const SPARE: usize = 12;

/// A window: the box of cells of a periodic grid that some points touch, and the layout of these cells in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Smallest cell index of a point along each axis; `high` is the largest one. A point's cell contains the point's
    /// position minus half of the kernel's width. The point's neighbourhood begins at the next cell.
    pub low: [i32; 3],
    pub high: [i32; 3],
    /// Number of cells along each axis.
    lengths: [usize; 3],
    /// Number of cells from one row to the next.
    pub row: usize,
}

impl Window {
    /// Returns the window for some points of a tile. It has the cells for the whole tile or, if the points are few,
    /// only the cells around these points.
    pub fn new(layout: &Layout, sorted: &Sorted<'_>, part: TilePart) -> Window {
        let tile = layout.tile_at(part.tile);
        let mut window = Window { low: [0; 3], high: [0; 3], lengths: [1; 3], row: 0 };
        let cells: usize = (0..layout.axes).map(|axis| layout.tile[axis] + layout.width - 1).product();
        let few = (part.end - part.start) * 4 < cells;
        for axis in 0..layout.axes {
            let start = tile[axis] * layout.tile[axis];
            let end = (start + layout.tile[axis]).min(layout.lengths[axis]);
            let (mut low, mut high) = (start as i32, end as i32 - 1);
            if few {
                let record = layout.axes + 1;
                let places = sorted.records[part.start * record..part.end * record].iter().skip(axis).step_by(record);
                let (mut first, mut last) = (f64::MAX, 0.0);
                for place in places.map(|&bits| f64::from_bits(bits as u64)) {
                    first = if place < first { place } else { first };
                    last = if place > last { place } else { last };
                }
                let tile = (low, high);
                low = (first as i32).clamp(tile.0, tile.1);
                high = (last as i32).clamp(low, tile.1);
            }
            window.low[axis] = low;
            window.high[axis] = high;
            window.lengths[axis] = (high - low) as usize + layout.width;
        }
        window.row = (window.lengths[0] + SPARE).next_multiple_of(8);
        window
    }

    /// Number of cells from one plane to the next.
    pub fn plane(&self) -> usize {
        self.row * self.lengths[1]
    }

    /// Number of cells, including the spare cells after the ends of rows.
    pub fn size(&self) -> usize {
        self.plane() * self.lengths[2] + SPARE
    }

    /// Calls `f` for each stretch of cells that is contiguous both in the window and in the grid. `f` gets the
    /// stretch's first cell in the window, its first cell in the grid, and its length.
    #[inline(always)]
    pub fn stretches(&self, layout: &Layout, mut f: impl FnMut(usize, usize, usize)) {
        let [across, down, deep] = layout.lengths;
        // the neighbourhood of a point begins one cell after the point's cell
        let on_grid = |axis: usize, i: usize| {
            if axis < layout.axes { (self.low[axis] as usize + 1 + i) % layout.lengths[axis] } else { 0 }
        };
        debug_assert!(layout.axes > 2 || deep == 1);
        for z in 0..self.lengths[2] {
            for y in 0..self.lengths[1] {
                let here = z * self.plane() + y * self.row;
                let there = (on_grid(2, z) * down + on_grid(1, y)) * across;
                let (mut x, mut column) = (0, on_grid(0, 0));
                while x < self.lengths[0] {
                    let length = (self.lengths[0] - x).min(across - column);
                    f(here + x, there + column, length);
                    x += length;
                    column = 0;
                }
            }
        }
    }

    /// Calls `f` with the first spare cell of each row, and the number of spare cells in a row.
    pub fn spare_cells(&self, mut f: impl FnMut(usize, usize)) {
        for row in 0..self.lengths[1] * self.lengths[2] {
            f(row * self.row + self.lengths[0], self.row - self.lengths[0]);
        }
    }
}
