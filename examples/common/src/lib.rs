//! What the example programs share: the choice of a backend, pictures, files of results, and what is said meanwhile.

pub mod cli;
pub mod console;
pub mod curve;
pub mod figure;
pub mod library;
pub mod memory;
pub mod output;
pub mod plans;
pub mod ranks;
pub mod trial;
