//! Distributions whose numbers take a varying number of draws, computed by the code of the CPU
//! ([`samplers`](crate::random::samplers)). For a GPU they are computed on the host too, because libtorch has no loop
//! that can end separately for each element: the result is copied to the GPU, and array parameters on a GPU are copied
//! to the host.

use super::super::{Operand, Torch, TorchArray, array::from_host, loops::OnHost};
use crate::{
    Element, Real, Result,
    numpyish::{
        random::distributions::{categories, sampled},
        raw::View,
        typed::typed,
    },
    random::samplers::Distribution,
    rules,
};

/// Exponentially distributed random numbers.
pub fn random_exponential<T: Real>(b: &Torch, shape: &[usize], scale: f64) -> Result<TorchArray<T>> {
    let op = "random_exponential";
    rules::check_scale(op, scale)?;
    made(b, op, Distribution::Exponential, shape, &[], [scale, 0.0])
}

/// Gamma-distributed random numbers.
pub fn random_gamma<T: Real>(b: &Torch, shape: &[usize], alpha: Operand<'_, T>, scale: f64) -> Result<TorchArray<T>> {
    let op = "random_gamma";
    rules::check_gamma(op, &alpha, scale)?;
    let alpha = OnHost::new(b, op, &alpha)?;
    made(b, op, Distribution::Gamma, shape, &[alpha.view()], [scale, 0.0])
}

/// Beta-distributed random numbers.
pub fn random_beta<T: Real>(
    b: &Torch,
    shape: &[usize],
    alpha: Operand<'_, T>,
    beta: Operand<'_, T>,
) -> Result<TorchArray<T>> {
    let op = "random_beta";
    rules::check_beta(op, &alpha, &beta)?;
    let (alpha, beta) = (OnHost::new(b, op, &alpha)?, OnHost::new(b, op, &beta)?);
    made(b, op, Distribution::Beta, shape, &[alpha.view(), beta.view()], [0.0; 2])
}

/// Poisson-distributed random counts.
pub fn random_poisson<T: Real>(b: &Torch, shape: &[usize], rate: Operand<'_, T>) -> Result<TorchArray<i64>> {
    let op = "random_poisson";
    rules::check_poisson(op, &rate)?;
    let rate = OnHost::new(b, op, &rate)?;
    made(b, op, Distribution::Poisson, shape, &[rate.view()], [0.0; 2])
}

/// Binomially distributed random counts.
pub fn random_binomial<T: Real>(b: &Torch, shape: &[usize], n: i64, p: Operand<'_, T>) -> Result<TorchArray<i64>> {
    let op = "random_binomial";
    rules::check_binomial(op, n, &p)?;
    let p = OnHost::new(b, op, &p)?;
    made(b, op, Distribution::Binomial, shape, &[p.view()], [n as f64, 0.0])
}

/// Multinomial random counts: how many of `n` trials fall into each category.
pub fn random_multinomial<T: Real>(
    b: &Torch,
    shape: &[usize],
    n: i64,
    weights: &TorchArray<T>,
) -> Result<TorchArray<i64>> {
    let op = "random_multinomial";
    let weights = OnHost::of_array(b, op, weights, false)?;
    let made = typed::<i64>(categories(b.host(), op, shape, n, weights.view()))?;
    from_host(made, b.index()).map_err(|why| why.within(op))
}

/// Normally distributed random numbers between two bounds.
pub fn random_truncated_normal<T: Real>(
    b: &Torch,
    shape: &[usize],
    lower: Operand<'_, T>,
    upper: Operand<'_, T>,
    mean: f64,
    std: f64,
) -> Result<TorchArray<T>> {
    let op = "random_truncated_normal";
    rules::check_truncated(op, &lower, &upper, mean, std)?;
    let (lower, upper) = (OnHost::new(b, op, &lower)?, OnHost::new(b, op, &upper)?);
    made(b, op, Distribution::TruncatedNormal, shape, &[lower.view(), upper.view()], [mean, std])
}

fn made<T: Element>(
    b: &Torch,
    op: &'static str,
    distribution: Distribution,
    shape: &[usize],
    own: &[View<'_>],
    shared: [f64; 2],
) -> Result<TorchArray<T>> {
    let made = typed::<T>(sampled(b.host(), op, distribution, T::DTYPE, shape, own, shared))?;
    from_host(made, b.index()).map_err(|why| why.within(op))
}
