//! Rules for axes: the conversion of axes to indices, and the order of axes.

use crate::{Axes, Error, Result};

/// Returns the index of an axis in a shape of `ndim` axes; negative axes count from the end.
pub fn axis(op: &'static str, axis: isize, ndim: usize) -> Result<usize> {
    let index = if axis < 0 { ndim.checked_sub(axis.unsigned_abs()) } else { Some(axis.unsigned_abs()) };
    index.filter(|&index| index < ndim).ok_or_else(|| Error::axis(op, axis as i128, ndim))
}

/// Returns the order of the axes of a transposed array: axis k of the result is axis `order[k]` of the array. `axes`
/// names each axis once, or is `..` for the reverse order.
pub fn permutation(op: &'static str, axes: Axes, shape: &[usize]) -> Result<Vec<usize>> {
    if axes == Axes::All {
        return Ok((0..shape.len()).rev().collect());
    }
    let order = axes.resolve(op, shape.len())?;
    if order.len() == shape.len() {
        return Ok(order);
    }
    Err(Error::shape(op, shape, format!("has {} axes, but `axes` names {}", shape.len(), order.len())))
}

/// Returns the numbers of rows and columns of a matrix or of a stack of matrices: the lengths of the last two axes.
/// Returns an error if there are fewer than two axes.
pub fn matrix(op: &'static str, shape: &[usize]) -> Result<(usize, usize)> {
    match shape {
        [.., rows, columns] => Ok((*rows, *columns)),
        _ => Err(Error::shape(op, shape, "must have at least two axes, the axes of a matrix")),
    }
}

/// Returns an error for an array of 0 dimensions, which has no axis to index.
pub fn require_axes(op: &'static str, shape: &[usize]) -> Result<()> {
    if shape.is_empty() { Err(Error::shape(op, shape, "must have at least one axis")) } else { Ok(()) }
}

/// Returns the order of the axes after the axes in `source` are moved to the indices in `destination`: axis k of the
/// result is axis `order[k]` of the array.
pub fn moved(op: &'static str, source: Axes, destination: Axes, ndim: usize) -> Result<Vec<usize>> {
    let (from, to) = (source.resolve(op, ndim)?, destination.resolve(op, ndim)?);
    if from.len() != to.len() {
        return Err(Error::argument(
            op,
            format!(
                "`source` has {} axes and `destination` has {}, but both must have the same number",
                from.len(),
                to.len()
            ),
        ));
    }
    let mut rest = (0..ndim).filter(|axis| !from.contains(axis));
    let place = |k| to.iter().position(|&t| t == k).map(|i| from[i]);
    Ok((0..ndim).filter_map(|k| place(k).or_else(|| rest.next())).collect())
}

/// Returns the indices of new axes in the result, in increasing order.
pub fn new_axes(op: &'static str, axes: Axes, ndim: usize) -> Result<Vec<usize>> {
    let Some(list) = axes.as_list() else {
        return Err(Error::argument(op, "`axis` is `..`, but must give the positions of the new axes"));
    };
    let mut places = axes.resolve(op, ndim + list.len())?;
    places.sort_unstable();
    Ok(places)
}

/// Returns the axes that an op removes, in increasing order: the axes that `axes` names, which must have length 1, or
/// for `..` all axes of length 1.
pub fn single_axes(op: &'static str, axes: Axes, shape: &[usize]) -> Result<Vec<usize>> {
    if axes == Axes::All {
        return Ok((0..shape.len()).filter(|&axis| shape[axis] == 1).collect());
    }
    let mut single = axes.resolve(op, shape.len())?;
    match single.iter().find(|&&axis| shape[axis] != 1) {
        Some(axis) => Err(Error::shape(op, shape, format!("must have length 1 along axis {axis}"))),
        None => {
            single.sort_unstable();
            Ok(single)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_at_the_ends_of_numbers() {
        assert_eq!(axis("sum", -2, 2), Ok(0));
        for (given, ndim) in [(isize::MIN, 0), (isize::MIN, 3), (isize::MAX, 3), (-4, 3), (0, 0), (-1, 0)] {
            assert_eq!(axis("sum", given, ndim), Err(Error::axis("sum", given as i128, ndim)));
        }
    }

    #[test]
    fn orders_name_every_axis() {
        assert_eq!(permutation("permute_dims", Axes::All, &[2, 3, 4]), Ok(vec![2, 1, 0]));
        assert_eq!(permutation("permute_dims", [-1, 0].into(), &[2, 3]), Ok(vec![1, 0]));
        assert!(matches!(permutation("permute_dims", 0.into(), &[2, 3]), Err(Error::Shape { .. })));
        assert_eq!(permutation("permute_dims", [0, -2].into(), &[2, 3]), Err(Error::repeated_axis("permute_dims", 0)));
        assert_eq!(moved("moveaxis", 0.into(), (-1).into(), 3), Ok(vec![1, 2, 0]));
        assert_eq!(moved("moveaxis", Axes::All, [1, 0].into(), 2), Ok(vec![1, 0]));
        assert!(matches!(moved("moveaxis", Axes::All, 0.into(), 2), Err(Error::Argument { .. })));
    }

    #[test]
    fn axes_that_come_and_go() {
        assert_eq!(new_axes("expand_dims", [-1, 0].into(), 1), Ok(vec![0, 2]));
        assert!(matches!(new_axes("expand_dims", Axes::All, 1), Err(Error::Argument { .. })));
        assert_eq!(single_axes("squeeze", Axes::All, &[1, 2, 1]), Ok(vec![0, 2]));
        assert_eq!(single_axes("squeeze", (-1).into(), &[1, 2, 1]), Ok(vec![2]));
        assert!(matches!(single_axes("squeeze", 1.into(), &[1, 2, 1]), Err(Error::Shape { .. })));
        assert_eq!(matrix("tril", &[4, 2, 3]), Ok((2, 3)));
        assert!(matches!(matrix("tril", &[3]), Err(Error::Shape { .. })));
    }
}
