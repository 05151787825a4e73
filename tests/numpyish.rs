//! Tests every op on the CPU, in every dtype, against NumPy.

use backends::prelude::*;

/// The allocator of this test program. The tests with random arguments make it refuse some allocations.
#[global_allocator]
static ALLOCATOR: backends::conformance::Refusing = backends::conformance::Refusing;

backends::conformance! { backend = Numpyish::new(), type = Numpyish, formulas = true }
