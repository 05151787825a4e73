//! The gradients of every row on the CPU, against differences.

use backends::prelude::*;

backends::conformance! { backend = Numpyish::new(), type = Numpyish, gradients = true }
