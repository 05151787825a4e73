//! `exp` and `expm1`, and the pieces of an exponential that the hyperbolic and error functions share.

use super::F;
use super::constants::{EXP, EXP_MAX, EXP_MIN, LN_2_HIGH, LN_2_LOW, LOG2_E, ROUNDER};
use super::exact::{polynomial, product, sum, sum_ordered};

/// `e^x` taken apart: it is `2^n (1 + high + low)`, with `n` whole and `1 + high` in about [0.7, 1.42].
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub n: F,
    pub high: F,
    pub low: F,
}

/// Takes `e^x` apart, for `|x|` below some thousands.
#[inline(always)]
pub(super) fn parts(x: F) -> Parts {
    let n = x.mul_add(LOG2_E, ROUNDER) - ROUNDER;
    let near = n.mul_add(-LN_2_HIGH, x);
    let (r, lost) = sum_ordered(near, n * -LN_2_LOW);
    near_0(n, r, lost)
}

/// `2^n e^(r + lost)`, taken apart, for `|r| <= ln(2) / 2`.
#[inline(always)]
fn near_0(n: F, r: F, lost: F) -> Parts {
    let square = r * r;
    let tail = square.mul_add(r.mul_add(polynomial(r, &EXP), 0.5), lost);
    let (high, low) = sum_ordered(r, tail);
    Parts { n, high, low }
}

/// Takes `e^(x + rest)` apart, where `rest` is so tiny beside 1 that its square does not count.
#[inline(always)]
pub(super) fn parts_of(x: F, rest: F) -> Parts {
    let parts = parts(x);
    Parts { low: (1.0 + parts.high).mul_add(rest, parts.low), ..parts }
}

/// `x * 2^n` for a whole `n` between twice the least and twice the largest exponent, and an `x` near 1: rounded once, also
/// where the result is subnormal.
#[inline(always)]
pub(super) fn scale(x: F, n: F) -> F {
    let (first, second) = powers(n);
    x * first * second
}

/// Two powers of two whose product is `2^n`, which alone may be out of range.
#[inline(always)]
pub(super) fn powers(n: F) -> (F, F) {
    let half = n.mul_add(0.5, ROUNDER);
    let other = (n - (half - ROUNDER)) + ROUNDER;
    (power_of_two(half), power_of_two(other))
}

/// `2^n` for the whole number that `rounded` has in its low bits, that is a normal exponent.
#[inline(always)]
fn power_of_two(rounded: F) -> F {
    F::from_bits(rounded.to_bits().wrapping_add(super::BIAS) << super::MANTISSA)
}

/// `x` where it lies between the bounds, else the nearer bound; NaN stays.
#[inline(always)]
pub(super) fn between(low: F, high: F, x: F) -> F {
    let x = if x > high { high } else { x };
    if x < low { low } else { x }
}

/// e to the power of `x`. Within 1 ulp.
#[inline(always)]
pub fn exp(x: F) -> F {
    joined(parts(in_range(x)))
}

/// 2 to the power of `x`, exact for whole `x`. Within 1 ulp.
#[inline(always)]
pub fn exp2(x: F) -> F {
    // beyond these the result is 0 or infinite
    let (low, high) = (F::MIN_EXP - F::MANTISSA_DIGITS as i32 - 2, F::MAX_EXP + 1);
    let x = between(low as F, high as F, x);
    let n = (x + ROUNDER) - ROUNDER;
    // exact, as the difference is: e^(r + lost) is 2 to the power of it
    let rest = x - n;
    let (near, lost) = product(rest, LN_2_HIGH);
    let (r, lost) = sum_ordered(near, rest.mul_add(LN_2_LOW, lost));
    joined(near_0(n, r, lost))
}

/// e to the power of `x + rest`, where `rest` is tiny beside 1. Within 1 ulp.
#[inline(always)]
pub(super) fn exp_of(x: F, rest: F) -> F {
    joined(parts_of(in_range(x), rest))
}

/// `x`, kept where neither the exponential nor its exponent overflows.
#[inline(always)]
fn in_range(x: F) -> F {
    between(EXP_MIN, EXP_MAX, x)
}

#[inline(always)]
fn joined(parts: Parts) -> F {
    scale(1.0 + (parts.high + parts.low), parts.n)
}

/// `exp(x) - 1`, accurate near 0. Within 2 ulp.
#[inline(always)]
pub fn expm1(x: F) -> F {
    // from -40 down it is -1
    let Parts { n, high, low } = parts(between(-40.0, EXP_MAX, x));
    let (first, second) = powers(n);
    let (inverse_first, inverse_second) = powers(-n);
    let (high, lost) = sum(1.0 - inverse_first * inverse_second, high);
    // the sign is that of x also for -0
    ((high + (lost + low)) * first * second).copysign(x)
}
