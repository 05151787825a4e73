//! Inverse circular and hyperbolic functions of complex numbers, computed by the formulas of Hull, Fairgrieve and Tang,
//! in which no terms cancel.

use super::super::constants::{FRAC_PI_2, LN_2, PI, PI_LOW};
use super::super::{F, acos as arc_cosine, asin as arc_sine, atan2, hypot, log, log1p};
use super::{C, div, turn, turn_back};

/// Above this magnitude, `sqrt(x^2 - 1)` equals `x`. The product of two numbers below this magnitude does not overflow.
const LARGE: F = 4.0 / F::EPSILON;

/// Intermediate results shared by the inverse sine and cosine.
struct Arc {
    /// Real part of the inverse sine of `|x| + i |y|`, the number reflected into the first quadrant.
    sine: F,
    /// Real part of the inverse cosine of the same reflected number.
    cosine: F,
    /// The imaginary part of both results, without its sign.
    height: F,
}

/// Computes the intermediate results for the reflected number `x + i y`, with `x, y >= 0`.
#[inline(always)]
fn arc(x: F, y: F) -> Arc {
    if x.max(y) > LARGE {
        // the parts are halved, because |x| may overflow
        let height = log(hypot(0.5 * x, 0.5 * y)) + 2.0 * LN_2;
        return Arc { sine: atan2(x, y), cosine: atan2(y, x), height };
    }
    // compute the distances of the point from 1 and -1; their mean, which is the semi-major axis of the ellipse through
    // the point with foci 1 and -1; and the sine of the point's angle on this ellipse
    let (right, left) = (hypot(x - 1.0, y), hypot(x + 1.0, y));
    let axis = 0.5 * (left + right);
    let ratio = x / axis;
    // left - (x + 1) and right - |x - 1|, computed without cancellation
    let left_over = y * y / (left + (x + 1.0));
    let right_over = if y == 0.0 { 0.0 } else { y * y / (right + (x - 1.0).abs()) };

    // twice (axis - 1), which may be subnormal
    let beyond = left_over + if x < 1.0 { right_over } else { right + (x - 1.0) };
    let height = if (x < 1.0) & (y < F::EPSILON * (1.0 - x)) {
        // this formula avoids y^2, which may underflow
        y / ((1.0 - x) * (1.0 + x)).sqrt()
    } else if axis > 1.5 {
        log(axis + ((axis - 1.0) * (axis + 1.0)).sqrt())
    } else {
        log1p(0.5 * beyond + (beyond * (0.5 * (axis + 1.0))).sqrt())
    };

    // sqrt(axis^2 - x^2), which is the axis times the cosine of the point's angle on the ellipse
    let cross = if x <= 1.0 {
        (0.5 * (axis + x) * (left_over + (right + (1.0 - x)))).sqrt()
    } else {
        y * (0.5 * ((axis + x) / (left + (x + 1.0)) + (axis + x) / (right + (x - 1.0)))).sqrt()
    };
    if ratio < 0.6417 {
        Arc { sine: arc_sine(ratio), cosine: arc_cosine(ratio), height }
    } else {
        Arc { sine: atan2(x, cross), cosine: atan2(cross, x), height }
    }
}

/// Inverse sine.
#[inline(always)]
pub fn asin(x: C) -> C {
    if x.re.is_nan() | x.im.is_nan() {
        let re = if x.re == 0.0 { x.re } else { F::NAN };
        let infinite = x.re.is_infinite() | x.im.is_infinite();
        return C::new(re, if infinite { F::INFINITY.copysign(x.im) } else { F::NAN });
    }
    let arc = arc(x.re.abs(), x.im.abs());
    C::new(arc.sine.copysign(x.re), arc.height.copysign(x.im))
}

/// Inverse cosine.
#[inline(always)]
pub fn acos(x: C) -> C {
    if x.re.is_nan() | x.im.is_nan() {
        let re = if x.re == 0.0 { FRAC_PI_2 } else { F::NAN };
        let infinite = x.re.is_infinite() | x.im.is_infinite();
        return C::new(re, if infinite { F::INFINITY.copysign(-x.im) } else { F::NAN });
    }
    let arc = arc(x.re.abs(), x.im.abs());
    let re = if x.re.is_sign_negative() { PI - (arc.cosine - PI_LOW) } else { arc.cosine };
    C::new(re, arc.height.copysign(-x.im))
}

/// Inverse hyperbolic sine.
#[inline(always)]
pub fn asinh(x: C) -> C {
    turn_back(asin(turn(x)))
}

/// Inverse hyperbolic cosine.
#[inline(always)]
pub fn acosh(x: C) -> C {
    let arc = acos(x);
    // the result is `i acos(x)` or `-i acos(x)`, whichever has a real part >= 0
    C::new(arc.im.abs(), if arc.re.is_nan() { arc.re } else { arc.re.copysign(x.im) })
}

/// Inverse hyperbolic tangent.
#[inline(always)]
pub fn atanh(x: C) -> C {
    let (size, height) = (x.re.abs(), x.im.abs());
    if size.is_nan() | height.is_nan() {
        let re = if x.re == 0.0 { x.re } else { F::NAN };
        let re = if size.is_infinite() | height.is_infinite() { F::copysign(0.0, x.re) } else { re };
        let im = if height.is_infinite() { FRAC_PI_2.copysign(x.im) } else { F::NAN };
        return C::new(re, im);
    }
    if size.max(height) > LARGE {
        // for large |x|, the result is 1 / x plus a quarter turn
        let re = if size.is_infinite() | height.is_infinite() {
            0.0
        } else {
            div(C::new(1.0, 0.0), C::new(size, height)).re
        };
        return C::new(re.copysign(x.re), FRAC_PI_2.copysign(x.im));
    }
    let below = 1.0 - size;
    let re = if (size == 1.0) & (height < F::EPSILON) {
        // this formula avoids height^2, which may underflow
        0.5 * (LN_2 - log(height))
    } else {
        0.25 * log1p(4.0 * size / below.mul_add(below, height * height))
    };
    let im = 0.5 * atan2(2.0 * height, height.mul_add(-height, below * (1.0 + size)));
    C::new(re.copysign(x.re), im.copysign(x.im))
}

/// Inverse tangent.
#[inline(always)]
pub fn atan(x: C) -> C {
    turn_back(atanh(turn(x)))
}
