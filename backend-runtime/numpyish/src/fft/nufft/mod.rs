//! Spreading of the values of non-uniform points over a grid, and interpolation of a grid at non-uniform points. A
//! non-uniform Fourier transform consists of one of these two operations and a Fourier transform of the grid.
//!
//! The grid is divided into tiles, and points are sorted by the tile that contains them. The points of each tile are
//! spread over a window, a separate array with the cells that the tile's points touch. The window is then added to the
//! grid. Each tile has a colour, such that the windows of tiles of the same colour do not overlap. Tiles of the same
//! colour are processed at the same time, and the colours one after another. Therefore the additions to each cell have
//! the same order on any number of threads.

mod layout;
mod loops;
mod rows;
mod sort;
mod window;

use backend_core::{
    DType, Precision, Result, bf16, f16,
    numpyish::{
        OpContext,
        buffer::{self, Buffer},
        copy::pack,
        parallel::{Shared, parallel},
        raw::{RawArray, View},
    },
    rules::{self, Spreading},
    spreading::{KernelOptions, MAX_WIDTH, Polynomials, SpreadingKernel},
};
use layout::{Layout, TilePart};
use loops::{Job, Loop, Loops};
use num_complex::Complex;
use sort::Sorted;
use std::{f64::consts::PI, ops::Range, sync::OnceLock};
use window::Window;

/// Sorts the points by the tile of the grid that contains them. Returns the sorted points in the form that
/// [`nufft_spread`] and [`nufft_interpolate`] take as `sorted`.
pub fn nufft_sort(_: OpContext<'_>, points: View<'_>, grid: &[usize], width: usize) -> Result<RawArray> {
    nufft_sort_of(points, grid, width)
}

/// Like `nufft_sort`, for arrays of any dtype.
pub fn nufft_sort_of(points: View<'_>, grid: &[usize], width: usize) -> Result<RawArray> {
    const OP: &str = "nufft_sort";
    rules::on_grid(OP, points.shape, grid)?;
    rules::count(OP, grid, size_of::<Complex<f64>>())?;
    SpreadingKernel::new(OP, width, 1.0)?;
    let sorted = sorted(OP, points, &Layout::new(grid, width))?;
    RawArray::from_vec(OP, vec![sorted.len()], sorted)
}

fn sorted(op: &'static str, points: View<'_>, layout: &Layout) -> Result<Vec<i64>> {
    let packed = pack(op, points)?;
    // SAFETY: the packed array has `points.len()` elements of this dtype.
    unsafe {
        match points.dtype {
            DType::Float16 => sort::sort(op, packed.slice::<f16>(points.len()), layout),
            DType::BFloat16 => sort::sort(op, packed.slice::<bf16>(points.len()), layout),
            DType::Float32 => sort::sort(op, packed.slice::<f32>(points.len()), layout),
            _ => sort::sort(op, packed.slice::<f64>(points.len()), layout),
        }
    }
}

/// Adds the values of points, weighted by a kernel, to the cells near each point. The grids start with zeros.
#[allow(clippy::too_many_arguments, reason = "the parameters of the row")]
pub fn nufft_spread(
    _: OpContext<'_>,
    points: View<'_>,
    values: View<'_>,
    grid: &[usize],
    width: usize,
    beta: f64,
    eps: f64,
    axis: isize,
    sorted: Option<View<'_>>,
) -> Result<RawArray> {
    nufft_spread_of(points, values, grid, KernelOptions { width, beta, eps, axis }, sorted)
}

/// Like `nufft_spread`, for arrays of any dtype.
pub fn nufft_spread_of(
    points: View<'_>,
    values: View<'_>,
    grid: &[usize],
    kernel: KernelOptions,
    sorted: Option<View<'_>>,
) -> Result<RawArray> {
    const OP: &str = "nufft_spread";
    let plan = rules::spread(OP, points.shape, values.shape, grid, values.dtype.size())?;
    match values.dtype {
        DType::Complex64 => run::<f32>(OP, points, values, &plan, kernel, sorted, Direction::ToGrid),
        _ => run::<f64>(OP, points, values, &plan, kernel, sorted, Direction::ToGrid),
    }
}

/// Computes, for each point and each grid, the sum of the cells near the point, weighted by a kernel.
#[allow(clippy::too_many_arguments, reason = "the parameters of the row")]
pub fn nufft_interpolate(
    _: OpContext<'_>,
    points: View<'_>,
    grid: View<'_>,
    width: usize,
    beta: f64,
    eps: f64,
    axis: isize,
    sorted: Option<View<'_>>,
) -> Result<RawArray> {
    nufft_interpolate_of(points, grid, KernelOptions { width, beta, eps, axis }, sorted)
}

/// Like `nufft_interpolate`, for arrays of any dtype.
pub fn nufft_interpolate_of(
    points: View<'_>,
    grid: View<'_>,
    kernel: KernelOptions,
    sorted: Option<View<'_>>,
) -> Result<RawArray> {
    const OP: &str = "nufft_interpolate";
    let plan = rules::interpolated_grid(OP, points.shape, grid.shape, grid.dtype.size())?;
    match grid.dtype {
        DType::Complex64 => run::<f32>(OP, points, grid, &plan, kernel, sorted, Direction::ToPoints),
        _ => run::<f64>(OP, points, grid, &plan, kernel, sorted, Direction::ToPoints),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Direction {
    ToGrid,
    ToPoints,
}

fn run<R: Loops + Precision>(
    op: &'static str,
    points: View<'_>,
    data: View<'_>,
    plan: &Spreading,
    options: KernelOptions,
    given: Option<View<'_>>,
    direction: Direction,
) -> Result<RawArray> {
    let (kernel, derived) = options.kernel(op, plan.grid.len())?;
    let layout = Layout::new(&plan.grid, options.width);
    let made;
    let packed;
    let all = match given {
        None => {
            made = sorted(op, points, &layout)?;
            &made[..]
        }
        Some(given) => {
            packed = pack(op, given)?;
            // SAFETY: the packed array has `given.len()` elements of this dtype.
            unsafe { packed.slice::<i64>(given.len()) }
        }
    };
    let sorted = Sorted::new(op, &layout, plan.points, all)?;
    let data_packed = pack(op, data)?;
    let task = Task::<R> {
        op,
        layout: &layout,
        sorted: &sorted,
        tables: Tables::new(&kernel.polynomials(options.eps), derived, &layout),
        cells: plan.grid.iter().product(),
        batch: plan.batch,
    };
    let out_len = plan.shape.iter().product();
    // `sorted` may come from a caller and lack the record of a point; the value of this point is then 0
    let (from, out) = (data_packed.start().cast::<Complex<R>>(), Buffer::zeroed(op, out_len, data.dtype)?);
    if out_len > 0 && plan.points > 0 && plan.batch > 0 {
        let (cells, values) = (task.cells * plan.batch, plan.points * plan.batch);
        // SAFETY: both buffers have as many elements of type `Complex<R>` as the plan says, and nobody else uses the
        // result.
        unsafe {
            match direction {
                Direction::ToGrid => task.spread(
                    std::slice::from_raw_parts(from, values),
                    std::slice::from_raw_parts_mut(out.start().cast(), cells),
                )?,
                Direction::ToPoints => {
                    task.interpolate(std::slice::from_raw_parts(from, cells), out.start().cast::<Complex<R>>())?;
                }
            }
        }
    }
    // SAFETY: the buffer was zeroed, so every element is initialized.
    unsafe { RawArray::new(op, plan.shape.clone(), out) }
}

/// The data of a kernel for the loops: its polynomials, and a mask of the real numbers in one row of cells.
struct Tables<R> {
    polynomials: Vec<[R; MAX_WIDTH]>,
    mask: [R; 4 * MAX_WIDTH],
    /// The axis along which the kernel is differentiated, counted from the contiguous axis, and the derivative's
    /// polynomials. `None` if the kernel is not differentiated.
    derived: Option<(usize, Vec<[R; MAX_WIDTH]>)>,
}

impl<R: Loops> Tables<R> {
    fn new(polynomials: &Polynomials, derived: Option<usize>, layout: &Layout) -> Tables<R> {
        let narrow = |p: &Polynomials| p.rows().iter().map(|row| row.map(R::narrow)).collect();
        let of_axis = |axis: usize| {
            let axis = layout.axes - 1 - axis;
            // an axis of n cells covers 2 pi radians, and the polynomials' variable grows by 2 per cell, so by n / pi
            // per radian
            (axis, narrow(&polynomials.derivative(layout.lengths[axis] as f64 / PI)))
        };
        let used = 2 * layout.width;
        let mask = std::array::from_fn(|i| if i < used { R::ALL_BITS } else { R::default() });
        Tables { polynomials: narrow(polynomials), mask, derived: derived.map(of_axis) }
    }
}

/// Spreads points over a batch of grids, or interpolates a batch of grids at the points.
struct Task<'a, R> {
    op: &'static str,
    layout: &'a Layout,
    sorted: &'a Sorted<'a>,
    tables: Tables<R>,
    /// Number of cells of a grid.
    cells: usize,
    batch: usize,
}

/// A pointer that tasks on several threads use.
#[derive(Clone, Copy)]
struct Address<T>(*mut T);

// SAFETY: each user of the address accesses only its own memory, or writes with atomic stores.
unsafe impl<T> Send for Address<T> {}
// SAFETY: each user accesses only its own memory, or writes with atomic stores.
unsafe impl<T> Sync for Address<T> {}

impl<T> Address<T> {
    fn get(&self) -> *mut T {
        self.0
    }
}

impl<R: Loops + Precision> Task<'_, R> {
    /// Runs the loop `run` over the points of `part`. `cells` are the cells of the part's window.
    ///
    /// # Safety
    /// `cells` must be the cells of the part's window, and `values` must have a value for each point. While a loop that
    /// writes values runs, only loops of type [`Loop`] may access the values.
    unsafe fn run(
        &self,
        run: Loop<R>,
        part: TilePart,
        window: &Window,
        cells: &mut [Complex<R>],
        values: *mut Complex<R>,
    ) {
        assert!(cells.len() >= window.size(), "a window has all its cells");
        let record = self.layout.axes + 1;
        let job = Job {
            window: cells.as_mut_ptr().cast(),
            row: window.row,
            plane: window.plane(),
            low: window.low,
            high: window.high,
            records: self.sorted.records[part.start * record..part.end * record].as_ptr(),
            points: part.end - part.start,
            values: values.cast(),
            last: self.sorted.points - 1,
            polynomials: self.tables.polynomials.as_ptr().cast(),
            terms: self.tables.polynomials.len(),
            width: self.layout.width,
            mask: self.tables.mask.as_ptr(),
            derived: self.tables.derived.as_ref().map(|(axis, p)| (*axis, p.as_ptr().cast())),
        };
        // SAFETY: all arrays have the lengths in the job, and the processor has the loop's instruction set.
        unsafe { run(&job) };
    }

    /// Divides `0..n` into ranges, and runs `f` on the ranges in parallel. Each call of `f` gets memory for the cells
    /// of its windows. Returns the first error.
    fn with_room(&self, n: usize, f: impl Fn(Range<usize>, &mut Room<R>) -> Result<()> + Sync) -> Result<()> {
        let failed = OnceLock::new();
        parallel(n, 1, |range| {
            if let Err(e) = f(range, &mut Room(Vec::new())) {
                _ = failed.set(e);
            }
        });
        failed.into_inner().map_or(Ok(()), Err)
    }

    /// Spreads the values of each entry of the batch over the grid of this entry.
    fn spread(&self, values: &[Complex<R>], grids: &mut [Complex<R>]) -> Result<()> {
        let run = R::spread(self.layout.width, self.layout.axes);
        let points = self.sorted.points;
        let grids = Shared::new(grids);
        let fill = |part: TilePart, batch: usize, window: &Window, cells: &mut [Complex<R>]| {
            cells.fill(Complex::default());
            let values = values[batch * points..(batch + 1) * points].as_ptr().cast_mut();
            // SAFETY: `values` has a value for each point, and this loop does not write values.
            unsafe { self.run(run, part, window, cells, values) };
        };
        let add = |batch: usize, window: &Window, cells: &[Complex<R>]| {
            window.stretches(self.layout, |here, there, length| {
                let there = batch * self.cells + there;
                // SAFETY: windows of one colour do not overlap, and each tile's windows are added by one task.
                let to = unsafe { grids.part(there..there + length) };
                for (to, cell) in to.iter_mut().zip(&cells[here..here + length]) {
                    *to = Complex::new(to.re + cell.re, to.im + cell.im);
                }
            });
        };
        for parts in self.layout.parts(self.op, &self.sorted.starts(self.op)?)? {
            let tiles: Vec<&[TilePart]> = parts.chunk_by(|a, b| a.tile == b.tile).collect();
            let (whole, cut): (Vec<_>, Vec<_>) = tiles.into_iter().partition(|tile| tile.len() == 1);
            self.with_room(self.batch * whole.len(), |range, room| {
                for i in range {
                    let (batch, part) = (i / whole.len(), whole[i % whole.len()][0]);
                    let window = Window::new(self.layout, self.sorted, part);
                    let cells = room.cells(self.op, &window)?;
                    fill(part, batch, &window, cells);
                    add(batch, &window, cells);
                }
                Ok(())
            })?;
            let cut = cut.concat();
            for batch in 0..self.batch {
                self.spread_parts(
                    &cut,
                    |part, window, cells| fill(part, batch, window, cells),
                    |window, cells| add(batch, window, cells),
                )?;
            }
        }
        Ok(())
    }

    /// Spreads the parts of tiles of one colour, in rounds. In each round, as many windows as there are threads are
    /// filled in parallel. Then the windows of different tiles are added to the grid in parallel, and the windows of
    /// the same tile one after another.
    fn spread_parts(
        &self,
        parts: &[TilePart],
        fill: impl Fn(TilePart, &Window, &mut [Complex<R>]) + Sync,
        add: impl Fn(&Window, &[Complex<R>]) + Sync,
    ) -> Result<()> {
        struct Filled<R> {
            tile: usize,
            window: Option<Window>,
            room: Room<R>,
        }
        let together = backend_core::threads::count().min(parts.len());
        let none = || Filled { tile: 0, window: None, room: Room(Vec::new()) };
        let mut all: Vec<Filled<R>> = (0..together).map(|_| none()).collect();
        for parts in parts.chunks(together.max(1)) {
            let here = &mut all[..parts.len()];
            let shared = Shared::new(here);
            self.with_room(parts.len(), |range, _| {
                for i in range {
                    // SAFETY: each index belongs to one task only.
                    let filled = &mut unsafe { shared.part(i..i + 1) }[0];
                    let window = Window::new(self.layout, self.sorted, parts[i]);
                    fill(parts[i], &window, filled.room.cells(self.op, &window)?);
                    filled.tile = parts[i].tile;
                    filled.window = Some(window);
                }
                Ok(())
            })?;
            let mut tiles: Vec<&mut [Filled<R>]> = here.chunk_by_mut(|a, b| a.tile == b.tile).collect();
            let count = tiles.len();
            let tiles = Shared::new(&mut tiles);
            self.with_room(count, |range, _| {
                // SAFETY: each index belongs to one task only.
                for tile in unsafe { tiles.part(range) } {
                    for Filled { window, room, .. } in tile.iter_mut() {
                        if let Some(window) = window {
                            add(window, room.cells(self.op, window)?);
                        }
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Interpolates the grid of each entry of the batch at the points, and stores the results in `values`.
    ///
    /// # Safety
    /// `values` must have room for the values of all points for each entry of the batch, and nobody else may use it.
    unsafe fn interpolate(&self, grids: &[Complex<R>], values: *mut Complex<R>) -> Result<()> {
        let run = R::interpolate(self.layout.width, self.layout.axes);
        let parts = self.layout.parts(self.op, &self.sorted.starts(self.op)?)?.concat();
        let values = Address(values);
        self.with_room(self.batch * parts.len(), |range, room| {
            for i in range {
                let (batch, part) = (i / parts.len(), parts[i % parts.len()]);
                let window = Window::new(self.layout, self.sorted, part);
                let cells = room.cells(self.op, &window)?;
                let grid = &grids[batch * self.cells..(batch + 1) * self.cells];
                window.stretches(self.layout, |here, there, length| {
                    cells[here..here + length].copy_from_slice(&grid[there..there + length]);
                });
                window.spare_cells(|start, length| cells[start..start + length].fill(Complex::default()));
                // SAFETY: the caller guarantees a value for each point of the batch, which only these loops write.
                unsafe { self.run(run, part, &window, cells, values.get().add(batch * self.sorted.points)) };
            }
            Ok(())
        })
    }
}

/// Memory for the cells of a window. It grows if a window needs more.
struct Room<R>(Vec<Complex<R>>);

impl<R: Loops> Room<R> {
    /// Returns cells for a window, aligned to 64 bytes. The cells may have values of an earlier window.
    fn cells(&mut self, op: &'static str, window: &Window) -> Result<&mut [Complex<R>]> {
        let spare = 64 / size_of::<Complex<R>>();
        let n = window.size() + spare;
        if self.0.len() < n {
            let more = n - self.0.len();
            self.0.try_reserve_exact(more).map_err(|_| buffer::no_memory(op, n * size_of::<Complex<R>>()))?;
            self.0.resize(n, Complex::default());
        }
        let skipped = self.0.as_ptr().align_offset(64).min(spare);
        Ok(&mut self.0[skipped..skipped + window.size()])
    }
}

/// The ops over arrays with a static dtype, for tests of other modules.
#[cfg(any(test, feature = "testing"))]
#[allow(missing_docs)] // each function is the op of its name
pub mod typed {
    use crate::fft;
    use backend_core::{
        ComplexFloat, Real, Result,
        numpyish::{NdArray, Numpyish, OpContext, raw::view, typed::typed},
    };

    pub fn nufft_sort<T: Real>(
        b: &Numpyish,
        points: &NdArray<T>,
        grid: &[usize],
        width: usize,
    ) -> Result<NdArray<i64>> {
        typed(fft::nufft_sort(OpContext::new(b, "nufft_sort", T::DTYPE), view(points), grid, width))
    }

    #[allow(clippy::too_many_arguments, reason = "the parameters of the row")]
    pub fn nufft_spread<T: ComplexFloat>(
        b: &Numpyish,
        points: &NdArray<T::Real>,
        values: &NdArray<T>,
        grid: &[usize],
        width: usize,
        beta: f64,
        eps: f64,
        axis: isize,
        sorted: Option<&NdArray<i64>>,
    ) -> Result<NdArray<T>> {
        let on = OpContext::new(b, "nufft_spread", T::DTYPE);
        let sorted = sorted.map(view);
        typed(fft::nufft_spread(on, view(points), view(values), grid, width, beta, eps, axis, sorted))
    }

    #[allow(clippy::too_many_arguments, reason = "the parameters of the row")]
    pub fn nufft_interpolate<T: ComplexFloat>(
        b: &Numpyish,
        points: &NdArray<T::Real>,
        grid: &NdArray<T>,
        width: usize,
        beta: f64,
        eps: f64,
        axis: isize,
        sorted: Option<&NdArray<i64>>,
    ) -> Result<NdArray<T>> {
        let on = OpContext::new(b, "nufft_interpolate", T::DTYPE);
        typed(fft::nufft_interpolate(on, view(points), view(grid), width, beta, eps, axis, sorted.map(view)))
    }
}

#[cfg(test)]
mod tests;
