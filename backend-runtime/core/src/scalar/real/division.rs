//! `floor_divide`, `remainder` and `fmod` of real numbers.

use super::F;

/// `x % y`, which is exact. Calls `long_remainder` only if the quotient has more bits than a mantissa.
#[inline(always)]
fn truncated_remainder(x: F, y: F) -> F {
    let quotient = (x / y).trunc();
    if !((quotient.abs() < 1.0 / F::EPSILON) & (y.abs() < F::INFINITY)) {
        return long_remainder(x, y);
    }
    // the result is exact, because it is a multiple of the last bits of both numbers and less than y in magnitude
    let rest = quotient.mul_add(-y, x);
    // the division may have rounded up to an integer
    if (rest < 0.0) & (x > 0.0) | (rest > 0.0) & (x < 0.0) { rest + y.abs().copysign(x) } else { rest }
}

#[cold]
#[inline(never)]
fn long_remainder(x: F, y: F) -> F {
    x % y
}

/// The remainder with the sign of `x`. A zero result has the sign of `x` too.
#[inline(always)]
pub fn fmod(x: F, y: F) -> F {
    let rest = truncated_remainder(x, y);
    if rest == 0.0 { F::copysign(0.0, x) } else { rest }
}

/// The floored quotient, as in NumPy. It is computed from the exact remainder, so that quotient and remainder are
/// consistent.
#[inline(always)]
pub fn floor_divide(x: F, y: F) -> F {
    let rest = truncated_remainder(x, y);
    let quotient = (x - rest) / y;
    let quotient = if (rest != 0.0) & ((rest < 0.0) != (y < 0.0)) { quotient - 1.0 } else { quotient };
    let floor = quotient.floor();
    let nearest = if quotient - floor > 0.5 { floor + 1.0 } else { floor };
    let value = if quotient == 0.0 { F::copysign(0.0, x / y) } else { nearest };
    if y == 0.0 { x / y } else { value }
}

/// The remainder with the sign of `y`. A zero result has the sign of `y` too.
#[inline(always)]
pub fn remainder(x: F, y: F) -> F {
    let rest = truncated_remainder(x, y);
    let value = if (rest < 0.0) != (y < 0.0) { rest + y } else { rest };
    if rest == 0.0 { F::copysign(0.0, y) } else { value }
}
