//! Tests of formulas in `expr!`, of formulas built with operators, and of their gradients.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod complex;
mod gradients;
mod lazy;
mod numbers;
mod rolled;
mod written;
