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
pub mod workers;

/// Large arrays come and go in every step of the programs: their pages are kept for the next ones.
#[global_allocator]
static PAGES: backends::alloc::Pages = backends::alloc::Pages::new();
