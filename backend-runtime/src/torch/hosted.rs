//! Ops that libtorch lacks, by the loops of [`Numpyish`](crate::numpyish::Numpyish) over the memory of tensors on the host. Tensors of a
//! GPU are copied there, and the results back.

use super::{
    Torch, TorchArray,
    array::{from_host, to_host},
    tensor::device_name,
};
use crate::{
    Element, Error, HostArray, Result,
    numpyish::{
        raw::{RawArray, View, view},
        typed::typed,
    },
};

/// The elements of a tensor on the host: its own, or a copy of those on a GPU.
pub(super) enum Hosted<'a, T: Element> {
    Here(View<'a>),
    Copied(HostArray<T>),
}

impl<T: Element> Hosted<'_, T> {
    pub(super) fn view(&self) -> View<'_> {
        match self {
            Hosted::Here(view) => *view,
            Hosted::Copied(array) => view(array),
        }
    }
}

/// The elements of an array of this backend.
pub(super) fn hosted<'a, T: Element>(b: &Torch, op: &'static str, x: &'a TorchArray<T>) -> Result<Hosted<'a, T>> {
    let device = x.tensor().device();
    if device != b.index() {
        return Err(Error::Device { op, expected: device_name(b.index()), found: device_name(device) });
    }
    match x.host_view() {
        Some(view) => Ok(Hosted::Here(view.view())),
        None => to_host(x.tensor()).map(Hosted::Copied).map_err(|e| e.within(op)),
    }
}

/// The result of a loop, on the backend's device.
pub(super) fn placed<T: Element>(b: &Torch, array: Result<RawArray>) -> Result<TorchArray<T>> {
    from_host(typed(array)?, b.index())
}
