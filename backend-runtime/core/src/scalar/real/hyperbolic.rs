//! The hyperbolic functions and their inverses.

use super::F;
use super::constants::{LN_2, SINH, SINH_MAX, TANH};
use super::exact::{polynomial, quotient, sum, sum_ordered};
use super::exp::{Parts, between, parts, power_biased, powers, scale_biased, short_parts};
use super::log::log1p_of;

/// The parts of the hyperbolic sine and cosine of `x >= 0`, which are `2^shift` times `sine` and `cosine`.
pub(super) struct Hyperbola {
    pub shift: F,
    pub sine: F,
    pub cosine: F,
}

/// Computes the parts for `x >= 0`; an `x` above `limit` counts as `limit`. The sine is accurate for arguments of at
/// least 1.
#[inline(always)]
pub(super) fn hyperbola(x: F, limit: F) -> Hyperbola {
    let Parts { n, high, low } = parts(between(0.0, limit, x));
    let (high, lost) = sum_ordered(1.0, high);
    let low = lost + low;
    // e^-x, divided by the power of two in e^x
    let (first, second) = powers(-n);
    let inverse = (first * second) * (first * second) / high;
    Hyperbola { shift: n - 1.0, sine: high + (low - inverse), cosine: high + (low + inverse) }
}

/// The hyperbolic sine of `0 <= x < 1`.
#[inline(always)]
pub(super) fn sine_near_0(x: F) -> F {
    let z = x * x;
    x.mul_add(z * polynomial(z, &SINH), x)
}

/// Half of `e^x` and half of `e^-x` for `x >= 0`, or for [`SINH_MAX`] if `x` exceeds it.
#[inline(always)]
fn halves(x: F) -> (F, F) {
    let (biased, high) = short_parts(if x > SINH_MAX { SINH_MAX } else { x });
    let half = scale_biased(1.0 + high, biased - 1.0);
    (half, 0.25 / half)
}

/// Hyperbolic sine. Within 2 ulp.
#[inline(always)]
pub fn sinh(x: F) -> F {
    let size = x.abs();
    let (half, inverse) = halves(size);
    (if size < 1.0 { sine_near_0(size) } else { half - inverse }).copysign(x)
}

/// Hyperbolic cosine. Within 2 ulp.
#[inline(always)]
pub fn cosh(x: F) -> F {
    let (half, inverse) = halves(x.abs());
    half + inverse
}

/// Hyperbolic tangent. Within 2 ulp.
#[inline(always)]
pub fn tanh(x: F) -> F {
    let size = x.abs();
    let z = size * size;
    let near = size.mul_add(z * polynomial(z, &TANH), size);
    // for magnitudes of at least 20 the result is 1
    let (biased, high) = short_parts(2.0 * if size > 20.0 { 20.0 } else { size });
    let power = power_biased(biased);
    let far = 1.0 - 2.0 / power.mul_add(1.0 + high, 1.0);
    (if size < 0.625 { near } else { far }).copysign(x)
}

/// Inverse hyperbolic sine. Within 2 ulp.
#[inline(always)]
pub fn asinh(x: F) -> F {
    // log(x + sqrt(x^2 + 1)), which is log(2 x) for large x
    let size = x.abs();
    let large = size > LARGE;
    let square = size * size;
    let (sum, lost) = sum_ordered(size, square / (1.0 + (1.0 + square).sqrt()));
    let value = log1p_doubled(if large { size } else { sum }, if large { 0.0 } else { lost }, large);
    (if size < F::INFINITY { value } else { size }).copysign(x)
}

/// Inverse hyperbolic cosine; NaN below 1. Within 2 ulp.
#[inline(always)]
pub fn acosh(x: F) -> F {
    // log(x + sqrt(x^2 - 1)), which is log(2 x) for large x
    let large = x > LARGE;
    let over = x - 1.0;
    let (sum, lost) = sum(over, over.mul_add(over, 2.0 * over).sqrt());
    let value = log1p_doubled(if large { x } else { sum }, if large { 0.0 } else { lost }, large);
    let value = if x < F::INFINITY { value } else { x };
    if x >= 1.0 { value } else { F::NAN }
}

/// Inverse hyperbolic tangent; NaN for magnitudes above 1. Within 2 ulp.
#[inline(always)]
pub fn atanh(x: F) -> F {
    let size = x.abs();
    let (below, below_low) = sum_ordered(1.0, -size);
    let (ratio, lost) = quotient(2.0 * size, 0.0, below, below_low);
    let limit = if size == 1.0 { F::INFINITY } else { F::NAN };
    (if size < 1.0 { 0.5 * log1p_of(ratio, lost) } else { limit }).copysign(x)
}

/// Above this magnitude, `x + 1` equals `x`; below it, `x^2` does not overflow.
const LARGE: F = 1e18;

/// `log(1 + x + rest)`, or `log(2 (1 + x + rest))` if `double` is true.
#[inline(always)]
fn log1p_doubled(x: F, rest: F, double: bool) -> F {
    log1p_of(x, rest) + if double { LN_2 } else { 0.0 }
}
