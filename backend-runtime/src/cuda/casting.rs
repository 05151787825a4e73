//! Arrays in another dtype, or in memory of their own.

use super::{Cuda, CudaArray, copy as copying};
use crate::{Element, Result};

/// The array in another dtype. One that has it already is shared: nothing writes to it.
pub fn astype<U: Element, T: Element>(b: &Cuda, x: &CudaArray<T>) -> Result<CudaArray<U>> {
    if T::DTYPE == U::DTYPE { Ok(CudaArray::of(x.raw.clone())) } else { copying::cast(b, &x.raw) }
}

/// The same elements in memory of their own.
pub fn copy<T: Element>(b: &Cuda, x: &CudaArray<T>) -> Result<CudaArray<T>> {
    copying::like(b, "copy", &x.raw).map(CudaArray::of)
}
