//! Ops that libtorch lacks, run by the loops of [`Numpyish`](crate::numpyish::Numpyish) on host memory. Tensors on a
//! GPU are copied to the host, and the results back.

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

/// A tensor's elements on the host: in the tensor's own memory, or in a copy from a GPU.
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

/// The elements of an array of this backend, on the host.
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

/// Moves the result of a loop to the backend's device.
pub(super) fn placed<T: Element>(b: &Torch, array: Result<RawArray>) -> Result<TorchArray<T>> {
    from_host(typed(array)?, b.index())
}
