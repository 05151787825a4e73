//! Powers and roots of real numbers: `pow`, `cbrt` and `hypot`.

use super::F;
use super::constants::{
    CBRT_2, EXP_MIN, INVERSE_CBRT, LN_2_HIGH, LN_2_LOW, LOG_NEXT, ROUNDER, SQUARE_DOWN, SQUARE_HUGE, SQUARE_TINY,
    SQUARE_UP, TWO_THIRDS, TWO_THIRDS_LOW,
};
use super::exact::{Wide, polynomial, product, sum_ordered};
use super::exp::{exp_of, power_of_two};
use super::log::{Split, is_positive_normal, split};

/// Natural logarithm of a positive finite number as a sum of two floats, with about twice the usual number of digits.
#[inline(always)]
pub(super) fn wide_log(x: F) -> Wide {
    let x = split(x);
    let f = x.m - 1.0;
    // s = f / (2 + f)
    let (below, below_low) = sum_ordered(2.0, f);
    let inverse = 1.0 / below;
    let s = f * inverse;
    let s_low = (s.mul_add(-below, f) - s * below_low) * inverse;
    // s^3, and its factor in the series
    let (z, z_low) = product(s, s);
    let z_low = (2.0 * s).mul_add(s_low, z_low);
    let (cube, cube_low) = product(z, s);
    let cube_low = cube_low + z.mul_add(s_low, z_low * s);
    let (factor, factor_low) = sum_ordered(TWO_THIRDS, z * polynomial(z, &LOG_NEXT));
    let factor_low = factor_low + TWO_THIRDS_LOW;
    let (series, series_low) = product(cube, factor);
    let series_low = series_low + cube.mul_add(factor_low, cube_low * factor);
    // k ln 2 + 2 s + series, beginning with the largest term
    let (high, lost) = sum_ordered(x.k * LN_2_HIGH, 2.0 * s);
    let (high, lost_too) = sum_ordered(high, series);
    let low = (lost + lost_too) + (x.k.mul_add(LN_2_LOW, 2.0 * s_low) + series_low);
    sum_ordered(high, low)
}

/// `x` to the power of `y`, with the special cases of C99. Within 1 ulp.
#[inline(always)]
pub fn pow(x: F, y: F) -> F {
    let usual = is_positive_normal(x);
    let size = if usual { x } else { x.abs() };
    let (log, log_low) = wide_log(size);
    let limit = if size == 0.0 { F::NEG_INFINITY } else { log };
    let limit = if size == F::INFINITY { F::INFINITY } else { limit };
    let log = if usual { log } else { limit };
    let (exponent, lost) = product(log, y);
    let rest = log_low.mul_add(y, lost);
    // beyond this exponent the result is 0 or infinite, and `rest` may be NaN
    let value = exp_of(exponent, if exponent.abs() < -2.0 * EXP_MIN { rest } else { 0.0 });
    // a base of magnitude 1 gives 1, also for infinite or NaN exponents
    let value = if size == 1.0 { 1.0 } else { value };
    if usual { value } else { power_of_other(x, y, value) }
}

/// `x` to the power of `y`, where `value` is the same power of `|x|`.
#[inline(always)]
fn power_of_other(x: F, y: F, value: F) -> F {
    let size = x.abs();
    let whole = y.trunc() == y;
    let odd = whole & ((0.5 * y).trunc() != 0.5 * y);
    let value = if odd { value.copysign(x) } else { value };
    let value = if (x < 0.0) & !whole & (size != F::INFINITY) { F::NAN } else { value };
    let value = if x.is_nan() | y.is_nan() { F::NAN } else { value };
    if (x == 1.0) | (y == 0.0) { 1.0 } else { value }
}

/// Cube root, with the sign of `x`. Within 1 ulp.
#[inline(always)]
pub fn cbrt(x: F) -> F {
    let usual = is_positive_normal(x);
    let size = if usual { x } else { x.abs() };
    // `size` is 2^(3 third) y, with y in about [0.35, 2.83)
    let Split { k, m, .. } = split(size);
    let third = k.mul_add(1.0 / 3.0, ROUNDER) - ROUNDER;
    let rest = third.mul_add(-3.0, k);
    let (factor, start) = if rest > 0.0 { (2.0, 1.0 / CBRT_2) } else { (1.0, 1.0) };
    let (factor, start) = if rest < 0.0 { (0.5, CBRT_2) } else { (factor, start) };
    let y = m * factor;
    // `inverse` is approximately y^(-1/3); the root that follows from it has twice as many digits, without a division
    let inverse = start * polynomial(m - 1.0, &INVERSE_CBRT);
    let square = inverse * inverse;
    let left = (y * square).mul_add(-inverse, 1.0);
    let root = (y * square).mul_add(2.0 / 3.0 * left, y * square);
    // apply one step of Newton's method, in which the cube is computed with additional bits
    let (second, second_low) = product(root, root);
    let (cube, cube_low) = product(second, root);
    let excess = (cube - y) + second_low.mul_add(root, cube_low);
    let value = (square * (1.0 / 3.0)).mul_add(-excess, root) * power_of_two(third);
    let limit = (if (size > 0.0) & (size < F::INFINITY) { value } else { size }).copysign(x);
    if usual { value } else { limit }
}

/// `sqrt(x^2 + y^2)` without intermediate overflow. Infinite if either number is infinite, even if the other is NaN.
/// Within 1 ulp.
#[inline(always)]
pub fn hypot(x: F, y: F) -> F {
    let (x, y) = (x.abs(), y.abs());
    let (large, small) = if x > y { (x, y) } else { (y, x) };
    let (scale, back) = if large > SQUARE_HUGE { (SQUARE_DOWN, 1.0 / SQUARE_DOWN) } else { (1.0, 1.0) };
    let (scale, back) = if large < SQUARE_TINY { (SQUARE_UP, 1.0 / SQUARE_UP) } else { (scale, back) };
    let (large, small) = (large * scale, small * scale);
    let value = large.mul_add(large, small * small).sqrt() * back;
    let infinite = (x == F::INFINITY) | (y == F::INFINITY);
    if infinite { F::INFINITY } else { value }
}
