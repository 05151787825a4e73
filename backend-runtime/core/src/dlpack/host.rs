//! Conversion of arrays in host memory (ndarrays) to DLPack tensors and back.

use super::{
    CopyMode,
    abi::{DLDevice, IS_COPIED, READ_ONLY},
    layout::{Layout, OP},
    managed::{ManagedTensor, Parts},
};
use crate::{
    DType, Element, Error, HostArray, Result,
    foreign::{self, Owner},
    numpyish::{
        buffer::Buffer,
        copy::to_buffer,
        raw::{RawArray, View},
        typed::{copied, typed},
    },
    rules,
};
use std::slice;

/// Exports an ndarray as a tensor that shares the array's memory, or as a copy. The consumer may write to the memory if
/// `x` was the only handle of its memory, or if the tensor is a copy.
pub fn export<T: Element>(x: HostArray<T>, copy: CopyMode) -> Result<ManagedTensor> {
    let (x, flags) = match copy.of_tensor(x.shape(), x.strides()) {
        CopyMode::Always => (copied("to_dlpack", x.view())?, IS_COPIED),
        _ => {
            let writable = x.is_unique() && !rules::overlaps(x.shape(), x.strides());
            (x, if writable { 0 } else { READ_ONLY })
        }
    };
    let (shape, strides) = (x.shape().to_vec(), x.strides().to_vec());
    let first = x.as_ptr().cast_mut().cast();
    let parts = Parts { first, dtype: T::DTYPE, device: DLDevice::CPU, shape: &shape, strides: &strides, flags };
    // SAFETY: the shape and strides are those of `x`, and the tensor keeps `x` alive. `x` counts as a handle of the
    // memory, so other handles copy the elements before they write.
    unsafe { ManagedTensor::new(&parts, x) }
}

/// Arrays below this size in bytes are copied, if copies are allowed, because copying them costs less than keeping the
/// tensor alive.
pub const WORTH_SHARING: usize = 1 << 12;

/// Imports a tensor in host memory as an ndarray, which shares the tensor's memory or is a copy.
pub fn import<T: Element>(tensor: ManagedTensor, copy: CopyMode) -> Result<HostArray<T>> {
    foreign::release_some(Owner::Foreign);
    tensor.layout().expect(T::DTYPE)?;
    tensor.layout().expect_device(tensor.device().is_host(), "cpu".into())?;
    let tensor = match tensor.into_owner::<HostArray<T>>() {
        Ok(x) if copy == CopyMode::Always => return copied(OP, x.view()),
        Ok(x) => return Ok(x),
        Err(tensor) => tensor,
    };
    let layout = tensor.layout();
    if layout.count() == 0 {
        return typed(RawArray::empty(OP, layout.shape.clone(), T::DTYPE));
    }
    let why = match layout {
        layout if !layout.is_aligned() => Some("its elements must be aligned to their type"),
        layout if layout.overlaps() => Some("indices share elements"),
        _ => None,
    };
    let small = layout.count() * size_of::<T>() < WORTH_SHARING;
    match copy {
        CopyMode::Never => {
            if let Some(why) = why {
                return Err(Error::argument(OP, format!("the tensor cannot be shared: {why}")));
            }
        }
        CopyMode::IfNeeded if why.is_none() && !small => {}
        _ => {
            // SAFETY: the elements of the tensor are on the host and live as long as the tensor, and nobody writes to
            // them.
            return unsafe { copied_from(layout) };
        }
    }
    if T::DTYPE == DType::Bool {
        // SAFETY: the elements are bytes on the host. They live as long as the tensor, and nobody writes to them.
        unsafe { check_bools(layout)? };
    }
    let Layout { first, shape, strides, .. } = layout.clone();
    // SAFETY: the elements are aligned, have this dtype and do not overlap. They live as long as the tensor, and nobody
    // writes to them: the caller of `ManagedTensor::from_raw` guarantees this.
    Ok(unsafe { foreign::array(first.cast_const().cast(), &shape, &strides, Box::new(tensor), Owner::Foreign) })
}

/// Copies the elements of a tensor to an array in C order.
///
/// # Safety
/// The elements are on the host, and nobody writes to them.
unsafe fn copied_from<T: Element>(layout: &Layout) -> Result<HostArray<T>> {
    let Layout { dtype, shape, strides, .. } = layout;
    let (_whole, start) = if layout.is_aligned() {
        (None, layout.first.cast_const())
    } else {
        let whole = Buffer::new(OP, layout.span, *dtype)?;
        let (lowest, size) = (layout.lowest(), dtype.size());
        // SAFETY: the caller guarantees that the memory from the lowest to the highest element is readable, and `whole`
        // has the same size.
        unsafe { std::ptr::copy_nonoverlapping(lowest, whole.start(), layout.span * size) };
        // SAFETY: the first element lies within the copied memory.
        let start = unsafe { whole.start().add(layout.before * size) };
        (Some(whole), start.cast_const())
    };
    let elements = to_buffer(OP, View { start, dtype: *dtype, shape, strides })?;
    if *dtype == DType::Bool {
        // SAFETY: `to_buffer` wrote all elements, and each element is one byte.
        check_bytes(unsafe { slice::from_raw_parts(elements.start(), elements.len()) })?;
    }
    // SAFETY: the copy wrote every element.
    typed(unsafe { RawArray::new(OP, shape.clone(), elements) })
}

/// Returns an error if an element of a tensor of bools is a byte other than 0 and 1.
///
/// # Safety
/// The elements are bytes on the host, and nobody writes to them.
pub unsafe fn check_bools(layout: &Layout) -> Result<()> {
    let bytes = View { start: layout.first, dtype: DType::UInt8, shape: &layout.shape, strides: &layout.strides };
    if bytes.is_c_order() {
        return check_bytes(bytes.as_slice());
    }
    let in_order = to_buffer(OP, bytes)?;
    // SAFETY: `to_buffer` wrote all elements.
    check_bytes(unsafe { slice::from_raw_parts(in_order.start(), in_order.len()) })
}

fn check_bytes(bytes: &[u8]) -> Result<()> {
    match bytes.iter().find(|byte| **byte > 1) {
        None => Ok(()),
        Some(byte) => Err(Error::argument(OP, format!("a byte of a bool is {byte}, but must be 0 or 1"))),
    }
}
