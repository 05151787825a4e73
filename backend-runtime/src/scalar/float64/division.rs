//! `floor_divide` and `remainder`.

/// NumPy's floored quotient: computed from the exact remainder, so that it fits it.
#[inline(always)]
pub fn floor_divide(x: f64, y: f64) -> f64 {
    if y == 0.0 {
        return x / y;
    }
    let r = x % y;
    let q = (x - r) / y;
    let q = if r != 0.0 && (r < 0.0) != (y < 0.0) { q - 1.0 } else { q };
    if q == 0.0 {
        return (0.0 as f64).copysign(x / y);
    }
    let floor = q.floor();
    if q - floor > 0.5 { floor + 1.0 } else { floor }
}

/// The remainder with the sign of `y`; zero has the sign of `y` too.
#[inline(always)]
pub fn remainder(x: f64, y: f64) -> f64 {
    let r = x % y;
    if r == 0.0 {
        (0.0 as f64).copysign(y)
    } else if (r < 0.0) != (y < 0.0) {
        r + y
    } else {
        r
    }
}
