//! Finding NVIDIA's libraries at run time: cudarc panics where one is missing, so nothing of it is touched before
//! [`Library::load`] has said that the library is there and has every function that is called.

use crate::{Error, Result};
use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::Mutex,
};

/// A library this backend calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    /// The driver, `libcuda`. It comes with the kernel module and is only looked for on the system's search path.
    Driver,
    /// The run-time compiler.
    Nvrtc,
    /// Matrix products.
    Cublas,
    /// Fourier transforms.
    Cufft,
}

/// Loaded libraries; a failure is not kept, so that a later call may find what was installed meanwhile.
static LOADED: Mutex<[bool; 4]> = Mutex::new([false; 4]);

impl Library {
    /// Makes cudarc's calls into this library safe from its panics, or says what is missing.
    pub(crate) fn load(self) -> Result<()> {
        let mut loaded = LOADED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if !loaded[self as usize] {
            if self != Library::Driver {
                search_folders().iter().any(|folder| self.preload(folder));
            }
            if !self.is_present() {
                return Err(self.missing(&format!("{} was not found", self.name())));
            }
            if let Some(symbol) = self.symbols().iter().find(|symbol| !self.has(symbol)) {
                return Err(self.missing(&format!("{} has no {symbol}: it is too old", self.name())));
            }
            loaded[self as usize] = true;
        }
        Ok(())
    }

    fn name(self) -> &'static str {
        match self {
            Library::Driver => "libcuda.so.1",
            Library::Nvrtc => "libnvrtc.so.13",
            Library::Cublas => "libcublas.so.13",
            Library::Cufft => "libcufft.so.12",
        }
    }

    fn missing(self, what: &str) -> Error {
        let advice = match self {
            Library::Driver => "install NVIDIA's driver (580 or newer)",
            _ => "install the CUDA 13 toolkit or its Python packages, or set CUDA_HOME",
        };
        Error::Unavailable { backend: "cuda", why: format!("{what}; {advice}") }
    }

    /// File names to open before this library, by their beginning, and the library's own.
    ///
    /// NVRTC opens its builtins by bare name, and cuBLAS is linked to cuBLASLt: both must be in the process already
    /// where their folder is not on the search path.
    fn files(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Library::Driver => ("", &[]),
            Library::Nvrtc => ("libnvrtc-builtins.so.", &["libnvrtc.so.13", "libnvrtc.so.12"]),
            Library::Cublas => ("libcublasLt.so.", &["libcublas.so.13", "libcublas.so.12"]),
            Library::Cufft => ("", &["libcufft.so.12", "libcufft.so.11"]),
        }
    }

    /// Opens the library by its full path, for cudarc to find it by its bare name. Whether that worked.
    fn preload(self, folder: &Path) -> bool {
        let (before, names) = self.files();
        let Some(own) = names.iter().map(|name| folder.join(name)).find(|path| path.is_file()) else {
            return false;
        };
        if !before.is_empty() {
            let others = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
            let starts = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(before));
            others.filter(|path| starts(path)).for_each(|path| {
                open(&path);
            });
        }
        open(&own)
    }

    fn is_present(self) -> bool {
        // SAFETY: each call only tries to open a shared library of NVIDIA's, whose initialisers have no requirements.
        unsafe {
            match self {
                Library::Driver => cudarc::driver::sys::is_culib_present(),
                Library::Nvrtc => cudarc::nvrtc::sys::is_culib_present(),
                Library::Cublas => cudarc::cublas::sys::is_culib_present(),
                Library::Cufft => cudarc::cufft::sys::is_culib_present(),
            }
        }
    }

    fn has(self, symbol: &str) -> bool {
        // SAFETY: the library is present (asked before), so `culib` opens it; the symbol is only looked up, not called.
        unsafe {
            let library = match self {
                Library::Driver => cudarc::driver::sys::culib(),
                Library::Nvrtc => cudarc::nvrtc::sys::culib(),
                Library::Cublas => cudarc::cublas::sys::culib(),
                Library::Cufft => cudarc::cufft::sys::culib(),
            };
            library.get::<*const ()>(symbol.as_bytes()).is_ok()
        }
    }

    /// The functions that are called of each library, by this crate and by the parts of cudarc it uses.
    fn symbols(self) -> &'static [&'static str] {
        match self {
            Library::Driver => &[
                "cuInit",
                "cuDeviceGet",
                "cuDeviceGetCount",
                "cuDeviceGetName",
                "cuDeviceGetAttribute",
                "cuDeviceGetDefaultMemPool",
                "cuMemPoolSetAttribute",
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
        }
    }
}

/// Opens a shared library for the life of the process.
fn open(path: &Path) -> bool {
    // SAFETY: the file is one of NVIDIA's libraries, whose initialisers have no requirements.
    let library = unsafe { libloading::Library::new(path) };
    // closing it would take it from under cudarc
    library.map(std::mem::forget).is_ok()
}

/// Folders that may hold the toolkit's libraries, the one named on purpose first.
fn search_folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for home in ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(env::var_os).map(PathBuf::from) {
        folders.extend(["lib64", "lib", "nvidia/cu13/lib", ""].map(|sub| home.join(sub)));
    }
    let starts = [env::current_dir().ok(), env::current_exe().ok()];
    for start in starts.iter().flatten() {
        folders.extend(start.ancestors().map(|folder| folder.join("cuda/nvidia/cu13/lib")));
    }
    let environments = ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(env::var_os).map(PathBuf::from);
    for prefix in environments.chain(["/usr/local", "/usr", "/opt/venv"].map(PathBuf::from)) {
        let versions = fs::read_dir(prefix.join("lib")).into_iter().flatten().flatten();
        for python in versions.filter(|entry| entry.file_name().to_string_lossy().starts_with("python3")) {
            let packages = ["site-packages", "dist-packages"].map(|name| python.path().join(name));
            folders.extend(packages.map(|folder| folder.join("nvidia/cu13/lib")));
        }
    }
    folders.extend(["/usr/local/cuda/lib64", "/usr/local/cuda-13/lib64"].map(PathBuf::from));
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_and_nothing_panics() {
        for library in [Library::Driver, Library::Nvrtc, Library::Cublas, Library::Cufft] {
            if let Err(error) = library.load() {
                assert!(matches!(error, Error::Unavailable { backend: "cuda", .. }));
                assert!(error.to_string().contains(library.name()), "{error}");
            }
        }
    }

    #[test]
    fn a_folder_without_the_library_is_passed_over() {
        assert!(!Library::Nvrtc.preload(Path::new("/nonexistent")));
        assert!(!Library::Driver.preload(Path::new("/")), "the driver is never taken from a folder");
    }
}
