//! The context of a call: what the functions of this backend need besides the arguments of their op.

use super::{
    array::{RawArray, wrong_dtype},
    backend::Cuda,
};
use crate::{DType, Result};

/// The context of one call of an op: the name for errors, the backend, and the dtypes of the call.
#[derive(Clone, Copy)]
pub struct OpContext<'b> {
    /// The backend.
    pub backend: &'b Cuda,
    /// The row's name.
    pub op: &'static str,
    /// The dtype of the call, `T` of the method.
    pub dtype: DType,
    /// The second dtype of a row that has one, `U` of the method; otherwise the dtype of the call.
    pub to: DType,
}

impl<'b> OpContext<'b> {
    /// A call of the op `op` in this dtype.
    #[inline]
    pub fn new(backend: &'b Cuda, op: &'static str, dtype: DType) -> OpContext<'b> {
        OpContext { backend, op, dtype, to: dtype }
    }

    /// The call with another second dtype.
    #[inline]
    pub fn with_to(self, to: DType) -> OpContext<'b> {
        OpContext { to, ..self }
    }

    /// The same call for arrays of another dtype.
    pub fn with_dtype(self, dtype: DType) -> OpContext<'b> {
        OpContext { dtype, to: dtype, ..self }
    }

    /// Refuses arrays of another dtype than that of the call. An op calls this for each array of the call's dtype,
    /// because its kernels read the arrays' memory in this dtype.
    pub fn require(self, arrays: &[&RawArray]) -> Result<()> {
        match arrays.iter().find(|x| x.dtype != self.dtype) {
            None => Ok(()),
            Some(x) => Err(wrong_dtype(self.op, x, self.dtype)),
        }
    }
}
