//! Shared parts of the example programs: choice of a backend, files of results, and output on the console.

pub mod cli;
pub mod console;
pub mod library;
pub mod memory;
pub mod output;
pub mod plans;
pub mod ranks;
pub mod trial;
pub mod workers;

/// The allocator. It keeps freed pages for reuse, because the programs allocate and free large arrays in every step.
#[global_allocator]
static PAGES: backends::alloc::Pages = backends::alloc::Pages::new();
