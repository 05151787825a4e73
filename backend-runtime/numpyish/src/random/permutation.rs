//! Sorts random keys. The keys are spread evenly over buckets, so that two counting passes leave almost nothing to
//! sort. In the first pass, each thread has a range of the keys; in the second pass, each thread has some of the
//! buckets.

use super::super::{
    buffer::{self, Buffer},
    copy::Ends,
    parallel::{self, COSTLY, Shared},
};
use backend_core::{DType, Result};

/// Minimum number of keys of one task.
const PIECE: usize = 1 << 16;

/// Maximum number of bits of a key that one pass uses to choose a bucket.
const DIGIT: u32 = 11;

/// Returns whether there are enough keys for buckets to be faster, and few enough for the counts to fit a `u32`.
pub fn suits(n: usize) -> bool {
    (1 << 12..=u32::MAX as usize).contains(&n)
}

/// Sorts the indices of the keys by key. Equal keys keep their order. The lowest bits of each sorted record are the
/// index of a key. Calls `write` for each range of sorted records with three arguments: the position at which the range
/// begins in the order, the records, and the mask of the index bits.
pub fn ordered(op: &'static str, keys: &[u64], write: impl Fn(usize, &[u64], u64) + Sync) -> Result<()> {
    let n = keys.len();
    assert!(suits(n), "as many keys as there are counts for");
    // the lowest bits of a record, selected by the mask `place`, are the index of a key; the bits above are the upper
    // bits of the key, without the bits that are the same in the whole bucket
    let place = u64::MAX >> (n as u64 - 1).leading_zeros();
    let bits = n.ilog2().saturating_sub(8).clamp(1, DIGIT);
    let (buckets, piece) = (1_usize << bits, PIECE.max(n.div_ceil(64)));
    let pieces = n.div_ceil(piece);
    let bucket = |key: u64| (key >> (u64::BITS - bits)) as usize;
    let part = |k: usize| &keys[k * piece..n.min((k + 1) * piece)];

    let mut counts = buffer::zeros::<u32>(op, pieces * buckets)?;
    let shared = Shared::new(&mut counts);
    parallel::parallel(pieces, 1, |range| {
        for k in range {
            // SAFETY: these counts belong to this piece.
            let counts = unsafe { shared.part(k * buckets..(k + 1) * buckets) };
            part(k).iter().for_each(|&key| counts[bucket(key)] += 1);
        }
    });
    let (mut starts, mut next) = (buffer::vec::<usize>(op, buckets + 1)?, 0_u32);
    for bucket in 0..buckets {
        starts.push(next as usize);
        for counts in counts.chunks_exact_mut(buckets) {
            next += std::mem::replace(&mut counts[bucket], next);
        }
    }
    starts.push(n);

    let (records, spare) = (Buffer::new(op, n, DType::UInt64)?, Buffer::new(op, n, DType::UInt64)?);
    let ends = Ends { from: records.start().cast::<u64>(), to: spare.start().cast::<u64>() };
    let shared = Shared::new(&mut counts);
    parallel::parallel(pieces, 1, |range| {
        let ends = &ends;
        for k in range {
            // SAFETY: these indices of the next records belong to this piece.
            let next = unsafe { shared.part(k * buckets..(k + 1) * buckets) };
            for (i, &key) in (k * piece..).zip(part(k)) {
                let next = &mut next[bucket(key)];
                // SAFETY: each record has its own index, less than `n`, because the keys were counted.
                unsafe { *ends.from.cast_mut().add(*next as usize) = (key << bits) & !place | i as u64 };
                *next += 1;
            }
        }
    });
    parallel::parallel(buckets, (COSTLY * buckets / n).max(1), |range| {
        let ends = &ends;
        for bucket in range {
            let (start, len) = (starts[bucket], starts[bucket + 1] - starts[bucket]);
            // SAFETY: the records of this bucket have been written, and `ends.to` has room for all records.
            let (records, sorted) = unsafe {
                let records = std::slice::from_raw_parts(ends.from.add(start), len);
                // memory must be initialised before it becomes a slice
                let to = ends.to.add(start);
                std::ptr::write_bytes(to, 0, len);
                (records, std::slice::from_raw_parts_mut(to, len))
            };
            sort(records, sorted);
            by_lower_bits(keys, sorted, place);
            write(start, sorted, place);
        }
    });
    Ok(())
}

/// Sorts the numbers in `from` into `to`. The upper bits of the numbers must be random; otherwise the sort is slow.
fn sort(from: &[u64], to: &mut [u64]) {
    let n = from.len();
    if n == 0 {
        return;
    }
    let bits = (n.ilog2() + 1).min(DIGIT);
    let digit = |x: u64| (x >> (u64::BITS - bits)) as usize;
    let mut counts = [0_u32; 1 << DIGIT];
    let counts = &mut counts[..1 << bits];
    from.iter().for_each(|&x| counts[digit(x)] += 1);
    let mut next = 0;
    counts.iter_mut().for_each(|count| next += std::mem::replace(count, next));
    for &x in from {
        let next = &mut counts[digit(x)];
        to[*next as usize] = x;
        *next += 1;
    }
    // insertion sort is fast here, because few numbers are in the wrong order
    for i in 1..n {
        let (x, mut k) = (to[i], i);
        while k > 0 && to[k - 1] > x {
            to[k] = to[k - 1];
            k -= 1;
        }
        to[k] = x;
    }
}

/// Sorts records with equal upper bits by their whole keys. Records with equal keys are sorted by index.
fn by_lower_bits(keys: &[u64], records: &mut [u64], place: u64) {
    let mut start = 0;
    while start < records.len() {
        let upper = records[start] & !place;
        let len = records[start..].iter().take_while(|&&record| record & !place == upper).count();
        if len > 1 {
            records[start..start + len].sort_unstable_by_key(|record| (keys[(record & place) as usize], *record));
        }
        start += len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    fn check(keys: &[u64]) {
        let mut expected: Vec<usize> = (0..keys.len()).collect();
        expected.sort_by_key(|&i| keys[i]);
        let found = Mutex::new(vec![usize::MAX; keys.len()]);
        ordered("random_permutation", keys, |start, records, place| {
            let mut found = found.lock().unwrap();
            records.iter().zip(&mut found[start..]).for_each(|(record, to)| *to = (record & place) as usize);
        })
        .unwrap();
        assert!(found.into_inner().unwrap() == expected);
    }

    #[test]
    fn as_a_stable_sort() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 33
        };
        for n in [1 << 12, 5000, PIECE, PIECE + 1, 3 * PIECE + 17] {
            let keys: Vec<u64> = (0..n).map(|_| random()).collect();
            check(&keys);
            // tests equal keys, and keys that differ only in their lowest bits
            check(&keys.iter().map(|key| key << 52).collect::<Vec<_>>());
            check(&keys.iter().map(|key| key << 58 | key >> 62).collect::<Vec<_>>());
        }
        check(&[7; 1 << 12]);
        check(&(0..1 << 12).map(|i| i % 3).collect::<Vec<_>>());
        assert!(!suits(100) && !suits(usize::MAX));
    }
}
