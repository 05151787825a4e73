//! The exponential, and the circular and hyperbolic functions, of complex numbers.
//!
//! An exponential's power of two is multiplied last, after the sine or cosine, because the product of a large
//! exponential and a small cosine may be in range.

use super::super::constants::{EXP_MAX, EXP_MIN};
use super::super::exp::{between, parts, powers, scale};
use super::super::hyperbolic::{hyperbola, sine_near_0};
use super::super::{F, cos as cosine, exp as exponential, expm1 as exponential_less_1, sin as sine};
use super::{C, turn, turn_back};

/// Exponentials of arguments above this value count as infinite, because only a subnormal sine would bring the product
/// into range.
pub(super) const LIMIT: F = 1.95 * EXP_MAX;

/// The product `2^n * size * angle`, without intermediate overflow or lost bits.
#[inline(always)]
pub(super) fn scaled(size: F, angle: F, n: F) -> F {
    let (first, second) = powers(n);
    size * first * angle * second
}

/// Returns `size`, or infinity if `x` exceeds `LIMIT`.
#[inline(always)]
pub(super) fn limited(size: F, x: F) -> F {
    if x > LIMIT { F::INFINITY } else { size }
}

/// e to the power of `x`.
#[inline(always)]
pub fn exp(x: C) -> C {
    let parts = parts(between(EXP_MIN, LIMIT, x.re));
    let size = limited(1.0 + (parts.high + parts.low), x.re);
    let (re, im) = (scaled(size, cosine(x.im), parts.n), scaled(size, sine(x.im), parts.n));
    let im = if x.im == 0.0 { x.im } else { im };
    // the angle is unknown if `x.im` is infinite or NaN
    let lost = !x.im.is_finite();
    let re = if lost & (x.re == F::INFINITY) { F::INFINITY } else { re };
    let zero = lost & (x.re == F::NEG_INFINITY);
    C::new(if zero { 0.0 } else { re }, if zero { F::copysign(0.0, x.im) } else { im })
}

/// `exp(x) - 1`, accurate near 0.
#[inline(always)]
pub fn expm1(x: C) -> C {
    let half = sine(0.5 * x.im);
    let near = exponential_less_1(x.re) * cosine(x.im) - 2.0 * half * half;
    let value = exp(x);
    let re = if x.re > 0.5 * EXP_MAX { value.re } else { near };
    // for x.re = -infinity, the real part is -1 for any angle
    C::new(if x.re == F::NEG_INFINITY { value.re - 1.0 } else { re }, value.im)
}

/// Hyperbolic sine.
#[inline(always)]
pub fn sinh(x: C) -> C {
    let (cos, sin) = (cosine(x.im), sine(x.im));
    let size = x.re.abs();
    let parts = hyperbola(size, LIMIT);
    let near = sine_near_0(size) * cos;
    let re = if size < 1.0 { near } else { scaled(limited(parts.sine, size), cos, parts.shift) };
    let re = if x.re.is_sign_negative() { -re } else { re };
    let im = scaled(limited(parts.cosine, size), sin, parts.shift);
    // if the angle is infinite or NaN, a real part of 0 or infinity stays, with an unspecified sign
    let re = if !x.im.is_finite() & ((x.re == 0.0) | x.re.is_infinite()) { x.re } else { re };
    C::new(re, if x.im == 0.0 { x.im } else { im })
}

/// Hyperbolic cosine.
#[inline(always)]
pub fn cosh(x: C) -> C {
    let (cos, sin) = (cosine(x.im), sine(x.im));
    let size = x.re.abs();
    let parts = hyperbola(size, LIMIT);
    let re = scaled(limited(parts.cosine, size), cos, parts.shift);
    let near = sine_near_0(size) * sin;
    let im = if size < 1.0 { near } else { scaled(limited(parts.sine, size), sin, parts.shift) };
    let im = if x.re.is_sign_negative() { -im } else { im };
    let re = if x.re.is_infinite() & !x.im.is_finite() { F::INFINITY } else { re };
    let zero = F::copysign(0.0, x.re) * F::copysign(1.0, x.im);
    // the imaginary part is 0 even if its other factor is infinite or NaN
    let stays = ((x.re == 0.0) & !x.im.is_finite()) | (x.im == 0.0);
    C::new(re, if stays { zero } else { im })
}

/// Above this argument, the hyperbolic sine and cosine are equal.
const FAR: F = 22.0;

/// Hyperbolic tangent.
#[inline(always)]
pub fn tanh(x: C) -> C {
    let (cos, sin) = (cosine(x.im), sine(x.im));
    // (sinh cosh + i sin cos) / (sinh^2 + cos^2), in which no terms cancel
    let size = x.re.abs();
    let parts = hyperbola(size, FAR);
    let sinh = if size < 1.0 { sine_near_0(size) } else { scale(parts.sine, parts.shift) };
    let cosh = scale(parts.cosine, parts.shift);
    let below = sinh.mul_add(sinh, cos * cos);
    let (re, im) = (sinh * cosh / below, sin * cos / below);
    // for large |x|, both sinh and cosh are e^|x| / 2
    let far = size > FAR;
    let (re, im) = if far { (1.0, 4.0 * sin * cos * exponential(-2.0 * size)) } else { (re, im) };
    let im = if x.re.is_infinite() & !x.im.is_finite() { F::copysign(0.0, x.im) } else { im };
    let im = if x.im == 0.0 { x.im } else { im };
    let re = if x.re == 0.0 { 0.0 } else { re };
    let re = if !x.im.is_finite() & x.re.is_finite() & (x.re != 0.0) { F::NAN } else { re };
    C::new(re.copysign(x.re), im)
}

/// Sine.
#[inline(always)]
pub fn sin(x: C) -> C {
    turn_back(sinh(turn(x)))
}

/// Cosine.
#[inline(always)]
pub fn cos(x: C) -> C {
    cosh(turn(x))
}

/// Tangent.
#[inline(always)]
pub fn tan(x: C) -> C {
    turn_back(tanh(turn(x)))
}
