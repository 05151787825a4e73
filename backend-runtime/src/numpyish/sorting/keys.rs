//! Maps elements to unsigned integers ("keys") of the same order, and sorts keys. The key of NaN is the largest.
//!
//! All dtypes are sorted by the same code. Dtypes of up to 32 bits have 32-bit keys, and all other dtypes have 64-bit
//! keys.

use super::super::{buffer, simd::versions};
use crate::{DType, DTypeKind, Element, Ordered, Result, bf16, f16};

/// The unsigned integer type of keys, which have the same order as the elements.
pub trait Key: Element + Ord {
    /// The AVX-512 register for keys of this type.
    #[cfg(target_arch = "x86_64")]
    type Wide: super::registers::Register<Key = Self>;

    /// The key of an element. NaN has the largest key, and -0.0 has the key of 0.0.
    fn of<T: Ordered>(x: T, descending: bool) -> Self;

    /// Returns whether an element is -0.0. The keys of -0.0 and of 0.0 are equal.
    fn is_negative_zero<T: Ordered>(x: T) -> bool;

    /// The element that has this key. The sign of a zero and the bits of a NaN are lost.
    fn element<T: Ordered>(self, descending: bool) -> T;

    /// The digit of the key that begins at bit `bit`. A digit has `DIGIT` bits.
    fn digit(self, bit: usize) -> usize;

    /// The smaller and the larger key, computed without a branch, so that the compiler can use vector instructions.
    fn in_order(self, other: Self) -> (Self, Self);

    /// The key minus 1; `None` for 0.
    #[cfg(target_arch = "x86_64")]
    fn before(self) -> Option<Self>;

    /// Sorts with vector instructions. Returns `false`, and changes nothing, if there are few keys or the processor
    /// lacks the instructions.
    fn sort_in_vectors(keys: &mut [Self]) -> bool;

    /// Moves the key of rank `place` to index `place`. Then no key before that index is larger, and no key after it is
    /// smaller.
    ///
    /// # Panics
    /// If `place` is not less than the number of keys.
    fn select(keys: &mut [Self], place: usize);

    /// The loops that convert between elements and keys of this type.
    ///
    /// # Panics
    /// If the dtype has keys of the other width; see [`is_wide`].
    fn loops(dtype: DType) -> Loops<Self>;
}

/// The loops that convert between elements of one dtype and their keys.
pub struct Loops<K> {
    /// Writes the keys of `n` elements, and returns whether one of the elements is -0.0.
    pub keys: unsafe fn(x: *const u8, n: usize, keys: *mut K, descending: bool) -> bool,
    /// Writes the elements of `n` keys. `x` may be the same memory as `keys`.
    pub elements: unsafe fn(keys: *const K, n: usize, x: *mut u8, descending: bool),
}

impl<K: Key> Loops<K> {
    fn of<T: Ordered>() -> Loops<K> {
        Loops { keys: to_keys::<T, K>, elements: to_elements::<T, K> }
    }
}

versions! {
    unsafe fn to_keys[T: Ordered, K: Key][T, K](x: *const u8, n: usize, keys: *mut K, descending: bool) -> bool {
        let mut negative_zero = false;
        for i in 0..n {
            // SAFETY: both have `n` elements.
            unsafe {
                let x = *x.cast::<T>().add(i);
                *keys.add(i) = K::of(x, descending);
                negative_zero |= K::is_negative_zero(x);
            }
        }
        negative_zero
    }

    unsafe fn to_elements[T: Ordered, K: Key][T, K](keys: *const K, n: usize, x: *mut u8, descending: bool) {
        for first in (0..n).step_by(BLOCK) {
            // uses a copy, so that the compiler knows that writing elements does not change keys
            let (mut block, many) = ([K::default(); BLOCK], BLOCK.min(n - first));
            // SAFETY: both have `n` elements.
            unsafe {
                keys.add(first).copy_to_nonoverlapping(block.as_mut_ptr(), many);
                let x = x.cast::<T>().add(first);
                // whole blocks have a loop of their own, because the compiler knows their length
                if many == BLOCK {
                    for (i, key) in block.iter().enumerate() {
                        *x.add(i) = key.element(descending);
                    }
                } else {
                    for (i, key) in block[..many].iter().enumerate() {
                        *x.add(i) = key.element(descending);
                    }
                }
            }
        }
    }
}

/// Number of keys that are converted to elements at a time.
const BLOCK: usize = 64;

/// Number of bits of a digit. The table of counts of one digit stays in the L1 cache.
const DIGIT: usize = 11;

macro_rules! key {
    ($($key:ident $float:ident $int:ident $sort:ident $select:ident $wide:ident: $($dtypes:pat => $t:ty),*;)*) => {$(
        impl Key for $key {
            #[cfg(target_arch = "x86_64")]
            type Wide = super::registers::$wide;

            fn loops(dtype: DType) -> Loops<$key> {
                match dtype {
                    $($dtypes => Loops::of::<$t>(),)*
                    other => unreachable!("the keys of {other} have another width"),
                }
            }

            #[inline(always)]
            fn of<T: Ordered>(x: T, descending: bool) -> $key {
                const SIGN: $key = 1 << ($key::BITS - 1);
                let key = match T::DTYPE.kind() {
                    DTypeKind::Bool | DTypeKind::Unsigned => x.cast::<u64>() as $key,
                    DTypeKind::Signed => x.cast::<i64>() as $key ^ SIGN,
                    DTypeKind::Real | DTypeKind::Complex => {
                        let x = x.cast::<$float>();
                        if x.is_nan() {
                            return $key::MAX;
                        }
                        // adding 0.0 turns -0.0 into 0.0
                        let bits = (x + 0.0).to_bits();
                        bits ^ ((bits as $int >> ($key::BITS - 1)) as $key | SIGN)
                    }
                };
                if descending { !key } else { key }
            }

            #[inline(always)]
            fn is_negative_zero<T: Ordered>(x: T) -> bool {
                T::DTYPE.kind() == DTypeKind::Real && x.cast::<$float>().to_bits() == 1 << ($key::BITS - 1)
            }

            #[inline(always)]
            fn element<T: Ordered>(self, descending: bool) -> T {
                const SIGN: $key = 1 << ($key::BITS - 1);
                let floats = T::DTYPE.kind() == DTypeKind::Real;
                if floats && self == $key::MAX {
                    return T::from_f64(f64::NAN);
                }
                let key = if descending { !self } else { self };
                match T::DTYPE.kind() {
                    DTypeKind::Bool | DTypeKind::Unsigned => T::from_u64(key as u64),
                    DTypeKind::Signed => T::from_i64((key ^ SIGN) as $int as i64),
                    DTypeKind::Real | DTypeKind::Complex => {
                        let bits = key ^ (((!key) as $int >> ($key::BITS - 1)) as $key | SIGN);
                        $float::from_bits(bits).cast::<T>()
                    }
                }
            }

            #[inline(always)]
            fn in_order(self, other: $key) -> ($key, $key) {
                if $key::BITS == 32 {
                    return (self.min(other), self.max(other));
                }
                // AVX2 has no 64-bit minimum and maximum, so the compiler would process one element at a time
                const SIGN: $key = 1 << ($key::BITS - 1);
                let swaps = ((self ^ SIGN) as $int) > ((other ^ SIGN) as $int);
                let change = (self ^ other) & (swaps as $key).wrapping_neg();
                (self ^ change, other ^ change)
            }

            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            fn before(self) -> Option<$key> {
                self.checked_sub(1)
            }

            fn sort_in_vectors(keys: &mut [$key]) -> bool {
                #[cfg(target_arch = "x86_64")]
                return super::vectors::$sort(keys);
                #[cfg(not(target_arch = "x86_64"))]
                {
                    let _ = keys;
                    false
                }
            }

            fn select(keys: &mut [$key], place: usize) {
                assert!(place < keys.len(), "a place among the keys");
                #[cfg(target_arch = "x86_64")]
                if super::vectors::$select(keys, place) {
                    return;
                }
                keys.select_nth_unstable(place);
            }

            #[inline(always)]
            fn digit(self, bit: usize) -> usize {
                (self >> bit) as usize & ((1 << DIGIT) - 1)
            }
        }
    )*};
}
key! {
    u32 f32 i32 sort32 select32 Wide32:
        // the bytes of false and true compare like numbers
        DType::Bool | DType::UInt8 => u8, DType::UInt16 => u16, DType::UInt32 => u32,
        DType::Int8 => i8, DType::Int16 => i16, DType::Int32 => i32,
        DType::Float16 => f16, DType::BFloat16 => bf16, DType::Float32 => f32;
    u64 f64 i64 sort64 select64 Wide64: DType::UInt64 => u64, DType::Int64 => i64, DType::Float64 => f64;
}

/// Returns whether a dtype has 64-bit keys.
pub const fn is_wide(dtype: DType) -> bool {
    dtype.size() == 8 && !matches!(dtype, DType::Complex64)
}

/// The smallest and the largest key. If there are no keys, the first is the largest possible key, and the second is 0.
pub fn range<K: Key>(keys: &[K]) -> (K, K) {
    // SAFETY: the loop has no preconditions.
    unsafe { least_and_most(keys) }
}

versions! {
    unsafe fn least_and_most[K: Key][K](keys: &[K]) -> (K, K) {
        let (mut least, mut most) = ([K::of(u64::MAX, false); SIDE], [K::default(); SIDE]);
        let parts = keys.chunks_exact(SIDE);
        let rest = parts.remainder();
        for part in parts {
            for i in 0..SIDE {
                least[i] = least[i].in_order(part[i]).0;
                most[i] = most[i].in_order(part[i]).1;
            }
        }
        for &key in rest {
            least[0] = least[0].min(key);
            most[0] = most[0].max(key);
        }
        for i in 1..SIDE {
            least[0] = least[0].min(least[i]);
            most[0] = most[0].max(most[i]);
        }
        (least[0], most[0])
    }
}

/// Number of keys that are compared at a time.
const SIDE: usize = 16;

/// Minimum number of keys that are sorted faster by digits than by comparison. Each digit takes one pass over a table
/// of counts and one pass over the keys. Measured with random numbers (AMD EPYC, 2026-11-25), both sorts take the same
/// time at 1100 keys of 4 bytes, and at about 30 000 keys of 8 bytes.
const fn by_digits_from<K: Key>() -> usize {
    if size_of::<K>() == 4 { 1100 } else { 30_000 }
}

/// Sorts on this thread. Returns `true` if the result is in `spare`, which is scratch memory that grows if needed.
/// The keys must already be sorted by their lowest `given` bits.
pub fn sort<K: Key>(op: &'static str, keys: &mut [K], spare: &mut Vec<K>, given: usize) -> Result<bool> {
    if K::sort_in_vectors(keys) {
        return Ok(false);
    }
    let n = keys.len();
    if n >= by_digits_from::<K>() && spare.len() < n {
        *spare = buffer::repeated(op, n, K::default())?;
    }
    let some = n.min(spare.len());
    sort_one_by_one(op, keys, &mut spare[..some], given)
}

/// Like `sort`, but the scratch memory `spare` is a slice of the same length as the keys.
pub fn sort_slice<K: Key>(op: &'static str, keys: &mut [K], spare: &mut [K], given: usize) -> Result<bool> {
    if K::sort_in_vectors(keys) { Ok(false) } else { sort_one_by_one(op, keys, spare, given) }
}

/// Sorts without vector instructions. `spare` must be as long as the keys, unless there are few keys.
fn sort_one_by_one<K: Key>(op: &'static str, keys: &mut [K], spare: &mut [K], given: usize) -> Result<bool> {
    if keys.len() >= by_digits_from::<K>() && u32::try_from(keys.len()).is_ok() {
        return by_digits(op, keys, spare, given);
    }
    keys.sort_unstable();
    Ok(false)
}

/// Sorts digit by digit, from bit `given` on. The keys must already be sorted by the bits below. Returns `true` if
/// the result is in `spare`. The number of keys must fit a `u32`.
fn by_digits<K: Key>(op: &'static str, keys: &mut [K], spare: &mut [K], given: usize) -> Result<bool> {
    let n = keys.len();
    let digits = (8 * size_of::<K>() - given).div_ceil(DIGIT);
    let mut counts = buffer::repeated(op, digits, [0_u32; 1 << DIGIT])?;
    for key in keys.iter() {
        for (k, counts) in counts.iter_mut().enumerate() {
            counts[key.digit(given + k * DIGIT)] += 1;
        }
    }
    let (mut from, mut to) = (keys, spare);
    let mut swapped = false;
    for (k, counts) in counts.iter_mut().enumerate() {
        let bit = given + k * DIGIT;
        if counts[from[0].digit(bit)] as usize == n {
            continue; // this digit is the same in all keys
        }
        let mut next = 0;
        for count in counts.iter_mut() {
            next += std::mem::replace(count, next);
        }
        assert!(to.len() == n && next as usize == n, "every key has a place");
        for &key in from.iter() {
            let place = &mut counts[key.digit(bit)];
            // SAFETY: a place begins at the number of keys with smaller digits, and advances once for each key with its
            // own digit. Both numbers of keys add up to at most `n`, so the place is less than `n` when it is used.
            unsafe { *to.get_unchecked_mut(*place as usize) = key };
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
        swapped = !swapped;
    }
    Ok(swapped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bf16, f16};

    fn check<T: Ordered, K: Key>(values: &[T]) {
        for pair in values.windows(2) {
            assert!(K::of(pair[0], false) < K::of(pair[1], false), "{pair:?}");
            assert!(K::of(pair[0], true) > K::of(pair[1], true), "{pair:?}");
        }
        for &v in values {
            assert_eq!(K::of(v, false).element::<T>(false), v);
            assert_eq!(K::of(v, true).element::<T>(true), v);
        }
    }

    #[test]
    fn keys_keep_the_order() {
        check::<bool, u32>(&[false, true]);
        check::<i8, u32>(&[-128, -1, 0, 1, 127]);
        check::<i16, u32>(&[i16::MIN, -1, 0, i16::MAX]);
        check::<i32, u32>(&[i32::MIN, -1, 0, 1, i32::MAX]);
        check::<u32, u32>(&[0, 1, u32::MAX]);
        check::<i64, u64>(&[i64::MIN, -1, 0, 1, i64::MAX]);
        check::<u64, u64>(&[0, 1, u64::MAX]);
        check::<f32, u32>(&[f32::NEG_INFINITY, f32::MIN, -1.0, -1e-45, 0.0, 1e-45, 1.0, f32::MAX, f32::INFINITY]);
        check::<f64, u64>(&[f64::NEG_INFINITY, f64::MIN, -1.0, -5e-324, 0.0, 5e-324, 1.0, f64::MAX, f64::INFINITY]);
        check::<f16, u32>(&[f16::NEG_INFINITY, f16::MIN, f16::NEG_ONE, f16::ZERO, f16::from_bits(1), f16::MAX]);
        check::<bf16, u32>(&[bf16::NEG_INFINITY, bf16::MIN, bf16::NEG_ONE, bf16::ZERO, bf16::from_bits(1), bf16::MAX]);
        for descending in [false, true] {
            assert_eq!(u64::of(f64::NAN, descending), u64::MAX);
            assert_eq!(u64::of(-f64::NAN, descending), u64::MAX);
            assert!(u64::of(f64::INFINITY, descending) < u64::MAX);
            assert_eq!(u32::of(-0.0_f32, descending), u32::of(0.0_f32, descending));
            assert!(u32::MAX.element::<f16>(descending).is_nan());
            assert!(u64::is_negative_zero(-0.0_f64) && u32::is_negative_zero(f16::NEG_ZERO));
            assert!(
                !u64::is_negative_zero(0.0_f64)
                    && !u64::is_negative_zero(i64::MIN)
                    && !u32::is_negative_zero(-1e-45_f32)
            );
        }
    }

    /// Converts keys to elements that overwrite the keys.
    #[test]
    fn in_place() {
        for n in [0, 1, BLOCK - 1, BLOCK, 3 * BLOCK + 5] {
            let x: Vec<f64> = (0..n).map(|i| i as f64 - 7.0).collect();
            let mut keys = vec![0_u64; n];
            let loops = u64::loops(DType::Float64);
            // SAFETY: both have room for `n` elements.
            unsafe {
                (loops.keys)(x.as_ptr().cast(), n, keys.as_mut_ptr(), true);
                let place = keys.as_mut_ptr();
                (loops.elements)(place, n, place.cast(), true);
            }
            assert!(keys.iter().zip(&x).all(|(&bits, &x)| f64::from_bits(bits) == x));
        }
    }

    #[test]
    fn sorted_one_by_one() {
        for n in [0, 1, 2, 500, 1100, 1700, 5000, 70_000] {
            for given in [0, 17, 40] {
                // the lowest `given` bits are the index, so the keys are sorted by these bits
                let part = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (8 * (i % 7)) & (u64::MAX << given);
                let mut keys: Vec<u64> = (0..n).map(|i| if given == 0 { part(i) } else { part(i) | i }).collect();
                let mut expected = keys.clone();
                expected.sort_unstable();
                let mut spare = vec![0; keys.len()];
                let moved = sort_one_by_one("sort", &mut keys, &mut spare, given).unwrap();
                assert!(if moved { spare } else { keys } == expected, "{n} {given}");
            }
            let mut keys: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761) >> (i % 3 * 9)).collect();
            let mut expected = keys.clone();
            expected.sort_unstable();
            let mut spare = vec![0; keys.len()];
            let moved = sort_one_by_one("sort", &mut keys, &mut spare, 0).unwrap();
            assert!(if moved { spare } else { keys } == expected, "{n}");
        }
    }

    #[test]
    fn least_and_largest() {
        assert_eq!(range::<u32>(&[]), (u32::MAX, 0));
        for n in [1, 15, 16, 17, 100] {
            let keys: Vec<u64> = (0..n).map(|i: u64| (i + 3).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
            assert_eq!(range(&keys), (*keys.iter().min().unwrap(), *keys.iter().max().unwrap()));
        }
    }
}
