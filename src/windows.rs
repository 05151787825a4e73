//! Window functions: weights that decrease a signal towards both ends. In the formulas, t rises from -1 to 1.

use crate::{Backend, Real, Result};
use std::f64::consts::PI;

/// `n` evenly spaced points, beginning at -1. The last point is 1 for a symmetric window. Returns `None` for `n = 1`,
/// where every window is 1.
fn points<B: Backend>(b: &B, n: usize, periodic: bool) -> Result<Option<B::Array<f64>>> {
    if n == 1 {
        return Ok(None);
    }
    let steps = if periodic { n as f64 } else { n as f64 - 1.0 };
    let k = b.arange(0.0, n as f64, 1.0)?;
    expr!(b, (2.0 * k - steps) / steps).map(Some)
}

/// The Hann window: 0.5 + 0.5 cos(pi t).
pub fn hann<B: Backend, T: Real>(b: &B, n: usize, periodic: bool) -> Result<B::Array<T>> {
    let Some(t) = points(b, n, periodic)? else { return b.ones([n]) };
    expr!(b, astype::<T>(0.5 + 0.5 * cos(t * PI)))
}

/// The Hamming window: 0.54 + 0.46 cos(pi t).
pub fn hamming<B: Backend, T: Real>(b: &B, n: usize, periodic: bool) -> Result<B::Array<T>> {
    let Some(t) = points(b, n, periodic)? else { return b.ones([n]) };
    expr!(b, astype::<T>(0.54 + 0.46 * cos(t * PI)))
}

/// The Blackman window: 0.42 + 0.5 cos(pi t) + 0.08 cos(2 pi t).
pub fn blackman<B: Backend, T: Real>(b: &B, n: usize, periodic: bool) -> Result<B::Array<T>> {
    let Some(t) = points(b, n, periodic)? else { return b.ones([n]) };
    expr!(b, astype::<T>(0.42 + 0.5 * cos(t * PI) + 0.08 * cos(t * (2.0 * PI))))
}

/// The Bartlett window: 1 - |t|.
pub fn bartlett<B: Backend, T: Real>(b: &B, n: usize, periodic: bool) -> Result<B::Array<T>> {
    let Some(t) = points(b, n, periodic)? else { return b.ones([n]) };
    expr!(b, astype::<T>(1.0 - abs(t)))
}

/// The Kaiser window: i0(beta sqrt(1 - t^2)) / i0(beta).
pub fn kaiser<B: Backend, T: Real>(b: &B, n: usize, beta: f64, periodic: bool) -> Result<B::Array<T>> {
    let Some(t) = points(b, n, periodic)? else { return b.ones([n]) };
    let beta = beta.abs();
    // `i0e(y)` is exp(-y) i0(y), which does not overflow; `i0` overflows for a large beta
    let middle = b.i0e(b.full([0_usize; 0], beta)?)?;
    expr!(b,
        let y = beta * sqrt(maximum(1.0 - square(t), 0.0));
        astype::<T>(i0e(y) * exp(y - beta) / middle)
    )
}
