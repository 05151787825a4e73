//! Words of `f64`.

macro_rules! std_words {
    ($($word:ident = $std:ident),*) => {$(
        #[doc = concat!("`f64::", stringify!($std), "`.")]
        #[inline(always)]
        pub fn $word(x: f64) -> f64 {
            x.$std()
        }
    )*};
}
std_words!(
    abs = abs, ceil = ceil, floor = floor, trunc = trunc, round = round_ties_even, sqrt = sqrt,
    exp = exp, expm1 = exp_m1, log = ln, log2 = log2, log10 = log10, log1p = ln_1p,
    sin = sin, cos = cos, tan = tan, asin = asin, acos = acos, atan = atan,
    sinh = sinh, cosh = cosh, tanh = tanh, asinh = asinh, acosh = acosh, atanh = atanh
);

/// The nearest value of an integer.
#[inline(always)]
pub fn from_i64(x: i64) -> f64 {
    x as f64
}

/// The nearest value of an unsigned integer.
#[inline(always)]
pub fn from_u64(x: u64) -> f64 {
    x as f64
}

/// The larger; NaN if either is NaN.
#[inline(always)]
pub fn maximum(x: f64, y: f64) -> f64 {
    if x >= y || x.is_nan() { x } else { y }
}

/// The smaller; NaN if either is NaN.
#[inline(always)]
pub fn minimum(x: f64, y: f64) -> f64 {
    if x <= y || x.is_nan() { x } else { y }
}

/// -1, 0 or 1 with NaN kept.
#[inline(always)]
pub fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else if x == 0.0 {
        0.0
    } else {
        x
    }
}

/// `x` to the power of `y`, with the special cases of C99.
#[inline(always)]
pub fn pow(x: f64, y: f64) -> f64 {
    x.powf(y)
}

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

/// Angle of the point (x = `x`, y = `y`).
#[inline(always)]
pub fn atan2(y: f64, x: f64) -> f64 {
    y.atan2(x)
}

/// `sqrt(x^2 + y^2)` without overflow between.
#[inline(always)]
pub fn hypot(x: f64, y: f64) -> f64 {
    x.hypot(y)
}

/// The next value from `x` toward `y`.
#[inline(always)]
pub fn nextafter(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if x == y {
        y
    } else if y > x {
        x.next_up()
    } else {
        x.next_down()
    }
}

/// `log(exp(x) + exp(y))` without overflow between.
#[inline(always)]
pub fn logaddexp(x: f64, y: f64) -> f64 {
    if x == y {
        return x + std::f64::consts::LN_2;
    }
    maximum(x, y) + log1p(exp(-abs(x - y)))
}

/// Error function.
#[inline(always)]
pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}

/// `1 - erf(x)`, accurate for large x.
#[inline(always)]
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}
