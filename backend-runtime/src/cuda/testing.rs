//! Test helpers: a device or the compiler, or a message on stderr that says why the test does not run.

use super::{Cuda, nvrtc::Target};
use crate::available;

/// The first GPU, if there is one.
pub(crate) fn device() -> Option<Cuda> {
    available("cuda", Cuda::new(0))
}

/// The target of compilations in tests, if the compiler is installed.
pub(crate) fn compiler() -> Option<Target> {
    available("nvrtc", Target::of((9, 0)))
}
