//! The op tables of the `backends` crate as data.
//!
//! A table is TOML; `docs/table.md` of the repository is its reference. [`parse()`] converts it to a [`Model`], in
//! which every fact is checked and has a position. Each mistake is added to a [`Report`] with its position. The
//! generator makes Rust from the model, and `cargo xtask table` makes JSON.

mod check;
pub mod expr;
pub mod fold;
mod gradient;
mod kind;
mod loops;
pub mod model;
pub mod names;
mod parse;
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
