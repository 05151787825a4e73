//! Arithmetic and the square root of complex numbers.

use super::super::constants::{SQUARE_DOWN, SQUARE_HUGE, SQUARE_TINY, SQUARE_UP};
use super::super::{F, hypot};
use super::C;

/// `x * y` by the schoolbook formula, as NumPy computes it.
#[inline(always)]
pub fn times(x: C, y: C) -> C {
    C::new(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re)
}

/// `x / y` by Smith's formula, as NumPy computes it.
#[inline(always)]
pub fn div(x: C, y: C) -> C {
    let wide = y.re.abs() >= y.im.abs();
    let (large, small) = if wide { (y.re, y.im) } else { (y.im, y.re) };
    let (along, across) = if wide { (x.re, x.im) } else { (x.im, x.re) };
    let ratio = small / large;
    let scale = 1.0 / (large + small * ratio);
    let im = if wide { across - along * ratio } else { along * ratio - across };
    let zero = (y.re == 0.0) & (y.im == 0.0);
    // for a divisor of 0, the result is a product with infinity, not a quotient, because it is computed for every
    // element, and a division would take longer
    let by_zero = C::new(x.re * F::INFINITY, x.im * F::INFINITY);
    if zero { by_zero } else { C::new((along + across * ratio) * scale, im * scale) }
}

/// `1 / x`, computed as the conjugate divided by the square of the magnitude, which gives zeros the same signs as in
/// NumPy. The result for 0 is NaN, as in NumPy; for an infinite number it is 0.
#[inline(always)]
pub fn reciprocal(x: C) -> C {
    // the parts are scaled, so that their squares neither overflow nor lose bits
    let (width, height) = (x.re.abs(), x.im.abs());
    let larger = if width > height { width } else { height };
    let scale = if larger > SQUARE_HUGE { SQUARE_DOWN } else { 1.0 };
    let scale = if larger < SQUARE_TINY { SQUARE_UP } else { scale };
    let (re, im) = (x.re * scale, x.im * scale);
    let square = re.mul_add(re, im * im);
    let value = C::new(re / square * scale, -im / square * scale);
    let infinite = larger == F::INFINITY;
    let value = if infinite { C::new(F::copysign(0.0, x.re), -F::copysign(0.0, x.im)) } else { value };
    if x.re.is_nan() | x.im.is_nan() { C::new(F::NAN, F::NAN) } else { value }
}

/// The magnitude, without intermediate overflow.
#[inline(always)]
pub fn abs(x: C) -> F {
    hypot(x.re, x.im)
}

/// `x / |x|`; 0 for 0. An infinite part is replaced by 1 with its sign, and a finite part of an infinite number by 0.
#[inline(always)]
pub fn sign(x: C) -> C {
    let size = abs(x);
    // an infinite part counts as 1, and a finite part of the same number as 0
    let infinite = size == F::INFINITY;
    let limit = |x: F| {
        if x.is_infinite() { F::copysign(1.0, x) } else { 0.0 }
    };
    let part = |x: F| if infinite { limit(x) } else { x };
    let size = if infinite { 1.0 } else { size };
    let unknown = size.is_nan() | (x.re.is_infinite() & x.im.is_infinite());
    let value = C::new(part(x.re) / size, part(x.im) / size);
    let value = if size == 0.0 { C::new(0.0, 0.0) } else { value };
    if unknown { C::new(F::NAN, F::NAN) } else { value }
}

/// Rounds each part to the nearest integer, ties to even.
#[inline(always)]
pub fn round(x: C) -> C {
    C::new(super::super::round(x.re), super::super::round(x.im))
}

/// Square root with a real part >= 0.
#[inline(always)]
pub fn sqrt(x: C) -> C {
    // the parts are scaled by an even power of two, so that their squares neither overflow nor lose bits
    let (width, height) = (x.re.abs(), x.im.abs());
    let larger = if width > height { width } else { height };
    let (scale, back) = if larger > SQUARE_HUGE { (SQUARE_DOWN, (1.0 / SQUARE_DOWN).sqrt()) } else { (1.0, 1.0) };
    let (scale, back) = if larger < SQUARE_TINY { (SQUARE_UP, (1.0 / SQUARE_UP).sqrt()) } else { (scale, back) };
    let (width, height) = (width * scale, height * scale);
    let long = ((width + hypot(width, height)) * 0.5).sqrt();
    let short = height / (2.0 * long) * back;
    let long = long * back;
    let (re, im) = if x.re < 0.0 { (short, long) } else { (long, short) };
    // each line handles a special value, and overrides the lines before it
    let zero = (x.re == 0.0) & (x.im == 0.0);
    let (re, im) = if zero { (0.0, 0.0) } else { (re, im) };
    let left = x.re == F::NEG_INFINITY;
    let right = x.re == F::INFINITY;
    let rest = if x.im.is_nan() { F::NAN } else { 0.0 };
    let (re, im) = if left { (rest, F::INFINITY) } else { (re, im) };
    let (re, im) = if right { (F::INFINITY, rest) } else { (re, im) };
    let (re, im) = if x.re.is_nan() { (F::NAN, F::NAN) } else { (re, im) };
    let (re, im) = if x.im.is_infinite() { (F::INFINITY, F::INFINITY) } else { (re, im) };
    C::new(re, im.copysign(x.im))
}
