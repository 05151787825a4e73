//! Tests of derivatives beyond the test cases of the rows: the public API, forward mode, linear algebra and windows.

mod api;
mod forward;
mod linalg;
mod windows;
