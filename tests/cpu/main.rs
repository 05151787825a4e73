//! Ops on the CPU: results whose bits depend neither on threads nor on other elements of the call, and index lists
//! compared with NumPy.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod indexing_numpy;
mod same_bits;
