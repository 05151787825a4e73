//! The arrays of backends whose library is chosen at run time.

use super::{ArrayMut, ArrayRef, ArrayValue};
use crate::{
    ArrayAttributes, Arrays, Element, Error, HostArray, Index, Indices, Operand, Result,
    numpyish::{Numpyish, raw::HostView},
};
use std::{borrow::Cow, fmt, marker::PhantomData};

/// A library whose arrays an [`AnyArray`] can hold.
pub trait AnyLibrary: Arrays {
    /// Returns the array if it belongs to this library and has the dtype `T`, and otherwise `None`.
    fn value_ref<T: Element>(x: &ArrayValue) -> Option<&Self::Array<T>>;

    /// Returns the array exclusively if it belongs to this library and has the dtype `T`, and otherwise `None`.
    fn value_mut<T: Element>(x: &mut ArrayValue) -> Option<&mut Self::Array<T>>;

    /// Converts an array of this library to an array of any library and dtype.
    fn into_value<T: Element>(x: Self::Array<T>) -> ArrayValue;
}

/// An array of a backend that is chosen at run time. Its dtype `T` is known at compile time; its library is a value.
///
/// `AnyArray::from` wraps an array of a library, and [`downcast`](AnyArray::downcast) returns it.
pub struct AnyArray<T> {
    value: ArrayValue,
    dtype: PhantomData<fn() -> T>,
}

impl<T> Clone for AnyArray<T> {
    fn clone(&self) -> AnyArray<T> {
        AnyArray { value: self.value.clone(), dtype: PhantomData }
    }
}

impl<T: Element> AnyArray<T> {
    /// Wraps an array of the library `L`.
    #[doc(hidden)]
    #[inline]
    pub fn of<L: AnyLibrary>(x: L::Array<T>) -> AnyArray<T> {
        AnyArray { value: L::into_value(x), dtype: PhantomData }
    }

    /// Wraps an array of any library. Returns an error, which names the op `op`, if its dtype is not `T`.
    #[doc(hidden)]
    pub fn of_value(op: &'static str, value: ArrayValue) -> Result<AnyArray<T>> {
        match value.dtype(op)? {
            dtype if dtype == T::dtype() => Ok(AnyArray { value, dtype: PhantomData }),
            other => Err(Error::dtype(op, other)),
        }
    }

    /// Name of the backend that the array belongs to.
    pub fn backend(&self) -> &'static str {
        self.value.backend()
    }

    /// Returns the array as an array of the backend `L`, such as `Numpyish`; `None` if it belongs to another backend.
    #[inline]
    pub fn downcast_ref<L: AnyLibrary>(&self) -> Option<&L::Array<T>> {
        L::value_ref(&self.value)
    }

    /// Converts the array to an array of the backend `L`, such as `Numpyish`. Returns the array itself if it belongs
    /// to another backend.
    pub fn downcast<L: AnyLibrary>(self) -> std::result::Result<L::Array<T>, AnyArray<T>> {
        match L::value_ref::<T>(&self.value) {
            Some(_) => L::of_value("downcast", self.value.clone()).map_err(|_| self),
            None => Err(self),
        }
    }

    /// Returns the array as an array of any dtype.
    #[doc(hidden)]
    #[inline]
    pub fn into_value(self) -> ArrayValue {
        self.value
    }

    /// Returns the array as an argument of an entry.
    #[doc(hidden)]
    #[inline]
    pub fn value(&self) -> ArrayRef<'_> {
        self.value.by_ref()
    }

    /// Returns the array as an argument that an entry may change.
    #[doc(hidden)]
    #[inline]
    pub fn value_mut(&mut self) -> ArrayMut<'_> {
        self.value.by_mut()
    }

    /// Returns a view of the array if it belongs to the CPU, also for a dtype that is known only at run time.
    #[doc(hidden)]
    pub fn nd_view(&self) -> Option<HostView<'_, T>> {
        match self.value() {
            ArrayRef::Numpyish(x) => Some(HostView::of_view(x.view())),
            ArrayRef::Library(_) => None,
        }
    }

    /// Returns the array of the backend `L`. Returns an error, which names the op `op`, if it belongs to another
    /// backend.
    #[doc(hidden)]
    #[inline]
    pub fn get<L: AnyLibrary>(&self, op: &'static str) -> Result<&L::Array<T>> {
        self.downcast_ref::<L>().ok_or_else(|| self.foreign::<L>(op))
    }

    /// Returns the array of the backend `L` exclusively, like [`AnyArray::get`].
    #[doc(hidden)]
    #[inline]
    pub fn get_mut<L: AnyLibrary>(&mut self, op: &'static str) -> Result<&mut L::Array<T>> {
        if self.downcast_ref::<L>().is_none() {
            return Err(self.foreign::<L>(op));
        }
        L::value_mut(&mut self.value).ok_or_else(|| Error::unsupported(op, L::NAME))
    }

    /// Converts an argument of an op to an argument of the same op on the backend `L`.
    #[doc(hidden)]
    pub fn given<'a, L: AnyLibrary>(x: Cow<'a, AnyArray<T>>, op: &'static str) -> Result<Cow<'a, L::Array<T>>> {
        match x {
            Cow::Borrowed(x) => x.get::<L>(op).map(Cow::Borrowed),
            Cow::Owned(x) => match L::value_ref::<T>(&x.value) {
                Some(_) => L::of_value(op, x.value).map(Cow::Owned),
                None => Err(x.foreign::<L>(op)),
            },
        }
    }

    /// Converts an operand of an op to an operand of the same op on the backend `L`.
    #[doc(hidden)]
    #[inline]
    pub fn operand<'a, B: Arrays<Array<T> = AnyArray<T>>, L: AnyLibrary>(
        x: Operand<'a, B, T>,
        op: &'static str,
    ) -> Result<Operand<'a, L, T>> {
        match x {
            Operand::Array(Cow::Borrowed(x)) => x.get::<L>(op).map(Operand::array),
            Operand::Array(x) => AnyArray::given::<L>(x, op).map(Operand::Array),
            Operand::Scalar(x) => Ok(Operand::Scalar(x)),
        }
    }

    /// Converts a list of arrays to arrays of the backend `L`.
    #[doc(hidden)]
    pub fn all<'a, L: AnyLibrary>(arrays: &[&'a AnyArray<T>], op: &'static str) -> Result<Vec<&'a L::Array<T>>> {
        let mut all = Vec::with_capacity(arrays.len());
        for x in arrays {
            all.push(x.get::<L>(op)?);
        }
        Ok(all)
    }

    /// Wraps a list of arrays of the backend `L`.
    #[doc(hidden)]
    pub fn list<L: AnyLibrary>(arrays: Vec<L::Array<T>>) -> Vec<AnyArray<T>> {
        let mut all = Vec::with_capacity(arrays.len());
        for x in arrays {
            all.push(AnyArray::of::<L>(x));
        }
        all
    }

    #[cold]
    #[inline(never)]
    fn foreign<L: AnyLibrary>(&self, op: &'static str) -> Error {
        Error::backend(op, L::NAME, self.backend())
    }
}

/// Converts the indices of an indexing op to indices of the same op on the backend `L`.
#[doc(hidden)]
pub fn indices<'a, B, L: AnyLibrary>(indices: Indices<'a, B>, op: &'static str) -> Result<Vec<Index<'a, L>>>
where
    B: Arrays<Array<i64> = AnyArray<i64>> + Arrays<Array<bool> = AnyArray<bool>>,
{
    indices.on::<L>(|x| x.get::<L>(op), |x| x.get::<L>(op))
}

impl AnyLibrary for Numpyish {
    #[inline]
    fn value_ref<T: Element>(x: &ArrayValue) -> Option<&Self::Array<T>> {
        match x {
            ArrayValue::Numpyish(x) => x.get::<T>(),
            ArrayValue::Library(_) => None,
        }
    }

    #[inline]
    fn value_mut<T: Element>(x: &mut ArrayValue) -> Option<&mut Self::Array<T>> {
        match x {
            ArrayValue::Numpyish(x) => x.get_mut::<T>(),
            ArrayValue::Library(_) => None,
        }
    }

    #[inline]
    fn into_value<T: Element>(x: Self::Array<T>) -> ArrayValue {
        ArrayValue::Numpyish(T::numpyish_dynamic(x))
    }
}

impl<T: Element> From<HostArray<T>> for AnyArray<T> {
    fn from(x: HostArray<T>) -> AnyArray<T> {
        AnyArray::of::<Numpyish>(x)
    }
}

impl<T: Element> ArrayAttributes for AnyArray<T> {
    type DType = T;

    #[inline]
    fn shape(&self) -> &[usize] {
        self.value.shape()
    }

    fn device(&self) -> String {
        self.value.device()
    }
}

impl<T: Element> fmt::Debug for AnyArray<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            ArrayRef::Library(x) => x.write(f),
            ArrayRef::Numpyish(_) => self.value.fmt(f),
        }
    }
}
