//! Tests every row (op) of the op table on ranks, in the dtypes that the test program `conformance` leaves out. Only
//! `cargo xtask test --exhaustive` runs these tests, and `cargo test -p backends-sharded --test other_dtypes`.

mod on_ranks;

use backends::{Result, prelude::*};
use backends_sharded::{Sharded, World};
use on_ranks::POLICY;

backends::conformance! {
    backend = alone(),
    type = Sharded<AnyBackend>,
    ranks = ranks,
    dtypes = [
        "int16", "int32", "uint8", "uint16", "uint32", "uint64", "bfloat16", "float32", "complex128",
    ],
}

fn alone() -> Result<Sharded<AnyBackend>> {
    Sharded::with(Numpyish::new().into(), World::alone(), POLICY)
}

fn ranks(check: &(dyn Fn(&Sharded<AnyBackend>) + Sync)) {
    on_ranks::run(|| Numpyish::seeded(0).into(), check);
}
