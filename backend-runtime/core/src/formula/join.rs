//! The common dtype of the two operands of an op in a formula. Both operands have this dtype, or one operand is a
//! number that converts to the dtype of the other operand.

use super::{
    expression::{Call, Valued},
    values::{Literal, Scalar, Whole},
};
use crate::{Arrays, Element, Float, Highest, Lowest, Numeric, Operand, Ordered, Result, operand};
use std::borrow::Cow;

/// The value of a subexpression that has a dtype: an element of an array, or a scalar.
#[diagnostic::on_unimplemented(
    message = "a number alone has no dtype here: give it one, such as `2_i64`",
    label = "a number without a dtype"
)]
pub trait Single: Copy + Send + Sync + Valued {
    /// The dtype of the subexpression.
    type DType: Element;
    /// The subexpression type of an op's result. It stands for an array if this subexpression is an array, and
    /// otherwise for a scalar.
    type With<U: Element>: Single<DType = U>;

    /// Returns the value without the wrapper [`Scalar`].
    fn value(self) -> Self::DType;

    /// Wraps the result of an op as a subexpression: an array if this subexpression is an array, and otherwise a
    /// scalar.
    fn with<U: Element>(result: U) -> Self::With<U>;

    /// Converts the value, a whole array or a number, to an operand of the backend's methods.
    fn operand<'v, B: Arrays>(x: Self::Val<'v, B>) -> Operand<'v, B, Self::DType>;

    /// If the value is an array, calls the backend's method for the op. If it is a scalar, applies the op itself.
    fn call<'a, B: Arrays, F: Call<1, B, Self::DType>>(
        b: &B,
        op: &F,
        x: Self::Val<'a, B>,
    ) -> Result<<Self::With<F::Out> as Valued>::Val<'a, B>>;
}

impl<T: Element> Single for T {
    type DType = T;
    type With<U: Element> = U;

    #[inline(always)]
    fn value(self) -> T {
        self
    }

    #[inline(always)]
    fn with<U: Element>(result: U) -> U {
        result
    }

    fn operand<'v, B: Arrays>(x: <T as Valued>::Val<'v, B>) -> Operand<'v, B, T> {
        Operand::Array(x)
    }

    fn call<'a, B: Arrays, F: Call<1, B, T>>(
        b: &B,
        op: &F,
        x: <T as Valued>::Val<'a, B>,
    ) -> Result<Cow<'a, B::Array<F::Out>>> {
        op.call(b, [Operand::Array(x)]).map(Cow::Owned)
    }
}

impl<T: Element> Single for Scalar<T> {
    type DType = T;
    type With<U: Element> = Scalar<U>;

    #[inline(always)]
    fn value(self) -> T {
        self.0
    }

    #[inline(always)]
    fn with<U: Element>(result: U) -> Scalar<U> {
        Scalar(result)
    }

    fn operand<'v, B: Arrays>(x: <Scalar<T> as Valued>::Val<'v, B>) -> Operand<'v, B, T> {
        Operand::Scalar(x.0)
    }

    fn call<'a, B: Arrays, F: Call<1, B, T>>(
        _: &B,
        op: &F,
        x: <Scalar<T> as Valued>::Val<'a, B>,
    ) -> Result<<Scalar<F::Out> as Valued>::Val<'a, B>> {
        Ok(Scalar(op.apply(&[x.0])))
    }
}

/// The values of the two operands of an op. At least one of them has a dtype, which becomes the dtype of both.
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{O}` in one formula: convert one with `astype`",
    label = "the two sides of this have different dtypes"
)]
pub trait Join<O: Valued>: Copy + Valued {
    /// The common dtype of the operands.
    type DType: Element;
    /// The type of the result, as a subexpression: an array if one operand is an array, and otherwise a scalar.
    type With<U: Element>: Single<DType = U>;

    /// Converts this operand to the common dtype.
    fn left(self) -> Self::DType;

    /// Converts the other operand to the common dtype.
    fn right(other: O) -> Self::DType;

    /// Wraps the result of an op as a subexpression of the type [`Join::With`].
    fn with<U: Element>(result: U) -> Self::With<U>;

    /// Converts both operands to operands of the backend's methods.
    fn operands<'v, B: Arrays>(x: Self::Val<'v, B>, y: O::Val<'v, B>) -> [Operand<'v, B, Self::DType>; 2];

    /// If one operand is an array, calls the backend's method for the op. If both are scalars, applies the op itself.
    fn call<'a, B: Arrays, F: Call<2, B, Self::DType>>(
        b: &B,
        op: &F,
        x: Self::Val<'a, B>,
        y: O::Val<'a, B>,
    ) -> Result<<Self::With<F::Out> as Valued>::Val<'a, B>>;
}

/// The value of an operand that can be converted to the dtype `T`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{T}` in one formula: convert one with `astype`",
    label = "this has another dtype than the first operand"
)]
pub trait Fits<T: Element>: Copy + Valued {
    /// Converts the value to the dtype `T`.
    fn of(self) -> T;

    /// Converts the value, a whole array or a number, to an operand of the backend's methods.
    fn operand<'v, B: Arrays>(x: Self::Val<'v, B>) -> Operand<'v, B, T>;
}

impl<T: Element> Fits<T> for T {
    #[inline(always)]
    fn of(self) -> T {
        self
    }

    fn operand<'v, B: Arrays>(x: <T as Valued>::Val<'v, B>) -> Operand<'v, B, T> {
        Operand::Array(x)
    }
}

macro_rules! number {
    ($number:ty, [$($declared:tt)*], |$x:ident| $value:expr) => {
        #[diagnostic::do_not_recommend]
        impl<$($declared)*> Fits<T> for $number {
            #[inline(always)]
            fn of(self) -> T {
                let $x = self;
                $value
            }

            fn operand<'v, B: Arrays>(x: <$number as Valued>::Val<'v, B>) -> Operand<'v, B, T> {
                Operand::Scalar(Fits::<T>::of(x))
            }
        }
    };
}
number!(Scalar<V>, [T: Element, V: Element + Into<operand::Scalar<T>>], |x| Into::<operand::Scalar<T>>::into(x.0).0);
number!(Literal, [T: Float], |x| T::from_f64(x.0));
number!(Whole, [T: Numeric], |x| T::from_i64(x.0));
number!(Lowest, [T: Ordered], |_x| T::LOWEST);
number!(Highest, [T: Ordered], |_x| T::HIGHEST);

/// Implements [`Join`] for pairs of operands: an array of dtype `T`, and an operand that fits this dtype.
macro_rules! join {
    ($([$($declared:tt)*] $x:ty, $y:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($declared)*> Join<$y> for $x {
            type DType = T;
            type With<U: Element> = U;

            #[inline(always)]
            fn left(self) -> T {
                Fits::<T>::of(self)
            }

            #[inline(always)]
            fn right(other: $y) -> T {
                Fits::<T>::of(other)
            }

            #[inline(always)]
            fn with<U: Element>(result: U) -> U {
                result
            }

            fn operands<'v, B: Arrays>(
                x: <$x as Valued>::Val<'v, B>,
                y: <$y as Valued>::Val<'v, B>,
            ) -> [Operand<'v, B, T>; 2] {
                [<$x as Fits<T>>::operand(x), <$y as Fits<T>>::operand(y)]
            }

            fn call<'a, B: Arrays, F: Call<2, B, T>>(
                b: &B,
                op: &F,
                x: <$x as Valued>::Val<'a, B>,
                y: <$y as Valued>::Val<'a, B>,
            ) -> Result<Cow<'a, B::Array<F::Out>>> {
                op.call(b, <$x as Join<$y>>::operands(x, y)).map(Cow::Owned)
            }
        }
    )*};
}
join! {
    [T: Element] T, T;
    [T: Element, V: Element + Into<operand::Scalar<T>>] T, Scalar<V>;
    [T: Element, V: Element + Into<operand::Scalar<T>>] Scalar<V>, T;
    [T: Float] T, Literal;
    [T: Float] Literal, T;
    [T: Numeric] T, Whole;
    [T: Numeric] Whole, T;
}

/// Implements [`Join`] for two operands that are scalars or numbers. At least one of the two has a dtype.
macro_rules! join_scalars {
    ($([$($declared:tt)*] $x:ty, $y:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($declared)*> Join<$y> for $x {
            type DType = T;
            type With<U: Element> = Scalar<U>;

            #[inline(always)]
            fn left(self) -> T {
                Fits::<T>::of(self)
            }

            #[inline(always)]
            fn right(other: $y) -> T {
                Fits::<T>::of(other)
            }

            #[inline(always)]
            fn with<U: Element>(result: U) -> Scalar<U> {
                Scalar(result)
            }

            fn operands<'v, B: Arrays>(
                x: <$x as Valued>::Val<'v, B>,
                y: <$y as Valued>::Val<'v, B>,
            ) -> [Operand<'v, B, T>; 2] {
                [<$x as Fits<T>>::operand(x), <$y as Fits<T>>::operand(y)]
            }

            fn call<'a, B: Arrays, F: Call<2, B, T>>(_: &B, op: &F, x: <$x as Valued>::Val<'a, B>, y: <$y as Valued>::Val<'a, B>) -> Result<<Scalar<F::Out> as Valued>::Val<'a, B>> {
                Ok(Scalar(op.apply(&[Fits::<T>::of(x), Fits::<T>::of(y)])))
            }
        }
    )*};
}
join_scalars! {
    [T: Element] Scalar<T>, Scalar<T>;
    [T: Float] Scalar<T>, Literal;
    [T: Float] Literal, Scalar<T>;
    [T: Numeric] Scalar<T>, Whole;
    [T: Numeric] Whole, Scalar<T>;
}
