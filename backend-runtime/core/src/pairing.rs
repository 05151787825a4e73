//! The common dtype of two operands: both have the same dtype, or one has a complex dtype and the other its real dtype.
//! Other dtypes have no common dtype, because no array is implicitly converted to another dtype.

use crate::{
    Arrays, Complex, ComplexFloat, DTypeKind, Each, EachSource, Element, Float, Numeric, Real, Result, Scalar, bf16,
    dynamic::{AnyComplex, AnyElement, AnyInteger, AnyPart, AnyReal, AnySum, AnyTo, AnyToSum},
    f16,
    formula::ComplexLiteral,
};
use std::{any::Any, borrow::Cow, marker::PhantomData};

/// Returns `x` as type `U` if this is its type, and otherwise `None`. The compiler evaluates the comparison.
#[inline(always)]
fn same<V: Copy + 'static, U: Copy + 'static>(x: V) -> Option<U> {
    (&x as &dyn Any).downcast_ref().copied()
}

/// An element beside an element of the dtype `U`, which has the same dtype, or is complex beside its real dtype, or is
/// real beside its complex dtype.
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{U}` in one op: convert one with `astype`",
    label = "the two operands have different dtypes"
)]
pub trait Pair<U>: Sized {
    /// The common dtype: the complex dtype if one of the two is complex.
    type DType: Element;

    /// True for the operand that is real beside a complex one: this operand, and the other one.
    const IS_REAL: [bool; 2] = [false; 2];

    /// Converts this element to the common dtype.
    fn left(self) -> Self::DType;

    /// Converts the other element to the common dtype.
    fn right(other: U) -> Self::DType;

    /// Applies an op to the two elements. The product and the quotient of a complex and a real number do not multiply
    /// by the imaginary part 0.
    #[inline(always)]
    fn apply<F: Each<2, Self::DType> + EachSource>(op: &F, x: Self, y: U) -> F::Out {
        op.apply(&[x.left(), Self::right(y)])
    }

    /// Converts two arrays to the common dtype.
    #[allow(clippy::type_complexity)] // two arrays of the common dtype
    fn arrays<'v, B: Arrays>(
        b: &B,
        x: Cow<'v, B::Array<Self>>,
        y: Cow<'v, B::Array<U>>,
    ) -> Result<[Cow<'v, B::Array<<Self as Pair<U>>::DType>>; 2]>
    where
        Self: Element,
        U: Element;
}

/// An element of an array beside a scalar of type `V`. The scalar converts to the array's dtype: every scalar to its own
/// dtype, `f64` and integers to every float dtype, and a real scalar to its complex dtype. A complex scalar beside a
/// real array gives the complex dtype of the array.
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{V}` in one op: convert one with `astype`",
    label = "the two operands have different dtypes"
)]
pub trait WithScalar<V>: Sized {
    /// The common dtype: the array's dtype, or its complex dtype.
    type DType: Element;

    /// True if the array is real and the scalar is complex.
    const IS_REAL: bool = false;

    /// Converts the scalar to the common dtype.
    fn scalar(scalar: V) -> Self::DType;

    /// Converts the element to the common dtype.
    fn element(self) -> Self::DType;

    /// Applies an op to the element and the scalar, in this order, or in the reverse order.
    #[inline(always)]
    fn apply<F: Each<2, Self::DType> + EachSource>(op: &F, x: Self, scalar: V, is_reversed: bool) -> F::Out {
        let (x, y) = (x.element(), Self::scalar(scalar));
        op.apply(&if is_reversed { [y, x] } else { [x, y] })
    }

    /// Converts an array to the common dtype.
    fn array<'v, B: Arrays>(
        b: &B,
        x: Cow<'v, B::Array<Self>>,
    ) -> Result<Cow<'v, B::Array<<Self as WithScalar<V>>::DType>>>
    where
        Self: Element;
}

#[diagnostic::do_not_recommend]
impl<T: Element, V: Into<Scalar<T>>> WithScalar<V> for T {
    type DType = T;

    #[inline(always)]
    fn scalar(scalar: V) -> T {
        scalar.into().0
    }

    #[inline(always)]
    fn element(self) -> T {
        self
    }

    fn array<'v, B: Arrays>(_: &B, x: Cow<'v, B::Array<T>>) -> Result<Cow<'v, B::Array<T>>> {
        Ok(x)
    }
}

/// Computes the product of a complex and a real number, or the quotient of a complex number by a real one, if this is
/// what the op computes.
#[inline(always)]
fn scaled<F: EachSource, C: ComplexFloat, V: Element>(z: C, x: C::Real, is_reversed: bool) -> Option<V> {
    if const { F::IS_PRODUCT } {
        return same(C::from_parts(z.real() * x, z.imag() * x));
    }
    if const { F::IS_QUOTIENT } && !is_reversed {
        return same(C::from_parts(z.real() / x, z.imag() / x));
    }
    None
}

macro_rules! own {
    ($($t:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl Pair<$t> for $t {
            type DType = $t;

            #[inline(always)]
            fn left(self) -> $t {
                self
            }

            #[inline(always)]
            fn right(other: $t) -> $t {
                other
            }

            fn arrays<'v, B: Arrays>(
                _: &B,
                x: Cow<'v, B::Array<$t>>,
                y: Cow<'v, B::Array<$t>>,
            ) -> Result<[Cow<'v, B::Array<$t>>; 2]> {
                Ok([x, y])
            }
        }
    )*};
}

own!(bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, Complex<f32>, Complex<f64>);
own!(AnyComplex, AnyPart, AnyReal, AnyInteger, AnyElement, AnySum, AnyTo, AnyToSum);

/// Implements [`WithScalar`] for real arrays beside a complex scalar.
macro_rules! with_complex {
    ([$($declared:tt)*] $t:ty, $scalar:ty, $complex:ty, |$z:ident| $value:expr) => {
        #[diagnostic::do_not_recommend]
        impl<$($declared)*> WithScalar<$scalar> for $t {
            type DType = $complex;
            const IS_REAL: bool = !matches!(<$t as Element>::DTYPE.kind(), DTypeKind::Complex);

            #[inline(always)]
            fn scalar($z: $scalar) -> $complex {
                $value
            }

            #[inline(always)]
            fn element(self) -> $complex {
                // a complex element has this type already
                same(self).unwrap_or_else(|| self.cast())
            }

            #[inline(always)]
            fn apply<F: Each<2, $complex> + EachSource>(op: &F, x: $t, z: $scalar, is_reversed: bool) -> F::Out {
                let (x, z) = (WithScalar::<$scalar>::element(x), <$t as WithScalar<$scalar>>::scalar(z));
                if const { <$t as WithScalar<$scalar>>::IS_REAL }
                    && let Some(value) = scaled::<F, $complex, F::Out>(z, x.real(), !is_reversed)
                {
                    return value;
                }
                op.apply(&if is_reversed { [z, x] } else { [x, z] })
            }

            fn array<'v, B: Arrays>(b: &B, x: Cow<'v, B::Array<$t>>) -> Result<Cow<'v, B::Array<$complex>>> {
                b.in_complex::<$t, $complex>(x)
            }
        }
    };
}
with_complex!([R: Real] R, Complex<f64>, R::Complex, |z| R::Complex::from_complex(z));
with_complex!([T: Float] T, ComplexLiteral, T::Complex, |z| T::Complex::from_complex(z.0));
with_complex!([] f32, Complex<f32>, Complex<f32>, |z| z);
with_complex!([] Complex<f32>, Complex<f64>, Complex<f32>, |z| Complex::from_complex(z));
with_complex!([] AnyPart, AnyComplex, AnyComplex, |z| z);

/// Implements [`WithScalar`] for complex arrays beside a scalar of their real dtype.
macro_rules! with_real {
    ($($complex:ty, $real:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl WithScalar<$real> for $complex {
            type DType = $complex;

            #[inline(always)]
            fn scalar(scalar: $real) -> $complex {
                <$complex>::from_real(scalar)
            }

            #[inline(always)]
            fn element(self) -> $complex {
                self
            }

            fn array<'v, B: Arrays>(_: &B, x: Cow<'v, B::Array<$complex>>) -> Result<Cow<'v, B::Array<$complex>>> {
                Ok(x)
            }
        }
    )*};
}
with_real! { Complex<f32>, f32; AnyComplex, AnyPart; }

/// Implements the traits for a complex dtype and its real dtype.
macro_rules! complex_and_real {
    ($($complex:ty, $real:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Pair<$real> for $complex {
            type DType = $complex;
            const IS_REAL: [bool; 2] = [false, true];

            #[inline(always)]
            fn left(self) -> $complex {
                self
            }

            #[inline(always)]
            fn right(other: $real) -> $complex {
                <$complex>::from_real(other)
            }

            #[inline(always)]
            fn apply<F: Each<2, $complex> + EachSource>(op: &F, x: $complex, y: $real) -> F::Out {
                scaled::<F, $complex, F::Out>(x, y, false).unwrap_or_else(|| op.apply(&[x, <$complex>::from_real(y)]))
            }

            fn arrays<'v, B: Arrays>(
                b: &B,
                x: Cow<'v, B::Array<$complex>>,
                y: Cow<'v, B::Array<$real>>,
            ) -> Result<[Cow<'v, B::Array<$complex>>; 2]> {
                Ok([x, b.in_complex::<$real, $complex>(y)?])
            }
        }

        #[diagnostic::do_not_recommend]
        impl Pair<$complex> for $real {
            type DType = $complex;
            const IS_REAL: [bool; 2] = [true, false];

            #[inline(always)]
            fn left(self) -> $complex {
                <$complex>::from_real(self)
            }

            #[inline(always)]
            fn right(other: $complex) -> $complex {
                other
            }

            #[inline(always)]
            fn apply<F: Each<2, $complex> + EachSource>(op: &F, x: $real, y: $complex) -> F::Out {
                scaled::<F, $complex, F::Out>(y, x, true).unwrap_or_else(|| op.apply(&[<$complex>::from_real(x), y]))
            }

            fn arrays<'v, B: Arrays>(
                b: &B,
                x: Cow<'v, B::Array<$real>>,
                y: Cow<'v, B::Array<$complex>>,
            ) -> Result<[Cow<'v, B::Array<$complex>>; 2]> {
                Ok([b.in_complex::<$real, $complex>(x)?, y])
            }
        }
    )*};
}

complex_and_real! { Complex<f32>, f32; Complex<f64>, f64; AnyComplex, AnyPart; }

/// The op that converts a real element to the complex dtype `C`.
#[derive(Clone, Copy, Debug)]
pub struct InComplex<C>(PhantomData<fn() -> C>);

impl<C> InComplex<C> {
    /// Makes the op.
    #[inline(always)]
    pub const fn new() -> InComplex<C> {
        InComplex(PhantomData)
    }
}

impl<C> Default for InComplex<C> {
    fn default() -> Self {
        InComplex::new()
    }
}

impl<C: Element> EachSource for InComplex<C> {
    const NAME: &'static str = "astype";
    const CUDA: &'static str = "op_complex(x, T(0))";
    const INPUTS: &'static [&'static str] = &["x"];
    const PARAMS: &'static [&'static str] = &[];
    const CONVERTS: bool = true;
}

impl<T: Element, C: Element> Each<1, T> for InComplex<C> {
    type Out = C;

    #[inline(always)]
    fn apply(&self, x: &[T; 1]) -> C {
        x[0].cast()
    }
}

/// The product of a complex and a real element, in the source of kernels.
#[derive(Clone, Copy, Debug)]
pub struct Scaled;

impl EachSource for Scaled {
    const NAME: &'static str = "multiply";
    const CUDA: &'static str = "op_complex(op_real(z) * x, op_imag(z) * x)";
    const INPUTS: &'static [&'static str] = &["z", "x"];
    const PARAMS: &'static [&'static str] = &[];
}

/// The quotient of a complex element by a real one, in the source of kernels.
#[derive(Clone, Copy, Debug)]
pub struct Divided;

impl EachSource for Divided {
    const NAME: &'static str = "divide";
    const CUDA: &'static str = "op_complex(op_real(z) / x, op_imag(z) / x)";
    const INPUTS: &'static [&'static str] = &["z", "x"];
    const PARAMS: &'static [&'static str] = &[];
}
