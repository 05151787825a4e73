//! The software CUDA device, as tests load it: NVIDIA's library names in one folder.

use crate::run::{Outcome, cargo, root, run};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// The names under which the backend looks for the driver and for the libraries that run on a device.
const NAMES: [&str; 6] =
    ["libcuda.so.1", "libcublas.so.13", "libcublasLt.so.13", "libcufft.so.12", "libcusolver.so.12", "libnccl.so.2"];

/// The folder that has to come first where libraries are looked for. The device is built at the first call.
pub fn folder() -> Outcome<PathBuf> {
    static FOLDER: OnceLock<Outcome<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(built).clone()
}

fn built() -> Outcome<PathBuf> {
    // a target folder of its own: tests build the same file with other features of its dependencies, so that each of the two
    // commands would build it again
    let target = root().join("target/device");
    run(cargo().args(["build", "--quiet", "--package", "soft-cuda", "--target-dir"]).arg(&target))?;
    let built = target.join("debug/libsoft_cuda.so");
    let folder = root().join("target/soft-cuda");
    fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let version = |file: &Path| fs::metadata(file).and_then(|of| Ok((of.len(), of.modified()?))).ok();
    for name in NAMES {
        let link = folder.join(name);
        // other tests may run on it
        if version(&link).is_some() && version(&link) == version(&built) {
            continue;
        }
        let _ = fs::remove_file(&link);
        // one file under all names: the loader sees one library, as the driver and what runs on it share their state
        fs::hard_link(&built, &link).map_err(|why| format!("{}: {why}", link.display()))?;
    }
    Ok(folder)
}

/// Makes the software device the GPU of what `command` runs.
pub fn as_gpu_of(command: &mut Command) -> Outcome<&mut Command> {
    let folder = folder()?;
    let others = std::env::var_os("LD_LIBRARY_PATH").filter(|path| !path.is_empty());
    let paths = std::iter::once(folder.clone()).chain(others.iter().flat_map(std::env::split_paths));
    let path = std::env::join_paths(paths).map_err(|why| why.to_string())?;
    Ok(command.env("LD_LIBRARY_PATH", path).env("BACKENDS_SOFT_CUDA", folder))
}

/// The same for tests: every array is an allocation of its own and of exact size, and compiled kernels are kept in the
/// target folder.
pub fn on(command: &mut Command) -> Outcome<&mut Command> {
    let command = as_gpu_of(command)?;
    Ok(command.env("BACKENDS_CACHE", root().join("target/kernels")).env("BACKENDS_CUDA_CACHE", "0"))
}
