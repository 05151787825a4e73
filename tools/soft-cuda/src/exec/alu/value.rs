//! PTX types as Rust types, and their representation in registers.

#![allow(non_camel_case_types)]

use half::{bf16 as Bf16, f16 as F16};

pub(crate) type s8 = i8;
pub(crate) type s16 = i16;
pub(crate) type s32 = i32;
pub(crate) type s64 = i64;
pub(crate) type b16 = u16;
pub(crate) type b32 = u32;
pub(crate) type b64 = u64;
pub(crate) type f16 = F16;
pub(crate) type bf16 = Bf16;
// the macro `by_type` looks up all types in this module, so the primitive types are exported as well
#[allow(unused_imports)]
pub(crate) use std::primitive::{f32, f64, u8, u16, u32, u64};

/// A type of values that a register can hold.
pub(crate) trait Value: Copy + PartialOrd {
    /// Reads the value from the low bits of a register.
    fn get(register: u64) -> Self;
    /// Returns this value as the content of a register; the higher bits are 0.
    fn put(self) -> u64;
}

/// An integer type of PTX.
pub(crate) trait Int: Value + Ord {
    const BITS: u32;
    const SIGNED: bool;
    const MIN_VALUE: i128;
    const MAX_VALUE: i128;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// Returns the quotient; `None` if `other` is 0.
    fn quotient(self, other: Self) -> Option<Self>;
    fn remainder(self, other: Self) -> Option<Self>;
    /// Returns the number as an `i128`.
    fn wide(self) -> i128;
    /// Returns the number with the low bits of `wide`.
    fn of(wide: i128) -> Self;
    /// Returns the nearest representable number; 0 for NaN.
    fn near(x: f64) -> Self;
    fn single(self) -> f32;
    fn double(self) -> f64;
}

macro_rules! integers {
    ($($type:ident as $unsigned:ident)+) => {$(
        impl Value for $type {
            #[inline]
            fn get(register: u64) -> Self {
                register as $type
            }
            #[inline]
            fn put(self) -> u64 {
                self as $unsigned as u64
            }
        }
        impl Int for $type {
            const BITS: u32 = <$type>::BITS;
            const SIGNED: bool = <$type>::MIN != 0;
            const MIN_VALUE: i128 = <$type>::MIN as i128;
            const MAX_VALUE: i128 = <$type>::MAX as i128;
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline]
            fn quotient(self, other: Self) -> Option<Self> {
                (other != 0).then(|| self.wrapping_div(other))
            }
            #[inline]
            fn remainder(self, other: Self) -> Option<Self> {
                (other != 0).then(|| self.wrapping_rem(other))
            }
            #[inline]
            fn wide(self) -> i128 {
                self as i128
            }
            #[inline]
            fn of(wide: i128) -> Self {
                wide as $type
            }
            #[inline]
            fn near(x: f64) -> Self {
                x as $type
            }
            #[inline]
            fn single(self) -> f32 {
                self as f32
            }
            #[inline]
            fn double(self) -> f64 {
                self as f64
            }
        }
    )+};
}
integers!(i8 as u8 i16 as u16 i32 as u32 i64 as u64 u8 as u8 u16 as u16 u32 as u32 u64 as u64);

macro_rules! floats {
    ($($type:ident as $bits:ident)+) => {$(
        impl Value for $type {
            #[inline]
            fn get(register: u64) -> Self {
                $type::from_bits(register as $bits)
            }
            #[inline]
            fn put(self) -> u64 {
                u64::from(self.to_bits())
            }
        }
    )+};
}
floats!(f32 as u32 f64 as u64 F16 as u16 Bf16 as u16);

/// A 32-bit or 64-bit float for arithmetic.
pub(crate) trait Float: Value {
    /// The NaN that an operation without a numeric result returns.
    const CANONICAL: Self;
    fn is_nan(self) -> bool;
    fn is_negative(self) -> bool;
    fn above(self) -> Self;
    fn below(self) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;
    fn fused(self, times: Self, plus: Self) -> Self;
    fn root(self) -> Self;
    fn magnitude(self) -> Self;
    fn negated(self) -> Self;
    fn with_sign_of(self, other: Self) -> Self;
    fn class(self) -> std::num::FpCategory;
    fn one() -> Self;
    /// Converts the result of an operation to its register value. Every 32-bit NaN becomes [`Float::CANONICAL`].
    #[inline]
    fn result(self) -> u64 {
        if self.is_nan() { self.quiet().put() } else { self.put() }
    }
    fn quiet(self) -> Self;
}

macro_rules! arithmetic {
    ($type:ident, $nan:expr, |$x:ident| $quiet:expr) => {
        impl Float for $type {
            const CANONICAL: $type = $nan;
            #[inline]
            fn is_nan(self) -> bool {
                self != self
            }
            fn is_negative(self) -> bool {
                self.is_sign_negative()
            }
            fn above(self) -> Self {
                self.next_up()
            }
            fn below(self) -> Self {
                self.next_down()
            }
            #[inline]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline]
            fn minus(self, other: Self) -> Self {
                self - other
            }
            #[inline]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline]
            fn over(self, other: Self) -> Self {
                self / other
            }
            #[inline]
            fn fused(self, times: Self, plus: Self) -> Self {
                self.mul_add(times, plus)
            }
            #[inline]
            fn root(self) -> Self {
                self.sqrt()
            }
            fn magnitude(self) -> Self {
                self.abs()
            }
            fn negated(self) -> Self {
                -self
            }
            fn with_sign_of(self, other: Self) -> Self {
                self.copysign(other)
            }
            fn class(self) -> std::num::FpCategory {
                self.classify()
            }
            fn one() -> Self {
                1.0
            }
            fn quiet(self) -> Self {
                let $x = self;
                $quiet
            }
        }
    };
}
arithmetic!(f32, f32::from_bits(0x7fff_ffff), |_x| Self::CANONICAL);
arithmetic!(f64, f64::from_bits(0x7fff_ffff_ffff_ffff), |x| x);
