//! `exp` and `expm1`, and the pieces of an exponential that the hyperbolic and error functions share.

use super::exact::{polynomial, sum, sum_ordered};

/// Added and taken away again, it rounds to an integer, which it leaves in the low bits between.
pub(super) const ROUNDER: f64 = 6755399441055744.0;

/// The high 42 bits of ln 2: times any exponent it is exact.
pub(super) const LN_2_HIGH: f64 = 0.6931471805598903;
/// The rest of ln 2.
pub(super) const LN_2_LOW: f64 = 5.497923018708371e-14;

/// `(e^r - 1 - r - r^2 / 2) / r^3` for `|r| <= ln(2) / 2`.
const TAIL: [f64; 10] = [
    0.16666666666666677,
    0.04166666666666669,
    0.008333333333321653,
    0.001388888888886989,
    0.00019841269886117886,
    2.48015873565783e-05,
    2.755724418172409e-06,
    2.755724522857655e-07,
    2.510905655375542e-08,
    2.092385392208245e-09,
];

/// `e^x` taken apart: it is `2^n (1 + high + low)`, with `n` whole and `1 + high` in about [0.7, 1.42].
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub n: f64,
    pub high: f64,
    pub low: f64,
}

/// Takes `e^x` apart, for `|x|` below some thousands.
#[inline(always)]
pub(super) fn parts(x: f64) -> Parts {
    let n = x.mul_add(std::f64::consts::LOG2_E, ROUNDER) - ROUNDER;
    let near = n.mul_add(-LN_2_HIGH, x);
    let (r, lost) = sum_ordered(near, n * -LN_2_LOW);
    let square = r * r;
    let tail = square.mul_add(r.mul_add(polynomial(r, &TAIL), 0.5), lost);
    let (high, low) = sum_ordered(r, tail);
    Parts { n, high, low }
}

/// Takes `e^(x + rest)` apart, where `rest` is so tiny beside 1 that its square does not count.
#[inline(always)]
pub(super) fn parts_of(x: f64, rest: f64) -> Parts {
    let parts = parts(x);
    Parts { low: (1.0 + parts.high).mul_add(rest, parts.low), ..parts }
}

/// `x * 2^n` for a whole `n` in [-1077, 1025] and an `x` near 1: rounded once, also where the result is subnormal.
#[inline(always)]
pub(super) fn scale(x: f64, n: f64) -> f64 {
    let (first, second) = powers(n);
    x * first * second
}

/// Two powers of two whose product is `2^n`, which alone may be out of range.
#[inline(always)]
pub(super) fn powers(n: f64) -> (f64, f64) {
    let half = n.mul_add(0.5, ROUNDER);
    let other = (n - (half - ROUNDER)) + ROUNDER;
    (power_of_two(half), power_of_two(other))
}

/// `2^n` for the whole number that `rounded` has in its low bits, in [-1022, 1023].
#[inline(always)]
fn power_of_two(rounded: f64) -> f64 {
    f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52)
}

/// `x` where it lies between the bounds, else the nearer bound; NaN stays.
#[inline(always)]
pub(super) fn between(low: f64, high: f64, x: f64) -> f64 {
    let x = if x > high { high } else { x };
    if x < low { low } else { x }
}

/// e to the power of `x`. Within 1 ulp.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    joined(parts(in_range(x)))
}

/// e to the power of `x + rest`, where `rest` is tiny beside 1. Within 1 ulp.
#[inline(always)]
pub(super) fn exp_of(x: f64, rest: f64) -> f64 {
    joined(parts_of(in_range(x), rest))
}

/// `x`, or the least number whose exponential is infinite, or the largest whose is 0.
#[inline(always)]
fn in_range(x: f64) -> f64 {
    between(-746.0, 710.0, x)
}

#[inline(always)]
fn joined(parts: Parts) -> f64 {
    scale(1.0 + (parts.high + parts.low), parts.n)
}

/// `exp(x) - 1`, accurate near 0. Within 1 ulp.
#[inline(always)]
pub fn expm1(x: f64) -> f64 {
    let Parts { n, high, low } = parts(between(-40.0, 710.0, x));
    let (first, second) = powers(n);
    let (inverse_first, inverse_second) = powers(-n);
    let (high, lost) = sum(1.0 - inverse_first * inverse_second, high);
    // the sign is that of x also for -0
    ((high + (lost + low)) * first * second).copysign(x)
}
