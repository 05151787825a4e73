//! Tests the methods of the libraries, which take arrays with a static dtype, against NumPy. The other tests of all ops
//! call them by name, and such calls run the entries of rows instead. Calls by name on a recorded backend call the
//! methods of its inner backend.

use backends::{Recorded, prelude::*};

mod numpyish {
    use super::*;

    backends::conformance! {
        backend = Recorded::new(Numpyish::new()),
        type = Recorded<Numpyish>,
        dtypes = ["bool", "int64", "float64", "complex128"],
    }
}

mod torch {
    use super::*;

    backends::conformance! {
        backend = Torch::cpu().map(Recorded::new),
        type = Recorded<Torch>,
        dtypes = ["bool", "int64", "float64", "complex128"],
    }
}

mod cuda {
    use super::*;

    backends::conformance! {
        backend = Cuda::new(0).map(Recorded::new),
        type = Recorded<Cuda>,
        dtypes = ["float64"],
    }
}
