//! Downloads the libraries that the tests load: libtorch, NVIDIA's run-time compiler, and two MPI libraries with their
//! launchers.
//!
//! All of these libraries are downloaded as Python packages. Only the libraries, headers and launchers in the packages
//! are used; the tests do not need Python for them.

use crate::{
    mpi,
    python::pip,
    run::{Outcome, failed, root, run},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process,
};

/// The version of libtorch that is tested.
const TORCH: &str = "2.11.0";

/// The run-time compiler of CUDA 13.0. Its output runs with every driver of version 580 or later.
const NVRTC: &str = "nvidia-cuda-nvrtc==13.0.88";

/// A file with the names of the downloaded packages. It is written last, so its existence shows that the folder is
/// complete.
const MARK: &str = ".packages";

/// The task `setup [--torch VERSION]`: downloads the libraries.
pub fn task(args: &[String]) -> Outcome {
    let version = match args {
        [] => TORCH,
        [flag, version] if flag == "--torch" => version,
        _ => return Err("usage: cargo xtask setup [--torch VERSION]".into()),
    };
    fetch("libtorch", &libtorch(version), install)?;
    if linux_x86() {
        fetch("cuda", &[NVRTC.into()], install)?;
    } else {
        println!("cuda: NVRTC is fetched on x86-64 Linux only");
    }
    if cfg!(target_os = "linux") {
        fetch(mpi::FOLDER, &mpi::PACKAGES.map(String::from), mpi::unpack)?;
    } else {
        println!("{}: MPI is fetched on Linux only", mpi::FOLDER);
    }
    Ok(())
}

/// The packages of libtorch. On x86-64 Linux, libtorch's library for the CPU is linked to two of NVIDIA's libraries.
fn libtorch(version: &str) -> Vec<String> {
    let torch = format!("torch=={version}");
    match (linux_x86(), version) {
        (false, _) => vec![torch],
        (true, TORCH) => {
            vec![torch, "nvidia-cuda-runtime==13.0.96".into(), "nvidia-cuda-cupti==13.0.85".into()]
        }
        (true, _) => vec![torch, "nvidia-cuda-runtime==13.*".into(), "nvidia-cuda-cupti==13.*".into()],
    }
}

fn linux_x86() -> bool {
    cfg!(all(target_os = "linux", target_arch = "x86_64"))
}

/// Downloads packages into a folder of the repository, by calling `place`. Does nothing if the folder already has these
/// packages.
fn fetch(folder: &str, packages: &[String], place: impl Fn(&[String], &Path) -> Outcome) -> Outcome {
    let target = root().join(folder);
    let mark = packages.join("\n");
    if fs::read_to_string(target.join(MARK)).is_ok_and(|there| there == mark) {
        println!("{folder}: is there");
        return Ok(());
    }
    println!("{folder}: fetching {}", packages.join(", "));
    // the folder has a temporary name until it is complete, so that an interrupted set-up leaves no folder that seems
    // complete
    let part = TemporaryFolder::new(&root(), folder)?;
    place(packages, &part.0)?;
    fs::write(part.0.join(MARK), mark).map_err(|why| failed(&part.0, &why))?;
    if target.exists() {
        fs::remove_dir_all(&target).map_err(|why| failed(&target, &why))?;
    }
    fs::rename(&part.0, &target).map_err(|why| failed(&target, &why))
}

/// Installs packages, without their dependencies, into a folder.
fn install(packages: &[String], folder: &Path) -> Outcome {
    run(pip("install").args(["--root-user-action=ignore", "--target"]).arg(folder).args(packages))
}

/// A folder that is removed when the value is dropped, unless the folder has been renamed.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn new(root: &Path, folder: &str) -> Outcome<TemporaryFolder> {
        let path = root.join("target").join(format!("{folder}.{}", process::id()));
        fs::create_dir_all(&path).map_err(|why| failed(&path, &why))?;
        Ok(TemporaryFolder(path))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
