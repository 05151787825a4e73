//! The ops of the CPU backend. Each group of ops in `ops.toml` has a module here: for example, an op with the mapping
//! `call = "sorting::sort"` is the function `sort` of the module `sorting`.
//!
//! The type [`Numpyish`] and the loops over host memory that the ops use are in `backend_core::numpyish`, and so are
//! elementwise ops, reductions and casts, because formulas use them too.

pub mod convolution;
pub mod creation;
pub mod fft;
pub mod images;
pub mod indexing;
pub mod linalg;
pub mod manipulation;
pub mod random;
pub mod reduction;
pub mod sorting;
pub mod special;
pub mod statistics;

#[cfg(test)]
use backend_core::numpyish::testing;
use backend_core::numpyish::{
    NdArray, Numpyish, OpContext, buffer, convert, copy, layout, parallel, raw, region, simd, stream, turns, typed,
};
