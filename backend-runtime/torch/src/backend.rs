//! Defines `Torch`, the backend: a device of libtorch, and a stream of random numbers.

use super::{
    array::{TorchArray, from_host, to_host},
    exchange, ffi, memory,
    tensor::{MPS, Tensor, device_name},
};
use backend_core::{
    Arrays, DeviceInfo, Element, Error, HostArray, IntoArray, MemoryInfo, Result,
    dlpack::{CopyMode, DLDevice, ManagedTensor},
    entry::{ArrayMut, ArrayRef, ArrayValue},
    numpyish::{Numpyish, raw::HostView},
    random::Stream,
    raw::TypedArray,
};
use std::fmt;

/// libtorch on one device. Cheap to clone; clones share the stream of random numbers.
#[derive(Clone, Debug)]
pub struct Torch {
    /// -1 for the CPU, [`MPS`] for the GPU of a Mac, else the GPU's ordinal.
    pub(super) index: i32,
    /// Whether CPU loops read and write this backend's tensors in place.
    pub(super) in_place: bool,
    /// The CPU backend: it holds the random stream, and computes the ops that run on the host.
    pub(super) host: Numpyish,
}

impl Torch {
    /// libtorch on a device: `"cpu"`, `"cuda"` (the first GPU), `"cuda:1"`, or `"mps"` (the GPU of a Mac). The first
    /// call finds and loads libtorch.
    pub fn new(device: &str) -> Result<Torch> {
        let index = device_index(device)?;
        let shim = ffi::load()?;
        // SAFETY: the function only asks whether libtorch supports the device.
        if index == MPS && unsafe { (shim.has_mps)() } == 0 {
            return Err(Error::unavailable(Torch::NAME, "no device mps: libtorch finds no GPU of a Mac"));
        }
        // SAFETY: the function only counts devices.
        let count = unsafe { (shim.device_count)() };
        if index != MPS && index >= count.max(0) {
            let why = if count == 0 { "libtorch finds no GPU".into() } else { format!("libtorch finds {count} GPUs") };
            return Err(Error::unavailable(Torch::NAME, format!("no device {device}: {why}")));
        }
        let (seed, _) = Stream::from_entropy().take(0);
        Ok(Torch { index, in_place: index < 0, host: Numpyish::seeded(seed) })
    }

    /// libtorch on the CPU.
    pub fn cpu() -> Result<Torch> {
        Torch::new("cpu")
    }

    /// The same device with its own random stream, seeded with `seed`.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Torch {
        Torch { host: Numpyish::seeded(seed), ..self }
    }

    /// The same device, with its tensors treated like those of a GPU: CPU loops copy tensors to and from the host, and
    /// never access them in place. This is for tests of these copies on machines without a GPU.
    #[doc(hidden)]
    #[must_use]
    pub fn copying(self) -> Torch {
        Torch { in_place: false, ..self }
    }

    /// Returns whether CPU loops read and write this backend's tensors in place.
    pub(super) fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// The CPU backend, for ops computed on the host.
    pub(super) fn host(&self) -> &Numpyish {
        &self.host
    }

    /// -1 for the CPU, [`MPS`] for the GPU of a Mac, else the GPU's ordinal.
    #[inline(always)]
    pub(super) fn index(&self) -> i32 {
        self.index
    }
}

/// Parses a device name such as `"cuda:1"`; -1 is the CPU.
pub(super) fn device_index(device: &str) -> Result<i32> {
    let index = match device {
        "cpu" => Some(-1),
        "cuda" => Some(0),
        "mps" => Some(MPS),
        other => other
            .strip_prefix("cuda:")
            .filter(|n| n.bytes().all(|c| c.is_ascii_digit()))
            .and_then(|n| n.parse::<u8>().ok())
            .map(i32::from),
    };
    index.ok_or_else(|| {
        Error::argument(
            "Torch::new",
            format!("the device is `{device}`, but must be \"cpu\", \"cuda\", \"cuda:1\" or \"mps\""),
        )
    })
}

impl fmt::Display for Torch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&device_name(self.index))
    }
}

impl Arrays for Torch {
    type Array<T: Element> = TorchArray<T>;

    const NAME: &'static str = "torch";

    const HAS_ENTRIES: bool = true;

    #[inline(always)]
    fn by_entries<R>(entries: impl FnOnce() -> R, _typed: impl FnOnce() -> R) -> R {
        entries()
    }

    fn array_ref<T: Element>(x: &TorchArray<T>) -> Option<ArrayRef<'_>> {
        Some(ArrayRef::Library(x.raw()))
    }

    fn array_mut<T: Element>(x: &mut TorchArray<T>) -> Option<ArrayMut<'_>> {
        Some(ArrayMut::Library(x.raw_mut()))
    }

    fn of_value<T: Element>(op: &'static str, x: ArrayValue) -> Result<TorchArray<T>> {
        TorchArray::from_raw(op, x.into_library::<Self, Tensor>(op)?)
    }

    fn to_ndarray<T: Element>(&self, x: &TorchArray<T>) -> Result<HostArray<T>> {
        match if self.in_place { exchange::shared(x) } else { None } {
            Some(shared) => Ok(shared),
            None => to_host(x.tensor()),
        }
    }

    fn from_ndarray<T: Element>(&self, x: HostArray<T>) -> Result<TorchArray<T>> {
        from_host(x, self.index)
    }

    fn to_dlpack_with<'a, T: Element>(
        &self,
        x: impl IntoArray<'a, TorchArray<T>>,
        copy: CopyMode,
    ) -> Result<ManagedTensor> {
        let tensor = exchange::export(self.index, x.into_array(), copy)?;
        // wait, because the copy was only queued
        self.synchronize().map_err(|why| why.within("to_dlpack"))?;
        Ok(tensor)
    }

    fn from_dlpack_with<T: Element>(&self, tensor: ManagedTensor, copy: CopyMode) -> Result<TorchArray<T>> {
        self.synchronize().map_err(|why| why.within("from_dlpack"))?;
        exchange::import(self.index, tensor, copy)
    }

    fn dlpack_device(&self) -> DLDevice {
        match self.index {
            MPS => DLDevice::METAL,
            index @ 0.. => DLDevice::cuda(index),
            _ => DLDevice::CPU,
        }
    }

    fn host_view<'a, T: Element>(&self, x: &'a TorchArray<T>) -> Option<HostView<'a, T>> {
        if self.in_place { x.host_view() } else { None }
    }

    fn is_alone<T: Element>(&self, x: &mut TorchArray<T>) -> bool {
        x.is_alone()
    }

    fn device(&self) -> String {
        device_name(self.index)
    }

    fn device_info(&self) -> Result<DeviceInfo> {
        memory::info(Self::NAME, self.index)
    }

    fn memory(&self) -> Result<MemoryInfo> {
        memory::memory(Self::NAME, self.index)
    }

    fn reset_peak_memory(&self) -> Result<()> {
        memory::reset_peak(Self::NAME, self.index)
    }

    fn free_cache(&self) -> Result<()> {
        // the CPU backend has a cache too, because it computes the ops that libtorch lacks
        self.host.free_cache()?;
        memory::free_cache(self.index)
    }

    fn synchronize(&self) -> Result<()> {
        if self.index < 0 {
            return Ok(());
        }
        let shim = ffi::load()?;
        // SAFETY: the device was found when the backend was created.
        match unsafe { (shim.synchronize)(self.index) } {
            ffi::status::DONE => Ok(()),
            status => Err(shim.error("synchronize", status, self)),
        }
    }

    fn seed(&self, seed: u64) {
        self.host.seed(seed);
    }

    fn seed_at(&self, seed: u64, block: u64) -> Result<()> {
        self.host.seed_at(seed, block)
    }

    fn random_state(&self) -> Result<(u64, u64)> {
        self.host.random_state()
    }
}
