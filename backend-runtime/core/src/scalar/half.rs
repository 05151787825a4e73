//! Scalar functions of the 16-bit floats, and the conversions between these floats and `f32`. The functions are
//! computed in `f32` and rounded once.
//!
//! The conversions use arithmetic on bits, so that loops vectorise. They are exact, or round to nearest with ties to
//! even. This module does not use the conversions of the `half` crate, because those check the CPU's features at every
//! element.

use super::float32;
use crate::{Element, bf16, f16};

/// The sign bit of an `f32`.
const SIGN: u32 = 1 << 31;
/// The bits of infinity as an `f32`.
const INFINITY: u32 = f32::INFINITY.to_bits();

/// Converts the bits of an `f16` to `f32`.
#[inline(always)]
pub fn widen_f16(x: u16) -> f32 {
    let sign = (x as u32 & 0x8000) << 16;
    let size = (x as u32 & 0x7fff) << 13;
    // 2^-14 is the smallest normal number. Adding its bits and then subtracting its value normalises subnormal numbers
    let least = (127 - 14) << 23;
    let subnormal = (f32::from_bits(size + least) - f32::from_bits(least)).to_bits();
    let bits = if size < 1 << 23 { subnormal } else { size + ((127 - 15) << 23) };
    let bits = if size >= 31 << 23 { size | INFINITY } else { bits };
    f32::from_bits(bits | sign)
}

/// Converts `x` to the bits of the nearest `f16`.
#[inline(always)]
pub fn narrow_f16(x: f32) -> u16 {
    let sign = (x.to_bits() & SIGN) >> 16;
    let size = x.to_bits() & !SIGN;
    // adding 1/2 rounds the magnitude to the last bit of a subnormal result
    let subnormal = (f32::from_bits(size) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let rounded = size.wrapping_add(0xfff + (size >> 13 & 1)).wrapping_sub((127 - 15) << 23) >> 13;
    let bits = if size < (127 - 14) << 23 { subnormal } else { rounded };
    let bits = if size >= (127 + 16) << 23 { 0x7c00 } else { bits };
    let bits = if size > INFINITY { 0x7e00 | (size >> 13 & 0x3ff) } else { bits };
    (bits | sign) as u16
}

/// Converts the bits of a `bf16` to `f32`.
#[inline(always)]
pub fn widen_bf16(x: u16) -> f32 {
    f32::from_bits((x as u32) << 16)
}

/// Converts `x` to the bits of the nearest `bf16`.
#[inline(always)]
pub fn narrow_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    (if bits & !SIGN > INFINITY { bits | 0x40_0000 } else { rounded } >> 16) as u16
}

/// Truncates `x` to `f32`, and sets the last bit if the truncation was not exact. Rounding the result to a 16-bit float
/// then gives the same number as rounding `x` itself.
#[inline(always)]
pub fn shorten(x: f64) -> f32 {
    let near = x as f32;
    let (bits, back) = (near.to_bits(), near as f64);
    let cut = if back.abs() > x.abs() { bits.wrapping_sub(1) } else { bits };
    f32::from_bits(if (back == x) | x.is_nan() { bits } else { cut | 1 })
}

/// Truncates `x` to the 53 bits of an `f64`, for a later rounding as in [`shorten`]. If `x` has more than 53 bits, the
/// low 11 bits are cleared, and bit 11 is set if any of the low 11 bits was set.
#[inline(always)]
pub fn shorten_u64(x: u64) -> f64 {
    let low = x & 0x7ff;
    let cut = if x >> 53 == 0 { x } else { (x - low) | (((low != 0) as u64) << 11) };
    cut as f64
}

/// A 16-bit float with its conversions.
pub trait Half: Element {
    /// Converts to `f32` without rounding.
    fn widen(self) -> f32;

    /// Converts to the nearest 16-bit float.
    fn narrow(x: f32) -> Self;

    /// Computes the sine of a widened number.
    #[inline(always)]
    fn sine(x: f32) -> f32 {
        float32::sin(x)
    }

    /// Computes the cosine of a widened number.
    #[inline(always)]
    fn cosine(x: f32) -> f32 {
        float32::cos(x)
    }

    /// Computes the tangent of a widened number.
    #[inline(always)]
    fn tangent(x: f32) -> f32 {
        float32::tan(x)
    }
}

impl Half for f16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        widen_f16(self.to_bits())
    }
    #[inline(always)]
    fn narrow(x: f32) -> f16 {
        f16::from_bits(narrow_f16(x))
    }

    // the largest finite number, 65504, is small enough to need no range reduction
    #[inline(always)]
    fn sine(x: f32) -> f32 {
        float32::sin_near(x)
    }
    #[inline(always)]
    fn cosine(x: f32) -> f32 {
        float32::cos_near(x)
    }
    #[inline(always)]
    fn tangent(x: f32) -> f32 {
        float32::tan_near(x)
    }
}

impl Half for bf16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        widen_bf16(self.to_bits())
    }
    #[inline(always)]
    fn narrow(x: f32) -> bf16 {
        bf16::from_bits(narrow_bf16(x))
    }
}

/// Defines all scalar functions of `$t`, a type of the `half` crate.
macro_rules! words {
    ($t:ty) => {
        use crate::scalar::{
            float32,
            half::{Half, shorten, shorten_u64},
        };

        $crate::scalar::half::unary!($t: abs ceil floor trunc round sqrt cbrt exp exp2 expm1 log log2 log10 log1p
            asin acos atan sinh cosh tanh asinh acosh atanh sign erf erfc
            gamma lgamma digamma logit erfinv erfcinv j0 j1 i0 i0e i1 i1e);
        $crate::scalar::half::turns!($t: sin = sine, cos = cosine, tan = tangent);
        $crate::scalar::half::binary!($t: plus minus times divide maximum minimum pow floor_divide remainder fmod atan2 hypot logaddexp
            beta betaln gammainc gammaincc);

        /// Converts an integer to the nearest value.
        #[inline(always)]
        pub fn from_i64(x: i64) -> $t {
            let size = shorten(shorten_u64(x.unsigned_abs()));
            <$t>::narrow(if x < 0 { -size } else { size })
        }

        /// Converts an unsigned integer to the nearest value.
        #[inline(always)]
        pub fn from_u64(x: u64) -> $t {
            <$t>::narrow(shorten(shorten_u64(x)))
        }

        /// Returns the nearest representable value after `x` in the direction of `y`.
        #[inline(always)]
        pub fn nextafter(x: $t, y: $t) -> $t {
            let (from, to) = (x.widen(), y.widen());
            let (bits, sign) = (x.to_bits(), y.to_bits() & 0x8000);
            let away = (to > from) == (from > 0.0);
            let next = if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
            let next = if from == 0.0 { sign | 1 } else { next };
            let next = if from == to { y.to_bits() } else { next };
            if from.is_nan() | to.is_nan() { <$t>::NAN } else { <$t>::from_bits(next) }
        }
    };
}

macro_rules! unary {
    ($t:ty: $($word:ident)*) => {$(
        #[doc = concat!("`", stringify!($word), "` in `f32`, rounded once.")]
        #[inline(always)]
        pub fn $word(x: $t) -> $t {
            <$t>::narrow(float32::$word(x.widen()))
        }
    )*};
}

macro_rules! turns {
    ($t:ty: $($word:ident = $wide:ident),*) => {$(
        #[doc = concat!("`", stringify!($word), "` in `f32`, rounded once.")]
        #[inline(always)]
        pub fn $word(x: $t) -> $t {
            <$t>::narrow(<$t>::$wide(x.widen()))
        }
    )*};
}

macro_rules! binary {
    ($t:ty: $($word:ident)*) => {$(
        #[doc = concat!("`", stringify!($word), "` in `f32`, rounded once.")]
        #[inline(always)]
        pub fn $word(x: $t, y: $t) -> $t {
            <$t>::narrow(float32::$word(x.widen(), y.widen()))
        }
    )*};
}

pub(crate) use {binary, turns, unary, words};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Element, Float, Real};

    #[test]
    fn widening_is_exact() {
        for bits in 0..=u16::MAX {
            let (f, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert_eq!(widen_f16(bits).to_bits() | quiet(f.is_nan()), f.to_f32_const().to_bits(), "{bits:#x}");
            assert_eq!(widen_bf16(bits).to_bits() | quiet(b.is_nan()), b.to_f32_const().to_bits(), "{bits:#x}");
            if !f.is_nan() {
                assert_eq!(narrow_f16(widen_f16(bits)), bits);
            }
            if !b.is_nan() {
                assert_eq!(narrow_bf16(widen_bf16(bits)), bits);
            }
        }
    }

    /// The bit that makes a NaN quiet, which the hardware conversion sets.
    fn quiet(is_nan: bool) -> u32 {
        if is_nan { 0x40_0000 } else { 0 }
    }

    /// Tests numbers halfway between neighbours, and numbers just below and above the halfway point.
    #[test]
    fn narrowing_rounds_halves_to_even() {
        for bits in 0..0x7c00u16 {
            let (low, high) = (f16::from_bits(bits).to_f64_const(), f16::from_bits(bits + 1).to_f64_const());
            // after the largest finite number, the next number would be 65536
            let high = if bits == 0x7bff { 65536.0 } else { high };
            let middle = ((low + high) * 0.5) as f32;
            assert_eq!(narrow_f16(middle), if bits % 2 == 0 { bits } else { bits + 1 }, "{bits:#x}");
            assert_eq!(narrow_f16(middle.next_down()), bits);
            assert_eq!(narrow_f16(-middle.next_up()), (bits + 1) | 0x8000);
        }
        for bits in 0..0x7f80u16 {
            let middle = f32::from_bits((bits as u32) << 16 | 0x8000);
            assert_eq!(narrow_bf16(middle), if bits % 2 == 0 { bits } else { bits + 1 }, "{bits:#x}");
            assert_eq!(narrow_bf16(middle.next_down()), bits);
            assert_eq!(narrow_bf16(-middle.next_up()), (bits + 1) | 0x8000);
        }
        for x in [f32::INFINITY, f32::MAX, 65520.0] {
            assert_eq!(narrow_f16(x), 0x7c00);
            assert_eq!(narrow_f16(-x), 0xfc00);
        }
        assert_eq!(narrow_bf16(f32::MAX), 0x7f80);
        for nan in [f32::NAN, -f32::NAN, f32::from_bits(0x7f80_0001)] {
            assert!(f16::from_bits(narrow_f16(nan)).is_nan() && bf16::from_bits(narrow_bf16(nan)).is_nan());
        }
    }

    #[test]
    fn doubles_and_integers_round_once() {
        // just above the halfway point of two neighbours; rounding to f32 first would give the halfway point
        assert_eq!(narrow_f16(shorten(1.0 + 2f64.powi(-11) + 2f64.powi(-40))), 0x3c01);
        assert_eq!(narrow_f16(shorten(1.0 + 2f64.powi(-11))), 0x3c00);
        assert_eq!(narrow_f16(shorten(-(1.0 + 3.0 * 2f64.powi(-11) - 2f64.powi(-40)))), 0xbc01);
        assert_eq!(narrow_f16(shorten(2f64.powi(-25) * (1.0 + 2f64.powi(-30)))), 1);
        assert_eq!(narrow_bf16(shorten(1.0 + 2f64.powi(-8) + 2f64.powi(-40))), 0x3f81);
        assert_eq!(narrow_f16(shorten(1e300)), 0x7c00);
        assert_eq!(narrow_bf16(shorten(-1e300)), 0xff80);
        assert_eq!(narrow_bf16(shorten(-1e-300)), 0x8000);
        assert!(shorten(f64::NAN).is_nan() && shorten(f64::NEG_INFINITY) == f32::NEG_INFINITY);
        let middle = (1u64 << 62) + (1 << 54);
        assert_eq!(narrow_bf16(shorten(shorten_u64(middle))), 0x5e80);
        assert_eq!(narrow_bf16(shorten(shorten_u64(middle + 1))), 0x5e81);
        assert_eq!(shorten_u64(u64::MAX), 18446744073709549568.0);
        assert_eq!(shorten_u64(12345), 12345.0);
    }

    #[test]
    fn words_are_those_of_f32() {
        let x = f16::from_f32_const(0.7);
        assert_eq!(Float::exp(x).to_bits(), narrow_f16(float32::exp(x.to_f32_const())));
        assert!(Float::sin(f16::INFINITY).is_nan());
        assert_eq!(Float::sin(f16::MAX).to_bits(), narrow_f16(65504f32.sin()));
        assert_eq!(Float::sin(bf16::MAX).to_bits(), narrow_bf16(bf16::MAX.to_f32_const().sin()));
        assert_eq!(<f16 as Element>::from_i64(-70000), f16::NEG_INFINITY);
        assert_eq!(<bf16 as Element>::from_i64(i64::MIN).to_f32_const(), i64::MIN as f32);
    }

    #[test]
    fn the_next_value() {
        let next = |x: f32, y: f32| Real::nextafter(f16::from_f32_const(x), f16::from_f32_const(y));
        assert_eq!(next(0.0, -1.0).to_bits(), 0x8001);
        assert_eq!(next(-0.0, 1.0).to_bits(), 1);
        assert_eq!(next(1.0, 2.0).to_bits(), 0x3c01);
        assert_eq!(next(-1.0, 2.0).to_bits(), 0xbbff);
        assert_eq!(next(65504.0, f32::INFINITY), f16::INFINITY);
        assert_eq!(next(0.0, -0.0).to_bits(), 0x8000);
        assert!(next(f32::NAN, 1.0).is_nan() && next(1.0, f32::NAN).is_nan());
    }
}
