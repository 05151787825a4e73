//! Gradient rules that are not given by formulas: functions that compute the gradient of an input from the gradient of
//! a result. A row of the op table names its rule in `grad`, with the rule's arguments: `g` (the gradient of the
//! result), `y` (the result) and parameters of the row.
//!
//! If `g` is the gradient with respect to an input, a change `dz` of the input changes the value by Re(g dz). This
//! definition does not conjugate `g`, so the rules of holomorphic functions are the same as for real functions.

mod convolution;
mod determinants;
mod distances;
mod elementwise;
mod factorizations;
mod fft;
mod filters;
mod images;
mod indexing;
mod least_squares;
mod linalg;
mod nufft;
mod reduction;
mod shapes;
mod special;

pub use convolution::*;
pub use determinants::*;
pub use distances::*;
pub use elementwise::*;
pub use factorizations::*;
pub use fft::*;
pub use filters::*;
pub use images::*;
pub use indexing::*;
pub use least_squares::*;
pub use linalg::*;
pub use nufft::*;
pub use reduction::*;
pub use shapes::*;
pub use special::*;

use crate::{
    Backend, Complex, DType, Element, Error, Float, Result, runtime::dynamic::with_dtypes, segments::is_16_bit,
};

/// Converts a real array to the dtype `T`.
fn whole<B: Backend, T: Float>(b: &B, x: &B::Array<T::Real>) -> Result<B::Array<T>> {
    b.astype::<T, T::Real>(x)
}

/// The imaginary unit in a complex dtype, or 0 in a real dtype.
fn i<T: Float>() -> T {
    T::from_complex(Complex::new(0.0, 1.0))
}

/// Converts a number to the dtype `T`.
fn number<T: Float>(x: f64) -> T {
    <T as Element>::from_f64(x)
}

/// Rounds a number of a type that stands for a dtype, which is stored exactly, to the dtype.
fn rounded<T: Element>(x: T) -> T {
    if const { T::IS_DYNAMIC } { x.to_raw().cast() } else { x }
}

/// Applies a rule in float32, and rounds its result once. Used for 16-bit floats, if they have too few digits or too
/// small a range.
fn in_float32<B: Backend, T: Element, const N: usize>(
    b: &B,
    x: [&B::Array<T>; N],
    rule: impl FnOnce([&B::Array<T::InFloat32>; N]) -> Result<B::Array<T::InFloat32>>,
) -> Result<B::Array<T>> {
    with_float32::<B, T, N>(b, x.into_iter().map(|x| b.astype::<f32, T>(x)).collect::<Result<_>>()?, rule)
}

/// Applies a rule to arrays of float32, and converts its result to the dtype `T`.
fn with_float32<B: Backend, T: Element, const N: usize>(
    b: &B,
    x: Vec<B::Array<f32>>,
    rule: impl FnOnce([&B::Array<T::InFloat32>; N]) -> Result<B::Array<T::InFloat32>>,
) -> Result<B::Array<T>> {
    let other = || Error::dtype("gradients", DType::Float32);
    let run = || {
        let x: Option<Vec<_>> = x.into_iter().map(B::retyped::<f32, T::InFloat32>).collect();
        let x = x.ok_or_else(other)?;
        let result = rule(std::array::from_fn(|k| &x[k]))?;
        B::retyped::<T::InFloat32, f32>(result).ok_or_else(other)
    };
    let result = if const { T::IS_DYNAMIC } { with_dtypes(DType::Float32, DType::Float32, run) } else { run() };
    b.astype::<T, f32>(result?)
}

/// Divides by `n`, a count or another number that 16-bit floats may not represent.
fn over<B: Backend, T: Float>(b: &B, x: &B::Array<T>, n: f64) -> Result<B::Array<T>> {
    match is_16_bit::<T>() && n > EXACT {
        true => in_float32::<B, T, 1>(b, [x], |[x]| b.divide(x, n)),
        false => b.divide(x, number::<T>(n)),
    }
}

/// Maximum number of terms for which sums of 16-bit floats need no wider dtype: float16 represents all integers up to
/// this number.
const EXACT: f64 = 2048.0;
