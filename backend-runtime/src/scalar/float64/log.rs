//! Logarithms.

use super::exact::{polynomial, sum_ordered};
use super::exp::{LN_2_HIGH, LN_2_LOW};
use std::f64::consts::LN_2;

/// `(log((1 + s) / (1 - s)) - 2 s) / s^3` by powers of `s^2`, for `|s| <= (sqrt(2) - 1) / (sqrt(2) + 1)`.
const SERIES: [f64; 7] = [
    0.6666666666666734,
    0.39999999999416186,
    0.2857142874219805,
    0.22222198582072433,
    0.1818356429097357,
    0.15314042429987776,
    0.14796108771345598,
];

/// The bits of sqrt(1/2): where the mantissa's range begins.
const HALF_ROOT: u64 = 0x3fe6_a09e_667f_3bcd;
const ONE: u64 = 0x3ff0_0000_0000_0000;
const EXPONENT: u64 = 0x7ff0_0000_0000_0000;

/// A positive number as `2^k m` with `m` in [sqrt(1/2), sqrt(2)).
#[derive(Clone, Copy)]
pub(super) struct Split {
    pub k: f64,
    pub m: f64,
    /// The bits of `2^k`.
    power: u64,
}

/// Splits a positive normal number.
#[inline(always)]
fn split_normal(x: f64) -> Split {
    let bits = x.to_bits().wrapping_add(ONE - HALF_ROOT);
    let power = bits & EXPONENT;
    // an exponent in the low bits of 2^52 is that whole number
    let k = f64::from_bits((power >> 52) | 0x4330_0000_0000_0000) - (4503599627370496.0 + 1023.0);
    Split { k, m: f64::from_bits((bits & !EXPONENT).wrapping_add(HALF_ROOT)), power }
}

/// Splits a positive number.
#[inline(always)]
pub(super) fn split(x: f64) -> Split {
    let subnormal = x < f64::MIN_POSITIVE;
    let s = split_normal(if subnormal { x * 18014398509481984.0 } else { x });
    Split { k: if subnormal { s.k - 54.0 } else { s.k }, ..s }
}

/// `log(1 + f)` is `f - (half_square - rest)`: the latter two.
#[inline(always)]
fn series(f: f64) -> (f64, f64) {
    let s = f / (2.0 + f);
    let z = s * s;
    let half_square = 0.5 * f * f;
    (half_square, s * z.mul_add(polynomial(z, &SERIES), half_square))
}

/// `k ln(2) + log(1 + f)`
#[inline(always)]
fn join(k: f64, f: f64) -> f64 {
    let (half_square, rest) = series(f);
    k.mul_add(LN_2_HIGH, f - (half_square - k.mul_add(LN_2_LOW, rest)))
}

/// `k + log(1 + f) / ln(base)`, where `k` has a low part and 1 / ln(base) too: exact where the result is whole.
#[inline(always)]
fn join_scaled(k: (f64, f64), f: f64, scale: (f64, f64)) -> f64 {
    let (half_square, rest) = series(f);
    let (high, lost) = sum_ordered(f, -half_square);
    let low = lost + rest;
    let scaled = high * scale.0;
    let error = high.mul_add(scale.0, -scaled) + high.mul_add(scale.1, low.mul_add(scale.0, k.1));
    let (sum, lost) = sum_ordered(k.0, scaled);
    sum + (lost + error)
}

/// `value`, the logarithm of `x`, or what it is of 0, infinity, NaN and negative numbers.
#[inline(always)]
fn with_limits(x: f64, value: f64) -> f64 {
    let value = if x == f64::INFINITY { x } else { value };
    let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
    if x >= 0.0 { value } else { f64::NAN }
}

/// Natural logarithm. Within 1 ulp.
#[inline(always)]
pub fn log(x: f64) -> f64 {
    let s = split(x);
    with_limits(x, join(s.k, s.m - 1.0))
}

/// Logarithm to base 2, exact for powers of 2. Within 1 ulp.
#[inline(always)]
pub fn log2(x: f64) -> f64 {
    let s = split(x);
    with_limits(x, join_scaled((s.k, 0.0), s.m - 1.0, (std::f64::consts::LOG2_E, 2.0355273740931033e-17)))
}

/// Logarithm to base 10. Within 1 ulp.
#[inline(always)]
pub fn log10(x: f64) -> f64 {
    // log10(2) in 42 bits and the rest, so that k times the former is exact
    let s = split(x);
    let k = (s.k * 0.30102999566395283, s.k * 2.8363394551044964e-14);
    with_limits(x, join_scaled(k, s.m - 1.0, (std::f64::consts::LOG10_E, 1.098319650216765e-17)))
}

/// `log(1 + x)`, accurate near 0. Within 1 ulp.
#[inline(always)]
pub fn log1p(x: f64) -> f64 {
    log1p_of(x, 0.0)
}

/// `log(1 + x + rest)`, where `rest` is what rounding dropped from `x`.
#[inline(always)]
pub(super) fn log1p_of(x: f64, rest: f64) -> f64 {
    let u = 1.0 + x;
    let dropped = if x >= 1.0 { 1.0 - (u - x) } else { x - (u - 1.0) };
    let s = split_normal(u);
    // 2^-k, by way of 2^(1 - k), which is 0 where 2^-k would be subnormal
    let inverse = f64::from_bits(EXPONENT - s.power) * 0.5;
    let f = (s.m - 1.0) + (dropped + rest) * inverse;
    // the sign is that of x also for -0
    with_limits(u, join(s.k, f)).copysign(x)
}

/// `log(exp(x) + exp(y))` without overflow between.
#[inline(always)]
pub fn logaddexp(x: f64, y: f64) -> f64 {
    let apart = super::maximum(x, y) + log1p(super::exp(-(x - y).abs()));
    // also where both are the same infinity, whose difference is NaN
    if x == y { x + LN_2 } else { apart }
}
