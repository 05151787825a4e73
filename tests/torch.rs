//! Every row on libtorch, for every dtype, against NumPy; and every mapping against libtorch's own schemas.

use backends::{
    prelude::*,
    runtime::{
        available,
        torch::{Aten, DtypeStrategy},
    },
};

/// Refuses memory where the tests of all arguments ask for that.
#[global_allocator]
static ALLOCATOR: backends::conformance::Refusing = backends::conformance::Refusing;

backends::conformance! { backend = Torch::cpu(), type = Torch }

#[test]
fn mappings_fit_the_schemas() {
    if available("torch", Torch::cpu()).is_none() {
        return;
    }
    let mut checked = 0;
    for op in OPS {
        let mapping =
            op.backends.iter().find(|(library, _)| *library == "torch").map(|(_, runs)| runs.trim_matches('`'));
        let Some((path, args)) = mapping.filter(|m| m.starts_with("aten::")).and_then(|m| m.split_once('(')) else {
            continue;
        };
        let (name, overload) = path.split_once('.').unwrap_or((path, ""));
        let args = args.trim_end_matches(')').split(", ").count();
        Aten::new(op.name, name, overload, DtypeStrategy::Direct).check_schema(args).unwrap();
        checked += 1;
    }
    assert!(checked > 50, "{checked} mappings");
}
