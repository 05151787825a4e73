//! Tests of ops on every library of this machine, besides the test cases of the rows.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod convolution;
mod daily;
mod exchange;
mod indexing;
mod linalg;
mod nufft;
mod ownership;
mod random_blocks;
mod refusals;
mod special_values;
