//! Instructions on bits: logic, shifts, fields and permutations.

use super::{
    function::{Pure, by_type, four, one, three, two},
    value::Int,
};

/// Finds the Rust function that computes an instruction on bits.
pub(crate) fn find(name: &str, modifiers: &[&str]) -> Option<Pure> {
    match (name, modifiers) {
        ("and", ["pred" | "b16" | "b32" | "b64"]) => two(|a, b| a & b),
        ("or", ["pred" | "b16" | "b32" | "b64"]) => two(|a, b| a | b),
        ("xor", ["pred" | "b16" | "b32" | "b64"]) => two(|a, b| a ^ b),
        ("not", ["pred"]) => one(|a, _| u64::from(a & 1 == 0)),
        ("not", [ty]) => by_type!(ty, one, not; b16 b32 b64),
        ("cnot", [ty]) => by_type!(ty, one, is_zero; b16 b32 b64),
        ("shl", [ty]) => by_type!(ty, two, shl; b16 b32 b64),
        ("shr", [ty]) => by_type!(ty, two, shr; b16 b32 b64 u16 u32 u64 s16 s32 s64),
        ("popc", [ty]) => by_type!(ty, one, popc; b32 b64),
        ("clz", [ty]) => by_type!(ty, one, clz; b32 b64),
        ("brev", [ty]) => by_type!(ty, one, brev; b32 b64),
        ("bfind", [ty]) => by_type!(ty, one, bfind; u32 u64 s32 s64),
        ("bfind", ["shiftamt", ty]) => by_type!(ty, one, bfind_shift; u32 u64 s32 s64),
        ("bfe", [ty]) => by_type!(ty, three, bfe; u32 u64 s32 s64),
        ("bfi", [ty]) => by_type!(ty, four, bfi; b32 b64),
        ("bmsk", ["clamp", "b32"]) => two(mask_clamped),
        ("bmsk", ["wrap", "b32"]) => two(|a, b| mask_clamped(a & 31, b & 31)),
        ("prmt", ["b32"]) => three(prmt),
        ("lop3", ["b32"]) => four(lop3),
        ("shf", ["l", "wrap", "b32"]) => three(|a, b, n, _| (pair(a, b) << (n & 31)) >> 32),
        ("shf", ["r", "wrap", "b32"]) => three(|a, b, n, _| low(pair(a, b) >> (n & 31))),
        ("shf", ["l", "clamp", "b32"]) => three(|a, b, n, _| (pair(a, b) << low(n).min(32)) >> 32),
        ("shf", ["r", "clamp", "b32"]) => three(|a, b, n, _| low(pair(a, b) >> low(n).min(32))),
        ("selp", ["b16" | "b32" | "b64" | "u16" | "u32" | "u64" | "s16" | "s32" | "s64" | "f32" | "f64"]) => {
            three(|a, b, condition, _| if condition & 1 != 0 { a } else { b })
        }
        _ => None,
    }
}

fn low(x: u64) -> u64 {
    x & 0xffff_ffff
}

fn pair(a: u64, b: u64) -> u64 {
    low(a) | b << 32
}

fn not<T: Int>(a: u64, _: u64) -> u64 {
    T::of(!T::get(a).wide()).put()
}

fn is_zero<T: Int>(a: u64, _: u64) -> u64 {
    u64::from(T::get(a).wide() == 0)
}

/// Shifts left. The count is a 32-bit number. If the count is at least the number of bits of `T`, the result is 0.
fn shl<T: Int>(a: u64, count: u64) -> u64 {
    let count = low(count) as u32;
    if count < T::BITS { T::of(T::get(a).wide() << count).put() } else { 0 }
}

fn shr<T: Int>(a: u64, count: u64) -> u64 {
    T::of(T::get(a).wide() >> (low(count) as u32).min(T::BITS)).put()
}

fn popc<T: Int>(a: u64, _: u64) -> u64 {
    u64::from(T::get(a).put().count_ones())
}

fn clz<T: Int>(a: u64, _: u64) -> u64 {
    u64::from(T::get(a).put().leading_zeros() + T::BITS - 64)
}

fn brev<T: Int>(a: u64, _: u64) -> u64 {
    T::get(a).put().reverse_bits() >> (64 - T::BITS)
}

/// Returns the index of the highest bit that differs from the sign bit (from 0 for unsigned types). If no bit differs,
/// the result has its low 32 bits set.
fn bfind<T: Int>(a: u64, _: u64) -> u64 {
    let x = T::get(a).wide();
    let x = if x < 0 { !x } else { x };
    low(127_u32.wrapping_sub(x.leading_zeros()).into())
}

fn bfind_shift<T: Int>(a: u64, _: u64) -> u64 {
    let place = bfind::<T>(a, 0);
    if place == 0xffff_ffff { place } else { u64::from(T::BITS - 1) - place }
}

fn bfe<T: Int>(a: u64, place: u64, length: u64, _: u64) -> u64 {
    let (place, length) = ((place & 0xff) as u32, (length & 0xff) as u32);
    if length == 0 {
        return 0;
    }
    // for signed types, two kinds of bits are copies of the sign: bits of the field above the highest bit of the
    // number, and bits of the result above the field
    let x = T::get(a).wide() >> place.min(127);
    let above = 128 - length.min(127);
    let field = if T::SIGNED { (x << above) >> above } else { ((x << above) as u128 >> above) as i128 };
    T::of(field).put()
}

fn bfi<T: Int>(field: u64, a: u64, place: u64, length: u64) -> u64 {
    let (place, length) = ((place & 0xff) as u32, (length & 0xff) as u32);
    let ones = if length > 63 { u64::MAX } else { (1 << length) - 1 };
    let (mask, field) = if place > 63 { (0, 0) } else { (ones << place, field << place) };
    T::get((a & !mask) | (field & mask)).put()
}

fn mask_clamped(place: u64, length: u64) -> u64 {
    let (place, length) = (low(place), low(length).min(32));
    if place > 31 { 0 } else { low(((1 << length) - 1) << place) }
}

/// Selects four of the eight bytes of `a` and `b`. A selector has four bits: the low three are the index of a byte, and
/// the high bit requests eight copies of that byte's sign instead.
fn prmt(a: u64, b: u64, selectors: u64, _: u64) -> u64 {
    let bytes = pair(a, b).to_le_bytes();
    let byte = |i: u32| {
        let selector = selectors >> (4 * i);
        let byte = bytes[(selector & 7) as usize];
        let byte = if selector & 8 == 0 { byte } else { ((byte as i8) >> 7) as u8 };
        u64::from(byte) << (8 * i)
    };
    (0..4).map(byte).sum()
}

fn lop3(a: u64, b: u64, c: u64, table: u64) -> u64 {
    let entry = |i: u64| {
        let choose = |x: u64, bit: u64| if i & bit != 0 { x } else { !x };
        if table >> i & 1 != 0 { choose(a, 4) & choose(b, 2) & choose(c, 1) } else { 0 }
    };
    low((0..8).map(entry).fold(0, |x, y| x | y))
}

#[cfg(test)]
mod tests {
    use crate::exec::alu::testing::apply;

    #[test]
    fn shifts_clamp() {
        assert_eq!(apply("shl.b32", &[1, 31]), 1 << 31);
        assert_eq!(apply("shl.b32", &[1, 32]), 0);
        assert_eq!(apply("shl.b64", &[1, 63]), 1 << 63);
        assert_eq!(apply("shl.b64", &[1, 0xffff_ffff]), 0);
        assert_eq!(apply("shr.u32", &[u64::MAX, 32]), 0);
        assert_eq!(apply("shr.s32", &[0x8000_0000, 40]), 0xffff_ffff);
        assert_eq!(apply("shr.s64", &[1 << 63, 1]), 3 << 62);
        assert_eq!(apply("shr.u64", &[1 << 63, 63]), 1);
        assert_eq!(apply("shr.s16", &[0x8000, 15]), 0xffff);
    }

    #[test]
    fn counts_of_bits() {
        assert_eq!(apply("popc.b32", &[u64::MAX]), 32);
        assert_eq!(apply("clz.b32", &[0]), 32);
        assert_eq!(apply("clz.b32", &[1]), 31);
        assert_eq!(apply("clz.b64", &[1]), 63);
        assert_eq!(apply("brev.b32", &[1]), 1 << 31);
        assert_eq!(apply("brev.b64", &[2]), 1 << 62);
        assert_eq!(apply("bfind.u32", &[0]), 0xffff_ffff);
        assert_eq!(apply("bfind.u64", &[1 << 40]), 40);
        assert_eq!(apply("bfind.s32", &[0xffff_fffe]), 0);
        assert_eq!(apply("bfind.shiftamt.u32", &[1]), 31);
    }

    #[test]
    fn fields() {
        assert_eq!(apply("bfe.u32", &[0xabcd, 4, 8]), 0xbc);
        assert_eq!(apply("bfe.s32", &[0xabcd, 4, 8]), 0xffff_ffbc);
        assert_eq!(apply("bfe.u32", &[0xabcd, 4, 0]), 0);
        assert_eq!(apply("bfe.u64", &[u64::MAX, 60, 100]), 15);
        assert_eq!(apply("bfe.s32", &[0x8000_0000, 40, 3]), 0xffff_ffff);
        assert_eq!(apply("bfi.b32", &[0xff, 0, 8, 4]), 0xf00);
        assert_eq!(apply("bfi.b64", &[0xff, u64::MAX, 64, 4]), u64::MAX);
        assert_eq!(apply("bfi.b32", &[u64::MAX, 0, 0, 32]), 0xffff_ffff);
        assert_eq!(apply("bmsk.clamp.b32", &[4, 8]), 0xff0);
        assert_eq!(apply("bmsk.clamp.b32", &[4, 64]), 0xffff_fff0);
    }

    #[test]
    fn permutations() {
        assert_eq!(apply("prmt.b32", &[0x3322_1100, 0x7766_5544, 0x7531]), 0x7755_3311);
        assert_eq!(apply("prmt.b32", &[0x80, 0x7f, 0xc8]), 0x8080_00ff);
        assert_eq!(apply("lop3.b32", &[0xf0, 0xcc, 0xaa, 0x96]), 0xf0 ^ 0xcc ^ 0xaa);
        assert_eq!(apply("lop3.b32", &[0xf0, 0xcc, 0xaa, 0x80]), 0xf0 & 0xcc & 0xaa);
        assert_eq!(apply("shf.l.wrap.b32", &[0x8000_0000, 1, 1]), 3);
        assert_eq!(apply("shf.r.wrap.b32", &[0, 1, 1]), 1 << 31);
        assert_eq!(apply("shf.l.clamp.b32", &[0x1234, 1, 77]), 0x1234);
        assert_eq!(apply("selp.b32", &[1, 2, 0]), 2);
    }
}
