//! Scalar functions of `f64`: the formulas in the folder `real`, compiled with the constants of this precision.

/// Float type of this module.
type F = f64;
/// Unsigned integer with the bits of `F`.
type Bits = u64;
/// Number of bits of a mantissa, without the leading one.
const MANTISSA: u32 = F::MANTISSA_DIGITS - 1;
/// The bias of the exponent in the bits of a float.
const BIAS: Bits = F::MAX_EXP as Bits - 1;

/// Defines functions that are too long to be inlined in every loop. Each function is also compiled for AVX2 and FMA,
/// and this version is called if the processor supports both. Without FMA, each `mul_add` calls a library function, and
/// these functions contain hundreds of `mul_add`.
macro_rules! outlined {
    ($($(#[$note:meta])* pub fn $name:ident($($arg:ident: f64),*) -> f64 $body:block)*) => {$(
        $(#[$note])*
        #[inline(never)]
        pub fn $name($($arg: f64),*) -> f64 {
            #[inline(always)]
            fn text($($arg: f64),*) -> f64 $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn fused($($arg: f64),*) -> f64 {
                    text($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                    // SAFETY: the check above ensures that the processor has these instructions.
                    return unsafe { fused($($arg),*) };
                }
            }
            text($($arg),*)
        }
    )*};
}

#[path = "../real/bessel.rs"]
mod bessel;
mod beta;
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
pub mod far;
#[path = "../real/gamma.rs"]
mod gamma;
#[path = "../real/hyperbolic.rs"]
mod hyperbolic;
mod incomplete;
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
mod temme;
#[path = "../real/trig.rs"]
mod trig;

pub use bessel::{i0, i0e, i1, i1e, j0, j1};
pub use beta::{beta, betaln};
pub use division::{floor_divide, fmod, remainder};
pub use error_function::{erf, erfc};
pub use exp::{exp, exp2, expm1};
pub use gamma::{digamma, gamma, lgamma};
pub use hyperbolic::{acosh, asinh, atanh, cosh, sinh, tanh};
pub use incomplete::{gammainc, gammaincc};
pub use inverse_error::{erfcinv, erfinv};
pub use inverse_trig::{acos, asin, atan, atan2};
pub use log::{is_positive_normal, log, log1p, log2, log10, logaddexp, logit};
pub use power::{cbrt, hypot, pow};
pub use simple::{
    abs, ceil, divide, floor, from_i64, from_u64, maximum, minimum, minus, nextafter, plus, round, sign, sqrt, times,
    trunc,
};
pub use trig::{cos, cos_near, is_large, needs_range_reduction, sin, sin_near, tan, tan_near};
