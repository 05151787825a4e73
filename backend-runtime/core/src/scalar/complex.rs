//! Scalar functions of complex numbers, selected by the dtype of the real and the imaginary part. `float32::complex`
//! and `float64::complex` have the same source.

use super::{float32, float64};
use crate::{Complex, Precision};

macro_rules! words {
    ($($word:ident($($x:ident),*) -> $out:ident;)*) => {
        /// A real dtype, with the scalar functions of complex numbers whose parts have this dtype.
        pub trait ComplexPart: Precision {
            $(#[doc = concat!("`", stringify!($word), "` of complex numbers with such parts.")]
            fn $word($($x: Complex<Self>),*) -> words!(@ $out Self);)*
        }
        words!(@impl f32 float32 $($word($($x),*) -> $out;)*);
        words!(@impl f64 float64 $($word($($x),*) -> $out;)*);
        $(#[doc = concat!("`", stringify!($word), "`: see the function of this name in `float64::complex`.")]
        #[inline(always)]
        pub fn $word<R: ComplexPart>($($x: Complex<R>),*) -> words!(@ $out R) {
            <R as ComplexPart>::$word($($x),*)
        })*
    };
    (@ complex $r:ident) => { Complex<$r> };
    (@ real $r:ident) => { $r };
    (@impl $t:ident $m:ident $($word:ident($($x:ident),*) -> $out:ident;)*) => {
        impl ComplexPart for $t {
            $(#[inline(always)]
            fn $word($($x: Complex<Self>),*) -> words!(@ $out Self) {
                $m::complex::$word($($x),*)
            })*
        }
    };
}

words! {
    times(x, y) -> complex; div(x, y) -> complex; pow(x, y) -> complex;
    reciprocal(x) -> complex; abs(x) -> real; sign(x) -> complex; round(x) -> complex; sqrt(x) -> complex;
    exp(x) -> complex; expm1(x) -> complex;
    log(x) -> complex; log2(x) -> complex; log10(x) -> complex; log1p(x) -> complex;
    sin(x) -> complex; cos(x) -> complex; tan(x) -> complex;
    asin(x) -> complex; acos(x) -> complex; atan(x) -> complex;
    sinh(x) -> complex; cosh(x) -> complex; tanh(x) -> complex;
    asinh(x) -> complex; acosh(x) -> complex; atanh(x) -> complex;
}
