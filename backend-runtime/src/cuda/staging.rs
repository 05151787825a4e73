//! Exchange of arrays through the host, for GPUs without a link: arrays are packed on the device and copied once to
//! pinned host memory, and received data takes the same way back.

use super::{
    array::{CudaArray, RawArray},
    backend::Cuda,
    buffer::Buffer,
    error::Checked,
    link::packed,
    outside::Notes,
};
use crate::{DType, Element, Error, Result, link::Through};
use cudarc::driver::sys;

/// Exchanges the bytes of the arrays in `send`, one after the other, by calling `through`; the `total` elements that it
/// receives become a new array. `None` if no pinned memory is available; nothing has been sent then.
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

#[allow(clippy::too_many_arguments)] // compiled once for all dtypes
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
        // SAFETY: both have as many bytes, and the buffer is not read before the stream has been waited for.
        let copy = unsafe { sys::cuMemcpyDtoHAsync_v2(own.pointer(), packed.pointer(), own.len(), b.device.stream()) };
        copy.result().checked(op)?;
    }
    // needed even if nothing is sent: earlier copies from the receive buffer must be finished
    Notes::of_this_thread(&b.device).wait(op)?;
    through(own.bytes(), come.bytes_mut())?;
    if dtype == DType::Bool && come.bytes().iter().any(|&byte| byte > 1) {
        return Err(Error::argument(op, "a byte of a bool must be 0 or 1"));
    }
    if come.len() > 0 {
        // SAFETY: both have as many bytes; the buffer's next user comes later on the stream, or has waited for it.
        let copy = unsafe { sys::cuMemcpyHtoDAsync_v2(out.pointer(), come.pointer(), come.len(), b.device.stream()) };
        copy.result().checked(op)?;
    }
    Ok(out)
}
