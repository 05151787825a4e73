//! Scalar functions of complex numbers of one precision. Special values and branch cuts follow C99 and NumPy.

mod arithmetic;
mod exponential;
mod inverse;
mod logarithm;
mod power;

pub use arithmetic::{abs, div, reciprocal, round, sign, sqrt, times};
pub use exponential::{cos, cosh, exp, expm1, sin, sinh, tan, tanh};
pub use inverse::{acos, acosh, asin, asinh, atan, atanh};
pub use logarithm::{log, log1p, log2, log10};
pub use power::pow;

use super::F;

/// Complex type of this precision.
type C = crate::Complex<F>;

/// `i x`, which is `x` after a quarter turn.
#[inline(always)]
fn turn(x: C) -> C {
    C::new(-x.im, x.re)
}

/// `-i x`, which is `x` after a quarter turn backwards.
#[inline(always)]
fn turn_back(x: C) -> C {
    C::new(x.im, -x.re)
}
