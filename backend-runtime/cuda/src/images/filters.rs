//! Filters along the axes of an array: spline coefficients, weighted sums over windows, and the largest or smallest
//! element of windows.

use super::program::{FLOATS, PROGRAM, require};
use crate::{
    Cuda, OpContext,
    array::RawArray,
    copy::{contiguous, copied},
    kernel::{Argument, Grid},
    program::Instance,
    walk::Divisor,
};
use backend_core::{Boundary, DType, Result, rules};
use std::ops::Range;

/// The dtypes of the minimum and maximum filters.
const ORDERED: [DType; 12] = [
    DType::Int8,
    DType::Int16,
    DType::Int32,
    DType::Int64,
    DType::UInt8,
    DType::UInt16,
    DType::UInt32,
    DType::UInt64,
    DType::Float16,
    DType::BFloat16,
    DType::Float32,
    DType::Float64,
];

/// Lists the kernels of this file, so that `check` can compile them all.
pub fn kernels() -> impl Iterator<Item = Instance> {
    let filters = ["spline_lanes", "correlated"];
    let filters = filters.into_iter().flat_map(|name| [FLOATS[0], FLOATS[1]].map(|d| Instance::new(name, "", &[d])));
    let extremes = ["Largest", "Smallest"];
    let extremes = extremes.into_iter().flat_map(|tag| ORDERED.map(|d| Instance::new("extremes", tag, &[d])));
    filters.chain(extremes)
}

/// Counterpart of the C++ struct `Lanes` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct LaneLayout {
    n: u64,
    len: u64,
    inner: u64,
    by_len: Divisor,
    by_inner: Divisor,
    is_small: u32,
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for LaneLayout {}

impl LaneLayout {
    /// Divides an array in C order into lanes, the 1-D slices along one axis. A complex array counts as a real array
    /// with one more innermost axis, for the real and imaginary parts.
    pub fn new(x: &RawArray, axis: usize) -> LaneLayout {
        let parts = parts(x.dtype);
        let (n, inner) = (x.size() * parts, x.shape[axis + 1..].iter().product::<usize>() * parts);
        let is_small = n < 1 << 31;
        let divisor = |by: usize| if is_small { Divisor::new(by as u32) } else { Divisor::ONE };
        let (by_len, by_inner) = (divisor(x.shape[axis]), divisor(inner));
        LaneLayout {
            n: n as u64,
            len: x.shape[axis] as u64,
            inner: inner as u64,
            by_len,
            by_inner,
            is_small: is_small.into(),
        }
    }
}

/// Number of real components of an element: 2 if complex, else 1.
fn parts(dtype: DType) -> usize {
    1 + usize::from(dtype.to_real() != dtype)
}

/// Counterpart of the C++ struct `Window` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Window {
    size: u64,
    before: u64,
    mode: u32,
    parts: u32,
    cval: f64,
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for Window {}

/// Returns the number that stands for a boundary mode in the filter kernels. `GridConstant` and `GridWrap` have the
/// numbers of `Constant` and `Wrap`, because they mean the same for filters.
fn filter_mode(mode: Boundary) -> u32 {
    let mode = match mode {
        Boundary::GridConstant => Boundary::Constant,
        Boundary::GridWrap => Boundary::Wrap,
        other => other,
    };
    mode as u32
}

/// Counterpart of the C++ struct `Poles` in the kernel.
#[derive(Clone, Copy)]
#[repr(C)]
struct Poles {
    z: [f64; 2],
    count: u32,
    ends: u32,
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for Poles {}

/// Computes the coefficients of the spline of order `order` that interpolates `x`.
pub fn spline_filter(on: OpContext<'_>, x: &RawArray, order: usize, mode: Boundary) -> Result<RawArray> {
    spline_filter_along(on.backend, on.op, x, 0..x.shape.len(), order, mode)
}

/// Like [`spline_filter`], but only along the axes `axes`.
pub fn spline_filter_along(
    b: &Cuda,
    op: &'static str,
    x: &RawArray,
    axes: Range<usize>,
    order: usize,
    mode: Boundary,
) -> Result<RawArray> {
    let order = rules::spline_order(op, order)?;
    b.check(op, x)?;
    let out = copied(b, op, x)?;
    let poles = rules::spline_poles(order);
    if poles.is_empty() || out.size() == 0 {
        return Ok(out);
    }
    let z = std::array::from_fn(|k| poles.get(k).copied().unwrap_or_default());
    let poles = Poles { z, count: poles.len() as u32, ends: rules::spline_ends(mode) as u32 };
    let kernel = b.kernel(op, &PROGRAM, Instance::new("spline_lanes", "", &[x.dtype.to_real()]))?;
    for axis in axes.filter(|&axis| out.shape[axis] > 1) {
        let LaneLayout { n, len, inner, .. } = LaneLayout::new(&out, axis);
        let lanes = n / len;
        // SAFETY: the arguments match the parameters of `spline_lanes`, and describe the lanes of the array.
        unsafe {
            b.launch(op, &kernel, Grid::over(lanes as usize), &[&out.pointer(), &lanes, &len, &inner, &poles])?;
        }
    }
    Ok(out)
}

/// Computes along one axis the correlation `y[i]`: the sum over k of `weights[k] x[i + k - n / 2 - origin]`, where n is
/// the number of weights.
pub fn correlate1d(
    on: OpContext<'_>,
    x: &RawArray,
    weights: &RawArray,
    axis: isize,
    mode: Boundary,
    cval: f64,
    origin: isize,
) -> Result<RawArray> {
    let OpContext { backend: b, op, dtype, .. } = on;
    require(on, x, &[weights])?;
    let axis = rules::axis(op, axis, x.shape.len())?;
    let size = rules::weights(op, &weights.shape)?;
    let window = rules::window(op, x.shape[axis], size, origin)?;
    let (from, weights) = (contiguous(b, op, x)?, contiguous(b, op, weights)?);
    let out = b.uninit_raw(op, dtype, &x.shape)?;
    if out.size() > 0 {
        let parts = parts(dtype) as u32;
        let window = Window { size: size as u64, before: window.before as u64, mode: filter_mode(mode), parts, cval };
        let lanes = LaneLayout::new(&from, axis);
        let kernel = b.kernel(op, &PROGRAM, Instance::new("correlated", "", &[dtype.to_real()]))?;
        let (to, x, weights) = (out.pointer(), from.pointer(), weights.pointer());
        // SAFETY: the arguments match the parameters of `correlated`, and describe the sizes of the arrays.
        unsafe { b.launch(op, kernel, Grid::over(lanes.n as usize), &[&to, &x, &lanes, &weights, &window])? };
    }
    Ok(out)
}

/// The largest element of the window around each element.
pub fn maximum_filter(on: OpContext<'_>, x: &RawArray, size: &[usize], mode: Boundary, cval: f64) -> Result<RawArray> {
    extreme(on, x, size, mode, cval, "Largest")
}

/// The smallest element of the window around each element.
pub fn minimum_filter(on: OpContext<'_>, x: &RawArray, size: &[usize], mode: Boundary, cval: f64) -> Result<RawArray> {
    extreme(on, x, size, mode, cval, "Smallest")
}

fn extreme(
    on: OpContext<'_>,
    x: &RawArray,
    size: &[usize],
    mode: Boundary,
    cval: f64,
    tag: &'static str,
) -> Result<RawArray> {
    let OpContext { backend: b, op, .. } = on;
    let sizes = rules::window_sizes(op, &x.shape, size)?;
    for (&len, &size) in x.shape.iter().zip(&sizes) {
        rules::covering_window(op, len, size)?;
    }
    let mut from = contiguous(b, op, x)?;
    if from.size() == 0 {
        return Ok(from);
    }
    let kernel = b.kernel(op, &PROGRAM, Instance::new("extremes", tag, &[x.dtype]))?;
    for (axis, &size) in sizes.iter().enumerate().filter(|(_, size)| **size > 1) {
        let window = rules::covering_window(op, from.shape[axis], size)?;
        let (size, before) = (window.border as u64 + 1, window.before as u64);
        let window = Window { size, before, mode: filter_mode(mode), parts: 1, cval };
        let lanes = LaneLayout::new(&from, axis);
        let out = b.uninit_raw(op, x.dtype, &from.shape)?;
        // SAFETY: the arguments match the parameters of `extremes`, and describe the sizes of the arrays.
        unsafe {
            b.launch(op, &kernel, Grid::over(lanes.n as usize), &[&out.pointer(), &from.pointer(), &lanes, &window])?;
        }
        from = out;
    }
    Ok(from)
}
