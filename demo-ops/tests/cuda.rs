//! The rows of `my_ops.toml` on the GPU, against NumPy.

use backends::prelude::*;
use demo_ops::*;

backends::conformance! {
    table = "my_ops.toml", trait = MyOps, golden = "tests/golden/my_ops.golden",
    backend = Cuda::new(0), type = Cuda
}
