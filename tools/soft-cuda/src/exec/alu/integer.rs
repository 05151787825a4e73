//! Integer arithmetic, in which results that are out of range wrap around.

use super::{
    function::{Pure, by_type, one, three, two},
    value::Int,
};

/// Finds the Rust function that computes an instruction on integers.
pub(crate) fn find(name: &str, modifiers: &[&str]) -> Option<Pure> {
    match (name, modifiers) {
        ("add", [ty]) => by_type!(ty, two, add; s16 s32 s64 u16 u32 u64),
        ("sub", [ty]) => by_type!(ty, two, sub; s16 s32 s64 u16 u32 u64),
        ("add", ["sat", "s32"]) => two(add_saturated),
        ("sub", ["sat", "s32"]) => two(sub_saturated),
        ("mul", ["lo", ty]) => by_type!(ty, two, low; s16 s32 s64 u16 u32 u64),
        ("mul", ["hi", ty]) => by_type!(ty, two, high; s16 s32 s64 u16 u32 u64),
        ("mul", ["wide", ty]) => by_type!(ty, two, whole; s16 s32 u16 u32),
        ("mad", ["lo", ty]) => by_type!(ty, three, low_plus; s16 s32 s64 u16 u32 u64),
        ("mad", ["hi", ty]) => by_type!(ty, three, high_plus; s16 s32 s64 u16 u32 u64),
        ("mad", ["wide", ty]) => by_type!(ty, three, whole_plus; s16 s32 u16 u32),
        ("div", [ty]) => by_type!(ty, two, div; s16 s32 s64 u16 u32 u64),
        ("rem", [ty]) => by_type!(ty, two, rem; s16 s32 s64 u16 u32 u64),
        ("min", [ty]) => by_type!(ty, two, min; s16 s32 s64 u16 u32 u64),
        ("max", [ty]) => by_type!(ty, two, max; s16 s32 s64 u16 u32 u64),
        ("abs", [ty]) => by_type!(ty, one, abs; s16 s32 s64),
        ("neg", [ty]) => by_type!(ty, one, neg; s16 s32 s64),
        ("sad", [ty]) => by_type!(ty, three, sad; s16 s32 s64 u16 u32 u64),
        _ => None,
    }
}

/// Finds the function for the sum of two numbers and the carry of a previous sum: `a + b + carry`.
pub(crate) fn add_carry(ty: &str) -> Option<Pure> {
    by_type!(ty, three, sum; s32 s64 u32 u64)
}

/// Finds the function for the carry of the sum in [`add_carry`]: 1 if the unsigned sum is out of range, otherwise 0.
pub(crate) fn carry(ty: &str) -> Option<Pure> {
    by_type!(ty, three, carry_of; s32 s64 u32 u64)
}

/// Finds the function for the difference of two numbers and the borrow of a previous difference: `a - b - borrow`.
pub(crate) fn sub_borrow(ty: &str) -> Option<Pure> {
    by_type!(ty, three, difference; s32 s64 u32 u64)
}

/// Finds the function for the borrow of the difference in [`sub_borrow`]: 1 if the unsigned difference is negative,
/// otherwise 0.
pub(crate) fn borrow(ty: &str) -> Option<Pure> {
    by_type!(ty, three, borrow_of; s32 s64 u32 u64)
}

fn add<T: Int>(a: u64, b: u64) -> u64 {
    T::get(a).plus(T::get(b)).put()
}

fn sub<T: Int>(a: u64, b: u64) -> u64 {
    T::get(a).minus(T::get(b)).put()
}

fn add_saturated(a: u64, b: u64) -> u64 {
    u64::from((a as i32).saturating_add(b as i32) as u32)
}

fn sub_saturated(a: u64, b: u64) -> u64 {
    u64::from((a as i32).saturating_sub(b as i32) as u32)
}

fn low<T: Int>(a: u64, b: u64) -> u64 {
    T::get(a).times(T::get(b)).put()
}

/// Returns the full product, with twice as many bits as `T`.
fn product<T: Int>(a: u64, b: u64) -> i128 {
    T::get(a).wide().wrapping_mul(T::get(b).wide())
}

fn high<T: Int>(a: u64, b: u64) -> u64 {
    // bits above the width of `T` are ignored, so signed and unsigned products can be shifted in the same way
    T::of(product::<T>(a, b) >> T::BITS).put()
}

/// Keeps the low bits of `x`, twice as many as `T` has, and sets all higher bits to 0.
fn doubled<T: Int>(x: i128) -> u64 {
    x as u64 & (u64::MAX >> (64 - 2 * T::BITS))
}

fn whole<T: Int>(a: u64, b: u64) -> u64 {
    doubled::<T>(product::<T>(a, b))
}

fn low_plus<T: Int>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    T::get(a).times(T::get(b)).plus(T::get(c)).put()
}

fn high_plus<T: Int>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    T::get(high::<T>(a, b)).plus(T::get(c)).put()
}

fn whole_plus<T: Int>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    doubled::<T>(product::<T>(a, b).wrapping_add(i128::from(c)))
}

/// Divides two integers. A quotient by 0 has all bits set, as on a GPU.
fn div<T: Int>(a: u64, b: u64) -> u64 {
    T::get(a).quotient(T::get(b)).unwrap_or(T::of(-1)).put()
}

fn rem<T: Int>(a: u64, b: u64) -> u64 {
    T::get(a).remainder(T::get(b)).unwrap_or(T::get(a)).put()
}

fn min<T: Int>(a: u64, b: u64) -> u64 {
    T::get(a).min(T::get(b)).put()
}

fn max<T: Int>(a: u64, b: u64) -> u64 {
    T::get(a).max(T::get(b)).put()
}

fn abs<T: Int>(a: u64, _: u64) -> u64 {
    T::of(T::get(a).wide().abs()).put()
}

fn neg<T: Int>(a: u64, _: u64) -> u64 {
    T::of(-T::get(a).wide()).put()
}

fn sad<T: Int>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    T::get(c).plus(T::of((T::get(a).wide() - T::get(b).wide()).abs())).put()
}

fn unsigned<T: Int>(x: u64) -> i128 {
    i128::from(x & (u64::MAX >> (64 - T::BITS)))
}

fn sum<T: Int>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    T::get(a).plus(T::get(b)).plus(T::get(c)).put()
}

fn carry_of<T: Int>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    ((unsigned::<T>(a) + unsigned::<T>(b) + unsigned::<T>(c)) >> T::BITS) as u64
}

fn difference<T: Int>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    T::get(a).minus(T::get(b)).minus(T::get(c)).put()
}

fn borrow_of<T: Int>(a: u64, b: u64, c: u64, _: u64) -> u64 {
    u64::from(unsigned::<T>(a) < unsigned::<T>(b) + unsigned::<T>(c))
}

#[cfg(test)]
mod tests {
    use crate::exec::alu::testing::apply;

    const SAMPLES: [u64; 9] =
        [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x1234_5678_9abc_def0, 1 << 63, u64::MAX];

    #[test]
    fn sums_and_products_wrap() {
        for a in SAMPLES {
            for b in SAMPLES {
                let (x, y) = (a as i32, b as i32);
                assert_eq!(apply("add.s32", &[a, b]), u64::from(x.wrapping_add(y) as u32));
                assert_eq!(apply("sub.u64", &[a, b]), a.wrapping_sub(b));
                assert_eq!(apply("mul.lo.s16", &[a, b]), u64::from((a as i16).wrapping_mul(b as i16) as u16));
                assert_eq!(apply("mul.wide.s32", &[a, b]), (i64::from(x) * i64::from(y)) as u64);
                assert_eq!(apply("mul.wide.u32", &[a, b]), u64::from(a as u32) * u64::from(b as u32));
                assert_eq!(apply("mul.hi.u64", &[a, b]), ((u128::from(a) * u128::from(b)) >> 64) as u64);
                let high = (i128::from(a as i64) * i128::from(b as i64)) >> 64;
                assert_eq!(apply("mul.hi.s64", &[a, b]), high as u64);
                assert_eq!(apply("mul.hi.u32", &[a, b]), (u64::from(a as u32) * u64::from(b as u32)) >> 32);
                assert_eq!(apply("mad.lo.s32", &[a, b, 7]), u64::from(x.wrapping_mul(y).wrapping_add(7) as u32));
                let wide = (i64::from(x) * i64::from(y)).wrapping_add(b as i64);
                assert_eq!(apply("mad.wide.s32", &[a, b, b]), wide as u64);
                assert_eq!(apply("min.s32", &[a, b]), u64::from(x.min(y) as u32));
                assert_eq!(apply("max.u32", &[a, b]), u64::from((a as u32).max(b as u32)));
            }
        }
    }

    #[test]
    fn quotients_by_zero_and_of_the_least_are_defined() {
        let least = 1 << 63;
        assert_eq!(apply("div.s64", &[least, u64::MAX]), least);
        assert_eq!(apply("rem.s64", &[least, u64::MAX]), 0);
        assert_eq!(apply("div.u32", &[5, 0]), 0xffff_ffff);
        assert_eq!(apply("rem.u32", &[5, 0]), 5);
        assert_eq!(apply("div.s32", &[-7_i32 as u32 as u64, 2]), -3_i32 as u32 as u64);
        assert_eq!(apply("rem.s32", &[-7_i32 as u32 as u64, 2]), -1_i32 as u32 as u64);
        assert_eq!(apply("abs.s64", &[least]), least);
        assert_eq!(apply("neg.s32", &[1]), 0xffff_ffff);
        assert_eq!(apply("add.sat.s32", &[0x7fff_ffff, 1]), 0x7fff_ffff);
    }
}
