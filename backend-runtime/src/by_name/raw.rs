//! Raw arrays of a library, whose dtype is a value and not a type.

use crate::{Arrays, DType, Element, Result};

/// A backend whose arrays wrap raw arrays of a library, and add the dtype as a type parameter.
pub trait RawArrays: Arrays {
    /// A raw array of the library, whose dtype is a value.
    type Raw: Clone;

    /// Returns the raw array that `x` wraps.
    fn raw<T: Element>(x: &Self::Array<T>) -> &Self::Raw;

    /// Wraps a raw array of the library. Returns an error that names the op if the array's dtype is not `T`.
    fn typed<T: Element>(op: &'static str, raw: Self::Raw) -> Result<Self::Array<T>>;

    /// Returns the dtype of the array.
    fn dtype(op: &'static str, raw: &Self::Raw) -> Result<DType>;
}
