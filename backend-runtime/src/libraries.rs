//! Functions that call an op by name on each library of this crate, for a backend that holds the arrays of any library.

use crate::by_name::CallOf;

/// The functions that call one op on each library of a table.
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
    /// No functions: the op runs on no library.
    pub const NONE: LibraryCalls = LibraryCalls {
        numpyish: None,
        #[cfg(feature = "cuda")]
        cuda: None,
        #[cfg(feature = "torch")]
        torch: None,
    };
}
