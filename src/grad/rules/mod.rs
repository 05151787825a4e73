//! Rules that are no compositions: from the gradient of a result to that of an input. Rows name them in `grad`, and say what they are given:
//! `g`, the gradient of the result, `y`, the result, and parameters of the row.
//!
//! A gradient pairs with a change `dz` as Re(g dz), without a conjugate: rules of holomorphic functions are the real ones.

mod convolution;
mod determinants;
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

pub use convolution::*;
pub use determinants::*;
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

use crate::{Backend, Complex, Element, Float, Result};

/// A real array as one of the dtype of `T`.
fn whole<B: Backend, T: Float>(b: &B, x: &B::Array<T::Real>) -> Result<B::Array<T>> {
    b.astype::<T, T::Real>(x)
}

/// `i`, of a complex dtype; 0 of a real one.
fn i<T: Float>() -> T {
    T::from_complex(Complex::new(0.0, 1.0))
}

/// A number of the dtype.
fn number<T: Float>(x: f64) -> T {
    <T as Element>::from_f64(x)
}
