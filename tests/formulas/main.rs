//! Formulas in `expr!`, formulas built with operators, and their gradients.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod gradients;
mod lazy;
mod written;
