//! The context of a call, which ops get in addition to their arguments: the backend, the op's name and the dtypes.

use super::{
    array::{RawArray, wrong_dtype},
    backend::Cuda,
};
use backend_core::Result;

backend_core::op_context!(Cuda);

impl OpContext<'_> {
    /// Returns an error if an array's dtype differs from the call's dtype. An op calls this for each array of the
    /// call's dtype, because its kernels read the arrays' memory in this dtype.
    pub fn require(self, arrays: &[&RawArray]) -> Result<()> {
        match arrays.iter().find(|x| x.dtype != self.dtype) {
            None => Ok(()),
            Some(x) => Err(wrong_dtype(self.op, x, self.dtype)),
        }
    }
}
