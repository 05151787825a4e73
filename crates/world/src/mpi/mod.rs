//! The MPI transport, with a library that is found and loaded at run time.
//!
//! # Choice of the library
//! The places below are searched for libraries in this order. The first library of the launcher's family is used. If
//! no library of this family exists, the first library found is used.
//!
//! 1. `WORLD_MPI`: the path of a library, a folder that contains one, or a name for the system's loader. If it is set,
//!    nothing else is searched. With `none`, no library is used.
//! 2. The library folders in `MPI_HOME`, `I_MPI_ROOT`, `OPAL_PREFIX`, and in the active Python environment,
//!    `VIRTUAL_ENV` or `CONDA_PREFIX`.
//! 3. The folders next to every `mpiexec` on the search path.
//! 4. The folders of the system's loader.
//!
//! Libraries that implement the binary interface of the MPI-5 standard are used through this interface. Other versions
//! of MPICH (also Intel MPI, Cray MPICH, MVAPICH) and Open MPI are used through their own interfaces. The interface is
//! determined by the version that a library reports, and never by its file name.
//!
//! A library that another user can have written is never loaded; the project's guide to security has the rules.
//!
//! # Choice of the launcher
//! The library and `mpiexec` must belong to one family. If a launcher has started several ranks but the library knows
//! of only one, [`World::init`] returns [`Error::Foreign`], because every process would do all of the work. Under
//! Slurm, `srun --mpi` chooses the interface.
//!
//! Packages of Open MPI for Python do not know the folder in which they are installed. Before calling `mpiexec`, set
//! `OPAL_PREFIX` to the folder that contains their `bin`.
//!
//! # Finalisation
//! When the last handle of the world is dropped, MPI is finalised. This waits for all ranks. If a rank calls `exit`
//! before that, or is killed, all ranks end. With `WORLD_TESTS=1`, MPI is finalised at `exit` instead, because test
//! harnesses end by `exit`. All ranks must run the same tests, one at a time (`--test-threads=1`).

mod abi;
mod arguments;
mod comm;
mod find;
mod functions;
mod launcher;
mod load;
mod reduce;
mod request;
mod session;
mod shared;
mod slot;

use crate::{
    DType, Error, Result, Transport, World, bytes,
    environment::is_set,
    say::say,
    watch::{self, Limit},
};
use comm::Mpi;
use launcher::launcher;
use session::Session;
use slot::{Slot, WORLD};
use std::{sync::PoisonError, time::Duration};

impl World {
    /// Returns the world of the ranks that a launcher started (`mpiexec -n 4 program`), with the MPI library that is
    /// found. Without a launcher, the world has a single rank, and no library is needed.
    ///
    /// All calls of `init` return handles of the same world. When the last handle is dropped, the process waits for
    /// all ranks, MPI is finalised, and the world no longer exists. [`run`](crate::run) takes care of this. The module
    /// [`mpi`](crate::mpi) describes the search for the library and the environment variables.
    ///
    /// # Errors
    /// - [`Error::NoLibrary`]: a launcher started several ranks, but no library was found.
    /// - [`Error::Foreign`]: the library does not belong to the launcher.
    /// - [`Error::Abi`]: the library must not be loaded, or its binary interface is unknown.
    /// - [`Error::Mpi`]: the library failed, or MPI was finalised before.
    pub fn init() -> Result<World> {
        let mut slot = WORLD.lock().unwrap_or_else(PoisonError::into_inner);
        match &*slot {
            Slot::Kept(world) => return Ok(world.clone()),
            Slot::Failed(why) => return Err(why.clone()),
            Slot::Lent(lent) => {
                if let Some(world) = lent.upgrade() {
                    return Ok(world);
                }
                if Session::get().is_some() {
                    let message =
                        "MPI was finalised when the last handle of the world was dropped, and cannot be started again"
                            .into();
                    return Err(Error::Mpi { call: "MPI_Init_thread", message });
                }
            }
            Slot::Empty => {}
        }
        let made = begin();
        *slot = match &made {
            Ok(world) if is_set("WORLD_TESTS") => Slot::Kept(world.clone()),
            Ok(world) => Slot::Lent(world.downgrade()),
            Err(why) => Slot::Failed(why.clone()),
        };
        made
    }
}

/// Loads and initialises the library, and creates the world of its ranks; a world with a single rank if there is no
/// library.
fn begin() -> Result<World> {
    let (check, limit) = (is_set("WORLD_CHECK"), watch::limit_of_environment()?);
    let launcher = launcher();
    let Some(loaded) = load::library(launcher)? else { return Ok(World::alone()) };
    if let Some(launcher) = launcher.filter(|launcher| launcher.size > 1 && loaded.is_foreign_to(*launcher)) {
        // prints the message now, because some libraries, when they are initialised below, end the process with a
        // message that does not name the cause
        say_once(&format!(
            "{launcher}, and {} ({}) is a library of another family: if it fails to start, set WORLD_MPI to the path of the launcher's library",
            loaded.version, loaded.path
        ));
    }
    let mpi = Mpi::world(Session::begin(loaded)?)?;
    if let Some(launcher) = launcher.filter(|launcher| launcher.size > 1 && mpi.size() == 1) {
        return Err(Error::Foreign {
            launcher: launcher.to_string(),
            started: launcher.size,
            library: mpi.name(),
            size: mpi.size(),
        });
    }
    // rank 0's environment applies to all ranks, because launchers do not pass every variable to every machine
    let mut settings = [u64::from(check), limit.to_number()];
    mpi.broadcast(bytes::of_mut(&mut settings), DType::UInt64, 0)?;
    let limit = Limit::of_number(settings[1]);
    let (size, board) = (mpi.size(), mpi.board()?);
    let world = World::with(Box::new(mpi), settings[0] != 0, limit.given());
    if size > 1 {
        world.look(board, limit == Limit::Default);
    }
    Ok(world)
}

/// Marks the program as done, even if handles of the world remain. From now on, `exit` is not reported as a failure.
pub(crate) fn done() {
    session::finish_at_exit();
}

/// Prints a text. If the rank of each process is known from the launcher, only rank 0 prints.
pub(crate) fn say_once(text: &str) {
    match launcher().and_then(|launcher| launcher.rank) {
        // rank 0 prints; other ranks wait, because the launcher may end all ranks as soon as one has failed
        Some(rank) if rank > 0 => std::thread::sleep(Duration::from_millis(500)),
        _ => say(text),
    }
}
