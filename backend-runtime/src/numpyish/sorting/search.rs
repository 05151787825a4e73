//! Binary search of many values, several side by side: none waits for the memory that another asks, and no branch is guessed.

use super::{super::simd::versions, keys::Key};
use crate::DType;

/// Values whose searches run side by side.
const SIDE: usize = 16;

/// Values whose keys are made and searched for at once.
pub const BLOCK: usize = 256;

/// For each value how many of the sorted keys are below its own, or with `left` unset below and equal.
///
/// # Safety
/// `values` points to as many elements of the dtype as there are places.
pub unsafe fn places<K: Key>(dtype: DType, sorted: &[K], values: *const u8, left: bool, places: &mut [i64]) {
    let loops = K::loops(dtype);
    let mut keys = [K::default(); BLOCK];
    for (block, places) in places.chunks_mut(BLOCK).enumerate() {
        // SAFETY: a block of the values.
        unsafe { (loops.keys)(values.add(block * BLOCK * dtype.size()), places.len(), keys.as_mut_ptr(), false) };
        if left {
            key_places::<K, false>(sorted, &keys, places)
        } else {
            key_places::<K, true>(sorted, &keys, places)
        };
    }
}

/// For each of the first keys of a block how many of the sorted ones are below it, or `EQUAL` to it.
pub fn key_places<K: Key, const EQUAL: bool>(sorted: &[K], keys: &[K; BLOCK], places: &mut [i64]) {
    // SAFETY: the loop has no conditions.
    unsafe { all::<K, EQUAL>(sorted, keys, places) }
}

/// The same of a few values among many elements, of which only those that are looked at get a key.
///
/// # Safety
/// `sorted` points to `n` elements of the dtype, `values` to as many as there are places.
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
        // SAFETY: an element that there is.
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
    /// The places of a block. `EQUAL` says that equal keys are before them.
    unsafe fn all[K: Key, const EQUAL: bool][K, EQUAL](sorted: &[K], keys: &[K; BLOCK], places: &mut [i64]) {
        for (keys, places) in keys.chunks_exact(SIDE).zip(places.chunks_mut(SIDE)) {
            let mut at = [0_usize; SIDE];
            let mut left = sorted.len();
            // what is looked for is among `left` keys from `at` on, or behind them
            while left > 0 {
                let half = left.div_ceil(2);
                for k in 0..SIDE {
                    // SAFETY: `at + left` is no more than there are keys, and `half` is at least 1.
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
    use crate::numpyish::simd;

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
                        // SAFETY: as many values as places.
                        unsafe { places(DType::UInt64, &sorted, values.as_ptr().cast(), left, &mut found) };
                        assert_eq!(found, expected, "{n} {m} {left}");
                    });
                    let mut found = vec![-1; values.len()];
                    // SAFETY: as above.
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
