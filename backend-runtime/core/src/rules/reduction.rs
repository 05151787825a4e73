//! Rules for reductions, scans (such as cumulative sums) and differences.

use super::{axis, count};
use crate::{Axes, Error, Result};

/// Returns the axes of a reduction as indices. An array of 0 dimensions accepts axis 0 and -1, for which the returned
/// list is empty.
pub fn reduction(op: &'static str, axes: Axes, ndim: usize) -> Result<Vec<usize>> {
    match (ndim, axes.as_list()) {
        (0, Some([0 | -1])) => axes.resolve(op, 1).map(|_| Vec::new()),
        _ => axes.resolve(op, ndim),
    }
}

/// Returns the axis of a reduction along one axis; `None` for an array of 0 dimensions, which accepts axis 0 and -1.
pub fn reduction_axis(op: &'static str, given: isize, ndim: usize) -> Result<Option<usize>> {
    if ndim == 0 && matches!(given, 0 | -1) { Ok(None) } else { axis(op, given, ndim).map(Some) }
}

/// Returns the shape without `axes`, or, if `keepdims` is true, with length 1 along these axes.
pub fn reduced(shape: &[usize], axes: &[usize], keepdims: bool) -> Vec<usize> {
    shape
        .iter()
        .enumerate()
        .filter_map(|(i, &d)| if !axes.contains(&i) { Some(d) } else { keepdims.then_some(1) })
        .collect()
}

/// Returns an error if one of `axes` has length 0, so that there is no element to select. This is an error even if the
/// result is empty.
pub fn require_elements(op: &'static str, shape: &[usize], axes: &[usize]) -> Result<()> {
    match axes.iter().find(|&&axis| shape[axis] == 0) {
        Some(axis) => {
            Err(Error::shape(op, shape, format!("must have at least one element along axis {axis} to choose from")))
        }
        None => Ok(()),
    }
}

/// Returns an error if the flattened array has no element to select from.
pub fn require_any(op: &'static str, shape: &[usize]) -> Result<()> {
    if shape.contains(&0) {
        Err(Error::shape(op, shape, "must have at least one element to choose from"))
    } else {
        Ok(())
    }
}

/// Returns the shape of a reduction of the flattened array. It equals the shape of a reduction over all `ndim` axes.
pub fn row_reduced(ndim: usize, keepdims: bool) -> Vec<usize> {
    vec![1; if keepdims { ndim } else { 0 }]
}

/// Returns the shape to which the array `edge` broadcasts before it is joined to one end of another array along an
/// axis. If `edge` is a number, its length along this axis is 1.
pub fn edge(op: &'static str, shape: &[usize], edge: &[usize], axis: usize) -> Result<Vec<usize>> {
    let mut to = shape.to_vec();
    to[axis] = edge.get(axis).copied().unwrap_or(1);
    if edge.is_empty() || to == edge { Ok(to) } else { Err(Error::shapes(op, shape, edge)) }
}

/// Returns the error for a quantile that is not between 0 and 1.
pub fn quantile_range(op: &'static str) -> Error {
    Error::argument(op, "an element of q is out of range, but all must be between 0 and 1")
}

/// Returns the axis of a scan, the shape of its operand, and the shape of the result. If `initial` is true, the result
/// has one more element along the axis. An array of 0 dimensions counts as an array with one axis and one element.
/// `size` is the size of an element of the result in bytes.
pub fn scan(
    op: &'static str,
    shape: &[usize],
    along: isize,
    initial: bool,
    size: usize,
) -> Result<(usize, Vec<usize>, Vec<usize>)> {
    let shape = if shape.is_empty() { vec![1] } else { shape.to_vec() };
    let along = axis(op, along, shape.len())?;
    let mut result = shape.clone();
    result[along] = result[along].checked_add(initial.into()).ok_or_else(|| Error::memory(op, usize::MAX))?;
    count(op, &result, size)?;
    Ok((along, shape, result))
}

/// Returns the shape of the `n`-th differences of neighbours along an axis, and the number of passes: `n`, or 0 if the
/// result has no elements.
pub fn differences(shape: &[usize], axis: usize, n: usize) -> (Vec<usize>, usize) {
    let mut left = shape.to_vec();
    left[axis] = left[axis].saturating_sub(n);
    let times = if left.contains(&0) { 0 } else { n };
    (left, times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_what_is_there() {
        assert_eq!(differences(&[2, 5], 1, 3), (vec![2, 2], 3));
        assert_eq!(differences(&[2, 5], 1, usize::MAX), (vec![2, 0], 0));
        assert_eq!(differences(&[0, 1 << 48], 1, 8_589_934_593), (vec![0, (1 << 48) - 8_589_934_593], 0));
        assert_eq!(differences(&[0], 0, 0), (vec![0], 0));
    }

    #[test]
    fn arrays_without_axes_have_axis_0() {
        assert_eq!(reduction("sum", 0.into(), 0), Ok(vec![]));
        assert_eq!(reduction("sum", (-1).into(), 0), Ok(vec![]));
        assert_eq!(reduction("sum", Axes::All, 0), Ok(vec![]));
        assert_eq!(reduction("sum", 1.into(), 0), Err(Error::axis("sum", 1, 0)));
        assert_eq!(reduction("sum", [0, 0].into(), 0), Err(Error::axis("sum", 0, 0)));
        assert_eq!(reduction("sum", [-1, 0].into(), 3), Ok(vec![2, 0]));
        assert_eq!(reduction_axis("argmax", -1, 0), Ok(None));
        assert_eq!(reduction_axis("argmax", -1, 2), Ok(Some(1)));
        assert_eq!(scan("cumulative_sum", &[], -1, true, 8), Ok((0, vec![1], vec![2])));
        assert!(matches!(scan("cumulative_sum", &[], 1, true, 8), Err(Error::Axis { .. })));
        assert!(matches!(scan("cumulative_sum", &[usize::MAX, 0], 0, true, 8), Err(Error::Memory { .. })));
    }

    #[test]
    fn ends_of_arrays() {
        assert_eq!(edge("diff", &[2, 3], &[], 1), Ok(vec![2, 1]));
        assert_eq!(edge("diff", &[2, 3], &[2, 5], 1), Ok(vec![2, 5]));
        assert_eq!(edge("diff", &[2, 3], &[1, 5], 1), Err(Error::shapes("diff", &[2, 3], &[1, 5])));
        assert_eq!(edge("diff", &[2, 3], &[5], 1), Err(Error::shapes("diff", &[2, 3], &[5])));
    }

    #[test]
    fn rows_of_nothing() {
        assert_eq!(row_reduced(3, true), [1, 1, 1]);
        assert_eq!(row_reduced(3, false), []);
        assert!(matches!(require_any("argmax", &[2, 0]), Err(Error::Shape { .. })));
        assert_eq!(require_any("argmax", &[]), Ok(()));
    }

    #[test]
    fn nothing_to_choose_from() {
        assert!(matches!(require_elements("max", &[0, 0], &[0]), Err(Error::Shape { .. })));
        assert_eq!(require_elements("max", &[3, 0], &[0]), Ok(()));
        assert_eq!(require_elements("max", &[0, 3], &[]), Ok(()));
        assert_eq!(reduced(&[2, 3, 4], &[1], true), [2, 1, 4]);
        assert_eq!(reduced(&[2, 3, 4], &[1, 0], false), [4]);
    }
}
