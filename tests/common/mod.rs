//! Helpers for tests of generic code: the backends of this machine, the test data, and comparisons.
#![allow(dead_code, unused_imports, reason = "no test uses all of it")]

mod near;

use backends::{Error, Result, prelude::*};
use backends_npz::Npz;
use ndarray::ArrayD;
pub use near::{near, near_l2, near_scalar};

/// Runs a generic function on every backend available on this machine. Libtorch and the GPU are used through
/// `AnyBackend`, so that the function is compiled twice and not three times.
#[macro_export]
macro_rules! on_every_backend {
    ($check:path) => {
        $check(&Numpyish::new()).unwrap_or_else(|e| panic!("numpyish: {e}"));
        if let Some(torch) = backends::runtime::available("torch", Torch::cpu()) {
            $check(&AnyBackend::from(torch)).unwrap_or_else(|e| panic!("torch: {e}"));
        }
        if let Some(cuda) = backends::runtime::available("cuda", Cuda::new(0)) {
            $check(&AnyBackend::from(cuda)).unwrap_or_else(|e| panic!("cuda: {e}"));
        }
    };
}

/// Result of a check. The error may be of any type, for example from an op or from a file.
pub type Checked = std::result::Result<(), Box<dyn std::error::Error>>;

/// Root folder of the crate. It is read from cargo's environment at run time, because the tests may run on another
/// machine than the build.
fn root() -> String {
    std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").into())
}

/// Opens `tests/data/{name}.npz`.
pub fn data(name: &str) -> Npz {
    Npz::open(format!("{}/tests/data/{name}.npz", root())).unwrap()
}

/// Opens the measurement of the EPR example.
pub fn phalanx() -> Npz {
    Npz::open(format!("{}/examples/data/phalanx.npz", root())).unwrap()
}

/// Converts `f64` data to an array of the backend, in the dtype `T`.
pub fn array<B: Backend, T: Real>(b: &B, x: &ArrayD<f64>) -> Result<B::Array<T>> {
    b.asarray(x.mapv(T::of))
}

/// Copies an array of the backend to the host, as `f64`.
pub fn host<B: Backend, T: Real>(b: &B, x: &B::Array<T>) -> Result<ArrayD<f64>> {
    Ok(b.to_ndarray(x)?.mapv(|v| v.to_f64()).into_owned())
}

/// Returns the folder of the software CUDA device (`tools/soft-cuda`), if `cargo xtask test` has built the device.
pub fn soft_cuda() -> Option<std::path::PathBuf> {
    let folder = std::env::var_os("BACKENDS_SOFT_CUDA").map(std::path::PathBuf::from);
    let why = || Error::unavailable("cuda", "`cargo xtask test` sets the software device up");
    backends::runtime::available("soft-cuda", folder.ok_or_else(why))
}

/// Functions that only the software CUDA device has. They are available if this process uses that device as its CUDA
/// driver.
pub struct SoftCuda(libloading::Library);

impl SoftCuda {
    /// Loads the CUDA driver. Returns `None` if there is no driver, or if the driver does not have these functions.
    pub fn open() -> Option<SoftCuda> {
        // SAFETY: the backend has already loaded the library that the loader finds under this name, so loading it again
        // runs no initialisation code.
        let driver = unsafe { libloading::Library::new("libcuda.so.1") }.ok()?;
        // SAFETY: the symbol is only looked up, and never called or read.
        let soft = unsafe { driver.get::<*const ()>(b"soft_cuda_copied") }.is_ok();
        soft.then_some(SoftCuda(driver))
    }

    /// Returns the number of bytes that this thread has copied from the device to the host.
    pub fn copied(&self) -> u64 {
        // SAFETY: the software device defines this function with this type.
        unsafe { self.0.get::<extern "C" fn() -> u64>(b"soft_cuda_copied") }.map_or(0, |copied| copied())
    }

    /// Returns the number of kernels that this thread has launched, and the number of allocations that it has
    /// attempted.
    pub fn launched_and_allocated(&self) -> [u64; 2] {
        ["soft_cuda_launched", "soft_cuda_allocated"].map(|name| {
            // SAFETY: the software device defines these functions with this type.
            unsafe { self.0.get::<extern "C" fn() -> u64>(name.as_bytes()) }.map_or(0, |count| count())
        })
    }

    /// Makes `count` allocations fail, beginning with the `n`-th allocation from now. If `n` or `count` is 0, no
    /// allocation fails.
    pub fn fail_allocations(&self, n: u64, count: u64) {
        // SAFETY: the software device defines this function with this type.
        if let Ok(fail) = unsafe { self.0.get::<extern "C" fn(u64, u64)>(b"soft_cuda_fail_allocations") } {
            fail(n, count);
        }
    }
}
