//! `sin`, `cos` and `tan`.
//!
//! The remainder modulo pi/2 is computed with pi/2 as a sum of three floats, which is accurate enough for magnitudes up
//! to `FAR`. Larger numbers leave the loop for a reduction in integer arithmetic. A loop vectorises if the compiler can
//! tell that its arguments are below `FAR`: see [`needs_range_reduction`].

// one source serves both precisions, so a cast may do nothing for one of them
#![allow(clippy::unnecessary_cast)]

use super::constants::{COS, FAR, FRAC_2_PI, FRAC_PI_2, FRAC_PI_2_LOW, FRAC_PI_2_LOWEST, PI, PI_LOW, ROUNDER, SIN};
use super::exact::{Wide, polynomial, product, quotient, sum, sum_ordered};
use super::{Bits, F};
use crate::scalar::float64;

/// Returns whether `sin`, `cos` and `tan` of `x` call the slow range reduction; false for infinity and NaN.
///
/// A loop of these functions vectorises if it has checked `!needs_range_reduction(x)` for a block, and states this by
/// [`assert_unchecked`](std::hint::assert_unchecked).
#[inline(always)]
pub fn needs_range_reduction(x: F) -> bool {
    (x.abs() >= FAR) & (x.abs() < F::INFINITY)
}

/// Returns whether `x` [needs a reduction of its range](needs_range_reduction), or is infinite or NaN.
#[inline(always)]
#[allow(clippy::neg_cmp_op_on_partial_ord)] // the negated comparison is true for NaN
pub fn is_large(x: F) -> bool {
    !(x.abs() < FAR)
}

/// The number `x`, split into a number of quarter turns and a remainder `high + low` in about [-pi/4, pi/4].
pub(super) struct Turned {
    quarters: Bits,
    high: F,
    low: F,
}

/// Removes the quarter turns from an `x` whose magnitude is below `FAR`.
#[inline(always)]
pub(super) fn turn(x: F) -> Turned {
    let rounded = x.mul_add(FRAC_2_PI, ROUNDER);
    let n = rounded - ROUNDER;
    // the result is exact, because it is a multiple of the last bit of FRAC_PI_2, and below 2
    let near = n.mul_add(-FRAC_PI_2, x);
    let next = n * -FRAC_PI_2_LOW;
    let next_lost = n.mul_add(-FRAC_PI_2_LOW, -next);
    let (high, lost) = sum_ordered(near, next);
    let low = n.mul_add(-FRAC_PI_2_LOWEST, lost + next_lost);
    Turned { quarters: rounded.to_bits(), high, low }
}

impl Turned {
    /// Returns the quarter turns and the remainder of `x + rest`, where `rest` is tiny compared with 1.
    #[inline(always)]
    pub(super) fn plus(self, rest: F) -> Turned {
        let (high, low) = sum(self.high, self.low + rest);
        Turned { high, low, ..self }
    }

    /// Computes the sine of the remainder.
    #[inline(always)]
    fn sin(&self) -> Wide {
        let z = self.high * self.high;
        let series = (z * self.high) * polynomial(z, &SIN);
        (self.high, self.low.mul_add(z.mul_add(-0.5, 1.0), series))
    }

    /// Computes the cosine of the remainder.
    #[inline(always)]
    fn cos(&self) -> Wide {
        let z = self.high * self.high;
        let near = z.mul_add(-0.5, 1.0);
        let lost = z.mul_add(-0.5, 1.0 - near);
        let series = (z * z) * polynomial(z, &COS);
        (near, lost + self.high.mul_add(-self.low, series))
    }

    /// Computes the sine and the cosine of the remainder, swapped after an odd number of quarter turns.
    #[inline(always)]
    fn both(&self, quarters: Bits) -> (Wide, Wide) {
        let (sin, cos) = (self.sin(), self.cos());
        if quarters & 1 == 0 { (sin, cos) } else { (cos, sin) }
    }

    /// Computes the sine of the angle plus `more` quarter turns.
    #[inline(always)]
    pub(super) fn sin_after(&self, more: Bits) -> F {
        let quarters = self.quarters.wrapping_add(more);
        let ((high, low), _) = self.both(quarters);
        let value = high + low;
        F::from_bits(value.to_bits() ^ ((quarters & 2) << (Bits::BITS - 2)))
    }

    #[inline(always)]
    fn tan(&self) -> F {
        let (above, below) = self.both(self.quarters);
        let (above, below) = (sum_ordered(above.0, above.1), sum_ordered(below.0, below.1));
        let (ratio, rest) = quotient(above.0, above.1, below.0, below.1);
        F::from_bits((ratio + rest).to_bits() ^ (self.quarters << (Bits::BITS - 1)))
    }
}

/// Removes the quarter turns from any finite `x`.
#[inline(always)]
fn turn_any(x: F) -> Turned {
    if !needs_range_reduction(x) {
        return turn(x);
    }
    let (quarters, high, low) = float64::far::turns(x as f64);
    let rest = (high - high as F as f64) + low;
    Turned { quarters: quarters as Bits, high: high as F, low: rest as F }
}

/// Defines sine, cosine and tangent. `$turn` is the function that removes the quarter turns.
macro_rules! words {
    ($turn:ident: $sin:ident $cos:ident $tan:ident $note:literal) => {
        #[doc = concat!("Sine", $note, ". Within 1 ulp.")]
        #[inline(always)]
        pub fn $sin(x: F) -> F {
            let value = $turn(x).sin_after(0);
            // -0 gives -0, although its remainder is +0
            if x == 0.0 { x } else { value }
        }

        #[doc = concat!("Cosine", $note, ". Within 1 ulp.")]
        #[inline(always)]
        pub fn $cos(x: F) -> F {
            $turn(x).sin_after(1)
        }

        #[doc = concat!("Tangent", $note, ". Within 2 ulp.")]
        #[inline(always)]
        pub fn $tan(x: F) -> F {
            let value = $turn(x).tan();
            if x == 0.0 { x } else { value }
        }
    };
}
words!(turn_any: sin cos tan "");
words!(turn: sin_near cos_near tan_near " of a number that is not far");

/// Computes the sine and the cosine.
#[inline(always)]
pub(super) fn sin_cos(x: F) -> (F, F) {
    let turned = turn_any(x);
    (turned.sin_after(0), turned.sin_after(1))
}

/// Returns the quarter turns and the remainder of `pi x`, for any finite `x >= 0`.
#[inline(always)]
fn turn_pi(x: F) -> Turned {
    // removes whole turns without rounding
    let x = x - 2.0 * (0.5 * x).floor();
    let rounded = 2.0 * x + ROUNDER;
    let rest = x - 0.5 * (rounded - ROUNDER);
    let (high, lost) = product(rest, PI);
    Turned { quarters: rounded.to_bits(), high, low: rest.mul_add(PI_LOW, lost) }
}

/// `sin(pi x)` for `x >= 0`, which is exactly 0 for integers. Within 1 ulp.
#[inline(always)]
pub(super) fn sin_pi(x: F) -> F {
    turn_pi(x).sin_after(0)
}

/// `cos(pi x) / sin(pi x)` for an `x >= 0` that is not an integer. Within 2 ulp.
#[inline(always)]
pub(super) fn cot_pi(x: F) -> F {
    let turned = turn_pi(x);
    let (below, above) = turned.both(turned.quarters);
    let (above, below) = (sum_ordered(above.0, above.1), sum_ordered(below.0, below.1));
    let (ratio, rest) = quotient(above.0, above.1, below.0, below.1);
    F::from_bits((ratio + rest).to_bits() ^ (turned.quarters << (Bits::BITS - 1)))
}
