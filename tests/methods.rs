//! Tests the methods of `Torch` and `Cuda`, which take arrays with a static dtype, against NumPy; the program `numpyish`
//! tests those of `Numpyish`. The other tests of all ops call them by name, and such calls run the entries of rows
//! instead. Calls by name on a recorded backend call the methods of its inner backend.

use backends::{Recorded, prelude::*};

mod torch {
    use super::*;

    backends::conformance! {
        backend = Torch::cpu().map(Recorded::new),
        type = Recorded<Torch>,
        dtypes = ["bool", "int64", "float64", "complex128"],
        methods = true,
    }
}

mod cuda {
    use super::*;

    backends::conformance! {
        backend = Cuda::new(0).map(Recorded::new),
        type = Recorded<Cuda>,
        dtypes = ["float64"],
        methods = true,
    }
}
