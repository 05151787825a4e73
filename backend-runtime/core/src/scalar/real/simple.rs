//! Functions that need only the standard library or a comparison.

use super::F;

macro_rules! std_words {
    ($($word:ident = $std:ident),*) => {$(
        #[doc = concat!("`", stringify!($std), "` of the standard library.")]
        #[inline(always)]
        pub fn $word(x: F) -> F {
            x.$std()
        }
    )*};
}
std_words!(abs = abs, ceil = ceil, floor = floor, trunc = trunc, round = round_ties_even, sqrt = sqrt);

macro_rules! operators {
    ($($word:ident = $op:tt),*) => {$(
        #[doc = concat!("`x ", stringify!($op), " y`")]
        #[inline(always)]
        pub fn $word(x: F, y: F) -> F {
            x $op y
        }
    )*};
}
operators!(plus = +, minus = -, times = *, divide = /);

/// Converts an integer to the nearest value.
#[inline(always)]
pub fn from_i64(x: i64) -> F {
    x as F
}

/// Converts an unsigned integer to the nearest value.
#[inline(always)]
pub fn from_u64(x: u64) -> F {
    x as F
}

/// The larger number; NaN if either is NaN; `y` if both are zero.
#[inline(always)]
pub fn maximum(x: F, y: F) -> F {
    if (x > y) | x.is_nan() { x } else { y }
}

/// The smaller number; NaN if either is NaN; `y` if both are zero.
#[inline(always)]
pub fn minimum(x: F, y: F) -> F {
    if (x < y) | x.is_nan() { x } else { y }
}

/// -1, 0 or 1; NaN for NaN.
#[inline(always)]
pub fn sign(x: F) -> F {
    // an integer difference is never -0, so that -0 gives +0
    let sign = (x > 0.0) as i8 - (x < 0.0) as i8;
    if x.is_nan() { x } else { sign as F }
}

/// Returns the nearest representable value after `x` in the direction of `y`.
#[inline(always)]
pub fn nextafter(x: F, y: F) -> F {
    let next = if y > x { x.next_up() } else { x.next_down() };
    let next = if x == y { y } else { next };
    if x.is_nan() | y.is_nan() { F::NAN } else { next }
}
