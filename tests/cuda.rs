//! Every row on the GPU, for every dtype, against NumPy.

use backends::prelude::*;

backends::conformance! { backend = Cuda::new(0), type = Cuda }
