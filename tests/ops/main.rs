//! Tests of ops on every library of this machine, in addition to the test cases that the op table contains.

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
