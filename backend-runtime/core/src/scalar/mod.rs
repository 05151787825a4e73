//! The scalar functions of each dtype, which the methods of the traits in [`element`](crate::element) call.
//!
//! All functions are `#[inline(always)]`, so that the calling loop vectorises. They are free of branches if this makes
//! loops faster.
//!
//! The functions of `f32` and `f64` have the same source, in the folder `real`: polynomials, selects and arithmetic on
//! bits, with the constants of each precision. They vectorise in a function that is compiled for AVX2 and FMA, AVX-512
//! or NEON. They rely on `mul_add` to round only once. This holds on every target: without FMA, `mul_add` is a slow
//! call with the same result.

// one source serves two precisions, so a cast that is needed for one precision does nothing for the other
#![allow(clippy::duplicate_mod, clippy::unnecessary_cast)]

pub mod complex;
pub mod float32;
pub mod float64;
pub mod half;
pub mod integer;

use crate::same_type::same;
use std::slice::from_ref;

macro_rules! of_parts {
    ($($(#[$note:meta])* $name:ident)*) => {$(
        $(#[$note])*
        #[inline(always)]
        pub fn $name<T: Copy + 'static>(x: T) -> bool {
            let x = from_ref(&x);
            if let Some(x) = same::<T, f64>(x) {
                float64::$name(x[0])
            } else if let Some(x) = same::<T, f32>(x) {
                float32::$name(x[0])
            } else if let Some(x) = same::<T, crate::bf16>(x) {
                float32::$name(half::widen_bf16(x[0].to_bits()))
            } else if let Some(x) = same::<T, crate::Complex<f64>>(x) {
                float64::$name(x[0].re) | float64::$name(x[0].im)
            } else if let Some(x) = same::<T, crate::Complex<f32>>(x) {
                float32::$name(x[0].re) | float32::$name(x[0].im)
            } else {
                false
            }
        }
    )*};
}
of_parts! {
    /// Returns whether a sine, cosine or tangent of `x` may leave the loop for a slower range reduction, because `x`,
    /// or its real or imaginary part, is large.
    ///
    /// A loop of these functions vectorises if the compiler knows that no argument needs the reduction. To achieve
    /// this, first check a block of arguments, and then state with [`assert_unchecked`](std::hint::assert_unchecked)
    /// for each argument that the result is false.
    needs_range_reduction

    /// Returns whether `x` [needs a reduction of its range](needs_range_reduction), or has an infinite or NaN part.
    /// This check is faster than [`needs_range_reduction`].
    is_large
}

#[cfg(test)]
mod tests;
