//! The forms in which the functions of a library take arguments of any dtype.

use super::{ArrayMut, ArrayRef};
use crate::{Arrays, DType, Element, Result, raw::RawElement};

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

    /// Returns a handle of the array. Returns an error if it belongs to another backend or has another dtype.
    fn handle<T: Element>(op: &'static str, x: ArrayRef<'_>) -> Result<Self::Array<T>>;
}
