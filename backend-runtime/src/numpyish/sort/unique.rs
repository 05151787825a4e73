//! Distinct elements.

use super::{
    super::{NdArray, Numpyish, buffer},
    is_negative_zero,
    keys::{self, Index, Indexed, Key, Record},
};
use crate::{Element, Kind, Ordered, Result};

/// The distinct elements, sorted; every NaN is one of its own.
pub fn unique_values<T: Ordered>(_: &Numpyish, x: &NdArray<T>) -> Result<NdArray<T>> {
    let op = "unique_values";
    if keys::is_wide::<T>() { counted::<T, u64>(op, x) } else { counted::<T, u32>(op, x) }.map(|(values, _)| values)
}

/// The distinct elements, and how often each is there.
pub fn unique_counts<T: Ordered>(_: &Numpyish, x: &NdArray<T>) -> Result<(NdArray<T>, NdArray<i64>)> {
    let op = "unique_counts";
    if keys::is_wide::<T>() { counted::<T, u64>(op, x) } else { counted::<T, u32>(op, x) }
}

/// The distinct elements, and for every element the index of its value.
pub fn unique_inverse<T: Ordered>(_: &Numpyish, x: &NdArray<T>) -> Result<(NdArray<T>, NdArray<i64>)> {
    located("unique_inverse", x).map(|(values, _, inverse, _)| (values, inverse))
}

/// What [`unique_all`] gives.
type All<T> = (NdArray<T>, NdArray<i64>, NdArray<i64>, NdArray<i64>);

/// The distinct elements, the first index of each, for every element the index of its value, and the counts.
pub fn unique_all<T: Ordered>(_: &Numpyish, x: &NdArray<T>) -> Result<All<T>> {
    located("unique_all", x)
}

fn located<T: Ordered>(op: &'static str, x: &NdArray<T>) -> Result<All<T>> {
    if keys::is_wide::<T>() {
        located_by::<T, u64, u64>(op, x)
    } else if u32::try_from(x.len()).is_ok() {
        located_by::<T, u32, u32>(op, x)
    } else {
        located_by::<T, u32, u64>(op, x)
    }
}

/// Whether a record begins a new value; NaN always does.
fn begins<T: Ordered, R: Record>(before: &R, record: &R) -> bool {
    before.key() != record.key()
        || (T::DTYPE.kind() == Kind::Real && record.key() == R::Key::of(T::from_f64(f64::NAN), false))
}

/// The values of sorted records with their counts; `each` gets every record with the number of its value.
fn runs<T: Ordered, R: Record>(
    op: &'static str,
    records: &[R],
    mut each: impl FnMut(usize, bool, &R),
) -> Result<(Vec<T>, Vec<i64>)> {
    let new = |i: usize| i == 0 || begins::<T, R>(&records[i - 1], &records[i]);
    let distinct = (0..records.len()).filter(|&i| new(i)).count();
    let mut values: Vec<T> = buffer::vec(op, distinct)?;
    let mut counts: Vec<i64> = buffer::vec(op, distinct)?;
    for (i, record) in records.iter().enumerate() {
        let first = new(i);
        if first {
            values.push(record.key().element(false));
            counts.push(0);
        }
        if let Some(count) = counts.last_mut() {
            *count += 1;
        }
        each(values.len() - 1, first, record);
    }
    Ok((values, counts))
}

/// Values and counts, without indices.
fn counted<T: Ordered, K: Key>(op: &'static str, x: &NdArray<T>) -> Result<(NdArray<T>, NdArray<i64>)> {
    let flat = buffer::packed(op, x)?;
    let mut keys: Vec<K> = buffer::vec(op, flat.len())?;
    keys.extend(flat.iter().map(|&v| K::of(v, false)));
    keys::sort(op, &mut keys, &mut Vec::new())?;
    let (mut values, counts) = runs::<T, K>(op, &keys, |_, _, _| ())?;
    restore_zero(&mut values, &flat);
    Ok((one_axis(op, values)?, one_axis(op, counts)?))
}

/// Values, first indices, inverse and counts.
fn located_by<T: Ordered, K: Key, I: Index>(op: &'static str, x: &NdArray<T>) -> Result<All<T>> {
    let flat = buffer::packed(op, x)?;
    let mut records: Vec<Indexed<K, I>> = buffer::vec(op, flat.len())?;
    records.extend(flat.iter().enumerate().map(|(i, &v)| Indexed::new(K::of(v, false), i)));
    keys::sort(op, &mut records, &mut Vec::new())?;
    let mut inverse = buffer::zeroed::<i64>(op, flat.len())?;
    let mut firsts: Vec<i64> = buffer::vec(op, flat.len())?;
    let (mut values, counts) = runs::<T, _>(op, &records, |value, first, record: &Indexed<K, I>| {
        inverse[record.index()] = value as i64;
        if first {
            firsts.push(record.index() as i64);
        }
    })?;
    restore_zero(&mut values, &flat);
    let inverse = buffer::array(op, x.shape(), inverse)?;
    Ok((one_axis(op, values)?, one_axis(op, firsts)?, inverse, one_axis(op, counts)?))
}

/// The value zero gets the sign of the first zero.
fn restore_zero<T: Ordered>(values: &mut [T], flat: &[T]) {
    if T::DTYPE.kind() != Kind::Real {
        return;
    }
    let first = flat.iter().copied().find(|&v| v == T::default()).filter(|&v| is_negative_zero(v));
    if let (Some(first), Some(zero)) = (first, values.iter_mut().find(|v| **v == T::default())) {
        *zero = first;
    }
}

fn one_axis<T: Element>(op: &'static str, values: Vec<T>) -> Result<NdArray<T>> {
    buffer::array(op, &[values.len()], values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numpyish::layout::tests::{counting, layouts};
    use ndarray::{ArrayD, IxDyn, arr1};
    use std::collections::BTreeMap;

    const B: Numpyish = Numpyish::new();

    #[test]
    fn values_counts_and_places() {
        for shape in [&[3, 4, 5][..], &[700], &[2, 2500], &[0, 3], &[]] {
            let x = counting::<i16>(shape).mapv(|i| i.wrapping_mul(7919) % 211);
            let mut known: BTreeMap<i16, Vec<i64>> = BTreeMap::new();
            x.iter().enumerate().for_each(|(i, &v)| known.entry(v).or_default().push(i as i64));
            for a in layouts(&x) {
                let (values, firsts, inverse, counts) = unique_all(&B, &a).unwrap();
                assert!(values.iter().eq(known.keys()));
                assert!(firsts.iter().eq(known.values().map(|v| &v[0])));
                assert!(counts.iter().copied().eq(known.values().map(|v| v.len() as i64)));
                assert_eq!(inverse.shape(), shape);
                assert!(inverse.iter().zip(&x).all(|(&i, v)| values[i as usize] == *v));
                assert_eq!(unique_values(&B, &a).unwrap(), values);
                assert_eq!(unique_counts(&B, &a).unwrap(), (values.clone(), counts));
                assert_eq!(unique_inverse(&B, &a).unwrap(), (values, inverse));
            }
        }
    }

    #[test]
    fn every_nan_is_its_own_and_zeros_are_one() {
        let x = arr1(&[f64::NAN, 1.0, -0.0, f64::NAN, 0.0]).into_dyn().into_shared();
        let (values, firsts, inverse, counts) = unique_all(&B, &x).unwrap();
        assert_eq!(format!("{:?}", values.as_slice().unwrap()), "[-0.0, 1.0, NaN, NaN]");
        assert_eq!(firsts.as_slice().unwrap(), [2, 1, 0, 3]);
        assert_eq!(inverse.as_slice().unwrap(), [2, 1, 0, 3, 0]);
        assert_eq!(counts.as_slice().unwrap(), [2, 1, 1, 1]);
        assert_eq!(unique_counts(&B, &x).unwrap().1.as_slice().unwrap(), [2, 1, 1, 1]);
        let largest = arr1(&[u64::MAX, 0, u64::MAX]).into_dyn().into_shared();
        assert_eq!(unique_values(&B, &largest).unwrap().as_slice().unwrap(), [0, u64::MAX]);
        let flags = ArrayD::from_elem(IxDyn(&[4]), true).into_shared();
        assert_eq!(unique_values(&B, &flags).unwrap().as_slice().unwrap(), [true]);
    }
}
