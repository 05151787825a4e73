//! Element types for dtypes that are known only at run time.
//!
//! An op that is composed of other ops, such as `softmax`, is generic over the dtype `T` of its arrays. For backends
//! whose library is chosen at run time, it is compiled once for a type of this module instead of once for each dtype:
//! an `AnyArray<AnyReal>` has elements of any real dtype. A type of this module stands for a dtype that [`with_dtypes`]
//! sets for the duration of a call. Numbers of these types are stored exactly, and converted to the dtype when an op
//! takes them.

use super::*;
use crate::{FloatOp, FloatToRealOp, Number, dispatch, raw::RawElement};
use std::{cell::Cell, fmt};

thread_local! {
    /// The dtypes of the innermost call: `T` and, for an op with two dtypes, `U`.
    static DTYPES: Cell<(DType, DType)> = const { Cell::new((DType::Float64, DType::Float64)) };
}

/// Runs `f`, in which [`AnyElement`] and the other types stand for the dtype `of`, and [`AnyTo`] for `to`.
pub fn with_dtypes<R>(of: DType, to: DType, f: impl FnOnce() -> R) -> R {
    /// Restores the dtypes of the surrounding call, even if `f` panics.
    struct Restore((DType, DType));

    impl Drop for Restore {
        fn drop(&mut self) {
            DTYPES.set(self.0);
        }
    }

    let _restore = Restore(DTYPES.replace((of, to)));
    f()
}

/// The dtypes of the innermost [`with_dtypes`].
pub fn dtypes() -> (DType, DType) {
    DTYPES.get()
}

fn of() -> DType {
    DTYPES.get().0
}

fn to() -> DType {
    DTYPES.get().1
}

fn to_sum() -> DType {
    to().to_sum()
}

/// The dtype of a magnitude: the dtype of the parts of a complex number, and otherwise the dtype itself.
fn real() -> DType {
    if of().kind() == DTypeKind::Complex { part() } else { of() }
}

fn complex() -> DType {
    of().to_complex()
}

/// The dtype of the parts of [`complex`].
fn part() -> DType {
    if complex() == DType::Complex64 { DType::Float32 } else { DType::Float64 }
}

fn sum() -> DType {
    of().to_sum()
}

/// Converts a number like `astype`.
fn cast<U: Element>(x: Number) -> U {
    match x {
        Number::Bool(x) => U::from_u64(x.into()),
        Number::Integer(x) => i64::try_from(x).map_or_else(|_| U::from_u64(x as u64), U::from_i64),
        Number::Real(x) => U::from_f64(x),
        Number::Complex(x) => U::from_complex(x),
    }
}

/// Converts a number to an element of the dtype `dtype`.
fn raw(x: Number, dtype: DType) -> RawElement {
    let element: crate::Result<RawElement> = dispatch!(dtype, T => Ok(RawElement::of(cast::<T>(x))));
    element.unwrap_or(RawElement::zero(dtype))
}

fn text(x: RawElement, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let text: crate::Result<String> = dispatch!(x.dtype(), T => Ok(x.cast::<T>().to_string()));
    f.write_str(&text.unwrap_or_default())
}

/// Declares an element type that stands for a dtype which is known at run time. `$value` is the type of its numbers.
macro_rules! dynamic {
    ($(#[$doc:meta])* $name:ident($value:ty) of $dtype:ident, like $like:ident, sum $sum:ty,
        number($x:ident) = $number:expr, i64 = $i64:expr, u64 = $u64:expr, f64 = $f64:expr, complex = $complex:expr
        $(, $visit:ident: $visitor:ident)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name($value);

        impl $name {
            fn number(self) -> Number {
                let $x = self.0;
                $number
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                text(self.to_raw(), f)
            }
        }

        impl Default for $name {
            fn default() -> $name {
                $name::from_i64(0)
            }
        }

        impl From<$name> for Scalar<$name> {
            fn from(x: $name) -> Scalar<$name> {
                Scalar(x)
            }
        }

        impl sealed::Sealed for $name {}

        impl crate::numpyish::typed::NoNdArray for $name {}

        #[diagnostic::do_not_recommend]
        impl Element for $name {
            const DTYPE: DType = DType::$like;
            const IS_DYNAMIC: bool = true;
            type Sum = $sum;
            type InFloat32 = AnyReal;

            #[inline(always)]
            fn by_dtype<R>(_typed: impl FnOnce() -> R, dynamic: impl FnOnce() -> R) -> R {
                dynamic()
            }

            fn dtype() -> DType {
                $dtype()
            }

            fn to_raw(self) -> RawElement {
                raw(self.number(), $dtype())
            }

            fn cast<U: Element>(self) -> U {
                cast(self.number())
            }

            fn from_i64(x: i64) -> Self {
                $name(($i64)(x))
            }

            fn from_u64(x: u64) -> Self {
                $name(($u64)(x))
            }

            fn from_f64(x: f64) -> Self {
                $name(($f64)(x))
            }

            fn from_complex(x: Complex<f64>) -> Self {
                $name(($complex)(x))
            }

            $(
                fn $visit<V: $visitor<Self>>(visitor: V) -> Option<V::Out> {
                    Some(visitor.visit())
                }
            )*
        }
    };
}

macro_rules! operators {
    ($name:ident: $($trait:ident $method:ident $by:path;)*) => {
        $(
            impl std::ops::$trait for $name {
                type Output = $name;

                fn $method(self, other: $name) -> $name {
                    $by(self, other)
                }
            }
        )*

        impl std::ops::Neg for $name {
            type Output = $name;

            fn neg(self) -> $name {
                Numeric::negate(self)
            }
        }
    };
}

/// Implements methods by calling the same methods of the contained number.
macro_rules! words {
    ($of:ident: $($word:ident)*) => {$(
        fn $word(self) -> Self { Self($of::$word(self.0)) }
    )*};
}

/// Implements methods with a second operand by calling the same methods of the contained numbers.
macro_rules! words2 {
    ($of:ident: $($word:ident)*) => {$(
        fn $word(self, other: Self) -> Self { Self($of::$word(self.0, other.0)) }
    )*};
}

/// Implements methods that return a bool by calling the same methods of the contained number.
macro_rules! tests {
    ($of:ident: $($word:ident)*) => {$(
        fn $word(self) -> bool { $of::$word(self.0) }
    )*};
}

macro_rules! dynamic_real {
    ($(#[$doc:meta])* $name:ident of $dtype:ident) => {
        dynamic!($(#[$doc])* $name(f64) of $dtype, like Float64, sum $name, number(x) = Number::Real(x),
            i64 = |x| x as f64, u64 = |x| x as f64, f64 = |x| x, complex = |x: Complex<f64>| x.re,
            if_float: FloatVisitor, if_real: RealVisitor);

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &$name) -> Option<std::cmp::Ordering> {
                self.0.partial_cmp(&other.0)
            }
        }

        #[diagnostic::do_not_recommend]
        impl Ordered for $name {
            const LOWEST: $name = $name(f64::NEG_INFINITY);
            const HIGHEST: $name = $name(f64::INFINITY);

            words2!(Ordered: maximum minimum);
        }

        #[diagnostic::do_not_recommend]
        impl Numeric for $name {
            const ZERO: $name = $name(0.0);
            const ONE: $name = $name(1.0);
            type Magnitude = $name;

            words!(Numeric: negate abs sign round);
            words2!(Numeric: plus minus times pow);
            tests!(Numeric: is_finite is_inf is_nan);

            fn real(self) -> $name {
                self
            }
        }

        #[diagnostic::do_not_recommend]
        impl RealNumeric for $name {
            words!(RealNumeric: ceil floor trunc);
            words2!(RealNumeric: floor_divide remainder fmod);
        }

        operators!($name: Add add Numeric::plus; Sub sub Numeric::minus; Mul mul Numeric::times; Div div Float::div;);

        #[diagnostic::do_not_recommend]
        impl Float for $name {
            type Real = $name;
            type Complex = AnyComplex;

            words!(Float: exp expm1 log log2 log10 log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh);
            words2!(Float: div);

            fn from_real(x: $name) -> $name {
                x
            }

            fn float<const N: usize, F: FloatOp<N>>(f: &F, x: &[$name; N]) -> $name {
                f.real(x)
            }

            fn float_to_real<const N: usize, F: FloatToRealOp<N>>(f: &F, x: &[$name; N]) -> $name {
                f.real(x)
            }
        }

        #[diagnostic::do_not_recommend]
        impl Real for $name {
            // an associated constant cannot depend on the dtype of a call; code that uses it does not compile for these
            // types
            const EPSILON: $name = panic!("the dtype is known only at run time: use `finfo(T::dtype())`");
            const MAX: $name = panic!("the dtype is known only at run time: use `finfo(T::dtype())`");
            const MIN: $name = panic!("the dtype is known only at run time: use `finfo(T::dtype())`");
            const MIN_POSITIVE: $name = panic!("the dtype is known only at run time: use `finfo(T::dtype())`");
            const INFINITY: $name = $name(f64::INFINITY);
            const NEG_INFINITY: $name = $name(f64::NEG_INFINITY);
            const NAN: $name = $name(f64::NAN);
            const PI: $name = panic!("the dtype is known only at run time: use `T::of(PI)`");
            type Wide = $name;

            words!(Real: exp2 cbrt erf erfc gamma lgamma digamma logit erfinv erfcinv j0 j1 i0 i0e i1 i1e);
            words2!(Real: atan2 hypot copysign nextafter logaddexp beta betaln gammainc gammaincc);
            tests!(Real: signbit);

            fn widened(self) -> $name {
                self
            }

            fn narrowed(wide: $name) -> $name {
                wide
            }

            fn to_f64(self) -> f64 {
                self.0
            }

            fn complex(self, imag: $name) -> AnyComplex {
                AnyComplex(Complex::new(self.0, imag.0))
            }
        }
    };
}

dynamic_real! {
    /// An element of a real dtype, or of the real dtype that belongs to a complex dtype.
    AnyReal of real
}

dynamic_real! {
    /// A part of a complex number: float32 or float64.
    AnyPart of part
}

#[diagnostic::do_not_recommend]
impl WideFloat for AnyPart {}
#[diagnostic::do_not_recommend]
impl Precision for AnyPart {}

dynamic!(
    /// An element of a complex dtype, or of the complex dtype that belongs to a real dtype.
    AnyComplex(Complex<f64>) of complex, like Complex128, sum AnyComplex, number(x) = Number::Complex(x),
    i64 = |x| Complex::new(x as f64, 0.0), u64 = |x| Complex::new(x as f64, 0.0), f64 = |x| Complex::new(x, 0.0),
    complex = |x| x, if_float: FloatVisitor
);

#[diagnostic::do_not_recommend]
impl Numeric for AnyComplex {
    const ZERO: AnyComplex = AnyComplex(Complex::new(0.0, 0.0));
    const ONE: AnyComplex = AnyComplex(Complex::new(1.0, 0.0));
    type Magnitude = AnyPart;

    words!(Numeric: negate sign conj round);
    words2!(Numeric: plus minus times pow);
    tests!(Numeric: is_finite is_inf is_nan);

    fn abs(self) -> AnyPart {
        AnyPart(Numeric::abs(self.0))
    }

    fn real(self) -> AnyPart {
        AnyPart(self.0.re)
    }

    fn imag(self) -> AnyPart {
        AnyPart(self.0.im)
    }
}

operators!(AnyComplex: Add add Numeric::plus; Sub sub Numeric::minus; Mul mul Numeric::times; Div div Float::div;);

#[diagnostic::do_not_recommend]
impl Float for AnyComplex {
    type Real = AnyPart;
    type Complex = AnyComplex;

    words!(Float: reciprocal exp expm1 log log2 log10 log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh);
    words2!(Float: div);

    fn from_real(x: AnyPart) -> AnyComplex {
        AnyComplex(Complex::new(x.0, 0.0))
    }

    fn float<const N: usize, F: FloatOp<N>>(f: &F, x: &[AnyComplex; N]) -> AnyComplex {
        AnyComplex(f.complex(&x.map(|x| x.0)))
    }

    fn float_to_real<const N: usize, F: FloatToRealOp<N>>(f: &F, x: &[AnyComplex; N]) -> AnyPart {
        AnyPart(f.complex(&x.map(|x| x.0)))
    }
}

#[diagnostic::do_not_recommend]
impl ComplexFloat for AnyComplex {
    fn from_parts(re: AnyPart, im: AnyPart) -> AnyComplex {
        AnyComplex(Complex::new(re.0, im.0))
    }
}

#[diagnostic::do_not_recommend]
impl WideFloat for AnyComplex {}

/// Computes a function of two numbers in the dtype `$dtype`, which must be in `$list`.
macro_rules! in_dtype {
    ($dtype:expr, $t:ident: $list:tt, $x:expr, $y:expr, $f:expr) => {{
        let result: crate::Result<Number> = dispatch!($dtype, $t: $list => {
            Ok(Number::of(($f)(cast::<$t>($x), cast::<$t>($y))))
        });
        result.unwrap_or(Number::Integer(0))
    }};
}

macro_rules! dynamic_number {
    ($(#[$doc:meta])* $name:ident of $dtype:ident, sum $sum:ty) => {
        dynamic!($(#[$doc])* $name(Number) of $dtype, like Float64, sum $sum, number(x) = x,
            i64 = |x: i64| Number::Integer(x.into()), u64 = |x: u64| Number::Integer(x.into()), f64 = Number::Real,
            complex = Number::Complex);

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &$name) -> Option<std::cmp::Ordering> {
                match (self.0, other.0) {
                    (Number::Integer(x), Number::Integer(y)) => x.partial_cmp(&y),
                    _ => self.cast::<f64>().partial_cmp(&other.cast::<f64>()),
                }
            }
        }

        #[diagnostic::do_not_recommend]
        impl Ordered for $name {
            const LOWEST: $name = $name(Number::Real(f64::NEG_INFINITY));
            const HIGHEST: $name = $name(Number::Real(f64::INFINITY));

            fn maximum(self, other: $name) -> $name {
                if self != self || self > other { self } else { other }
            }

            fn minimum(self, other: $name) -> $name {
                if self != self || self < other { self } else { other }
            }
        }

        impl $name {
            fn with(self, other: $name, f: fn(Complex<f64>, Complex<f64>) -> Complex<f64>, of: fn(i128, i128) -> i128) -> $name {
                match (self.0, other.0) {
                    (Number::Integer(x), Number::Integer(y)) => $name(Number::Integer(of(x, y))),
                    _ => match f(self.cast(), other.cast()) {
                        x if x.im == 0.0 => $name(Number::Real(x.re)),
                        x => $name(Number::Complex(x)),
                    },
                }
            }
        }

        #[diagnostic::do_not_recommend]
        impl Numeric for $name {
            const ZERO: $name = $name(Number::Integer(0));
            const ONE: $name = $name(Number::Integer(1));
            type Magnitude = AnyReal;

            fn plus(self, other: $name) -> $name {
                self.with(other, Numeric::plus, i128::wrapping_add)
            }

            fn minus(self, other: $name) -> $name {
                self.with(other, Numeric::minus, i128::wrapping_sub)
            }

            fn times(self, other: $name) -> $name {
                self.with(other, Numeric::times, i128::wrapping_mul)
            }

            fn negate(self) -> $name {
                $name::ZERO.minus(self)
            }

            fn abs(self) -> AnyReal {
                AnyReal(Numeric::abs(self.cast::<Complex<f64>>()))
            }

            fn sign(self) -> $name {
                $name::from_complex(Numeric::sign(self.cast::<Complex<f64>>()))
            }

            fn pow(self, other: $name) -> $name {
                $name::from_complex(Numeric::pow(self.cast::<Complex<f64>>(), other.cast()))
            }

            fn conj(self) -> $name {
                match self.0 {
                    Number::Complex(x) => $name(Number::Complex(x.conj())),
                    _ => self,
                }
            }

            fn real(self) -> AnyReal {
                AnyReal(self.cast::<Complex<f64>>().re)
            }

            fn imag(self) -> AnyReal {
                AnyReal(self.cast::<Complex<f64>>().im)
            }

            fn is_finite(self) -> bool {
                Numeric::is_finite(self.cast::<Complex<f64>>())
            }

            fn is_inf(self) -> bool {
                Numeric::is_inf(self.cast::<Complex<f64>>())
            }

            fn is_nan(self) -> bool {
                Numeric::is_nan(self.cast::<Complex<f64>>())
            }

            fn round(self) -> $name {
                match self.0 {
                    Number::Real(x) => $name(Number::Real(Numeric::round(x))),
                    Number::Complex(x) => $name(Number::Complex(Numeric::round(x))),
                    _ => self,
                }
            }
        }
    };
}

dynamic_number! {
    /// An element of any dtype.
    AnyElement of of, sum AnySum
}

dynamic_number! {
    /// An element of the dtype of a sum ([`Element::Sum`]).
    AnySum of sum, sum AnySum
}

dynamic_number! {
    /// An element of the second dtype of an op with two dtypes.
    AnyTo of to, sum AnyToSum
}

dynamic_number! {
    /// An element of the dtype of a sum of elements of the second dtype.
    AnyToSum of to_sum, sum AnyToSum
}

dynamic!(
    /// An element of an integer dtype.
    AnyInteger(i128) of of, like Int64, sum AnySum, number(x) = Number::Integer(x), i64 = i128::from,
    u64 = i128::from, f64 = |x| cast_integer(Number::Real(x)), complex = |x: Complex<f64>| cast_integer(Number::Real(x.re))
);

/// Converts a number to an integer of the dtype of the call.
fn cast_integer(x: Number) -> i128 {
    match in_dtype!(of(), T: [Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64], x, x, |x: T, _: T| x) {
        Number::Integer(x) => x,
        _ => 0,
    }
}

impl AnyInteger {
    fn of(x: Number) -> AnyInteger {
        AnyInteger(cast_integer(x))
    }
}

macro_rules! integer {
    ($trait:ident: $($word:ident)*) => {$(
        fn $word(self, other: AnyInteger) -> AnyInteger {
            AnyInteger::of(in_dtype!(
                of(), T: [Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64], self.number(), other.number(),
                <T as $trait>::$word
            ))
        }
    )*};
}

impl PartialOrd for AnyInteger {
    fn partial_cmp(&self, other: &AnyInteger) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for AnyInteger {}

impl Ord for AnyInteger {
    fn cmp(&self, other: &AnyInteger) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

#[diagnostic::do_not_recommend]
impl Ordered for AnyInteger {
    const LOWEST: AnyInteger = AnyInteger(i64::MIN as i128);
    const HIGHEST: AnyInteger = AnyInteger(u64::MAX as i128);

    integer!(Ordered: maximum minimum);
}

#[diagnostic::do_not_recommend]
impl Bits for AnyInteger {
    integer!(Bits: bit_and bit_or bit_xor);

    fn bit_not(self) -> AnyInteger {
        self.bit_xor(AnyInteger(-1))
    }
}

#[diagnostic::do_not_recommend]
impl Numeric for AnyInteger {
    const ZERO: AnyInteger = AnyInteger(0);
    const ONE: AnyInteger = AnyInteger(1);
    type Magnitude = AnyInteger;

    integer!(Numeric: plus minus times pow);

    fn negate(self) -> AnyInteger {
        AnyInteger::ZERO.minus(self)
    }

    fn abs(self) -> AnyInteger {
        if self.0 < 0 { self.negate() } else { self }
    }

    fn sign(self) -> AnyInteger {
        AnyInteger(self.0.signum())
    }

    fn real(self) -> AnyInteger {
        self
    }
}

#[diagnostic::do_not_recommend]
impl RealNumeric for AnyInteger {
    integer!(RealNumeric: floor_divide remainder fmod);
}

#[diagnostic::do_not_recommend]
impl Integer for AnyInteger {
    const MIN: AnyInteger = AnyInteger::LOWEST;
    const MAX: AnyInteger = AnyInteger::HIGHEST;

    integer!(Integer: shift_left shift_right gcd lcm);

    fn popcount(self) -> u8 {
        self.0.unsigned_abs().count_ones() as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dtypes_are_those_of_the_innermost_call() {
        with_dtypes(DType::Complex64, DType::UInt8, || {
            assert_eq!(
                [AnyElement::dtype(), AnyReal::dtype(), AnyPart::dtype(), AnyComplex::dtype(), AnySum::dtype()],
                [DType::Complex64, DType::Float32, DType::Float32, DType::Complex64, DType::Complex64]
            );
            assert_eq!(AnyTo::dtype(), DType::UInt8);
            with_dtypes(DType::Float16, DType::Float16, || {
                assert_eq!([AnyReal::dtype(), AnyPart::dtype()], [DType::Float16, DType::Float32]);
            });
            let panic = std::panic::catch_unwind(|| with_dtypes(DType::Bool, DType::Bool, || panic!("in a call")));
            assert!(panic.is_err());
            assert_eq!(AnyElement::dtype(), DType::Complex64);
        });
        with_dtypes(DType::Bool, DType::Bool, || assert_eq!(AnySum::dtype(), DType::Int64));
    }

    #[test]
    fn numbers_are_converted_like_elements_of_the_dtype() {
        with_dtypes(DType::Float32, DType::Float32, || {
            let x = AnyReal::of(0.1);
            assert_eq!(
                (x.to_raw().dtype(), x.to_raw().cast::<f32>(), x.to_string()),
                (DType::Float32, 0.1, "0.1".into())
            );
        });
        with_dtypes(DType::UInt64, DType::UInt64, || {
            let most = AnyElement::from_u64(u64::MAX);
            assert_eq!((most.to_raw().cast::<u64>(), most.to_string()), (u64::MAX, u64::MAX.to_string()));
            assert_eq!(AnyInteger::from_u64(u64::MAX).plus(AnyInteger::ONE), AnyInteger::ZERO);
            assert_eq!(AnyInteger::from_f64(-1.5), AnyInteger::ZERO);
        });
        with_dtypes(DType::Int8, DType::Int8, || {
            let x = AnyInteger::from_i64(100);
            assert_eq!((x.plus(x), x.shift_left(AnyInteger::from_i64(7))), (AnyInteger(-56), AnyInteger::ZERO));
            assert_eq!(AnyElement::LOWEST.to_raw().cast::<i8>(), i8::MIN);
            assert!(AnyElement::from_i64(-1) < AnyElement::ONE);
        });
        with_dtypes(DType::Complex128, DType::Complex128, || {
            let i = AnyComplex::from_parts(AnyPart::ZERO, AnyPart::ONE);
            assert_eq!((i * i).to_raw().to_complex(), Complex::new(-1.0, 0.0));
            assert_eq!(AnyElement::from_complex(Complex::new(3.0, 4.0)).abs(), AnyReal::of(5.0));
        });
    }
}
