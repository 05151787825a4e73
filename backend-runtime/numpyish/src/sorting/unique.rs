//! Distinct elements of an array, with the number of occurrences and the first index of each. The inverse has, for each
//! element of the array, the index of its value among the distinct elements.

use super::{
    super::{
        OpContext,
        buffer::{self, Buffer},
        copy,
        raw::{RawArray, View},
    },
    all_keys,
    keys::{self, Key},
    merge,
    order::order,
    serial::Sortable,
    write_elements, zeros,
};
use backend_core::{Complex, ComplexFloat, DType, DTypeKind, Result};
use std::cmp::Ordering;

/// The distinct elements, sorted. Each NaN counts as distinct.
pub fn unique_values(_: OpContext<'_>, x: View<'_>) -> Result<RawArray> {
    let [values, _] = counted("unique_values", x, false)?;
    Ok(values)
}

/// The distinct elements, and the number of occurrences of each.
pub fn unique_counts(_: OpContext<'_>, x: View<'_>) -> Result<[RawArray; 2]> {
    counted("unique_counts", x, true)
}

/// The distinct elements, and the inverse: for each element of `x`, the index of its value among the distinct elements.
pub fn unique_inverse(_: OpContext<'_>, x: View<'_>) -> Result<[RawArray; 2]> {
    let [values, _, inverse, _] = located("unique_inverse", x)?;
    Ok([values, inverse])
}

/// The distinct elements, the index of the first occurrence of each, the inverse as in `unique_inverse`, and the number
/// of occurrences of each.
pub fn unique_all(_: OpContext<'_>, x: View<'_>) -> Result<[RawArray; 4]> {
    located("unique_all", x)
}

/// Returns the distinct values and their counts. If `counts` is false, the second array may be empty.
fn counted(op: &'static str, x: View<'_>, counts: bool) -> Result<[RawArray; 2]> {
    if x.dtype.kind() == DTypeKind::Complex {
        let [values, _, _, counts] = located(op, x)?;
        return Ok([values, counts]);
    }
    if keys::is_wide(x.dtype) { counted_by::<u64>(op, x, counts) } else { counted_by::<u32>(op, x, counts) }
}

/// Returns four arrays: the distinct values, the first index of each value, the inverse as in [`unique_inverse`], and
/// the counts.
fn located(op: &'static str, x: View<'_>) -> Result<[RawArray; 4]> {
    if x.dtype == DType::Complex64 {
        located_pairs::<Complex<f32>>(op, x)
    } else if x.dtype == DType::Complex128 {
        located_pairs::<Complex<f64>>(op, x)
    } else if keys::is_wide(x.dtype) {
        located_by::<u64>(op, x)
    } else {
        located_by::<u32>(op, x)
    }
}

/// Returns the distinct values among sorted keys, and their counts. Calls `each` for every key with three arguments:
/// the index of the key, the index of its value, and whether the key is the first with this value. Every key that
/// equals `nan` counts as a separate value.
fn runs<K: Key>(
    op: &'static str,
    keys: &[K],
    nan: Option<K>,
    mut each: impl FnMut(usize, usize, bool),
) -> Result<(Vec<K>, Vec<i64>)> {
    let new = |i: usize| i == 0 || differ(keys[i - 1], keys[i], nan);
    let distinct = (0..keys.len()).filter(|&i| new(i)).count();
    let mut values: Vec<K> = buffer::vec(op, distinct)?;
    let mut counts: Vec<i64> = buffer::vec(op, distinct)?;
    for (i, &key) in keys.iter().enumerate() {
        let first = new(i);
        if first {
            values.push(key);
            counts.push(0);
        }
        if let Some(count) = counts.last_mut() {
            *count += 1;
        }
        each(i, values.len() - 1, first);
    }
    Ok((values, counts))
}

/// Removes repeated keys from sorted keys. Every key that equals `nan` counts as a separate value and stays.
fn drop_equal<K: Key>(keys: &mut Vec<K>, nan: Option<K>) {
    let Some(mut last) = keys.first().copied() else { return };
    let mut kept = 1;
    for i in 1..keys.len() {
        let key = keys[i];
        // every key is written, but the next key overwrites it if the length does not advance; so there is no branch to
        // predict
        keys[kept] = key;
        kept += usize::from(differ(last, key, nan));
        last = key;
    }
    keys.truncate(kept);
}

/// Returns whether neighbours among sorted keys are different values. Keys of NaN, for dtypes that have NaN, are always
/// different; all other equal keys are the same value.
#[inline(always)]
fn differ<K: Key>(x: K, y: K, nan: Option<K>) -> bool {
    (x != y) | (nan == Some(y))
}

/// The key of NaN, or `None` for dtypes without NaN.
fn nan<K: Key>(dtype: DType) -> Option<K> {
    (dtype.kind() == DTypeKind::Real).then(|| K::of(f32::NAN, false))
}

/// The elements that have these keys. The value zero gets the sign of the first zero among the `n` elements at `flat`.
///
/// # Safety
/// `flat` must point to `n` elements of the dtype.
unsafe fn values<K: Key>(op: &'static str, dtype: DType, keys: &[K], flat: *const u8, n: usize) -> Result<RawArray> {
    let values = Buffer::new(op, keys.len(), dtype)?;
    // SAFETY: `values` has room for as many elements as there are keys, and the caller guarantees the elements at
    // `flat`.
    unsafe {
        write_elements(dtype, keys.as_ptr(), keys.len(), false, values.start());
        zeros::restore_first(dtype, flat, n, values.start(), keys.len());
        RawArray::new(op, vec![keys.len()], values)
    }
}

fn counted_by<K: Sortable>(op: &'static str, x: View<'_>, counts: bool) -> Result<[RawArray; 2]> {
    let flat = copy::pack(op, x)?;
    let n = x.len();
    // SAFETY: the packed copy has `n` elements.
    let mut keys = unsafe { all_keys::<K>(op, x.dtype, flat.start(), n)? };
    merge::sort_vec(op, &mut keys, &mut Vec::new(), 0)?;
    let mut many = Vec::new();
    if counts {
        (keys, many) = runs(op, &keys, nan(x.dtype), |_, _, _| ())?;
    } else {
        drop_equal(&mut keys, nan(x.dtype));
    }
    // SAFETY: the packed copy has `n` elements.
    Ok([unsafe { values(op, x.dtype, &keys, flat.start(), n)? }, one_axis(op, many)?])
}

fn located_by<K: Key>(op: &'static str, x: View<'_>) -> Result<[RawArray; 4]> {
    let flat = copy::pack(op, x)?;
    let n = x.len();
    // SAFETY: the packed copy has `n` elements.
    let keys = unsafe { all_keys::<K>(op, x.dtype, flat.start(), n)? };
    let mut indices = buffer::zeros::<u64>(op, n)?;
    order(op, &keys, &mut indices, &mut Vec::new())?;
    let mut sorted: Vec<K> = buffer::vec(op, n)?;
    sorted.extend(indices.iter().map(|&i| keys[i as usize]));
    let mut inverse = buffer::zeros::<i64>(op, n)?;
    let mut firsts: Vec<i64> = buffer::vec(op, n)?;
    let (distinct, counts) = runs(op, &sorted, nan(x.dtype), |place, value, first| {
        let i = indices[place];
        inverse[i as usize] = value as i64;
        if first {
            firsts.push(i as i64);
        }
    })?;
    // SAFETY: the packed copy has `n` elements.
    let values = unsafe { values(op, x.dtype, &distinct, flat.start(), n)? };
    let inverse = RawArray::from_vec(op, x.shape.to_vec(), inverse)?;
    Ok([values, one_axis(op, firsts)?, inverse, one_axis(op, counts)?])
}

/// NumPy's order of complex numbers: by real part, then by imaginary part. Numbers without NaN come first, then numbers
/// with only a NaN imaginary part, then numbers with only a NaN real part, and then numbers with both.
fn by_parts(x: Complex<f64>, y: Complex<f64>) -> Ordering {
    let unknown = |x: Complex<f64>| (x.re.is_nan(), x.im.is_nan());
    let part = |x: f64, y: f64| x.partial_cmp(&y).unwrap_or(Ordering::Equal);
    unknown(x).cmp(&unknown(y)).then(part(x.re, y.re)).then(part(x.im, y.im))
}

/// Implements [`located`] for complex numbers.
fn located_pairs<T: ComplexFloat>(op: &'static str, x: View<'_>) -> Result<[RawArray; 4]> {
    let flat = copy::pack(op, x)?;
    let n = x.len();
    // SAFETY: the packed copy has `n` elements.
    let elements = unsafe { flat.slice::<T>(n) };
    let mut order: Vec<usize> = buffer::vec(op, n)?;
    order.extend(0..n);
    // uses the unstable sort, because a stable sort would allocate; comparing indices makes the result stable
    let wide = |i: usize| elements[i].cast::<Complex<f64>>();
    order.sort_unstable_by(|&i, &j| by_parts(wide(i), wide(j)).then(i.cmp(&j)));
    let (mut values, mut firsts) = (buffer::vec(op, n)?, buffer::vec::<i64>(op, n)?);
    let (mut inverse, mut counts) = (buffer::zeros::<i64>(op, n)?, buffer::vec::<i64>(op, n)?);
    for (k, &i) in order.iter().enumerate() {
        if k == 0 || elements[order[k - 1]] != elements[i] {
            values.push(elements[i]);
            firsts.push(i as i64);
            counts.push(0);
        }
        if let Some(count) = counts.last_mut() {
            *count += 1;
        }
        inverse[i] = values.len() as i64 - 1;
    }
    let inverse = RawArray::from_vec(op, x.shape.to_vec(), inverse)?;
    Ok([RawArray::from_vec(op, vec![values.len()], values)?, one_axis(op, firsts)?, inverse, one_axis(op, counts)?])
}

fn one_axis(op: &'static str, values: Vec<i64>) -> Result<RawArray> {
    RawArray::from_vec(op, vec![values.len()], values)
}

#[cfg(test)]
mod tests {
    use super::super::typed::{unique_all, unique_counts, unique_inverse, unique_values};
    use backend_core::{
        Complex,
        numpyish::{
            Numpyish,
            testing::{counting, layouts},
        },
    };
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
    fn complex_numbers_come_in_the_order_of_numpy() {
        const NAN: f64 = f64::NAN;
        let x = [
            (1.0, 2.0),
            (1.0, -1.0),
            (NAN, 0.0),
            (0.0, NAN),
            (1.0, 2.0),
            (-0.0, 5.0),
            (0.0, 5.0),
            (NAN, NAN),
            (-3.0, NAN),
        ];
        let x = arr1(&x.map(|(re, im)| Complex::new(re, im))).into_dyn().into_shared();
        let (values, firsts, inverse, counts) = unique_all(&B, &x).unwrap();
        let told: Vec<String> = values.iter().map(|z| format!("{:?} {:?}", z.re, z.im)).collect();
        assert_eq!(told, ["-0.0 5.0", "1.0 -1.0", "1.0 2.0", "-3.0 NaN", "0.0 NaN", "NaN 0.0", "NaN NaN"]);
        assert_eq!(firsts.as_slice().unwrap(), [5, 1, 0, 8, 3, 2, 7]);
        assert_eq!(inverse.as_slice().unwrap(), [2, 1, 5, 4, 2, 0, 0, 6, 3]);
        assert_eq!(counts.as_slice().unwrap(), [2, 1, 2, 1, 1, 1, 1]);
        assert_eq!(unique_counts(&B, &x).unwrap().1, counts);
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
