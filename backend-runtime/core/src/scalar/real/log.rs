//! Logarithms of real numbers.

use super::constants::{
    HALF_ROOT, LN_2, LN_2_HIGH, LN_2_LOW, LOG, LOG2_E, LOG2_E_LOW, LOG10_2_HIGH, LOG10_2_LOW, LOG10_E, LOG10_E_LOW,
};
use super::exact::{polynomial, quotient, sum_ordered};
use super::{BIAS, Bits, F, MANTISSA};

const ONE: Bits = BIAS << MANTISSA;
const EXPONENT: Bits = F::INFINITY.to_bits();

/// A positive number in the form `2^k m`, with `m` in [sqrt(1/2), sqrt(2)).
#[derive(Clone, Copy)]
pub(super) struct Split {
    pub k: F,
    pub m: F,
    /// The bits of `2^k`.
    power: Bits,
}

/// Returns whether `x` is positive and normal, which excludes infinity. If the compiler knows that all elements of a
/// loop are positive and normal, it removes the code for other numbers.
#[inline(always)]
pub fn is_positive_normal(x: F) -> bool {
    const MIN_NORMAL: Bits = F::MIN_POSITIVE.to_bits();
    x.to_bits().wrapping_sub(MIN_NORMAL) < EXPONENT - MIN_NORMAL
}

/// Splits a positive normal number into the form `2^k m`.
#[inline(always)]
fn split_normal(x: F) -> Split {
    let bits = x.to_bits().wrapping_add(ONE - HALF_ROOT);
    let power = bits & EXPONENT;
    // writing the exponent into the low bits of 2^MANTISSA adds it as an integer
    let whole = ((1 as Bits) << MANTISSA) as F;
    let k = F::from_bits((power >> MANTISSA) | whole.to_bits()) - (whole + BIAS as F);
    Split { k, m: F::from_bits((bits & !EXPONENT).wrapping_add(HALF_ROOT)), power }
}

/// Splits a positive number, which may be subnormal, into the form `2^k m`.
#[inline(always)]
pub(super) fn split(x: F) -> Split {
    let subnormal = !is_positive_normal(x) & (x < F::MIN_POSITIVE);
    let s = split_normal(if subnormal { x * ((2 as Bits) << MANTISSA) as F } else { x });
    Split { k: if subnormal { s.k - (MANTISSA + 1) as F } else { s.k }, ..s }
}

/// Returns `half_square` and `rest`, such that `log(1 + f)` is `f - (half_square - rest)`.
#[inline(always)]
fn series(f: F) -> (F, F) {
    let s = f / (2.0 + f);
    let z = s * s;
    let half_square = 0.5 * f * f;
    (half_square, s * z.mul_add(polynomial(z, &LOG), half_square))
}

/// `k ln(2) + log(1 + f)`
#[inline(always)]
fn join(k: F, f: F) -> F {
    let (half_square, rest) = series(f);
    k.mul_add(LN_2_HIGH, f - (half_square - k.mul_add(LN_2_LOW, rest)))
}

/// `k + log(1 + f) / ln(base)`. `scale` is `1 / ln(base)`. Both `k` and `scale` are pairs of a number and its low-order
/// part. The result is exact if it is an integer.
#[inline(always)]
fn join_scaled(k: (F, F), f: F, scale: (F, F)) -> F {
    let (half_square, rest) = series(f);
    let (high, lost) = sum_ordered(f, -half_square);
    let low = lost + rest;
    let scaled = high * scale.0;
    let error = high.mul_add(scale.0, -scaled) + high.mul_add(scale.1, low.mul_add(scale.0, k.1));
    let (sum, lost) = sum_ordered(k.0, scaled);
    sum + (lost + error)
}

/// Returns `value`, the logarithm of `x`. If `x` is 0, infinite, NaN or negative, returns the special value of the
/// logarithm instead.
#[inline(always)]
fn with_limits(x: F, value: F) -> F {
    let limit = if x == F::INFINITY { x } else { value };
    let limit = if x == 0.0 { F::NEG_INFINITY } else { limit };
    let limit = if x >= 0.0 { limit } else { F::NAN };
    if is_positive_normal(x) { value } else { limit }
}

/// Natural logarithm of a positive normal number. Within 1 ulp.
#[inline(always)]
pub(super) fn log_normal(x: F) -> F {
    let s = split_normal(x);
    join(s.k, s.m - 1.0)
}

/// Natural logarithm. Within 1 ulp.
#[inline(always)]
pub fn log(x: F) -> F {
    let s = split(x);
    with_limits(x, join(s.k, s.m - 1.0))
}

/// Logarithm to base 2, exact for powers of 2. Within 1 ulp.
#[inline(always)]
pub fn log2(x: F) -> F {
    let s = split(x);
    with_limits(x, join_scaled((s.k, 0.0), s.m - 1.0, (LOG2_E, LOG2_E_LOW)))
}

/// Logarithm to base 10. Within 1 ulp.
#[inline(always)]
pub fn log10(x: F) -> F {
    let s = split(x);
    let k = (s.k * LOG10_2_HIGH, s.k * LOG10_2_LOW);
    with_limits(x, join_scaled(k, s.m - 1.0, (LOG10_E, LOG10_E_LOW)))
}

/// `log(x / (1 - x))`. Infinite at 0 and 1, NaN below 0 and above 1. Within 2 ulp.
#[inline(always)]
pub fn logit(x: F) -> F {
    // for a subnormal `x`, the quotient equals `x`, which is scaled up
    let subnormal = x < F::MIN_POSITIVE;
    let above = if subnormal { x * ((2 as Bits) << MANTISSA) as F } else { x };
    let (below, below_low) = sum_ordered(1.0, -x);
    let (ratio, lost) = quotient(above, 0.0, below, below_low);
    let s = split_normal(ratio);
    // 2^-k is computed as in `log1p_of`
    let inverse = F::from_bits(EXPONENT - s.power) * 0.5;
    let k = if subnormal { s.k - (MANTISSA + 1) as F } else { s.k };
    let value = join(k, lost.mul_add(inverse, s.m - 1.0));
    let limit = if x == 0.0 { F::NEG_INFINITY } else { F::NAN };
    let limit = if x == 1.0 { F::INFINITY } else { limit };
    if (x > 0.0) & (x < 1.0) { value } else { limit }
}

/// `log(1 + x)`, accurate near 0. Within 2 ulp.
#[inline(always)]
pub fn log1p(x: F) -> F {
    // the result has the sign of x, including -0
    let value = log1p_of(x, 0.0);
    if is_positive_normal(x) { value } else { with_limits(1.0 + x, value).copysign(x) }
}

/// `log(1 + x + rest)`, where `rest` is the rounding error of `x`, for a finite `1 + x` above 0.
#[inline(always)]
pub(super) fn log1p_of(x: F, rest: F) -> F {
    let u = 1.0 + x;
    let dropped = if x >= 1.0 { 1.0 - (u - x) } else { x - (u - 1.0) };
    let s = split_normal(u);
    // 2^-k, computed from 2^(1 - k). If 2^(1 - k) would be subnormal, its bits are 0
    let inverse = F::from_bits(EXPONENT - s.power) * 0.5;
    let f = (s.m - 1.0) + (dropped + rest) * inverse;
    join(s.k, f)
}

/// `log(exp(x) + exp(y))` without intermediate overflow, by NumPy's formula. The formula has the terms `maximum(x, y)`
/// and `log(1 + exp(-|x - y|))`, which may cancel. The error is within 2 ulp of the larger term.
#[inline(always)]
pub fn logaddexp(x: F, y: F) -> F {
    let apart = super::maximum(x, y) + log1p(super::exp(-(x - y).abs()));
    // if the numbers are equal, this branch is also correct for infinities, whose difference is NaN
    if x == y { x + LN_2 } else { apart }
}
