//! Ops on every library of this machine, beyond the rows' test cases.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod daily;
mod exchange;
mod indexing;
mod linalg;
mod nufft;
mod ownership;
mod random_blocks;
mod refusals;
mod special_values;
