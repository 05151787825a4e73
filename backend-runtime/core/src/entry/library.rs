//! The forms in which the functions of a library take arguments of any dtype.

use super::{ArrayMut, ArrayRef};
use crate::{
    Arrays, DType, Error, Result,
    raw::{RawElement, RawHandle, RawOperand, RawTarget},
};
use std::{any::Any, fmt};

/// An array of a library, whose dtype is known only at run time. The arrays of the CPU do not need this trait.
pub trait LibraryArray: Any + fmt::Debug + Send + Sync {
    /// Name of the backend that the array belongs to.
    fn backend(&self) -> &'static str;

    /// Dtype of the elements. Returns an error, which names the op `op`, if no dtype of this crate describes them.
    fn dtype(&self, op: &'static str) -> Result<DType>;

    /// Lengths of the axes.
    fn shape(&self) -> &[usize];

    /// The device of the memory, as named by its library: `"cuda:0"`.
    fn device(&self) -> String;

    /// Another handle of the array.
    fn handle(&self) -> Box<dyn LibraryArray>;

    /// Writes the array as the library's typed array does.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl Clone for Box<dyn LibraryArray> {
    fn clone(&self) -> Self {
        (**self).handle()
    }
}

/// A library whose functions take arrays whose dtype is known only at run time.
pub trait Library: Arrays {
    /// The type of an array parameter.
    type Arg<'a>: Copy;

    /// The type of a parameter that is an array or a number.
    type OperandArg<'a>;

    /// An exclusive reference to an array that an op changes.
    type TargetRef<'a>;

    /// The type of a parameter that an op changes in place.
    type TargetArg<'a>;

    /// The result of a function that changes an array in place.
    type Changed;

    /// Returns the array as an argument. Returns an error if it belongs to another backend.
    fn arg<'a>(op: &'static str, x: ArrayRef<'a>) -> Result<Self::Arg<'a>>;

    /// Returns the array as an operand. Returns an error if it belongs to another backend.
    fn operand<'a>(op: &'static str, x: ArrayRef<'a>) -> Result<Self::OperandArg<'a>>;

    /// Returns the number as an operand.
    fn number(x: &RawElement) -> Self::OperandArg<'_>;

    /// Returns an exclusive reference to the array. Returns an error if it belongs to another backend.
    fn target<'a>(op: &'static str, x: ArrayMut<'a>) -> Result<Self::TargetRef<'a>>;

    /// Returns the array as an argument that the function changes.
    fn target_arg<'t>(x: &'t mut Self::TargetRef<'_>) -> Self::TargetArg<'t>;

    /// Stores the result of a function that changes an array, if the function has not changed the array itself.
    fn changed(x: &mut Self::TargetRef<'_>, result: Self::Changed);

    /// Returns whether a result of the dtype `dtype` may overwrite the array, which its owner does not use again.
    fn is_free(x: &mut ArrayMut<'_>, dtype: DType) -> bool;
}

/// A library whose arrays wrap raw arrays, and add the dtype as a type parameter.
pub trait RawLibrary: Arrays {
    /// A raw array of the library, whose dtype is a value.
    type Raw: RawHandle + LibraryArray;

    /// Returns whether a result of the dtype `dtype` may overwrite the array, which its owner does not use again.
    fn is_free(_x: &Self::Raw, _dtype: DType) -> bool {
        false
    }
}

impl<L: RawLibrary> Library for L {
    type Arg<'a> = &'a L::Raw;
    type OperandArg<'a> = RawOperand<'a, L::Raw>;
    type TargetRef<'a> = &'a mut L::Raw;
    type TargetArg<'a> = RawTarget<'a, L::Raw>;
    type Changed = L::Raw;

    fn arg<'a>(op: &'static str, x: ArrayRef<'a>) -> Result<&'a L::Raw> {
        x.get().ok_or_else(|| Error::backend(op, L::NAME, x.backend()))
    }

    fn operand<'a>(op: &'static str, x: ArrayRef<'a>) -> Result<RawOperand<'a, L::Raw>> {
        Self::arg(op, x).map(RawOperand::Array)
    }

    fn number(x: &RawElement) -> RawOperand<'_, L::Raw> {
        RawOperand::Scalar(*x)
    }

    fn target<'a>(op: &'static str, x: ArrayMut<'a>) -> Result<&'a mut L::Raw> {
        let backend = x.by_ref().backend();
        x.into_mut().ok_or_else(|| Error::backend(op, L::NAME, backend))
    }

    fn target_arg<'t>(x: &'t mut &mut L::Raw) -> RawTarget<'t, L::Raw> {
        RawTarget::new(x)
    }

    fn changed(x: &mut &mut L::Raw, result: L::Raw) {
        **x = result;
    }

    fn is_free(x: &mut ArrayMut<'_>, dtype: DType) -> bool {
        x.by_ref().get().is_some_and(|x| <L as RawLibrary>::is_free(x, dtype))
    }
}
