//! The scalar vocabulary, dtype by dtype: what the methods of the traits in [`element`](crate::element) compute.
//!
//! Everything is `#[inline(always)]` and, where it pays, free of branches, so that the loop around it vectorises.
//!
//! The functions of `f32` and `f64` are one text, in the folder `real`: polynomials, selects and arithmetic on bits, with
//! the constants of each precision. They vectorise in a function that has AVX2 and FMA, AVX-512 or NEON. They rely on
//! `mul_add` to round once, which it does everywhere: without FMA in the target it is a call, slow and with the same result.

// one text, two precisions
#![allow(clippy::duplicate_mod)]

pub mod complex;
pub mod float32;
pub mod float64;
pub mod half;
pub mod integer;

#[cfg(test)]
mod tests;
