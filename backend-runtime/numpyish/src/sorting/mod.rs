//! Sorting, searching and set operations. Each element is converted to an integer, its key. The keys have the same
//! order as the elements. A lane is a 1-D slice along the sorted axis.

mod keys;
mod members;
mod merge;
mod network;
mod order;
#[cfg(target_arch = "x86_64")]
mod registers;
mod search;
mod select;
mod serial;
mod unique;
#[cfg(target_arch = "x86_64")]
mod vectors;
mod zeros;

pub use members::is_in;
pub use select::{argpartition, partition, topk};
pub use unique::{unique_all, unique_counts, unique_inverse, unique_values};

use super::{
    OpContext,
    buffer::{self, Buffer},
    copy, indexing,
    layout::{self, LaneFn, LaneFormat},
    parallel::{self, CHEAP, COSTLY},
    raw::{RawArray, View},
};
use backend_core::{DType, Result, Side, rules};
use keys::Key;
use order::order;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub(super) use serial::Sortable;

/// Sorts along one axis. Equal elements keep their order, and NaN comes last.
pub fn sort(_: OpContext<'_>, x: View<'_>, axis: isize, descending: bool) -> Result<RawArray> {
    if keys::is_wide(x.dtype) { sorted_by::<u64>(x, axis, descending) } else { sorted_by::<u32>(x, axis, descending) }
}

/// Returns the indices that sort `x` along one axis. Equal elements keep their order, and NaN comes last.
pub fn argsort(_: OpContext<'_>, x: View<'_>, axis: isize, descending: bool) -> Result<RawArray> {
    sorting_indices(x, axis, descending)
}

/// Indices at which the elements of `x2` can be inserted into the sorted 1-D array `x1` so that `x1` stays sorted. NaN
/// comes last.
pub fn searchsorted(
    on: OpContext<'_>,
    x1: View<'_>,
    x2: View<'_>,
    side: Side,
    sorter: Option<View<'_>>,
) -> Result<RawArray> {
    let op = "searchsorted";
    let Some(sorter) = sorter else { return searched(x1, x2, side) };
    rules::sorter(op, x1.shape, sorter.shape)?;
    let ordered = indexing::take(on, x1, sorter, Some(0))?;
    searched(ordered.view(&ordered.strides()), x2, side)
}

/// Like [`argsort`], without the context of a call.
pub(super) fn sorting_indices(x: View<'_>, axis: isize, descending: bool) -> Result<RawArray> {
    if keys::is_wide(x.dtype) { order_by::<u64>(x, axis, descending) } else { order_by::<u32>(x, axis, descending) }
}

fn searched(x1: View<'_>, x2: View<'_>, side: Side) -> Result<RawArray> {
    if keys::is_wide(x1.dtype) { searched_by::<u64>(x1, x2, side) } else { searched_by::<u32>(x1, x2, side) }
}

fn sorted_by<K: Sortable>(x: View<'_>, axis: isize, descending: bool) -> Result<RawArray> {
    let op = "sort";
    let axis = rules::axis(op, axis, x.shape.len())?;
    let len = x.shape[axis];
    let lanes = x.len().checked_div(len).unwrap_or(0);
    if len <= network::LONGEST && lanes >= network::WORTH && axis + 1 == x.shape.len() {
        return network::sorted::<K>(op, x, descending);
    }
    arranged::<K>(op, x, axis, descending, &|keys, spare| merge::sort(op, keys, spare, 0))
}

/// A function that reorders keys. The second argument is scratch memory. Returns `true` if the result is in the scratch
/// memory.
type Arrange<'f, K> = dyn Fn(&mut [K], &mut Vec<K>) -> Result<bool> + Sync + 'f;

/// Reorders the elements of each lane (1-D slice along `axis`) in the same way as `arrange` reorders the keys of the
/// lane. 0.0 and -0.0 have equal keys, and keep their order.
fn arranged<K: Key>(
    op: &'static str,
    x: View<'_>,
    axis: usize,
    descending: bool,
    arrange: &Arrange<'_, K>,
) -> Result<RawArray> {
    let len = x.shape[axis];
    // if a key has the size of an element of the result, the keys are stored in the memory of the result
    let apart = size_of::<K>() != x.dtype.size();
    let new = || -> Result<LaneFn<'_>> {
        let (mut keys, mut spare) = (buffer::vec::<K>(op, if apart { len } else { 0 })?, Vec::new());
        Ok(Box::new(move |lane, out| {
            let place = if apart { keys.as_mut_ptr() } else { out.cast::<K>() };
            // SAFETY: both lanes have `len` elements, and `place` has room for as many keys.
            unsafe {
                let negative_zero = read_keys(x.dtype, lane, len, descending, place);
                let moved = arrange(std::slice::from_raw_parts_mut(place, len), &mut spare)?;
                write_elements(x.dtype, if moved { spare.as_ptr() } else { place }, len, descending, out);
                if negative_zero {
                    zeros::restore(x.dtype, lane, len, out);
                }
            }
            Ok(())
        }))
    };
    // SAFETY: the function reads and writes lanes of `len` elements.
    unsafe { layout::map_lanes(op, x, axis, LaneFormat { dtype: x.dtype, len }, COSTLY, &new) }
}

/// Converts `n` elements to keys, writes the keys to `keys`, and returns whether one of the elements is -0.0.
///
/// # Safety
/// `x` must point to `n` elements of the dtype, and `keys` must have room for `n` keys.
unsafe fn read_keys<K: Key>(dtype: DType, x: *const u8, n: usize, descending: bool, keys: *mut K) -> bool {
    let (loops, ends) = (K::loops(dtype), copy::Ends { from: x, to: keys.cast::<u8>() });
    let negative_zero = AtomicBool::new(false);
    parallel::parallel(n, CHEAP, |range| {
        let ends = &ends;
        // SAFETY: the range is within the elements, and within the room for their keys.
        let found = unsafe {
            let from = ends.from.add(range.start * dtype.size());
            (loops.keys)(from, range.len(), ends.to.cast::<K>().add(range.start), descending)
        };
        negative_zero.fetch_or(found, Relaxed);
    });
    negative_zero.into_inner()
}

/// Replaces the contents of a vector with the keys of `n` elements. The capacity of the vector must be at least `n`.
///
/// # Safety
/// `x` must point to `n` elements of the dtype.
unsafe fn replace_keys<K: Key>(dtype: DType, x: *const u8, n: usize, descending: bool, keys: &mut Vec<K>) {
    assert!(n <= keys.capacity(), "there is room for the keys");
    // SAFETY: the caller guarantees the elements, and every key is written.
    unsafe {
        read_keys(dtype, x, n, descending, keys.as_mut_ptr());
        keys.set_len(n);
    }
}

/// Converts `n` keys back to elements, and writes the elements to `to`, which may be the same memory as `keys`.
///
/// # Safety
/// There must be `n` keys, and `to` must have room for `n` elements of the dtype.
unsafe fn write_elements<K: Key>(dtype: DType, keys: *const K, n: usize, descending: bool, to: *mut u8) {
    let (loops, ends) = (K::loops(dtype), copy::Ends { from: keys.cast::<u8>(), to });
    parallel::parallel(n, CHEAP, |range| {
        let ends = &ends;
        // SAFETY: the range is within the keys, and within the room for their elements.
        unsafe {
            let to = ends.to.add(range.start * dtype.size());
            (loops.elements)(ends.from.cast::<K>().add(range.start), range.len(), to, descending);
        }
    });
}

fn order_by<K: Key>(x: View<'_>, axis: isize, descending: bool) -> Result<RawArray> {
    let op = "argsort";
    let (axis, shape, _) = rules::scan(op, x.shape, axis, false, size_of::<i64>())?;
    let x = View { shape: &shape, strides: if x.shape.is_empty() { &[1] } else { x.strides }, ..x };
    let len = shape[axis];
    let new = || -> Result<LaneFn<'_>> {
        let (mut keys, mut spare) = (buffer::vec::<K>(op, len)?, Vec::new());
        Ok(Box::new(move |lane, out| {
            // SAFETY: the lane has `len` elements, and `out` has room for `len` indices. Indices are below 2^63, so
            // they have the same bits as `u64` and `i64`.
            unsafe {
                replace_keys(x.dtype, lane, len, descending, &mut keys);
                order(op, &keys, std::slice::from_raw_parts_mut(out.cast::<u64>(), len), &mut spare)
            }
        }))
    };
    // SAFETY: the function reads lanes of `len` elements and writes as many indices.
    unsafe { layout::map_lanes(op, x, axis, LaneFormat { dtype: DType::Int64, len }, COSTLY, &new) }
}

fn searched_by<K: Key>(x1: View<'_>, x2: View<'_>, side: Side) -> Result<RawArray> {
    let op = "searchsorted";
    rules::sorted(op, x1.shape)?;
    let (sorted, values) = (copy::pack(op, x1)?, copy::pack(op, x2)?);
    let out = Buffer::new(op, rules::count(op, x2.shape, size_of::<i64>())?, DType::Int64)?;
    let (n, left) = (x1.len(), side == Side::Left);
    // a binary search compares few of the sorted elements. If there are few searches, only the elements that are
    // compared are converted to keys
    if n / 32 >= out.len() {
        // SAFETY: the packed copies have the elements and the values, and the result has room for one index per value.
        unsafe {
            let places = std::slice::from_raw_parts_mut(out.start().cast::<i64>(), out.len());
            search::few_places::<K>(x1.dtype, sorted.start(), n, values.start(), left, places);
            return RawArray::new(op, x2.shape.to_vec(), out);
        }
    }
    // SAFETY: the packed copy has the sorted elements.
    let sorted = unsafe { all_keys::<K>(op, x1.dtype, sorted.start(), n)? };
    let ends = copy::Ends { from: values.start(), to: out.start() };
    parallel::parallel(out.len(), COSTLY, |range| {
        let ends = &ends;
        // SAFETY: tasks read disjoint ranges of the values, and write disjoint ranges of the result.
        unsafe {
            let to = ends.to.cast::<i64>().add(range.start);
            let places = std::slice::from_raw_parts_mut(to, range.len());
            let values = ends.from.add(range.start * x2.dtype.size());
            search::places(x2.dtype, &sorted, values, left, places);
        }
    });
    // SAFETY: every index has been written.
    unsafe { RawArray::new(op, x2.shape.to_vec(), out) }
}

/// Converts `n` elements to keys.
///
/// # Safety
/// `x` must point to `n` elements of the dtype.
unsafe fn all_keys<K: Key>(op: &'static str, dtype: DType, x: *const u8, n: usize) -> Result<Vec<K>> {
    let mut keys = buffer::vec::<K>(op, n)?;
    // SAFETY: the caller guarantees `n` elements.
    unsafe { replace_keys(dtype, x, n, false, &mut keys) };
    Ok(keys)
}

/// The ops over arrays with a static dtype, for tests.
#[cfg(any(test, feature = "testing"))]
#[allow(missing_docs)] // each function is the op of its name
pub mod typed {
    use crate::sorting;
    use backend_core::{
        Element, Ordered, Result, Side,
        numpyish::{
            NdArray, Numpyish, OpContext, Operand,
            raw::{view, view_operand},
            typed::{Typed, typed},
        },
    };

    backend_core::typed_ops! { sorting:
        sort<T: Ordered>(x; axis: isize, descending: bool) -> T;
        argsort<T: Ordered>(x; axis: isize, descending: bool) -> i64;
        partition<T: Ordered>(x; kth: isize, axis: isize) -> T;
        argpartition<T: Ordered>(x; kth: isize, axis: isize) -> i64;
        unique_values<T: Element>(x;) -> T;
    }

    pub fn searchsorted<T: Ordered>(
        b: &Numpyish,
        x1: &NdArray<T>,
        x2: Operand<'_, T>,
        side: Side,
        sorter: Option<&NdArray<i64>>,
    ) -> Result<NdArray<i64>> {
        let on = OpContext::new(b, "searchsorted", T::DTYPE);
        typed(sorting::searchsorted(on, view(x1), view_operand(&x2), side, sorter.map(view)))
    }

    pub fn topk<T: Ordered>(
        b: &Numpyish,
        x: &NdArray<T>,
        k: usize,
        axis: isize,
        largest: bool,
    ) -> Result<(NdArray<T>, NdArray<i64>)> {
        let [values, indices] = sorting::topk(OpContext::new(b, "topk", T::DTYPE), view(x), k, axis, largest)?;
        Ok((T::numpyish_typed(values), i64::numpyish_typed(indices)))
    }

    pub fn unique_counts<T: Element>(b: &Numpyish, x: &NdArray<T>) -> Result<(NdArray<T>, NdArray<i64>)> {
        let [values, counts] = sorting::unique_counts(OpContext::new(b, "unique_counts", T::DTYPE), view(x))?;
        Ok((T::numpyish_typed(values), i64::numpyish_typed(counts)))
    }

    pub fn unique_inverse<T: Element>(b: &Numpyish, x: &NdArray<T>) -> Result<(NdArray<T>, NdArray<i64>)> {
        let [values, inverse] = sorting::unique_inverse(OpContext::new(b, "unique_inverse", T::DTYPE), view(x))?;
        Ok((T::numpyish_typed(values), i64::numpyish_typed(inverse)))
    }

    /// The result of [`unique_all`].
    type All<T> = (NdArray<T>, NdArray<i64>, NdArray<i64>, NdArray<i64>);

    pub fn unique_all<T: Element>(b: &Numpyish, x: &NdArray<T>) -> Result<All<T>> {
        let [values, indices @ ..] = sorting::unique_all(OpContext::new(b, "unique_all", T::DTYPE), view(x))?;
        let [firsts, inverse, counts] = indices.map(i64::numpyish_typed);
        Ok((T::numpyish_typed(values), firsts, inverse, counts))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        typed::{argsort, searchsorted, sort},
        *,
    };
    use backend_core::{
        Element, Error, Ordered, bf16, f16,
        numpyish::{
            NdArray, Numpyish, Operand,
            testing::{counting, layouts},
        },
    };
    use ndarray::{ArrayD, Axis, IxDyn, arr1};

    const B: Numpyish = Numpyish::new();

    fn mixed<T: Element>(shape: &[usize]) -> ArrayD<T> {
        counting::<i64>(shape).mapv(|i| T::from_i64(i.wrapping_mul(2_654_435_761) % 1009 - 500))
    }

    /// Compares values and indices with the standard library's stable sort.
    fn check<T: Ordered>(shape: &[usize]) {
        let x = mixed::<T>(shape);
        let all = if x.len() > 10_000 { vec![x.clone().into_shared()] } else { layouts(&x) };
        for a in all {
            for (axis, &len) in shape.iter().enumerate() {
                for descending in [false, true] {
                    let sorted = sort(&B, &a, axis as isize, descending).unwrap();
                    let order = argsort(&B, &a, axis as isize, descending).unwrap();
                    let lanes = x.lanes(Axis(axis)).into_iter();
                    for ((lane, sorted), order) in lanes.zip(sorted.lanes(Axis(axis))).zip(order.lanes(Axis(axis))) {
                        let mut expected: Vec<usize> = (0..len).collect();
                        expected.sort_by(|&i, &j| {
                            let order = lane[i].partial_cmp(&lane[j]).unwrap();
                            if descending { order.reverse() } else { order }
                        });
                        assert!(order.iter().zip(&expected).all(|(&o, &e)| o == e as i64), "{shape:?} {axis}");
                        assert!(sorted.iter().zip(&expected).all(|(&s, &e)| s == lane[e]), "{shape:?} {axis}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_dtype() {
        check::<bool>(&[3, 40]);
        check::<i8>(&[5, 40]);
        check::<u8>(&[600]);
        check::<i16>(&[5, 600]);
        check::<u16>(&[600, 2]);
        check::<i32>(&[5, 40]);
        check::<u32>(&[2, 3, 40]);
        check::<i64>(&[5, 600]);
        check::<u64>(&[5, 40]);
        check::<f16>(&[5, 40]);
        check::<bf16>(&[600, 2]);
        check::<f32>(&[3, 7, 5]);
        check::<f64>(&[1200, 3]);
        check::<f64>(&[40_000]);
        check::<i64>(&[70_000]);
        check::<i32>(&[5, 1, 0]);
    }

    fn bits(x: &NdArray<f64>) -> Vec<String> {
        x.iter().map(|v| format!("{v:?}")).collect()
    }

    #[test]
    fn nan_last_and_zeros_in_their_order() {
        let x = arr1(&[0.0, f64::NAN, -0.0, f64::NEG_INFINITY, 1.0, -0.0, 0.0, f64::INFINITY]).into_dyn().into_shared();
        let up = sort(&B, &x, 0, false).unwrap();
        assert_eq!(bits(&up), ["-inf", "0.0", "-0.0", "-0.0", "0.0", "1.0", "inf", "NaN"]);
        let down = sort(&B, &x, 0, true).unwrap();
        assert_eq!(bits(&down), ["inf", "1.0", "0.0", "-0.0", "-0.0", "0.0", "-inf", "NaN"]);
        assert_eq!(argsort(&B, &x, -1, false).unwrap().as_slice().unwrap(), [3, 0, 2, 5, 6, 4, 7, 1]);
        assert_eq!(argsort(&B, &x, -1, true).unwrap().as_slice().unwrap(), [7, 4, 0, 2, 5, 6, 3, 1]);
    }

    #[test]
    fn searching() {
        let sorted = arr1(&[-1.0_f32, 0.0, 0.0, 2.0, f32::NAN, f32::NAN]).into_dyn().into_shared();
        let x = ArrayD::from_shape_vec(IxDyn(&[2, 3]), vec![-0.0, f32::NAN, 3.0, -5.0, 2.0, f32::INFINITY]).unwrap();
        for a in layouts(&x) {
            let left = searchsorted(&B, &sorted, Operand::array(&a), Side::Left, None).unwrap();
            assert_eq!(left.iter().copied().collect::<Vec<_>>(), [1, 4, 4, 0, 3, 4]);
            let right = searchsorted(&B, &sorted, Operand::array(&a), Side::Right, None).unwrap();
            assert_eq!(right.iter().copied().collect::<Vec<_>>(), [3, 6, 4, 0, 4, 4]);
        }
        let none = ArrayD::<f32>::zeros(IxDyn(&[0])).into_shared();
        assert_eq!(
            searchsorted(&B, &none, Operand::array(&x.clone().into_shared()), Side::Right, None).unwrap(),
            ArrayD::zeros(IxDyn(&[2, 3]))
        );
        assert_eq!(searchsorted(&B, &sorted, Operand::array(&none), Side::Right, None).unwrap().shape(), [0]);
        let shared = x.into_shared();
        assert!(matches!(
            searchsorted(&B, &shared, Operand::array(&none), Side::Left, None),
            Err(Error::Shape { op: "searchsorted", .. })
        ));
        let reversed = arr1(&[2, 1, 0]).into_dyn().into_shared();
        let mut ascending = reversed.clone();
        ascending.invert_axis(Axis(0));
        assert_eq!(
            searchsorted(&B, &ascending, Operand::array(&reversed), Side::Left, None).unwrap().as_slice().unwrap(),
            [2, 1, 0]
        );
    }

    #[test]
    fn wrong_axes() {
        let scalar = ArrayD::<f64>::zeros(IxDyn(&[])).into_shared();
        assert!(matches!(sort(&B, &scalar, -1, false), Err(Error::Axis { op: "sort", .. })));
        assert_eq!(argsort(&B, &scalar, 0, false).unwrap(), ArrayD::zeros(IxDyn(&[1])));
        assert!(matches!(argsort(&B, &scalar, 1, false), Err(Error::Axis { op: "argsort", .. })));
    }
}
