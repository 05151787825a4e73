//! Ops on the CPU: bits that depend neither on threads nor on the rest of a call, and index lists against NumPy.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod indexing_numpy;
mod same_bits;
