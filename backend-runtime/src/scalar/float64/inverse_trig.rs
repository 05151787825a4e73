//! `asin`, `acos`, `atan` and `atan2`.

use super::exact::{polynomial, sum_ordered};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// What `PI` lacks to pi.
const PI_LOW: f64 = 1.2246467991473532e-16;

/// `(asin(x) - x) / x^3` by powers of `x^2`, for `|x| <= 1/2`.
const ASIN: [f64; 12] = [
    0.1666666666666538,
    0.07500000000343975,
    0.04464285682249282,
    0.03038195937885165,
    0.02237175225297295,
    0.017359791861730103,
    0.013884380170563974,
    0.012174787711134701,
    0.00650404549261442,
    0.019593227311483757,
    -0.01632536695933329,
    0.03198102335197102,
];

/// `(atan(t) - t) / t^3` by powers of `t^2`, for `|t| <= 7/16`.
const ATAN: [f64; 11] = [
    -0.33333333333332926,
    0.1999999999987511,
    -0.14285714272380645,
    0.11111110399932861,
    -0.09090886989387852,
    0.0769187387781063,
    -0.06661049088997052,
    0.0583341104389975,
    -0.04976226445840713,
    0.03651653359717731,
    -0.016270866147308848,
];

/// Inverse sine; NaN beyond 1. Within 2 ulp.
#[inline(always)]
pub fn asin(x: f64) -> f64 {
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

/// Inverse cosine; NaN beyond 1. Within 2 ulp.
#[inline(always)]
pub fn acos(x: f64) -> f64 {
    let size = x.abs();
    let large = size > 0.5;
    let z = if large { (1.0 - size) * 0.5 } else { size * size };
    let twice = 2.0f64.copysign(x) * z.sqrt();
    let term = if large { twice } else { -x };
    let far = if x < 0.0 { 1.0 } else { 0.0 };
    let halves = if large { far } else { 0.5 };
    let (high, lost) = sum_ordered(halves * PI, term);
    high + (lost + term.mul_add(z * polynomial(z, &ASIN), halves * PI_LOW))
}

/// Inverse tangent. Within 1 ulp.
#[inline(always)]
pub fn atan(x: f64) -> f64 {
    let angle = angle(x.abs(), 1.0);
    let (high, lost) = sum_ordered(angle.base, angle.term);
    (high + (lost + angle.low)).copysign(x)
}

/// Angle of the point (x = `x`, y = `y`). Within 2 ulp.
#[inline(always)]
pub fn atan2(y: f64, x: f64) -> f64 {
    // beside an infinity a finite number counts as 0, two infinities as equal
    let infinite = x.is_infinite() | y.is_infinite();
    let width = if infinite { x.is_infinite() as u8 as f64 } else { x.abs() };
    let height = if infinite { y.is_infinite() as u8 as f64 } else { y.abs() };
    // away from both ends of the range, where products of them overflow or lose bits
    let larger = if width > height { width } else { height };
    let (down, up) = (f64::from_bits((1023 - 100) << 52), f64::from_bits((1023 + 100) << 52));
    let scale = if larger > 1e300 { down } else { 1.0 };
    let scale = if larger < 1e-270 { up } else { scale };
    let angle = angle(height * scale, width * scale);
    let left = x.is_sign_negative();
    // pi - angle on the left
    let (start, start_lost) = sum_ordered(if left { PI } else { 0.0 }, if left { -angle.base } else { angle.base });
    let (high, lost) = sum_ordered(start, if left { -angle.term } else { angle.term });
    let low = if left { PI_LOW - angle.low } else { angle.low };
    let value = (high + (lost + (start_lost + low))).copysign(y);
    // a NaN beside an infinity counted as 0
    if x.is_nan() | y.is_nan() { f64::NAN } else { value }
}

/// The angle `base + term + low`, with `|term|` below `base` or `base` 0.
struct Angle {
    base: f64,
    term: f64,
    low: f64,
}

/// The angle of a point in the first quadrant, by way of the nearest of atan(0), atan(1/2), atan(1), atan(3/2) and pi/2.
#[inline(always)]
fn angle(y: f64, x: f64) -> Angle {
    let nearest = (0.0, 0.0, 0.0);
    let nearest = if y > 0.4375 * x { (0.5, 0.4636476090008061, 2.2698777452961687e-17) } else { nearest };
    let nearest = if y > 0.6875 * x { (1.0, FRAC_PI_4, 0.25 * PI_LOW) } else { nearest };
    let nearest = if y > 1.1875 * x { (1.5, 0.982793723247329, 1.3903311031230998e-17) } else { nearest };
    let steep = y > 2.4375 * x;
    let (tangent, base, low) = if steep { (0.0, FRAC_PI_2, 0.5 * PI_LOW) } else { nearest };
    let above = if steep { -x } else { x.mul_add(-tangent, y) };
    let below = if steep { y } else { y.mul_add(tangent, x) };
    let term = above / if below == 0.0 { 1.0 } else { below };
    let z = term * term;
    Angle { base, term, low: term.mul_add(z * polynomial(z, &ATAN), low) }
}
