//! The tiles of a grid, and the division of the work on a tile among the threads of a block. A job spreads some
//! points of one tile over a window, the part of the grid that the points of a tile touch. The kernel file
//! `nufft.cuh` describes the method.

use crate::kernel::Argument;
use backend_core::{Error, Result, rules, spreading::MAX_WIDTH};

/// Desired length of a tile along each axis, in cells, for grids of one, two and three axes.
const TILE: [usize; 3] = [256, 16, 8];

/// Maximum number of tiles of a grid. A grid with more tiles would not fit into the memory of any device.
const MAX_TILES: usize = 1 << 26;

/// Number of points whose values of the spreading function a block stores in shared memory at a time. The kernels have
/// the same constant.
const TOGETHER: usize = 32;

/// Shared memory that a block should not exceed, in bytes, so that several blocks run on a multiprocessor. A slab
/// (part of a window) of one plane may need more, up to 48 KiB, which every device has.
const SHARED: usize = 40 << 10;

/// Desired minimum and maximum number of threads per block.
const THREADS: [usize; 2] = [64, 256];

/// Minimum number of points between two cuts of the list of sorted points.
const MIN_PART_POINTS: usize = 512;

/// Counterpart of the C++ struct `Tiles` in the kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Tiles {
    /// Lengths of the grid's axes, beginning with the axis that is contiguous in memory. Grids with fewer than three
    /// axes have length 1 along the others.
    pub length: [u32; 3],
    /// Number of tiles along each axis: 1 or an even number. The windows of two tiles overlap only if the tiles are
    /// neighbours.
    pub tiles: [u32; 3],
    pub axes: u32,
    pub width: u32,
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for Tiles {}

impl Tiles {
    /// Divides a grid into tiles. The tiles depend only on the grid and the width of the spreading function (in cells),
    /// so that points can be sorted before their values are computed.
    pub fn new(op: &'static str, grid: &[usize], width: usize) -> Result<Tiles> {
        let axes = grid.len();
        let mut tiles = Tiles { length: [1; 3], tiles: [1; 3], axes: axes as u32, width: width as u32 };
        for (axis, &length) in grid.iter().rev().enumerate() {
            tiles.length[axis] = length as u32;
            tiles.tiles[axis] = cuts(length, TILE[axes - 1], width) as u32;
        }
        if tiles.tiles.iter().map(|&n| n as usize).product::<usize>() > MAX_TILES {
            return Err(Error::memory(op, rules::count(op, grid, 16)?.saturating_mul(16)));
        }
        Ok(tiles)
    }

    /// Number of tiles.
    pub fn count(&self) -> usize {
        self.tiles.iter().map(|&n| n as usize).product()
    }

    /// Returns the length of the array of sorted points. The array has a record for each point, the index of the first
    /// record of each tile, and the number of points.
    pub fn sorted_len(&self, op: &'static str, points: usize) -> Result<usize> {
        let records = rules::count(op, &[points, self.axes as usize + 1], size_of::<i64>())?;
        rules::count(op, &[records.saturating_add(self.count() + 1)], size_of::<i64>())
    }

    /// Returns the maximum length of a window along each axis, in cells: the length of a tile, plus the cells around
    /// the tile to which its points are spread.
    fn window(&self) -> [u32; 3] {
        let of_axis = |axis: usize| self.length[axis].div_ceil(self.tiles[axis]) + self.width - 1;
        std::array::from_fn(|axis| if axis < self.axes as usize { of_axis(axis) } else { 1 })
    }
}

/// Returns the number of tiles along an axis: 1, or an even number of tiles of at least `width - 1` cells each.
/// `aimed` is the desired length of a tile.
fn cuts(length: usize, aimed: usize, width: usize) -> usize {
    let aimed = aimed.max(width - 1);
    let wanted = (length as f64 / aimed as f64 / 2.0).round() as usize * 2;
    let most = length / (width - 1) / 2 * 2;
    wanted.min(most).max(1)
}

/// The windows, the threads and the shared memory of a block that spreads points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// Maximum lengths of a window along the axes.
    pub window: [u32; 3],
    /// Length along axis 2 of a slab. A slab is a part of a window that fits into shared memory.
    pub slab: u32,
    /// Number of slabs of a window.
    pub slabs: u32,
    /// Whether a job handles all slabs of a window. This is necessary if the window is longer than the grid, because
    /// two slabs then contain the same cells of the grid.
    pub is_whole: bool,
    /// Number of jobs that a block runs at the same time.
    pub groups: u32,
    /// Number of threads per job.
    pub lanes: u32,
    /// Number of threads of a job that have the same cells along axes 0 and 1. They divide the cells along axis 2.
    pub layers: u32,
    /// Bytes of shared memory per job.
    pub bytes: u32,
}

impl Block {
    /// Chooses the sizes of a block, for real numbers of `size` bytes.
    pub fn new(tiles: &Tiles, size: usize) -> Block {
        let (axes, width) = (tiles.axes as usize, tiles.width as usize);
        let window = tiles.window();
        let plane = (window[0] * window[1]) as usize * 2 * size;
        // sizes of the arrays `lines`, `weights` and `spots` of the kernels' struct `Memory`
        let tables = TOGETHER * (2 * width * size + (axes - 1) * width * size + 8);
        let fitting = (SHARED.saturating_sub(tables) / plane).clamp(1, window[2] as usize);
        let slabs = (window[2] as usize).div_ceil(fitting);
        let slab = (window[2] as usize).div_ceil(slabs);
        let slabs = (window[2] as usize).div_ceil(slab);
        let bytes = (tables + slab * plane).next_multiple_of(16);

        let flat = width.pow(axes.min(2) as u32);
        let layers = if axes == 3 { width.div_ceil(width.div_ceil((THREADS[1] / flat).min(width))) } else { 1 };
        let lanes = flat * layers;
        let groups = (THREADS[0] / lanes).min(SHARED / bytes).max(1);
        Block {
            window,
            slab: slab as u32,
            slabs: slabs as u32,
            is_whole: tiles.tiles[2] == 1,
            groups: groups as u32,
            lanes: lanes as u32,
            layers: layers as u32,
            bytes: bytes as u32,
        }
    }

    /// Number of threads, rounded up to whole warps.
    pub fn threads(&self) -> u32 {
        (self.groups * self.lanes).next_multiple_of(32)
    }

    /// Number of cells of a window.
    pub fn cells(&self) -> usize {
        self.window.iter().map(|&n| n as usize).product()
    }

    /// Number of jobs for each tile.
    pub fn jobs_per_tile(&self) -> usize {
        if self.is_whole { 1 } else { self.slabs as usize }
    }

    /// Returns the number of points between two cuts of the list of sorted points. If all points are in one tile, a
    /// block spreads this number of points, and then adds the windows of all other blocks. Adding a window is assumed
    /// to take as long as spreading three points.
    pub fn part(&self, points: usize) -> usize {
        let balanced = (3.0 * points as f64).sqrt() as usize;
        MIN_PART_POINTS.max(self.cells()).max(balanced).next_multiple_of(TOGETHER)
    }
}

const _: () = assert!(MAX_WIDTH * MAX_WIDTH <= THREADS[1], "a block has a thread for each cell of axes 0 and 1");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_of_one_colour_are_apart() {
        for length in (1..700).chain([1000, 1023, 4096, 100_000]) {
            for aimed in TILE {
                for width in 2..=MAX_WIDTH {
                    let count = cuts(length, aimed, width);
                    assert!(count == 1 || count.is_multiple_of(2), "{length} {aimed} {width}");
                    assert!(count == 1 || length / count + 1 >= width, "{length} {aimed} {width}");
                    assert!(length.div_ceil(count) <= 3 * aimed.max(width - 1) / 2 + width, "{length} {aimed} {width}");
                }
            }
        }
    }

    #[test]
    fn blocks_fit_every_device() {
        for axes in 1..=3 {
            for width in 2..=MAX_WIDTH {
                for length in (1..200).chain([1000]) {
                    let tiles = Tiles::new("test", &vec![length; axes], width).unwrap();
                    for size in [4, 8] {
                        let block = Block::new(&tiles, size);
                        let what = format!("{axes} {width} {length} {size}: {block:?}");
                        assert!(block.groups * block.bytes <= 48 << 10 && block.threads() <= 256, "{what}");
                        assert!(block.slab * block.slabs >= block.window[2], "{what}");
                        assert!(block.slab * (block.slabs - 1) < block.window[2], "{what}");
                        // the kernels pack a cell of the window into 16, 8 and 8 bits
                        assert!(block.window[0] < 1 << 16 && block.window[1].max(block.window[2]) < 1 << 8, "{what}");
                        assert!(block.layers <= tiles.width, "{what}");
                    }
                }
            }
        }
    }

    #[test]
    fn grids_that_fit_no_device_are_refused() {
        let long = i32::MAX as usize;
        assert!(Tiles::new("test", &[long], 2).is_ok());
        assert!(matches!(Tiles::new("test", &[long, long], 2), Err(Error::Memory { op: "test", .. })));
    }
}
