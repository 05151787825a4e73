//! Compares every op on the CPU, in every dtype, with NumPy.

use backends::prelude::*;

/// The allocator of this binary, which fails allocations when the argument tests request it.
#[global_allocator]
static ALLOCATOR: backends::conformance::Refusing = backends::conformance::Refusing;

backends::conformance! { backend = Numpyish::new(), type = Numpyish, formulas = true }
