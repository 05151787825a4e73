//! Gaussian process regression.
//!
//! Fits a curve with its uncertainty. The variance, the length scale and the noise maximise the likelihood of the data.

use backends::{Backend, Precision, Result, expr};
use backends_solvers::minimize::{Minimize, minimize};

fn kernel<B: Backend, T: Precision>(b: &B, x1: &B::Array<T>, x2: &B::Array<T>, p: &B::Array<T>) -> Result<B::Array<T>> {
    expr!(b, exp(p[0]) * exp(-0.5 * square(cdist(x1, x2) / exp(p[1]))))
}

fn factor<B: Backend, T: Precision>(b: &B, x: &B::Array<T>, p: &B::Array<T>) -> Result<B::Array<T>> {
    let covariance = kernel(b, x, x, p)?;
    expr!(b, cholesky(covariance + exp(p[2]) * eye::<T>({ b.shape(x)[0] })))
}

fn loss<B: Backend, T: Precision>(b: &B, p: &B::Array<T>, x: &B::Array<T>, y: &B::Array<T>) -> Result<B::Array<T>> {
    let l = factor(b, x, p)?;
    expr!(b, 0.5 * sum(y * cholesky_solve(l, y), ..) + sum(log(diagonal(l)), ..))
}

/// The variance, length scale and variance of the noise (3,), and the mean and standard deviation (m, 1) at the points
/// `new` (m, d), from values `y` (n, 1) at points `x` (n, d).
pub fn fit_and_predict<B: Backend, T: Precision>(b: &B, [x, y, new]: [&B::Array<T>; 3]) -> Result<[B::Array<T>; 3]> {
    let start = b.zeros([3])?;
    let p = minimize(b, |d, p| loss(d, p, &d.constant(x.clone()), &d.constant(y.clone())), &start, Minimize::new())?.x;
    let (l, cross) = (factor(b, x, &p)?, kernel(b, x, new, &p)?);
    let mean = expr!(b, transpose(cross) @ cholesky_solve(l, y))?;
    let deviation = expr!(b, sqrt(exp(p[0]) - sum(cross * cholesky_solve(l, cross), 0)))?;
    Ok([b.exp(&p)?, mean, deviation])
}
