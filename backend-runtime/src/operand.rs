//! Operands of ops: an array, an array by value, a scalar or a literal, on either side.

use crate::{Arrays, Complex, Element, Float, bf16, f16};

/// An array or a scalar, after conversion.
pub enum Operand<'a, B: Arrays, T: Element> {
    /// An array of the backend.
    Array(&'a B::Array<T>),
    /// A scalar, which broadcasts with everything.
    Scalar(T),
}

impl<B: Arrays, T: Element> Clone for Operand<'_, B, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Arrays, T: Element> Copy for Operand<'_, B, T> {}

/// Types that an operand may have: `&array`, an array by value (so that calls nest), a `T`, or a literal.
///
/// `K` says which of these it is; it is always inferred, and a signature that shows `K1, K2` asks nothing of the caller.
#[diagnostic::on_unimplemented(
    message = "an operand here is an array of `{B}` with dtype `{T}`, a `{T}` or a literal, and not `{Self}`",
    note = "an array of another dtype: write `b.astype(&array)?`; of another backend: `other.to_backend(&array, &b)?`"
)]
pub trait IntoOperand<B: Arrays, T: Element, K> {
    /// The operand, borrowed from `self`.
    fn operand(&self) -> Operand<'_, B, T>;
}

/// Markers that keep the implementations of [`IntoOperand`] apart. Nobody names them: they are inferred.
pub mod kind {
    /// `&array`
    pub struct Borrowed;
    /// An array by value.
    pub struct Owned;
    /// A scalar or a literal.
    pub struct Scalar;
    /// An operand that was converted before.
    pub struct Ready;
}

impl<B: Arrays, T: Element> IntoOperand<B, T, kind::Borrowed> for &B::Array<T> {
    #[inline(always)]
    fn operand(&self) -> Operand<'_, B, T> {
        Operand::Array(*self)
    }
}

impl<B: Arrays, T: Element> IntoOperand<B, T, kind::Owned> for B::Array<T> {
    #[inline(always)]
    fn operand(&self) -> Operand<'_, B, T> {
        Operand::Array(self)
    }
}

#[diagnostic::do_not_recommend]
impl<B: Arrays, T: Element, S: Copy + Into<Scalar<T>>> IntoOperand<B, T, kind::Scalar> for S {
    #[inline(always)]
    fn operand(&self) -> Operand<'_, B, T> {
        Operand::Scalar((*self).into().0)
    }
}

#[diagnostic::do_not_recommend]
impl<B: Arrays, T: Element> IntoOperand<B, T, kind::Ready> for Operand<'_, B, T> {
    #[inline(always)]
    fn operand(&self) -> Operand<'_, B, T> {
        *self
    }
}

/// A scalar on its way to become an operand of dtype `T`.
///
/// `f64` and `i32`, which literals fall back to, convert to every float dtype (as Python's numbers do in NumPy);
/// integers take only their own dtype.
#[derive(Clone, Copy, Debug)]
pub struct Scalar<T>(pub T);

macro_rules! scalar_of_its_own_dtype {
    ($($t:ty),*) => {$(
        impl From<$t> for Scalar<$t> {
            #[inline]
            fn from(x: $t) -> Self {
                Scalar(x)
            }
        }
    )*};
}
scalar_of_its_own_dtype!(bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, Complex<f32>, Complex<f64>);

impl<T: Float> From<f64> for Scalar<T> {
    #[inline]
    fn from(x: f64) -> Self {
        Scalar(T::from_f64(x))
    }
}

impl<T: Float> From<i32> for Scalar<T> {
    #[inline]
    fn from(x: i32) -> Self {
        Scalar(T::from_f64(x.into()))
    }
}
