//! Spreads values at non-uniform points onto a grid, and interpolates a grid at non-uniform points.
//!
//! The grid is divided into tiles, and the points are sorted by the tile that contains them. A block of threads
//! spreads the points of a tile over a window (the part of the grid that these points touch) in shared memory, and
//! then adds the window to the grid. No sum uses atomics, so that results have the same bits in every run.

mod layout;

use crate::{
    Cuda, OpContext,
    array::RawArray,
    copy::contiguous,
    kernel::{Argument, Grid},
    program::{Instance, KernelList, Program, ProgramSource},
    sorting::{Rows, Wanted},
};
use backend_core::{
    DType, Error, Result,
    rules::{self, Spreading},
    spreading::{KernelOptions, SpreadingKernel},
};
use layout::{Block, Tiles};
use std::f64::consts::PI;

static PROGRAM: Program = Program { name: "nufft", source: ProgramSource::File(include_str!("../kernels/nufft.cuh")) };

/// The dtypes of points.
const POINTS: [DType; 4] = [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64];

/// The dtypes of tile numbers, by which points are sorted.
const KEYS: [DType; 3] = [DType::UInt8, DType::UInt16, DType::UInt32];

/// The template argument of the spreading kernel for each number of axes.
const AXES: [&str; 3] = ["1", "2", "3"];

/// The template arguments of the interpolation kernel, for each number of axes and each number of threads per point.
const LANES: [[&str; 4]; 3] =
    [["1, 2", "1, 4", "1, 8", "1, 16"], ["2, 2", "2, 4", "2, 8", "2, 16"], ["3, 2", "3, 4", "3, 8", "3, 16"]];

/// The kernels of this file, listed so that `check` can compile them all.
pub(crate) const KERNELS: KernelList = (&PROGRAM, || {
    let keys = |&points: &DType| KEYS.map(|key| Instance::new("point_keys", "", &[points, key]));
    let records = POINTS.iter().map(|&points| Instance::new("point_records", "", &[points]));
    let reals = |name, tag| [DType::Float32, DType::Float64].map(|real| Instance::new(name, tag, &[real]));
    let spread = AXES.into_iter().flat_map(|tag| reals("spread", tag));
    let interpolate = LANES.into_iter().flatten().flat_map(|tag| reals("interpolate", tag));
    let sort = POINTS.iter().flat_map(keys).chain(records).chain([Instance::new("tile_starts", "", &[])]);
    sort.chain(spread).chain(interpolate).collect()
});

/// Maximum size in bytes of the windows that one launch stores in device memory. The windows of a single grid may
/// exceed it.
const MAX_WINDOW_BYTES: usize = 256 << 20;

/// Number of blocks that an interpolation should have, so that the device is busy.
const BLOCKS: usize = 4096;

/// The colour of jobs that begin within a tile, not at the tile's first point. Every job has a colour. The jobs of one
/// colour write to different memory, so that one launch can run them all. The kernels have the same constant.
const LATER: u32 = 8;

/// Sorts the points in the order in which they are spread. The result has a record of position and index for each
/// point, followed by the index of the first record of each tile, and the number of points.
pub fn nufft_sort(on: OpContext<'_>, points: &RawArray, grid: &[usize], width: usize) -> Result<RawArray> {
    let OpContext { backend: b, op, .. } = on;
    on.require(&[points])?;
    rules::on_grid(op, &points.shape, grid)?;
    rules::count(op, grid, DType::Complex128.size())?;
    SpreadingKernel::new(op, width, 1.0)?;
    sorted(b, op, points, &Tiles::new(op, grid, width)?)
}

/// Sorts points by the tiles of the grid. The result has a record for each point: its position along each axis, as
/// bits of a float64, and its index. The records are followed by the index of the first record of each tile, and the
/// number of points.
fn sorted(b: &Cuda, op: &'static str, points: &RawArray, tiles: &Tiles) -> Result<RawArray> {
    let n = points.shape[0];
    let points = contiguous(b, op, points)?;
    let out = b.uninit_raw(op, DType::Int64, &[tiles.sorted_len(op, n)?])?;
    if n == 0 {
        b.set_bytes(op, &out, 0)?;
        return Ok(out);
    }
    // the sort needs fewer steps for keys with fewer bits
    let dtype = match tiles.count() {
        0..=0x100 => DType::UInt8,
        0x101..=0x1_0000 => DType::UInt16,
        _ => DType::UInt32,
    };
    let keys = b.uninit_raw(op, dtype, &[n])?;
    let not_finite = b.uninit_raw(op, DType::UInt64, &[1])?;
    b.set_bytes(op, &not_finite, 0)?;
    let (from, count) = (points.pointer(), n as u64);
    let kernel = b.kernel(op, &PROGRAM, Instance::new("point_keys", "", &[points.dtype, dtype]))?;
    // SAFETY: the arguments match the parameters of `point_keys`; there are `n` points with a coordinate for each axis,
    // and a key for each point.
    unsafe {
        b.launch(op, kernel, Grid::over(n), &[&from, &keys.pointer(), &count, tiles, &not_finite.pointer()])?;
    }
    let rows = Rows::sorted(b, op, &keys, n, false, Wanted::Order)?;
    let starts = out.sliced(0, n * (tiles.axes as usize + 1), tiles.count() + 1, 1);
    let kernel = b.kernel(op, &PROGRAM, Instance::new("point_records", "", &[points.dtype]))?;
    // SAFETY: the arguments match the parameters of `point_records`; the order has the number of each point, and the
    // array has a record for each point.
    unsafe { b.launch(op, kernel, Grid::over(n), &[&from, &rows.order_pointer(), &out.pointer(), &count, tiles])? };
    let kernel = b.kernel(op, &PROGRAM, Instance::new("tile_starts", "", &[]))?;
    let (grid, all) = (Grid::over(starts.size()), tiles.count() as u64);
    // SAFETY: the arguments match the parameters of `tile_starts`; there are `n` keys, and a start for each tile and
    // the end.
    unsafe { b.launch(op, kernel, grid, &[&rows.keys().pointer(), &starts.pointer(), &count, &all])? };
    // only now the host waits for the flag, while the device already works on the kernels above
    match b.download::<u64>(op, &not_finite)?[..] {
        [0] => Ok(out),
        _ => Err(Error::argument(op, "a coordinate is not finite")),
    }
}

/// Adds the values of points, weighted by the spreading function, to grids of zeros.
#[allow(clippy::too_many_arguments)] // the op table fixes the parameters
pub fn nufft_spread(
    on: OpContext<'_>,
    points: &RawArray,
    values: &RawArray,
    grid: &[usize],
    width: usize,
    beta: f64,
    eps: f64,
    axis: isize,
    sorted: Option<&RawArray>,
) -> Result<RawArray> {
    let OpContext { backend: b, op, dtype, .. } = on;
    require(on, points, values, sorted)?;
    let plan = rules::spread(op, &points.shape, &values.shape, grid, dtype.size())?;
    let task = Task::new(on, points, &plan, KernelOptions { width, beta, eps, axis }, sorted)?;
    let values = contiguous(b, op, values)?;
    let out = b.uninit_raw(op, dtype, &plan.shape)?;
    b.set_bytes(op, &out, 0)?;
    if out.size() > 0 && plan.points > 0 {
        task.spread(&values, &out)?;
    }
    Ok(out)
}

/// Computes for each point the sum of the grid cells near it, weighted by the spreading function.
#[allow(clippy::too_many_arguments)] // the op table fixes the parameters
pub fn nufft_interpolate(
    on: OpContext<'_>,
    points: &RawArray,
    grid: &RawArray,
    width: usize,
    beta: f64,
    eps: f64,
    axis: isize,
    sorted: Option<&RawArray>,
) -> Result<RawArray> {
    let OpContext { backend: b, op, dtype, .. } = on;
    require(on, points, grid, sorted)?;
    let plan = rules::interpolated_grid(op, &points.shape, &grid.shape, dtype.size())?;
    let task = Task::new(on, points, &plan, KernelOptions { width, beta, eps, axis }, sorted)?;
    let grid = contiguous(b, op, grid)?;
    let out = b.uninit_raw(op, dtype, &plan.shape)?;
    if sorted.is_some() {
        // records that the caller has passed may lack a point; the result for such a point is 0
        b.set_bytes(op, &out, 0)?;
    }
    if out.size() > 0 {
        task.interpolate(&grid, &out)?;
    }
    Ok(out)
}

/// Returns an error if an array does not have the dtype that the op requires for it, or is on another device.
fn require(on: OpContext<'_>, points: &RawArray, data: &RawArray, sorted: Option<&RawArray>) -> Result<()> {
    on.require(&[data])?;
    on.with_dtype(on.dtype.to_real()).require(&[points])?;
    on.with_dtype(DType::Int64).require(sorted.as_slice())?;
    [points, data].into_iter().chain(sorted).try_for_each(|x| on.backend.check(on.op, x))
}

/// A spreading or an interpolation of several grids.
struct Task<'a> {
    b: &'a Cuda,
    op: &'static str,
    plan: &'a Spreading,
    tiles: Tiles,
    real: DType,
    sorted: RawArray,
    /// Coefficients of two lists of polynomials: approximations of the spreading function, followed by their
    /// derivatives, which are used along the axis `derived`.
    polynomials: RawArray,
    terms: u32,
    /// Axis along which the spreading function is differentiated, counted from the contiguous axis; 3 if the function
    /// is not differentiated.
    derived: u32,
}

impl<'a> Task<'a> {
    fn new(
        on: OpContext<'a>,
        points: &RawArray,
        plan: &'a Spreading,
        options: KernelOptions,
        given: Option<&RawArray>,
    ) -> Result<Task<'a>> {
        let OpContext { backend: b, op, dtype, .. } = on;
        let (kernel, derived) = options.kernel(op, plan.grid.len())?;
        let tiles = Tiles::new(op, &plan.grid, options.width)?;
        let sorted = match given {
            None => sorted(b, op, points, &tiles)?,
            Some(given) if given.size() == tiles.sorted_len(op, plan.points)? => contiguous(b, op, given)?,
            Some(_) => {
                let why = "`sorted` is not the result of `nufft_sort` for these points, grid and width";
                return Err(Error::argument(op, why));
            }
        };
        let polynomials = kernel.polynomials(options.eps);
        let mut numbers = polynomials.rows().concat();
        if let Some(axis) = derived {
            // the variable of the polynomials grows by 2 within a cell, and n cells have the length 2 pi: the factor
            // of the derivative is n / pi
            numbers.extend(polynomials.derivative(plan.grid[axis] as f64 / PI).rows().concat());
        }
        let real = dtype.to_real();
        let table = b.uninit_raw(op, real, &[numbers.len()])?;
        match real {
            DType::Float32 => b.upload(op, &numbers.iter().map(|&x| x as f32).collect::<Vec<_>>(), &table)?,
            _ => b.upload(op, &numbers, &table)?,
        }
        Ok(Task {
            b,
            op,
            plan,
            tiles,
            real,
            sorted,
            polynomials: table,
            terms: polynomials.rows().len() as u32,
            derived: derived.map_or(3, |axis| (plan.grid.len() - 1 - axis) as u32),
        })
    }

    /// Number of cells of a grid.
    fn cells(&self) -> usize {
        self.plan.grid.iter().product()
    }

    /// For each batch entry, adds the values of the points to the entry's grid. Neither the points nor the grids may be
    /// empty.
    fn spread(&self, values: &RawArray, grids: &RawArray) -> Result<()> {
        let (b, op, plan) = (self.b, self.op, self.plan);
        let (size, block) = (self.real.size(), Block::new(&self.tiles, self.real.size()));
        let part = block.part(plan.points);
        // the list of sorted points is cut at the multiples of `part`; every cut except the first (at 0) may lie
        // within a tile
        let later = (plan.points - 1) / part;
        let per_grid = rules::count(op, &[later, block.cells()], 2 * size)?;
        let jobs = self.tiles.count().max(later) * block.jobs_per_tile();
        let together = together(plan.batch, jobs, per_grid * 2 * size);
        let windows = b.uninit_raw(op, values.dtype, &[together, later, block.cells()])?;
        let kernel = b.kernel(op, &PROGRAM, Instance::new("spread", AXES[plan.grid.len() - 1], &[self.real]))?;
        for first in (0..plan.batch).step_by(together) {
            let count = together.min(plan.batch - first);
            let at = |x: &RawArray, apart: usize| x.pointer() + (first * apart * 2 * size) as u64;
            let (from, to) = (at(values, plan.points), at(grids, self.cells()));
            for (colour, units) in colours(&self.tiles, later) {
                let launch = SpreadArgument::new(self, &block, part, later, colour, units, count);
                let blocks = launch.blocks.min(i32::MAX as u32);
                let grid =
                    Grid { blocks: [blocks, 1, 1], threads: block.threads(), shared: block.groups * block.bytes };
                let pointers = [self.sorted.pointer(), from, to, windows.pointer(), self.polynomials.pointer()];
                let [sorted, from, to, windows, polynomials] = &pointers;
                // SAFETY: the arguments match the parameters of `spread`; the arrays have the lengths that the
                // arguments state, and the block has the shared memory of its jobs.
                unsafe { b.launch(op, &kernel, grid, &[sorted, from, to, windows, polynomials, &launch])? };
            }
        }
        Ok(())
    }

    /// Interpolates each grid at the points. Neither the points nor the grids may be empty.
    fn interpolate(&self, grids: &RawArray, values: &RawArray) -> Result<()> {
        let (b, op, plan) = (self.b, self.op, self.plan);
        let lanes = (self.tiles.width as usize).next_power_of_two();
        let tag = LANES[plan.grid.len() - 1][lanes.ilog2() as usize - 1];
        let kernel = b.kernel(op, &PROGRAM, Instance::new("interpolate", tag, &[self.real]))?;
        let mut grid = Grid::over(plan.points.saturating_mul(lanes));
        // a block computes the weights of its points once, and uses them for several grids; if there are few points,
        // the grids are divided among several blocks
        grid.blocks[1] = (BLOCKS / grid.blocks[0] as usize).clamp(1, plan.batch) as u32;
        let argument = InterpolateArgument {
            tiles: self.tiles,
            terms: self.terms,
            derived: self.derived,
            points: plan.points as u64,
            cells: self.cells() as u64,
            batch: plan.batch as u64,
        };
        let arguments: [&dyn Argument; 5] =
            [&self.sorted.pointer(), &grids.pointer(), &values.pointer(), &self.polynomials.pointer(), &argument];
        // SAFETY: the arguments match the parameters of `interpolate`; the arrays have the lengths that the arguments
        // state.
        unsafe { b.launch(op, kernel, grid, &arguments) }
    }
}

/// Returns the number of grids to which one launch spreads, given the number of jobs and the bytes of windows for
/// each grid.
fn together(batch: usize, jobs: usize, windows: usize) -> usize {
    let by_memory = MAX_WINDOW_BYTES.checked_div(windows).unwrap_or(batch);
    // the kernels count jobs with 32 bits
    by_memory.min((1 << 31) / jobs).clamp(1, batch)
}

/// Lists the launches of a spreading: each colour, with its number of jobs. The jobs that begin within tiles come
/// first, because the other jobs add the windows of these jobs to the grid.
fn colours(tiles: &Tiles, later: usize) -> impl Iterator<Item = (u32, usize)> + use<> {
    let cut: u32 = (0..3).filter(|&axis| tiles.tiles[axis] > 1).map(|axis| 1 << axis).sum();
    let of_colour = tiles.count() >> cut.count_ones();
    let within = (later > 0).then_some((LATER, later));
    within.into_iter().chain((0..8).filter(move |colour| colour & !cut == 0).map(move |colour| (colour, of_colour)))
}

/// Counterpart of the C++ struct `Spreading` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct SpreadArgument {
    tiles: Tiles,
    window: [u32; 3],
    slab: u32,
    slabs: u32,
    is_whole: u32,
    groups: u32,
    lanes: u32,
    layers: u32,
    bytes: u32,
    units: u32,
    jobs: u32,
    blocks: u32,
    terms: u32,
    derived: u32,
    colour: u32,
    points: u64,
    cells: u64,
    part: u64,
    later: u64,
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for SpreadArgument {}

impl SpreadArgument {
    fn new(
        task: &Task<'_>,
        block: &Block,
        part: usize,
        later: usize,
        colour: u32,
        units: usize,
        grids: usize,
    ) -> SpreadArgument {
        let jobs = units * block.jobs_per_tile() * grids;
        SpreadArgument {
            tiles: task.tiles,
            window: block.window,
            slab: block.slab,
            slabs: block.slabs,
            is_whole: block.is_whole.into(),
            groups: block.groups,
            lanes: block.lanes,
            layers: block.layers,
            bytes: block.bytes,
            units: units as u32,
            jobs: jobs as u32,
            blocks: jobs.div_ceil(block.groups as usize) as u32,
            terms: task.terms,
            derived: task.derived,
            colour,
            points: task.plan.points as u64,
            cells: task.cells() as u64,
            part: part as u64,
            later: later as u64,
        }
    }
}

/// Counterpart of the C++ struct `Interpolation` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct InterpolateArgument {
    tiles: Tiles,
    terms: u32,
    derived: u32,
    points: u64,
    cells: u64,
    batch: u64,
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for InterpolateArgument {}

#[cfg(test)]
mod tests;
