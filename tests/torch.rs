//! Every op on libtorch, in every dtype, against NumPy, through the backend chosen at run time; and every mapping
//! against libtorch's own schemas.

use backends::{
    prelude::*,
    runtime::{
        available,
        torch::{Aten, DtypeStrategy},
    },
};
// the methods of `AnyBackend` are compiled in that crate, and not again here
use backends_dynamic as _;

/// Fails allocations when the argument tests ask for it.
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
