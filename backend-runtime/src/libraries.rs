//! The calls of an op on all libraries of this crate, for a backend that holds the arrays of any of them.

use crate::by_name::CallOf;

/// The calls of one op on the libraries of a table.
#[derive(Clone, Copy, Debug)]
pub struct LibraryCalls {
    /// The call on the CPU backend.
    pub numpyish: Option<CallOf<crate::numpyish::Numpyish>>,
    /// The call on NVIDIA GPUs.
    #[cfg(feature = "cuda")]
    pub cuda: Option<CallOf<crate::cuda::Cuda>>,
    /// The call on libtorch.
    #[cfg(feature = "torch")]
    pub torch: Option<CallOf<crate::torch::Torch>>,
}

impl LibraryCalls {
    /// No call.
    pub const NONE: LibraryCalls = LibraryCalls {
        numpyish: None,
        #[cfg(feature = "cuda")]
        cuda: None,
        #[cfg(feature = "torch")]
        torch: None,
    };
}
