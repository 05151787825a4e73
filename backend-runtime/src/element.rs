//! The dtypes as Rust types: the traits that classify them, which are the bounds in the op table, and the scalar
//! functions of `each` expressions.
//!
//! The methods of these traits are the functions that an `each` expression may use (`x.exp()`, `x1.atan2(x2)`). The
//! operators `+ - * /` are [`Numeric::plus`] and so on, which wrap if integers overflow. The CUDA prelude has the same
//! functions as `op_exp`, `op_atan2` and so on, so one expression serves both.

use crate::{Complex, DType, FloatOp, FloatToRealOp, Scalar, bf16, f16};
use std::fmt::{Debug, Display};

pub(crate) mod sealed {
    /// Seals the trait, so that only the dtypes of this crate are elements. The supertrait holds the functions that the
    /// CPU backend compiles once per dtype.
    pub trait Sealed: crate::numpyish::typed::Typed {}
}

/// Any element an array can hold.
///
/// The supertrait `Into<Scalar<Self>>` lets a generic `T` be an operand: `b.multiply(&x, t)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dtype",
    note = "the dtypes are bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, Complex<f32>, Complex<f64>"
)]
pub trait Element:
    sealed::Sealed + Copy + Default + PartialEq + Debug + Display + Send + Sync + Into<Scalar<Self>> + 'static
{
    /// The dtype at run time.
    const DTYPE: DType;

    /// Dtype of a sum: `i64` for `bool` and signed integers, `u64` for unsigned integers, and the dtype itself
    /// otherwise.
    type Sum: Numeric;

    /// Converts the element like `astype`, by the rules of [`Element::from_f64`] and the other `from_` functions.
    fn cast<U: Element>(self) -> U;

    /// Converts an integer, keeping the low bits; for `bool` the result is `x != 0`.
    fn from_i64(x: i64) -> Self;

    /// Converts an unsigned integer, keeping the low bits; for `bool` the result is `x != 0`.
    fn from_u64(x: u64) -> Self;

    /// Converts a real number, rounding to nearest. Conversion to integers truncates toward 0 and saturates, and NaN
    /// gives 0.
    fn from_f64(x: f64) -> Self;

    /// Converts a complex number. Real dtypes drop the imaginary part; for `bool` the result is `x != 0`.
    fn from_complex(x: Complex<f64>) -> Self;

    /// Calls the visitor if this is a floating-point dtype, otherwise returns `None`. This lets code over any dtype use
    /// float methods.
    #[inline]
    fn if_float<V: FloatVisitor<Self>>(_visitor: V) -> Option<V::Out> {
        None
    }

    /// Calls the visitor if this is a real floating-point dtype, otherwise returns `None`.
    #[inline]
    fn if_real<V: RealVisitor<Self>>(_visitor: V) -> Option<V::Out> {
        None
    }

    /// `x == y` as a method, for `each` expressions.
    #[inline(always)]
    fn equal(self, other: Self) -> bool {
        self == other
    }

    /// Whether the element counts as true: not zero. NaN is true.
    #[inline(always)]
    fn is_nonzero(self) -> bool {
        self != Self::default()
    }
}

/// An action for floating-point dtypes: see [`Element::if_float`].
pub trait FloatVisitor<T> {
    /// Result of the action.
    type Out;

    /// Runs the action.
    fn visit(self) -> Self::Out
    where
        T: Float;
}

/// An action for real floating-point dtypes: see [`Element::if_real`].
pub trait RealVisitor<T> {
    /// Result of the action.
    type Out;

    /// Runs the action.
    fn visit(self) -> Self::Out
    where
        T: Real;
}

/// Dtypes with an order, which are all dtypes except the complex ones. NaN is unordered.
#[diagnostic::on_unimplemented(message = "this op needs an ordered dtype, and `{Self}` is not one")]
pub trait Ordered: Element + PartialOrd {
    /// The smallest value: `-inf`, the smallest integer, `false`.
    const LOWEST: Self;

    /// The largest value: `inf`, the largest integer, `true`.
    const HIGHEST: Self;

    /// The larger of the two elements; NaN if either is NaN.
    fn maximum(self, other: Self) -> Self;

    /// The smaller of the two elements; NaN if either is NaN.
    fn minimum(self, other: Self) -> Self;
}

/// Dtypes with bitwise operations: `bool` and the integers.
#[diagnostic::on_unimplemented(message = "this op needs bool or an integer dtype, and `{Self}` is neither")]
pub trait Bits: Ordered + Eq {
    /// `self & other`
    fn bit_and(self, other: Self) -> Self;

    /// `self | other`
    fn bit_or(self, other: Self) -> Self;

    /// `self ^ other`
    fn bit_xor(self, other: Self) -> Self;

    /// `!self`
    fn bit_not(self) -> Self;
}

/// Integers, reals and complex numbers. Integer arithmetic wraps.
#[diagnostic::on_unimplemented(message = "this op needs a numeric dtype, and `{Self}` is not one")]
pub trait Numeric: Element {
    /// 0
    const ZERO: Self;

    /// 1
    const ONE: Self;

    /// The dtype of `abs`: the real dtype of a complex dtype, and the dtype itself otherwise.
    type Magnitude: RealNumeric;

    /// `self + other`
    fn plus(self, other: Self) -> Self;

    /// `self - other`
    fn minus(self, other: Self) -> Self;

    /// `self * other`
    fn times(self, other: Self) -> Self;

    /// `-self`
    fn negate(self) -> Self;

    /// The magnitude. The smallest signed integer gives itself, because its magnitude overflows.
    fn abs(self) -> Self::Magnitude;

    /// -1, 0 or 1; for a complex number `x / |x|`; for NaN, NaN.
    fn sign(self) -> Self;

    /// `self` to the power of `other`; a negative integer exponent gives 0, except for the bases 1 and -1.
    fn pow(self, other: Self) -> Self;

    /// The complex conjugate.
    #[inline(always)]
    fn conj(self) -> Self {
        self
    }

    /// The real part.
    fn real(self) -> Self::Magnitude;

    /// The imaginary part.
    #[inline(always)]
    fn imag(self) -> Self::Magnitude {
        Self::Magnitude::ZERO
    }

    /// Returns whether both parts are finite, which excludes infinities and NaN.
    #[inline(always)]
    fn is_finite(self) -> bool {
        true
    }

    /// Returns whether a part is infinite.
    #[inline(always)]
    fn is_inf(self) -> bool {
        false
    }

    /// Returns whether a part is NaN.
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }

    /// Rounds each part to the nearest integer, halves to even.
    #[inline(always)]
    fn round(self) -> Self {
        self
    }
}

/// Integers and reals.
#[diagnostic::on_unimplemented(message = "this op needs an integer or real dtype, and `{Self}` is neither")]
pub trait RealNumeric: Numeric<Magnitude = Self> + Ordered {
    /// The quotient rounded toward minus infinity; an integer divided by 0 gives 0.
    fn floor_divide(self, other: Self) -> Self;

    /// Remainder of `floor_divide`, with the sign of `other`; an integer modulo 0 gives 0.
    fn remainder(self, other: Self) -> Self;

    /// Remainder of the quotient rounded toward 0, with the sign of `self`; an integer modulo 0 gives 0.
    fn fmod(self, other: Self) -> Self;

    /// Rounds toward plus infinity.
    #[inline(always)]
    fn ceil(self) -> Self {
        self
    }

    /// Rounds toward minus infinity.
    #[inline(always)]
    fn floor(self) -> Self {
        self
    }

    /// Rounds toward 0.
    #[inline(always)]
    fn trunc(self) -> Self {
        self
    }
}

/// Signed and unsigned integers.
#[diagnostic::on_unimplemented(message = "this op needs an integer dtype, and `{Self}` is not one")]
pub trait Integer: RealNumeric + Bits + Ord {
    /// The smallest value.
    const MIN: Self;

    /// The largest value.
    const MAX: Self;

    /// Shifts left. A shift by the number of bits or more, or by a negative number, gives 0.
    fn shift_left(self, other: Self) -> Self;

    /// Shifts right and keeps the sign. A shift by the number of bits or more, or by a negative number, gives 0, or -1
    /// for a negative `self`.
    fn shift_right(self, other: Self) -> Self;

    /// The greatest common divisor of the magnitudes.
    fn gcd(self, other: Self) -> Self;

    /// The least common multiple of the magnitudes, which wraps if it overflows.
    fn lcm(self, other: Self) -> Self;

    /// Number of bits set in the magnitude.
    fn popcount(self) -> u8;
}

/// Real or complex floating point.
#[diagnostic::on_unimplemented(
    message = "this op needs a floating-point dtype (real or complex), and `{Self}` is not one"
)]
pub trait Float:
    Numeric<Magnitude = <Self as Float>::Real, Sum = Self>
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
{
    /// The real dtype of this dtype: the dtype itself, or the dtype of the parts of a complex number.
    type Real: Real;

    /// The dtype of a Fourier transform: `Complex<f64>` for `f64`, the dtype itself if it is complex, and otherwise
    /// `Complex<f32>`.
    type Complex: ComplexFloat;

    /// Converts a real number; the imaginary part of a complex dtype is 0.
    fn from_real(x: Self::Real) -> Self;

    /// `self / other`
    fn div(self, other: Self) -> Self;

    /// `1 / self`
    #[inline(always)]
    fn reciprocal(self) -> Self {
        Float::div(Self::ONE, self)
    }

    /// e to the power of `self`.
    fn exp(self) -> Self;
    /// `exp(x) - 1`, accurate near 0.
    fn expm1(self) -> Self;
    /// Natural logarithm.
    fn log(self) -> Self;
    /// Logarithm to base 2.
    fn log2(self) -> Self;
    /// Logarithm to base 10.
    fn log10(self) -> Self;
    /// `log(1 + x)`, accurate near 0.
    fn log1p(self) -> Self;
    /// Square root; NaN for a negative real number.
    fn sqrt(self) -> Self;
    /// Sine.
    fn sin(self) -> Self;
    /// Cosine.
    fn cos(self) -> Self;
    /// Tangent.
    fn tan(self) -> Self;
    /// Inverse sine.
    fn asin(self) -> Self;
    /// Inverse cosine.
    fn acos(self) -> Self;
    /// Inverse tangent.
    fn atan(self) -> Self;
    /// Hyperbolic sine.
    fn sinh(self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Inverse hyperbolic sine.
    fn asinh(self) -> Self;
    /// Inverse hyperbolic cosine.
    fn acosh(self) -> Self;
    /// Inverse hyperbolic tangent.
    fn atanh(self) -> Self;

    /// Runs the real or the complex form of a scalar op.
    fn float<const N: usize, F: FloatOp<N>>(f: &F, x: &[Self; N]) -> Self;

    /// Runs the real or the complex form of a scalar op with a real result.
    fn float_to_real<const N: usize, F: FloatToRealOp<N>>(f: &F, x: &[Self; N]) -> <Self as Float>::Real;
}

/// Real floating point.
#[diagnostic::on_unimplemented(message = "this op needs a real floating-point dtype, and `{Self}` is not one")]
pub trait Real: Float<Real = Self> + RealNumeric {
    /// The dtype in which an expression of several operations is computed: `f32` for 16-bit floats, which are rounded
    /// once at the end, and otherwise the dtype itself.
    type Wide: Real;

    /// Converts to `Wide`, without rounding.
    fn widened(self) -> Self::Wide;

    /// Rounds a value of type `Wide` to this dtype.
    fn narrowed(wide: Self::Wide) -> Self;

    /// The value nearest to an `f64`.
    fn of(x: f64) -> Self {
        Self::from_f64(x)
    }

    /// Converts the value to an `f64` without rounding.
    fn to_f64(self) -> f64;

    /// Angle of the point (x = `other`, y = `self`), in radians in [-pi, pi].
    fn atan2(self, other: Self) -> Self;
    /// `sqrt(x^2 + y^2)` without intermediate overflow.
    fn hypot(self, other: Self) -> Self;
    /// The magnitude of `self` with the sign of `other`.
    fn copysign(self, other: Self) -> Self;
    /// The next representable value from `self` toward `other`.
    fn nextafter(self, other: Self) -> Self;
    /// Returns whether the sign bit is set, as it is for -0.0.
    fn signbit(self) -> bool;
    /// `log(exp(x) + exp(y))` without intermediate overflow.
    fn logaddexp(self, other: Self) -> Self;
    /// 2 to the power of `self`.
    fn exp2(self) -> Self;
    /// Cube root; negative for negative numbers.
    fn cbrt(self) -> Self;
    /// Error function.
    fn erf(self) -> Self;
    /// `1 - erf(x)`, accurate for large x.
    fn erfc(self) -> Self;
    /// Gamma function.
    fn gamma(self) -> Self;
    /// Logarithm of the magnitude of the gamma function.
    fn lgamma(self) -> Self;
    /// Derivative of the logarithm of the gamma function.
    fn digamma(self) -> Self;
    /// Beta function of `self` and `other`.
    fn beta(self, other: Self) -> Self;
    /// Logarithm of the magnitude of the beta function of `self` and `other`.
    fn betaln(self, other: Self) -> Self;
    /// Regularised lower incomplete gamma function of the parameter `self` at `other`.
    fn gammainc(self, other: Self) -> Self;
    /// Regularised upper incomplete gamma function of the parameter `self` at `other`.
    fn gammaincc(self, other: Self) -> Self;
    /// Inverse of the logistic function.
    fn logit(self) -> Self;
    /// Inverse of the error function.
    fn erfinv(self) -> Self;
    /// Inverse of `1 - erf(x)`.
    fn erfcinv(self) -> Self;
    /// Bessel function of the first kind of order 0.
    fn j0(self) -> Self;
    /// Bessel function of the first kind of order 1.
    fn j1(self) -> Self;
    /// Modified Bessel function of the first kind of order 0.
    fn i0(self) -> Self;
    /// `i0(x)` times `exp(-|x|)`.
    fn i0e(self) -> Self;
    /// Modified Bessel function of the first kind of order 1.
    fn i1(self) -> Self;
    /// `i1(x)` times `exp(-|x|)`.
    fn i1e(self) -> Self;
    /// The complex number with the real part `self` and the imaginary part `imag`.
    fn complex(self, imag: Self) -> Self::Complex;
}

/// Complex floating point.
#[diagnostic::on_unimplemented(message = "this op needs a complex dtype, and `{Self}` is not one")]
pub trait ComplexFloat: Float<Complex = Self> {
    /// The complex number with these parts.
    fn from_parts(re: Self::Real, im: Self::Real) -> Self;
}

/// `f32` and `f64`: reals that have a complex dtype of the same precision.
#[diagnostic::on_unimplemented(message = "this op needs f32 or f64, and `{Self}` is neither")]
pub trait Precision: Real + WideFloat + Float<Complex: ComplexFloat<Real = Self> + WideFloat> {}

impl Precision for f32 {}
impl Precision for f64 {}

/// Real and complex floats whose parts have 32 bits or more. Matrices are factorized in these dtypes.
#[diagnostic::on_unimplemented(
    message = "this op needs float32, float64, complex64 or complex128, and `{Self}` is none of them"
)]
pub trait WideFloat: Float {}

impl WideFloat for f32 {}
impl WideFloat for f64 {}
impl WideFloat for Complex<f32> {}
impl WideFloat for Complex<f64> {}

/// Casts a slice of `T` to a slice of `U` if both are the same type.
#[inline(always)]
pub fn same<T: Element, U: Element>(x: &[T]) -> Option<&[U]> {
    // SAFETY: equal type ids mean that `T` and `U` are the same type, so the cast changes nothing.
    (std::any::TypeId::of::<T>() == std::any::TypeId::of::<U>())
        .then(|| unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len()) })
}

mod impls {
    use super::*;
    use crate::scalar::{complex, float32, float64, half as narrow, integer};

    macro_rules! element {
        ($t:ty, $dtype:ident, $sum:ty, cast($x:ident) = $cast:expr, i64 = $i64:expr, u64 = $u64:expr, f64 = $f64:expr, complex = $c:expr $(, $visit:ident: $visitor:ident)*) => {
            impl sealed::Sealed for $t {}
            #[diagnostic::do_not_recommend]
            impl Element for $t {
                const DTYPE: DType = DType::$dtype;
                type Sum = $sum;
                #[inline(always)]
                fn cast<U: Element>(self) -> U {
                    let $x = self;
                    $cast
                }
                #[inline(always)]
                fn from_i64(x: i64) -> Self {
                    ($i64)(x)
                }
                #[inline(always)]
                fn from_u64(x: u64) -> Self {
                    ($u64)(x)
                }
                #[inline(always)]
                fn from_f64(x: f64) -> Self {
                    ($f64)(x)
                }
                #[inline(always)]
                fn from_complex(x: Complex<f64>) -> Self {
                    ($c)(x)
                }
                $(
                    #[inline(always)] // inlined, because loops call it
                    fn $visit<V: $visitor<Self>>(visitor: V) -> Option<V::Out> {
                        Some(visitor.visit())
                    }
                )*
            }
        };
    }

    element!(
        bool,
        Bool,
        i64,
        cast(x) = U::from_u64(x as u64),
        i64 = |x: i64| x != 0,
        u64 = |x: u64| x != 0,
        f64 = |x: f64| x != 0.0,
        complex = |x: Complex<f64>| x != Complex::new(0.0, 0.0)
    );

    impl Ordered for bool {
        const LOWEST: bool = false;
        const HIGHEST: bool = true;

        #[inline(always)]
        fn maximum(self, other: bool) -> bool {
            self | other
        }
        #[inline(always)]
        fn minimum(self, other: bool) -> bool {
            self & other
        }
    }

    macro_rules! bits {
        ($($t:ty)*) => {$(
            impl Bits for $t {
                #[inline(always)]
                fn bit_and(self, other: $t) -> $t { self & other }
                #[inline(always)]
                fn bit_or(self, other: $t) -> $t { self | other }
                #[inline(always)]
                fn bit_xor(self, other: $t) -> $t { self ^ other }
                #[inline(always)]
                fn bit_not(self) -> $t { !self }
            }
        )*};
    }
    bits!(bool i8 i16 i32 i64 u8 u16 u32 u64);

    macro_rules! int {
        ($($t:ident $dtype:ident $wide:ident $from:ident;)*) => {$(
            element!($t, $dtype, $wide, cast(x) = U::$from(x as $wide), i64 = |x: i64| x as $t, u64 = |x: u64| x as $t,
                f64 = integer::$t::from_f64, complex = |x: Complex<f64>| integer::$t::from_f64(x.re));
            impl Ordered for $t {
                const LOWEST: $t = <$t>::MIN;
                const HIGHEST: $t = <$t>::MAX;
                #[inline(always)]
                fn maximum(self, other: $t) -> $t { Ord::max(self, other) }
                #[inline(always)]
                fn minimum(self, other: $t) -> $t { Ord::min(self, other) }
            }
            impl Numeric for $t {
                const ZERO: $t = 0;
                const ONE: $t = 1;
                type Magnitude = $t;
                #[inline(always)]
                fn plus(self, other: $t) -> $t { self.wrapping_add(other) }
                #[inline(always)]
                fn minus(self, other: $t) -> $t { self.wrapping_sub(other) }
                #[inline(always)]
                fn times(self, other: $t) -> $t { self.wrapping_mul(other) }
                #[inline(always)]
                fn negate(self) -> $t { self.wrapping_neg() }
                #[inline(always)]
                fn abs(self) -> $t { integer::$t::abs(self) }
                #[inline(always)]
                fn sign(self) -> $t { integer::$t::sign(self) }
                #[inline(always)]
                fn pow(self, other: $t) -> $t { integer::$t::pow(self, other) }
                #[inline(always)]
                fn real(self) -> $t { self }
            }
            impl RealNumeric for $t {
                #[inline(always)]
                fn floor_divide(self, other: $t) -> $t { integer::$t::floor_divide(self, other) }
                #[inline(always)]
                fn remainder(self, other: $t) -> $t { integer::$t::remainder(self, other) }
                #[inline(always)]
                fn fmod(self, other: $t) -> $t { integer::$t::fmod(self, other) }
            }
            impl Integer for $t {
                const MIN: $t = $t::MIN;
                const MAX: $t = $t::MAX;
                #[inline(always)]
                fn shift_left(self, other: $t) -> $t { integer::$t::shift_left(self, other) }
                #[inline(always)]
                fn shift_right(self, other: $t) -> $t { integer::$t::shift_right(self, other) }
                #[inline(always)]
                fn gcd(self, other: $t) -> $t { integer::$t::gcd(self, other) }
                #[inline(always)]
                fn lcm(self, other: $t) -> $t { integer::$t::lcm(self, other) }
                #[inline(always)]
                fn popcount(self) -> u8 { integer::$t::popcount(self) }
            }
        )*};
    }
    int! {
        i8 Int8 i64 from_i64;
        i16 Int16 i64 from_i64;
        i32 Int32 i64 from_i64;
        i64 Int64 i64 from_i64;
        u8 UInt8 u64 from_u64;
        u16 UInt16 u64 from_u64;
        u32 UInt32 u64 from_u64;
        u64 UInt64 u64 from_u64;
    }

    /// Forwards methods with one operand to free functions of the same name in the scalar modules.
    macro_rules! words {
        ($m:ident: $($word:ident)*) => {$(
            #[inline(always)]
            fn $word(self) -> Self { $m::$word(self) }
        )*};
    }

    /// Forwards methods with two operands to free functions of the same name.
    macro_rules! words2 {
        ($m:ident: $($word:ident)*) => {$(
            #[inline(always)]
            fn $word(self, other: Self) -> Self { $m::$word(self, other) }
        )*};
    }

    macro_rules! real {
        ($t:ty, $m:ident, $dtype:ident, $complex:ty, zero = $zero:expr, one = $one:expr, to_f64 = $to:expr, of = $of:expr, $wide:ty = $widened:expr, $narrowed:expr) => {
            element!($t, $dtype, $t, cast(x) = U::from_f64(($to)(x)), i64 = $m::from_i64, u64 = $m::from_u64,
                f64 = $of, complex = |x: Complex<f64>| ($of)(x.re), if_float: FloatVisitor, if_real: RealVisitor);
            impl Ordered for $t {
                const LOWEST: $t = <$t>::NEG_INFINITY;
                const HIGHEST: $t = <$t>::INFINITY;
                #[inline(always)]
                fn maximum(self, other: $t) -> $t { $m::maximum(self, other) }
                #[inline(always)]
                fn minimum(self, other: $t) -> $t { $m::minimum(self, other) }
            }
            impl Numeric for $t {
                const ZERO: $t = $zero;
                const ONE: $t = $one;
                type Magnitude = $t;
                #[inline(always)]
                fn plus(self, other: $t) -> $t { $m::plus(self, other) }
                #[inline(always)]
                fn minus(self, other: $t) -> $t { $m::minus(self, other) }
                #[inline(always)]
                fn times(self, other: $t) -> $t { $m::times(self, other) }
                #[inline(always)]
                fn negate(self) -> $t { -self }
                #[inline(always)]
                fn pow(self, other: $t) -> $t { $m::pow(self, other) }
                #[inline(always)]
                fn real(self) -> $t { self }
                #[inline(always)]
                fn is_finite(self) -> bool { <$t>::is_finite(self) }
                #[inline(always)]
                fn is_inf(self) -> bool { <$t>::is_infinite(self) }
                #[inline(always)]
                fn is_nan(self) -> bool { <$t>::is_nan(self) }
                words!($m: abs sign round);
            }
            impl RealNumeric for $t {
                #[inline(always)]
                fn floor_divide(self, other: $t) -> $t { $m::floor_divide(self, other) }
                #[inline(always)]
                fn remainder(self, other: $t) -> $t { $m::remainder(self, other) }
                #[inline(always)]
                fn fmod(self, other: $t) -> $t { $m::fmod(self, other) }
                words!($m: ceil floor trunc);
            }
            impl Float for $t {
                type Real = $t;
                type Complex = $complex;
                #[inline(always)]
                fn from_real(x: $t) -> $t { x }
                #[inline(always)]
                fn div(self, other: $t) -> $t { $m::divide(self, other) }
                words!($m: exp expm1 log log2 log10 log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh);
                #[inline(always)]
                fn float<const N: usize, F: FloatOp<N>>(f: &F, x: &[$t; N]) -> $t { f.real(x) }
                #[inline(always)]
                fn float_to_real<const N: usize, F: FloatToRealOp<N>>(f: &F, x: &[$t; N]) -> $t { f.real(x) }
            }
            impl Real for $t {
                type Wide = $wide;
                #[inline(always)]
                fn widened(self) -> $wide { ($widened)(self) }
                #[inline(always)]
                fn narrowed(wide: $wide) -> $t { ($narrowed)(wide) }
                #[inline(always)]
                fn to_f64(self) -> f64 { ($to)(self) }
                #[inline(always)]
                fn atan2(self, other: $t) -> $t { $m::atan2(self, other) }
                #[inline(always)]
                fn hypot(self, other: $t) -> $t { $m::hypot(self, other) }
                #[inline(always)]
                fn copysign(self, other: $t) -> $t { <$t>::copysign(self, other) }
                #[inline(always)]
                fn nextafter(self, other: $t) -> $t { $m::nextafter(self, other) }
                #[inline(always)]
                fn signbit(self) -> bool { <$t>::is_sign_negative(self) }
                #[inline(always)]
                fn logaddexp(self, other: $t) -> $t { $m::logaddexp(self, other) }
                words2!($m: beta betaln gammainc gammaincc);
                words!($m: exp2 cbrt erf erfc gamma lgamma digamma logit erfinv erfcinv j0 j1 i0 i0e i1 i1e);
                #[inline(always)]
                fn complex(self, imag: $t) -> $complex { Complex::new(self.into(), imag.into()) }
            }
        };
    }
    real!(
        f64,
        float64,
        Float64,
        Complex<f64>,
        zero = 0.0,
        one = 1.0,
        to_f64 = |x: f64| x,
        of = |x: f64| x,
        f64 = |x| x,
        |x| x
    );
    real!(
        f32,
        float32,
        Float32,
        Complex<f32>,
        zero = 0.0,
        one = 1.0,
        to_f64 = |x: f32| x as f64,
        of = |x: f64| x as f32,
        f32 = |x| x,
        |x| x
    );

    mod float16 {
        super::narrow::words!(half::f16);
    }
    mod bfloat16 {
        super::narrow::words!(half::bf16);
    }
    real!(
        f16,
        float16,
        Float16,
        Complex<f32>,
        zero = f16::ZERO,
        one = f16::ONE,
        to_f64 = |x: f16| narrow::widen_f16(x.to_bits()) as f64,
        of = |x: f64| f16::from_bits(narrow::narrow_f16(narrow::shorten(x))),
        f32 = |x: f16| narrow::widen_f16(x.to_bits()),
        |x| f16::from_bits(narrow::narrow_f16(x))
    );
    real!(
        bf16,
        bfloat16,
        BFloat16,
        Complex<f32>,
        zero = bf16::ZERO,
        one = bf16::ONE,
        to_f64 = |x: bf16| narrow::widen_bf16(x.to_bits()) as f64,
        of = |x: f64| bf16::from_bits(narrow::narrow_bf16(narrow::shorten(x))),
        f32 = |x: bf16| narrow::widen_bf16(x.to_bits()),
        |x| bf16::from_bits(narrow::narrow_bf16(x))
    );

    macro_rules! complex_float {
        ($r:ident, $dtype:ident) => {
            element!(Complex<$r>, $dtype, Complex<$r>, cast(x) = U::from_complex(Complex::new(x.re as f64, x.im as f64)),
                i64 = |x: i64| Complex::new(x as $r, 0.0), u64 = |x: u64| Complex::new(x as $r, 0.0),
                f64 = |x: f64| Complex::new(x as $r, 0.0), complex = |x: Complex<f64>| Complex::new(x.re as $r, x.im as $r),
                if_float: FloatVisitor);
            impl Numeric for Complex<$r> {
                const ZERO: Self = Complex::new(0.0, 0.0);
                const ONE: Self = Complex::new(1.0, 0.0);
                type Magnitude = $r;
                #[inline(always)]
                fn plus(self, other: Self) -> Self { self + other }
                #[inline(always)]
                fn minus(self, other: Self) -> Self { self - other }
                #[inline(always)]
                fn times(self, other: Self) -> Self { complex::times(self, other) }
                #[inline(always)]
                fn negate(self) -> Self { -self }
                #[inline(always)]
                fn abs(self) -> $r { complex::abs(self) }
                #[inline(always)]
                fn pow(self, other: Self) -> Self { complex::pow(self, other) }
                #[inline(always)]
                fn conj(self) -> Self { Complex::new(self.re, -self.im) }
                #[inline(always)]
                fn real(self) -> $r { self.re }
                #[inline(always)]
                fn imag(self) -> $r { self.im }
                #[inline(always)]
                fn is_finite(self) -> bool { self.re.is_finite() & self.im.is_finite() }
                #[inline(always)]
                fn is_inf(self) -> bool { self.re.is_infinite() | self.im.is_infinite() }
                #[inline(always)]
                fn is_nan(self) -> bool { self.re.is_nan() | self.im.is_nan() }
                words!(complex: sign round);
            }
            impl Float for Complex<$r> {
                type Real = $r;
                type Complex = Self;
                #[inline(always)]
                fn from_real(x: $r) -> Self { Complex::new(x, 0.0) }
                #[inline(always)]
                fn div(self, other: Self) -> Self { complex::div(self, other) }
                words!(complex: reciprocal exp expm1 log log2 log10 log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh);
                #[inline(always)]
                fn float<const N: usize, F: FloatOp<N>>(f: &F, x: &[Self; N]) -> Self { f.complex(x) }
                #[inline(always)]
                fn float_to_real<const N: usize, F: FloatToRealOp<N>>(f: &F, x: &[Self; N]) -> $r { f.complex(x) }
            }
            impl ComplexFloat for Complex<$r> {
                #[inline(always)]
                fn from_parts(re: $r, im: $r) -> Self { Complex::new(re, im) }
            }
        };
    }
    complex_float!(f32, Complex64);
    complex_float!(f64, Complex128);
}
