//! Transfers of arrays between GPUs by NCCL, on the backend's stream. The host does not wait, and the data does not
//! pass through the host.

use super::{
    array::{CudaArray, RawArray},
    backend::Cuda,
    communicator::{Communicator, Message},
    copy::{contiguous, copy_into},
    error::Checked,
    info, nccl,
};
use backend_core::{
    DType, Element, Error, Result,
    link::{Link, Offer, Peers},
    rules,
};
use cudarc::driver::result;
use std::env;

/// Returns the offer of this process for a link: the name of NCCL, its version, and the UUID of the GPU. The error is
/// the reason why the process cannot use NCCL.
pub(super) fn offer(b: &Cuda) -> std::result::Result<Offer, String> {
    if env::var_os("BACKENDS_NCCL").is_some_and(|value| value == "0") {
        return Err("BACKENDS_NCCL is 0".into());
    }
    let found = || Ok(Offer::new(*b"nccl\0\0\0\0", nccl::load()?.version()?.into(), info::uuid(b.device.ordinal())?));
    found().map_err(|why: Error| why.to_string())
}

/// Opens a link between all ranks (processes). Every rank must call this function.
pub(super) fn open(b: &Cuda, peers: &dyn Peers) -> Result<Link> {
    let communicator = Communicator::open(&b.device, peers)?;
    let version = nccl::load()?.version()?;
    let name = format!("NCCL {}.{}.{}", version / 10_000, version % 10_000 / 100, version % 100);
    Ok(Link::new(name, communicator))
}

fn opened<'a>(op: &'static str, link: &'a Link) -> Result<&'a Communicator> {
    link.open().ok_or_else(|| Error::argument(op, "the link must belong to this backend"))
}

/// Sends the arrays `send[r]` to each rank r, and receives `from[r]` elements from each rank r. The result has the
/// received elements in the order of the ranks.
pub(super) fn exchange<T: Element>(
    b: &Cuda,
    op: &'static str,
    link: &Link,
    send: &[Vec<CudaArray<T>>],
    from: &[usize],
) -> Result<CudaArray<T>> {
    let own = send.iter().map(|arrays| {
        let raw: Vec<&RawArray> = arrays.iter().map(|array| &array.raw).collect();
        packed(b, op, T::DTYPE, &raw)
    });
    let own = own.collect::<Result<Vec<_>>>()?;
    moved(b, op, link, &own.iter().collect::<Vec<_>>(), from).map(CudaArray::of)
}

/// Sends the `part` of every rank to every rank, and joins the parts in the order of the ranks. `counts[r]` is the
/// number of elements of rank r.
pub(super) fn gather<T: Element>(
    b: &Cuda,
    op: &'static str,
    link: &Link,
    part: &CudaArray<T>,
    counts: &[usize],
) -> Result<CudaArray<T>> {
    let own = contiguous(b, op, &part.raw)?;
    moved(b, op, link, &vec![&own; counts.len()], counts).map(CudaArray::of)
}

/// Copies the arrays one after another into one new contiguous array. A single array is only made contiguous.
pub(super) fn packed(b: &Cuda, op: &'static str, dtype: DType, arrays: &[&RawArray]) -> Result<RawArray> {
    if let [one] = arrays {
        return contiguous(b, op, one);
    }
    let out = b.uninit_raw(op, dtype, &[arrays.iter().map(|array| array.size()).sum()])?;
    let mut at = 0;
    for array in arrays.iter().filter(|array| array.size() > 0) {
        copy_into(b, op, array, &out.view(array.shape.clone(), rules::c_strides(&array.shape), at))?;
        at += array.size();
    }
    Ok(out)
}

/// Sends the contiguous array `send[r]` to each rank r, and receives `from[r]` elements from each rank r into a new
/// array.
fn moved(b: &Cuda, op: &'static str, link: &Link, send: &[&RawArray], from: &[usize]) -> Result<RawArray> {
    let communicator = opened(op, link)?;
    let (me, size) = (communicator.rank, communicator.size);
    if send.len() != size || from.len() != size || send[me].size() != from[me] {
        return Err(Error::argument(
            op,
            format!("arrays go to {} ranks and come from {}, but both must be {size}", send.len(), from.len()),
        ));
    }
    let dtype = send[me].dtype;
    let total = from.iter().try_fold(0_usize, |sum, &n| sum.checked_add(n));
    let total = total.ok_or_else(|| Error::memory(op, usize::MAX))?;
    let out = b.uninit_raw(op, dtype, &[total])?;
    let message = |rank: usize, address: u64, n: usize| Message { rank, address, bytes: n * dtype.size() };
    let is_sent = |message: &Message| message.bytes > 0 && message.rank != me;
    let sends: Vec<Message> =
        send.iter().enumerate().map(|(r, x)| message(r, x.pointer(), x.size())).filter(is_sent).collect();
    let mut at = 0;
    let mut receives = Vec::with_capacity(size);
    for (rank, &n) in from.iter().enumerate() {
        receives.push(message(rank, out.pointer() + (at * dtype.size()) as u64, n));
        at += n;
    }
    let own = receives[me];
    receives.retain(is_sent);
    b.device.bind(op)?;
    if own.bytes > 0 {
        // SAFETY: both arrays have the same number of bytes, as checked above.
        unsafe { result::memcpy_dtod_async(own.address, send[me].pointer(), own.bytes, b.device.stream()) }
            .checked(op)?;
    }
    if !(sends.is_empty() && receives.is_empty()) {
        // SAFETY: the arrays are alive and have the stated numbers of bytes; work that frees or changes them comes
        // later on the stream.
        unsafe { communicator.exchange(op, &sends, &receives)? };
    }
    Ok(out)
}
