//! The torch backend: libtorch, loaded at run time. Any op of libtorch can be called by name, on the CPU and on GPUs.
//!
//! Ops that the op table maps to an op of libtorch (`aten`) go through [`aten()`](aten::aten). A row of the op table
//! with `call = "reduction::sum"` calls the function `sum` in `reduction.rs`, which is composed of libtorch's ops if
//! libtorch has no equivalent op.
//!
//! # Finding libtorch
//!
//! No part of libtorch is needed to build this crate. The first [`Torch::new`] looks for it in `$LIBTORCH` (its folder
//! `torch`, which has `lib` and `include`), in `libtorch/torch` of the program's cargo project, and in `python3`'s
//! packages. It refuses a libtorch that another user may have put there. Then it compiles a shim of some hundred lines
//! against libtorch's headers, with `$CXX`, `g++`, `c++` or `clang++`, and keeps the shim for later runs in
//! `$BACKENDS_CACHE`, else in `backends` of the user's cache folder, if there is one. If something is missing,
//! [`Torch::new`] returns [`Error::Unavailable`](backend_core::Error::Unavailable), whose message says what to do.

mod array;
mod arrays;
pub mod aten;
mod backend;
mod build;
mod call;
mod exchange;
mod ffi;
mod hosted;
mod locate;
mod loops;
mod memory;
mod ops;
mod schema;
mod strategy;
mod tensor;
mod with;

pub mod casting;
pub mod convolution;
pub mod creation;
pub mod elementwise;
pub mod entry;
pub mod fft;
pub mod images;
pub mod indexing;
pub mod linalg;
pub mod manipulation;
pub mod random;
pub mod reduction;
pub mod sorting;
pub mod special;

#[cfg(test)]
mod tests;

pub use array::TorchArray;
pub use aten::{Aten, FromTensors, aten};
pub use backend::Torch;
pub use build::build_shim;
pub use call::OpContext;
pub use locate::libtorch;
pub use strategy::DtypeStrategy;
pub use tensor::{Arg, Tensor};

/// An operand of this backend, whose element type `T` is a type parameter.
pub type Operand<'a, T> = backend_core::Operand<'a, Torch, T>;
