//! Formulas: written in `expr!`, by operators, and their gradients.

#[path = "../common/mod.rs"]
mod common;

mod gradients;
mod lazy;
mod written;
