//! The dtypes as Rust types: traits that classify the dtypes, which are the bounds in the op table, and the scalar
//! functions that `each` expressions of the op table call.
//!
//! An `each` expression may call the methods of these traits (`x.exp()`, `x1.atan2(x2)`). The operators `+ - * /` mean
//! [`Numeric::plus`] and so on, which wrap if integers overflow. The CUDA prelude has the same functions under the
//! names `op_exp`, `op_atan2` and so on, so that one expression serves the CPU and GPUs.

#[doc(hidden)] // only generated code names these types, and their pages would be very long
pub mod dynamic;
mod impls;

pub use crate::same_type::same;
use crate::{Complex, DType, DTypeKind, FloatOp, FloatToRealOp, Pair, Scalar, WithScalar, bf16, f16, raw::RawElement};
use std::fmt::{Debug, Display};

pub(crate) mod sealed {
    /// Seals [`Element`](super::Element): only the dtypes of this crate can be elements. The supertrait has the
    /// functions that the CPU backend compiles once per dtype.
    pub trait Sealed: crate::numpyish::typed::Typed {}
}

/// A type that the elements of an array can have.
///
/// Because of the supertrait `Into<Scalar<Self>>`, a generic value `t: T` can be an operand: `b.multiply(&x, t)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dtype",
    note = "the dtypes are bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, Complex<f32>, Complex<f64>"
)]
pub trait Element:
    sealed::Sealed
    + Copy
    + Default
    + PartialEq
    + Debug
    + Display
    + Send
    + Sync
    + Into<Scalar<Self>>
    + Pair<Self, DType = Self>
    + 'static
{
    /// The dtype as a value that is known at run time.
    const DTYPE: DType;

    /// True for the element types that stand for a dtype which is known only at run time ([`dynamic`]). Their `DTYPE`
    /// has no meaning.
    #[doc(hidden)]
    const IS_DYNAMIC: bool = false;

    /// Returns the dtype of the elements. This is `DTYPE`, or, for the element types in [`dynamic`], the dtype that is
    /// set for the current call.
    #[doc(hidden)]
    #[inline(always)]
    fn dtype() -> DType {
        Self::DTYPE
    }

    /// Stores the element together with its dtype.
    #[doc(hidden)]
    #[inline(always)]
    fn to_raw(self) -> RawElement {
        RawElement::of(self)
    }

    /// Dtype of a sum: `i64` for `bool` and signed integers, `u64` for unsigned integers, and the dtype itself
    /// otherwise.
    type Sum: Numeric;

    /// The element type of float32 for code that computes in float32 instead of this dtype: `f32`, or a type of
    /// [`dynamic`] that stands for float32 in a call in float32.
    #[doc(hidden)]
    type InFloat32: Real;

    /// Runs `dynamic` if this is a type of [`dynamic`], and otherwise `typed`. The compiler does not look at the other
    /// function.
    #[doc(hidden)]
    #[inline(always)]
    fn by_dtype<R>(typed: impl FnOnce() -> R, _dynamic: impl FnOnce() -> R) -> R {
        typed()
    }

    /// Converts the element like `astype`, by the rules of [`Element::from_f64`] and the other `from_` functions.
    fn cast<U: Element>(self) -> U;

    /// Converts an integer. An integer dtype keeps the low bits; for `bool` the result is `x != 0`.
    fn from_i64(x: i64) -> Self;

    /// Converts an unsigned integer. An integer dtype keeps the low bits; for `bool` the result is `x != 0`.
    fn from_u64(x: u64) -> Self;

    /// Converts a real number. Float dtypes round to nearest. Integer dtypes truncate toward 0 and saturate, and NaN
    /// becomes 0. For `bool` the result is `x != 0`.
    fn from_f64(x: f64) -> Self;

    /// Converts a complex number. Real dtypes drop the imaginary part; for `bool` the result is `x != 0`.
    fn from_complex(x: Complex<f64>) -> Self;

    /// Calls the visitor if this is a floating-point dtype; otherwise returns `None`. In the visitor, code that is
    /// generic over any dtype can call the methods of [`Float`].
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

    /// Returns whether the element counts as true, which means that it is not 0. NaN counts as true.
    #[inline(always)]
    fn is_nonzero(self) -> bool {
        self != Self::default()
    }
}

/// A function for floating-point dtypes, which [`Element::if_float`] calls.
pub trait FloatVisitor<T> {
    /// Result of the function.
    type Out;

    /// Runs the function.
    fn visit(self) -> Self::Out
    where
        T: Float;
}

/// A function for real floating-point dtypes, which [`Element::if_real`] calls.
pub trait RealVisitor<T> {
    /// Result of the function.
    type Out;

    /// Runs the function.
    fn visit(self) -> Self::Out
    where
        T: Real;
}

/// Dtypes with an order, which are all dtypes except the complex ones. NaN is unordered.
#[diagnostic::on_unimplemented(message = "this op needs an ordered dtype, and `{Self}` is not one")]
pub trait Ordered: Element + PartialOrd {
    /// The smallest value: `-inf` for floats, the smallest integer, or `false`.
    const LOWEST: Self;

    /// The largest value: `inf` for floats, the largest integer, or `true`.
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

    /// -1, 0 or 1 for a real number, and `x / |x|` for a complex number. NaN gives NaN.
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

    /// Returns whether the number is neither infinite nor NaN. Both parts of a complex number must be finite.
    #[inline(always)]
    fn is_finite(self) -> bool {
        true
    }

    /// Returns whether the number, or a part of a complex number, is infinite.
    #[inline(always)]
    fn is_inf(self) -> bool {
        false
    }

    /// Returns whether the number, or a part of a complex number, is NaN.
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }

    /// Rounds to the nearest integer, halves to even. The parts of a complex number are rounded separately.
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

    /// The greatest common divisor of the magnitudes of both numbers.
    fn gcd(self, other: Self) -> Self;

    /// The least common multiple of the magnitudes of both numbers. It wraps if it overflows.
    fn lcm(self, other: Self) -> Self;

    /// Number of bits that are 1 in the magnitude.
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
    /// The real dtype that belongs to this dtype: the dtype itself if it is real, and otherwise the dtype of the parts.
    type Real: Real;

    /// The dtype of a Fourier transform of elements of this dtype: `Complex<f64>` for `f64`, the dtype itself if it is
    /// complex, and otherwise `Complex<f32>`.
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
    /// Square root. A negative real number gives NaN.
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

    /// Calls the function of a scalar op for real dtypes or for complex dtypes.
    fn float<const N: usize, F: FloatOp<N>>(f: &F, x: &[Self; N]) -> Self;

    /// Calls the function of a scalar op with a real result, for real dtypes or for complex dtypes.
    fn float_to_real<const N: usize, F: FloatToRealOp<N>>(f: &F, x: &[Self; N]) -> <Self as Float>::Real;
}

/// Real floating point.
#[diagnostic::on_unimplemented(message = "this op needs a real floating-point dtype, and `{Self}` is not one")]
pub trait Real: Float<Real = Self> + RealNumeric {
    /// The dtype in which an expression of several operations is computed. It is `f32` for 16-bit floats, so that they
    /// are rounded only once, at the end, and otherwise the dtype itself.
    type Wide: Real;

    /// The difference between 1 and the next larger number.
    const EPSILON: Self;

    /// The largest finite number.
    const MAX: Self;

    /// The lowest finite number.
    const MIN: Self;

    /// The smallest positive normal number.
    const MIN_POSITIVE: Self;

    /// Infinity.
    const INFINITY: Self;

    /// Minus infinity.
    const NEG_INFINITY: Self;

    /// NaN (not a number).
    const NAN: Self;

    /// The ratio of a circle's circumference to its diameter.
    const PI: Self;

    /// Converts to `Wide`, without rounding.
    fn widened(self) -> Self::Wide;

    /// Rounds a value of type `Wide` to this dtype.
    fn narrowed(wide: Self::Wide) -> Self;

    /// Converts an `f64` to the nearest value of this dtype.
    fn of(x: f64) -> Self {
        Self::from_f64(x)
    }

    /// Converts the value to an `f64` without rounding.
    fn to_f64(self) -> f64;

    /// Angle of the point (x = `other`, y = `self`) from the x axis, in radians in [-pi, pi].
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
    /// Cube root. It is negative for a negative number.
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
    /// Logarithm of the magnitude of the beta function at (`self`, `other`).
    fn betaln(self, other: Self) -> Self;
    /// Regularised lower incomplete gamma function: `self` is the parameter a, and `other` is the argument x.
    fn gammainc(self, other: Self) -> Self;
    /// Regularised upper incomplete gamma function: `self` is the parameter a, and `other` is the argument x.
    fn gammaincc(self, other: Self) -> Self;
    /// Inverse of the logistic function: `log(x / (1 - x))`.
    fn logit(self) -> Self;
    /// Inverse of the error function.
    fn erfinv(self) -> Self;
    /// Inverse of `erfc(x)`, which is `1 - erf(x)`.
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
    /// The complex number with the real part `re` and the imaginary part `im`.
    fn from_parts(re: Self::Real, im: Self::Real) -> Self;
}

/// The dtypes `f32` and `f64`, the only real dtypes that have a complex dtype of the same precision.
///
/// Use this bound in generic code with Fourier transforms, factorizations or complex numbers: with it, the real dtype of
/// `T::Complex` is `T`. With the weaker bound [`Real`], it is `<T::Complex as Float>::Real`, because the complex dtype of
/// a 16-bit float has 32-bit parts.
#[diagnostic::on_unimplemented(
    message = "this op needs f32 or f64, and `{Self}` is neither",
    note = "in code that is generic over the dtype, write the bound `{Self}: Precision`"
)]
pub trait Precision:
    Real
    + WideFloat
    + Float<
        Complex: ComplexFloat<Real = Self>
                     + WideFloat
                     + Pair<Self, DType = <Self as Float>::Complex>
                     + WithScalar<Self, DType = <Self as Float>::Complex>,
    > + Pair<<Self as Float>::Complex, DType = <Self as Float>::Complex>
    + WithScalar<<Self as Float>::Complex, DType = <Self as Float>::Complex>
{
}

impl Precision for f32 {}
impl Precision for f64 {}

/// Real and complex floats whose parts have 32 or 64 bits. Matrices are factorized only in these dtypes.
#[diagnostic::on_unimplemented(
    message = "this op needs float32, float64, complex64 or complex128, and `{Self}` is none of them",
    note = "in code that is generic over the dtype, write the bound `{Self}: Precision` (real) or `{Self}: WideFloat`"
)]
pub trait WideFloat: Float {}

impl WideFloat for f32 {}
impl WideFloat for f64 {}
impl WideFloat for Complex<f32> {}
impl WideFloat for Complex<f64> {}
