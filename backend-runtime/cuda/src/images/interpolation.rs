//! Interpolation between elements: at given coordinates, through an affine map, or on another grid.

use super::{
    filters::spline_filter_along,
    program::{FLOATS, PROGRAM, require},
};
use crate::{
    OpContext,
    array::RawArray,
    copy::contiguous,
    kernel::{Argument, Grid},
    manipulation::pad,
    program::Instance,
    walk::Divisor,
};
use backend_core::{
    Boundary, DType, Lengths, Number, PadMode, Result,
    rules::{self, MAX_SAMPLED_AXES, SPLINE_BORDER},
};

/// The template arguments of the kernel: one row for each number of axes (1, 2, 3, more), and one column for each
/// number of coefficients along an axis (2, 4, others).
const TAGS: [[&str; 3]; 4] =
    [["1, 2", "1, 4", "1, 6"], ["2, 2", "2, 4", "2, 6"], ["3, 2", "3, 4", "3, 6"], ["8, 2", "8, 4", "8, 6"]];

/// The kernels of this file, listed so that `check` can compile them all.
pub(super) fn kernels() -> impl Iterator<Item = Instance> {
    TAGS.into_iter().flatten().flat_map(|tag| FLOATS.map(|dtype| Instance::new("sampled", tag, &[dtype])))
}

/// Counterpart of the C++ struct `SampledAxis` in the kernel.
#[derive(Clone, Copy)]
#[repr(C)]
struct SampledAxis {
    len: i64,
    stride: i64,
    to: u64,
    from: u64,
    by_to: Divisor,
}

/// Counterpart of the C++ struct `Sampling` in the kernel.
#[derive(Clone, Copy)]
#[repr(C)]
struct Sampling {
    n: u64,
    points: u64,
    channels: u64,
    apart: i64,
    border: f64,
    cval: f64,
    count: u32,
    order: u32,
    mode: u32,
    source: u32,
    cells: u32,
    is_small: u32,
    by_points: Divisor,
    axes: [SampledAxis; MAX_SAMPLED_AXES],
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for Sampling {}

/// Counterpart of the C++ struct `Places` in the kernel.
#[derive(Clone, Copy)]
#[repr(C)]
struct Places {
    numbers: u64,
    offset: u64,
    strides: [i64; 3],
    offset_stride: i64,
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for Places {}

/// The origin of the coordinates at which an array is interpolated.
enum Source<'a> {
    /// An array of coordinates, with its strides from one component to the next, from one point to the next, and from
    /// one batch entry to the next.
    Points(RawArray, [i64; 3]),
    /// A matrix and an optional offset, which map the indices of a grid of shape `grid` to coordinates.
    Map { matrix: &'a RawArray, offset: Option<RawArray>, grid: Vec<usize> },
    /// Another grid over the same extent, whose points are the coordinates. Each of its axes determines one component.
    /// The extent goes from the first to the last point or, if `cells` is true, includes half a cell beyond them.
    Grid { cells: bool },
}

/// The parameters of an interpolation.
#[derive(Clone, Copy)]
struct Spline {
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
}

/// Interpolates `x` at `coordinates`. The first axis of `coordinates` has one entry per axis of `x`.
pub fn map_coordinates(
    on: OpContext<'_>,
    x: &RawArray,
    coordinates: &RawArray,
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
) -> Result<RawArray> {
    require(on, x, &[coordinates])?;
    let sampling = rules::mapped(on.op, &x.shape, &coordinates.shape, on.dtype.size())?;
    let points = contiguous(on.backend, on.op, coordinates)?;
    let source = Source::Points(points, [sampling.points as i64, 1, 0]);
    interpolated(on, x, &sampling, &source, Spline { order, mode, cval, prefilter })
}

/// Linear interpolation of a batch of grids with channels at given coordinates.
pub fn grid_sample(
    on: OpContext<'_>,
    grid: &RawArray,
    coordinates: &RawArray,
    mode: Boundary,
    cval: f64,
) -> Result<RawArray> {
    require(on, grid, &[coordinates])?;
    let sampling = rules::grid_sampled(on.op, &grid.shape, &coordinates.shape, on.dtype.size())?;
    let points = contiguous(on.backend, on.op, coordinates)?;
    let axes = sampling.lengths.len();
    let batch = if coordinates.shape[0] == 1 { 0 } else { sampling.points * axes };
    let source = Source::Points(points, [1, axes as i64, batch as i64]);
    interpolated(on, grid, &sampling, &source, Spline { order: 1, mode, cval, prefilter: false })
}

/// Transforms the last axes by an affine map: `y[o] = x[matrix o + offset]`.
#[allow(clippy::too_many_arguments)] // the op table fixes the parameters
pub fn affine_transform(
    on: OpContext<'_>,
    x: &RawArray,
    matrix: &RawArray,
    offset: Option<&RawArray>,
    shape: Option<Lengths>,
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
) -> Result<RawArray> {
    let OpContext { backend: b, op, .. } = on;
    require(on, x, &[matrix, offset.unwrap_or(matrix)])?;
    let offset_shape = offset.map(|offset| &offset.shape[..]);
    let map = rules::affine(op, &x.shape, &matrix.shape, offset_shape, shape, on.dtype.size())?;
    b.check(op, matrix)?;
    let offset = match offset {
        Some(offset) => {
            b.check(op, offset)?;
            Some(offset.clone())
        }
        None if map.homogeneous => Some(matrix.sliced(1, map.grid.len(), 1, 1).without(1)),
        None => None,
    };
    let source = Source::Map { matrix, offset, grid: map.grid };
    interpolated(on, x, &map.sampling, &source, Spline { order, mode, cval, prefilter })
}

/// Resamples the array on another grid over the same extent.
#[allow(clippy::too_many_arguments)] // the op table fixes the parameters
pub fn zoom(
    on: OpContext<'_>,
    x: &RawArray,
    shape: &[usize],
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
    grid_mode: bool,
) -> Result<RawArray> {
    let sampling = rules::zoomed(on.op, &x.shape, shape, x.dtype.size())?;
    let spline = Spline { order, mode, cval, prefilter };
    interpolated(on, x, &sampling, &Source::Grid { cells: grid_mode }, spline)
}

fn interpolated(
    on: OpContext<'_>,
    x: &RawArray,
    sampling: &rules::Sampling,
    source: &Source<'_>,
    spline: Spline,
) -> Result<RawArray> {
    let OpContext { backend: b, op, .. } = on;
    let Spline { mode, cval, .. } = spline;
    let order = rules::spline_order(op, spline.order)?;
    b.check(op, x)?;
    let out = b.uninit_raw(op, x.dtype, &sampling.shape)?;
    if out.size() == 0 {
        return Ok(out);
    }
    let axes = sampling.first..sampling.first + sampling.lengths.len();
    let border = rules::spline_border(mode, order, spline.prefilter);
    let mut from = x.clone();
    if let Some(with) = border {
        let axis = |k: usize| if axes.contains(&k) { SPLINE_BORDER } else { 0 };
        let widths: Vec<usize> = (0..x.shape.len()).flat_map(|k| [axis(k); 2]).collect();
        let value = Number::Real(if with == PadMode::Constant { cval } else { 0.0 });
        from = pad(on, &from, &widths, with, value)?;
    }
    let from = if spline.prefilter && order > 1 {
        spline_filter_along(b, op, &from, axes.clone(), order, mode)?
    } else {
        contiguous(b, op, &from)?
    };
    let n = out.size() / sampling.channels;
    let kernel_sampling = described(sampling, &from, n, source, Spline { order, ..spline }, border.is_some());
    let places = match source {
        Source::Points(points, strides) => {
            Places { numbers: points.pointer(), offset: 0, strides: *strides, offset_stride: 0 }
        }
        Source::Map { matrix, offset, .. } => Places {
            numbers: matrix.pointer(),
            offset: offset.as_ref().map_or(0, RawArray::pointer),
            strides: [matrix.strides[0] as i64, matrix.strides[1] as i64, 0],
            offset_stride: offset.as_ref().map_or(0, |offset| offset.strides[0] as i64),
        },
        Source::Grid { .. } => Places { numbers: 0, offset: 0, strides: [0; 3], offset_stride: 0 },
    };
    let taps = match order {
        1 => 0,
        3 => 1,
        _ => 2,
    };
    let instance = Instance::new("sampled", TAGS[axes.len().min(4) - 1][taps], &[x.dtype]);
    let kernel = b.kernel(op, &PROGRAM, instance)?;
    // SAFETY: the arguments match the parameters of `sampled`, and describe the sizes of the coefficients, places and
    // points.
    unsafe {
        b.launch(op, kernel, Grid::over(n), &[&out.pointer(), &from.pointer(), &kernel_sampling, &places])?;
    }
    Ok(out)
}

/// Makes the parameters of the kernel `sampled`.
fn described(
    sampling: &rules::Sampling,
    from: &RawArray,
    n: usize,
    source: &Source<'_>,
    spline: Spline,
    bordered: bool,
) -> Sampling {
    let (first, count) = (sampling.first, sampling.lengths.len());
    let lengths = &from.shape[first..first + count];
    let is_small = n < 1 << 31;
    let divisor = |by: usize| if is_small { Divisor::new(by as u32) } else { Divisor::ONE };
    let grid: &[usize] = match source {
        Source::Points(..) => &[],
        Source::Map { grid, .. } => grid,
        Source::Grid { .. } => &sampling.shape,
    };
    let mut axes = [SampledAxis { len: 1, stride: 0, to: 1, from: 1, by_to: Divisor::ONE }; MAX_SAMPLED_AXES];
    let mut stride = sampling.channels as i64;
    for k in (0..count).rev() {
        let to = grid.get(k).copied().unwrap_or(1);
        let by_to = divisor(to);
        axes[k] =
            SampledAxis { len: lengths[k] as i64, stride, to: to as u64, from: sampling.lengths[k] as u64, by_to };
        stride *= lengths[k] as i64;
    }
    let arrays: usize = from.shape[..first].iter().product();
    Sampling {
        n: n as u64,
        points: sampling.points as u64,
        channels: sampling.channels as u64,
        apart: if arrays == 1 { 0 } else { stride },
        border: if bordered { SPLINE_BORDER as f64 } else { 0.0 },
        cval: spline.cval,
        count: count as u32,
        order: spline.order as u32,
        mode: spline.mode as u32,
        source: match source {
            Source::Points(..) => 0,
            Source::Map { .. } => 1,
            Source::Grid { .. } => 2,
        },
        cells: matches!(source, Source::Grid { cells: true }).into(),
        is_small: is_small.into(),
        by_points: divisor(sampling.points),
        axes,
    }
}

// `FLOATS` begins with the real dtypes, on which the list of filter kernels relies
const _: () = assert!(matches!(FLOATS[0], DType::Float32));
