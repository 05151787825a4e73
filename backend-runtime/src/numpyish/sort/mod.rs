//! Sorting, searching and sets, by keys that are integers.

mod keys;
mod unique;

pub use unique::{unique_all, unique_counts, unique_inverse, unique_values};

use super::{
    NdArray, Numpyish,
    buffer::{self, COSTLY},
    copy, layout,
};
use crate::{Element, Error, Kind, Ordered, Result, Side, shape};
use keys::{Index, Indexed, Key};

/// Sorted along one axis: equal elements in their order, NaN last.
pub fn sort<T: Ordered>(_: &Numpyish, x: &NdArray<T>, axis: isize, descending: bool) -> Result<NdArray<T>> {
    if keys::is_wide::<T>() { sort_by::<T, u64>(x, axis, descending) } else { sort_by::<T, u32>(x, axis, descending) }
}

/// Indices that sort along one axis: equal elements in their order, NaN last.
pub fn argsort<T: Ordered>(_: &Numpyish, x: &NdArray<T>, axis: isize, descending: bool) -> Result<NdArray<i64>> {
    if keys::is_wide::<T>() {
        argsort_by::<T, u64, u64>(x, axis, descending)
    } else if x.shape().iter().all(|&d| u32::try_from(d).is_ok()) {
        argsort_by::<T, u32, u32>(x, axis, descending)
    } else {
        argsort_by::<T, u32, u64>(x, axis, descending)
    }
}

/// Where to insert elements into the sorted 1-D `x1` so that it stays sorted; NaN comes last.
pub fn searchsorted<T: Ordered>(_: &Numpyish, x1: &NdArray<T>, x2: &NdArray<T>, side: Side) -> Result<NdArray<i64>> {
    if keys::is_wide::<T>() { search::<T, u64>(x1, x2, side) } else { search::<T, u32>(x1, x2, side) }
}

fn sort_by<T: Ordered, K: Key>(x: &NdArray<T>, axis: isize, descending: bool) -> Result<NdArray<T>> {
    let op = "sort";
    let axis = shape::axis(op, axis, x.ndim())?;
    let len = x.shape()[axis];
    let state = || Ok((Vec::<K>::new(), Vec::new()));
    layout::map_lanes(op, x, axis, len, COSTLY, state, |(keys, spare), lane, out: &mut [T]| {
        reserve(op, keys, len)?;
        keys.extend(lane.iter().map(|&v| K::of(v, descending)));
        keys::sort(op, keys, spare)?;
        out.iter_mut().zip(&*keys).for_each(|(o, key)| *o = key.element(descending));
        restore_zeros(lane, out, |v| K::of(v, descending));
        Ok(())
    })
}

/// Zeros of a sorted lane get their signs back, in the order they had: keys do not tell them apart.
fn restore_zeros<T: Ordered, K: Key>(lane: &[T], sorted: &mut [T], key: impl Fn(T) -> K) {
    if T::DTYPE.kind() != Kind::Real || !lane.iter().any(|&v| is_negative_zero(v)) {
        return;
    }
    let zero = key(T::default());
    let first = sorted.partition_point(|&v| key(v) < zero);
    let zeros = lane.iter().filter(|&&v| v == T::default());
    sorted[first..].iter_mut().zip(zeros).for_each(|(s, &z)| *s = z);
}

fn is_negative_zero<T: Element>(x: T) -> bool {
    x.cast::<f64>().to_bits() == (-0.0_f64).to_bits()
}

fn argsort_by<T: Ordered, K: Key, I: Index>(x: &NdArray<T>, axis: isize, descending: bool) -> Result<NdArray<i64>> {
    let op = "argsort";
    let axis = shape::axis(op, axis, x.ndim())?;
    let len = x.shape()[axis];
    let state = || Ok((Vec::<Indexed<K, I>>::new(), Vec::new()));
    layout::map_lanes(op, x, axis, len, COSTLY, state, |(records, spare), lane, out: &mut [i64]| {
        reserve(op, records, len)?;
        records.extend(lane.iter().enumerate().map(|(i, &v)| Indexed::new(K::of(v, descending), i)));
        keys::sort(op, records, spare)?;
        out.iter_mut().zip(&*records).for_each(|(o, r)| *o = r.index() as i64);
        Ok(())
    })
}

/// Empties a vector and makes room for `n` elements.
fn reserve<R>(op: &'static str, v: &mut Vec<R>, n: usize) -> Result<()> {
    v.clear();
    if v.capacity() < n {
        *v = buffer::vec(op, n)?;
    }
    Ok(())
}

fn search<T: Ordered, K: Key>(x1: &NdArray<T>, x2: &NdArray<T>, side: Side) -> Result<NdArray<i64>> {
    let op = "searchsorted";
    if x1.ndim() != 1 {
        return Err(Error::shape(op, x1.shape(), "is not 1-D"));
    }
    let sorted = copy::packed(op, x1)?;
    let values = copy::packed(op, x2)?;
    let mut out = buffer::zeroed(op, shape::count(op, x2.shape(), size_of::<i64>())?)?;
    buffer::chunks(&mut out, 1, COSTLY, |start, part| {
        for (place, &value) in part.iter_mut().zip(&values[start..]) {
            let key = K::of(value, false);
            let before = |&v: &T| match side {
                Side::Left => K::of(v, false) < key,
                Side::Right => K::of(v, false) <= key,
            };
            *place = sorted.partition_point(before) as i64;
        }
    });
    buffer::array(op, x2.shape(), out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bf16, f16,
        numpyish::layout::tests::{counting, layouts},
    };
    use ndarray::{ArrayD, Axis, IxDyn, arr1};

    const B: Numpyish = Numpyish::new();

    fn mixed<T: Element>(shape: &[usize]) -> ArrayD<T> {
        counting::<i64>(shape).mapv(|i| T::from_i64(i.wrapping_mul(2_654_435_761) % 1009 - 500))
    }

    /// Values and indices, compared with the standard library's stable sort.
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
            let left = searchsorted(&B, &sorted, &a, Side::Left).unwrap();
            assert_eq!(left.iter().copied().collect::<Vec<_>>(), [1, 4, 4, 0, 3, 4]);
            let right = searchsorted(&B, &sorted, &a, Side::Right).unwrap();
            assert_eq!(right.iter().copied().collect::<Vec<_>>(), [3, 6, 4, 0, 4, 4]);
        }
        let none = ArrayD::<f32>::zeros(IxDyn(&[0])).into_shared();
        assert_eq!(
            searchsorted(&B, &none, &x.clone().into_shared(), Side::Right).unwrap(),
            ArrayD::zeros(IxDyn(&[2, 3]))
        );
        assert_eq!(searchsorted(&B, &sorted, &none, Side::Right).unwrap().shape(), [0]);
        let shared = x.into_shared();
        assert!(matches!(searchsorted(&B, &shared, &none, Side::Left), Err(Error::Shape { op: "searchsorted", .. })));
        let reversed = arr1(&[2, 1, 0]).into_dyn().into_shared();
        let mut ascending = reversed.clone();
        ascending.invert_axis(Axis(0));
        assert_eq!(searchsorted(&B, &ascending, &reversed, Side::Left).unwrap().as_slice().unwrap(), [2, 1, 0]);
    }

    #[test]
    fn wrong_axes() {
        let scalar = ArrayD::<f64>::zeros(IxDyn(&[])).into_shared();
        assert!(matches!(sort(&B, &scalar, -1, false), Err(Error::Axis { op: "sort", .. })));
        assert!(matches!(argsort(&B, &scalar, 0, false), Err(Error::Axis { op: "argsort", .. })));
    }
}
