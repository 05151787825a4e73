//! IEEE arithmetic. Results are rounded in any direction for 32-bit floats, but only to nearest for 64-bit floats.

use super::{
    function::{Pure, by_type, one, three, two},
    rounding::{RM, RP, RZ, narrow, two_sum},
    value::{Float, Value},
};
use std::num::FpCategory;

/// Finds the Rust function that computes an instruction on floats.
pub(crate) fn find(name: &str, modifiers: &[&str]) -> Option<Pure> {
    match (name, modifiers) {
        ("add", [ty] | ["rn", ty]) => by_type!(ty, two, add; f32 f64),
        ("sub", [ty] | ["rn", ty]) => by_type!(ty, two, sub; f32 f64),
        ("mul", [ty] | ["rn", ty]) => by_type!(ty, two, mul; f32 f64),
        ("fma" | "mad", ["rn", ty]) => by_type!(ty, three, fma; f32 f64),
        ("div", ["rn", ty]) => by_type!(ty, two, div; f32 f64),
        ("rcp", ["rn", ty]) => by_type!(ty, one, rcp; f32 f64),
        ("sqrt", ["rn", ty]) => by_type!(ty, one, sqrt; f32 f64),
        (_, [mode, "f32"]) => match *mode {
            "rz" => directed_f32::<RZ>(name),
            "rm" => directed_f32::<RM>(name),
            "rp" => directed_f32::<RP>(name),
            "NaN" if name == "min" => two(min_nan::<f32>),
            "NaN" if name == "max" => two(max_nan::<f32>),
            "finite" | "infinite" | "number" | "notanumber" | "normal" | "subnormal" => test::<f32>(name, mode),
            _ => None,
        },
        ("testp", [class, "f64"]) => test::<f64>(name, class),
        ("min", [ty]) => by_type!(ty, two, min; f32 f64),
        ("max", [ty]) => by_type!(ty, two, max; f32 f64),
        ("abs", [ty]) => by_type!(ty, one, abs; f32 f64),
        ("neg", [ty]) => by_type!(ty, one, neg; f32 f64),
        ("copysign", [ty]) => by_type!(ty, two, copysign; f32 f64),
        _ => None,
    }
}

/// Replaces a subnormal 32-bit float by 0, for `.ftz`.
pub(crate) fn flush(a: u64, _: u64) -> u64 {
    let x = f32::get(a);
    if x.is_subnormal() { 0.0_f32.copysign(x).put() } else { a }
}

/// Returns the function that clamps numbers to 0..=1, for `.sat`; NaN becomes 0. `None` if `ty` is not a float type.
pub(crate) fn saturate(ty: &str) -> Option<Pure> {
    match ty {
        "f32" => one(|a, _| if f32::get(a) > 0.0 { f32::get(a).min(1.0).put() } else { 0 }),
        "f64" => one(|a, _| if f64::get(a) > 0.0 { f64::get(a).min(1.0).put() } else { 0 }),
        _ => None,
    }
}

fn directed_f32<const MODE: u8>(name: &str) -> Option<Pure> {
    match name {
        "add" => two(|a, b| directed_add::<MODE>(f32::get(a), f32::get(b))),
        "sub" => two(|a, b| directed_add::<MODE>(f32::get(a), -f32::get(b))),
        "mul" => two(|a, b| narrow::<MODE>(f32::get(a) as f64 * f32::get(b) as f64, 0.0).result()),
        "fma" | "mad" => three(|a, b, c, _| {
            // the product of two 32-bit floats is exact in 64 bits
            directed_sum::<MODE>(f32::get(a) as f64 * f32::get(b) as f64, f32::get(c) as f64)
        }),
        "div" => two(|a, b| directed_div::<MODE>(f32::get(a), f32::get(b))),
        "rcp" => one(|a, _| directed_div::<MODE>(1.0, f32::get(a))),
        "sqrt" => one(|a, _| {
            let x = f64::from(f32::get(a));
            let root = x.sqrt();
            narrow::<MODE>(root, root.mul_add(-root, x)).result()
        }),
        _ => None,
    }
}

fn directed_add<const MODE: u8>(a: f32, b: f32) -> u64 {
    directed_sum::<MODE>(f64::from(a), f64::from(b))
}

fn directed_sum<const MODE: u8>(a: f64, b: f64) -> u64 {
    let (sum, error) = two_sum(a, b);
    let both_positive = a.is_sign_positive() && b.is_sign_positive();
    if MODE == RM && sum == 0.0 && !both_positive {
        return (-0.0_f32).put();
    }
    narrow::<MODE>(sum, if error.is_nan() { 0.0 } else { error }).result()
}

fn directed_div<const MODE: u8>(a: f32, b: f32) -> u64 {
    let (a, b) = (f64::from(a), f64::from(b));
    let quotient = a / b;
    let missing = quotient.mul_add(-b, a) / b;
    narrow::<MODE>(quotient, if missing.is_nan() { 0.0 } else { missing }).result()
}

fn add<T: Float>(a: u64, b: u64) -> u64 {
    T::get(a).plus(T::get(b)).result()
}

fn sub<T: Float>(a: u64, b: u64) -> u64 {
    T::get(a).minus(T::get(b)).result()
}

fn mul<T: Float>(a: u64, b: u64) -> u64 {
    T::get(a).times(T::get(b)).result()
}

fn fma<T: Float>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    T::get(a).fused(T::get(b), T::get(c)).result()
}

fn div<T: Float>(a: u64, b: u64) -> u64 {
    T::get(a).over(T::get(b)).result()
}

fn rcp<T: Float>(a: u64, _: u64) -> u64 {
    T::one().over(T::get(a)).result()
}

fn sqrt<T: Float>(a: u64, _: u64) -> u64 {
    T::get(a).root().result()
}

/// Returns the minimum of two floats. The minimum of a NaN and a number is the number, and -0 is less than 0.
pub(super) fn lesser<T: Float>(a: T, b: T) -> T {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => T::CANONICAL,
        (true, false) => b,
        (false, true) => a,
        _ if a < b || (a == b && a.is_negative()) => a,
        _ => b,
    }
}

pub(super) fn greater<T: Float>(a: T, b: T) -> T {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => T::CANONICAL,
        (true, false) => b,
        (false, true) => a,
        _ if a > b || (a == b && !a.is_negative()) => a,
        _ => b,
    }
}

fn min<T: Float>(a: u64, b: u64) -> u64 {
    lesser(T::get(a), T::get(b)).put()
}

fn max<T: Float>(a: u64, b: u64) -> u64 {
    greater(T::get(a), T::get(b)).put()
}

fn min_nan<T: Float>(a: u64, b: u64) -> u64 {
    if T::get(a).is_nan() || T::get(b).is_nan() { T::CANONICAL.put() } else { min::<T>(a, b) }
}

fn max_nan<T: Float>(a: u64, b: u64) -> u64 {
    if T::get(a).is_nan() || T::get(b).is_nan() { T::CANONICAL.put() } else { max::<T>(a, b) }
}

fn abs<T: Float>(a: u64, _: u64) -> u64 {
    T::get(a).magnitude().put()
}

fn neg<T: Float>(a: u64, _: u64) -> u64 {
    T::get(a).negated().put()
}

/// Returns the second operand with the sign of the first operand.
fn copysign<T: Float>(a: u64, b: u64) -> u64 {
    T::get(b).with_sign_of(T::get(a)).put()
}

fn test<T: Float>(name: &str, class: &str) -> Option<Pure> {
    match (name, class) {
        ("testp", "finite") => {
            one(|a, _| u64::from(!matches!(T::get(a).class(), FpCategory::Nan | FpCategory::Infinite)))
        }
        ("testp", "infinite") => one(|a, _| u64::from(T::get(a).class() == FpCategory::Infinite)),
        ("testp", "number") => one(|a, _| u64::from(T::get(a).class() != FpCategory::Nan)),
        ("testp", "notanumber") => one(|a, _| u64::from(T::get(a).class() == FpCategory::Nan)),
        // the PTX instruction counts 0 as a normal number
        ("testp", "normal") => {
            one(|a, _| u64::from(matches!(T::get(a).class(), FpCategory::Normal | FpCategory::Zero)))
        }
        ("testp", "subnormal") => one(|a, _| u64::from(T::get(a).class() == FpCategory::Subnormal)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::alu::testing::{apply, apply_f32, apply_f64};

    #[test]
    fn rounding_to_nearest_is_that_of_the_host() {
        for (a, b) in [(0.1, 0.2), (1e30, -1e30), (3.0, 7.0), (1e-300, 1e-300), (f64::INFINITY, 1.0)] {
            assert_eq!(apply_f64("add.rn.f64", &[a, b]), a + b);
            assert_eq!(apply_f64("mul.rn.f64", &[a, b]), a * b);
            assert_eq!(apply_f64("div.rn.f64", &[a, b]), a / b);
            let (x, y) = (a as f32, b as f32);
            assert_eq!(apply_f32("sub.rn.f32", &[x, y]).to_bits(), (x - y).to_bits());
            assert_eq!(apply_f32("fma.rn.f32", &[x, y, 1.5]), x.mul_add(y, 1.5));
        }
        assert_eq!(apply_f64("sqrt.rn.f64", &[2.0]), 2_f64.sqrt());
        assert_eq!(apply_f32("rcp.rn.f32", &[3.0]), 1.0 / 3.0);
        let nan = apply("sub.f32", &[f32::INFINITY.put(), f32::INFINITY.put()]);
        assert_eq!(nan, 0x7fff_ffff);
    }

    #[test]
    fn directed_rounding_encloses_the_nearest() {
        let numbers = [0.1_f32, -0.3, 1e-30, 3.0, 16777217.0, 1e38, -7e-42];
        for a in numbers {
            for b in numbers {
                let (x, y) = (f64::from(a), f64::from(b));
                for (name, exact) in [("add", x + y), ("sub", x - y), ("mul", x * y), ("div", x / y)] {
                    let by = |mode: &str| apply_f32(&format!("{name}.{mode}.f32"), &[a, b]);
                    let (down, nearest, up, zero) = (by("rm"), by("rn"), by("rp"), by("rz"));
                    assert!(down <= nearest && nearest <= up, "{name} {a} {b}");
                    assert!(down == up || down.next_up() == up, "{name} {a} {b}: {down} {up}");
                    assert_eq!(zero, if exact > 0.0 { down } else { up }, "{name} {a} {b}");
                }
            }
        }
        // 1 - 2^-30 and 1 + 2^-30 are not representable
        let tiny = 2_f32.powi(-30);
        assert_eq!(apply_f32("fma.rm.f32", &[tiny, -1.0, 1.0]), 1.0_f32.next_down());
        assert_eq!(apply_f32("fma.rp.f32", &[tiny, 1.0, 1.0]), 1.0_f32.next_up());
        assert_eq!(apply_f32("add.rz.f32", &[1.0, tiny]), 1.0);
        assert!(apply_f32("add.rm.f32", &[1.0, -1.0]).is_sign_negative());
        assert_eq!(apply_f32("add.rz.f32", &[f32::MAX, f32::MAX]), f32::MAX);
        assert_eq!(apply_f32("sqrt.rp.f32", &[2.0]), apply_f32("sqrt.rm.f32", &[2.0]).next_up());
    }

    #[test]
    fn the_lesser_of_a_nan_and_a_number_is_the_number() {
        assert_eq!(apply_f64("min.f64", &[f64::NAN, 1.0]), 1.0);
        assert_eq!(apply_f32("max.f32", &[1.0, f32::NAN]), 1.0);
        assert!(apply_f32("min.f32", &[0.0, -0.0]).is_sign_negative());
        assert!(apply_f32("max.f32", &[-0.0, 0.0]).is_sign_positive());
        assert!(apply_f32("min.NaN.f32", &[1.0, f32::NAN]).is_nan());
        assert_eq!(apply("min.f32", &[u64::MAX, u64::MAX]), 0x7fff_ffff);
    }

    #[test]
    fn signs_and_classes() {
        assert_eq!(apply_f64("copysign.f64", &[-1.0, 2.0]), -2.0);
        assert_eq!(apply_f32("abs.f32", &[-2.0]), 2.0);
        assert_eq!(apply_f32("neg.f32", &[-2.0]), 2.0);
        assert_eq!(apply("testp.subnormal.f32", &[1]), 1);
        assert_eq!(apply("testp.infinite.f64", &[f64::INFINITY.put()]), 1);
        assert_eq!(apply("testp.finite.f32", &[f32::NAN.put()]), 0);
        assert_eq!(flush(0x8000_0001, 0), 0x8000_0000);
        assert_eq!(flush(1.0_f32.put(), 0), 1.0_f32.put());
    }
}
