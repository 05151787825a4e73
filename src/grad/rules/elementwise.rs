//! Rules of ops on single elements that their expressions do not give: those that are not holomorphic, and those with a choice that is no array.

use super::{i, number, whole};
use crate::{Backend, DTypeKind, Float, Real, Result};

/// `abs`: along the direction of `x`; 0 at 0.
pub fn abs<B: Backend, T: Float>(b: &B, g: &B::Array<T::Real>, x: &B::Array<T>) -> Result<B::Array<T>> {
    b.multiply(whole::<B, T>(b, g)?, b.conj::<T>(b.sign::<T>(x)?)?)
}

/// `real`
pub fn real<B: Backend, T: Float>(b: &B, g: &B::Array<T::Real>) -> Result<B::Array<T>> {
    whole::<B, T>(b, g)
}

/// `imag`, which of a real array is 0.
pub fn imag<B: Backend, T: Float>(b: &B, g: &B::Array<T::Real>) -> Result<B::Array<T>> {
    b.multiply(whole::<B, T>(b, g)?, T::ZERO.minus(i::<T>()))
}

/// `angle`, which of a real array does not change.
pub fn angle<B: Backend, T: Float>(b: &B, g: &B::Array<T::Real>, x: &B::Array<T>) -> Result<B::Array<T>> {
    if T::DTYPE.kind() != DTypeKind::Complex {
        return b.zeros_like::<T>(x);
    }
    b.divide(imag::<B, T>(b, g)?, x)
}

/// `sign`, `x / |x|`; of a real array it does not change.
pub fn sign<B: Backend, T: Float>(b: &B, g: &B::Array<T>, y: &B::Array<T>, x: &B::Array<T>) -> Result<B::Array<T>> {
    if T::DTYPE.kind() != DTypeKind::Complex {
        return b.zeros_like::<T>(x);
    }
    let across = b.subtract(g, b.conj::<T>(b.multiply(b.multiply(g, y)?, y)?)?)?;
    let twice = b.multiply(whole::<B, T>(b, &b.abs::<T>(x)?)?, number::<T>(2.0))?;
    b.divide(across, twice)
}

/// `complex`, by its real part.
pub fn complex_re<B: Backend, T: Real>(b: &B, g: &B::Array<T::Complex>) -> Result<B::Array<T>> {
    b.astype::<T, _>(b.real(g)?)
}

/// `complex`, by its imaginary part.
pub fn complex_im<B: Backend, T: Real>(b: &B, g: &B::Array<T::Complex>) -> Result<B::Array<T>> {
    b.negative(b.astype::<T, _>(b.imag(g)?)?)
}

/// `gelu`
pub fn gelu<B: Backend, T: Real>(b: &B, g: &B::Array<T>, x: &B::Array<T>, approximate: bool) -> Result<B::Array<T>> {
    let square = b.square(x)?;
    let slope = if approximate {
        // y = x / 2 (1 + tanh(u)), u = sqrt(2 / pi) (x + 0.044715 x^3)
        let (c, k) = (0.797_884_560_802_865_4, 0.044715);
        let u = b.multiply(b.multiply(x, c)?, b.add(b.multiply(&square, k)?, 1.0)?)?;
        let tanh = b.tanh(u)?;
        let along = b.multiply(x, b.multiply(b.add(b.multiply(&square, 3.0 * k)?, 1.0)?, 0.5 * c)?)?;
        let bend = b.multiply(b.subtract(1.0, b.square(&tanh)?)?, along)?;
        b.add(b.multiply(b.add(tanh, 1.0)?, 0.5)?, bend)?
    } else {
        let below = b.multiply(b.erfc(b.multiply(x, -std::f64::consts::FRAC_1_SQRT_2)?)?, 0.5)?;
        let density = b.multiply(b.exp(b.multiply(square, -0.5)?)?, 0.398_942_280_401_432_7)?;
        b.add(below, b.multiply(x, density)?)?
    };
    b.multiply(g, slope)
}
