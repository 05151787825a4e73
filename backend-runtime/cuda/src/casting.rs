//! Conversions to another dtype, and copies.

use super::{OpContext, array::RawArray, copy as copying};
use backend_core::Result;

/// Converts the array to another dtype. An array that already has the dtype is returned as another handle of its
/// memory.
pub fn astype(on: OpContext<'_>, x: &RawArray) -> Result<RawArray> {
    if x.dtype == on.to { Ok(x.clone()) } else { copying::cast(on.backend, on.op, x, on.to) }
}

/// Copies the elements to new memory.
pub fn copy(on: OpContext<'_>, x: &RawArray) -> Result<RawArray> {
    copying::like(on.backend, on.op, x)
}
