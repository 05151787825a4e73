//! The hyperbolic functions and their inverses.

use super::exact::{polynomial, sum, sum_ordered};
use super::exp::{Parts, between, parts, powers, scale};
use super::log::log1p_of;

/// `(sinh(x) - x) / x^3` by powers of `x^2`, for `|x| <= 1`.
const SINH: [f64; 8] = [
    0.16666666666666666,
    0.00833333333333357,
    0.00019841269841066548,
    2.7557319307086626e-06,
    2.505209021538844e-08,
    1.6061227943401397e-10,
    7.510977232814858e-13,
    6.263740140090446e-15,
];

/// `e^x / 2` and `e^-x / 2` for `x >= 0`: `2^(n - 1)` times `high + low` and times `inverse`.
#[inline(always)]
fn both_exponentials(x: f64) -> (f64, f64, f64, f64) {
    let Parts { n, high, low } = parts(between(0.0, 711.0, x));
    let (high, lost) = sum_ordered(1.0, high);
    let (first, second) = powers(-n);
    let power = first * second;
    (n, high, lost + low, power * power / high)
}

/// Hyperbolic sine. Within 1 ulp.
#[inline(always)]
pub fn sinh(x: f64) -> f64 {
    let size = x.abs();
    let z = size * size;
    let small = size.mul_add(z * polynomial(z, &SINH), size);
    let (n, high, low, inverse) = both_exponentials(size);
    let large = scale(high + (low - inverse), n - 1.0);
    (if size < 1.0 { small } else { large }).copysign(x)
}

/// Hyperbolic cosine. Within 2 ulp.
#[inline(always)]
pub fn cosh(x: f64) -> f64 {
    let (n, high, low, inverse) = both_exponentials(x.abs());
    scale(high + (low + inverse), n - 1.0)
}

/// Hyperbolic tangent. Within 1 ulp.
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    // (e^2x - 1) / (e^2x + 1); from 20 on that is 1
    let Parts { n, high, low } = parts(2.0 * between(0.0, 20.0, x.abs()));
    let (first, second) = powers(n);
    let power = first * second;
    let (above, above_low) = sum(power - 1.0, power * high);
    let above_low = above_low + power * low;
    let (below, below_low) = sum(above, 2.0);
    quotient(above, above_low, below, below_low + above_low).0.copysign(x)
}

/// `(x + x_low) / (y + y_low)`, and what rounding drops of it.
#[inline(always)]
fn quotient(x: f64, x_low: f64, y: f64, y_low: f64) -> (f64, f64) {
    let inverse = 1.0 / y;
    let estimate = x * inverse;
    let left = estimate.mul_add(-y, x) + estimate.mul_add(-y_low, x_low);
    sum_ordered(estimate, left * inverse)
}

/// Inverse hyperbolic sine. Within 2 ulp.
#[inline(always)]
pub fn asinh(x: f64) -> f64 {
    // log(x + sqrt(x^2 + 1)), which is log(2 x) where x is large
    let size = x.abs();
    let large = size > LARGE;
    let square = size * size;
    let (sum, lost) = sum_ordered(size, square / (1.0 + (1.0 + square).sqrt()));
    log1p_doubled(if large { size } else { sum }, if large { 0.0 } else { lost }, large).copysign(x)
}

/// Inverse hyperbolic cosine; NaN below 1. Within 2 ulp.
#[inline(always)]
pub fn acosh(x: f64) -> f64 {
    // log(x + sqrt(x^2 - 1)), which is log(2 x) where x is large
    let large = x > LARGE;
    let over = x - 1.0;
    let (sum, lost) = sum(over, over.mul_add(over, 2.0 * over).sqrt());
    log1p_doubled(if large { x } else { sum }, if large { 0.0 } else { lost }, large)
}

/// Inverse hyperbolic tangent; NaN beyond 1. Within 2 ulp.
#[inline(always)]
pub fn atanh(x: f64) -> f64 {
    let size = x.abs();
    let (below, below_low) = sum_ordered(1.0, -size);
    let (ratio, lost) = quotient(2.0 * size, 0.0, below, below_low);
    let ratio = if size == 1.0 { f64::INFINITY } else { ratio };
    (0.5 * log1p_of(ratio, lost)).copysign(x)
}

/// From here on `x + 1` is `x`, and `x^2` does not overflow below it.
const LARGE: f64 = 1e18;

/// `log(1 + x + rest)`, of twice the sum if `double`.
#[inline(always)]
fn log1p_doubled(x: f64, rest: f64, double: bool) -> f64 {
    log1p_of(x, rest) + if double { std::f64::consts::LN_2 } else { 0.0 }
}
