//! Binary search for many values in sorted keys. Several searches run side by side, so that their memory accesses
//! overlap. The loops have no data-dependent branches, because the processor could not predict them.

use super::{super::simd::versions, keys::Key};
use backend_core::DType;

/// Number of searches that run side by side.
const SIDE: usize = 16;

/// Number of values that are converted to keys at a time.
pub const BLOCK: usize = 256;

/// Counts, for each value, the sorted keys that are smaller than the value's key, and writes the counts to `places`. If
/// `left` is false, equal keys are counted, too.
///
/// # Safety
/// `values` must point to as many elements of the dtype as `places` has.
pub unsafe fn places<K: Key>(dtype: DType, sorted: &[K], values: *const u8, left: bool, places: &mut [i64]) {
    let loops = K::loops(dtype);
    let mut keys = [K::default(); BLOCK];
    for (block, places) in places.chunks_mut(BLOCK).enumerate() {
        // SAFETY: the block is within the values.
        unsafe { (loops.keys)(values.add(block * BLOCK * dtype.size()), places.len(), keys.as_mut_ptr(), false) };
        if left {
            key_places::<K, false>(sorted, &keys, places)
        } else {
            key_places::<K, true>(sorted, &keys, places)
        };
    }
}

/// Counts, for each of the first `places.len()` keys of the block `keys`, the sorted keys that are smaller. With
/// `EQUAL`, also counts the sorted keys that are equal.
pub fn key_places<K: Key, const EQUAL: bool>(sorted: &[K], keys: &[K; BLOCK], places: &mut [i64]) {
    // SAFETY: the loop has no preconditions.
    unsafe { all::<K, EQUAL>(sorted, keys, places) }
}

/// Like [`places()`], for few values and many sorted elements. Converts only the compared elements to keys.
///
/// # Safety
/// `sorted` must point to `n` elements of the dtype, and `values` to as many elements as `places` has.
pub unsafe fn few_places<K: Key>(
    dtype: DType,
    sorted: *const u8,
    n: usize,
    values: *const u8,
    left: bool,
    places: &mut [i64],
) {
    let loops = K::loops(dtype);
    let key = |x: *const u8, at: usize| {
        let mut key = K::default();
        // SAFETY: `at` is the index of an element.
        unsafe { (loops.keys)(x.add(at * dtype.size()), 1, &raw mut key, false) };
        key
    };
    for (i, place) in places.iter_mut().enumerate() {
        let value = key(values, i);
        let (mut low, mut high) = (0, n);
        while low < high {
            let middle = low + (high - low) / 2;
            let at = key(sorted, middle);
            if at < value || (!left && at == value) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        *place = low as i64;
    }
}

versions! {
    /// Counts, for each key of the block `keys`, the sorted keys that are smaller. With `EQUAL`, also counts the sorted
    /// keys that are equal.
    unsafe fn all[K: Key, const EQUAL: bool][K, EQUAL](sorted: &[K], keys: &[K; BLOCK], places: &mut [i64]) {
        for (keys, places) in keys.chunks_exact(SIDE).zip(places.chunks_mut(SIDE)) {
            let mut at = [0_usize; SIDE];
            let mut left = sorted.len();
            // the result of search `k` is one of the `left` indices from `at[k]` on, or the index after these
            while left > 0 {
                let half = left.div_ceil(2);
                for k in 0..SIDE {
                    // SAFETY: `at + left` is at most the number of keys, and `half` is at least 1 and at most `left`.
                    let middle = unsafe { *sorted.get_unchecked(at[k] + half - 1) };
                    let before = if EQUAL { middle <= keys[k] } else { middle < keys[k] };
                    at[k] += half & usize::from(before).wrapping_neg();
                }
                left -= half;
            }
            for (place, at) in places.iter_mut().zip(at) {
                *place = at as i64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backend_core::numpyish::simd;

    #[test]
    fn as_the_partition_points_of_the_standard_library() {
        for n in [0, 1, 2, 3, 5, 64, 1000] {
            let sorted: Vec<u64> = (0..n).map(|i| i / 3 * 2 + 1).collect();
            for m in [0, 1, 15, 16, 17, 700] {
                let values: Vec<u64> = (0..m).map(|i| i * 7919 % (n + 2)).collect();
                for left in [true, false] {
                    let before = |value: &u64| {
                        sorted.partition_point(|key| if left { key < value } else { key <= value }) as i64
                    };
                    let expected: Vec<i64> = values.iter().map(before).collect();
                    simd::with_each(|_| {
                        let mut found = vec![-1; values.len()];
                        // SAFETY: there are as many values as places.
                        unsafe { places(DType::UInt64, &sorted, values.as_ptr().cast(), left, &mut found) };
                        assert_eq!(found, expected, "{n} {m} {left}");
                    });
                    let mut found = vec![-1; values.len()];
                    // SAFETY: there are `n` sorted elements, and as many values as places.
                    unsafe {
                        let (sorted, values) = (sorted.as_ptr().cast(), values.as_ptr().cast());
                        few_places::<u64>(DType::UInt64, sorted, n as usize, values, left, &mut found);
                    }
                    assert_eq!(found, expected, "{n} {m} {left}");
                }
            }
        }
    }
}
