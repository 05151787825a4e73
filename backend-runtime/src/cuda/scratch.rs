//! Memory that a function needs on the way and gives back.

use super::{Cuda, array::RawArray};
use crate::{DType, Result};

impl Cuda {
    /// `n` places of `bytes` bytes each, with any content.
    pub(crate) fn scratch(&self, op: &'static str, n: usize, bytes: usize) -> Result<RawArray> {
        self.uninit_raw(op, DType::UInt8, &[n, bytes])
    }
}
