//! Rules for sizes: numbers of elements, strides, and shapes with an inferred length.

use crate::{Error, Result};

/// Size in bytes of an element of the widest dtype.
const WIDEST: usize = 16;

/// Returns the number of elements. Returns an error if their size in bytes would exceed `isize::MAX`. If a length is 0,
/// the product of the other lengths must still fit, because strides are computed from it. This product is checked for
/// the widest dtype, so that an array of this shape is possible in every dtype.
pub fn count(op: &'static str, shape: &[usize], element_size: usize) -> Result<usize> {
    let empty = shape.contains(&0);
    let unit = if empty { WIDEST } else { element_size.max(1) };
    let all = shape.iter().filter(|&&d| d != 0).try_fold(unit, |n, &d| n.checked_mul(d));
    match all {
        Some(bytes) if bytes <= isize::MAX as usize => Ok(if empty { 0 } else { bytes / unit }),
        _ => Err(Error::memory(op, usize::MAX)),
    }
}

/// Returns an empty list with capacity for `n` entries that are not elements, such as indices or arrays. If the
/// allocation fails, the error gives the size of the list in bytes. The size is at most `isize::MAX`, because a larger
/// size in an error stands for a result that is too large.
pub fn list<T>(op: &'static str, n: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    let bytes = n.saturating_mul(size_of::<T>()).min(isize::MAX as usize);
    list.try_reserve_exact(n).map_err(|_| Error::memory(op, bytes))?;
    Ok(list)
}

/// Returns the strides, in elements, of a shape in C order. They are meaningful only if [`count`] accepts the shape,
/// but no shape causes a panic.
pub fn c_strides(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1_isize; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i].wrapping_mul(shape[i].max(1) as isize);
    }
    strides
}

/// Resolves the shape `to`, in which one length may be -1, for an array of shape `from`. The length -1 is replaced by
/// the length that gives the same number of elements.
pub fn infer(op: &'static str, from: &[usize], to: &[isize]) -> Result<Vec<usize>> {
    let size: usize = from.iter().product();
    let refuse = || Error::shape(op, from, format!("has {size} elements, which cannot be reshaped to {to:?}"));
    let known =
        to.iter().filter(|&&d| d >= 0).try_fold(1_usize, |n, &d| n.checked_mul(d as usize)).ok_or_else(refuse)?;
    let unknown = to.iter().filter(|&&d| d < 0).count();
    if to.iter().any(|&d| d < -1) || unknown > 1 || (unknown == 1 && known == 0) {
        return Err(refuse());
    }
    let missing = if unknown == 1 { size / known } else { 1 };
    let shape: Vec<usize> = to.iter().map(|&d| if d < 0 { missing } else { d as usize }).collect();
    if count(op, &shape, 1)? == size { Ok(shape) } else { Err(refuse()) }
}

/// Returns whether two different indices may refer to the same element, as after broadcasting.
pub fn overlaps(shape: &[usize], strides: &[isize]) -> bool {
    let axes = shape.iter().zip(strides).filter(|(len, _)| **len > 1);
    let mut axes: Vec<(usize, usize)> = axes.map(|(&len, &stride)| (stride.unsigned_abs(), len)).collect();
    axes.sort_unstable();
    let mut reach = 0;
    !shape.contains(&0)
        && axes.into_iter().any(|(stride, len)| {
            let lies_within = stride <= reach;
            reach += stride * (len - 1);
            lies_within
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_over_any_memory_are_errors() {
        assert_eq!(count("zeros", &[2, 3], 8).unwrap(), 6);
        assert_eq!(count("zeros", &[0, usize::MAX], 1), Err(Error::memory("zeros", usize::MAX)));
        assert!(count("zeros", &[usize::MAX, 2], 1).is_err());
        assert!(count("zeros", &[1 << 61], 8).is_err());
        assert!(count("zeros", &[1 << 59, 0], 1).is_err());
        assert_eq!((count("zeros", &[1 << 58, 0], 1), count("zeros", &[1 << 58, 0], 16)), (Ok(0), Ok(0)));
    }

    #[test]
    fn lists_longer_than_memory_are_refused() {
        assert_eq!(list::<u64>("pad", 3).unwrap().capacity(), 3);
        assert_eq!(list::<u64>("pad", usize::MAX), Err(Error::memory("pad", isize::MAX as usize)));
    }

    #[test]
    fn inferred_shapes() {
        assert_eq!(infer("reshape", &[2, 3], &[-1, 2]).unwrap(), [3, 2]);
        assert_eq!(infer("reshape", &[0], &[0, 5]).unwrap(), [0, 5]);
        for bad in [&[-1, -1][..], &[4], &[-1, 4], &[-2, 3]] {
            assert!(infer("reshape", &[2, 3], bad).is_err(), "{bad:?}");
        }
        assert!(infer("reshape", &[0], &[0, -1]).is_err());
        assert!(matches!(infer("reshape", &[0], &[0, isize::MAX]), Err(Error::Memory { .. })));
    }

    #[test]
    fn elements_with_places_of_their_own() {
        for (shape, strides) in
            [(&[2, 3][..], &[3, 1][..]), (&[2, 3], &[-1, 2]), (&[4, 1], &[2, 0]), (&[0, 5], &[0, 0])]
        {
            assert!(!overlaps(shape, strides), "{shape:?} {strides:?}");
        }
        for (shape, strides) in [(&[2, 3][..], &[0, 1][..]), (&[3, 2], &[1, 2]), (&[5], &[0])] {
            assert!(overlaps(shape, strides), "{shape:?} {strides:?}");
        }
    }
}
