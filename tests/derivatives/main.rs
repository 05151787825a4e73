//! Derivatives beyond the rows' test cases: the public API, forward mode, linear algebra and windows.

mod api;
mod forward;
mod linalg;
mod windows;
