//! Tests of derivatives in addition to the test cases of the op table: the public API, calls by name, forward mode,
//! linear algebra and windows.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod api;
mod by_name;
mod forward;
mod linalg;
mod state;
mod windows;
