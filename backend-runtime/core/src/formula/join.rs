//! The common dtype of the two operands of an op in a formula. Both operands have this dtype, or one operand is a
//! number that converts to the dtype of the other operand, or one operand is complex and the other one has its real
//! dtype.

use super::{
    expression::{Call, Row, Valued},
    values::{ComplexLiteral, Literal, Scalar, Whole},
};
use crate::{
    Arrays, Complex, Each, Element, Float, Highest, Lowest, Numeric, Operand, Ordered, Pair, Result, WithScalar,
    operand,
};
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

    /// Returns the value without the wrapper `Scalar`.
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

    /// True for the operand that is a real array, if the common dtype is complex: this operand, and the other one.
    const IS_REAL: [bool; 2] = [false; 2];

    /// Converts this operand to the common dtype.
    fn left(self) -> Self::DType;

    /// Converts the other operand to the common dtype.
    fn right(other: O) -> Self::DType;

    /// Applies an op to the values of the two operands.
    #[inline(always)]
    fn apply<F: Each<2, Self::DType> + Row>(op: &F, x: Self, y: O) -> F::Out {
        op.apply(&[x.left(), Self::right(y)])
    }

    /// Wraps the result of an op as a subexpression of the type [`Join::With`].
    fn with<U: Element>(result: U) -> Self::With<U>;

    /// Converts both operands to operands of the backend's methods.
    fn operands<'v, B: Arrays>(
        b: &B,
        x: Self::Val<'v, B>,
        y: O::Val<'v, B>,
    ) -> Result<[Operand<'v, B, Self::DType>; 2]>;

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
                _: &B,
                x: <$x as Valued>::Val<'v, B>,
                y: <$y as Valued>::Val<'v, B>,
            ) -> Result<[Operand<'v, B, T>; 2]> {
                Ok([<$x as Fits<T>>::operand(x), <$y as Fits<T>>::operand(y)])
            }

            fn call<'a, B: Arrays, F: Call<2, B, T>>(
                b: &B,
                op: &F,
                x: <$x as Valued>::Val<'a, B>,
                y: <$y as Valued>::Val<'a, B>,
            ) -> Result<Cow<'a, B::Array<F::Out>>> {
                op.call(b, <$x as Join<$y>>::operands(b, x, y)?).map(Cow::Owned)
            }
        }
    )*};
}
join! {
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
                _: &B,
                x: <$x as Valued>::Val<'v, B>,
                y: <$y as Valued>::Val<'v, B>,
            ) -> Result<[Operand<'v, B, T>; 2]> {
                Ok([<$x as Fits<T>>::operand(x), <$y as Fits<T>>::operand(y)])
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

/// The body of an implementation of [`Join`]: the result is an array or a scalar.
macro_rules! with {
    ($with:ident) => {
        type With<W: Element> = with!(@ $with W);

        #[inline(always)]
        fn with<W: Element>(result: W) -> with!(@ $with W) {
            with!(@value $with result)
        }
    };
    (@ array $w:ident) => { $w };
    (@ scalar $w:ident) => { Scalar<$w> };
    (@value array $x:ident) => { $x };
    (@value scalar $x:ident) => { Scalar($x) };
}

/// Calls the backend's method for an op of two operands, of which at least one is an array.
macro_rules! call_op {
    ($x:ty, $y:ty) => {
        fn call<'a, B: Arrays, F: Call<2, B, Self::DType>>(
            b: &B,
            op: &F,
            x: <$x as Valued>::Val<'a, B>,
            y: <$y as Valued>::Val<'a, B>,
        ) -> Result<Cow<'a, B::Array<F::Out>>> {
            op.call(b, <$x as Join<$y>>::operands(b, x, y)?).map(Cow::Owned)
        }
    };
}

#[diagnostic::do_not_recommend]
impl<T: Element + Pair<U>, U: Element> Join<U> for T {
    type DType = <T as Pair<U>>::DType;
    const IS_REAL: [bool; 2] = <T as Pair<U>>::IS_REAL;
    with!(array);
    call_op!(T, U);

    #[inline(always)]
    fn left(self) -> Self::DType {
        Pair::<U>::left(self)
    }

    #[inline(always)]
    fn right(other: U) -> Self::DType {
        <T as Pair<U>>::right(other)
    }

    #[inline(always)]
    fn apply<F: Each<2, Self::DType> + Row>(op: &F, x: T, y: U) -> F::Out {
        <T as Pair<U>>::apply(op, x, y)
    }

    fn operands<'v, B: Arrays>(
        b: &B,
        x: <T as Valued>::Val<'v, B>,
        y: <U as Valued>::Val<'v, B>,
    ) -> Result<[Operand<'v, B, Self::DType>; 2]> {
        Ok(<T as Pair<U>>::arrays(b, x, y)?.map(Operand::Array))
    }
}

/// Implements [`Join`] for a scalar of a complex dtype and a scalar of its real dtype.
macro_rules! join_two_scalars {
    ($([$($declared:tt)*] $t:ty, $u:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($declared)*> Join<Scalar<$u>> for Scalar<$t> {
            type DType = <$t as Pair<$u>>::DType;
            with!(scalar);

            #[inline(always)]
            fn left(self) -> Self::DType {
                Pair::<$u>::left(self.0)
            }

            #[inline(always)]
            fn right(other: Scalar<$u>) -> Self::DType {
                <$t as Pair<$u>>::right(other.0)
            }

            fn operands<'v, B: Arrays>(
                _: &B,
                x: <Scalar<$t> as Valued>::Val<'v, B>,
                y: <Scalar<$u> as Valued>::Val<'v, B>,
            ) -> Result<[Operand<'v, B, Self::DType>; 2]> {
                Ok([Operand::Scalar(Join::<Scalar<$u>>::left(x)), Operand::Scalar(<$t as Pair<$u>>::right(y.0))])
            }

            fn call<'a, B: Arrays, F: Call<2, B, Self::DType>>(
                _: &B,
                op: &F,
                x: <Scalar<$t> as Valued>::Val<'a, B>,
                y: <Scalar<$u> as Valued>::Val<'a, B>,
            ) -> Result<<Scalar<F::Out> as Valued>::Val<'a, B>> {
                Ok(Scalar(op.apply(&[Join::<Scalar<$u>>::left(x), <$t as Pair<$u>>::right(y.0)])))
            }
        }
    )*};
}
join_two_scalars! {
    [] Complex<f32>, f32;
    [] Complex<f64>, f64;
    [] f32, Complex<f32>;
    [] f64, Complex<f64>;
}

/// Implements [`Join`] for an array beside a scalar, in both orders. `$v` is the scalar's type, `$x` the value.
macro_rules! join_with_scalar {
    ([$($declared:tt)*] $other:ty, $v:ty, |$n:ident| $value:expr) => {
        #[diagnostic::do_not_recommend]
        impl<$($declared)*> Join<$other> for T {
            type DType = <T as WithScalar<$v>>::DType;
            const IS_REAL: [bool; 2] = [<T as WithScalar<$v>>::IS_REAL, false];
            with!(array);
            call_op!(T, $other);

            #[inline(always)]
            fn left(self) -> Self::DType {
                WithScalar::<$v>::element(self)
            }

            #[inline(always)]
            fn right(other: $other) -> Self::DType {
                { let $n = other; <T as WithScalar<$v>>::scalar($value) }
            }

            #[inline(always)]
            fn apply<F: Each<2, Self::DType> + Row>(op: &F, x: T, y: $other) -> F::Out {
                { let $n = y; <T as WithScalar<$v>>::apply(op, x, $value, false) }
            }

            fn operands<'v, B: Arrays>(
                b: &B,
                x: <T as Valued>::Val<'v, B>,
                y: <$other as Valued>::Val<'v, B>,
            ) -> Result<[Operand<'v, B, Self::DType>; 2]> {
                Ok([
                    Operand::Array(<T as WithScalar<$v>>::array(b, x)?),
                    Operand::Scalar({ let $n = y; <T as WithScalar<$v>>::scalar($value) }),
                ])
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($declared)*> Join<T> for $other {
            type DType = <T as WithScalar<$v>>::DType;
            const IS_REAL: [bool; 2] = [false, <T as WithScalar<$v>>::IS_REAL];
            with!(array);
            call_op!($other, T);

            #[inline(always)]
            fn left(self) -> Self::DType {
                {
 let $n = self; <T as WithScalar<$v>>::scalar($value) }
            }

            #[inline(always)]
            fn right(other: T) -> Self::DType {
                WithScalar::<$v>::element(other)
            }

            #[inline(always)]
            fn apply<F: Each<2, Self::DType> + Row>(op: &F, x: $other, y: T) -> F::Out {
                { let $n = x; <T as WithScalar<$v>>::apply(op, y, $value, true) }
            }

            fn operands<'v, B: Arrays>(
                b: &B,
                x: <$other as Valued>::Val<'v, B>,
                y: <T as Valued>::Val<'v, B>,
            ) -> Result<[Operand<'v, B, Self::DType>; 2]> {
                Ok([
                    Operand::Scalar({ let $n = x; <T as WithScalar<$v>>::scalar($value) }),
                    Operand::Array(<T as WithScalar<$v>>::array(b, y)?),
                ])
            }
        }
    };
}
join_with_scalar!([T: Element + WithScalar<V>, V: Element] Scalar<V>, V, |v| v.0);
join_with_scalar!([T: Float] ComplexLiteral, ComplexLiteral, |z| z);

/// Implements [`Join`] for a scalar beside a complex number that is written in the formula, in both orders.
macro_rules! join_with_complex {
    ($x:ty, $y:ty, |$left:ident| $to_left:expr, |$right:ident| $to_right:expr) => {
        #[diagnostic::do_not_recommend]
        impl<T: Float> Join<$y> for $x {
            type DType = T::Complex;
            with!(scalar);

            #[inline(always)]
            fn left(self) -> T::Complex {
                let $left = self.0;
                $to_left
            }

            #[inline(always)]
            fn right(other: $y) -> T::Complex {
                let $right = other.0;
                $to_right
            }

            fn operands<'v, B: Arrays>(
                _: &B,
                x: <$x as Valued>::Val<'v, B>,
                y: <$y as Valued>::Val<'v, B>,
            ) -> Result<[Operand<'v, B, T::Complex>; 2]> {
                Ok([Operand::Scalar(Join::<$y>::left(x)), Operand::Scalar(<$x as Join<$y>>::right(y))])
            }

            fn call<'a, B: Arrays, F: Call<2, B, T::Complex>>(
                _: &B,
                op: &F,
                x: <$x as Valued>::Val<'a, B>,
                y: <$y as Valued>::Val<'a, B>,
            ) -> Result<<Scalar<F::Out> as Valued>::Val<'a, B>> {
                Ok(Scalar(op.apply(&[Join::<$y>::left(x), <$x as Join<$y>>::right(y)])))
            }
        }
    };
}
join_with_complex!(Scalar<T>, ComplexLiteral, |x| x.cast(), |z| T::Complex::from_complex(z));
join_with_complex!(ComplexLiteral, Scalar<T>, |z| T::Complex::from_complex(z), |x| x.cast());
