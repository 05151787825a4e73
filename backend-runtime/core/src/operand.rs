//! Array arguments of ops: arrays by reference or by value, lists of arrays, and operands, which may also be scalars or
//! literals.

use crate::{ArrayAttributes, Arrays, Complex, ComplexFloat, Element, Float, Ordered, Result, bf16, f16};
use std::{borrow::Cow, ops::RangeFull};

/// An array argument of an op: `&array`, or an array by value, so that a call can be the argument of another call.
///
/// An op may write its result into the memory of an array passed by value if no other handle of the memory exists.
#[diagnostic::on_unimplemented(
    message = "this op takes an array of the backend or a reference to one, and not `{Self}`",
    label = "not an array of this backend and dtype",
    note = "an array of another dtype: write `b.astype(&array)?`; of another backend: `other.to_backend(&array, &b)?`; \
            a vector, or an array or view of ndarray: `b.asarray(array)?`; an op does not change its arguments: for \
            `&mut` there are `set` and `expr!(b, x = ..)`"
)]
pub trait IntoArray<'a, A: Clone + 'a> {
    /// Converts the argument to an array.
    fn into_array(self) -> Cow<'a, A>;
}

impl<'a, A: Clone> IntoArray<'a, A> for &'a A {
    #[inline(always)]
    fn into_array(self) -> Cow<'a, A> {
        Cow::Borrowed(self)
    }
}

impl<'a, A: Clone> IntoArray<'a, A> for &&'a A {
    #[inline(always)]
    fn into_array(self) -> Cow<'a, A> {
        Cow::Borrowed(self)
    }
}

impl<'a, A: Clone + 'a> IntoArray<'a, A> for A {
    #[inline(always)]
    fn into_array(self) -> Cow<'a, A> {
        Cow::Owned(self)
    }
}

impl<'a, A: Clone + 'a> IntoArray<'a, A> for Cow<'a, A> {
    #[inline(always)]
    fn into_array(self) -> Cow<'a, A> {
        self
    }
}

/// A list of arrays as an argument of an op: `[x, y]`, `[&x, &y]`, a vector, or a slice. The items are arrays or
/// references to arrays.
#[diagnostic::on_unimplemented(
    message = "this op takes a list of arrays of the backend, such as `[&x, &y]`, and not `{Self}`",
    label = "not a list of arrays of this backend and dtype"
)]
pub trait ArrayList<A> {
    /// Returns references to the arrays.
    fn arrays(&self) -> Vec<&A>;
}

/// An item of a list of arrays: an array or a reference to one.
#[diagnostic::on_unimplemented(
    message = "this op takes a list of arrays of the backend, and not of `{Self}`",
    label = "not a list of arrays of this backend and dtype",
    note = "an array of another dtype: write `b.astype(&array)?`; of another backend: `other.to_backend(&array, &b)?`; \
            a vector, or an array or view of ndarray: `b.asarray(array)?`"
)]
pub trait ListItem<A> {
    /// Returns a reference to the array.
    fn item(&self) -> &A;
}

impl<A> ListItem<A> for A {
    fn item(&self) -> &A {
        self
    }
}

impl<A> ListItem<A> for &A {
    fn item(&self) -> &A {
        self
    }
}

macro_rules! list {
    ($([$($declared:tt)*] $list:ty),*) => {$(
        impl<A, X: ListItem<A>, $($declared)*> ArrayList<A> for $list {
            fn arrays(&self) -> Vec<&A> {
                self.iter().map(ListItem::item).collect()
            }
        }
    )*};
}
list!([const N: usize] [X; N], [const N: usize] &[X; N], [] &[X], [] Vec<X>, [] &Vec<X>);

/// The operand of an op after conversion: an array or a scalar.
#[derive(Debug)]
pub enum Operand<'a, B: Arrays, T: Element> {
    /// An array of the backend.
    Array(Cow<'a, B::Array<T>>),
    /// A scalar, which broadcasts to every shape.
    Scalar(T),
}

impl<'a, B: Arrays, T: Element> Operand<'a, B, T> {
    /// Borrows an array as an operand.
    #[inline(always)]
    pub fn array(x: &'a B::Array<T>) -> Operand<'a, B, T> {
        Operand::Array(Cow::Borrowed(x))
    }

    /// Borrows the operand as another operand.
    #[inline(always)]
    pub fn by_ref(&self) -> Operand<'_, B, T> {
        match self {
            Operand::Array(x) => Operand::Array(Cow::Borrowed(&**x)),
            Operand::Scalar(x) => Operand::Scalar(*x),
        }
    }
}

/// Types that convert to an operand: `&array`, an array by value (so that calls can be nested), a `T`, or a literal.
///
/// `K` is a marker that distinguishes these types. It is always inferred, and a caller can ignore the `K1, K2` in a
/// signature.
#[diagnostic::on_unimplemented(
    message = "an operand here is an array of `{B}` with dtype `{T}`, a `{T}` or a literal, and not `{Self}`",
    note = "an array of another dtype: write `b.astype(&array)?`; of another backend: `other.to_backend(&array, &b)?`; \
            a vector, or an array or view of ndarray: `b.asarray(array)?`; a number of another type, such as a count \
            `n: usize`: `n as {T}`"
)]
pub trait IntoOperand<'a, B: Arrays, T: Element, K> {
    /// Converts this value to an operand.
    fn into_operand(self) -> Operand<'a, B, T>;
}

/// Markers that distinguish the implementations of [`IntoOperand`]. They are inferred and never written by users.
pub mod kind {
    /// `&array`
    pub struct Borrowed;
    /// An array by value.
    pub struct Owned;
    /// A scalar or a literal.
    pub struct Scalar;
    /// An operand that has already been converted.
    pub struct Ready;
    /// A reference to an operand that has already been converted.
    pub struct ReadyBorrowed;
    /// A bound that is an operand, and not `..`.
    pub struct Bounded<K>(std::marker::PhantomData<K>);
    /// `..`, which means no bound.
    pub struct Open;
    /// An operand that has the dtype of the call, beside another operand.
    pub struct OfDType<K>(std::marker::PhantomData<K>);
    /// A real array beside a complex operand; `X` distinguishes the four kinds of pairs.
    pub struct Real<X>(std::marker::PhantomData<X>);
}

impl<'a, B: Arrays, T: Element> IntoOperand<'a, B, T, kind::Borrowed> for &'a B::Array<T> {
    #[inline(always)]
    fn into_operand(self) -> Operand<'a, B, T> {
        Operand::Array(Cow::Borrowed(self))
    }
}

impl<'a, B: Arrays, T: Element> IntoOperand<'a, B, T, kind::Owned> for B::Array<T> {
    #[inline(always)]
    fn into_operand(self) -> Operand<'a, B, T> {
        Operand::Array(Cow::Owned(self))
    }
}

#[diagnostic::do_not_recommend]
impl<'a, B: Arrays, T: Element, S: Copy + Into<Scalar<T>>> IntoOperand<'a, B, T, kind::Scalar> for S {
    #[inline(always)]
    fn into_operand(self) -> Operand<'a, B, T> {
        Operand::Scalar(self.into().0)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, B: Arrays, T: Element> IntoOperand<'a, B, T, kind::Ready> for Operand<'a, B, T> {
    #[inline(always)]
    fn into_operand(self) -> Operand<'a, B, T> {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<'a, B: Arrays, T: Element> IntoOperand<'a, B, T, kind::ReadyBorrowed> for &'a Operand<'_, B, T> {
    #[inline(always)]
    fn into_operand(self) -> Operand<'a, B, T> {
        self.by_ref()
    }
}

/// Types that convert to an operand beside the other operand `Y`: the types of [`IntoOperand`], and real arrays beside
/// an array or a scalar of the complex dtype `T`. A real array becomes a complex one.
///
/// `K` is a marker, which the compiler infers.
#[diagnostic::on_unimplemented(
    message = "an operand here is an array of `{B}` with dtype `{T}`, a `{T}` or a literal, and not `{Self}`",
    note = "an array of another dtype: write `b.astype(&array)?`; of another backend: `other.to_backend(&array, &b)?`; \
            a vector, or an array or view of ndarray: `b.asarray(array)?`; a number of another type, such as a count \
            `n: usize`: `n as {T}`"
)]
pub trait OperandBeside<'a, B: Arrays, T: Element, Y, K> {
    /// Converts this value to an operand.
    ///
    /// # Errors
    /// The errors of `astype`, if the value is a real array beside a complex operand.
    fn operand_beside(self, b: &B) -> Result<Operand<'a, B, T>>;
}

#[diagnostic::do_not_recommend]
impl<'a, B: Arrays, T: Element, Y, K, X: IntoOperand<'a, B, T, K>> OperandBeside<'a, B, T, Y, kind::OfDType<K>> for X {
    #[inline(always)]
    fn operand_beside(self, _: &B) -> Result<Operand<'a, B, T>> {
        Ok(self.into_operand())
    }
}

/// Implements [`OperandBeside`] for a real array of type `A` beside a complex operand. The dtypes are type parameters that
/// the first bounds determine: the compiler then sees that an implementation does not apply to two equal dtypes. It
/// would not, if the types of the arrays were `B::Array<..>`.
macro_rules! real_beside {
    ($(one: [$($declared:tt)*] $real:ty, $complex:ty, $kind:ty, [$($bounds:tt)*], |$x:ident| $cow:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'a, $($declared)*> OperandBeside<'a, B, C, $complex, kind::Real<$kind>> for $real
        where
            A: ArrayAttributes<DType = R> + Clone + 'static,
            $($bounds)*
        {
            fn operand_beside(self, b: &B) -> Result<Operand<'a, B, C>> {
                let $x = self;
                b.in_complex::<R, C>($cow).map(Operand::Array)
            }
        }
    )*};
    (both: $([$($declared:tt)*] $complex:ty, $kind:ident, [$($bounds:tt)*];)*) => {$(
        real_beside! {
            one: [$($declared)*] &'a A, $complex, (kind::Borrowed, kind::$kind), [$($bounds)*], |x| Cow::Borrowed(x);
            one: [$($declared)*] A, $complex, (kind::Owned, kind::$kind), [$($bounds)*], |x| Cow::Owned(x);
        }
    )*};
}
real_beside! { both:
    ['z, B, A, Z, R: Float, C: Element] &'z Z, Borrowed,
        [Z: ArrayAttributes<DType = C> + Clone + 'static, C: ComplexFloat<Real = R>, B: Arrays<Array<R> = A> + Arrays<Array<C> = Z>];
    [B, A, Z, R: Float, C: Element] Z, Owned,
        [Z: ArrayAttributes<DType = C> + Clone + 'static, C: ComplexFloat<Real = R>, B: Arrays<Array<R> = A> + Arrays<Array<C> = Z>];
    [B, A, R: Float, C] C, Scalar, [C: ComplexFloat<Real = R>, B: Arrays<Array<R> = A>];
}

/// Implements [`OperandBeside`] for a float32 scalar beside a complex64 array. (An `f64` converts to every float dtype.)
macro_rules! real_scalar_beside {
    ($([$($lifetime:tt)*] $complex:ty, $kind:ident;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'a, $($lifetime)* B, Z> OperandBeside<'a, B, Complex<f32>, $complex, kind::Real<(kind::Scalar, kind::$kind)>>
            for f32
        where
            Z: ArrayAttributes<DType = Complex<f32>> + Clone + 'static,
            B: Arrays<Array<Complex<f32>> = Z>,
        {
            #[inline(always)]
            fn operand_beside(self, _: &B) -> Result<Operand<'a, B, Complex<f32>>> {
                Ok(Operand::Scalar(Complex::new(self, 0.0)))
            }
        }
    )*};
}
real_scalar_beside! {
    ['z,] &'z Z, Borrowed;
    [] Z, Owned;
}

/// Types that convert to a bound: an operand, or `..` for no bound. `..` becomes the default value of the type `E`,
/// which is [`Lowest`] for a lower bound and [`Highest`] for an upper bound.
#[diagnostic::on_unimplemented(
    message = "a bound here is `..`, an array of `{B}` with dtype `{T}`, a `{T}` or a literal, and not `{Self}`",
    note = "an array of another dtype: write `b.astype(&array)?`; of another backend: `other.to_backend(&array, &b)?`"
)]
pub trait IntoBound<'a, B: Arrays, T: Element, E, K> {
    /// Converts the bound to an operand.
    fn into_bound(self) -> Operand<'a, B, T>;
}

#[diagnostic::do_not_recommend]
impl<'a, B: Arrays, T: Element, E, K, X: IntoOperand<'a, B, T, K>> IntoBound<'a, B, T, E, kind::Bounded<K>> for X {
    #[inline(always)]
    fn into_bound(self) -> Operand<'a, B, T> {
        self.into_operand()
    }
}

impl<'a, B: Arrays, T: Element, E: Default + Into<Scalar<T>>> IntoBound<'a, B, T, E, kind::Open> for RangeFull {
    #[inline(always)]
    fn into_bound(self) -> Operand<'a, B, T> {
        Operand::Scalar(E::default().into().0)
    }
}

/// The lowest value of any ordered dtype, which has no effect as a lower bound.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lowest;

/// The highest value of any ordered dtype, which has no effect as an upper bound.
#[derive(Clone, Copy, Debug, Default)]
pub struct Highest;

impl<T: Ordered> From<Lowest> for Scalar<T> {
    #[inline]
    fn from(_: Lowest) -> Scalar<T> {
        Scalar(T::LOWEST)
    }
}

impl<T: Ordered> From<Highest> for Scalar<T> {
    #[inline]
    fn from(_: Highest) -> Scalar<T> {
        Scalar(T::HIGHEST)
    }
}

/// A scalar that converts to an operand of dtype `T`.
///
/// `f64` and integers, such as a count `n: usize`, convert to every float dtype (like Python's numbers in NumPy).
/// Integer dtypes accept only their own type.
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

/// Integers convert to every float dtype, like `f64`.
macro_rules! scalar_of_integers {
    ($($t:ty),*) => {$(
        impl<T: Float> From<$t> for Scalar<T> {
            #[inline]
            fn from(x: $t) -> Self {
                Scalar(T::from_f64(x as f64))
            }
        }
    )*};
}
scalar_of_integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);
