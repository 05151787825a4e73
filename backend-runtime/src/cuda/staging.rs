//! Parts of arrays on their way through the host, where GPUs have no link: packed on the device, copied once to memory that the driver reaches
//! directly, and the same on the way back.

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

/// A new array of the `total` elements that `through` gets for those of `send`, one array after the other, both as bytes on the host. None where there
/// is no such memory: nothing has been sent then.
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
        // SAFETY: both have as many bytes, and the buffer is not looked at before the stream has been waited for.
        let copy = unsafe { sys::cuMemcpyDtoHAsync_v2(own.pointer(), packed.pointer(), own.len(), b.device.stream()) };
        copy.result().checked(op)?;
    }
    // where nothing is sent too: what was copied from the other buffer is done after it
    Notes::of_this_thread(&b.device).wait(op)?;
    through(own.bytes(), come.bytes_mut())?;
    if dtype == DType::Bool && come.bytes().iter().any(|&byte| byte > 1) {
        return Err(Error::argument(op, "a byte of a bool must be 0 or 1"));
    }
    if come.len() > 0 {
        // SAFETY: both have as many bytes; whoever uses the buffer next does so behind this on the stream, or has waited for it.
        let copy = unsafe { sys::cuMemcpyHtoDAsync_v2(out.pointer(), come.pointer(), come.len(), b.device.stream()) };
        copy.result().checked(op)?;
    }
    Ok(out)
}
