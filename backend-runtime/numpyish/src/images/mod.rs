//! Image processing: interpolation, filters, connected regions, and distance transforms.
//!
//! Coordinates, weights and sums are float64 for arrays of every dtype, as in SciPy.

#![allow(clippy::needless_range_loop, reason = "lanes and axes in lockstep: a counter says which")]

mod distance;
mod extremes;
mod grid;
mod interpolation;
mod label;
mod sample;
mod spline;
mod stencil;

pub use distance::{distance_transform_edt, distances_of};
pub use extremes::{extreme_of, maximum_filter, minimum_filter};
pub use interpolation::{
    Spline, affine_transform, affine_transform_of, grid_sample, grid_sample_of, map_coordinates, map_coordinates_of,
    zoom, zoom_of,
};
pub use label::{label, label_of};
pub use spline::{spline_filter, spline_filter_of};
pub use stencil::{correlate1d, correlate1d_of};

use backend_core::{Complex, DType, Element, rules};
use std::ops::{Add, Mul};

/// An element of an image, with the type in which elements are added.
trait Pixel: Element {
    /// float64, or complex128 for complex elements.
    type Total: Copy + Add<Output = Self::Total> + Mul<f64, Output = Self::Total>;

    fn wide(self) -> Self::Total;
    fn rounded(sum: Self::Total) -> Self;
    fn number(x: f64) -> Self::Total;
}

macro_rules! pixel {
    ($($t:ty, $sum:ty, $x:ident => $wide:expr, $rounded:expr;)*) => {$(
        impl Pixel for $t {
            type Total = $sum;
            #[inline(always)]
            fn wide(self) -> $sum { let $x = self; $wide }
            #[inline(always)]
            fn rounded($x: $sum) -> $t { $rounded }
            #[inline(always)]
            fn number(x: f64) -> $sum { x.into() }
        }
    )*};
}
pixel! {
    f32, f64, x => x.into(), x as f32;
    f64, f64, x => x, x;
    Complex<f32>, Complex<f64>, x => Complex::new(x.re.into(), x.im.into()), Complex::new(x.re as f32, x.im as f32);
    Complex<f64>, Complex<f64>, x => x, x;
}

/// Runs the body with `P` bound to the element type of a dtype. Images have one of four dtypes.
macro_rules! pixels {
    ($dtype:expr, $p:ident => $body:expr) => {
        backend_core::dispatch!($dtype, $p: [Float32, Float64, Complex64, Complex128] => $body)
    };
}
use pixels;

/// The shape and dtype of an array whose complex numbers are viewed as pairs of reals: the pairs form an additional
/// last axis of length 2. The shape and dtype of a real array are unchanged.
fn parts(shape: &[usize], dtype: DType) -> (Vec<usize>, DType) {
    let mut shape = shape.to_vec();
    if dtype.to_real() != dtype {
        shape.push(2);
    }
    (shape, dtype.to_real())
}

/// Number of lanes (1-D slices along an axis) that are filtered at once. A row with one element of each of these
/// lanes fills whole vector registers.
const LANES: usize = 16;

/// The lanes along one axis of an array in C order, divided into blocks of [`LANES`] lanes. `len` is the length of a
/// lane, and `inner` is the distance, in elements, between the elements of a lane.
#[derive(Clone, Copy)]
struct Blocks {
    len: usize,
    inner: usize,
    lanes: usize,
}

impl Blocks {
    fn new(shape: &[usize], axis: usize) -> Blocks {
        let inner = shape[axis + 1..].iter().product();
        let lanes = shape.iter().enumerate().filter(|(k, _)| *k != axis).map(|(_, &len)| len).product();
        Blocks { len: shape[axis], inner, lanes }
    }

    fn count(self) -> usize {
        self.lanes.div_ceil(LANES)
    }

    /// The offset of the first element of each lane of a block, and the number of lanes in the block. If the block has
    /// fewer than [`LANES`] lanes, the offset of its last lane is repeated.
    fn starts(self, block: usize) -> ([usize; LANES], usize) {
        let first = block * LANES;
        let many = LANES.min(self.lanes - first);
        let start = |lane: usize| lane / self.inner * self.len * self.inner + lane % self.inner;
        (std::array::from_fn(|k| start(first + k.min(many - 1))), many)
    }

    /// Minimum number of blocks per task.
    fn grain(self) -> usize {
        (super::parallel::CHEAP / 4 / (self.len.max(1) * LANES)).max(1)
    }

    /// Allocates one row for each element of a lane, and `border` more rows. A row holds one element of each lane of
    /// a block.
    fn room<T: Copy + Default>(self, op: &'static str, border: usize) -> backend_core::Result<Vec<[T; LANES]>> {
        let mut rows = rules::list(op, self.len.saturating_add(border))?;
        rows.resize(self.len + border, [T::default(); LANES]);
        Ok(rows)
    }
}

/// The ops over arrays with a static dtype, for tests.
#[cfg(test)]
#[allow(clippy::too_many_arguments)] // the arguments of the ops
mod typed {
    use crate::images;
    use backend_core::{
        Boundary, Element, Lengths, Precision, Result, WideFloat,
        numpyish::{NdArray, Numpyish, OpContext, raw::view, typed::typed},
    };

    backend_core::typed_ops! { images:
        spline_filter<T: WideFloat>(x; order: usize, mode: Boundary) -> T;
        zoom<T: WideFloat>(
            x; shape: &[usize], order: usize, mode: Boundary, cval: f64, prefilter: bool, grid_mode: bool
        ) -> T;
    }

    pub fn map_coordinates<T: WideFloat>(
        b: &Numpyish,
        x: &NdArray<T>,
        coordinates: &NdArray<T::Real>,
        order: usize,
        mode: Boundary,
        cval: f64,
        prefilter: bool,
    ) -> Result<NdArray<T>> {
        let on = OpContext::new(b, "map_coordinates", T::DTYPE);
        typed(images::map_coordinates(on, view(x), view(coordinates), order, mode, cval, prefilter))
    }

    pub fn affine_transform<T: WideFloat>(
        b: &Numpyish,
        x: &NdArray<T>,
        matrix: &NdArray<T::Real>,
        offset: Option<&NdArray<T::Real>>,
        shape: Option<Lengths>,
        order: usize,
        mode: Boundary,
        cval: f64,
        prefilter: bool,
    ) -> Result<NdArray<T>> {
        let on = OpContext::new(b, "affine_transform", T::DTYPE);
        let (x, matrix, offset) = (view(x), view(matrix), offset.map(view));
        typed(images::affine_transform(on, x, matrix, offset, shape, order, mode, cval, prefilter))
    }

    pub fn label<T: Element>(
        b: &Numpyish,
        x: &NdArray<T>,
        connectivity: usize,
        structure: Option<&NdArray<bool>>,
    ) -> Result<(NdArray<i64>, NdArray<i64>)> {
        let on = OpContext::new(b, "label", T::DTYPE);
        let [labels, count] = images::label(on, view(x), connectivity, structure.map(view))?;
        Ok((typed(Ok(labels))?, typed(Ok(count))?))
    }

    pub fn distance_transform_edt<T: Precision>(
        b: &Numpyish,
        x: &NdArray<bool>,
        sampling: Option<&NdArray<T>>,
    ) -> Result<NdArray<T>> {
        let on = OpContext::new(b, "distance_transform_edt", T::DTYPE);
        typed(images::distance_transform_edt(on, view(x), sampling.map(view)))
    }
}
