//! Ops that libtorch lacks, run by the loops of [`Numpyish`](backend_core::numpyish::Numpyish) on host memory. Tensors on a
//! GPU are copied to the host, and the results are copied back.

use super::{
    array::{from_host, to_host, view_of},
    call::OpContext,
    tensor::{Tensor, device_name},
};
use backend_core::{
    Element, Error, HostArray, Result, dispatch,
    numpyish::{
        raw::{RawArray, View, view},
        typed::typed,
    },
    raw::TypedArray,
};

/// A tensor's elements on the host: in the tensor's own memory, or in a copy from a GPU.
pub(super) enum Hosted<'a> {
    Here(View<'a>),
    Copied(Box<dyn Viewed>),
}

/// A host array of any dtype.
pub(super) trait Viewed {
    fn view(&self) -> View<'_>;
}

impl<T: Element> Viewed for HostArray<T> {
    fn view(&self) -> View<'_> {
        view(self)
    }
}

impl Hosted<'_> {
    pub(super) fn view(&self) -> View<'_> {
        match self {
            Hosted::Here(view) => *view,
            Hosted::Copied(array) => array.view(),
        }
    }
}

/// Makes a tensor's elements accessible on the host. The tensor must be on the backend's device and have the call's
/// dtype.
pub(super) fn hosted<'a>(on: OpContext<'_>, x: &'a Tensor) -> Result<Hosted<'a>> {
    on.require(&[x])?;
    let (device, index) = (x.device(), on.backend.index());
    if device != index {
        return Err(Error::device(on.op, device_name(index), device_name(device)));
    }
    if on.backend.is_in_place()
        && let Some(view) = view_of(x, on.dtype)
    {
        return Ok(Hosted::Here(view));
    }
    let copied: Result<Box<dyn Viewed>> = dispatch!(on.dtype, T => Ok(Box::new(to_host::<T>(x)?)));
    copied.map(Hosted::Copied).map_err(|e| e.within(on.op))
}

/// Moves the result of a loop, an array of the call's dtype, to the backend's device.
pub(super) fn placed(on: OpContext<'_>, array: Result<RawArray>) -> Result<Tensor> {
    dispatch!(on.dtype, T => Ok(from_host::<T>(typed(array)?, on.backend.index())?.raw().clone()))
}
