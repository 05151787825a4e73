//! Implementations of the traits of elements, for every dtype.

use super::*;
use crate::scalar::{complex, float32, float64, half as narrow, integer};

macro_rules! element {
    ($t:ty, $dtype:ident, $sum:ty, cast($x:ident) = $cast:expr, i64 = $i64:expr, u64 = $u64:expr, f64 = $f64:expr, complex = $c:expr $(, $visit:ident: $visitor:ident)*) => {
        impl sealed::Sealed for $t {}
        #[diagnostic::do_not_recommend]
        impl Element for $t {
            const DTYPE: DType = DType::$dtype;
            type Sum = $sum;
            type InFloat32 = f32;
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

/// Implements methods without further operands by free functions of the same name in the scalar module `$m`.
macro_rules! words {
    ($m:ident: $($word:ident)*) => {$(
        #[inline(always)]
        fn $word(self) -> Self { $m::$word(self) }
    )*};
}

/// Implements methods with a second operand by free functions of the same name in the scalar module `$m`.
macro_rules! words2 {
    ($m:ident: $($word:ident)*) => {$(
        #[inline(always)]
        fn $word(self, other: Self) -> Self { $m::$word(self, other) }
    )*};
}

macro_rules! real {
    ($t:ty, $m:ident, $dtype:ident, $complex:ty, zero = $zero:expr, one = $one:expr, pi = $pi:expr, to_f64 = $to:expr, of = $of:expr, $wide:ty = $widened:expr, $narrowed:expr) => {
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
            const EPSILON: $t = <$t>::EPSILON;
            const MAX: $t = <$t>::MAX;
            const MIN: $t = <$t>::MIN;
            const MIN_POSITIVE: $t = <$t>::MIN_POSITIVE;
            const INFINITY: $t = <$t>::INFINITY;
            const NEG_INFINITY: $t = <$t>::NEG_INFINITY;
            const NAN: $t = <$t>::NAN;
            const PI: $t = $pi;
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
    pi = std::f64::consts::PI,
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
    pi = std::f32::consts::PI,
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
    pi = f16::PI,
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
    pi = bf16::PI,
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
