//! Exchange of arrays between ranks through the host, for GPUs without a link. The arrays to send are packed into one
//! array on the device, which is copied to pinned host memory. Received data is copied back in the same way.

use super::{
    array::{CudaArray, RawArray},
    backend::Cuda,
    buffer::Buffer,
    error::Checked,
    link::packed,
    outside::Notes,
};
use backend_core::{DType, Element, Error, Result, link::Through};
use cudarc::driver::sys;

/// Sends the bytes of the arrays in `send`, one after another, by calling `through`. `through` also receives `total`
/// elements, which are returned as a new array. Returns `None`, without a call of `through`, if pinned memory cannot be
/// allocated.
pub(super) fn exchange<T: Element>(
    b: &Cuda,
    op: &'static str,
    send: &[CudaArray<T>],
    total: usize,
    through: &mut Through<'_>,
) -> Option<Result<CudaArray<T>>> {
    let size: usize = send.iter().map(|array| array.raw.size()).sum();
    let bytes = |n: usize| n.checked_mul(size_of::<T>());
    let own = Buffer::new(&b.device, op, bytes(size)?).ok()?;
    let come = Buffer::new(&b.device, op, bytes(total)?).ok()?;
    let raw: Vec<&RawArray> = send.iter().map(|array| &array.raw).collect();
    Some(exchange_raw(b, op, T::DTYPE, &raw, total, own, come, through).map(CudaArray::of))
}

#[allow(clippy::too_many_arguments)] // the dtype is an argument, so that this is compiled once for all dtypes
fn exchange_raw(
    b: &Cuda,
    op: &'static str,
    dtype: DType,
    send: &[&RawArray],
    total: usize,
    own: Buffer,
    mut come: Buffer,
    through: &mut Through<'_>,
) -> Result<RawArray> {
    let packed = packed(b, op, dtype, send)?;
    let out = b.uninit_raw(op, dtype, &[total])?;
    b.device.bind(op)?;
    if own.len() > 0 {
        // SAFETY: the array and the buffer have the same number of bytes, and the host reads the buffer only after
        // waiting for the stream.
        let copy = unsafe { sys::cuMemcpyDtoHAsync_v2(own.pointer(), packed.pointer(), own.len(), b.device.stream()) };
        copy.result().checked(op)?;
    }
    // wait even if nothing is sent, because earlier copies from the receive buffer must be finished
    Notes::of_this_thread(&b.device).wait(op)?;
    through(own.bytes(), come.bytes_mut())?;
    if dtype == DType::Bool && come.bytes().iter().any(|&byte| byte > 1) {
        return Err(Error::argument(op, "a byte of a bool must be 0 or 1"));
    }
    if come.len() > 0 {
        // SAFETY: the buffer and the array have the same number of bytes. The next use of the buffer comes later on the
        // stream, or waits for the stream.
        let copy = unsafe { sys::cuMemcpyHtoDAsync_v2(out.pointer(), come.pointer(), come.len(), b.device.stream()) };
        copy.result().checked(op)?;
    }
    Ok(out)
}
