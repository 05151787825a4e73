//! Implements the trait `Arrays` for the backend `Torch`: transfers between host and device, and properties of the
//! device.

use super::{
    array::{TorchArray, from_host, to_host},
    backend::Torch,
    call::OpContext,
    casting, exchange, ffi, memory,
    tensor::{MPS, Tensor, device_name},
};
use backend_core::{
    Arrays, DeviceInfo, Element, Float, HostArray, IntoArray, MemoryInfo, Result,
    dlpack::{CopyMode, DLDevice, ManagedTensor},
    entry::{ArrayMut, ArrayRef, ArrayValue},
    numpyish::raw::HostView,
    raw::TypedArray,
};
use std::borrow::Cow;

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

    fn in_complex<'a, T: Float, C: Element>(&self, x: Cow<'a, TorchArray<T>>) -> Result<Cow<'a, TorchArray<C>>> {
        const OP: &str = "astype";
        let on = OpContext::new(self, OP, T::DTYPE).with_to(C::DTYPE);
        TorchArray::from_raw(OP, casting::astype(on, x.tensor())?).map(Cow::Owned)
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

    fn reads_rolled(&self) -> bool {
        self.in_place
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
