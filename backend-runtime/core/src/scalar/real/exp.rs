//! `exp` and `expm1`, and the splitting of exponentials into parts, which the hyperbolic and error functions use as
//! well.

use super::F;
use super::constants::{EXP, EXP_MAX, EXP_MIN, LN_2, LN_2_HIGH, LN_2_LOW, LOG2_E, ROUNDER};
use super::exact::{polynomial, product, sum_ordered};

/// The parts of `e^x`, which equals `2^n (1 + high + low)`, with an integer `n` and `1 + high` in about [0.7, 1.42].
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub n: F,
    pub high: F,
    pub low: F,
}

/// Splits `e^x` into parts, for `|x|` below some thousands.
#[inline(always)]
pub(super) fn parts(x: F) -> Parts {
    let n = x.mul_add(LOG2_E, ROUNDER) - ROUNDER;
    let near = n.mul_add(-LN_2_HIGH, x);
    let (r, lost) = sum_ordered(near, n * -LN_2_LOW);
    near_0(n, r, lost)
}

/// The parts of `2^n e^(r + lost)`, for `|r| <= ln(2) / 2`.
#[inline(always)]
fn near_0(n: F, r: F, lost: F) -> Parts {
    let square = r * r;
    let tail = square.mul_add(r.mul_add(polynomial(r, &EXP), 0.5), lost);
    let (high, low) = sum_ordered(r, tail);
    Parts { n, high, low }
}

/// Adding and then subtracting this number rounds to an integer. The low bits of the sum are this integer plus twice
/// the bias of exponents.
const BIASED_ROUNDER: F = ROUNDER + (2 * super::BIAS) as F;

/// Splits `e^x` into parts without the low part. The missing part and the rounding of `1 + high` together are within
/// 3/4 of the last place of `1 + high`. Returns `n + BIASED_ROUNDER` and `high`.
#[inline(always)]
pub(super) fn short_parts(x: F) -> (F, F) {
    let biased = x.mul_add(LOG2_E, BIASED_ROUNDER);
    let n = biased - BIASED_ROUNDER;
    let r = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, x));
    (biased, (r * r).mul_add(r.mul_add(polynomial(r, &EXP), 0.5), r))
}

/// Splits `e^(x + rest)` into parts. The square of `rest` must be negligible compared with 1.
#[inline(always)]
pub(super) fn parts_of(x: F, rest: F) -> Parts {
    let parts = parts(x);
    Parts { low: (1.0 + parts.high).mul_add(rest, parts.low), ..parts }
}

/// `x * 2^n` for an `x` near 1 and an integer `n` between twice the smallest and twice the largest exponent. The result
/// is rounded once, even if it is subnormal.
#[inline(always)]
pub(super) fn scale(x: F, n: F) -> F {
    scale_biased(x, n + BIASED_ROUNDER)
}

/// Computes `x * 2^n` like `scale`. `biased` is `n + BIASED_ROUNDER`.
#[inline(always)]
pub(super) fn scale_biased(x: F, biased: F) -> F {
    let (first, second) = powers_biased(biased);
    x * first * second
}

/// Returns two powers of two whose product is `2^n`, for an integer `n` between twice the smallest and twice the
/// largest exponent. `2^n` itself may be out of range.
#[inline(always)]
pub(super) fn powers(n: F) -> (F, F) {
    powers_biased(n + BIASED_ROUNDER)
}

#[inline(always)]
fn powers_biased(biased: F) -> (F, F) {
    // each half of the low bits is an exponent with its bias; the bits above them are shifted out
    let half = biased.to_bits() >> 1;
    let other = biased.to_bits().wrapping_sub(half);
    (F::from_bits(half << super::MANTISSA), F::from_bits(other << super::MANTISSA))
}

/// Computes `2^n` for a normal exponent `n`. `biased` is `n + BIASED_ROUNDER`.
#[inline(always)]
pub(super) fn power_biased(biased: F) -> F {
    F::from_bits(biased.to_bits().wrapping_sub(super::BIAS) << super::MANTISSA)
}

/// `2^n` for a normal exponent `n`.
#[inline(always)]
pub(super) fn power_of_two(n: F) -> F {
    power_biased(n + BIASED_ROUNDER)
}

/// Clamps `x` to the bounds. NaN stays NaN.
#[inline(always)]
pub(super) fn between(low: F, high: F, x: F) -> F {
    let x = if x > high { high } else { x };
    if x < low { low } else { x }
}

/// e to the power of `x`. Within 1 ulp.
#[inline(always)]
pub fn exp(x: F) -> F {
    let (biased, high) = short_parts(in_range(x));
    scale_biased(1.0 + high, biased)
}

/// 2 to the power of `x`, exact for an integer `x`. Within 1 ulp.
#[inline(always)]
pub fn exp2(x: F) -> F {
    // beyond these bounds the result is 0 or infinite
    let (low, high) = (F::MIN_EXP - F::MANTISSA_DIGITS as i32 - 2, F::MAX_EXP + 1);
    let x = between(low as F, high as F, x);
    let n = (x + ROUNDER) - ROUNDER;
    // the difference and the product (a sum of two floats) are exact, so 2^rest equals e^(r + lost)
    let rest = x - n;
    let (r, lost) = product(rest, LN_2);
    let Parts { n, high, .. } = near_0(n, r, lost);
    scale(1.0 + high, n)
}

/// e to the power of `x + rest`, where `rest` is tiny compared with 1. Within 1 ulp.
#[inline(always)]
pub(super) fn exp_of(x: F, rest: F) -> F {
    let parts = parts_of(in_range(x), rest);
    scale(1.0 + (parts.high + parts.low), parts.n)
}

/// Clamps `x` to bounds within which neither the exponential nor its exponent overflows.
#[inline(always)]
fn in_range(x: F) -> F {
    between(EXP_MIN, EXP_MAX, x)
}

/// `exp(x) - 1`, accurate near 0. Within 2 ulp.
#[inline(always)]
pub fn expm1(x: F) -> F {
    // for arguments of at most -40 the result is -1
    let Parts { n, high, low } = parts(between(-40.0, EXP_MAX, x));
    // The result is (2^n - 1) + 2^n (high + low). The first term is 0 if n is 0, and otherwise larger than the second
    // term. If 2^n is out of range, 2^(n - 1) is used, and the result is doubled.
    let top = F::MAX_EXP as F - 1.0;
    let most = if n > top { top } else { n };
    let power = power_of_two(most);
    let less = power - 1.0;
    let value = power.mul_add(high, less);
    let lost = power.mul_add(high, less - value);
    let value = value + power.mul_add(low, lost);
    // the result has the sign of x, including -0
    (if n > most { 2.0 * value } else { value }).copysign(x)
}
