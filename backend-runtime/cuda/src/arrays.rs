//! Implements the trait `Arrays` for the backend `Cuda`: shapes, and transfers between host and device.

use super::{
    array::{CudaArray, RawArray},
    backend::Cuda,
    copy::contiguous,
    elementwise, exchange, fft, formula, info, linalg, link,
    outside::Notes,
    staging,
};
use backend_core::{
    ArrayAttributes, Arrays, DType, DeviceInfo, EachSource, Element, Error, HostArray, IntoArray, MemoryInfo, Result,
    dlpack::{CopyMode, DLDevice, ManagedTensor},
    entry::{ArrayMut, ArrayRef, ArrayValue},
    formula::{Input, Layout, Node, Reduction, Typed},
    link::{Link, Offer, Peers, Through},
    raw::TypedArray,
};
use std::any::Any;

impl<T: Element> ArrayAttributes for CudaArray<T> {
    type DType = T;

    #[inline]
    fn shape(&self) -> &[usize] {
        &self.raw.shape
    }

    fn device(&self) -> String {
        self.raw.memory.device().name()
    }
}

impl Arrays for Cuda {
    type Array<T: Element> = CudaArray<T>;

    const NAME: &'static str = "cuda";

    const HAS_ENTRIES: bool = true;

    #[inline(always)]
    fn by_entries<R>(entries: impl FnOnce() -> R, _typed: impl FnOnce() -> R) -> R {
        entries()
    }

    fn array_ref<T: Element>(x: &CudaArray<T>) -> Option<ArrayRef<'_>> {
        Some(ArrayRef::Library(x.raw()))
    }

    fn array_mut<T: Element>(x: &mut CudaArray<T>) -> Option<ArrayMut<'_>> {
        Some(ArrayMut::Library(x.raw_mut()))
    }

    fn of_value<T: Element>(op: &'static str, x: ArrayValue) -> Result<CudaArray<T>> {
        CudaArray::from_raw(op, x.into_library::<Self, RawArray>(op)?)
    }

    fn to_ndarray<T: Element>(&self, x: &CudaArray<T>) -> Result<HostArray<T>> {
        const OP: &str = "to_ndarray";
        let elements = self.download(OP, &contiguous(self, OP, &x.raw)?)?;
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
                elements.try_reserve_exact(x.len()).map_err(|_| Error::memory(OP, bytes))?;
                elements.extend(x.iter().copied());
                self.upload(OP, &elements, &array.raw)?;
            }
        }
        Ok(array)
    }

    fn to_dlpack_with<'a, T: Element>(
        &self,
        x: impl IntoArray<'a, CudaArray<T>>,
        copy: CopyMode,
    ) -> Result<ManagedTensor> {
        exchange::export(self, x.into_array(), copy)
    }

    fn from_dlpack_with<T: Element>(&self, tensor: ManagedTensor, copy: CopyMode) -> Result<CudaArray<T>> {
        exchange::import(self, tensor, copy)
    }

    fn dlpack_device(&self) -> DLDevice {
        DLDevice::cuda(self.device.ordinal() as i32)
    }

    const FUSES: bool = true;

    fn fused_input<'a, T: Element>(&self, x: &'a CudaArray<T>) -> Option<&'a dyn Any> {
        Some(&x.raw)
    }

    fn fused<L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element>(
        &self,
        e: &E,
        scalars: L::Scalars,
        inputs: &[&dyn Any],
        over: Option<&dyn Any>,
    ) -> Option<Result<CudaArray<T>>> {
        formula::run::<L, E, T>(self, e, &scalars, inputs, over)
    }

    fn fused_each<F: EachSource>(&self, op: &F, of: DType, inputs: &[Input<'_>], over: &dyn Any) -> Option<Result<()>> {
        elementwise::over(self, op, of, inputs, over)
    }

    fn fused_reduction<L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element, U: Element>(
        &self,
        e: &E,
        scalars: L::Scalars,
        inputs: &[&dyn Any],
        reduction: &Reduction,
    ) -> Option<Result<CudaArray<U>>> {
        formula::reduce::<L, E, T, U>(self, e, &scalars, inputs, reduction)
    }

    fn is_alone<T: Element>(&self, x: &mut CudaArray<T>) -> bool {
        x.raw.is_overwritable()
    }

    fn offer(&self) -> std::result::Result<Offer, String> {
        link::offer(self)
    }

    fn link(&self, peers: &dyn Peers) -> Result<Option<Link>> {
        link::open(self, peers).map(Some)
    }

    fn exchange_linked<T: Element>(
        &self,
        op: &'static str,
        link: &Link,
        send: &[Vec<CudaArray<T>>],
        from: &[usize],
    ) -> Result<CudaArray<T>> {
        link::exchange(self, op, link, send, from)
    }

    fn gather_linked<T: Element>(
        &self,
        op: &'static str,
        link: &Link,
        part: &CudaArray<T>,
        counts: &[usize],
    ) -> Result<CudaArray<T>> {
        link::gather(self, op, link, part, counts)
    }

    fn staged<T: Element>(
        &self,
        op: &'static str,
        send: &[CudaArray<T>],
        total: usize,
        through: &mut Through<'_>,
    ) -> Option<Result<CudaArray<T>>> {
        staging::exchange(self, op, send, total, through)
    }

    fn device(&self) -> String {
        self.device.name()
    }

    fn device_info(&self) -> Result<DeviceInfo> {
        info::info(Self::NAME, Arrays::device(self), self.device.ordinal())
    }

    fn memory(&self) -> Result<MemoryInfo> {
        self.device.memory_info("memory")
    }

    fn reset_peak_memory(&self) -> Result<()> {
        self.device.reset_peak();
        Ok(())
    }

    fn free_cache(&self) -> Result<()> {
        const OP: &str = "free_cache";
        let ended = fft::forget_plans(&self.device, OP).and(linalg::forget_handles(&self.device, OP));
        self.device.kernels.forget();
        self.device.release_pinned(OP);
        // the memory is released last, because FFT plans and matrix products hold work areas in it
        self.device.release_cached(OP).and(ended)
    }

    fn synchronize(&self) -> Result<()> {
        Notes::of_this_thread(&self.device).wait("synchronize")
    }

    fn seed(&self, seed: u64) {
        self.random.reseed(seed);
    }

    fn seed_at(&self, seed: u64, block: u64) -> Result<()> {
        self.random.reseed_at(seed, block);
        Ok(())
    }

    fn random_state(&self) -> Result<(u64, u64)> {
        Ok(self.random.state())
    }
}
