//! Tests every op on libtorch, in every dtype, against NumPy. The backend is chosen at run time. Also compares each
//! mapping of an op to a function of libtorch with libtorch's own schema of this function.

use backends::{
    OPS,
    prelude::*,
    runtime::{
        available,
        torch::{Aten, DtypeStrategy},
    },
};
// `backends_dynamic` contains the compiled methods of `AnyBackend`; without it, they would be compiled again here
use backends_dynamic as _;

/// The allocator of this test program. The tests with random arguments make it refuse some allocations.
#[global_allocator]
static ALLOCATOR: backends::conformance::Refusing = backends::conformance::Refusing;

backends::conformance! { backend = Torch::cpu().map(AnyBackend::from), type = AnyBackend }

#[test]
fn mappings_fit_the_schemas() {
    if available("torch", Torch::cpu()).is_none() {
        return;
    }
    let mut checked = 0;
    for op in OPS {
        let Some((name, overload, args)) = op.aten else { continue };
        Aten::new(op.name, name, overload, DtypeStrategy::Direct).check_schema(args).unwrap();
        checked += 1;
    }
    assert!(checked > 50, "{checked} mappings");
}
