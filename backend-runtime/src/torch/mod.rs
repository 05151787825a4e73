//! libtorch, loaded at run time: any of its ops by name, on the CPU and on its GPUs.
//!
//! `aten` mappings of the table go through [`aten()`](aten::aten); a row `call = "reduction::sum"` is the function `sum` in
//! `reduction.rs`, composed of libtorch's ops where it has no such op.
//!
//! # Finding libtorch
//!
//! Nothing of libtorch is needed to build this crate. At the first [`Torch::new`] it is looked for in `$LIBTORCH` (its folder
//! `torch`, which has `lib` and `include`), in `libtorch/torch` of the program's cargo project, and in `python3`'s packages; never
//! where another user may have put it. A shim of some hundred lines is then compiled against its headers, with `$CXX`, `g++`,
//! `c++` or `clang++`, and kept for later runs in `$BACKENDS_CACHE`, else in `backends` of the user's cache folder, if there
//! is one. Where something is missing, [`Torch::new`] returns [`Error::Unavailable`](crate::Error::Unavailable), whose
//! message says what to do.

mod array;
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
pub use locate::libtorch;
pub use strategy::DtypeStrategy;
pub use tensor::{Arg, Tensor};

/// What a function of this backend gets for an `operand` parameter.
pub type Operand<'a, T> = crate::Operand<'a, Torch, T>;
