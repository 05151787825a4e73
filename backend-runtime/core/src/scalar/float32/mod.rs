//! Scalar functions of `f32`: the formulas in the folder `real`, compiled with the constants of this precision.

/// Float type of this module.
type F = f32;
/// Unsigned integer with the bits of `F`.
type Bits = u32;
/// Number of bits of a mantissa, without the leading one.
const MANTISSA: u32 = F::MANTISSA_DIGITS - 1;
/// The bias of the exponent in the bits of a float.
const BIAS: Bits = F::MAX_EXP as Bits - 1;

#[path = "../real/bessel.rs"]
mod bessel;
#[path = "../real/complex/mod.rs"]
pub mod complex;
mod constants;
#[path = "../real/division.rs"]
mod division;
#[path = "../real/error_function.rs"]
mod error_function;
#[path = "../real/exact.rs"]
mod exact;
#[path = "../real/exp.rs"]
mod exp;
#[path = "../real/gamma.rs"]
mod gamma;
#[path = "../real/hyperbolic.rs"]
mod hyperbolic;
#[path = "../real/inverse_error.rs"]
mod inverse_error;
#[path = "../real/inverse_trig.rs"]
mod inverse_trig;
#[path = "../real/log.rs"]
mod log;
#[path = "../real/power.rs"]
mod power;
#[path = "../real/simple.rs"]
mod simple;
mod special;
#[path = "../real/trig.rs"]
mod trig;

pub use bessel::{i0, i0e, i1, i1e, j0, j1};
pub use division::{floor_divide, fmod, remainder};
pub use error_function::{erf, erfc};
pub use exp::{exp, exp2, expm1};
pub use gamma::{digamma, gamma, lgamma};
pub use hyperbolic::{acosh, asinh, atanh, cosh, sinh, tanh};
pub use inverse_error::{erfcinv, erfinv};
pub use inverse_trig::{acos, asin, atan, atan2};
pub use log::{is_positive_normal, log, log1p, log2, log10, logaddexp, logit};
pub use power::{cbrt, hypot, pow};
pub use simple::{
    abs, ceil, divide, floor, from_i64, from_u64, maximum, minimum, minus, nextafter, plus, round, sign, sqrt, times,
    trunc,
};
pub use trig::{cos, cos_near, is_large, needs_range_reduction, sin, sin_near, tan, tan_near};

macro_rules! by_float64 {
    ($($word:ident)*) => {$(
        #[doc = concat!("`", stringify!($word), "` in `f64`, rounded once.")]
        #[inline(always)]
        pub fn $word(x: F, y: F) -> F {
            super::float64::$word(x as f64, y as f64) as F
        }
    )*};
}
by_float64!(beta betaln gammainc gammaincc);
