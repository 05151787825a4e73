//! Tests of derivatives in addition to the test cases of the op table: the public API, calls by name, forward mode,
//! linear algebra and windows.

mod api;
mod by_name;
mod forward;
mod linalg;
mod windows;
