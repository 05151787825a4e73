//! The gradients of every row, on the CPU, on libtorch and of a few rows on a GPU, against differences, second derivatives, tangents, PyTorch's
//! autograd and in narrower dtypes; compiled once, for the backend that is chosen at run time.

use backends::prelude::*;
// the methods of `AnyBackend` are compiled there, and not here again
use backends_dynamic as _;

mod numpyish {
    use super::*;
    backends::conformance! { backend = AnyBackend::from(Numpyish::new()), type = AnyBackend, gradients = true }
}

mod torch {
    use super::*;
    backends::conformance! { backend = Torch::cpu().map(AnyBackend::from), type = AnyBackend, gradients = true }
}

// rules are code over any backend: a few rows show that it runs there
mod cuda {
    use super::*;
    backends::conformance! { backend = Cuda::new(0).map(AnyBackend::from), type = AnyBackend, gradients = true, every = 30 }
}
