//! Helpers of tests, which return a device or the compiler, or print to stderr why the test is skipped.

use super::{Cuda, CudaArray, OpContext, array::RawArray, nvrtc::Target};
use backend_core::{Element, Result, available, raw::TypedArray};

/// The first GPU, if there is one.
pub(crate) fn device() -> Option<Cuda> {
    available("cuda", Cuda::new(0))
}

/// The compilation target that tests use, if the compiler is installed.
pub(crate) fn compiler() -> Option<Target> {
    available("nvrtc", Target::of((9, 0)))
}

/// The context of a call of the op `op` in the dtype of `T`.
pub(crate) fn on<'b, T: Element>(b: &'b Cuda, op: &'static str) -> OpContext<'b> {
    OpContext::new(b, op, T::DTYPE)
}

/// Converts the result of an op to a typed array.
#[track_caller]
pub(crate) fn typed<T: Element>(x: Result<RawArray>) -> CudaArray<T> {
    CudaArray::from_raw("typed", x.unwrap()).unwrap()
}
