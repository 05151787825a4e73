//! The libraries' error codes as [`Error`]s.

use crate::{Error, Result};
use cudarc::{
    cublas::result::CublasError, cufft::result::CufftError, driver::result::DriverError, nvrtc::result::NvrtcError,
};

/// A library's result, with the op it was called for.
pub(crate) trait Checked<T> {
    /// The value, or an error that names the op and has the library's words.
    fn checked(self, op: &'static str) -> Result<T>;
}

#[cold]
#[inline(never)]
fn library(op: &'static str, message: String) -> Error {
    Error::Library { op, backend: "cuda", message }
}

impl<T> Checked<T> for std::result::Result<T, DriverError> {
    fn checked(self, op: &'static str) -> Result<T> {
        self.map_err(|error| library(op, error.to_string()))
    }
}

macro_rules! checked_by_debug {
    ($($error:ty),*) => {$(
        impl<T> Checked<T> for std::result::Result<T, $error> {
            fn checked(self, op: &'static str) -> Result<T> {
                self.map_err(|error| library(op, format!("{error:?}")))
            }
        }
    )*};
}
checked_by_debug!(NvrtcError, CublasError, CufftError);
