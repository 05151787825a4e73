//! Random distributions that take a varying number of random words per element. The code of the CPU
//! ([`samplers`](backend_core::random::samplers)) computes them, also for a GPU, because libtorch has no loop that can end
//! separately for each element. For a GPU, array parameters are copied to the host, and the result is copied to the
//! GPU.

use super::{
    super::{Operand, TorchArray, call::OpContext, loops::OnHost, tensor::Tensor},
    host, moved,
};
use backend_core::{
    Element, Result, dispatch,
    numpyish::{raw::View, typed::typed},
    random::samplers::Distribution,
    raw::RawOperand,
    rules,
};
use backend_numpyish::random::{self, distributions::sampled};
use std::borrow::Cow;

/// Evaluates `$body`, in which `$t` is the Rust type of the dtype `$on.dtype`. The result is an error unless this dtype
/// is one of the four dtypes of real floating-point numbers.
macro_rules! with_real {
    ($on:ident, $t:ident => $body:expr) => {
        dispatch!($on.dtype, $t: [Float16, BFloat16, Float32, Float64] => $body)
    };
}

/// Exponentially distributed random numbers.
pub fn random_exponential(on: OpContext<'_>, shape: &[usize], scale: f64) -> Result<Tensor> {
    rules::check_scale(on.op, scale)?;
    with_real!(on, T => made::<T>(on, Distribution::Exponential, shape, &[], [scale, 0.0]))
}

/// Gamma-distributed random numbers.
pub fn random_gamma(on: OpContext<'_>, shape: &[usize], alpha: RawOperand<'_, Tensor>, scale: f64) -> Result<Tensor> {
    with_real!(on, T => {
        let alpha = operand::<T>(on, alpha)?;
        rules::check_gamma(on.op, &alpha, scale)?;
        let alpha = OnHost::new(on.backend, on.op, &alpha)?;
        made::<T>(on, Distribution::Gamma, shape, &[alpha.view()], [scale, 0.0])
    })
}

/// Beta-distributed random numbers.
pub fn random_beta(
    on: OpContext<'_>,
    shape: &[usize],
    alpha: RawOperand<'_, Tensor>,
    beta: RawOperand<'_, Tensor>,
) -> Result<Tensor> {
    with_real!(on, T => {
        let (alpha, beta) = (operand::<T>(on, alpha)?, operand::<T>(on, beta)?);
        rules::check_beta(on.op, &alpha, &beta)?;
        let alpha = OnHost::new(on.backend, on.op, &alpha)?;
        let beta = OnHost::new(on.backend, on.op, &beta)?;
        made::<T>(on, Distribution::Beta, shape, &[alpha.view(), beta.view()], [0.0; 2])
    })
}

/// Poisson-distributed random counts.
pub fn random_poisson(on: OpContext<'_>, shape: &[usize], rate: RawOperand<'_, Tensor>) -> Result<Tensor> {
    with_real!(on, T => {
        let rate = operand::<T>(on, rate)?;
        rules::check_poisson(on.op, &rate)?;
        let rate = OnHost::new(on.backend, on.op, &rate)?;
        made::<i64>(on, Distribution::Poisson, shape, &[rate.view()], [0.0; 2])
    })
}

/// Binomially distributed random counts.
pub fn random_binomial(on: OpContext<'_>, shape: &[usize], n: i64, p: RawOperand<'_, Tensor>) -> Result<Tensor> {
    with_real!(on, T => {
        let p = operand::<T>(on, p)?;
        rules::check_binomial(on.op, n, &p)?;
        let p = OnHost::new(on.backend, on.op, &p)?;
        made::<i64>(on, Distribution::Binomial, shape, &[p.view()], [n as f64, 0.0])
    })
}

/// Multinomial random counts: `n` trials, counted by category.
pub fn random_multinomial(on: OpContext<'_>, shape: &[usize], n: i64, weights: &Tensor) -> Result<Tensor> {
    with_real!(on, T => {
        let weights = TorchArray::<T>::new(on.op, weights.clone())?;
        let weights = OnHost::of_array(on.backend, on.op, &weights, false)?;
        moved(on, typed::<i64>(random::random_multinomial(host(on), shape, n, weights.view()))?)
    })
}

/// Normally distributed random numbers between two bounds.
pub fn random_truncated_normal(
    on: OpContext<'_>,
    shape: &[usize],
    lower: RawOperand<'_, Tensor>,
    upper: RawOperand<'_, Tensor>,
    mean: f64,
    std: f64,
) -> Result<Tensor> {
    with_real!(on, T => {
        let (lower, upper) = (operand::<T>(on, lower)?, operand::<T>(on, upper)?);
        rules::check_truncated(on.op, &lower, &upper, mean, std)?;
        let lower = OnHost::new(on.backend, on.op, &lower)?;
        let upper = OnHost::new(on.backend, on.op, &upper)?;
        made::<T>(on, Distribution::TruncatedNormal, shape, &[lower.view(), upper.view()], [mean, std])
    })
}

/// Converts an operand whose dtype is known only at run time to an [`Operand`] of the dtype `T`.
fn operand<T: Element>(on: OpContext<'_>, x: RawOperand<'_, Tensor>) -> Result<Operand<'static, T>> {
    Ok(match x {
        RawOperand::Array(x) => Operand::Array(Cow::Owned(TorchArray::new(on.op, x.clone())?)),
        RawOperand::Scalar(x) => Operand::Scalar(x.cast()),
    })
}

/// Draws random numbers from a distribution, in the dtype `T`. The parameters in `own` may differ between elements; all
/// elements share the parameters in `shared`.
fn made<T: Element>(
    on: OpContext<'_>,
    distribution: Distribution,
    shape: &[usize],
    own: &[View<'_>],
    shared: [f64; 2],
) -> Result<Tensor> {
    moved(on, typed::<T>(sampled(on.backend.host(), on.op, distribution, T::DTYPE, shape, own, shared))?)
}
