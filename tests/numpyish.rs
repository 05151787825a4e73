//! Every row on the CPU, for every dtype, against NumPy.

use backends::prelude::*;

/// Refuses memory where the tests of all arguments ask for that.
#[global_allocator]
static ALLOCATOR: backends::conformance::Refusing = backends::conformance::Refusing;

backends::conformance! { backend = Numpyish::new(), type = Numpyish, formulas = true }
