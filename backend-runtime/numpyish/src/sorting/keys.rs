//! Maps elements to unsigned integers ("keys") of the same order, and keys back to elements. The key of NaN is the
//! largest.
//!
//! All dtypes are sorted by the same code. Dtypes of up to 32 bits have 32-bit keys, and all other dtypes have 64-bit
//! keys.

use super::super::simd::versions;
use backend_core::{DType, DTypeKind, Element, Ordered, bf16, f16};

/// The unsigned integer type of keys, which have the same order as the elements.
pub trait Key: Element + Ord {
    /// The key of an element. NaN has the largest key, and -0.0 has the key of 0.0.
    fn of<T: Ordered>(x: T, descending: bool) -> Self;

    /// Returns whether an element is -0.0. The keys of -0.0 and of 0.0 are equal.
    fn is_negative_zero<T: Ordered>(x: T) -> bool;

    /// The element that has this key. The sign of a zero and the bits of a NaN are lost.
    fn element<T: Ordered>(self, descending: bool) -> T;

    /// The smaller and the larger key, computed without a branch, so that the compiler can use vector instructions.
    fn in_order(self, other: Self) -> (Self, Self);

    /// The key minus 1; `None` for 0.
    #[cfg(target_arch = "x86_64")]
    fn before(self) -> Option<Self>;

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

macro_rules! key {
    ($($key:ident $float:ident $int:ident: $($dtypes:pat => $t:ty),*;)*) => {$(
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
        }
    )*};
}
key! {
    u32 f32 i32:
        // the bytes of false and true compare like numbers
        DType::Bool | DType::UInt8 => u8, DType::UInt16 => u16, DType::UInt32 => u32,
        DType::Int8 => i8, DType::Int16 => i16, DType::Int32 => i32,
        DType::Float16 => f16, DType::BFloat16 => bf16, DType::Float32 => f32;
    u64 f64 i64: DType::UInt64 => u64, DType::Int64 => i64, DType::Float64 => f64;
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

#[cfg(test)]
mod tests {
    use super::*;
    use backend_core::{bf16, f16};

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
    fn least_and_largest() {
        assert_eq!(range::<u32>(&[]), (u32::MAX, 0));
        for n in [1, 15, 16, 17, 100] {
            let keys: Vec<u64> = (0..n).map(|i: u64| (i + 3).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
            assert_eq!(range(&keys), (*keys.iter().min().unwrap(), *keys.iter().max().unwrap()));
        }
    }
}
