//! `sin`, `cos` and `tan`.
//!
//! The remainder by pi/2 is taken with pi/2 in three words, which is enough up to `FAR`; what lies beyond leaves the
//! loop for the standard library. A loop vectorises where the compiler can tell that its arguments are not far: see
//! [`is_far`].

use super::constants::{
    COS, FAR, FRAC_2_PI, FRAC_PI_2, FRAC_PI_2_LOW, FRAC_PI_2_LOWEST, ROUNDER, SIN,
};
use super::exact::{polynomial, sum_ordered};
use super::{Bits, F};

/// Whether `sin`, `cos` and `tan` of `x` take the slow way, a call: infinity and NaN do not.
///
/// A loop around them vectorises if it has made sure of `!is_far(x)` for a block, and said so by
/// [`assert_unchecked`](std::hint::assert_unchecked).
#[inline(always)]
pub fn is_far(x: F) -> bool {
    (x.abs() >= FAR) & (x.abs() < F::INFINITY)
}

/// `x` as a number of quarter turns and a remainder `high + low` in about [-pi/4, pi/4].
struct Turned {
    quarters: Bits,
    high: F,
    low: F,
}

/// Takes the quarter turns off an `x` that is not far.
#[inline(always)]
fn turn(x: F) -> Turned {
    let rounded = x.mul_add(FRAC_2_PI, ROUNDER);
    let n = rounded - ROUNDER;
    // exact: a multiple of the last bit of FRAC_PI_2, and below 2
    let near = n.mul_add(-FRAC_PI_2, x);
    let next = n * -FRAC_PI_2_LOW;
    let next_lost = n.mul_add(-FRAC_PI_2_LOW, -next);
    let (high, lost) = sum_ordered(near, next);
    let low = n.mul_add(-FRAC_PI_2_LOWEST, lost + next_lost);
    Turned {
        quarters: rounded.to_bits(),
        high,
        low,
    }
}

impl Turned {
    #[inline(always)]
    fn sin(&self) -> F {
        let z = self.high * self.high;
        let series = (z * self.high) * polynomial(z, &SIN);
        self.high + self.low.mul_add(z.mul_add(-0.5, 1.0), series)
    }

    #[inline(always)]
    fn cos(&self) -> F {
        let z = self.high * self.high;
        let near = z.mul_add(-0.5, 1.0);
        let lost = z.mul_add(-0.5, 1.0 - near);
        let series = (z * z) * polynomial(z, &COS);
        near + (lost + self.high.mul_add(-self.low, series))
    }

    /// The sine after `more` quarter turns.
    #[inline(always)]
    fn sin_after(&self, more: Bits) -> F {
        let quarters = self.quarters.wrapping_add(more);
        let value = if quarters & 1 == 0 {
            self.sin()
        } else {
            self.cos()
        };
        F::from_bits(value.to_bits() ^ ((quarters & 2) << (Bits::BITS - 2)))
    }
}

/// Sine. Within 1 ulp.
#[inline(always)]
pub fn sin(x: F) -> F {
    if is_far(x) { far_sin(x) } else { near_sin(x) }
}

/// Sine of an `x` that is not far.
#[inline(always)]
pub fn near_sin(x: F) -> F {
    let value = turn(x).sin_after(0);
    // -0 stays: its remainder is +0
    if x == 0.0 { x } else { value }
}

/// Cosine. Within 1 ulp.
#[inline(always)]
pub fn cos(x: F) -> F {
    if is_far(x) { far_cos(x) } else { near_cos(x) }
}

/// Cosine of an `x` that is not far.
#[inline(always)]
pub fn near_cos(x: F) -> F {
    turn(x).sin_after(1)
}

/// Tangent. Within 2 ulp.
#[inline(always)]
pub fn tan(x: F) -> F {
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
fn far_sin(x: F) -> F {
    x.sin()
}

#[cold]
#[inline(never)]
fn far_cos(x: F) -> F {
    x.cos()
}

#[cold]
#[inline(never)]
fn far_tan(x: F) -> F {
    x.tan()
}
