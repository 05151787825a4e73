//! What the tests of this backend need: a device or the compiler, or a reason on stderr why the test does not run.

use super::{Cuda, nvrtc::Target};
use crate::available;

/// A GPU, if there is one.
pub(crate) fn device() -> Option<Cuda> {
    available("cuda", Cuda::new(0))
}

/// What the kernels are compiled for in tests, if the compiler is there.
pub(crate) fn compiler() -> Option<Target> {
    available("nvrtc", Target::of((9, 0)))
}
