//! The software CUDA device for tests. Builds the device, and a folder that contains it under the names of NVIDIA's
//! libraries.

use crate::run::{Outcome, cargo, root, run};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// The file names of the driver, and of the libraries for devices, for which the backend searches.
const NAMES: [&str; 6] =
    ["libcuda.so.1", "libcublas.so.13", "libcublasLt.so.13", "libcufft.so.12", "libcusolver.so.12", "libnccl.so.2"];

/// The folder with the device, which must be first in the search path of libraries. The first call builds the device.
pub fn folder() -> Outcome<PathBuf> {
    static FOLDER: OnceLock<Outcome<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(built).clone()
}

fn built() -> Outcome<PathBuf> {
    // The device is built in a separate target folder. The tests build the same file with other features of its
    // dependencies, so in a shared folder each of the two builds would overwrite the other.
    let target = root().join("target/device");
    run(cargo().args(["build", "--quiet", "--package", "soft-cuda", "--target-dir"]).arg(&target))?;
    let built = target.join("debug/libsoft_cuda.so");
    let folder = root().join("target/soft-cuda");
    fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let version = |file: &Path| fs::metadata(file).and_then(|of| Ok((of.len(), of.modified()?))).ok();
    for name in NAMES {
        let link = folder.join(name);
        // keeps a file that is up to date, because other tests may be using it
        if version(&link).is_some() && version(&link) == version(&built) {
            continue;
        }
        let _ = fs::remove_file(&link);
        // all names are links to one file, so the loader loads only one library, and the driver and the libraries share
        // their state
        fs::hard_link(&built, &link).map_err(|why| format!("{}: {why}", link.display()))?;
    }
    Ok(folder)
}

/// Makes the software device the GPU of all programs that `command` runs.
pub fn as_gpu_of(command: &mut Command) -> Outcome<&mut Command> {
    let folder = folder()?;
    let others = std::env::var_os("LD_LIBRARY_PATH").filter(|path| !path.is_empty());
    let paths = std::iter::once(folder.clone()).chain(others.iter().flat_map(std::env::split_paths));
    let path = std::env::join_paths(paths).map_err(|why| why.to_string())?;
    Ok(command.env("LD_LIBRARY_PATH", path).env("BACKENDS_SOFT_CUDA", folder))
}

/// Makes the software device the GPU of tests. The backend allocates exactly as much memory as each array needs, so
/// that accesses beyond the end are detected. Compiled kernels are kept in the target folder.
pub fn on(command: &mut Command) -> Outcome<&mut Command> {
    let command = as_gpu_of(command)?;
    Ok(command.env("BACKENDS_CACHE", root().join("target/kernels")).env("BACKENDS_CUDA_CACHE", "0"))
}
