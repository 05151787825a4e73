//! Particle filter.
//!
//! Estimates the hidden state of a nonlinear model from noisy observations (Gordon, Salmond and Smith, 1993).

use backends::{Backend, Precision, Result, expr};

/// The mean state at each time, of shape (times,), from observations of shape (times,). There are n particles, `noise`
/// (times, n) is normal, with the variance of the model, and `offsets` (times,) are uniform in [0, 1).
pub fn particle_filter<B: Backend, T: Precision>(
    b: &B, observations: &B::Array<T>, particles: &B::Array<T>, noise: &B::Array<T>, offsets: &B::Array<T>,
) -> Result<B::Array<T>> {
    let (mut x, n) = (particles.clone(), b.shape(particles)[0]);
    let mut means = vec![];
    for t in 0..b.shape(observations)[0] {
        let force = 8.0 * (1.2 * t as f64).cos();
        x = expr!(b, x / 2 + 25 * x / (1 + square(x)) + force + noise[t])?;
        let likelihood = expr!(b, -square(observations[t] - square(x) / 20) / 2)?;
        let weights = b.softmax(&likelihood, 0)?;
        means.push(expr!(b, sum(weights * x, ..))?);
        // systematic resampling: particles of large weight are taken several times
        let places = expr!(b, (arange::<T>(0, n, 1) + offsets[t]) / n)?;
        x = expr!(b, take(x, minimum(searchsorted(cumulative_sum(weights, 0), places), n as i64 - 1), 0))?;
    }
    b.stack(&means)
}
