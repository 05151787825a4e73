//! `sin`, `cos` and `tan`.
//!
//! The remainder by pi/2 is taken with pi/2 in three words, which is enough up to [`FAR`]; what lies beyond leaves the
//! loop for the standard library. A loop vectorises where the compiler can tell that its arguments are not far: see
//! [`is_far`].

use super::exact::{polynomial, sum_ordered};
use super::exp::ROUNDER;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// Magnitude from which [`is_far`] holds.
pub const FAR: f64 = 1073741824.0;

/// pi/2 less `FRAC_PI_2`, and less that.
const FRAC_PI_2_LOW: f64 = 6.123233995736766e-17;
const FRAC_PI_2_LOWEST: f64 = -1.4973849048591698e-33;

/// `(sin(r) - r) / r^3` by powers of `r^2`, for `|r| <= pi/4`.
const SIN: [f64; 6] = [
    -0.16666666666666627,
    0.008333333333321076,
    -0.00019841269828696777,
    2.7557313294459253e-06,
    -2.5050694229120158e-08,
    1.5893007411538926e-10,
];

/// `(cos(r) - 1 + r^2 / 2) / r^4` by powers of `r^2`, for `|r| <= pi/4`.
const COS: [f64; 6] = [
    0.04166666666666659,
    -0.0013888888888872056,
    2.4801587288144594e-05,
    -2.7557313954176855e-07,
    2.0875667739536983e-09,
    -1.1356707409556057e-11,
];

/// Whether `sin`, `cos` and `tan` of `x` take the slow way, a call. NaN does not.
///
/// A loop around them vectorises if it has made sure of `!is_far(x)` for a block, and said so by
/// [`assert_unchecked`](std::hint::assert_unchecked).
#[inline(always)]
pub fn is_far(x: f64) -> bool {
    x.abs() >= FAR
}

/// `x` as a number of quarter turns and a remainder `high + low` in about [-pi/4, pi/4].
struct Turned {
    quarters: u64,
    high: f64,
    low: f64,
}

/// Takes the quarter turns off an `x` that is not far.
#[inline(always)]
fn turn(x: f64) -> Turned {
    let rounded = x.mul_add(FRAC_2_PI, ROUNDER);
    let n = rounded - ROUNDER;
    // exact: a multiple of the last bit of FRAC_PI_2, and below 2
    let near = n.mul_add(-FRAC_PI_2, x);
    let next = n * -FRAC_PI_2_LOW;
    let next_lost = n.mul_add(-FRAC_PI_2_LOW, -next);
    let (high, lost) = sum_ordered(near, next);
    let low = n.mul_add(-FRAC_PI_2_LOWEST, lost + next_lost);
    Turned { quarters: rounded.to_bits(), high, low }
}

impl Turned {
    #[inline(always)]
    fn sin(&self) -> f64 {
        let z = self.high * self.high;
        let series = (z * self.high) * polynomial(z, &SIN);
        self.high + self.low.mul_add(z.mul_add(-0.5, 1.0), series)
    }

    #[inline(always)]
    fn cos(&self) -> f64 {
        let z = self.high * self.high;
        let near = z.mul_add(-0.5, 1.0);
        let lost = z.mul_add(-0.5, 1.0 - near);
        let series = (z * z) * polynomial(z, &COS);
        near + (lost + self.high.mul_add(-self.low, series))
    }

    /// The sine after `more` quarter turns.
    #[inline(always)]
    fn sin_after(&self, more: u64) -> f64 {
        let quarters = self.quarters.wrapping_add(more);
        let value = if quarters & 1 == 0 { self.sin() } else { self.cos() };
        f64::from_bits(value.to_bits() ^ ((quarters & 2) << 62))
    }
}

/// Sine. Within 1 ulp.
#[inline(always)]
pub fn sin(x: f64) -> f64 {
    if is_far(x) {
        return far_sin(x);
    }
    let value = turn(x).sin_after(0);
    // -0 stays: its remainder is +0
    if x == 0.0 { x } else { value }
}

/// Cosine. Within 1 ulp.
#[inline(always)]
pub fn cos(x: f64) -> f64 {
    if is_far(x) {
        return far_cos(x);
    }
    turn(x).sin_after(1)
}

/// Tangent. Within 2 ulp.
#[inline(always)]
pub fn tan(x: f64) -> f64 {
    if is_far(x) {
        return far_tan(x);
    }
    let turned = turn(x);
    let (sin, cos) = (turned.sin(), turned.cos());
    let odd = turned.quarters & 1 == 1;
    let value = if odd { -cos } else { sin } / if odd { sin } else { cos };
    if x == 0.0 { x } else { value }
}

#[cold]
#[inline(never)]
fn far_sin(x: f64) -> f64 {
    x.sin()
}

#[cold]
#[inline(never)]
fn far_cos(x: f64) -> f64 {
    x.cos()
}

#[cold]
#[inline(never)]
fn far_tan(x: f64) -> f64 {
    x.tan()
}
