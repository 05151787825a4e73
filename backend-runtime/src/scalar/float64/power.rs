//! `pow` and `hypot`.

use super::exact::{polynomial, product, sum_ordered};
use super::exp::{LN_2_HIGH, LN_2_LOW, exp_of};
use super::log::split;

/// `(log((1 + s) / (1 - s)) - 2 s) / s^3` less its first coefficient 2/3, over `s^2`, by powers of `s^2`.
const SERIES: [f64; 8] = [
    0.3999999999999998,
    0.28571428571445107,
    0.22222222217535423,
    0.1818181887061833,
    0.1538455684016068,
    0.13336318927898325,
    0.11674782495673044,
    0.11989349909326164,
];
const TWO_THIRDS: f64 = 0.6666666666666666;
const TWO_THIRDS_LOW: f64 = 3.700743415417188e-17;

/// Natural logarithm of a positive finite number as a sum of two: about 2^-66 of it is lost.
#[inline(always)]
fn log(x: f64) -> (f64, f64) {
    let x = split(x);
    let f = x.m - 1.0;
    // s = f / (2 + f)
    let (below, below_low) = sum_ordered(2.0, f);
    let inverse = 1.0 / below;
    let s = f * inverse;
    let s_low = (s.mul_add(-below, f) - s * below_low) * inverse;
    // s^3, and the factor it has in the series
    let (z, z_low) = product(s, s);
    let z_low = (2.0 * s).mul_add(s_low, z_low);
    let (cube, cube_low) = product(z, s);
    let cube_low = cube_low + z.mul_add(s_low, z_low * s);
    let (factor, factor_low) = sum_ordered(TWO_THIRDS, z * polynomial(z, &SERIES));
    let factor_low = factor_low + TWO_THIRDS_LOW;
    let (series, series_low) = product(cube, factor);
    let series_low = series_low + cube.mul_add(factor_low, cube_low * factor);
    // k ln 2 + 2 s + series, largest first
    let (high, lost) = sum_ordered(x.k * LN_2_HIGH, 2.0 * s);
    let (high, lost_too) = sum_ordered(high, series);
    let low = (lost + lost_too) + (x.k.mul_add(LN_2_LOW, 2.0 * s_low) + series_low);
    sum_ordered(high, low)
}

/// `x` to the power of `y`, with the special cases of C99. Within 1 ulp.
#[inline(always)]
pub fn pow(x: f64, y: f64) -> f64 {
    let size = x.abs();
    let (log, log_low) = log(size);
    let log = if size == 0.0 { f64::NEG_INFINITY } else { log };
    let log = if size == f64::INFINITY { f64::INFINITY } else { log };
    let (exponent, lost) = product(log, y);
    let rest = log_low.mul_add(y, lost);
    // beyond this the result is 0 or infinite, and the rest may be NaN
    let value = exp_of(exponent, if exponent.abs() < 800.0 { rest } else { 0.0 });
    let value = if size == 1.0 { 1.0 } else { value };

    let whole = y.trunc() == y;
    let odd = whole & ((0.5 * y).trunc() != 0.5 * y);
    let value = if odd { value.copysign(x) } else { value };
    let value = if (x < 0.0) & !whole & (size != f64::INFINITY) { f64::NAN } else { value };
    let value = if x.is_nan() | y.is_nan() { f64::NAN } else { value };
    if (x == 1.0) | (y == 0.0) { 1.0 } else { value }
}

/// `sqrt(x^2 + y^2)` without overflow between; infinite if either is, also beside NaN. Within 1 ulp.
#[inline(always)]
pub fn hypot(x: f64, y: f64) -> f64 {
    let (x, y) = (x.abs(), y.abs());
    let (large, small) = if x > y { (x, y) } else { (y, x) };
    // powers of 2 that bring the squares into range, and back
    let (down, up) = (f64::from_bits((1023 - 600) << 52), f64::from_bits((1023 + 600) << 52));
    let (scale, back) = if large > 1e150 { (down, up) } else { (1.0, 1.0) };
    let (scale, back) = if large < 1e-130 { (up, down) } else { (scale, back) };
    let (large, small) = (large * scale, small * scale);
    let value = large.mul_add(large, small * small).sqrt() * back;
    let infinite = (x == f64::INFINITY) | (y == f64::INFINITY);
    if infinite { f64::INFINITY } else { value }
}
