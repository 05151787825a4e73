//! Conversion of arrays between dtypes.

use backends::{Backend, Element, Error, Result};
use std::any::{Any, TypeId};

/// Converts an array to another dtype; returns the same handle if the array already has this dtype.
pub(crate) fn convert<B: Backend, U: Element, T: Element>(b: &B, x: B::Array<T>) -> Result<B::Array<U>> {
    if TypeId::of::<T>() != TypeId::of::<U>() {
        return b.astype::<U, T>(x);
    }
    let same: Box<dyn Any> = Box::new(x);
    same.downcast().map(|x| *x).map_err(|_| Error::argument("astype", "a dtype has two types of arrays"))
}
