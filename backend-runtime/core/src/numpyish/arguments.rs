//! Checks of the arguments of elementwise functions, such as "all arguments are positive". If a check holds for all
//! arguments of a block, the loop over the block can use cheaper code.

use super::simd::versions;
use crate::{
    Complex, DType, Element, bf16,
    same_type::same,
    scalar::{float32, float64, is_large, needs_range_reduction},
};
use std::slice::from_ref;

/// Returns whether `x` is a positive normal number of type `f64` or `f32`. False for all other types.
#[inline(always)]
pub fn is_positive_normal<T: Element>(x: T) -> bool {
    let x = from_ref(&x);
    if let Some(x) = same::<T, f64>(x) {
        float64::is_positive_normal(x[0])
    } else if let Some(x) = same::<T, f32>(x) {
        float32::is_positive_normal(x[0])
    } else {
        false
    }
}

/// Returns whether `x` is an `f64` or `f32` above 0. False for all other types. Loops tell the compiler this fact in
/// addition to `is_positive_normal`. That function tests the bits of `x`, and the compiler does not conclude from the
/// bits that `x > 0`.
#[inline(always)]
pub fn is_above_0<T: Element>(x: T) -> bool {
    let x = from_ref(&x);
    same::<T, f64>(x).is_some_and(|x| x[0] > 0.0) | same::<T, f32>(x).is_some_and(|x| x[0] > 0.0)
}

/// Returns whether `x` is an `f64` or `f32` whose magnitude is below `bound`, after `bound` was rounded to the type of
/// `x`. False for all other types.
#[inline(always)]
pub fn is_within<T: Element>(x: T, bound: f64) -> bool {
    let x = from_ref(&x);
    same::<T, f64>(x).is_some_and(|x| x[0].abs() < bound) | same::<T, f32>(x).is_some_and(|x| x[0].abs() < bound as f32)
}

/// Returns whether any of `n` elements is so large that `sin`, `cos` and `tan` need range reduction.
///
/// # Safety
/// `x` points to `n` elements of the dtype.
pub unsafe fn any_far(dtype: DType, x: *const u8, n: usize) -> bool {
    // SAFETY: the caller guarantees `n` elements, and a complex number has the layout of two floats.
    unsafe {
        match dtype {
            DType::Float64 => any_far_of::<f64>(x, n),
            DType::Float32 => any_far_of::<f32>(x, n),
            DType::BFloat16 => any_far_of::<bf16>(x, n),
            DType::Complex64 => any_far_of::<f32>(x, size_of::<Complex<f32>>() / size_of::<f32>() * n),
            DType::Complex128 => any_far_of::<f64>(x, size_of::<Complex<f64>>() / size_of::<f64>() * n),
            _ => false,
        }
    }
}

versions! {
    unsafe fn any_far_of[T: Element][T](x: *const u8, n: usize) -> bool {
        // SAFETY: the caller guarantees `n` elements at `x`.
        let x = unsafe { std::slice::from_raw_parts(x.cast::<T>(), n) };
        // `is_large` is a cheap test, but it is also true for infinity and NaN, which need no reduction; the exact test
        // runs only if an argument is large, which is rare
        let mut large = false;
        for &x in x {
            large |= is_large(x);
        }
        let mut far = false;
        if large {
            for &x in x {
                far |= needs_range_reduction(x);
            }
        }
        far
    }
}
