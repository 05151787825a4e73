//! Conversions between types.

use super::{
    function::{Pure, by_type, one},
    rounding::{RM, RN, RP, RZ, directed, narrow, odd},
    value::{Float, Int, Value, bf16, f16},
};
use std::cmp::Ordering;

/// Finds the Rust function that computes `cvt`. The modifiers `.ftz`, and `.sat` for floats, are separate steps
/// (`ptx::arithmetic`).
pub(crate) fn find(name: &str, modifiers: &[&str]) -> Option<Pure> {
    match (name, modifiers) {
        ("cvt", ["sat", to, from]) => integers::<true>(from, to),
        ("cvt", [to, from]) => integers::<false>(from, to).or_else(|| floats::<RN>(from, to)),
        ("cvt", ["rn", to, from]) => from_integer::<RN>(from, to).or_else(|| floats::<RN>(from, to)),
        ("cvt", ["rz", to, from]) => from_integer::<RZ>(from, to).or_else(|| floats::<RZ>(from, to)),
        ("cvt", ["rm", to, from]) => from_integer::<RM>(from, to).or_else(|| floats::<RM>(from, to)),
        ("cvt", ["rp", to, from]) => from_integer::<RP>(from, to).or_else(|| floats::<RP>(from, to)),
        ("cvt", ["rni", to, from]) => integral::<RN>(from, to),
        ("cvt", ["rzi", to, from]) => integral::<RZ>(from, to),
        ("cvt", ["rmi", to, from]) => integral::<RM>(from, to),
        ("cvt", ["rpi", to, from]) => integral::<RP>(from, to),
        _ => None,
    }
}

/// Selects the instance of a function that is generic over a rounding mode and two types.
macro_rules! by_types {
    ($from:expr, $to:expr, $function:ident::<$mode:tt>; ($($source:ident)+) => $targets:tt) => {
        match $from {
            $(source if source == stringify!($source) => by_types!(@ $to, $function::<$mode, $source>; $targets),)+
            _ => None,
        }
    };
    (@ $to:expr, $function:ident::<$mode:tt, $source:ident>; ($($target:ident)+)) => {
        by_type!($to, one, $function::<$mode, $source>; $($target)+)
    };
}

fn integers<const SATURATED: bool>(from: &str, to: &str) -> Option<Pure> {
    by_types!(from, to, cut::<SATURATED>; (u8 u16 u32 u64 s8 s16 s32 s64) => (u8 u16 u32 u64 s8 s16 s32 s64))
}

/// Converts an integer to another integer type. The result is extended to the 64 bits of a register.
fn cut<const SATURATED: bool, S: Int, D: Int>(a: u64, _: u64) -> u64 {
    let x = S::get(a).wide();
    let x = if SATURATED { x.clamp(D::MIN_VALUE, D::MAX_VALUE) } else { x };
    D::of(x).wide() as u64
}

fn from_integer<const MODE: u8>(from: &str, to: &str) -> Option<Pure> {
    by_types!(from, to, number::<MODE>; (u8 u16 u32 u64 s8 s16 s32 s64) => (f32 f64 f16 bf16))
}

/// A float type to which integers are rounded.
trait Target: Value {
    fn nearest<T: Int>(x: T) -> Self {
        Self::of_integer::<RN>(x.wide())
    }
    fn of_integer<const MODE: u8>(x: i128) -> Self;
}

impl Target for f32 {
    fn nearest<T: Int>(x: T) -> f32 {
        x.single()
    }
    fn of_integer<const MODE: u8>(x: i128) -> f32 {
        let nearest = x as f32;
        directed::<MODE, f32>(nearest, Some((nearest as i128).cmp(&x)))
    }
}

impl Target for f64 {
    fn nearest<T: Int>(x: T) -> f64 {
        x.double()
    }
    fn of_integer<const MODE: u8>(x: i128) -> f64 {
        let nearest = x as f64;
        directed::<MODE, f64>(nearest, Some((nearest as i128).cmp(&x)))
    }
}

/// Converts an integer to a 32-bit float by rounding to odd. A later rounding to 16 bits then gives the same number as
/// rounding the integer directly.
fn odd_integer(x: i128) -> f32 {
    let toward_zero = f32::of_integer::<RZ>(x);
    if toward_zero as i128 == x { toward_zero } else { f32::from_bits(toward_zero.to_bits() | 1) }
}

impl Target for f16 {
    fn of_integer<const MODE: u8>(x: i128) -> f16 {
        half::<MODE, f16>(odd_integer(x))
    }
}

impl Target for bf16 {
    fn of_integer<const MODE: u8>(x: i128) -> bf16 {
        half::<MODE, bf16>(odd_integer(x))
    }
}

fn number<const MODE: u8, S: Int, D: Target>(a: u64, _: u64) -> u64 {
    let x = S::get(a);
    let result = if MODE == RN { D::nearest(x) } else { D::of_integer::<MODE>(x.wide()) };
    result.put()
}

/// A float type from which numbers are converted.
trait Real: Value {
    const DOUBLE: bool = false;
    fn exact(self) -> f64;
}

impl Real for f64 {
    const DOUBLE: bool = true;
    fn exact(self) -> f64 {
        self
    }
}

impl Real for f32 {
    fn exact(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f16 {
    fn exact(self) -> f64 {
        self.to_f64()
    }
}

impl Real for bf16 {
    fn exact(self) -> f64 {
        self.to_f64()
    }
}

fn to_integral<const MODE: u8>(x: f64) -> f64 {
    match MODE {
        RZ => x.trunc(),
        RM => x.floor(),
        RP => x.ceil(),
        _ => x.round_ties_even(),
    }
}

fn integral<const MODE: u8>(from: &str, to: &str) -> Option<Pure> {
    match (from, to) {
        ("f32", "f32") => one(|a, _| (to_integral::<MODE>(f32::get(a).exact()) as f32).result()),
        ("f64", "f64") => one(|a, _| to_integral::<MODE>(f64::get(a)).result()),
        _ => by_types!(from, to, integer::<MODE>; (f16 bf16 f32 f64) => (u8 u16 u32 u64 s8 s16 s32 s64)),
    }
}

/// Converts a float to an integer. Values out of range become the nearest representable integer. NaN becomes 0, except
/// in conversions from doubles or to 64 bits, where NaN becomes the integer with only its highest bit set.
fn integer<const MODE: u8, S: Real, D: Int>(a: u64, _: u64) -> u64 {
    let x = S::get(a).exact();
    if x.is_nan() && (S::DOUBLE || D::BITS == 64) {
        return D::of(1 << (D::BITS - 1)).wide() as u64;
    }
    D::near(to_integral::<MODE>(x)).wide() as u64
}

fn floats<const MODE: u8>(from: &str, to: &str) -> Option<Pure> {
    match (from, to) {
        ("f32", "f32") | ("f64", "f64") if MODE == RN => one(|a, _| a),
        ("f32", "f64") => one(|a, _| f32::get(a).exact().put()),
        ("f16", "f32") => one(|a, _| f16::get(a).to_f32().result()),
        ("f16", "f64") => one(|a, _| f16::get(a).to_f64().put()),
        ("bf16", "f32") => one(|a, _| bf16::get(a).to_f32().result()),
        ("bf16", "f64") => one(|a, _| bf16::get(a).to_f64().put()),
        ("f64", "f32") => one(|a, _| narrow::<MODE>(f64::get(a), 0.0).result()),
        ("f32", "f16") => one(|a, _| half::<MODE, f16>(f32::get(a)).put()),
        ("f32", "bf16") => one(|a, _| half::<MODE, bf16>(f32::get(a)).put()),
        ("f64", "f16") => one(|a, _| half::<MODE, f16>(odd(f64::get(a))).put()),
        ("f64", "bf16") => one(|a, _| half::<MODE, bf16>(odd(f64::get(a))).put()),
        ("f16", "bf16") => one(|a, _| half::<MODE, bf16>(f16::get(a).to_f32()).put()),
        ("bf16", "f16") => one(|a, _| half::<MODE, f16>(bf16::get(a).to_f32()).put()),
        _ => None,
    }
}

/// A 16-bit float type.
trait Half: Value {
    /// Rounds `x` to the nearest number of this type.
    fn of(x: f32) -> Self;
    fn number(self) -> f32;
    fn bits(self) -> u16;
    fn from(bits: u16) -> Self;
}

macro_rules! halves {
    ($($type:ident)+) => {$(
        impl Half for $type {
            fn of(x: f32) -> Self {
                if x.is_nan() { $type::from_bits(0x7fff) } else { $type::from_f32(x) }
            }
            fn number(self) -> f32 {
                self.to_f32()
            }
            fn bits(self) -> u16 {
                self.to_bits()
            }
            fn from(bits: u16) -> Self {
                $type::from_bits(bits)
            }
        }
    )+};
}
halves!(f16 bf16);

fn half<const MODE: u8, T: Half>(x: f32) -> T {
    let nearest = T::of(x);
    let larger_in_size = match nearest.number().partial_cmp(&x) {
        None | Some(Ordering::Equal) => return nearest,
        Some(ordering) => (ordering == Ordering::Greater) == (x > 0.0),
    };
    // if the bits of a float are read as an integer, the next float away from 0 has the next larger integer
    let away = match MODE {
        RZ => false,
        RM => x < 0.0,
        RP => x > 0.0,
        _ => return nearest,
    };
    match (larger_in_size, away) {
        (true, false) => T::from(nearest.bits() - 1),
        (false, true) => T::from(nearest.bits() + 1),
        _ => nearest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::alu::testing::apply;

    #[test]
    fn integers_are_extended_cut_and_saturated() {
        assert_eq!(apply("cvt.s64.s32", &[0x8000_0000]), 0xffff_ffff_8000_0000);
        assert_eq!(apply("cvt.u64.u32", &[u64::MAX]), 0xffff_ffff);
        assert_eq!(apply("cvt.u16.u64", &[0x12_3456]), 0x3456);
        assert_eq!(apply("cvt.s32.s8", &[0x80]) as i32, -128);
        assert_eq!(apply("cvt.u8.u32", &[0x1ff]), 0xff);
        assert_eq!(apply("cvt.sat.u8.s32", &[0xffff_ffff]), 0);
        assert_eq!(apply("cvt.sat.s8.s32", &[1000]), 127);
    }

    #[test]
    fn integers_become_floats_in_every_direction() {
        for x in [0_i64, 1, -1, i64::MIN, i64::MAX, (1 << 53) + 1, -(1 << 24) - 1, 0x1234_5678_9abc_def1] {
            let a = x as u64;
            assert_eq!(apply("cvt.rn.f32.s64", &[a]), u64::from((x as f32).to_bits()));
            assert_eq!(apply("cvt.rn.f64.s64", &[a]), (x as f64).to_bits());
            assert_eq!(apply("cvt.rn.f64.u64", &[a]), (a as f64).to_bits());
            assert_eq!(apply("cvt.rn.f32.u32", &[a]), u64::from((a as u32 as f32).to_bits()));
            let down = f64::from_bits(apply("cvt.rm.f64.s64", &[a]));
            let up = f64::from_bits(apply("cvt.rp.f64.s64", &[a]));
            assert!(down as i128 <= i128::from(x) && i128::from(x) <= up as i128);
            assert!(down == up || down.next_up() == up);
        }
        // 2049 is half way between two neighbouring numbers of f16
        assert_eq!(apply("cvt.rn.f16.s32", &[2049]), u64::from(f16::from_f32(2048.0).to_bits()));
        let above = (2049 << 40) | 1;
        assert_eq!(apply("cvt.rn.bf16.s64", &[above]), u64::from(bf16::from_f64(2050.0 * 2_f64.powi(40)).to_bits()));
    }

    #[test]
    fn floats_become_integers_as_far_as_there_are_any() {
        for x in [0.5, 1.5, 2.5, -0.5, -1.5, 1e10, -1e10, 1e30, f64::INFINITY, -3.7, 3.2] {
            let a = x.to_bits();
            assert_eq!(apply("cvt.rzi.s32.f64", &[a]) as i32, x as i32);
            assert_eq!(apply("cvt.rni.s64.f64", &[a]) as i64, x.round_ties_even() as i64);
            assert_eq!(apply("cvt.rmi.s32.f64", &[a]) as i32, x.floor() as i32);
            assert_eq!(apply("cvt.rpi.u64.f64", &[a]), x.ceil() as u64);
            assert_eq!(apply("cvt.rni.f64.f64", &[a]), x.round_ties_even().to_bits());
            let single = u64::from((x as f32).to_bits());
            assert_eq!(apply("cvt.rzi.u32.f32", &[single]) as u32, x as f32 as u32);
        }
        let (nan, single) = (f64::NAN.to_bits(), u64::from(f32::NAN.to_bits()));
        assert_eq!(apply("cvt.rzi.s32.f64", &[nan]) as i32, i32::MIN);
        assert_eq!(apply("cvt.rzi.u64.f32", &[single]), 1 << 63);
        assert_eq!(apply("cvt.rzi.s32.f32", &[single]), 0);
    }

    #[test]
    fn halves_are_rounded_once() {
        let x = 1.0 + 2_f64.powi(-11) + 2_f64.powi(-40);
        assert_eq!(apply("cvt.rn.f16.f64", &[x.to_bits()]), 0x3c01);
        for bits in 0..=u16::MAX {
            let half = f16::from_bits(bits);
            let single = apply("cvt.f32.f16", &[u64::from(bits)]);
            if half.is_nan() {
                assert_eq!(single, 0x7fff_ffff);
                continue;
            }
            assert_eq!(apply("cvt.rn.f16.f32", &[single]), u64::from(bits));
            assert_eq!(apply("cvt.rz.f16.f32", &[single]), u64::from(bits));
            assert_eq!(f32::from_bits(single as u32), half.to_f32());
        }
        let just_below = f64::from(f16::MAX.to_f32()) + 10.0;
        assert_eq!(apply("cvt.rz.f16.f64", &[just_below.to_bits()]), 0x7bff);
        assert_eq!(apply("cvt.rz.f16.f64", &[1e9_f64.to_bits()]), 0x7bff);
        assert_eq!(apply("cvt.rp.f16.f64", &[just_below.to_bits()]), 0x7c00);
        assert_eq!(apply("cvt.rn.f16.f32", &[u64::from(f32::NAN.to_bits())]), 0x7fff);
        assert_eq!(apply("cvt.rz.f32.f64", &[0.1_f64.to_bits()]), u64::from(0.1_f32.next_down().to_bits()));
    }
}
