//! Every row of the table on ranks: those that an MPI launcher has started, else threads of this process, as many as `RANKS` says, by default 3.
//!
//! `mpiexec -n 4 BINARY --test-threads=1`, with `WORLD_TESTS=1`, runs the same tests on four processes.

use backends::prelude::*;
use backends_sharded::{Policy, Sharded, World, world::threads};
use std::sync::OnceLock;

backends::conformance! { backend = alone(), type = Sharded<Numpyish>, ranks = on_ranks, formulas = true }

/// So that the small arrays of the tests are split.
const POLICY: Policy = Policy::new().least(2);

fn alone() -> Result<Sharded<Numpyish>> {
    Sharded::with(Numpyish::new(), World::alone(), POLICY)
}

fn on_ranks(check: &(dyn Fn(&Sharded<Numpyish>) + Sync)) {
    let launched = std::env::var_os("WORLD_TESTS").is_some();
    if launched {
        static B: OnceLock<Sharded<Numpyish>> = OnceLock::new();
        return check(B.get_or_init(|| {
            let world = World::init().unwrap_or_else(|why| panic!("{why}"));
            Sharded::with(Numpyish::new(), world, POLICY).unwrap_or_else(|why| panic!("{why}"))
        }));
    }
    let ranks = std::env::var("RANKS").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    threads::run(ranks, |world| {
        let b = Sharded::with(Numpyish::seeded(0), world.clone(), POLICY).unwrap_or_else(|why| panic!("{why}"));
        check(&b);
    });
}
