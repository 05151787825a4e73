//! The scalar functions, dtype by dtype, which the methods of the traits in [`element`](crate::element) call.
//!
//! Everything is `#[inline(always)]` and, where it pays, free of branches, so that the loop around it vectorises.
//!
//! The functions of `f32` and `f64` have the same source, in the folder `real`: polynomials, selects and arithmetic on
//! bits, with the constants of each precision. They vectorise in a function that is compiled for AVX2 and FMA, AVX-512
//! or NEON. They rely on `mul_add` to round once, which it does everywhere: without FMA in the target it is a slow call
//! with the same result.

// one source for two precisions: a cast that converts in one precision does nothing in the other
#![allow(clippy::duplicate_mod, clippy::unnecessary_cast)]

pub mod complex;
pub mod float32;
pub mod float64;
pub mod half;
pub mod integer;

use crate::element::{Element, same};
use std::slice::from_ref;

macro_rules! of_parts {
    ($($(#[$note:meta])* $name:ident)*) => {$(
        $(#[$note])*
        #[inline(always)]
        pub fn $name<T: Element>(x: T) -> bool {
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
    /// Returns whether a sine, cosine or tangent of `x` may leave the loop for a slower range reduction, because a part
    /// of `x` is large.
    ///
    /// A loop of these functions vectorises if the compiler knows that no argument needs the reduction: examine a block
    /// first, then state for each of its elements, by [`assert_unchecked`](std::hint::assert_unchecked), that the
    /// result is false.
    needs_range_reduction

    /// Returns whether `x` [needs a reduction of its range](needs_range_reduction), or has an infinite or NaN part.
    /// This check is faster.
    is_large
}

#[cfg(test)]
mod tests;
