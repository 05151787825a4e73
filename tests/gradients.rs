//! The gradients of every row against differences, on the CPU and on libtorch; compiled once, for the backend that is chosen at run time.

use backends::prelude::*;

mod numpyish {
    use super::*;
    backends::conformance! { backend = AnyBackend::from(Numpyish::new()), type = AnyBackend, gradients = true }
}

mod torch {
    use super::*;
    backends::conformance! { backend = Torch::cpu().map(AnyBackend::from), type = AnyBackend, gradients = true }
}
