//! Parses and checks the op tables of the `backends` crate, and represents them as data.
//!
//! A table is a TOML file; `docs/table.md` in the repository is its reference. [`parse()`] converts it to a [`Model`],
//! in which names and expressions have their positions in the file. [`check()`] then finds mistakes that involve
//! several rows, and adds types and gradients to the model. Each mistake is added to a [`Report`] with its position.
//! The code generator converts the model to Rust, and `cargo xtask table` converts it to JSON.

mod check;
mod element;
pub mod expr;
pub mod fold;
mod gradient;
mod kind;
mod loops;
pub mod model;
pub mod names;
mod parse;
mod prune;
mod related;
mod report;
mod runs;
mod samples;
mod text;
mod toml_view;

pub use check::{check, gradients::COLUMN as GRAD};
pub use model::Model;
pub use parse::{Role, parse};
pub use report::{Mistake, Report, SourceFile, did_you_mean};
pub use samples::{INDICES, SAMPLES};
pub use text::{Span, Text};
