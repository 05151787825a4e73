//! Derivatives beyond those that the rows' cases test: as a user takes them, in forward mode, of linear algebra and of windows.

mod api;
mod forward;
mod linalg;
mod windows;
