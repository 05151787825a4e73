//! Ops on the CPU: bits that depend neither on threads nor on what else is in a call, and lists of indices against NumPy's.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod indexing_numpy;
mod same_bits;
