//! Images: libtorch has no splines, and its samplers know few edges. The loops are those of [`Numpyish`](crate::numpyish::Numpyish), over the
//! memory of tensors on the host; tensors of a GPU are copied there and back.

use super::{
    Torch, TorchArray,
    array::{from_host, to_host},
    tensor::device_name,
};
use crate::{
    Boundary, Element, Error, HostArray, Lengths, RealNumeric, Result, WideFloat,
    numpyish::{
        images::{self as loops, Spline},
        raw::{RawArray, View, view},
        typed::typed,
    },
};

/// The elements of a tensor on the host: its own, or a copy of those on a GPU.
enum Hosted<'a, T: Element> {
    Here(View<'a>),
    Copied(HostArray<T>),
}

impl<T: Element> Hosted<'_, T> {
    fn view(&self) -> View<'_> {
        match self {
            Hosted::Here(view) => *view,
            Hosted::Copied(array) => view(array),
        }
    }
}

fn hosted<'a, T: Element>(b: &Torch, op: &'static str, x: &'a TorchArray<T>) -> Result<Hosted<'a, T>> {
    let device = x.tensor().device();
    if device != b.index() {
        return Err(Error::Device { op, expected: device_name(b.index()), found: device_name(device) });
    }
    match x.host_view() {
        Some(view) => Ok(Hosted::Here(view.view())),
        None => to_host(x.tensor()).map(Hosted::Copied).map_err(|e| e.within(op)),
    }
}

/// The result, on the backend's device.
fn placed<T: Element>(b: &Torch, array: Result<RawArray>) -> Result<TorchArray<T>> {
    from_host(typed(array)?, b.index())
}

/// The coefficients of the spline of this order through the elements.
pub fn spline_filter<T: WideFloat>(
    b: &Torch,
    x: &TorchArray<T>,
    order: usize,
    mode: Boundary,
) -> Result<TorchArray<T>> {
    placed(b, loops::spline_filter_of(hosted(b, "spline_filter", x)?.view(), order, mode))
}

/// The values at coordinates whose first axis has one for each axis of `x`.
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

/// The values of a batch of grids with channels at coordinates, linear between the elements.
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

/// The last axes through an affine map: `y[o] = x[matrix o + offset]`.
#[allow(clippy::too_many_arguments)] // those of the row
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

/// The array on another grid over the same extent.
#[allow(clippy::too_many_arguments)] // those of the row
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
