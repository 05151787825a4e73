//! Elements as unsigned integers of the same order, NaN last, and the sorting of these.
//!
//! One sort for every dtype: those of up to 32 bits have keys of 32, the others of 64.

use super::super::{buffer, simd::versions};
use crate::{DType, DTypeKind, Element, Ordered, Result, bf16, f16};

/// An unsigned integer that elements are sorted by.
pub trait Key: Element + Ord {
    /// The key of an element. NaN has the largest of all, -0.0 that of 0.0.
    fn of<T: Ordered>(x: T, descending: bool) -> Self;

    /// The element of a key: its value, without the sign of a zero or the bits of a NaN.
    fn element<T: Ordered>(self, descending: bool) -> T;

    /// The k-th digit, from the lowest on.
    fn digit(self, k: usize) -> usize;

    /// The smaller and the larger of two, without a branch, in what becomes vector instructions.
    fn in_order(self, other: Self) -> (Self, Self);

    /// The largest key that is smaller.
    fn before(self) -> Option<Self>;

    /// Sorts in vectors; `false`, with nothing done, of few keys and where the processor has no instructions for it.
    fn sort_in_vectors(keys: &mut [Self]) -> bool;

    /// Brings the key that is number `place` in order there, with none before it that is larger and none behind that is smaller.
    ///
    /// # Panics
    /// If there is no such place.
    fn select(keys: &mut [Self], place: usize);

    /// The loops between elements and such keys.
    ///
    /// # Panics
    /// Of dtypes that have other keys: see [`is_wide`].
    fn loops(dtype: DType) -> Loops<Self>;
}

/// The loops between elements of one dtype and their keys.
pub struct Loops<K> {
    /// Writes the keys of `n` elements.
    pub keys: unsafe fn(x: *const u8, n: usize, keys: *mut K, descending: bool),
    /// Writes the elements of `n` keys.
    pub elements: unsafe fn(keys: *const K, n: usize, x: *mut u8, descending: bool),
}

impl<K: Key> Loops<K> {
    fn of<T: Ordered>() -> Loops<K> {
        Loops { keys: to_keys::<T, K>, elements: to_elements::<T, K> }
    }
}

versions! {
    unsafe fn to_keys[T: Ordered, K: Key][T, K](x: *const u8, n: usize, keys: *mut K, descending: bool) {
        for i in 0..n {
            // SAFETY: `n` of both.
            unsafe { *keys.add(i) = K::of(*x.cast::<T>().add(i), descending) };
        }
    }

    unsafe fn to_elements[T: Ordered, K: Key][T, K](keys: *const K, n: usize, x: *mut u8, descending: bool) {
        for i in 0..n {
            // SAFETY: `n` of both.
            unsafe { *x.cast::<T>().add(i) = (*keys.add(i)).element(descending) };
        }
    }
}

/// Bits of a digit: its table of counts stays in the first-level cache.
const DIGIT: usize = 11;

macro_rules! key {
    ($($key:ident $float:ident $int:ident $sort:ident $select:ident: $($dtypes:pat => $t:ty),*;)*) => {$(
        impl Key for $key {
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
                        // adding 0.0 makes -0.0 a 0.0
                        let bits = (x + 0.0).to_bits();
                        bits ^ ((bits as $int >> ($key::BITS - 1)) as $key | SIGN)
                    }
                };
                if descending { !key } else { key }
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
                // AVX2 has no such instructions for 64 bits, and the compiler would take one element at a time
                const SIGN: $key = 1 << ($key::BITS - 1);
                let swaps = ((self ^ SIGN) as $int) > ((other ^ SIGN) as $int);
                let change = (self ^ other) & (swaps as $key).wrapping_neg();
                (self ^ change, other ^ change)
            }

            #[inline(always)]
            fn before(self) -> Option<$key> {
                self.checked_sub(1)
            }

            fn sort_in_vectors(keys: &mut [$key]) -> bool {
                #[cfg(target_arch = "x86_64")]
                return super::vectors::$sort(keys);
                #[cfg(not(target_arch = "x86_64"))]
                false
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
            fn digit(self, k: usize) -> usize {
                (self >> (k * DIGIT)) as usize & ((1 << DIGIT) - 1)
            }
        }
    )*};
}
key! {
    u32 f32 i32 sort32 select32:
        // the bytes of false and true have the order of numbers
        DType::Bool | DType::UInt8 => u8, DType::UInt16 => u16, DType::UInt32 => u32,
        DType::Int8 => i8, DType::Int16 => i16, DType::Int32 => i32,
        DType::Float16 => f16, DType::BFloat16 => bf16, DType::Float32 => f32;
    u64 f64 i64 sort64 select64: DType::UInt64 => u64, DType::Int64 => i64, DType::Float64 => f64;
}

/// Whether a dtype's keys have 64 bits.
pub const fn is_wide(dtype: DType) -> bool {
    dtype.size() == 8 && !matches!(dtype, DType::Complex64)
}

/// An entry that is sorted: a key, alone or with an index.
pub trait Record: Copy + Default + Ord + Send + Sync {
    /// Its key.
    type Key: Key;
    /// The key.
    fn key(&self) -> Self::Key;
    /// Sorts in vectors; `false`, with nothing done, where that is not to be had or does not pay.
    fn in_vectors(_: &mut [Self]) -> bool {
        false
    }
}

impl<K: Key> Record for K {
    type Key = K;

    fn in_vectors(keys: &mut [K]) -> bool {
        K::sort_in_vectors(keys)
    }

    #[inline(always)]
    fn key(&self) -> K {
        *self
    }
}

/// A key and the index of its element. The order of equal keys is that of their indices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Indexed<K, I> {
    /// The key.
    pub key: K,
    index: I,
}

impl<K: Key, I: Index> Record for Indexed<K, I> {
    type Key = K;

    #[inline(always)]
    fn key(&self) -> K {
        self.key
    }
}

impl<K: Key, I: Index> Indexed<K, I> {
    /// The key of the element number `index`.
    #[inline(always)]
    pub fn new(key: K, index: usize) -> Indexed<K, I> {
        Indexed { key, index: I::from_usize(index) }
    }

    /// Index of the element.
    #[inline(always)]
    pub fn index(&self) -> usize {
        self.index.to_usize()
    }
}

/// An index, in as few bits as the number of elements allows.
pub trait Index: Copy + Default + Ord + Send + Sync {
    /// From an index that fits.
    fn from_usize(index: usize) -> Self;
    /// The index.
    fn to_usize(self) -> usize;
}

macro_rules! index {
    ($($t:ty)*) => {$(
        impl Index for $t {
            #[inline(always)]
            fn from_usize(index: usize) -> $t {
                index as $t
            }

            #[inline(always)]
            fn to_usize(self) -> usize {
                self as usize
            }
        }
    )*};
}
index!(u32 u64);

/// From this many records on, sorting by digits is faster than by comparison: there is one pass over tables of counts, and over the
/// records, for each digit. Measured with numbers by chance (AMD EPYC, 2026-11-25): records of 4 bytes take the same time at 1100, keys of 8
/// at about 30 000, with an index at 1600, keys of 4 with an index at 500.
const fn by_digits_from<R: Record>() -> usize {
    match (size_of::<R::Key>(), size_of::<R>()) {
        (8, 8) => 30_000,
        (8, _) => 1600,
        (_, 4) => 1100,
        _ => 500,
    }
}

/// Sorts by key, in this thread; records of equal keys keep their order. `spare` is scratch memory, grown where needed.
pub fn sort<R: Record>(op: &'static str, records: &mut Vec<R>, spare: &mut Vec<R>) -> Result<()> {
    if R::in_vectors(records) {
        return Ok(());
    }
    let n = records.len();
    if n >= by_digits_from::<R>() && spare.len() != n {
        *spare = buffer::vec(op, n)?;
        spare.resize(n, R::default());
    }
    if sort_into_either(op, records, spare)? {
        std::mem::swap(records, spare);
    }
    Ok(())
}

/// The same of a slice, with another one as long.
pub fn sort_slice<R: Record>(op: &'static str, records: &mut [R], spare: &mut [R]) -> Result<()> {
    if !R::in_vectors(records) && sort_into_either(op, records, spare)? {
        records.copy_from_slice(spare);
    }
    Ok(())
}

/// Sorts records; `true` if the result is in `spare`, which is as long, unless the records are few.
fn sort_into_either<R: Record>(op: &'static str, records: &mut [R], spare: &mut [R]) -> Result<bool> {
    let n = records.len();
    if n < by_digits_from::<R>() {
        // stable all the same: equal keys are equal records, or differ in their index, which is part of the order
        records.sort_unstable();
        return Ok(false);
    }
    if u32::try_from(n).is_ok() {
        by_digits::<R, u32>(op, records, spare)
    } else {
        by_digits::<R, u64>(op, records, spare)
    }
}

/// Sorts by one digit after the other, from the lowest on; `true` if the result is in `spare`. `C` counts records.
fn by_digits<R: Record, C: Index>(op: &'static str, records: &mut [R], spare: &mut [R]) -> Result<bool> {
    let n = records.len();
    let digits = (8 * size_of::<R::Key>()).div_ceil(DIGIT);
    let mut counts = buffer::repeated(op, digits, [C::default(); 1 << DIGIT])?;
    for r in records.iter() {
        for (k, counts) in counts.iter_mut().enumerate() {
            let count = &mut counts[r.key().digit(k)];
            *count = C::from_usize(count.to_usize() + 1);
        }
    }
    let (mut from, mut to) = (records, spare);
    let mut swapped = false;
    for (k, counts) in counts.iter_mut().enumerate() {
        if counts[from[0].key().digit(k)].to_usize() == n {
            continue; // a digit that is the same in all keys
        }
        let mut next = 0;
        for count in counts.iter_mut() {
            next += std::mem::replace(count, C::from_usize(next)).to_usize();
        }
        assert!(to.len() == n && next == n, "every record has a place");
        for r in from.iter() {
            let place = &mut counts[r.key().digit(k)];
            // SAFETY: a place begins at the number of records of smaller digits, and moves once for each record of its
            // own; their sum is `n`, so that it is below `n` when it is used.
            unsafe { *to.get_unchecked_mut(place.to_usize()) = *r };
            *place = C::from_usize(place.to_usize() + 1);
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
        }
    }

    #[test]
    fn records_of_equal_keys_keep_their_order() {
        for n in [0, 1, 2, 500, 512, 1700, 5000, 70_000] {
            let keys = (0..n as u32).map(|i| u64::from(i.wrapping_mul(2_654_435_761) >> 20) << (i % 3 * 21));
            let mut records: Vec<Indexed<u64, u32>> = keys.enumerate().map(|(i, key)| Indexed::new(key, i)).collect();
            let mut expected = records.clone();
            expected.sort_by_key(|r| r.key);
            sort("sort", &mut records, &mut Vec::new()).unwrap();
            assert_eq!(records, expected);
        }
    }
}
