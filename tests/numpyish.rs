//! Tests every op on the CPU, in every dtype, against NumPy.

use backends::prelude::*;

/// The allocator of this test program. It can refuse allocations, which the tests of arguments request.
#[global_allocator]
static ALLOCATOR: backends::conformance::Refusing = backends::conformance::Refusing;

backends::conformance! { backend = Numpyish::new(), type = Numpyish, formulas = true }
