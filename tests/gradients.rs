//! Gradients of every op, on the CPU and on libtorch, and of a few ops on a GPU: against finite differences, second
//! derivatives, tangents and PyTorch's autograd, and in narrower dtypes. They are compiled once, for the backend chosen
//! at run time.

use backends::prelude::*;
// the methods of `AnyBackend` are compiled in that crate, and not again here
use backends_dynamic as _;

mod numpyish {
    use super::*;
    backends::conformance! { backend = AnyBackend::from(Numpyish::new()), type = AnyBackend, gradients = true }
}

mod torch {
    use super::*;
    backends::conformance! { backend = Torch::cpu().map(AnyBackend::from), type = AnyBackend, gradients = true }
}

// gradient rules are generic over the backend: a few ops show that they run on a GPU
mod cuda {
    use super::*;
    backends::conformance! { backend = Cuda::new(0).map(AnyBackend::from), type = AnyBackend, gradients = true, every = 30 }
}
