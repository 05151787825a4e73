//! Defines `Cuda`, the backend: a GPU and a stream of random numbers.

use super::{device::Device, info};
use backend_core::{Result, random::Stream};
use std::{
    fmt,
    sync::{Arc, LazyLock},
};

/// An NVIDIA GPU. Cheap to clone; all `Cuda` values for one GPU share its CUDA stream, memory and kernels.
#[derive(Clone)]
pub struct Cuda {
    pub(super) device: Arc<Device>,
    pub(super) random: Stream,
}

/// The stream of random numbers that all backends made by [`Cuda::new`] share.
static SHARED: LazyLock<Stream> = LazyLock::new(Stream::from_entropy);

impl Cuda {
    /// Opens the GPU with the driver's number `ordinal`, counted from 0. The error names the missing part: the driver,
    /// the compiler or the device.
    pub fn new(ordinal: usize) -> Result<Cuda> {
        Ok(Cuda { device: Device::open(ordinal)?, random: SHARED.clone() })
    }

    /// Opens the GPU like [`Cuda::new`], with a separate stream of random numbers, which is seeded with `seed`.
    pub fn seeded(ordinal: usize, seed: u64) -> Result<Cuda> {
        Ok(Cuda { device: Device::open(ordinal)?, random: Stream::new(seed) })
    }

    /// Number of GPUs that the driver finds.
    ///
    /// # Errors
    /// [`Error::Unavailable`](backend_core::Error::Unavailable) without a driver; the driver's own error if it finds no GPU.
    pub fn count() -> Result<usize> {
        info::count()
    }

    /// The stream of random numbers.
    pub fn stream(&self) -> &Stream {
        &self.random
    }

    /// Sets whether freed device memory is kept for reuse. The default is on, unless `BACKENDS_CUDA_CACHE=0` is set.
    /// When off, every array is an allocation of exactly its size, so that memory checkers detect accesses beyond its
    /// end.
    pub fn caching(&self, on: bool) -> Result<()> {
        self.device.set_caching(on)
    }

    /// Returns to the driver the freed memory that is kept for reuse. [`Arrays::free_cache`](backend_core::Arrays::free_cache)
    /// also drops kernels, FFT plans and the libraries' work areas, which take longer to recreate.
    pub fn release_memory(&self) -> Result<()> {
        self.device.release_cached("release_memory")
    }
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cuda({})", self.device.name())
    }
}
