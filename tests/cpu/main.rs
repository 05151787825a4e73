//! Tests of ops on the CPU: the bits of results depend neither on threads nor on other elements of the call, and index
//! lists give NumPy's results.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod indexing_numpy;
mod same_bits;
