//! Every op on the CPU, in every dtype, against NumPy.

use backends::prelude::*;

/// Fails allocations when the argument tests ask for it.
#[global_allocator]
static ALLOCATOR: backends::conformance::Refusing = backends::conformance::Refusing;

backends::conformance! { backend = Numpyish::new(), type = Numpyish, formulas = true }
