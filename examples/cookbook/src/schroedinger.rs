//! Schroedinger equation.
//!
//! Propagates a wave packet by the split-step Fourier method, in units with hbar = m = 1.

use backends::{Backend, Precision, Result, expr};

/// The probability density (rows, columns) after some steps of length `dt`, on a periodic grid of spacing `dx`.
pub fn schroedinger<B: Backend, T: Precision>(
    b: &B, mut psi: B::Array<T::Complex>, potential: &B::Array<T>, dx: f64, dt: f64, steps: usize,
) -> Result<B::Array<T>> {
    let ky = expr!(b, 2 * T::PI * fftfreq::<T>({ b.shape(&psi)[0] }, d = dx)[.., None])?;
    let kx = expr!(b, 2 * T::PI * fftfreq::<T>({ b.shape(&psi)[1] }, d = dx))?;
    let half = expr!(b, exp(-0.5i * dt * potential))?;
    let kinetic = expr!(b, exp(-0.5i * dt * (square(ky) + square(kx))))?;
    for _ in 0..steps {
        psi = expr!(b, half * psi)?;
        psi = expr!(b, ifft2(kinetic * fft2(psi)))?;
        psi = expr!(b, half * psi)?;
    }
    expr!(b, square(abs(psi)))
}
