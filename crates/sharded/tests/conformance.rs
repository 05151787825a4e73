//! Tests every row (op) of the op table on ranks: on processes that an MPI launcher has started, or on threads of this
//! process. `RANKS` sets the number of threads; by default, the tests run on 3 and then on 7 threads.
//!
//! `mpiexec -n 4 BINARY --test-threads=1`, with `WORLD_TESTS=1`, runs the same tests on four processes.

use backends::{Error, Result, prelude::*, runtime::available};
use backends_sharded::{Policy, Sharded, World, world::threads};
use mpiexec::Mpi;
use std::{sync::OnceLock, time::Duration};

backends::conformance! { backend = alone(), type = Sharded<Numpyish>, ranks = on_ranks, formulas = true }

/// A policy that splits even the small arrays of the tests.
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
    let wanted = std::env::var("RANKS").ok().and_then(|n| n.parse().ok());
    let of_test = if is_exhaustive() { vec![3, 7] } else { vec![sampled([3, 7])] };
    for ranks in wanted.map_or(of_test, |n| vec![n]) {
        threads::run(ranks, |world| {
            let b = Sharded::with(Numpyish::seeded(0), world.clone(), POLICY).unwrap_or_else(|why| panic!("{why}"));
            check(&b);
        });
    }
}

/// Returns whether every op is tested with every number of ranks, as by `cargo xtask test --exhaustive`.
fn is_exhaustive() -> bool {
    std::env::var_os("BACKENDS_EXHAUSTIVE").is_some()
}

/// Selects one of the numbers by the name of the running test, so that the selection is always the same.
fn sampled<const N: usize>(numbers: [usize; N]) -> usize {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or_default();
    numbers[name.bytes().map(usize::from).sum::<usize>() % N]
}

/// Runs the same tests on processes: the launcher of each MPI library starts this binary. All dtypes are tested only in
/// an exhaustive run, on two ranks under MPICH.
#[test]
#[cfg(target_os = "linux")]
fn on_processes() {
    if std::env::var_os("WORLD_TESTS").is_some() {
        return;
    }
    let none = || Error::unavailable("mpi", "`cargo xtask setup` fetches it");
    let Some(folder) = available("mpi", mpiexec::folder().ok_or_else(none)) else { return };
    let program = std::env::current_exe().unwrap();
    let few = &["::float64", "::complex64", "::int64", "::formula"][..];
    let one = &["::float64"][..];
    let all = [
        (Mpi::Standard, 1, few),
        (Mpi::Standard, 2, &[][..]),
        (Mpi::Standard, 3, few),
        (Mpi::Standard, 4, few),
        (Mpi::OpenMpi, 2, few),
    ];
    let sampled = [(Mpi::Standard, 3, few), (Mpi::OpenMpi, 2, one)];
    for &(mpi, ranks, wanted) in if is_exhaustive() { &all[..] } else { &sampled } {
        let mut command = mpiexec::mpiexec(mpi, &folder, ranks);
        // random arguments are tested on threads only, where a difference between the ranks is detected at once
        command.env("WORLD_TESTS", "1").env("WORLD_TIMEOUT", "300").env("RAYON_NUM_THREADS", "1").arg(&program);
        command.args(["--test-threads=1", "--skip", "::arguments", "--skip", "::errors"]).args(wanted);
        let finished = mpiexec::finish(&mut command, Duration::from_secs(1200)).unwrap();
        let has_passed = finished.status.is_some_and(|status| status.success());
        assert!(has_passed, "{mpi} on {ranks} ranks: {:?}\n{}", finished.status, finished.output);
    }
}
