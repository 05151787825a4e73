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

use crate::{Backend, Complex, Element, Float, Result, segments::is_16_bit};

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

/// Applies a rule in float32, and rounds its result once. Used for 16-bit floats, if they have too few digits or too
/// small a range.
fn in_float32<B: Backend, T: Element, const N: usize>(
    b: &B,
    x: [&B::Array<T>; N],
    rule: impl FnOnce([&B::Array<f32>; N]) -> Result<B::Array<f32>>,
) -> Result<B::Array<T>> {
    let wide = x.into_iter().map(|x| b.astype::<f32, T>(x)).collect::<Result<Vec<_>>>()?;
    let mut wide = wide.iter();
    let result = rule(x.map(|_| wide.next().expect("as many as there are")))?;
    b.astype::<T, f32>(result)
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
