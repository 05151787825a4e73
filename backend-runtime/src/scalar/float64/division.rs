//! `floor_divide` and `remainder`.

/// `x % y`, exactly: without the call where the quotient has at most 53 bits.
#[inline(always)]
fn truncated_remainder(x: f64, y: f64) -> f64 {
    let quotient = (x / y).trunc();
    if !((quotient.abs() < 9007199254740992.0) & (y.abs() < f64::INFINITY)) {
        return long_remainder(x, y);
    }
    // exact: a multiple of the last bits of both, and below y in magnitude
    let rest = quotient.mul_add(-y, x);
    // the division may have rounded up to a whole number
    if (rest < 0.0) & (x > 0.0) | (rest > 0.0) & (x < 0.0) { rest + y.abs().copysign(x) } else { rest }
}

#[cold]
#[inline(never)]
fn long_remainder(x: f64, y: f64) -> f64 {
    x % y
}

/// NumPy's floored quotient: computed from the exact remainder, so that it fits it.
#[inline(always)]
pub fn floor_divide(x: f64, y: f64) -> f64 {
    let rest = truncated_remainder(x, y);
    let quotient = (x - rest) / y;
    let quotient = if (rest != 0.0) & ((rest < 0.0) != (y < 0.0)) { quotient - 1.0 } else { quotient };
    let floor = quotient.floor();
    let nearest = if quotient - floor > 0.5 { floor + 1.0 } else { floor };
    let value = if quotient == 0.0 { 0f64.copysign(x / y) } else { nearest };
    if y == 0.0 { x / y } else { value }
}

/// The remainder with the sign of `y`; zero has the sign of `y` too.
#[inline(always)]
pub fn remainder(x: f64, y: f64) -> f64 {
    let rest = truncated_remainder(x, y);
    let value = if (rest < 0.0) != (y < 0.0) { rest + y } else { rest };
    if rest == 0.0 { 0f64.copysign(y) } else { value }
}
