//! The scalar vocabulary, dtype by dtype: what the methods of the traits in [`element`](crate::element) compute.
//!
//! Everything is `#[inline(always)]` and, where it pays, free of branches, so that the loop around it vectorises.

pub mod complex;
pub mod float32;
pub mod float64;
pub mod half;
pub mod integer;
