//! Images: libtorch has no splines, and its samplers support few boundary modes. The loops of
//! [`Numpyish`](backend_core::numpyish::Numpyish) run on host memory instead. Tensors on a GPU are copied to the host, and the
//! results are copied back.

use super::{
    call::OpContext,
    hosted::{Hosted, hosted, placed},
    tensor::Tensor,
};
use backend_core::{Boundary, DType, Lengths, Result};
use backend_numpyish::images::{self as loops, Spline};

/// Coefficients of the spline of this order that interpolates `x`.
pub fn spline_filter(on: OpContext<'_>, x: &Tensor, order: usize, mode: Boundary) -> Result<Tensor> {
    placed(on, loops::spline_filter_of(hosted(on, x)?.view(), order, mode))
}

/// The values at `coordinates`, whose first axis has one entry per axis of `x`.
pub fn map_coordinates(
    on: OpContext<'_>,
    x: &Tensor,
    coordinates: &Tensor,
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
) -> Result<Tensor> {
    let reals = on.with_dtype(on.dtype.to_real());
    let (x, coordinates) = (hosted(on, x)?, hosted(reals, coordinates)?);
    let spline = Spline { order, mode, cval, prefilter };
    placed(on, loops::map_coordinates_of(x.view(), coordinates.view(), spline))
}

/// Linear interpolation of a batch of grids with channels at given coordinates.
pub fn grid_sample(
    on: OpContext<'_>,
    grid: &Tensor,
    coordinates: &Tensor,
    mode: Boundary,
    cval: f64,
) -> Result<Tensor> {
    let reals = on.with_dtype(on.dtype.to_real());
    let (grid, coordinates) = (hosted(on, grid)?, hosted(reals, coordinates)?);
    placed(on, loops::grid_sample_of(grid.view(), coordinates.view(), mode, cval))
}

/// Transforms the last axes by an affine map: `y[o] = x[matrix o + offset]`.
#[allow(clippy::too_many_arguments)] // the op table fixes the parameters
pub fn affine_transform(
    on: OpContext<'_>,
    x: &Tensor,
    matrix: &Tensor,
    offset: Option<&Tensor>,
    shape: Option<Lengths>,
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
) -> Result<Tensor> {
    let reals = on.with_dtype(on.dtype.to_real());
    let (x, matrix) = (hosted(on, x)?, hosted(reals, matrix)?);
    let offset = offset.map(|offset| hosted(reals, offset)).transpose()?;
    let spline = Spline { order, mode, cval, prefilter };
    placed(on, loops::affine_transform_of(x.view(), matrix.view(), offset.as_ref().map(Hosted::view), shape, spline))
}

/// Resamples the array on a grid of the shape `shape` over the same extent.
#[allow(clippy::too_many_arguments)] // the op table fixes the parameters
pub fn zoom(
    on: OpContext<'_>,
    x: &Tensor,
    shape: &[usize],
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
    grid_mode: bool,
) -> Result<Tensor> {
    let spline = Spline { order, mode, cval, prefilter };
    placed(on, loops::zoom_of(hosted(on, x)?.view(), shape, spline, grid_mode))
}

/// The correlation along an axis: `y[i]` is the sum over `k` of `weights[k] * x[i + k - n / 2 - origin]`, for `n`
/// weights.
pub fn correlate1d(
    on: OpContext<'_>,
    x: &Tensor,
    weights: &Tensor,
    axis: isize,
    mode: Boundary,
    cval: f64,
    origin: isize,
) -> Result<Tensor> {
    let reals = on.with_dtype(on.dtype.to_real());
    let (x, weights) = (hosted(on, x)?, hosted(reals, weights)?);
    placed(on, loops::correlate1d_of(x.view(), weights.view(), axis, mode, cval, origin))
}

/// The largest element of the window around each element.
pub fn maximum_filter(on: OpContext<'_>, x: &Tensor, size: &[usize], mode: Boundary, cval: f64) -> Result<Tensor> {
    placed(on, loops::extreme_of(on.op, hosted(on, x)?.view(), size, mode, cval, true))
}

/// The smallest element of the window around each element.
pub fn minimum_filter(on: OpContext<'_>, x: &Tensor, size: &[usize], mode: Boundary, cval: f64) -> Result<Tensor> {
    placed(on, loops::extreme_of(on.op, hosted(on, x)?.view(), size, mode, cval, false))
}

/// Numbers the connected regions of non-zero elements from 1, in the order of their first elements; also returns the
/// number of regions.
pub fn label(on: OpContext<'_>, x: &Tensor, connectivity: usize, structure: Option<&Tensor>) -> Result<[Tensor; 2]> {
    let bools = on.with_dtype(DType::Bool);
    let (x, structure) = (hosted(on, x)?, structure.map(|structure| hosted(bools, structure)).transpose()?);
    let [labels, count] = loops::label_of(x.view(), connectivity, structure.as_ref().map(Hosted::view))?;
    let integers = on.with_dtype(DType::Int64);
    Ok([placed(integers, Ok(labels))?, placed(integers, Ok(count))?])
}

/// The Euclidean distance of each true element to the nearest false element.
pub fn distance_transform_edt(on: OpContext<'_>, x: &Tensor, sampling: Option<&Tensor>) -> Result<Tensor> {
    let bools = on.with_dtype(DType::Bool);
    let (x, sampling) = (hosted(bools, x)?, sampling.map(|sampling| hosted(on, sampling)).transpose()?);
    placed(on, loops::distances_of(x.view(), sampling.as_ref().map(Hosted::view), on.dtype))
}
