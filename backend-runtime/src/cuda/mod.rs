//! NVIDIA GPUs, through cudarc: kernels generated from the rows and compiled at run time, cuBLAS and cuFFT.
//!
//! One file per group of the table, and below them: `library` finds NVIDIA's libraries, `device` holds a GPU and its
//! stream, `memory` its allocations, `array` the arrays, [`nvrtc`] the compiler, [`kernel`] what is compiled with it, `map`
//! the kernels around scalar expressions, `copy` those between layouts. [`check`] lists all kernels, to be compiled on a
//! machine without a GPU. Nothing of CUDA is needed to build this.
//!
//! What is looked for at run time: the driver on the system's search path; NVRTC, cuBLAS and cuFFT in `$CUDA_HOME`, in the
//! folder `cuda` of the program's cargo project, in Python's packages, in the toolkit's usual folder; never where another user
//! may have put them. Compiled kernels are kept in `$BACKENDS_CACHE`, else in the user's cache folder, if he has one. `BACKENDS_CUDA_CACHE=0` turns the reuse
//! of freed memory off.

pub mod ahead;
mod array;
mod cache;
pub mod check;
mod compact;
mod copy;
pub mod create;
mod device;
pub mod elementwise;
mod error;
pub mod fft;
pub mod index;
pub mod kernel;
mod library;
pub mod linalg;
mod map;
mod memory;
pub mod nvrtc;
pub mod random;
pub mod reduce;
mod scratch;
pub mod shape;
pub mod sort;
pub mod special;
mod walk;

pub use array::CudaArray;

use crate::{Arrays, Element, Error, HostArray, Result, random::Stream};
use device::Device;
use std::{
    fmt,
    sync::{Arc, LazyLock},
};

/// What a function of this backend gets for an `operand` parameter.
pub type Operand<'a, T> = crate::Operand<'a, Cuda, T>;

/// An NVIDIA GPU. Cheap to clone; all values of one GPU share its stream, its memory and its kernels.
#[derive(Clone)]
pub struct Cuda {
    device: Arc<Device>,
    random: Stream,
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

    /// Where random numbers come from.
    pub fn stream(&self) -> &Stream {
        &self.random
    }

    /// Whether freed memory of the device is kept for reuse, as it is at first unless `BACKENDS_CUDA_CACHE=0` is set.
    /// Without it every array is an allocation of exactly its size, in which tools see what goes beyond.
    pub fn caching(&self, on: bool) -> Result<()> {
        self.device.set_caching(on)
    }

    /// Gives freed memory that is kept for reuse back to the driver.
    pub fn release_memory(&self) -> Result<()> {
        self.device.release_cached("release_memory")
    }
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cuda({})", self.device.name())
    }
}

impl Arrays for Cuda {
    type Array<T: Element> = CudaArray<T>;

    const NAME: &'static str = "cuda";

    #[inline]
    fn shape<'a, T: Element>(&self, x: &'a CudaArray<T>) -> &'a [usize] {
        &x.raw.shape
    }

    fn to_ndarray<T: Element>(&self, x: &CudaArray<T>) -> Result<HostArray<T>> {
        const OP: &str = "to_ndarray";
        let elements = self.download(OP, &copy::contiguous(self, OP, &x.raw)?)?;
        let array = HostArray::from_shape_vec(x.raw.shape.clone(), elements);
        array.map_err(|error| Error::shape(OP, &x.raw.shape, error.to_string()))
    }

    fn from_ndarray<T: Element>(&self, x: HostArray<T>) -> Result<CudaArray<T>> {
        const OP: &str = "from_ndarray";
        let array = self.uninit(OP, x.shape())?;
        match x.as_slice() {
            Some(elements) => self.upload(OP, elements, &array.raw)?,
            None => {
                let mut elements = Vec::new();
                let bytes = x.len() * size_of::<T>();
                elements.try_reserve_exact(x.len()).map_err(|_| Error::Memory { op: OP, bytes })?;
                elements.extend(x.iter().copied());
                self.upload(OP, &elements, &array.raw)?;
            }
        }
        Ok(array)
    }

    fn device(&self) -> String {
        self.device.name()
    }

    fn synchronize(&self) -> Result<()> {
        self.device.synchronize("synchronize")
    }

    fn seed(&self, seed: u64) {
        self.random.reseed(seed);
    }
}

#[cfg(test)]
mod compare;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
