//! Derivatives that the rows' test cases do not cover: the public API, forward mode, linear algebra and windows.

mod api;
mod forward;
mod linalg;
mod windows;
