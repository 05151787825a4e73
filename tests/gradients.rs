//! Tests gradients of every op on the CPU and on libtorch, and of a few ops on a GPU, against finite differences and
//! PyTorch's autograd. Second derivatives, tangents (derivatives in forward mode) and narrower dtypes are tested as
//! well. The tests are compiled once, for the backend that is chosen at run time.

use backends::prelude::*;
// `backends_dynamic` contains the compiled methods of `AnyBackend`; without it, they would be compiled again here
use backends_dynamic as _;

mod numpyish {
    use super::*;
    backends::conformance! { backend = AnyBackend::from(Numpyish::new()), type = AnyBackend, gradients = true }
}

mod torch {
    use super::*;
    backends::conformance! { backend = Torch::cpu().map(AnyBackend::from), type = AnyBackend, gradients = true }
}

// gradient rules are generic over the backend, so a few ops are enough to test them on a GPU
mod cuda {
    use super::*;
    backends::conformance! { backend = Cuda::new(0).map(AnyBackend::from), type = AnyBackend, gradients = true, every = 30 }
}
