//! Finds NVIDIA's libraries at run time. cudarc panics if a library is missing. Therefore [`Library::load`] first
//! verifies that the library is present and has every required function; before that, no function of cudarc is called.

use backend_core::{Error, Result};
use backend_load::{check, examine, places, trust::Trust, with_causes};
use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::Mutex,
};

/// A library that this backend calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    /// The driver, `libcuda`. It comes with the kernel module, and is searched for only on the system's search path.
    Driver,
    /// The run-time compiler.
    Nvrtc,
    /// Matrix products, and factorizations of many small matrices.
    Cublas,
    /// Fourier transforms.
    Cufft,
    /// Factorizations.
    Cusolver,
    /// Messages between GPUs. Its functions are in [`nccl`](super::nccl), because cudarc does not search for the
    /// library's actual name.
    Nccl,
}

/// For each library: whether it is already loaded. Failures are not recorded, so that a later call can find a library
/// that was installed in the meantime.
static LOADED: Mutex<[bool; 6]> = Mutex::new([false; 6]);

impl Library {
    /// Loads the library, so that cudarc's calls into it cannot panic. The error names the missing file and says how to
    /// install it.
    pub(crate) fn load(self) -> Result<()> {
        let mut loaded = LOADED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if !loaded[self as usize] {
            let mut refused = Vec::new();
            if self != Library::Driver {
                for (folders, trust) in PLACES {
                    if self.preload_any(folders(), trust, &mut refused) {
                        break;
                    }
                }
            }
            self.examine_by_name().map_err(|why| self.missing(&why))?;
            if !self.is_present() {
                refused.extend(self.loaders_reason());
                let why: Vec<String> = refused.iter().map(|why| format!(": {why}")).collect();
                return Err(self.missing(&format!("{} was not found{}", self.name(), why.concat())));
            }
            if let Some(symbol) = self.symbols().iter().find(|symbol| !self.has(symbol)) {
                return Err(self.missing(&format!("{} has no {symbol}: it is too old", self.name())));
            }
            loaded[self as usize] = true;
        }
        Ok(())
    }

    /// Opens the library from the first trusted folder that contains it. Returns whether the library was opened. If a
    /// folder is refused, adds the reason to `refused`.
    fn preload_any(self, folders: Vec<PathBuf>, trust: Trust, refused: &mut Vec<String>) -> bool {
        folders.iter().any(|folder| match self.preload(folder, trust) {
            Ok(opened) => opened,
            Err(why) => {
                if !refused.contains(&why) {
                    refused.push(why);
                }
                false
            }
        })
    }

    /// Examines the files that the system's loader could open by the library's bare name (without a folder), because
    /// cudarc opens the library by this name. The check must come first: loading a damaged library would end the
    /// process.
    fn examine_by_name(self) -> std::result::Result<(), String> {
        let folders = loaders_folders();
        let base = self.name().split_once(".so").map_or(self.name(), |(base, _)| base);
        for version in ["", ".13", ".12", ".11", ".10", ".2", ".1"] {
            let name = format!("{base}.so{version}");
            if let Some(path) = folders.iter().map(|folder| folder.join(&name)).find(|path| path.is_file()) {
                examine(&path, &folders, Trust::Named)?;
            }
        }
        Ok(())
    }

    /// The reason why the system's loader cannot open the library by name; `None` if it can.
    fn loaders_reason(self) -> Option<String> {
        open(Path::new(self.name())).err()
    }

    fn name(self) -> &'static str {
        match self {
            Library::Driver => "libcuda.so.1",
            Library::Nvrtc => "libnvrtc.so.13",
            Library::Cublas => "libcublas.so.13",
            Library::Cufft => "libcufft.so.12",
            Library::Cusolver => "libcusolver.so.12",
            Library::Nccl => "libnccl.so.2",
        }
    }

    fn missing(self, what: &str) -> Error {
        let advice = match self {
            Library::Driver => "install NVIDIA's driver (580 or newer)",
            Library::Nccl => "install NCCL or its Python package, or set CUDA_HOME",
            _ => "install the CUDA 13 toolkit or its Python packages, or set CUDA_HOME",
        };
        Error::unavailable("cuda", format!("{what}; {advice}"))
    }

    /// Returns the file name prefixes of the dependencies, and the possible file names of this library. The
    /// dependencies must be opened first, in this order.
    ///
    /// NVRTC opens its builtins by bare name, and cuBLAS and cuSOLVER are linked against other libraries. These
    /// dependencies must be loaded first, because their folder may not be on the search path.
    fn files(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Library::Driver => (&[], &[]),
            Library::Nvrtc => (&["libnvrtc-builtins.so."], &["libnvrtc.so.13", "libnvrtc.so.12"]),
            Library::Cublas => (&["libcublasLt.so."], &["libcublas.so.13", "libcublas.so.12"]),
            Library::Cufft => (&[], &["libcufft.so.12", "libcufft.so.11"]),
            Library::Cusolver => (
                &["libnvJitLink.so.", "libcublasLt.so.", "libcublas.so.", "libcusparse.so."],
                &["libcusolver.so.12", "libcusolver.so.11"],
            ),
            Library::Nccl => (&[], &["libnccl.so.2"]),
        }
    }

    /// Opens the library by its full path, after which cudarc finds it by its bare name. Returns false if the folder
    /// does not have the library. It is an error if the folder has it but is not trusted, or if loading fails.
    fn preload(self, folder: &Path, trust: Trust) -> std::result::Result<bool, String> {
        let (before, names) = self.files();
        if !names.iter().any(|name| folder.join(name).is_file()) {
            return Ok(false);
        }
        let folder = check::path(folder, trust)?;
        let names = names.iter().map(|name| folder.join(name));
        let Some(own) = names.into_iter().find(|path| path.is_file()) else { return Ok(false) };
        let others: Vec<PathBuf> =
            fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        let begins =
            |path: &&PathBuf, with: &str| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(with));
        let needed = before.iter().flat_map(|before| others.iter().filter(move |path| begins(path, before)));
        for path in needed.cloned().chain([own]) {
            open(&examine(&path, std::slice::from_ref(&folder), trust)?)?;
        }
        Ok(true)
    }

    fn is_present(self) -> bool {
        // SAFETY: each call only tries to open one of NVIDIA's shared libraries, whose initialisers have no
        // requirements.
        unsafe {
            match self {
                Library::Driver => cudarc::driver::sys::is_culib_present(),
                Library::Nvrtc => cudarc::nvrtc::sys::is_culib_present(),
                Library::Cublas => cudarc::cublas::sys::is_culib_present(),
                Library::Cufft => cudarc::cufft::sys::is_culib_present(),
                Library::Cusolver => cudarc::cusolver::sys::is_culib_present(),
                Library::Nccl => libloading::Library::new(self.name()).is_ok(),
            }
        }
    }

    fn has(self, symbol: &str) -> bool {
        // SAFETY: the library was found earlier, so opening it again succeeds. The symbol is only looked up, not
        // called.
        unsafe {
            let nccl;
            let library = match self {
                Library::Driver => cudarc::driver::sys::culib(),
                Library::Nvrtc => cudarc::nvrtc::sys::culib(),
                Library::Cublas => cudarc::cublas::sys::culib(),
                Library::Cufft => cudarc::cufft::sys::culib(),
                Library::Cusolver => cudarc::cusolver::sys::culib(),
                Library::Nccl => match libloading::Library::new(self.name()) {
                    Ok(library) => {
                        nccl = library;
                        &nccl
                    }
                    Err(_) => return false,
                },
            };
            library.get::<*const ()>(symbol.as_bytes()).is_ok()
        }
    }

    /// Names of the library's functions that this crate calls, directly or through cudarc.
    fn symbols(self) -> &'static [&'static str] {
        match self {
            Library::Driver => &[
                "cuInit",
                "cuDeviceGet",
                "cuDeviceGetCount",
                "cuDeviceGetName",
                "cuDeviceGetAttribute",
                "cuDeviceTotalMem_v2",
                "cuDeviceGetUuid_v2",
                "cuDriverGetVersion",
                "cuMemGetInfo_v2",
                "cuMemHostAlloc",
                "cuMemFreeHost",
                "cuDeviceGetDefaultMemPool",
                "cuMemPoolSetAttribute",
                "cuMemPoolGetAttribute",
                "cuMemPoolTrimTo",
                "cuDevicePrimaryCtxRetain",
                "cuCtxSetCurrent",
                "cuCtxGetCurrent",
                "cuStreamCreate",
                "cuStreamSynchronize",
                "cuMemAlloc_v2",
                "cuMemFree_v2",
                "cuMemAllocAsync",
                "cuMemFreeAsync",
                "cuMemcpyHtoDAsync_v2",
                "cuMemcpyDtoHAsync_v2",
                "cuMemcpyDtoDAsync_v2",
                "cuMemsetD8Async",
                "cuModuleLoadData",
                "cuModuleUnload",
                "cuModuleGetFunction",
                "cuLaunchKernel",
                "cuGetErrorName",
                "cuGetErrorString",
            ],
            Library::Nvrtc => &[
                "nvrtcVersion",
                "nvrtcGetNumSupportedArchs",
                "nvrtcGetSupportedArchs",
                "nvrtcCreateProgram",
                "nvrtcAddNameExpression",
                "nvrtcCompileProgram",
                "nvrtcGetLoweredName",
                "nvrtcGetProgramLogSize",
                "nvrtcGetProgramLog",
                "nvrtcGetCUBINSize",
                "nvrtcGetCUBIN",
                "nvrtcGetPTXSize",
                "nvrtcGetPTX",
                "nvrtcDestroyProgram",
            ],
            Library::Cublas => &[
                "cublasCreate_v2",
                "cublasSetStream_v2",
                "cublasSetMathMode",
                "cublasGemmStridedBatchedEx_64",
                "cublasSgetrfBatched",
                "cublasDgetrfBatched",
                "cublasCgetrfBatched",
                "cublasZgetrfBatched",
                "cublasSgetrsBatched",
                "cublasDgetrsBatched",
                "cublasCgetrsBatched",
                "cublasZgetrsBatched",
                "cublasStrsm_v2_64",
                "cublasDtrsm_v2_64",
                "cublasCtrsm_v2_64",
                "cublasZtrsm_v2_64",
                "cublasStrsmBatched",
                "cublasDtrsmBatched",
                "cublasCtrsmBatched",
                "cublasZtrsmBatched",
                "cublasDestroy_v2",
            ],
            Library::Cufft => &[
                "cufftCreate",
                "cufftMakePlanMany64",
                "cufftSetStream",
                "cufftSetAutoAllocation",
                "cufftSetWorkArea",
                "cufftExecC2C",
                "cufftExecZ2Z",
                "cufftExecR2C",
                "cufftExecD2Z",
                "cufftExecC2R",
                "cufftExecZ2D",
                "cufftDestroy",
            ],
            Library::Cusolver => &[
                "cusolverDnCreate",
                "cusolverDnSetStream",
                "cusolverDnCreateParams",
                "cusolverDnDestroyParams",
                "cusolverDnCreateGesvdjInfo",
                "cusolverDnDestroyGesvdjInfo",
                "cusolverDnXpotrf_bufferSize",
                "cusolverDnXpotrf",
                "cusolverDnXgetrf_bufferSize",
                "cusolverDnXgetrf",
                "cusolverDnXgeqrf_bufferSize",
                "cusolverDnXgeqrf",
                "cusolverDnXgesvd_bufferSize",
                "cusolverDnXgesvd",
                "cusolverDnXsyevd_bufferSize",
                "cusolverDnXsyevd",
                "cusolverDnXsyevBatched_bufferSize",
                "cusolverDnXsyevBatched",
                "cusolverDnXgeev_bufferSize",
                "cusolverDnXgeev",
                "cusolverDnXgetrs",
                "cusolverDnSpotrfBatched",
                "cusolverDnDpotrfBatched",
                "cusolverDnCpotrfBatched",
                "cusolverDnZpotrfBatched",
                "cusolverDnSorgqr_bufferSize",
                "cusolverDnSorgqr",
                "cusolverDnDorgqr_bufferSize",
                "cusolverDnDorgqr",
                "cusolverDnCungqr_bufferSize",
                "cusolverDnCungqr",
                "cusolverDnZungqr_bufferSize",
                "cusolverDnZungqr",
                "cusolverDnSgesvdjBatched_bufferSize",
                "cusolverDnSgesvdjBatched",
                "cusolverDnDgesvdjBatched_bufferSize",
                "cusolverDnDgesvdjBatched",
                "cusolverDnCgesvdjBatched_bufferSize",
                "cusolverDnCgesvdjBatched",
                "cusolverDnZgesvdjBatched_bufferSize",
                "cusolverDnZgesvdjBatched",
                "cusolverDnDestroy",
            ],
            Library::Nccl => &[
                "ncclGetVersion",
                "ncclGetUniqueId",
                "ncclCommInitRank",
                "ncclCommDestroy",
                "ncclCommAbort",
                "ncclCommGetAsyncError",
                "ncclGetErrorString",
                "ncclGetLastError",
                "ncclGroupStart",
                "ncclGroupEnd",
                "ncclSend",
                "ncclRecv",
            ],
        }
    }
}

/// Opens a shared library and keeps it open until the process ends. The error is the loader's reason for refusing.
fn open(path: &Path) -> std::result::Result<(), String> {
    // SAFETY: the file is one of NVIDIA's libraries, whose initialisers have no requirements.
    let library = unsafe { libloading::Library::new(path) };
    // closing the library would unload it while cudarc uses it
    library.map(std::mem::forget).map_err(|why| format!("{} does not load: {}", path.display(), with_causes(&why)))
}

/// A function that returns folders that may hold the toolkit's libraries.
type Folders = fn() -> Vec<PathBuf>;

/// The folders to search for libraries, in order; a library is loaded from the first folder that has it.
const PLACES: [(Folders, Trust); 3] = [(named, Trust::Named), (found, Trust::Found), (of_python, Trust::Found)];

/// The toolkit's library folders below the folders that the user named in `CUDA_HOME` and `CUDA_PATH`.
fn named() -> Vec<PathBuf> {
    let homes = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(env::var_os).filter(|home| !home.is_empty());
    let folders = |home: PathBuf| ["lib64", "lib", "nvidia/cu13/lib", "nvidia/nccl/lib", ""].map(|sub| home.join(sub));
    homes.map(PathBuf::from).flat_map(folders).collect()
}

/// Library folders, below `nvidia`, of NVIDIA's Python packages for CUDA 13 and of its NCCL package.
const OF_PACKAGES: [&str; 2] = ["cu13/lib", "nccl/lib"];

/// The library folders of NVIDIA's packages below one folder `nvidia`.
fn of_packages(nvidia: &Path) -> [PathBuf; 2] {
    OF_PACKAGES.map(|of| nvidia.join(of))
}

/// The folders that may hold the toolkit's libraries in the program's project, in the active environment and in the
/// system.
fn found() -> Vec<PathBuf> {
    let projects = places::projects().into_iter().map(|project| project.join("cuda/nvidia"));
    let mut folders: Vec<PathBuf> = projects.flat_map(|nvidia| of_packages(&nvidia)).collect();
    let active = ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(env::var_os).map(PathBuf::from);
    for prefix in active.filter(|prefix| prefix.is_absolute()).chain(["/usr/local", "/usr"].map(PathBuf::from)) {
        let versions = fs::read_dir(prefix.join("lib")).into_iter().flatten().flatten();
        for python in versions.filter(|entry| entry.file_name().to_string_lossy().starts_with("python3")) {
            let packages = ["site-packages", "dist-packages"].map(|name| python.path().join(name));
            folders.extend(packages.iter().flat_map(|folder| of_packages(&folder.join("nvidia"))));
        }
    }
    folders.extend(["/usr/local/cuda/lib64", "/usr/local/cuda-13/lib64"].map(PathBuf::from));
    folders
}

/// The library folders of NVIDIA's packages in the active Python.
fn of_python() -> Vec<PathBuf> {
    places::python_package("nvidia").iter().flat_map(|folder| of_packages(folder)).collect()
}

/// The folders where the system's loader searches for a bare name, as far as they can be read: `LD_LIBRARY_PATH`, the
/// folders in the loader's configuration, and the default folders.
fn loaders_folders() -> Vec<PathBuf> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let set = env::var_os("LD_LIBRARY_PATH").filter(|path| !path.is_empty());
    let mut folders: Vec<PathBuf> = set.iter().flat_map(env::split_paths).collect();
    let files = fs::read_dir("/etc/ld.so.conf.d").into_iter().flatten().flatten().map(|entry| entry.path());
    let texts = files.chain(["/etc/ld.so.conf".into()]).filter_map(|file| fs::read_to_string(file).ok());
    for text in texts {
        folders.extend(text.lines().map(str::trim).filter(|line| line.starts_with('/')).map(PathBuf::from));
    }
    folders.extend(["/lib64", "/usr/lib64", "/lib", "/usr/lib"].map(PathBuf::from));
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_and_nothing_panics() {
        for library in
            [Library::Driver, Library::Nvrtc, Library::Cublas, Library::Cufft, Library::Cusolver, Library::Nccl]
        {
            if let Err(error) = library.load() {
                assert!(matches!(error, Error::Unavailable { backend: "cuda", .. }));
                assert!(error.to_string().contains(library.name()), "{error}");
            }
        }
    }

    #[test]
    fn a_folder_without_the_library_is_passed_over() {
        assert_eq!(Library::Nvrtc.preload(Path::new("/nonexistent"), Trust::Found), Ok(false));
        let driver = Library::Driver.preload(Path::new("/"), Trust::Found);
        assert_eq!(driver, Ok(false), "the driver is never taken from a folder");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_damaged_or_planted_library_is_refused_with_the_reason() {
        use backend_load::private::Private;
        use std::os::unix::fs::PermissionsExt;
        let folder = Private::new().unwrap();
        let library = folder.path().join("libnvrtc.so.13");
        // the test uses its own executable as a library: half of the file is damaged, and the loader refuses the whole
        // file with an error message
        let whole = fs::read(env::current_exe().unwrap()).unwrap();
        fs::write(&library, &whole[..whole.len() / 2]).unwrap();
        let why = Library::Nvrtc.preload(folder.path(), Trust::Named).unwrap_err();
        assert!(why.contains("libnvrtc.so.13") && why.contains("damaged"), "{why}");
        fs::write(&library, &whole).unwrap();
        let why = Library::Nvrtc.preload(folder.path(), Trust::Named).unwrap_err();
        assert!(why.contains("cannot dynamically load"), "the loader's own reason: {why}");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let mut refused = Vec::new();
        assert!(!Library::Nvrtc.preload_any(vec![folder.path().into()], Trust::Found, &mut refused));
        assert!(refused[0].contains("can be written by all users"), "{refused:?}");
    }

    #[test]
    fn no_folder_is_searched_for_being_above_the_working_folder() {
        let here = env::current_dir().unwrap();
        let projects = places::projects();
        let above = here.ancestors().filter(|folder| !projects.iter().any(|project| project == folder));
        for folder in above {
            assert!(!found().contains(&folder.join("cuda/nvidia/cu13/lib")), "{}", folder.display());
        }
    }
}
