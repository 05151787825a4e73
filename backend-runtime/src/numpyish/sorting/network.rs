//! Short lanes, many at a time: which elements are compared does not depend on their values, so lanes go side by side, in vectors.

use super::{
    super::{
        buffer::Buffer,
        copy,
        parallel::{self, COSTLY},
        raw::{RawArray, View},
        simd::versions,
    },
    keys::{Key, Loops},
    zeros,
};
use crate::Result;

/// Elements of the longest lanes.
pub const LONGEST: usize = 32;

/// Lanes from which on it pays to sort them together.
pub const WORTH: usize = 4;

/// Lanes that are sorted together.
const TOGETHER: usize = 16;

/// Keys of lanes, those of one place next to each other.
type Tile<K> = [[K; TOGETHER]; LONGEST];

/// Sorted along the last axis, of [`LONGEST`] elements at most, of which there is at least one. Keys that are equal are of the same elements, but for the signs
/// of zeros.
pub fn sorted<K: Key>(op: &'static str, x: View<'_>, descending: bool) -> Result<RawArray> {
    let len = x.shape.last().copied().unwrap_or(1);
    let loops = K::loops(x.dtype);
    let packed = copy::pack(op, x)?;
    let out = Buffer::new(op, x.len(), x.dtype)?;
    let ends = copy::Ends { from: packed.start(), to: out.start() };
    let lanes = x.len() / len;
    parallel::parallel(lanes.div_ceil(TOGETHER), (COSTLY / (TOGETHER * len)).max(1), |groups| {
        let ends = &ends;
        for group in groups {
            let first = group * TOGETHER;
            let bytes = first * len * x.dtype.size();
            // SAFETY: lanes of both arrays, which are this task's.
            unsafe {
                let (from, to) = (ends.from.add(bytes), ends.to.add(bytes));
                sort_some(&loops, x, from, to, len, TOGETHER.min(lanes - first), descending);
            }
        }
    });
    // SAFETY: every element has been written.
    unsafe { RawArray::new(op, x.shape.to_vec(), out) }
}

/// Sorts `count` lanes, one after the other in memory.
///
/// # Safety
/// There are `len` elements of the dtype of `x` in each of them, as in the lanes at `to`; there are no more than [`TOGETHER`] and [`LONGEST`].
unsafe fn sort_some<K: Key>(
    loops: &Loops<K>,
    x: View<'_>,
    from: *const u8,
    to: *mut u8,
    len: usize,
    count: usize,
    descending: bool,
) {
    let mut keys = [K::default(); TOGETHER * LONGEST];
    let mut tile = [[K::default(); TOGETHER]; LONGEST];
    let keys = &mut keys[..count * len];
    // SAFETY: the caller's promise: there are as many keys as elements.
    let negative_zero = unsafe { (loops.keys)(from, keys.len(), keys.as_mut_ptr(), descending) };
    for (lane, keys) in keys.chunks_exact(len).enumerate() {
        tile.iter_mut().zip(keys).for_each(|(row, &key)| row[lane] = key);
    }
    // SAFETY: it has no conditions.
    unsafe { sort_rows::<K>(&mut tile, len) };
    for (lane, keys) in keys.chunks_exact_mut(len).enumerate() {
        tile.iter().zip(&mut *keys).for_each(|(row, key)| *key = row[lane]);
    }
    // SAFETY: as above.
    unsafe {
        (loops.elements)(keys.as_ptr(), keys.len(), to, descending);
        if negative_zero {
            for lane in 0..count {
                let bytes = lane * len * x.dtype.size();
                zeros::restore(x.dtype, from.add(bytes), len, to.add(bytes));
            }
        }
    }
}

versions! {
    /// Sorts the first `n` rows, each lane on its own, by Batcher's merge exchange: algorithm M of section 5.2.2 of Knuth's "The Art of Computer
    /// Programming", volume 3.
    unsafe fn sort_rows[K: Key][K](tile: &mut Tile<K>, n: usize) {
        let rows = &mut tile[..n];
        let most = n.next_power_of_two() / 2;
        let mut p = most;
        while p > 0 {
            let (mut q, mut r, mut d) = (most, 0, p);
            loop {
                for i in 0..n - d {
                    if i & p == r {
                        let (low, high) = (rows[i], rows[i + d]);
                        for k in 0..TOGETHER {
                            (rows[i][k], rows[i + d][k]) = low[k].in_order(high[k]);
                        }
                    }
                }
                if q == p {
                    break;
                }
                (d, q, r) = (q - p, q / 2, p);
            }
            p /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::simd, *};

    #[test]
    fn rows_of_every_number() {
        simd::with_each(|_| {
            for n in 1..=LONGEST {
                let mut tile: Tile<u64> =
                    std::array::from_fn(|i| std::array::from_fn(|k| ((i * 7919 + k * 104_729) % 23) as u64));
                let mut expected: Vec<Vec<u64>> =
                    (0..TOGETHER).map(|k| tile[..n].iter().map(|row| row[k]).collect()).collect();
                // SAFETY: it has no conditions.
                unsafe { sort_rows(&mut tile, n) };
                for (k, lane) in expected.iter_mut().enumerate() {
                    lane.sort_unstable();
                    assert!(tile[..n].iter().map(|row| row[k]).eq(lane.iter().copied()), "{n}");
                }
            }
        });
    }
}
