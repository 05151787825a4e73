//! Tests every op on the CPU, in every dtype, against NumPy: the methods of `Numpyish`, and calls by name on
//! `AnyBackend`, which run the entries of the rows.

use backends::prelude::*;
// `backends_dynamic` contains the calls by name, so they are not compiled again here
use backends_dynamic as _;

/// The allocator of this test program. The tests with random arguments make it refuse some allocations.
#[global_allocator]
static ALLOCATOR: backends::conformance::Refusing = backends::conformance::Refusing;

backends::conformance! { backend = Numpyish::new(), type = Numpyish, formulas = true, methods = true }

mod by_name {
    use super::*;

    backends::conformance! { backend = AnyBackend::from(Numpyish::new()), type = AnyBackend }
}
