//! Conversion of the libraries' error codes to [`Error`].

use backend_core::{Error, Result};
use cudarc::{
    cublas::result::CublasError, cufft::result::CufftError, cusolver::result::CusolverError,
    driver::result::DriverError, nvrtc::result::NvrtcError,
};

/// Converts a library's result to this crate's `Result`, for the op that made the call.
pub(crate) trait Checked<T> {
    /// The value, or an error with the op's name and the library's message.
    fn checked(self, op: &'static str) -> Result<T>;
}

impl<T> Checked<T> for std::result::Result<T, DriverError> {
    fn checked(self, op: &'static str) -> Result<T> {
        self.map_err(|error| Error::library(op, "cuda", error.to_string()).caused_by(error))
    }
}

macro_rules! checked_by_debug {
    ($($error:ty),*) => {$(
        impl<T> Checked<T> for std::result::Result<T, $error> {
            fn checked(self, op: &'static str) -> Result<T> {
                self.map_err(|error| Error::library(op, "cuda", format!("{error:?}")).caused_by(error))
            }
        }
    )*};
}
checked_by_debug!(NvrtcError, CublasError, CufftError, CusolverError);
