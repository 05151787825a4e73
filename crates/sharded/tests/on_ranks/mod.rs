//! Ranks for the conformance tests: threads of this process, or processes that an MPI launcher has started. `RANKS`
//! sets the number of threads; by default, the tests run on 3 or on 7 threads, and in an exhaustive run on both.

use backends::prelude::*;
use backends_sharded::{Policy, Sharded, World, world::threads};
use std::sync::OnceLock;

/// A policy that splits even the small arrays of the tests.
pub const POLICY: Policy = Policy::new().least(2);

/// Runs a check on each number of ranks. `open` returns the backend of a rank.
pub fn run<B: Backend>(open: fn() -> B, check: &(dyn Fn(&Sharded<B>) + Sync)) {
    let opened = |world| Sharded::with(open(), world, POLICY).unwrap_or_else(|why| panic!("{why}"));
    if std::env::var_os("WORLD_TESTS").is_some() {
        static WORLD: OnceLock<World> = OnceLock::new();
        let world = WORLD.get_or_init(|| World::init().unwrap_or_else(|why| panic!("{why}")));
        return check(&opened(world.clone()));
    }
    let wanted = std::env::var("RANKS").ok().and_then(|n| n.parse().ok());
    let of_test = if is_exhaustive() { vec![3, 7] } else { vec![sampled([3, 7])] };
    for ranks in wanted.map_or(of_test, |n| vec![n]) {
        threads::run(ranks, |world| check(&opened(world.clone())));
    }
}

/// Returns whether every op is tested with every number of ranks, as by `cargo xtask test --exhaustive`.
pub fn is_exhaustive() -> bool {
    std::env::var_os("BACKENDS_EXHAUSTIVE").is_some()
}

/// Selects one of the numbers by the name of the running test, so that the selection is always the same.
fn sampled<const N: usize>(numbers: [usize; N]) -> usize {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or_default();
    numbers[name.bytes().map(usize::from).sum::<usize>() % N]
}
