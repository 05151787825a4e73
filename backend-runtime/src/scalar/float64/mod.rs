//! Words of `f64`.
//!
//! The functions are polynomials, selects and arithmetic on bits: a loop around them vectorises inside a function that
//! has AVX2 and FMA (or NEON). They need `mul_add` to round once, which is true everywhere: without FMA in the target it is
//! a call, slower and with the same result.

mod division;
mod error_function;
mod exact;
mod exp;
mod hyperbolic;
mod inverse_trig;
mod log;
mod power;
mod trig;

pub use division::{floor_divide, remainder};
pub use error_function::{erf, erfc};
pub use exp::{exp, expm1};
pub use hyperbolic::{acosh, asinh, atanh, cosh, sinh, tanh};
pub use inverse_trig::{acos, asin, atan, atan2};
pub use log::{log, log1p, log2, log10, logaddexp};
pub use power::{hypot, pow};
pub use trig::{FAR, cos, is_far, sin, tan};

macro_rules! std_words {
    ($($word:ident = $std:ident),*) => {$(
        #[doc = concat!("`f64::", stringify!($std), "`.")]
        #[inline(always)]
        pub fn $word(x: f64) -> f64 {
            x.$std()
        }
    )*};
}
std_words!(abs = abs, ceil = ceil, floor = floor, trunc = trunc, round = round_ties_even, sqrt = sqrt);

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

/// The larger; NaN if either is NaN; the second of two zeros.
#[inline(always)]
pub fn maximum(x: f64, y: f64) -> f64 {
    if (x > y) | x.is_nan() { x } else { y }
}

/// The smaller; NaN if either is NaN; the second of two zeros.
#[inline(always)]
pub fn minimum(x: f64, y: f64) -> f64 {
    if (x < y) | x.is_nan() { x } else { y }
}

/// -1, 0 or 1 with NaN kept.
#[inline(always)]
pub fn sign(x: f64) -> f64 {
    // an integer, for that 0 is +0
    let sign = (x > 0.0) as i8 - (x < 0.0) as i8;
    if x.is_nan() { x } else { sign as f64 }
}

/// The next value from `x` toward `y`.
#[inline(always)]
pub fn nextafter(x: f64, y: f64) -> f64 {
    let next = if y > x { x.next_up() } else { x.next_down() };
    let next = if x == y { y } else { next };
    if x.is_nan() | y.is_nan() { f64::NAN } else { next }
}
