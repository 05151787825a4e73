//! Selects the first elements of a lane in sorted order, and partitions a lane around one element, without sorting the
//! whole lane. A lane is a 1-D slice along the given axis.

use super::{
    arranged,
    keys::{self, Key},
    order::order,
    read_keys,
    serial::Sortable,
};
use crate::indexing;
use backend_core::{
    DType, Result,
    numpyish::{
        OpContext, buffer,
        layout::{self, LaneFn, LaneFormat},
        parallel::COSTLY,
        raw::{RawArray, View},
        simd::versions,
    },
    rules,
};

/// Number of elements that are converted to keys at a time.
const SOME: usize = 256;

/// The first `k` elements in sorted order along one axis, and their indices. If `largest`, the order is descending. NaN
/// comes last, and equal elements keep their order.
pub fn topk(on: OpContext<'_>, x: View<'_>, k: usize, axis: isize, largest: bool) -> Result<[RawArray; 2]> {
    const OP: &str = "topk";
    let along = rules::chosen(OP, x.shape, k, axis)?;
    let first = if keys::is_wide(x.dtype) { first_by::<u64> } else { first_by::<u32> };
    let indices = first(OP, x, along, k, largest)?;
    let values = indexing::take_along_axis(on, x, indices.view(&indices.strides()), axis)?;
    Ok([values, indices])
}

/// Indices that partition along one axis: no element before index `kth` is larger than the element at that index, and
/// no element after it is smaller.
pub fn argpartition(_: OpContext<'_>, x: View<'_>, kth: isize, axis: isize) -> Result<RawArray> {
    const OP: &str = "argpartition";
    let (axis, place) = rules::partitioned(OP, x.shape, kth, axis)?;
    let around = if keys::is_wide(x.dtype) { around_by::<u64> } else { around_by::<u32> };
    around(OP, x, axis, place)
}

/// Partitions the elements along one axis, as [`argpartition`] does for indices. The order of the elements before index
/// `kth`, and of the elements after it, may differ from the order of [`argpartition`].
pub fn partition(_: OpContext<'_>, x: View<'_>, kth: isize, axis: isize) -> Result<RawArray> {
    const OP: &str = "partition";
    let (axis, place) = rules::partitioned(OP, x.shape, kth, axis)?;
    let parted = if keys::is_wide(x.dtype) { parted_by::<u64> } else { parted_by::<u32> };
    parted(OP, x, axis, place)
}

fn parted_by<K: Sortable>(op: &'static str, x: View<'_>, axis: usize, place: usize) -> Result<RawArray> {
    arranged::<K>(op, x, axis, false, &|keys, _| {
        K::select(keys, place);
        Ok(false)
    })
}

fn around_by<K: Sortable>(op: &'static str, x: View<'_>, axis: usize, place: usize) -> Result<RawArray> {
    let len = x.shape[axis];
    let new = || -> Result<LaneFn<'_>> {
        Ok(Box::new(move |lane, out| {
            // SAFETY: the lane has `len` elements, and `out` has room for `len` indices, which are at least as wide as
            // keys.
            unsafe {
                let keys = out.cast::<K>();
                read_keys(x.dtype, lane, len, false, keys);
                let keys = std::slice::from_raw_parts_mut(keys, len);
                K::select(keys, place);
                let (key, mut counts) = (keys[place], [0; 2]);
                count_others(keys, key, &mut counts);
                let out = std::slice::from_raw_parts_mut(out.cast::<i64>(), len);
                place_indices(x.dtype, lane, key, counts, out);
            }
            Ok(())
        }))
    };
    // SAFETY: the function reads lanes of `len` elements and writes as many indices.
    unsafe { layout::map_lanes(op, x, axis, LaneFormat { dtype: DType::Int64, len }, COSTLY, &new) }
}

/// Writes the indices of a lane's elements to `out` in three groups: elements whose key is smaller than `key`, then
/// elements whose key is equal, then elements whose key is larger. `below` and `above` are the numbers of smaller and
/// of larger keys.
///
/// # Safety
/// `x` must point to as many elements of the dtype as `out` has.
unsafe fn place_indices<K: Key>(dtype: DType, x: *const u8, key: K, [below, above]: [usize; 2], out: &mut [i64]) {
    let loops = K::loops(dtype);
    let (mut low, mut same, mut high) = (0, below, out.len() - above);
    let (mut keys, mut lower, mut higher) = ([K::default(); SOME], [0; SOME], [0; SOME]);
    for first in (0..out.len()).step_by(SOME) {
        let many = SOME.min(out.len() - first);
        // SAFETY: the range is within the elements.
        unsafe { (loops.keys)(x.add(first * dtype.size()), many, keys.as_mut_ptr(), false) };
        let some = keys[..many].iter().zip(first as i64..);
        let (mut lows, mut highs) = (0, 0);
        for (&k, i) in some.clone() {
            // Every index is written, but the next index overwrites it if the count does not advance. So there is no
            // branch to predict.
            lower[lows % SOME] = i;
            lows += usize::from(k < key);
            higher[highs % SOME] = i;
            highs += usize::from(k > key);
        }
        out[low..low + lows].copy_from_slice(&lower[..lows]);
        out[high..high + highs].copy_from_slice(&higher[..highs]);
        (low, high) = (low + lows, high + highs);
        if lows + highs < many {
            for (_, i) in some.filter(|(k, _)| **k == key) {
                out[same] = i;
                same += 1;
            }
        }
    }
}

versions! {
    /// Counts the keys smaller than `key`, and the keys larger than `key`.
    unsafe fn count_others[K: Key][K](keys: &[K], key: K, counts: &mut [usize; 2]) {
        let (mut below, mut above) = (0, 0);
        for &k in keys {
            below += usize::from(k < key);
            above += usize::from(k > key);
        }
        *counts = [below, above];
    }
}

fn first_by<K: Sortable>(op: &'static str, x: View<'_>, axis: usize, k: usize, descending: bool) -> Result<RawArray> {
    let n = x.shape[axis];
    let new = || -> Result<LaneFn<'_>> {
        let (mut chosen, mut spare) = (Chosen::<K>::new(op, k, n)?, Vec::new());
        Ok(Box::new(move |lane, out| {
            // SAFETY: the lane has `n` elements, and `out` has room for `k` indices. Indices are below 2^63, so they
            // have the same bits as `u64` and `i64`.
            let (keys, out) = unsafe {
                (chosen.read(x.dtype, lane, n, descending), std::slice::from_raw_parts_mut(out.cast::<u64>(), k))
            };
            order(op, keys, out, &mut spare)?;
            for place in out {
                *place = chosen.indices[*place as usize];
            }
            Ok(())
        }))
    };
    // SAFETY: the function reads the lanes along the axis and writes `k` indices for each.
    unsafe { layout::map_lanes(op, x, axis, LaneFormat { dtype: DType::Int64, len: k }, COSTLY, &new) }
}

/// Number of keys that are compared with the largest wanted key at a time.
const PART: usize = 32;

versions! {
    /// Tests which parts of a block of keys contain a key smaller than `end`. A part is [`PART`] consecutive keys. Bit
    /// `i` of the result is set if part `i` contains such a key.
    unsafe fn parts_below[K: Key][K](keys: &[K; SOME], end: K) -> u32 {
        let mut parts = 0;
        for (i, part) in keys.as_chunks::<PART>().0.iter().enumerate() {
            let mut below = 0;
            for &key in part {
                below |= u8::from(key < end);
            }
            parts |= u32::from(below) << i;
        }
        parts
    }
}

/// The `count` keys of a lane that come first in sorted order, and the indices of their elements. During the search,
/// other candidates are kept as well, and are dropped when there are many.
struct Chosen<K> {
    count: usize,
    /// Maximum number of keys that are kept after each block of the lane. If there are more, unwanted keys are dropped.
    many: usize,
    /// Number of keys that are kept.
    len: usize,
    /// The kept keys. There is room for `many` keys and [`SOME`] more, or for all keys of the lane if these are fewer.
    /// Each block of the lane adds at most [`SOME`] keys before unwanted keys are dropped.
    keys: Vec<K>,
    indices: Vec<u64>,
    spare: Vec<K>,
}

impl<K: Sortable> Chosen<K> {
    /// Allocates room to choose `count` of `n` keys.
    fn new(op: &'static str, count: usize, n: usize) -> Result<Chosen<K>> {
        let many = count.saturating_add(count.max(2 * PART));
        let room = n.min(many.saturating_add(SOME));
        let (keys, indices) = (buffer::repeated(op, room, K::default())?, buffer::repeated(op, room, 0)?);
        Ok(Chosen { count, many, len: 0, keys, indices, spare: buffer::vec(op, room)? })
    }

    /// Finds the `count` keys of a lane that come first in sorted order, and returns them in the order of their
    /// indices. The lane has `n` elements, at least `count`.
    ///
    /// # Safety
    /// `x` must point to `n` elements of the dtype.
    unsafe fn read(&mut self, dtype: DType, x: *const u8, n: usize, descending: bool) -> &[K] {
        let loops = K::loops(dtype);
        let mut some = [K::default(); SOME];
        // elements with this key or a larger key are no longer wanted
        let mut end = None;
        self.len = 0;
        if self.count == 0 {
            return &[];
        }
        for first in (0..n).step_by(SOME) {
            let many = SOME.min(n - first);
            // SAFETY: the range is within the elements.
            unsafe { (loops.keys)(x.add(first * dtype.size()), many, some.as_mut_ptr(), descending) };
            match end {
                None => {
                    let new = self.len..self.len + many;
                    self.keys[new.clone()].copy_from_slice(&some[..many]);
                    self.indices[new].iter_mut().zip(first as u64..).for_each(|(place, i)| *place = i);
                    self.len += many;
                }
                // SAFETY: the loop has no preconditions.
                Some(end) => self.keep(&some[..many], first, end, unsafe { parts_below(&some, end) }),
            }
            if self.len > self.many {
                end = Some(self.drop_others());
            }
        }
        if self.len > self.count {
            self.drop_others();
        }
        &self.keys[..self.len]
    }

    /// Appends the keys of `some` that are smaller than `end`, and their indices. The first key of `some` has the index
    /// `first`. Bit `i` of `parts` is set if part `i` (of [`PART`] keys) has keys smaller than `end`.
    fn keep(&mut self, some: &[K], first: usize, end: K, mut parts: u32) {
        let (keys, indices, mut len) = (&mut self.keys[..], &mut self.indices[..], self.len);
        while parts != 0 {
            let from = parts.trailing_zeros() as usize * PART;
            parts &= parts - 1;
            let part = &some[from.min(some.len())..some.len().min(from + PART)];
            for (&key, i) in part.iter().zip((first + from) as u64..) {
                // every key is written, but the next key overwrites it if the length does not advance; so there is no
                // branch to predict
                keys[len] = key;
                indices[len] = i;
                len += usize::from(key < end);
            }
        }
        self.len = len;
    }

    /// Keeps only the wanted keys: the `count` keys that come first in sorted order. Returns the largest of them.
    fn drop_others(&mut self) -> K {
        let (keys, last) = (&mut self.keys[..self.len], self.count - 1);
        self.spare.clear();
        self.spare.extend_from_slice(keys);
        K::select(&mut self.spare, last);
        let most = self.spare[last];
        let mut equal = self.count - self.spare[..last].iter().filter(|&&key| key < most).count();
        let mut kept = 0;
        for i in 0..keys.len() {
            let key = keys[i];
            let keep = key < most || (key == most && equal > 0);
            equal -= usize::from(keep && key == most);
            keys[kept] = key;
            self.indices[kept] = self.indices[i];
            kept += usize::from(keep);
        }
        self.len = kept;
        most
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::typed::{argpartition, argsort, partition, topk},
        *,
    };
    use backend_core::numpyish::{NdArray, Numpyish};
    use ndarray::{ArrayD, Axis, IxDyn};

    const B: Numpyish = Numpyish::new();

    fn mixed(shape: &[usize], distinct: u64) -> NdArray<f64> {
        let n: usize = shape.iter().product();
        let value = |i: u64| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) % distinct;
        let values = (0..n as u64).map(|i| if i % 97 == 5 { f64::NAN } else { value(i) as f64 - 20.0 }).collect();
        ArrayD::from_shape_vec(IxDyn(shape), values).unwrap().into_shared()
    }

    #[test]
    fn the_first_are_those_of_the_sorted_order() {
        for (shape, k) in
            [(&[3, 40][..], 7), (&[6000], 3), (&[6000], 6000), (&[6000], 2100), (&[2, 5000], 1), (&[5], 0)]
        {
            for distinct in [5, 100_000] {
                let x = mixed(shape, distinct);
                for largest in [false, true] {
                    let (values, indices) = topk(&B, &x, k, -1, largest).unwrap();
                    let order = argsort(&B, &x, -1, largest).unwrap();
                    let axis = Axis(shape.len() - 1);
                    let expected = order.slice_axis(axis, (0..k as isize).into()).to_owned();
                    assert_eq!(indices, expected, "{shape:?} {k} {distinct} {largest}");
                    let taken = indexing::typed::take_along_axis(&B, &x, &indices, -1).unwrap();
                    assert_eq!(format!("{values}"), format!("{taken}"));
                }
            }
        }
    }

    #[test]
    fn the_one_in_its_place_is_between_the_others() {
        for (n, distinct) in [(1, 3), (50, 4), (5000, 30), (5000, 1_000_000)] {
            let x = mixed(&[n], distinct);
            let order = argsort(&B, &x, 0, false).unwrap();
            for kth in [0, n / 3, n - 1] {
                let places = argpartition(&B, &x, kth as isize, 0).unwrap();
                let rank = |i: i64| order.iter().position(|&o| o == i).unwrap();
                let mut seen: Vec<usize> = places.iter().map(|&i| rank(i)).collect();
                assert_eq!(seen[kth], kth);
                assert!(seen[..kth].iter().all(|&rank| rank < kth));
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..n));
                let values = partition(&B, &x, kth as isize, 0).unwrap();
                let key = |v: &f64| u64::of(*v, false);
                let keys: Vec<u64> = values.iter().map(key).collect();
                assert_eq!(keys[kth], key(&x[order[kth] as usize]));
                assert!(keys[..kth].iter().all(|&k| k <= keys[kth]) && keys[kth..].iter().all(|&k| k >= keys[kth]));
                let (mut keys, mut all) = (keys, x.iter().map(key).collect::<Vec<_>>());
                keys.sort_unstable();
                all.sort_unstable();
                assert_eq!(keys, all);
            }
        }
    }

    #[test]
    fn zeros_keep_their_signs() {
        let x = ndarray::arr1(&[0.0, 3.0, -0.0, -1.0, -0.0, f64::NAN, 0.0]).into_dyn().into_shared();
        let parted = partition(&B, &x, 1, 0).unwrap();
        let mut zeros: Vec<bool> = parted.iter().filter(|v| **v == 0.0).map(|v| v.is_sign_negative()).collect();
        assert_eq!(zeros.len(), 4);
        zeros.sort_unstable();
        assert_eq!(zeros, [false, false, true, true]);
        assert_eq!(parted[0], -1.0);
        assert_eq!(parted[1], 0.0);
    }
}
