//! Tests of derivatives in addition to the test cases of the op table: the public API, forward mode, linear algebra and
//! windows.

mod api;
mod forward;
mod linalg;
mod windows;
