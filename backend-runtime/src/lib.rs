//! The runtime of the `backends` crate: dtypes, errors, shape rules, and the functions that each backend's ops call.
//!
//! Calls go in one direction: the methods that are generated in the facade crate call the functions of [`numpyish`],
//! [`cuda`] and [`torch`], and these functions call the libraries. Nothing in this crate depends on the op table.
//!
//! This crate only combines other crates. `backends-core` has the code that all backends share, and the loops over host
//! memory; `backends-numpyish` has the ops of the CPU; `backends-cuda` and `backends-torch` have one backend each.

#[doc(no_inline)]
pub use backend_core::*;
#[cfg(feature = "cuda")]
pub use backend_cuda as cuda;
#[cfg(feature = "torch")]
pub use backend_torch as torch;

/// The CPU backend: its type, the loops over host memory, and its ops.
pub mod numpyish {
    pub use backend_core::numpyish::*;
    #[doc(inline)]
    pub use backend_numpyish::{
        convolution, creation, fft, images, indexing, linalg, manipulation, random, reduction, sorting, special,
        statistics,
    };
}
