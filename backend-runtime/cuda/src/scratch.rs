//! Temporary device memory, which returns to the pool when it is dropped.

use super::{Cuda, array::RawArray};
use backend_core::{DType, Result};

impl Cuda {
    /// Memory for `n` values of `bytes` bytes each, with undefined content.
    pub(crate) fn scratch(&self, op: &'static str, n: usize, bytes: usize) -> Result<RawArray> {
        self.uninit_raw(op, DType::UInt8, &[n, bytes])
    }
}
