//! The language in which the rows of an op table describe computations: `each` rows by scalar expressions, and
//! `compose` rows by calls of ops. Its submodules are passes over the trees of such expressions.
//!
//! [`parse`](parse()) converts a text to a tree with the position of every part. [`each`] and [`compose`] determine
//! the types. [`cuda`] converts a scalar expression to CUDA C++, and [`mod@derive`] differentiates it. The generator
//! converts the same trees to Rust.

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
pub use tree::{Argument, Comparison, Dtypes, Expr, Logic, MOST_NESTED, Name, Node, Number, Ty};
