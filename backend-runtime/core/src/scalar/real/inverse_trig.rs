//! `asin`, `acos`, `atan` and `atan2`.

use super::F;
use super::constants::{
    ANGLE_DOWN, ANGLE_HUGE, ANGLE_TINY, ANGLE_UP, ASIN, ATAN, ATAN_1_2, ATAN_1_2_LOW, ATAN_3_2, ATAN_3_2_LOW,
    ATAN_NEXT, FRAC_PI_2, FRAC_PI_4, PI, PI_LOW, THIRD, THIRD_LOW,
};
use super::exact::{Wide, polynomial, product, quotient, sum_ordered, wide_product, wide_sum};

/// Inverse sine; NaN for magnitudes above 1. Within 2 ulp.
#[inline(always)]
pub fn asin(x: F) -> F {
    let size = x.abs();
    // asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2))
    let large = size > 0.5;
    let z = if large { (1.0 - size) * 0.5 } else { size * size };
    let root = if large { z.sqrt() } else { size };
    let series = root * (z * polynomial(z, &ASIN));
    let (high, lost) = sum_ordered(FRAC_PI_2, -2.0 * root);
    let near_one = high + (lost + series.mul_add(-2.0, 0.5 * PI_LOW));
    (if large { near_one } else { root + series }).copysign(x)
}

/// Inverse cosine; NaN for magnitudes above 1. Within 2 ulp.
#[inline(always)]
pub fn acos(x: F) -> F {
    let size = x.abs();
    let large = size > 0.5;
    let z = if large { (1.0 - size) * 0.5 } else { size * size };
    let twice = (2.0 * z.sqrt()).copysign(x);
    let term = if large { twice } else { -x };
    let far = if x < 0.0 { 1.0 } else { 0.0 };
    let halves = if large { far } else { 0.5 };
    let (high, lost) = sum_ordered(halves * PI, term);
    high + (lost + term.mul_add(z * polynomial(z, &ASIN), halves * PI_LOW))
}

/// Inverse tangent. Within 1 ulp.
#[inline(always)]
pub fn atan(x: F) -> F {
    let angle = angle(x.abs(), 1.0);
    let (high, lost) = sum_ordered(angle.base, angle.term);
    (high + (lost + angle.low)).copysign(x)
}

/// Computes the angle of the point with the coordinates `x` and `y`. Within 2 ulp.
#[inline(always)]
pub fn atan2(y: F, x: F) -> F {
    // if one coordinate is infinite, a finite one counts as 0; if both are infinite, they count as equal
    let infinite = x.is_infinite() | y.is_infinite();
    let width = if infinite { x.is_infinite() as u8 as F } else { x.abs() };
    let height = if infinite { y.is_infinite() as u8 as F } else { y.abs() };
    // both coordinates are scaled away from the ends of the range, where products overflow or lose bits
    let larger = if width > height { width } else { height };
    let scale = if larger > ANGLE_HUGE { ANGLE_DOWN } else { 1.0 };
    let scale = if larger < ANGLE_TINY { ANGLE_UP } else { scale };
    let angle = angle(height * scale, width * scale);
    let left = x.is_sign_negative();
    // in the left half plane, the angle is pi minus the angle of the reflected point
    let (start, start_lost) = sum_ordered(if left { PI } else { 0.0 }, if left { -angle.base } else { angle.base });
    let (high, lost) = sum_ordered(start, if left { -angle.term } else { angle.term });
    let low = if left { PI_LOW - angle.low } else { angle.low };
    let value = (high + (lost + (start_lost + low))).copysign(y);
    // if one coordinate is infinite and the other is NaN, the code above counted the NaN as 0
    if x.is_nan() | y.is_nan() { F::NAN } else { value }
}

/// Computes the angle of a point in the first quadrant, as a sum of two floats. Squares of the coordinates must not
/// overflow or underflow. The relative error is a small multiple of the square of a float's relative rounding error.
#[inline(always)]
pub(super) fn wide_angle(y: F, x: F) -> Wide {
    let Nearest { tangent, base, base_low, steep } = nearest(y, x);
    // (y - tangent x) / (x + tangent y)
    let (up, right) = if steep { (-x, y) } else { (y, x) };
    let across = if steep { (0.0, 0.0) } else { product(tangent, x) };
    let along = if steep { (0.0, 0.0) } else { product(tangent, y) };
    let (above, below) = (wide_sum((up, 0.0), (-across.0, -across.1)), wide_sum((right, 0.0), along));
    let (term, term_low) = quotient(above.0, above.1, below.0, below.1);
    // term + term^3 (-1/3 + term^2 (..))
    let term = sum_ordered(term, term_low);
    let square = wide_product(term, term);
    let factor = wide_sum((-THIRD, -THIRD_LOW), (square.0 * polynomial(square.0, &ATAN_NEXT), 0.0));
    let series = wide_product(wide_product(term, square), factor);
    wide_sum((base, base_low), wide_sum(term, series))
}

/// The angle `base + term + low`, where `base` is 0 or exceeds `|term|`.
struct Angle {
    base: F,
    term: F,
    low: F,
}

/// Computes the angle of a point in the first quadrant, relative to the nearest of atan(0), atan(1/2), atan(1),
/// atan(3/2) and pi/2.
#[inline(always)]
fn angle(y: F, x: F) -> Angle {
    let Nearest { tangent, base, base_low, steep } = nearest(y, x);
    let above = if steep { -x } else { x.mul_add(-tangent, y) };
    let below = if steep { y } else { y.mul_add(tangent, x) };
    let term = above / if below == 0.0 { 1.0 } else { below };
    let z = term * term;
    Angle { base, term, low: term.mul_add(z * polynomial(z, &ATAN), base_low) }
}

/// The nearest of the angles atan(0), atan(1/2), atan(1), atan(3/2) and pi/2 to the angle of a point: its tangent, the
/// angle as a sum of two floats, and `steep`, which is true for pi/2.
struct Nearest {
    tangent: F,
    base: F,
    base_low: F,
    steep: bool,
}

#[inline(always)]
fn nearest(y: F, x: F) -> Nearest {
    let nearest = (0.0, 0.0, 0.0);
    let nearest = if y > 0.4375 * x { (0.5, ATAN_1_2, ATAN_1_2_LOW) } else { nearest };
    let nearest = if y > 0.6875 * x { (1.0, FRAC_PI_4, 0.25 * PI_LOW) } else { nearest };
    let nearest = if y > 1.1875 * x { (1.5, ATAN_3_2, ATAN_3_2_LOW) } else { nearest };
    let steep = y > 2.4375 * x;
    let (tangent, base, base_low) = if steep { (0.0, FRAC_PI_2, 0.5 * PI_LOW) } else { nearest };
    Nearest { tangent, base, base_low, steep }
}
