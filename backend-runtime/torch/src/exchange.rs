//! Tensors shared with other libraries through DLPack, without a copy of their memory.

use super::{
    array::{TorchArray, from_host},
    ffi::{load, shim, status},
    tensor::{MPS, Tensor, device_name},
};
use backend_core::{
    DType, Element, Error, HostArray, Result,
    dlpack::{self, CopyMode, DLDevice, IS_COPIED, ManagedTensor, READ_ONLY},
    foreign::{self, Owner},
    numpyish::typed::copied,
    rules,
};
use std::borrow::Cow;

const TO: &str = "to_dlpack";
const FROM: &str = "from_dlpack";

/// Converts libtorch's strides, which are never negative, to ndarray's type.
fn signed(strides: &[usize]) -> Vec<isize> {
    strides.iter().map(|&stride| stride as isize).collect()
}

/// A host tensor as an ndarray that shares its memory. `None` if the tensor is on a GPU, is too small to be worth
/// sharing, has invalid bools, or has a layout that an ndarray cannot have.
pub(super) fn shared<T: Element>(x: &TorchArray<T>) -> Option<HostArray<T>> {
    let tensor = x.tensor();
    if tensor.device() >= 0 || tensor.size().saturating_mul(size_of::<T>()) < dlpack::WORTH_SHARING {
        return None;
    }
    let strides = signed(tensor.strides());
    let first = tensor.data().cast_const().cast::<T>();
    let fits = first.is_aligned() && !rules::overlaps(tensor.shape(), &strides);
    // if this returns `None`, the array is copied instead, and the copy reports invalid bools as an error
    if !fits || T::DTYPE == DType::Bool && x.view().is_err() {
        return None;
    }
    let of = if tensor.is_owned() { Owner::Library } else { Owner::Foreign };
    // SAFETY: the tensor has elements of this dtype at these strides, and lives as long as the array. Nobody writes to
    // it, because the array holds a second handle.
    Some(unsafe { foreign::array(first, tensor.shape(), &strides, Box::new(tensor.clone()), of) })
}

/// Exports an array on the device `index` (-1 is the host) as a DLPack tensor over the same memory.
pub(super) fn export<T: Element>(index: i32, x: Cow<'_, TorchArray<T>>, copy: CopyMode) -> Result<ManagedTensor> {
    let tensor = x.tensor();
    if tensor.device() != index {
        return Err(Error::device(TO, device_name(index), device_name(tensor.device())));
    }
    let given = matches!(x, Cow::Owned(_)) && tensor.is_alone(1);
    let flags = match copy {
        CopyMode::Always => IS_COPIED,
        _ if given && !rules::overlaps(tensor.shape(), &signed(tensor.strides())) => 0,
        _ => READ_ONLY,
    };
    let mut made = std::ptr::null_mut();
    // SAFETY: the tensor is alive, and on success the shim writes `made`.
    let status = unsafe { (shim().to_dlpack)(tensor.as_ptr(), (copy == CopyMode::Always).into(), &mut made) };
    if status != status::DONE {
        return Err(shim().error(TO, status, &""));
    }
    // SAFETY: libtorch returned a tensor with a handle that keeps the elements alive and prevents anyone from writing
    // to them. Lazy conjugation and negation are resolved in all tensors of this backend.
    unsafe { ManagedTensor::from_legacy(made, flags) }.map_err(|why| why.within(TO))
}

/// Imports a DLPack tensor on the device `index` as an array over the same memory.
pub(super) fn import<T: Element>(index: i32, tensor: ManagedTensor, copy: CopyMode) -> Result<TorchArray<T>> {
    let shim = load()?;
    foreign::release_some(Owner::Foreign);
    let (layout, device) = (tensor.layout(), tensor.device());
    layout.expect(T::DTYPE)?;
    // 2 is CUDA; 10 is ROCm, which libtorch presents as CUDA on AMD GPUs
    let on_gpu = match index {
        MPS => device == DLDevice::METAL,
        _ => matches!(device.device_type, 2 | 10) && device.device_id == index,
    };
    layout.expect_device(if index < 0 { device.is_host() } else { on_gpu }, device_name(index))?;
    let tensor = match tensor.into_owner::<HostArray<T>>() {
        Ok(x) => {
            let x = if copy == CopyMode::Always { copied(FROM, x.view())? } else { x };
            return from_host(x, index).map_err(|why| why.within(FROM));
        }
        Err(tensor) => tensor,
    };
    let layout = tensor.layout();
    let why = match layout {
        layout if !layout.is_aligned() => Some("its elements must be aligned to their type"),
        layout if layout.strides.iter().any(|stride| *stride < 0) => Some("libtorch has no negative strides"),
        _ => None,
    };
    if let (CopyMode::Never, Some(why)) = (copy, why) {
        return Err(Error::argument(FROM, format!("the tensor cannot be shared: {why}")));
    }
    if index < 0 && (!layout.is_aligned() || layout.count() == 0) {
        return from_host(dlpack::import(tensor, CopyMode::Always)?, index).map_err(|why| why.within(FROM));
    }
    if let (false, Some(why)) = (layout.is_aligned(), why) {
        return Err(Error::argument(FROM, why));
    }
    if index < 0 && T::DTYPE == DType::Bool {
        // SAFETY: the tensor's elements are on the host, and stay alive as long as the tensor.
        unsafe { dlpack::check_bools(layout)? };
    }
    let (source, reversed) = tensor.into_raw_upward();
    let mut result = std::ptr::null_mut();
    // SAFETY: the shim takes ownership of the tensor, and calls its deleter once, even on failure; the memory is valid
    // until then, and nobody writes to it. On success the shim writes `result`.
    let status = unsafe {
        (shim.from_dlpack)(
            source,
            index,
            reversed.as_ptr(),
            reversed.len(),
            (copy == CopyMode::Always).into(),
            &mut result,
        )
    };
    if status != status::DONE {
        return Err(shim.error(FROM, status, &""));
    }
    // SAFETY: the shim returned one reference.
    let made = unsafe { Tensor::owning(result) };
    TorchArray::new(FROM, made.ok_or_else(|| Error::library(FROM, "torch", "no tensor"))?)
}
