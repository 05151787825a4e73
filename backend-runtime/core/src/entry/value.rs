//! Results of entries.

use super::{ArrayMut, ArrayRef, Call, LibraryArray};
use crate::{Arrays, DType, DynArray, Error, Result, numpyish::Numpyish};
use std::any::Any;

/// An array of any library and dtype.
#[derive(Clone)]
#[non_exhaustive]
pub enum ArrayValue {
    /// An array of the CPU.
    Numpyish(DynArray<Numpyish>),
    /// An array of another library.
    Library(Box<dyn LibraryArray>),
}

impl ArrayValue {
    /// A handle of the array.
    pub(crate) fn of(x: ArrayRef<'_>) -> ArrayValue {
        match x {
            ArrayRef::Numpyish(x) => ArrayValue::Numpyish(x.handle()),
            ArrayRef::Library(x) => ArrayValue::Library(x.handle()),
        }
    }

    /// Wraps an array of a library.
    #[inline]
    pub fn of_library(x: impl LibraryArray) -> ArrayValue {
        ArrayValue::Library(Box::new(x))
    }

    /// Dtype of the elements. Returns an error, which names the op `op`, if no dtype of this crate describes them.
    pub fn dtype(&self, op: &'static str) -> Result<DType> {
        match self {
            ArrayValue::Numpyish(x) => Ok(x.dtype()),
            ArrayValue::Library(x) => x.dtype(op),
        }
    }

    /// Borrows the array.
    #[inline]
    pub fn by_ref(&self) -> ArrayRef<'_> {
        match self {
            ArrayValue::Numpyish(x) => ArrayRef::Numpyish(x.as_nd_array()),
            ArrayValue::Library(x) => ArrayRef::Library(&**x),
        }
    }

    /// Borrows the array exclusively.
    #[inline]
    pub fn by_mut(&mut self) -> ArrayMut<'_> {
        match self {
            ArrayValue::Numpyish(x) => ArrayMut::Numpyish(x.as_nd_array_mut()),
            ArrayValue::Library(x) => ArrayMut::Library(&mut **x),
        }
    }

    /// Returns the array if its type is `A`, and otherwise `None`.
    #[inline]
    pub fn get<A: LibraryArray>(&self) -> Option<&A> {
        self.by_ref().get()
    }

    /// Returns the array exclusively if its type is `A`, and otherwise `None`.
    #[inline]
    pub fn get_mut<A: LibraryArray>(&mut self) -> Option<&mut A> {
        self.by_mut().into_mut()
    }

    /// Returns the array if its type is `A`. Returns an error, which names the op `op`, if the array does not belong to
    /// the backend `B`, whose arrays have this type.
    pub fn into_library<B: Arrays, A: LibraryArray>(self, op: &'static str) -> Result<A> {
        let backend = self.backend();
        let of_other = || Error::backend(op, B::NAME, backend);
        match self {
            ArrayValue::Library(x) => (x as Box<dyn Any>).downcast().map(|x| *x).map_err(|_| of_other()),
            ArrayValue::Numpyish(_) => Err(of_other()),
        }
    }

    /// Lengths of the axes.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        self.by_ref().shape()
    }

    /// The device of the memory, as named by its library: `"cpu"`, `"cuda:0"`.
    pub fn device(&self) -> String {
        match self {
            ArrayValue::Numpyish(_) => "cpu".into(),
            ArrayValue::Library(x) => x.device(),
        }
    }

    /// Name of the backend that the array belongs to.
    pub fn backend(&self) -> &'static str {
        self.by_ref().backend()
    }
}

/// The results of an entry.
#[non_exhaustive]
pub enum Outputs {
    /// One array.
    One(ArrayValue),
    /// Several arrays: a list, or the fields of a result with names, in order.
    Many(Vec<ArrayValue>),
    /// No array, because the op has changed its target.
    Target,
}

/// The result of a library's function, which becomes an array of any dtype.
pub trait ToValue {
    /// Makes the array. The first array among the call's arguments may share its memory with the result.
    fn to_value(self, call: &Call<'_, '_>) -> Result<ArrayValue>;
}

impl<A: LibraryArray> ToValue for A {
    fn to_value(self, _: &Call<'_, '_>) -> Result<ArrayValue> {
        Ok(ArrayValue::of_library(self))
    }
}

impl Outputs {
    /// Handles of the results, or of the target if the op has changed it.
    pub fn values(&self, call: &Call<'_, '_>) -> Vec<ArrayValue> {
        match self {
            Outputs::One(x) => vec![x.clone()],
            Outputs::Many(all) => all.clone(),
            Outputs::Target => call.target().map(ArrayValue::of).into_iter().collect(),
        }
    }

    /// The output of an op with one result.
    pub fn one<R: ToValue>(call: &Call<'_, '_>, result: Result<R>) -> Result<Outputs> {
        Ok(Outputs::One(result?.to_value(call)?))
    }

    /// The outputs of an op with several results.
    pub fn many<R: ToValue>(call: &Call<'_, '_>, results: Result<impl IntoIterator<Item = R>>) -> Result<Outputs> {
        let results = results?.into_iter();
        let mut values = crate::rules::list(call.op, results.size_hint().0)?;
        for result in results {
            values.push(result.to_value(call)?);
        }
        Ok(Outputs::Many(values))
    }
}

impl std::fmt::Debug for ArrayValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ArrayValue::Numpyish(x) => x.fmt(f),
            ArrayValue::Library(x) => x.fmt(f),
        }
    }
}
