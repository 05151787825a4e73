//! Images: libtorch has no splines, and its samplers support few boundary modes. The loops of
//! [`Numpyish`](crate::numpyish::Numpyish) run on host memory instead; tensors on a GPU are copied there and back.

use super::{
    Torch, TorchArray,
    hosted::{Hosted, hosted, placed},
};
use crate::{
    Boundary, Element, Lengths, Precision, RealNumeric, Result, WideFloat,
    numpyish::images::{self as loops, Spline},
};

/// The coefficients of the interpolating spline of this order.
pub fn spline_filter<T: WideFloat>(
    b: &Torch,
    x: &TorchArray<T>,
    order: usize,
    mode: Boundary,
) -> Result<TorchArray<T>> {
    placed(b, loops::spline_filter_of(hosted(b, "spline_filter", x)?.view(), order, mode))
}

/// The values at `coordinates`, whose first axis has one entry per axis of `x`.
pub fn map_coordinates<T: WideFloat>(
    b: &Torch,
    x: &TorchArray<T>,
    coordinates: &TorchArray<T::Real>,
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
) -> Result<TorchArray<T>> {
    let op = "map_coordinates";
    let (x, coordinates) = (hosted(b, op, x)?, hosted(b, op, coordinates)?);
    let spline = Spline { order, mode, cval, prefilter };
    placed(b, loops::map_coordinates_of(x.view(), coordinates.view(), spline))
}

/// Linear interpolation of a batch of grids with channels at given coordinates.
pub fn grid_sample<T: WideFloat>(
    b: &Torch,
    grid: &TorchArray<T>,
    coordinates: &TorchArray<T::Real>,
    mode: Boundary,
    cval: f64,
) -> Result<TorchArray<T>> {
    let op = "grid_sample";
    let (grid, coordinates) = (hosted(b, op, grid)?, hosted(b, op, coordinates)?);
    placed(b, loops::grid_sample_of(grid.view(), coordinates.view(), mode, cval))
}

/// Transforms the last axes by an affine map: `y[o] = x[matrix o + offset]`.
#[allow(clippy::too_many_arguments)] // the parameters of the row
pub fn affine_transform<T: WideFloat>(
    b: &Torch,
    x: &TorchArray<T>,
    matrix: &TorchArray<T::Real>,
    offset: Option<&TorchArray<T::Real>>,
    shape: Option<Lengths>,
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
) -> Result<TorchArray<T>> {
    let op = "affine_transform";
    let (x, matrix) = (hosted(b, op, x)?, hosted(b, op, matrix)?);
    let offset = offset.map(|offset| hosted(b, op, offset)).transpose()?;
    let spline = Spline { order, mode, cval, prefilter };
    placed(b, loops::affine_transform_of(x.view(), matrix.view(), offset.as_ref().map(Hosted::view), shape, spline))
}

/// Resamples the array on another grid over the same extent.
#[allow(clippy::too_many_arguments)] // the parameters of the row
pub fn zoom<T: WideFloat>(
    b: &Torch,
    x: &TorchArray<T>,
    shape: &[usize],
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
    grid_mode: bool,
) -> Result<TorchArray<T>> {
    let spline = Spline { order, mode, cval, prefilter };
    placed(b, loops::zoom_of(hosted(b, "zoom", x)?.view(), shape, spline, grid_mode))
}

/// `y[i]` is the sum of `weights[k] x[i + k - n / 2 - origin]` along an axis.
pub fn correlate1d<T: WideFloat>(
    b: &Torch,
    x: &TorchArray<T>,
    weights: &TorchArray<T::Real>,
    axis: isize,
    mode: Boundary,
    cval: f64,
    origin: isize,
) -> Result<TorchArray<T>> {
    let (x, weights) = (hosted(b, "correlate1d", x)?, hosted(b, "correlate1d", weights)?);
    placed(b, loops::correlate1d_of(x.view(), weights.view(), axis, mode, cval, origin))
}

/// The largest element of the window around each element.
pub fn maximum_filter<T: RealNumeric>(
    b: &Torch,
    x: &TorchArray<T>,
    size: &[usize],
    mode: Boundary,
    cval: f64,
) -> Result<TorchArray<T>> {
    let op = "maximum_filter";
    placed(b, loops::extreme_of(op, hosted(b, op, x)?.view(), size, mode, cval, true))
}

/// The smallest element of the window around each element.
pub fn minimum_filter<T: RealNumeric>(
    b: &Torch,
    x: &TorchArray<T>,
    size: &[usize],
    mode: Boundary,
    cval: f64,
) -> Result<TorchArray<T>> {
    let op = "minimum_filter";
    placed(b, loops::extreme_of(op, hosted(b, op, x)?.view(), size, mode, cval, false))
}

/// Numbers the connected regions of non-zero elements from 1, in the order of their first elements; also returns the
/// number of regions.
#[allow(clippy::type_complexity)] // a pair of arrays
pub fn label<T: Element>(
    b: &Torch,
    x: &TorchArray<T>,
    connectivity: usize,
    structure: Option<&TorchArray<bool>>,
) -> Result<(TorchArray<i64>, TorchArray<i64>)> {
    let op = "label";
    let (x, structure) = (hosted(b, op, x)?, structure.map(|structure| hosted(b, op, structure)).transpose()?);
    let (labels, count) = loops::label_of(x.view(), connectivity, structure.as_ref().map(Hosted::view))?;
    Ok((placed(b, Ok(labels))?, placed(b, Ok(count))?))
}

/// The Euclidean distance of each true element to the nearest false one.
pub fn distance_transform_edt<T: Precision>(
    b: &Torch,
    x: &TorchArray<bool>,
    sampling: Option<&TorchArray<T>>,
) -> Result<TorchArray<T>> {
    let op = "distance_transform_edt";
    let (x, sampling) = (hosted(b, op, x)?, sampling.map(|sampling| hosted(b, op, sampling)).transpose()?);
    placed(b, loops::distances_of(x.view(), sampling.as_ref().map(Hosted::view), T::DTYPE))
}
