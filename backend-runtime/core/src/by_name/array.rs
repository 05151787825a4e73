//! Arrays whose dtype is known only at run time.

use crate::{
    Arrays, Complex, DType, Element, Error, HostArray, Result, bf16, bytes, dispatch,
    dlpack::{CopyMode, ManagedTensor},
    f16,
    numpyish::{Numpyish, entry::AnyNdArray},
    wrap::AnyTyped,
};
use std::{
    any::{Any, TypeId},
    fmt,
};

macro_rules! dyn_array {
    ($($variant:ident: $t:ty),* $(,)?) => {
        /// An array of a backend. The dtype of the array is known only at run time. Clones share the elements, like
        /// clones of the typed array.
        #[derive(Clone)]
        #[non_exhaustive]
        pub enum DynArray<B: Arrays> {
            $(
                #[doc = concat!("Elements of type `", stringify!($t), "`.")]
                $variant(B::Array<$t>),
            )*
        }

        impl<B: Arrays> DynArray<B> {
            /// Returns the dtype of the elements.
            pub fn dtype(&self) -> DType {
                match self { $(DynArray::$variant(_) => DType::$variant,)* }
            }

            /// Returns the lengths of the axes. `b` is the backend that the array belongs to.
            pub fn shape<'a>(&'a self, b: &'a B) -> &'a [usize] {
                match self { $(DynArray::$variant(x) => b.shape(x),)* }
            }

            /// Wraps a typed array. The dtype selects the variant of the enum.
            pub fn of<T: Element>(x: B::Array<T>) -> DynArray<B> {
                if const { T::IS_DYNAMIC } {
                    return match T::dtype() { $(DType::$variant => DynArray::$variant(retyped::<B, T, $t>(x)),)* };
                }
                let slot: &mut dyn Any = &mut Some(x);
                match T::DTYPE { $(DType::$variant => DynArray::$variant(take(slot)),)* }
            }

            /// Returns the array as a trait object, without its static dtype. The trait's methods return its shape and
            /// its dtype.
            pub(crate) fn erased(&self) -> &dyn AnyTyped {
                match self { $(DynArray::$variant(x) => x,)* }
            }

            /// Returns the typed array without its static type.
            #[doc(hidden)]
            pub fn into_any(self) -> Box<dyn Any> {
                match self { $(DynArray::$variant(x) => Box::new(x),)* }
            }

            /// Returns the array if `T` is its dtype, and otherwise `None`.
            #[inline]
            pub fn get<T: Element>(&self) -> Option<&B::Array<T>> {
                // the compiler knows `T`, so it keeps one of the arms
                match self {
                    $(DynArray::$variant(x) if is::<T, $t>() => (x as &dyn Any).downcast_ref(),)*
                    _ => None,
                }
            }

            /// Returns the array exclusively if `T` is its dtype, and otherwise `None`.
            #[inline]
            pub(crate) fn get_mut<T: Element>(&mut self) -> Option<&mut B::Array<T>> {
                match self {
                    $(DynArray::$variant(x) if is::<T, $t>() => (x as &mut dyn Any).downcast_mut(),)*
                    _ => None,
                }
            }

            /// Returns the array if `T` is its dtype, and otherwise `None`.
            pub fn into_typed<T: Element>(self) -> Option<B::Array<T>> {
                match self { $(DynArray::$variant(x) => B::retyped::<$t, T>(x),)* }
            }
        }

        impl DynArray<Numpyish> {
            /// Returns the array as an argument of an entry of the CPU.
            #[inline]
            pub(crate) fn as_nd_array(&self) -> &dyn AnyNdArray {
                match self { $(DynArray::$variant(x) => x,)* }
            }

            /// Returns the array as an argument that an entry of the CPU may change.
            #[inline]
            pub(crate) fn as_nd_array_mut(&mut self) -> &mut dyn AnyNdArray {
                match self { $(DynArray::$variant(x) => x,)* }
            }
        }

        impl<B: Arrays> fmt::Debug for DynArray<B> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(DynArray::$variant(x) => x.fmt(f),)* }
            }
        }
    };
}

dyn_array! {
    Bool: bool, Int8: i8, Int16: i16, Int32: i32, Int64: i64, UInt8: u8, UInt16: u16, UInt32: u32, UInt64: u64,
    Float16: f16, BFloat16: bf16, Float32: f32, Float64: f64, Complex64: Complex<f32>, Complex128: Complex<f64>,
}

/// Returns whether `T` and `U` are the same type.
#[inline(always)]
fn is<T: 'static, U: 'static>() -> bool {
    TypeId::of::<T>() == TypeId::of::<U>()
}

/// Takes the array out of `slot`, which must be an `Option<A>`.
fn take<A: 'static>(slot: &mut dyn Any) -> A {
    slot.downcast_mut::<Option<A>>().and_then(Option::take).expect("a dtype has one type of arrays")
}

/// Converts an array whose element type `T` stands for a dtype to an array of the dtype's own element type `U`.
fn retyped<B: Arrays, T: Element, U: Element>(x: B::Array<T>) -> B::Array<U> {
    B::retyped::<T, U>(x).expect("an array has the dtype of its element type")
}

impl<B: Arrays> DynArray<B> {
    /// Returns the bytes of the elements in C order, like [`Arrays::to_bytes`].
    pub fn to_bytes(&self, b: &B) -> Result<Vec<u8>> {
        dispatch!(self.dtype(), T => match self.get::<T>() {
            Some(x) => b.to_bytes(x),
            None => Err(Error::dtype("to_bytes", self.dtype())),
        })
    }

    /// Makes an array of this dtype and shape from the bytes of its elements in C order. [`DynArray::to_bytes`]
    /// returns such bytes.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of bytes does not match, [`Error::Argument`] if a bool is neither 0 nor 1. Both
    /// checks precede the allocation of memory.
    pub fn from_bytes(b: &B, dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<DynArray<B>> {
        dispatch!(dtype, T => Ok(DynArray::of::<T>(b.from_ndarray(bytes::to_array::<T>("from_bytes", shape, bytes)?)?)))
    }

    /// Makes an array over the memory of a DLPack tensor, with the tensor's dtype; see [`Arrays::from_dlpack_with`].
    pub fn from_dlpack(b: &B, tensor: ManagedTensor, copy: CopyMode) -> Result<DynArray<B>> {
        dispatch!(tensor.dtype(), T => b.from_dlpack_with::<T>(tensor, copy).map(DynArray::of::<T>))
    }

    /// Exports the array as a DLPack tensor: see [`Arrays::to_dlpack_with`].
    pub fn to_dlpack(&self, b: &B, copy: CopyMode) -> Result<ManagedTensor> {
        dispatch!(self.dtype(), T => {
            let x = self.get::<T>().ok_or_else(|| Error::dtype("to_dlpack", self.dtype()))?;
            b.to_dlpack_with(x, copy)
        })
    }

    /// Copies the elements, as complex numbers, to a host array. Integers beyond 2^53 are rounded.
    pub fn to_complex(&self, b: &B) -> Result<HostArray<Complex<f64>>> {
        dispatch!(self.dtype(), T => {
            let x = self.get::<T>().ok_or_else(|| Error::dtype("to_complex", self.dtype()))?;
            Ok(b.to_ndarray(x)?.mapv(|v| v.cast::<Complex<f64>>()).into_shared())
        })
    }
}
