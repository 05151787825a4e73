//! Rules for the parameters of random numbers.

use super::count;
use crate::{
    Arrays, DType, Error, Integer, Operand, Real, Result, bf16, f16,
    random::samplers::{LARGEST_RATE, MAX_TRIALS, MIN_BETA, are_bounds, is_beta, is_probability, is_rate, is_shape},
    raw::RawOperand,
};

/// Returns an error unless `low` and `high` are finite in the dtype, and `high - low` is finite in the precision in
/// which the numbers are computed.
pub fn check_uniform(op: &'static str, dtype: DType, low: f64, high: f64) -> Result<()> {
    let finite = |x: f64| match dtype.to_real() {
        DType::Float16 => f16::of(x).is_finite(),
        DType::BFloat16 => bf16::of(x).is_finite(),
        DType::Float32 => (x as f32).is_finite(),
        _ => x.is_finite(),
    };
    let length = if dtype.to_real() == DType::Float64 { high - low } else { (high as f32 - low as f32).into() };
    if length.is_finite() && finite(low) && finite(high) {
        return Ok(());
    }
    Err(Error::argument(
        op,
        format!("low is {low} and high is {high}, but the range must have a finite length in {dtype}"),
    ))
}

/// Returns an error unless `mean` and `std` are finite and `std` is not negative.
pub fn check_normal(op: &'static str, mean: f64, std: f64) -> Result<()> {
    if mean.is_finite() && std.is_finite() && std >= 0.0 {
        return Ok(());
    }
    Err(Error::argument(
        op,
        format!("mean is {mean} and std is {std}, but both must be finite and std must not be negative"),
    ))
}

/// Returns an error unless `low` is less than `high`.
pub fn check_integers<T: Integer>(op: &'static str, low: T, high: T) -> Result<()> {
    if low < high {
        return Ok(());
    }
    Err(Error::argument(op, format!("low is {low}, but must be less than high, which is {high}")))
}

/// Returns an error if `n - 1` exceeds the largest number of the integer dtype `dtype`.
pub fn check_permutation(op: &'static str, n: usize, dtype: DType) -> Result<()> {
    if n == 0 || dtype.holds((n - 1) as i128) {
        return Ok(());
    }
    Err(Error::argument(op, format!("n is {n}, but the numbers below n must fit {dtype}")))
}

/// A parameter of a distribution: a number or an array.
pub trait Parameter {
    /// Returns the value of a parameter that is a number; `None` for an array, whose elements are checked only when
    /// numbers are drawn.
    fn number(&self) -> Option<f64>;
}

impl<B: Arrays, T: Real> Parameter for Operand<'_, B, T> {
    fn number(&self) -> Option<f64> {
        match self {
            Operand::Array(_) => None,
            Operand::Scalar(x) => Some(x.to_f64()),
        }
    }
}

impl<A> Parameter for RawOperand<'_, A> {
    fn number(&self) -> Option<f64> {
        match self {
            RawOperand::Array(_) => None,
            RawOperand::Scalar(x) => Some(x.to_f64()),
        }
    }
}

/// Returns an error unless the scale of an exponential or gamma distribution is finite and not negative.
pub fn check_scale(op: &'static str, scale: f64) -> Result<()> {
    if (0.0..f64::INFINITY).contains(&scale) {
        return Ok(());
    }
    Err(Error::argument(op, format!("scale is {scale}, but must be finite and not negative")))
}

/// Returns an error if a parameter of a gamma distribution is out of range.
pub fn check_gamma(op: &'static str, alpha: &impl Parameter, scale: f64) -> Result<()> {
    match alpha.number() {
        Some(alpha) if !is_shape(alpha) => {
            Err(Error::argument(op, format!("alpha is {alpha}, but must be finite and not negative")))
        }
        _ => check_scale(op, scale),
    }
}

/// Returns an error if a parameter of a beta distribution is out of range.
pub fn check_beta(op: &'static str, alpha: &impl Parameter, beta: &impl Parameter) -> Result<()> {
    for (name, x) in [("alpha", alpha.number()), ("beta", beta.number())] {
        if let Some(x) = x.filter(|&x| !is_beta(x)) {
            return Err(Error::argument(op, format!("{name} is {x}, but must be finite and at least {MIN_BETA:e}")));
        }
    }
    Ok(())
}

/// Returns an error if the mean of a Poisson distribution is out of range.
pub fn check_poisson(op: &'static str, rate: &impl Parameter) -> Result<()> {
    match rate.number() {
        Some(rate) if !is_rate(rate) => {
            Err(Error::argument(op, format!("rate is {rate}, but must be between 0 and {LARGEST_RATE:e}")))
        }
        _ => Ok(()),
    }
}

/// Returns an error unless the number of trials is between 0 and 2^53.
pub fn check_trials(op: &'static str, n: i64) -> Result<()> {
    if (0..=MAX_TRIALS).contains(&n) {
        return Ok(());
    }
    Err(Error::argument(op, format!("n is {n}, but must be between 0 and 2^53")))
}

/// Returns an error if a parameter of a binomial distribution is out of range.
pub fn check_binomial(op: &'static str, n: i64, p: &impl Parameter) -> Result<()> {
    check_trials(op, n)?;
    match p.number() {
        Some(p) if !is_probability(p) => Err(Error::argument(op, format!("p is {p}, but must be between 0 and 1"))),
        _ => Ok(()),
    }
}

/// Returns an error unless `p` is a probability.
pub fn check_probability(op: &'static str, p: f64) -> Result<()> {
    if is_probability(p) { Ok(()) } else { Err(Error::argument(op, format!("p is {p}, but must be between 0 and 1"))) }
}

/// Checks the parameters of multinomial counts, and returns the shape of the counts: `shape` followed by an axis for
/// the categories. `weights` is the shape of the categories' weights.
pub fn check_multinomial(op: &'static str, shape: &[usize], n: i64, weights: &[usize]) -> Result<Vec<usize>> {
    check_trials(op, n)?;
    match weights {
        [0] if n > 0 => Err(Error::argument(op, format!("n is {n}, but must be 0 because there is no category"))),
        [categories] => {
            let all = [shape, &[*categories]].concat();
            count(op, &all, size_of::<i64>()).map(|_| all)
        }
        other => Err(Error::shape(op, other, "of the weights must have one axis")),
    }
}

/// Returns an error if `size` elements cannot be chosen from `n` elements. With replacement, `n` must be at least 1;
/// without replacement, `n` must be at least `size`. A choice of 0 elements is always possible.
pub fn check_choice(op: &'static str, n: usize, size: usize, replace: bool) -> Result<()> {
    if size == 0 || (n > 0 && (replace || size <= n)) {
        return Ok(());
    }
    Err(Error::argument(
        op,
        format!("{size} of {n} elements cannot be chosen{}", if replace { "" } else { " without repetition" }),
    ))
}

/// Returns an error if the bounds, the mean or the standard deviation of a truncated normal distribution are out of
/// range.
pub fn check_truncated(
    op: &'static str,
    lower: &impl Parameter,
    upper: &impl Parameter,
    mean: f64,
    std: f64,
) -> Result<()> {
    if !mean.is_finite() || !(0.0..f64::INFINITY).contains(&std) || std == 0.0 {
        return Err(Error::argument(
            op,
            format!("mean is {mean} and std is {std}, but both must be finite and std must be positive"),
        ));
    }
    let (low, high) = (lower.number(), upper.number());
    // bounds that are arrays are compared later, element by element
    if are_bounds(low.unwrap_or(f64::MIN), high.unwrap_or(f64::MAX)) {
        return Ok(());
    }
    let shown = |x: Option<f64>| x.map_or("an array".into(), |x| x.to_string());
    let why = format!("lower is {} and upper is {}, but lower must not be greater than upper", shown(low), shown(high));
    Err(Error::argument(op, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_random_numbers() {
        let uniform = |dtype, low, high| check_uniform("random_uniform", dtype, low, high).is_ok();
        assert!(uniform(DType::Float64, -1.0, 1e300) && uniform(DType::Float32, 2.0, 2.0));
        for (low, high) in [(f64::NAN, 1.0), (0.0, f64::INFINITY), (-f64::MAX, f64::MAX)] {
            assert!(!uniform(DType::Complex128, low, high), "{low} {high}");
        }
        assert!(!uniform(DType::Float32, 0.0, 1e300), "infinite as f32");
        assert!(!uniform(DType::Float16, 0.0, 1e5), "infinite as f16");
        assert!(check_normal("random_normal", 0.0, 0.0).is_ok() && check_normal("random_normal", 0.0, -1.0).is_err());
        assert!(check_normal("random_normal", f64::NAN, 1.0).is_err());
        assert!(check_integers("random_integers", 1, 2).is_ok() && check_integers("random_integers", 3, 3).is_err());
        let permutation = |n| check_permutation("random_permutation", n, DType::UInt8).is_ok();
        assert!(permutation(0) && permutation(256) && !permutation(257));
    }
}
