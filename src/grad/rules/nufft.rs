//! Gradient rules of non-uniform Fourier transforms.
//!
//! The modes are the Fourier coefficients at integer frequencies. The gradient with respect to the modes, or with
//! respect to the values at the points, is a transform of the output gradient, with the same sign and with inputs and
//! outputs swapped. The gradient with respect to the coordinate `x[j]` of a point contains the derivative of the wave
//! `exp(i k x[j])`, which is `i k` times the wave.

use super::{i, whole};
use crate::{
    ArrayAttributes, Backend, ComplexFloat, Error, Nufft1dType1Options, Nufft1dType2Options, Nufft1dType3Options,
    Nufft2dType1Options, Nufft2dType2Options, Nufft2dType3Options, Nufft3dType1Options, Nufft3dType2Options,
    Nufft3dType3Options, NufftSpreadOptions, Result,
};

fn wrong() -> Error {
    Error::argument("nufft", "points must have one to three coordinates")
}

/// The gradient with respect to the coordinates along one axis. `values` are the values at the points. `moved` are the
/// modes, multiplied by their frequencies and transformed to the points.
fn by_coordinate<B: Backend, T: ComplexFloat>(
    b: &B,
    values: &B::Array<T>,
    moved: B::Array<T>,
    isign: isize,
) -> Result<B::Array<T::Real>> {
    let turn = if isign < 0 { T::ZERO.minus(i::<T>()) } else { i::<T>() };
    let product = b.astype::<T::Real, _>(b.real(b.multiply(b.multiply(values, moved)?, turn)?)?)?;
    // all transforms of a batch use the same points, so the gradient is a sum over the batch
    if product.ndim() > 1 { b.sum(product, 0) } else { Ok(product) }
}

/// Gradient with respect to the coordinates along `axis`, for transforms between points and modes.
fn with_modes<B: Backend, T: ComplexFloat>(
    b: &B,
    modes: &B::Array<T>,
    values: &B::Array<T>,
    points: &[&B::Array<T::Real>],
    axis: usize,
    eps: f64,
    isign: isize,
) -> Result<B::Array<T::Real>> {
    let axes = points.len();
    let place = modes.ndim().checked_sub(axes).ok_or_else(wrong)? + axis;
    let n = modes.shape()[place] as i64;
    let mut shape = vec![1; axes];
    shape[axis] = n as isize;
    let numbers = b.reshape(b.arange::<i64>(-(n / 2), n - n / 2, 1)?, shape)?;
    let modes = b.multiply(modes, b.astype::<T, i64>(numbers)?)?;
    let moved = match *points {
        [x] => b.nufft1d_type2_with(x, modes, Nufft1dType2Options::new().eps(eps).isign(isign))?,
        [x, y] => b.nufft2d_type2_with(x, y, modes, Nufft2dType2Options::new().eps(eps).isign(isign))?,
        [x, y, z] => b.nufft3d_type2_with(x, y, z, modes, Nufft3dType2Options::new().eps(eps).isign(isign))?,
        _ => return Err(wrong()),
    };
    by_coordinate::<B, T>(b, values, moved, isign)
}

/// Gradient with respect to the coordinates along `axis`, for transforms between points and frequencies. The gradient
/// is taken with respect to the coordinates in `points`, which are the points or the frequencies. `others` holds the
/// frequencies in the first case, and the points in the second.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
fn with_frequencies<B: Backend, T: ComplexFloat>(
    b: &B,
    points: &[&B::Array<T::Real>],
    values: &B::Array<T>,
    others: &[&B::Array<T::Real>],
    of_others: &B::Array<T>,
    axis: usize,
    eps: f64,
    isign: isize,
) -> Result<B::Array<T::Real>> {
    let scaled = b.multiply(of_others, whole::<B, T>(b, others[axis])?)?;
    let moved = match (others, points) {
        (&[s], &[x]) => b.nufft1d_type3_with(s, scaled, x, Nufft1dType3Options::new().eps(eps).isign(isign))?,
        (&[s, t], &[x, y]) => {
            b.nufft2d_type3_with(s, t, scaled, x, y, Nufft2dType3Options::new().eps(eps).isign(isign))?
        }
        (&[s, t, u], &[x, y, z]) => {
            b.nufft3d_type3_with(s, t, u, scaled, x, y, z, Nufft3dType3Options::new().eps(eps).isign(isign))?
        }
        _ => return Err(wrong()),
    };
    by_coordinate::<B, T>(b, values, moved, isign)
}

/// Defines the functions that rows of the op table name. For each number of dimensions and each coordinate, there is
/// one function for transforms between points and modes, and one for transforms between points and frequencies.
macro_rules! by_coordinates {
    ($($modes:ident $frequencies:ident ($($x:ident)+) ($($s:ident)+) $axis:literal;)*) => {$(
        /// Gradient with respect to a coordinate of the points, for transforms between points and modes. One of
        /// `modes` and `values` is the input, and the other is the gradient of the result.
        #[allow(clippy::too_many_arguments)] // the parameters of the op's row
        pub fn $modes<B: Backend, T: ComplexFloat>(
            b: &B,
            modes: &B::Array<T>,
            values: &B::Array<T>,
            $($x: &B::Array<T::Real>,)+
            eps: f64,
            isign: isize,
        ) -> Result<B::Array<T::Real>> {
            with_modes::<B, T>(b, modes, values, &[$($x),+], $axis, eps, isign)
        }

        /// Gradient with respect to a coordinate of the points, for transforms between points and frequencies. `values`
        /// has a number for each point, and `of_frequencies` has a number for each frequency. One of these two arrays
        /// is the input, and the other is the gradient of the result. If the caller passes the frequencies as points
        /// and the points as frequencies, this function returns the gradient with respect to a coordinate of the
        /// frequencies.
        #[allow(clippy::too_many_arguments)] // the parameters of the op's row
        pub fn $frequencies<B: Backend, T: ComplexFloat>(
            b: &B,
            $($x: &B::Array<T::Real>,)+
            values: &B::Array<T>,
            $($s: &B::Array<T::Real>,)+
            of_frequencies: &B::Array<T>,
            eps: f64,
            isign: isize,
        ) -> Result<B::Array<T::Real>> {
            with_frequencies::<B, T>(b, &[$($x),+], values, &[$($s),+], of_frequencies, $axis, eps, isign)
        }
    )*};
}
by_coordinates! {
    nufft1d_x nufft1d_type3_x (x) (s) 0;
    nufft2d_x nufft2d_type3_x (x y) (s t) 0;
    nufft2d_y nufft2d_type3_y (x y) (s t) 1;
    nufft3d_x nufft3d_type3_x (x y z) (s t u) 0;
    nufft3d_y nufft3d_type3_y (x y z) (s t u) 1;
    nufft3d_z nufft3d_type3_z (x y z) (s t u) 2;
}

/// The number of modes along each axis, for an array of modes that may have a leading batch axis.
fn lengths(shape: &[usize], axes: usize) -> Result<&[usize]> {
    shape.len().checked_sub(axes).map(|front| &shape[front..]).ok_or_else(wrong)
}

/// Gradient of `nufft1d_type2` with respect to the modes, whose shape is `shape`.
pub fn nufft1d_type2_f<B: Backend, T: ComplexFloat>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T::Real>,
    shape: &[usize],
    eps: f64,
    isign: isize,
) -> Result<B::Array<T>> {
    let n = lengths(shape, 1)?[0];
    b.nufft1d_type1_with(x, g, n, Nufft1dType1Options::new().eps(eps).isign(isign))
}

/// Gradient of `nufft2d_type2` with respect to the modes, whose shape is `shape`.
pub fn nufft2d_type2_f<B: Backend, T: ComplexFloat>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T::Real>,
    y: &B::Array<T::Real>,
    shape: &[usize],
    eps: f64,
    isign: isize,
) -> Result<B::Array<T>> {
    b.nufft2d_type1_with(x, y, g, lengths(shape, 2)?, Nufft2dType1Options::new().eps(eps).isign(isign))
}

/// Gradient of `nufft3d_type2` with respect to the modes, whose shape is `shape`.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn nufft3d_type2_f<B: Backend, T: ComplexFloat>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T::Real>,
    y: &B::Array<T::Real>,
    z: &B::Array<T::Real>,
    shape: &[usize],
    eps: f64,
    isign: isize,
) -> Result<B::Array<T>> {
    b.nufft3d_type1_with(x, y, z, g, lengths(shape, 3)?, Nufft3dType1Options::new().eps(eps).isign(isign))
}

/// Gradient of `nufft_interpolate` with respect to the grid, whose shape is `shape`.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn nufft_interpolate_grid<B: Backend, T: ComplexFloat>(
    b: &B,
    g: &B::Array<T>,
    points: &B::Array<T::Real>,
    shape: &[usize],
    width: usize,
    beta: f64,
    eps: f64,
    axis: isize,
) -> Result<B::Array<T>> {
    let grid = lengths(shape, points.shape()[1])?;
    b.nufft_spread_with(points, g, grid, width, beta, NufftSpreadOptions::new().eps(eps).axis(axis))
}
