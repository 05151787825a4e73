//! Parameters of random numbers.

use crate::{DType, Error, Integer, Result, bf16, f16};

/// Refuses a range whose ends or length are not finite: in the dtype, and in the precision that its numbers are made in.
pub fn check_uniform(op: &'static str, dtype: DType, low: f64, high: f64) -> Result<()> {
    let finite = |x: f64| match dtype.to_real() {
        DType::Float16 => f16::from_f64(x).is_finite(),
        DType::BFloat16 => bf16::from_f64(x).is_finite(),
        DType::Float32 => (x as f32).is_finite(),
        _ => x.is_finite(),
    };
    let length = if dtype.to_real() == DType::Float64 { high - low } else { (high as f32 - low as f32).into() };
    if length.is_finite() && finite(low) && finite(high) {
        return Ok(());
    }
    Err(Error::argument(op, format!("{low} .. {high} is no range of finite length in {dtype}")))
}

/// Refuses what is no mean or no standard deviation.
pub fn check_normal(op: &'static str, mean: f64, std: f64) -> Result<()> {
    if mean.is_finite() && std.is_finite() && std >= 0.0 {
        return Ok(());
    }
    Err(Error::argument(op, format!("mean is {mean}, std is {std}; both are finite, std is not negative")))
}

/// Refuses a range without a number.
pub fn check_integers<T: Integer>(op: &'static str, low: T, high: T) -> Result<()> {
    if low < high {
        return Ok(());
    }
    Err(Error::argument(op, format!("low is {low}, high is {high}; low has to be less")))
}

/// Refuses numbers that a dtype, the largest of which is given, does not have.
pub fn check_permutation(op: &'static str, n: usize, dtype: DType, largest: u64) -> Result<()> {
    if n == 0 || (n - 1) as u64 <= largest {
        return Ok(());
    }
    Err(Error::argument(op, format!("{n} numbers do not fit {dtype}")))
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
        let permutation = |n| check_permutation("random_permutation", n, DType::UInt8, 255).is_ok();
        assert!(permutation(0) && permutation(256) && !permutation(257));
    }
}
