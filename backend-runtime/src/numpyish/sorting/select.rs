//! The first elements of a lane in order, and elements on both sides of one, without sorting the lane.

use super::{
    NdArray, Numpyish,
    keys::{self, Index, Indexed, Key},
};
use crate::{
    DType, Ordered, Result,
    numpyish::{
        buffer, indexing,
        layout::{self, LaneFn, Lanes},
        parallel::COSTLY,
        raw::{RawArray, View, view},
        typed::typed,
    },
    rules,
};

/// Elements whose keys are made at once.
const SOME: usize = 256;

/// The first `k` elements along one axis in descending or ascending order, NaN last, and their indices; equal elements in their order.
pub fn topk<T: Ordered>(
    b: &Numpyish,
    x: &NdArray<T>,
    k: usize,
    axis: isize,
    largest: bool,
) -> Result<(NdArray<T>, NdArray<i64>)> {
    const OP: &str = "topk";
    let along = rules::chosen(OP, x.shape(), k, axis)?;
    let indices: NdArray<i64> = typed(chosen(OP, view(x), along, What::First(k), largest))?;
    let values = indexing::take_along_axis(b, x, &indices, axis).map_err(|why| why.within(OP))?;
    Ok((values, indices))
}

/// Indices of an order in which no element before place `kth` along one axis is larger than the one there, and none behind smaller.
pub fn argpartition<T: Ordered>(_: &Numpyish, x: &NdArray<T>, kth: isize, axis: isize) -> Result<NdArray<i64>> {
    const OP: &str = "argpartition";
    let (axis, place) = rules::partitioned(OP, x.shape(), kth, axis)?;
    typed(chosen(OP, view(x), axis, What::Around(place), false))
}

/// The elements in such an order.
pub fn partition<T: Ordered>(b: &Numpyish, x: &NdArray<T>, kth: isize, axis: isize) -> Result<NdArray<T>> {
    const OP: &str = "partition";
    let (along, place) = rules::partitioned(OP, x.shape(), kth, axis)?;
    let order: NdArray<i64> = typed(chosen(OP, view(x), along, What::Around(place), false))?;
    indexing::take_along_axis(b, x, &order, axis).map_err(|why| why.within(OP))
}

/// What is wanted of a lane.
#[derive(Clone, Copy)]
enum What {
    /// So many elements, the first in order.
    First(usize),
    /// All, with the one in its place that is there in order.
    Around(usize),
}

fn chosen(op: &'static str, x: View<'_>, axis: usize, what: What, descending: bool) -> Result<RawArray> {
    if keys::is_wide(x.dtype) {
        chosen_by::<u64, u64>(op, x, axis, what, descending)
    } else if u32::try_from(x.shape[axis]).is_ok() {
        chosen_by::<u32, u32>(op, x, axis, what, descending)
    } else {
        chosen_by::<u32, u64>(op, x, axis, what, descending)
    }
}

fn chosen_by<K: Key, I: Index>(
    op: &'static str,
    x: View<'_>,
    axis: usize,
    what: What,
    descending: bool,
) -> Result<RawArray> {
    let len = match what {
        What::First(k) => k,
        What::Around(_) => x.shape[axis],
    };
    let n = x.shape[axis];
    // room for the first ones and for as many others, of which they are chosen now and then
    let room = match what {
        What::First(k) => n.min(k.saturating_add(k.max(4 * SOME))),
        What::Around(_) => n,
    };
    let new = || -> Result<LaneFn<'_>> {
        let mut records = buffer::vec::<Indexed<K, I>>(op, room)?;
        Ok(Box::new(move |lane, out| {
            // SAFETY: a lane of `n` elements.
            unsafe { candidates(x.dtype, lane, n, descending, room, what, &mut records) };
            match what {
                What::First(k) => {
                    if k < records.len() {
                        records.select_nth_unstable(k);
                        records.truncate(k);
                    }
                    records.sort_unstable();
                }
                What::Around(place) => {
                    records.select_nth_unstable(place);
                }
            }
            for (i, record) in records.iter().enumerate() {
                // SAFETY: room for `len` indices, of which there are as many.
                unsafe { *out.cast::<i64>().add(i) = record.index() as i64 };
            }
            Ok(())
        }))
    };
    // SAFETY: the function reads lanes of elements along the axis and writes `len` indices.
    unsafe { layout::map_lanes(op, x, axis, Lanes { dtype: DType::Int64, len }, COSTLY, &new) }
}

/// Records of a lane's elements, at most `room` of them, among which are those that are wanted.
///
/// # Safety
/// `x` points to `n` elements of the dtype.
unsafe fn candidates<K: Key, I: Index>(
    dtype: DType,
    x: *const u8,
    n: usize,
    descending: bool,
    room: usize,
    what: What,
    records: &mut Vec<Indexed<K, I>>,
) {
    let loops = K::loops(dtype);
    let mut keys = [K::default(); SOME];
    // no element with a larger key is one of the first
    let mut most = None;
    records.clear();
    for first in (0..n).step_by(SOME) {
        let many = SOME.min(n - first);
        // SAFETY: a part of the elements.
        unsafe { (loops.keys)(x.add(first * dtype.size()), many, keys.as_mut_ptr(), descending) };
        let part = keys[..many].iter().zip(first..);
        let What::First(k) = what else {
            records.extend(part.map(|(&key, i)| Indexed::new(key, i)));
            continue;
        };
        if k == 0 {
            return;
        }
        if records.len() + many > room {
            // what is left is fewer than `room` by a part, unless nothing is left to come
            records.select_nth_unstable(k - 1);
            records.truncate(k);
            most = Some(records[k - 1].key);
        }
        match most {
            None => records.extend(part.map(|(&key, i)| Indexed::new(key, i))),
            // an equal key comes later, and is none of the first
            Some(most) => records.extend(part.filter(|(key, _)| **key < most).map(|(&key, i)| Indexed::new(key, i))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numpyish::sorting::argsort;
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
                    let taken = indexing::take_along_axis(&B, &x, &indices, -1).unwrap();
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
                let taken = indexing::take_along_axis(&B, &x, &places, 0).unwrap();
                assert_eq!(format!("{values}"), format!("{taken}"));
            }
        }
    }
}
