//! Every row on libtorch, for every dtype, against NumPy.

use backends::prelude::*;

backends::conformance! { backend = Torch::cpu(), type = Torch }
