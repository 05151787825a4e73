//! Atomic operations. Each function computes the new value in memory from the old value and the operands.

use super::{
    function::{Four, Function, Pure, by_type, three},
    value::{Float, Int},
};

/// Finds the Rust function that computes the new value for the instructions `atom` and `red`. Its first argument is the
/// old value in memory.
pub(crate) fn find(operation: &str, ty: &str) -> Option<Four> {
    let pure: Option<Pure> = match operation {
        "exch" => by_type!(ty, three, exchange; b32 b64),
        "cas" => by_type!(ty, three, swap; b16 b32 b64),
        "and" => by_type!(ty, three, and; b32 b64),
        "or" => by_type!(ty, three, or; b32 b64),
        "xor" => by_type!(ty, three, xor; b32 b64),
        "add" => by_type!(ty, three, add; u32 s32 u64 s64).or_else(|| by_type!(ty, three, add_float; f32 f64)),
        "min" => by_type!(ty, three, min; u32 s32 u64 s64),
        "max" => by_type!(ty, three, max; u32 s32 u64 s64),
        "inc" if ty == "u32" => three(|old, limit, _, _| if old as u32 >= limit as u32 { 0 } else { old + 1 }),
        "dec" if ty == "u32" => {
            three(|old, limit, _, _| if old as u32 == 0 || old as u32 > limit as u32 { limit } else { old - 1 })
        }
        _ => None,
    };
    pure.and_then(|pure| match pure.function {
        Function::Four(function) => Some(function),
        Function::Two(_) => None,
    })
}

fn exchange<T: Int>(_: u64, new: u64, _: u64, _: u64) -> u64 {
    T::get(new).put()
}

fn swap<T: Int>(old: u64, expected: u64, new: u64, _: u64) -> u64 {
    if T::get(old) == T::get(expected) { T::get(new).put() } else { old }
}

fn and<T: Int>(old: u64, other: u64, _: u64, _: u64) -> u64 {
    T::get(old & other).put()
}

fn or<T: Int>(old: u64, other: u64, _: u64, _: u64) -> u64 {
    T::get(old | other).put()
}

fn xor<T: Int>(old: u64, other: u64, _: u64, _: u64) -> u64 {
    T::get(old ^ other).put()
}

fn add<T: Int>(old: u64, other: u64, _: u64, _: u64) -> u64 {
    T::get(old).plus(T::get(other)).put()
}

fn add_float<T: Float>(old: u64, other: u64, _: u64, _: u64) -> u64 {
    T::get(old).plus(T::get(other)).result()
}

fn min<T: Int>(old: u64, other: u64, _: u64, _: u64) -> u64 {
    T::get(old).min(T::get(other)).put()
}

fn max<T: Int>(old: u64, other: u64, _: u64, _: u64) -> u64 {
    T::get(old).max(T::get(other)).put()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::alu::value::Value;

    fn left(operation: &str, ty: &str, old: u64, b: u64, c: u64) -> u64 {
        find(operation, ty).unwrap()(old, b, c, 0)
    }

    #[test]
    fn each_operation_leaves_its_result() {
        assert_eq!(left("exch", "b32", 1, 2, 0), 2);
        assert_eq!(left("cas", "b32", 1, 1, 9), 9);
        assert_eq!(left("cas", "b32", 1, 2, 9), 1);
        assert_eq!(left("add", "u32", 0xffff_ffff, 2, 0), 1);
        assert_eq!(left("add", "f64", 1.5_f64.put(), 2.0_f64.put(), 0), 3.5_f64.put());
        assert_eq!(left("min", "s32", 0xffff_ffff, 2, 0), 0xffff_ffff);
        assert_eq!(left("max", "u64", u64::MAX, 2, 0), u64::MAX);
        assert_eq!(left("inc", "u32", 3, 3, 0), 0);
        assert_eq!(left("inc", "u32", 2, 3, 0), 3);
        assert_eq!(left("dec", "u32", 0, 3, 0), 3);
        assert_eq!(left("dec", "u32", 2, 3, 0), 1);
        assert_eq!(left("xor", "b64", 5, 1, 0), 4);
        assert!(find("add", "b32").is_none());
    }
}
