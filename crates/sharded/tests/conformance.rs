//! Tests every row (op) of the op table on ranks, in dtypes of each kind and in narrow dtypes; the test program
//! `other_dtypes` tests the other dtypes.
//!
//! `mpiexec -n 4 BINARY --test-threads=1`, with `WORLD_TESTS=1`, runs the same tests on four processes.

mod on_ranks;

use backends::{Error, Result, prelude::*, runtime::available};
use backends_sharded::{Sharded, World};
use mpiexec::Mpi;
use on_ranks::{POLICY, is_exhaustive};
use std::time::Duration;

backends::conformance! {
    backend = alone(),
    type = Sharded<Numpyish>,
    ranks = ranks,
    formulas = true,
    dtypes = ["bool", "int8", "int64", "float16", "float64", "complex64"],
}

fn alone() -> Result<Sharded<Numpyish>> {
    Sharded::with(Numpyish::new(), World::alone(), POLICY)
}

fn ranks(check: &(dyn Fn(&Sharded<Numpyish>) + Sync)) {
    on_ranks::run(|| Numpyish::seeded(0), check);
}

/// Runs the same tests on processes: the launcher of each MPI library starts this binary. All dtypes of this program are
/// tested only in an exhaustive run, on two ranks under MPICH.
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
