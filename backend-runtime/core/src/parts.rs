//! Parts of arrays that are stored in C order in a file or in shared memory. A part consists of runs of contiguous
//! elements.

use crate::{Error, Result, Slice, rules};
use std::ops::{Range, RangeFull};

/// A part of a stored array, in one of these forms:
///
/// - `..`, the whole array;
/// - `slices![1..3, .., -2..]`, which follows Python's rules: bounds beyond an axis are clamped, and omitted axes are
///   taken whole. Steps are not allowed, and a single index is written `2..3`;
/// - `[1..3, 0..5]`, a range for each axis, which must lie within the axis.
pub trait Part {
    /// Returns the range of the part along each axis.
    ///
    /// # Errors
    /// [`Error::Argument`] and [`Error::Shape`] if the array has no such part.
    fn ranges(&self, op: &'static str, shape: &[usize]) -> Result<Vec<Range<usize>>>;
}

impl Part for RangeFull {
    fn ranges(&self, _: &'static str, shape: &[usize]) -> Result<Vec<Range<usize>>> {
        Ok(shape.iter().map(|&length| 0..length).collect())
    }
}

impl Part for [Range<usize>] {
    fn ranges(&self, op: &'static str, shape: &[usize]) -> Result<Vec<Range<usize>>> {
        shape_of(op, shape, self)?;
        Ok(self.to_vec())
    }
}

impl Part for [Slice] {
    fn ranges(&self, op: &'static str, shape: &[usize]) -> Result<Vec<Range<usize>>> {
        let spans = rules::spans(op, self, shape)?;
        if spans.iter().any(|span| span.drop || span.step != 1) {
            return Err(Error::argument(
                op,
                "a part must be made of ranges without a step; write `i..i + 1` for a single index `i`",
            ));
        }
        Ok(spans.into_iter().map(|span| span.start..span.start + span.len).collect())
    }
}

impl<P, const N: usize> Part for [P; N]
where
    [P]: Part,
{
    fn ranges(&self, op: &'static str, shape: &[usize]) -> Result<Vec<Range<usize>>> {
        self.as_slice().ranges(op, shape)
    }
}

impl<P> Part for Vec<P>
where
    [P]: Part,
{
    fn ranges(&self, op: &'static str, shape: &[usize]) -> Result<Vec<Range<usize>>> {
        self.as_slice().ranges(op, shape)
    }
}

impl<P: Part + ?Sized> Part for &P {
    fn ranges(&self, op: &'static str, shape: &[usize]) -> Result<Vec<Range<usize>>> {
        (**self).ranges(op, shape)
    }
}

/// Returns the shape of the part that has these ranges, one for each axis.
///
/// # Errors
/// [`Error::Argument`] if a range exceeds the shape.
pub fn shape_of(op: &'static str, shape: &[usize], ranges: &[Range<usize>]) -> Result<Vec<usize>> {
    let within = |(range, &n): (&Range<usize>, &usize)| range.start <= range.end && range.end <= n;
    if ranges.len() != shape.len() || !ranges.iter().zip(shape).all(within) {
        return Err(Error::argument(op, format!("the part is {ranges:?}, but must lie within shape {shape:?}")));
    }
    Ok(ranges.iter().map(|range| range.end - range.start).collect())
}

/// Returns the ranges of a part with the shape `part`, whose first element is at the index `start`.
pub fn ranges_at(op: &'static str, shape: &[usize], start: &[usize], part: &[usize]) -> Result<Vec<Range<usize>>> {
    let ranges: Vec<_> = start.iter().zip(part).map(|(&at, &n)| at..at.saturating_add(n)).collect();
    if start.len() != part.len() {
        return Err(Error::argument(
            op,
            format!("`start` is {start:?}, but must have one number for each axis of the part of shape {part:?}"),
        ));
    }
    shape_of(op, shape, &ranges)?;
    Ok(ranges)
}

/// Returns the runs of a part: its ranges of contiguous elements. Each run is given by its start in the array and its
/// length, in elements. All runs have the same length. Concatenated in this order, they are the elements of the part in
/// C order. The ranges must be a valid part ([`shape_of`]) of an array whose size does not overflow.
pub fn runs(shape: &[usize], ranges: &[Range<usize>]) -> impl Iterator<Item = (usize, usize)> {
    let part: Vec<usize> = ranges.iter().map(|range| range.end - range.start).collect();
    // fully covered axes are merged with the axis before them
    let whole = (0..shape.len()).rev().take_while(|&axis| part[axis] == shape[axis]).count();
    let inner = (shape.len() - whole).saturating_sub(1);
    let product = |lengths: &[usize]| lengths.iter().fold(1_usize, |n, &length| n.wrapping_mul(length));
    let (length, outer) = (product(&part[inner..]), part[..inner].to_vec());
    let strides: Vec<usize> = (0..shape.len()).map(|axis| product(&shape[axis + 1..])).collect();
    let first =
        ranges.iter().zip(&strides).fold(0_usize, |at, (range, n)| at.wrapping_add(range.start.wrapping_mul(*n)));
    // the product may have wrapped if the part has no elements
    let count = if part.contains(&0) { 0 } else { product(&outer) };
    (0..count).map(move |run| {
        let (mut left, mut at) = (run, first);
        for axis in (0..outer.len()).rev() {
            at += left % outer[axis] * strides[axis];
            left /= outer[axis];
        }
        (at, length)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array, SliceInfoElem};

    #[test]
    fn runs_are_the_part_in_order() {
        let shape = [3, 4, 5];
        let whole = Array::from_iter(0..60_usize).into_shape_with_order(shape).unwrap().into_dyn();
        let ends = |n: usize| (0..=n).flat_map(move |end| (0..=end).map(move |start| start..end));
        for i in ends(3) {
            for j in ends(4) {
                for k in ends(5) {
                    let ranges = [i.clone(), j.clone(), k.clone()];
                    let places: Vec<usize> = runs(&shape, &ranges).flat_map(|(at, n)| at..at + n).collect();
                    let slices = ranges.each_ref().map(|r| SliceInfoElem::from(r.clone()));
                    assert_eq!(places, whole.slice(&slices[..]).iter().copied().collect::<Vec<_>>(), "{ranges:?}");
                }
            }
        }
        assert_eq!(runs(&shape, &[1..3, 0..4, 0..5]).collect::<Vec<_>>(), [(20, 40)]);
        assert_eq!(runs(&shape, &[1..3, 2..4, 0..5]).collect::<Vec<_>>(), [(30, 10), (50, 10)]);
        assert_eq!(runs(&[], &[]).collect::<Vec<_>>(), [(0, 1)]);
        assert_eq!(runs(&[7, 1], &[2..5, 0..1]).collect::<Vec<_>>(), [(2, 3)]);
        assert_eq!(runs(&[0, usize::MAX, 3], &[0..0, 5..usize::MAX, 0..3]).count(), 0);
    }

    #[test]
    fn parts_are_said_in_several_ways() {
        let all = |part: &dyn Part| part.ranges("read", &[3, 4]);
        assert_eq!(all(&..), Ok(vec![0..3, 0..4]));
        assert_eq!(all(&[1..3, 0..2]), Ok(vec![1..3, 0..2]));
        assert_eq!(all(&vec![1..3, 0..2]), Ok(vec![1..3, 0..2]));
        assert_eq!(all(&[Slice::from(1..9)]), Ok(vec![1..3, 0..4]), "clamped, and the other axis is whole");
        assert_eq!(all(&&[Slice::ALL, Slice::from(-1..)]), Ok(vec![0..3, 3..4]));
        assert_eq!(all(&[Slice::from(2..2), Slice::from(9..)]), Ok(vec![2..2, 4..4]));
        assert_eq!((..).ranges("read", &[]), Ok(vec![]));
        for wrong in [Slice::at(1), Slice::ALL.step(2), Slice::ALL.step(-1), Slice::ALL.step(0), Slice::at(5)] {
            assert!(all(&[wrong]).is_err(), "{wrong:?}");
        }
        assert!(all(&[Slice::ALL; 3]).is_err() && all(&[Range { start: 2, end: 1 }, 0..1]).is_err());
    }

    #[test]
    fn what_is_no_part_is_refused() {
        for wrong in [&[0..3, 0..4, 0..6][..], &[0..3, 0..4], &[0..1, Range { start: 3, end: 2 }, 0..1]] {
            let why = shape_of("read", &[3, 4, 5], wrong).unwrap_err().to_string();
            assert!(why.contains("read: ") && why.contains("must lie within shape [3, 4, 5]"), "{why}");
        }
        assert_eq!(ranges_at("write", &[3, 4], &[1, 2], &[2, 2]), Ok(vec![1..3, 2..4]));
        assert_eq!(ranges_at("write", &[], &[], &[]), Ok(vec![]));
        for (start, part) in [(&[1][..], &[2, 2][..]), (&[1, 3], &[2, 2]), (&[usize::MAX, 0], &[2, 2]), (&[0], &[1])] {
            assert!(
                matches!(ranges_at("write", &[3, 4], start, part), Err(Error::Argument { .. })),
                "{start:?} {part:?}"
            );
        }
    }
}
