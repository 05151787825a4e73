//! Arrays shared with other libraries through DLPack, in device memory.

use super::{
    array::{CudaArray, RawArray},
    backend::Cuda,
    copy::{cast, copied},
    outside::Notes,
};
use backend_core::{
    DType, Element, Error, Result,
    dlpack::{CopyMode, DLDevice, IS_COPIED, Layout, ManagedTensor, Parts, READ_ONLY},
    rules,
};
use std::borrow::Cow;

const TO: &str = "to_dlpack";
const FROM: &str = "from_dlpack";

/// The owner of an exported tensor's memory: a handle of the array. When the consumer returns the tensor, the
/// consumer's work on other streams may still be running, so `drop` waits for it.
struct Exported(Option<RawArray>);

impl Drop for Exported {
    fn drop(&mut self) {
        if let Some(raw) = self.0.take() {
            // an error is ignored here; the next call on the device reports it
            let _ = raw.memory.device().synchronize_all("free");
        }
    }
}

/// Waits until an array is computed, and exports it as a DLPack tensor over the same memory.
pub(super) fn export<T: Element>(b: &Cuda, x: Cow<'_, CudaArray<T>>, copy: CopyMode) -> Result<ManagedTensor> {
    b.check(TO, &x.raw)?;
    let (raw, flags) = match copy.of_tensor(&x.raw.shape, &x.raw.strides) {
        CopyMode::Always => (copied(b, TO, &x.raw)?, IS_COPIED),
        _ => {
            let raw = match x {
                Cow::Owned(x) => x.raw,
                Cow::Borrowed(x) => x.raw.clone(),
            };
            let writable = raw.memory.is_only_handle() && !rules::overlaps(&raw.shape, &raw.strides);
            (raw, if writable { 0 } else { READ_ONLY })
        }
    };
    Notes::of_this_thread(&b.device).wait(TO)?;
    let first = std::ptr::without_provenance_mut(raw.pointer() as usize);
    let (shape, strides, device) = (raw.shape.clone(), raw.strides.clone(), DLDevice::cuda(b.device.ordinal() as i32));
    let parts = Parts { first, dtype: T::DTYPE, device, shape: &shape, strides: &strides, flags };
    // SAFETY: the memory holds the array's elements at its strides and stays alive; the handle in the tensor prevents
    // other ops from overwriting it.
    unsafe { ManagedTensor::new(&parts, Exported(Some(raw))) }.map_err(|why| why.within(TO))
}

/// Imports a DLPack tensor of the same device as an array over the same memory.
pub(super) fn import<T: Element>(b: &Cuda, tensor: ManagedTensor, copy: CopyMode) -> Result<CudaArray<T>> {
    let (layout, here) = (tensor.layout(), DLDevice::cuda(b.device.ordinal() as i32));
    layout.expect(T::DTYPE)?;
    layout.expect_device(tensor.device() == here, b.device.name())?;
    let (raw, own) = match tensor.into_owner::<Exported>() {
        Ok(mut exported) => {
            (exported.0.take().ok_or_else(|| Error::argument(FROM, "the tensor must have an array"))?, true)
        }
        Err(tensor) => (taken(b, tensor)?, false),
    };
    // copies the bools of another library, because their bytes may be neither 0 nor 1; the bools of the copy are 0 or
    // 1
    if T::DTYPE == DType::Bool && !own && raw.size() > 0 {
        if copy == CopyMode::Never {
            let why = "the tensor cannot be shared: it may have bools that are neither 0 nor 1";
            return Err(Error::argument(FROM, why));
        }
        return cast(b, FROM, &RawArray { dtype: DType::UInt8, ..raw }, T::DTYPE).map(CudaArray::of);
    }
    b.check(FROM, &raw)?;
    Ok(CudaArray::of(if copy == CopyMode::Always { copied(b, FROM, &raw)? } else { raw }))
}

/// Makes an array over memory that another library allocated.
fn taken(b: &Cuda, tensor: ManagedTensor) -> Result<RawArray> {
    let Layout { dtype, shape, strides, before, .. } = tensor.layout().clone();
    if tensor.layout().count() == 0 {
        return b.uninit_raw(FROM, dtype, &shape);
    }
    if !tensor.layout().is_aligned() {
        return Err(Error::argument(FROM, "the elements of the tensor must be aligned to their type"));
    }
    // the elements may have been computed on another stream
    b.device.synchronize_all(FROM)?;
    Ok(RawArray { dtype, shape, strides, offset: before, memory: b.device.foreign(tensor) })
}
