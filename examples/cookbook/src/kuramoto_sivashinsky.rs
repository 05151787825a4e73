//! Kuramoto-Sivashinsky equation.
//!
//! Integrates u_t = -u u_x - u_xx - u_xxxx, whose solutions are chaotic, by the method ETDRK4 in Fourier space (Kassam and
//! Trefethen, 2005).

use backends::{Backend, Precision, Result, expr};

/// The states, of shape (1 + steps / every, n), from a state `u` of shape (n,) on a periodic interval of this length.
pub fn kuramoto_sivashinsky<B: Backend, T: Precision>(
    b: &B, u: &B::Array<T>, length: f64, dt: f64, [steps, every]: [usize; 2],
) -> Result<B::Array<T>> {
    let n = b.shape(u)[0];
    let k = expr!(b, 2 * T::PI * arange::<T>(0, n / 2 + 1, 1) / length)?;
    let linear = expr!(b, dt * (square(k) - pow(k, 4)))?;
    // the coefficients are means over a circle, because their formulas lose accuracy near 0
    let angle = expr!(b, T::PI * (arange::<T>(0, 32, 1) + 0.5) / 32)?;
    let z = expr!(b, linear[.., None] + exp(1i * angle))?;
    let (full, half) = (b.exp(&linear)?, expr!(b, exp(linear / 2))?);
    let q = expr!(b, dt * real(mean((exp(z / 2) - 1) / z, 1)))?;
    let f1 = expr!(b, dt * real(mean((-4 - z + exp(z) * (4 - 3 * z + square(z))) / pow(z, 3), 1)))?;
    let f2 = expr!(b, dt * real(mean((2 + z + exp(z) * (z - 2)) / pow(z, 3), 1)))?;
    let f3 = expr!(b, dt * real(mean((-4 - 3 * z - square(z) + exp(z) * (4 - z)) / pow(z, 3), 1)))?;
    let nonlinear = |v: &B::Array<T::Complex>| expr!(b, -0.5i * k * rfft(square(irfft(v, n = n))));
    let mut v = b.rfft(u)?;
    let mut history = vec![u.clone()];
    for step in 1..=steps {
        let nv = nonlinear(&v)?;
        let a = expr!(b, half * v + q * nv)?;
        let na = nonlinear(&a)?;
        let nb = nonlinear(&expr!(b, half * v + q * na)?)?;
        let nc = nonlinear(&expr!(b, half * a + q * (2 * nb - nv))?)?;
        v = expr!(b, full * v + f1 * nv + 2 * f2 * (na + nb) + f3 * nc)?;
        if step % every == 0 {
            history.push(expr!(b, irfft(v, n = n))?);
        }
    }
    b.stack(&history)
}
