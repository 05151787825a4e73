//! Conversions to another dtype, and copies.

use super::{Cuda, CudaArray, copy as copying};
use crate::{Element, Result};

/// Converts the array to another dtype. An array that already has the dtype is shared, since nothing writes to it.
pub fn astype<U: Element, T: Element>(b: &Cuda, x: &CudaArray<T>) -> Result<CudaArray<U>> {
    if T::DTYPE == U::DTYPE { Ok(CudaArray::of(x.raw.clone())) } else { copying::cast(b, &x.raw) }
}

/// A copy of the elements in new memory.
pub fn copy<T: Element>(b: &Cuda, x: &CudaArray<T>) -> Result<CudaArray<T>> {
    copying::like(b, "copy", &x.raw).map(CudaArray::of)
}
