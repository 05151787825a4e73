//! Functions that call an op by name on each of this crate's libraries, for a backend whose arrays may belong to any of
//! them.

use crate::by_name::CallOf;

/// The functions that call one op of a table, one for each library.
#[derive(Clone, Copy, Debug)]
pub struct LibraryCalls {
    /// The function that calls the op on the CPU backend.
    pub numpyish: Option<CallOf<crate::numpyish::Numpyish>>,
    /// The function that calls the op on NVIDIA GPUs.
    #[cfg(feature = "cuda")]
    pub cuda: Option<CallOf<crate::cuda::Cuda>>,
    /// The function that calls the op on libtorch.
    #[cfg(feature = "torch")]
    pub torch: Option<CallOf<crate::torch::Torch>>,
}

impl LibraryCalls {
    /// No functions, for an op that no library runs.
    pub const NONE: LibraryCalls = LibraryCalls {
        numpyish: None,
        #[cfg(feature = "cuda")]
        cuda: None,
        #[cfg(feature = "torch")]
        torch: None,
    };
}
