//! The expressions by which the rows of an op table describe computations: scalar expressions in `each` rows, and calls
//! of ops in `compose` rows. The submodules are passes over the trees of these expressions.
//!
//! [`parse`](parse()) converts a text to a tree in which every node has its source position. [`each`] and [`compose`]
//! determine the types. [`cuda`] converts a scalar expression to CUDA C++, and [`mod@derive`] differentiates it. The
//! code generator converts the same trees to Rust.

pub mod compose;
mod cost;
pub mod cuda;
pub mod derive;
pub mod each;
mod lex;
mod literal;
mod parse;
mod tree;

pub use parse::parse;
pub use tree::{Argument, Comparison, Dtypes, Expr, Logic, MAX_NESTING, Name, Node, Number, Ty};
