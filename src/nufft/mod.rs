//! Non-uniform Fourier transforms, composed of ops of any backend. In these transforms, the points at which values are
//! given or computed need not lie on a grid.
//!
//! The modes are the Fourier coefficients at integer frequencies. A transform of type 1 computes modes from values at
//! points. Type 2 computes values at points from modes. Type 3 computes Fourier coefficients at any frequencies from
//! values at points.
//!
//! The functions implement the ops `nufft1d_type1` and so on of the op table; each call makes one transform.
//! [`NufftPlan`] makes many transforms of type 1 or 2 with the same points: everything that depends on the points is
//! computed only once.

mod design;
mod plan;
mod type3;

pub use plan::{NufftPlan, NufftType};

use crate::{Backend, ComplexFloat, Error, Result};

/// Computes `n_modes` Fourier modes from the values `c` at the points `x`.
pub fn type1_1d<B: Backend, T: ComplexFloat>(
    b: &B,
    x: &B::Array<T::Real>,
    c: &B::Array<T>,
    n_modes: usize,
    eps: f64,
    isign: isize,
) -> Result<B::Array<T>> {
    run(b, NufftType::One, "nufft1d_type1", &[n_modes], &[x], c, eps, isign)
}

/// Computes the values at the points `x` from the Fourier modes `f`.
pub fn type2_1d<B: Backend, T: ComplexFloat>(
    b: &B,
    x: &B::Array<T::Real>,
    f: &B::Array<T>,
    eps: f64,
    isign: isize,
) -> Result<B::Array<T>> {
    run(b, NufftType::Two, "nufft1d_type2", modes(b.shape(f), 1), &[x], f, eps, isign)
}

/// Computes `n_modes` Fourier modes along each axis from the values `c` at the points (`x`, `y`).
pub fn type1_2d<B: Backend, T: ComplexFloat>(
    b: &B,
    x: &B::Array<T::Real>,
    y: &B::Array<T::Real>,
    c: &B::Array<T>,
    n_modes: &[usize],
    eps: f64,
    isign: isize,
) -> Result<B::Array<T>> {
    run(b, NufftType::One, "nufft2d_type1", n_modes, &[x, y], c, eps, isign)
}

/// Computes the values at the points (`x`, `y`) from the Fourier modes `f`.
pub fn type2_2d<B: Backend, T: ComplexFloat>(
    b: &B,
    x: &B::Array<T::Real>,
    y: &B::Array<T::Real>,
    f: &B::Array<T>,
    eps: f64,
    isign: isize,
) -> Result<B::Array<T>> {
    run(b, NufftType::Two, "nufft2d_type2", modes(b.shape(f), 2), &[x, y], f, eps, isign)
}

/// Computes `n_modes` Fourier modes along each axis from the values `c` at the points (`x`, `y`, `z`).
#[allow(clippy::too_many_arguments, reason = "the parameters of the table's row")]
pub fn type1_3d<B: Backend, T: ComplexFloat>(
    b: &B,
    x: &B::Array<T::Real>,
    y: &B::Array<T::Real>,
    z: &B::Array<T::Real>,
    c: &B::Array<T>,
    n_modes: &[usize],
    eps: f64,
    isign: isize,
) -> Result<B::Array<T>> {
    run(b, NufftType::One, "nufft3d_type1", n_modes, &[x, y, z], c, eps, isign)
}

/// Computes the values at the points (`x`, `y`, `z`) from the Fourier modes `f`.
pub fn type2_3d<B: Backend, T: ComplexFloat>(
    b: &B,
    x: &B::Array<T::Real>,
    y: &B::Array<T::Real>,
    z: &B::Array<T::Real>,
    f: &B::Array<T>,
    eps: f64,
    isign: isize,
) -> Result<B::Array<T>> {
    run(b, NufftType::Two, "nufft3d_type2", modes(b.shape(f), 3), &[x, y, z], f, eps, isign)
}

/// Computes the values at the frequencies `s` from the values `c` at the points `x`.
pub fn type3_1d<B: Backend, T: ComplexFloat>(
    b: &B,
    x: &B::Array<T::Real>,
    c: &B::Array<T>,
    s: &B::Array<T::Real>,
    eps: f64,
    isign: isize,
) -> Result<B::Array<T>> {
    type3::transform("nufft1d_type3", b, &[x], c, &[s], eps, isign)
}

/// Computes the values at the frequencies (`s`, `t`) from the values `c` at the points (`x`, `y`).
#[allow(clippy::too_many_arguments, reason = "the parameters of the table's row")]
pub fn type3_2d<B: Backend, T: ComplexFloat>(
    b: &B,
    x: &B::Array<T::Real>,
    y: &B::Array<T::Real>,
    c: &B::Array<T>,
    s: &B::Array<T::Real>,
    t: &B::Array<T::Real>,
    eps: f64,
    isign: isize,
) -> Result<B::Array<T>> {
    type3::transform("nufft2d_type3", b, &[x, y], c, &[s, t], eps, isign)
}

/// Computes the values at the frequencies (`s`, `t`, `u`) from the values `c` at the points (`x`, `y`, `z`).
#[allow(clippy::too_many_arguments, reason = "the parameters of the table's row")]
pub fn type3_3d<B: Backend, T: ComplexFloat>(
    b: &B,
    x: &B::Array<T::Real>,
    y: &B::Array<T::Real>,
    z: &B::Array<T::Real>,
    c: &B::Array<T>,
    s: &B::Array<T::Real>,
    t: &B::Array<T::Real>,
    u: &B::Array<T::Real>,
    eps: f64,
    isign: isize,
) -> Result<B::Array<T>> {
    type3::transform("nufft3d_type3", b, &[x, y, z], c, &[s, t, u], eps, isign)
}

/// The numbers of modes: the lengths of the last `axes` axes. The array may have a batch axis before them.
fn modes(shape: &[usize], axes: usize) -> &[usize] {
    &shape[shape.len().saturating_sub(axes)..]
}

#[allow(clippy::too_many_arguments, reason = "the parameters of the table's rows")]
fn run<B: Backend, T: ComplexFloat>(
    b: &B,
    kind: NufftType,
    op: &'static str,
    n_modes: &[usize],
    points: &[&B::Array<T::Real>],
    data: &B::Array<T>,
    eps: f64,
    isign: isize,
) -> Result<B::Array<T>> {
    if n_modes.len() != points.len() {
        return Err(Error::shape(
            op,
            n_modes,
            format!("of the modes must have {} axes, one for each coordinate of the points", points.len()),
        ));
    }
    let mut plan = NufftPlan::new(b, kind, n_modes, eps, isign)?;
    plan.set_points(points)?;
    plan.execute(data)
}
