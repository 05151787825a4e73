//! Kalman filter.
//!
//! Estimates the position and the velocity of an object from noisy positions.

use backends::{Backend, Precision, Result, expr};

/// The states, of shape (times, n), and their standard deviations, from positions of shape (times, m). `model` (n, n)
/// gives the next state; `observed` (m, n) gives the position of a state; the noises are covariances.
pub fn kalman_filter<B: Backend, T: Precision>(
    b: &B, positions: &B::Array<T>, [model, observed, model_noise, position_noise]: [&B::Array<T>; 4],
) -> Result<[B::Array<T>; 2]> {
    let n = b.shape(model)[0];
    let (mut x, mut p) = (b.zeros([n])?, expr!(b, 100 * eye::<T>(n))?);
    let (mut states, mut deviations) = (vec![], vec![]);
    for t in 0..b.shape(positions)[0] {
        x = expr!(b, model @ x)?;
        p = expr!(b, model @ p @ transpose(model) + model_noise)?;
        let innovation = expr!(b, observed @ p @ transpose(observed) + position_noise)?;
        let gain = expr!(b, transpose(solve(innovation, observed @ p)))?;
        expr!(b, x += gain @ (positions[t] - observed @ x))?;
        expr!(b, p -= gain @ observed @ p)?;
        states.push(x.clone());
        deviations.push(expr!(b, sqrt(diagonal(p)))?);
    }
    Ok([b.stack(&states)?, b.stack(&deviations)?])
}
