//! Every row on the CPU, for every dtype, against NumPy.

use backends::prelude::*;

backends::conformance! { backend = Numpyish::new(), type = Numpyish }
