//! The gamma function, its logarithm, and the derivative of the logarithm.
//!
//! Arguments below 8 are moved to [1.5, 2.5) by the recurrence `gamma(x + 1) = x gamma(x)`. Arguments of at least 8 use
//! Stirling's formula. Negative arguments use the reflection formula. The formulas are 5.5.1, 5.5.3 and 5.11.1 of the
//! NIST Digital Library of Mathematical Functions.

use super::F;
use super::constants::PI;
use super::exact::{Wide, polynomial, product, quotient, sum, sum_ordered, wide_product};
use super::exp::{Parts, between, parts_of, scale};
use super::log::{log, log1p};
use super::power::wide_log;
use super::special::{
    DIGAMMA, DIGAMMA_ROOT, DIGAMMA_ROOT_LOW, DIGAMMA_TAIL, GAMMA, GAMMA_MAX, GAMMA_MIN, HALF_LN_2_PI, HALF_LN_2_PI_LOW,
    LGAMMA, LGAMMA_MAX, LN_PI, STIRLING,
};
use super::trig::{cot_pi, sin_pi};

/// Arguments of at least this value use Stirling's formula.
const FAR: F = 8.0;

/// Magnitude below which `gamma(x)` is `1 / x`.
const TINY: F = F::EPSILON / 8.0;

/// Returns whether `x` is a negative integer, where all of these functions have poles.
#[inline(always)]
fn is_pole(x: F) -> bool {
    (x < 0.0) & (x.trunc() == x)
}

/// Computes the correction of Stirling's formula for `log(gamma(x))`, for an `x` of at least 8.
#[inline(always)]
#[allow(dead_code)] // only one of the two precisions uses it
pub(super) fn correction(x: F) -> F {
    let inverse = 1.0 / x;
    inverse * polynomial(inverse * inverse, &STIRLING)
}

/// `log(gamma(1 + x))`, accurate near 0, for `0 <= x <= 3/2`.
#[inline(always)]
#[allow(dead_code)] // only one of the two precisions uses it
pub(super) fn lgamma1p(x: F) -> F {
    let down = x >= 0.5;
    let rest = if down { x - 1.0 } else { x };
    rest.mul_add(polynomial(rest, &LGAMMA), if down { 0.0 } else { -log1p(x) })
}

/// `log(gamma(x))` for an `x` of at least 8.
#[inline(always)]
pub(super) fn stirling(x: F) -> Wide {
    let (log, log_low) = wide_log(x);
    let less = x - 0.5;
    let (power, lost) = product(log, less);
    let lost = log_low.mul_add(less, lost);
    let inverse = 1.0 / x;
    let (rest, rest_low) = sum_ordered(power, -x);
    let (high, low) = sum_ordered(rest, HALF_LN_2_PI);
    let tail = inverse.mul_add(polynomial(inverse * inverse, &STIRLING), HALF_LN_2_PI_LOW);
    sum_ordered(high, low + (rest_low + (lost + tail)))
}

/// An `x` in (-1/2, 8) as `2 + rest + steps`, with an integer number of steps and `|rest| <= 1/2`. Also has the factors
/// of the recurrence.
struct Moved {
    rest: F,
    /// Factor of `gamma(2 + rest)`: `(x - 1) (x - 2) ..`.
    above: Wide,
    /// Divisor of `gamma(2 + rest)`: 1, `x` or `x (x + 1)`.
    below: Wide,
}

#[inline(always)]
fn moved(x: F) -> Moved {
    let steps = (x - 1.5).floor();
    let mut above: Wide = (1.0, 0.0);
    // these factors are exact
    let mut i = 1.0;
    while i < 6.5 {
        let factor = if i <= steps { x - i } else { 1.0 };
        let (high, low) = product(above.0, factor);
        above = (high, above.1.mul_add(factor, low));
        i += 1.0;
    }
    let (next, lost) = sum(1.0, x);
    let (twice, low) = product(x, next);
    let twice = (twice, x.mul_add(lost, low));
    let below = if steps < -1.5 { twice } else { (x, 0.0) };
    let below = if steps < -0.5 { below } else { (1.0, 0.0) };
    Moved { rest: x - (2.0 + steps), above, below }
}

/// Gamma function. Infinite at 0, with the sign of the zero, and NaN at negative integers. Within 2 ulp.
#[inline(always)]
pub fn gamma(x: F) -> F {
    let size = x.abs();
    let reflect = x < -0.5;
    let Parts { n, high, low } = {
        let (high, low) = stirling(between(FAR, if reflect { GAMMA_MIN } else { GAMMA_MAX }, size));
        parts_of(if reflect { -high } else { high }, if reflect { -low } else { low })
    };
    let far = 1.0 + (high + low);
    // the value for arguments up to 8
    let moved = moved(between(-0.5, FAR, if reflect { size } else { x }));
    let (high, low) = sum_ordered(1.0, moved.rest * polynomial(moved.rest, &GAMMA));
    let above = wide_product(moved.above, (high, low));
    let (above, below) = if reflect { (moved.below, above) } else { (above, moved.below) };
    let (ratio, rest) = quotient(above.0, above.1, below.0, below.1);
    let (value, n) = if size < FAR { (ratio + rest, 0.0) } else { (far, n) };
    // gamma(-x) = -pi / (x sin(pi x) gamma(x))
    let value = if reflect { value * (-PI / (size * sin_pi(size))) } else { value };
    let value = scale(value, n);
    let value = if size < TINY { 1.0 / x } else { value };
    let value = if is_pole(x) | (x == F::NEG_INFINITY) { F::NAN } else { value };
    if x.is_nan() { x } else { value }
}

/// Logarithm of the magnitude of the gamma function. Infinite at 0, at negative integers and at infinity. Within 3 ulp
/// for positive `x`; near the zeros at negative `x`, the error is relative to the logarithm of `gamma(|x|)`.
#[inline(always)]
pub fn lgamma(x: F) -> F {
    let size = x.abs();
    let (high, low) = stirling(between(FAR, LGAMMA_MAX, size));
    let far = if size < LGAMMA_MAX { high + low } else { F::INFINITY };
    let Moved { rest, above, below } = moved(between(0.0, FAR, size));
    // one of `above` and `below` is 1
    let shift = log(above.0 * below.0) + (above.1 / above.0 + below.1 / below.0);
    let shift = if size < 1.5 { -shift } else { shift };
    let near = rest.mul_add(polynomial(rest, &LGAMMA), shift);
    let near = if size < TINY { -log(size) } else { near };
    let value = if size < FAR { near } else { far };
    let reflected = (LN_PI - log((size * sin_pi(size)).abs())) - value;
    let reflected = if size < TINY { near } else { reflected };
    let reflected = if is_pole(x) { F::INFINITY } else { reflected };
    let value = if x < 0.0 { reflected } else { value };
    if x.is_nan() { x } else { value }
}

/// Derivative of the logarithm of the gamma function. Infinite at 0, with the opposite sign of the zero, and
/// NaN at negative integers. Within 3 ulp for positive `x`; near the zeros at negative `x`, the error is relative to
/// `digamma(|x|)`.
#[inline(always)]
pub fn digamma(x: F) -> F {
    let size = x.abs();
    // the argument is moved to [1.125, 2.125), and the sum of 1 / (size - i) is computed as one fraction
    let near = between(0.0, FAR, size);
    let steps = (near - 1.125).floor();
    let (mut above, mut below) = (0.0, 1.0);
    let mut i = 1.0;
    while i < 6.5 {
        let used = i <= steps;
        let factor = if used { near - i } else { 1.0 };
        above = above * factor + if used { below } else { 0.0 };
        below *= factor;
        i += 1.0;
    }
    let twice = steps < -1.5;
    let (above_low, below_low) = if twice { (-near.mul_add(2.0, 1.0), near.mul_add(near, near)) } else { (-1.0, near) };
    let (above, below) = if steps < -0.5 { (above_low, below_low) } else { (above, below) };
    let distance = ((near - steps) - DIGAMMA_ROOT) - DIGAMMA_ROOT_LOW;
    let near = distance.mul_add(polynomial(near - (steps + 1.625), &DIGAMMA), above / below);
    let far = between(FAR, F::MAX, size);
    let inverse = 1.0 / far;
    let square = inverse * inverse;
    let far = log(size) - (0.5 * inverse + square * polynomial(square, &DIGAMMA_TAIL));
    let value = if size < FAR { near } else { far };
    // digamma(-x) = digamma(x) + 1 / x + pi cot(pi x)
    let reflected = value + (1.0 / size + PI * cot_pi(size));
    let value = if x < 0.0 { reflected } else { value };
    let value = if size < TINY { -1.0 / x } else { value };
    let value = if is_pole(x) | (x == F::NEG_INFINITY) { F::NAN } else { value };
    if x.is_nan() { x } else { value }
}
