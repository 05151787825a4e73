//! The backend: a GPU and a random stream.

use super::{device::Device, info};
use crate::{Result, random::Stream};
use std::{
    fmt,
    sync::{Arc, LazyLock},
};

/// An NVIDIA GPU. Cheap to clone; all values of one GPU share its stream, its memory and its kernels.
#[derive(Clone)]
pub struct Cuda {
    pub(super) device: Arc<Device>,
    pub(super) random: Stream,
}

/// The random stream of every [`Cuda::new`].
static SHARED: LazyLock<Stream> = LazyLock::new(Stream::from_entropy);

impl Cuda {
    /// The GPU of this ordinal, or what is missing: the driver, the compiler or the device.
    pub fn new(ordinal: usize) -> Result<Cuda> {
        Ok(Cuda { device: Device::open(ordinal)?, random: SHARED.clone() })
    }

    /// As [`Cuda::new`], with a random stream of its own that starts from `seed`.
    pub fn seeded(ordinal: usize, seed: u64) -> Result<Cuda> {
        Ok(Cuda { device: Device::open(ordinal)?, random: Stream::new(seed) })
    }

    /// How many GPUs the driver has.
    ///
    /// # Errors
    /// [`Error::Unavailable`](crate::Error::Unavailable) without a driver; that of the driver where it has none.
    pub fn count() -> Result<usize> {
        info::count()
    }

    /// The stream of random numbers.
    pub fn stream(&self) -> &Stream {
        &self.random
    }

    /// Whether freed memory of the device is kept for reuse, as it is at first unless `BACKENDS_CUDA_CACHE=0` is set.
    /// Without it every array is an allocation of exactly its size, in which tools see what goes beyond.
    pub fn caching(&self, on: bool) -> Result<()> {
        self.device.set_caching(on)
    }

    /// Gives freed memory that is kept for reuse back to the driver; [`Arrays::free_cache`](crate::Arrays::free_cache) also gives back
    /// kernels, plans of transforms and libraries' work areas, which take longer to make again.
    pub fn release_memory(&self) -> Result<()> {
        self.device.release_cached("release_memory")
    }
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cuda({})", self.device.name())
    }
}
