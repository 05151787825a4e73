//! Rules for arrays that are joined along an axis.

use super::{axis, count};
use crate::{Error, Result};

/// Returns the axis along which arrays are joined, and the shape of the result. All other axes must have equal lengths.
/// `size` is the size of an element in bytes.
pub fn joined(op: &'static str, shapes: &[&[usize]], along: isize, size: usize) -> Result<(usize, Vec<usize>)> {
    let first = first(op, shapes)?;
    let along = axis(op, along, first.len())?;
    let mut shape = first.to_vec();
    for other in &shapes[1..] {
        let fits = other.len() == first.len() && (0..first.len()).all(|k| k == along || other[k] == first[k]);
        if !fits {
            return Err(Error::shapes(op, first, other));
        }
        shape[along] = shape[along].checked_add(other[along]).ok_or_else(|| Error::memory(op, usize::MAX))?;
    }
    count(op, &shape, size)?;
    Ok((along, shape))
}

/// Returns the length of flattened and joined arrays. `size` is the size of an element in bytes.
pub fn joined_rows(op: &'static str, shapes: &[&[usize]], size: usize) -> Result<usize> {
    first(op, shapes)?;
    let lengths: Vec<[usize; 1]> = shapes.iter().map(|shape| [shape.iter().product()]).collect();
    let rows: Vec<&[usize]> = lengths.iter().map(|length| &length[..]).collect();
    joined(op, &rows, 0, size).map(|(_, shape)| shape[0])
}

/// Returns the index of the new axis along which arrays of equal shape are stacked, and the shape of the result.
pub fn stacked(op: &'static str, shapes: &[&[usize]], along: isize, size: usize) -> Result<(usize, Vec<usize>)> {
    let first = first(op, shapes)?;
    if let Some(other) = shapes[1..].iter().find(|s| **s != first) {
        return Err(Error::shapes(op, first, other));
    }
    let along = axis(op, along, first.len() + 1)?;
    let mut shape = Vec::with_capacity(first.len() + 1);
    shape.extend_from_slice(&first[..along]);
    shape.push(shapes.len());
    shape.extend_from_slice(&first[along..]);
    count(op, &shape, size)?;
    Ok((along, shape))
}

/// Returns the shape of arrays stacked along a new first axis, where each array is padded to the longest length along
/// every axis. All arrays must have the same number of axes.
pub fn pad_stacked(op: &'static str, shapes: &[&[usize]], size: usize) -> Result<Vec<usize>> {
    let first = first(op, shapes)?;
    let mut shape = [&[shapes.len()], first].concat();
    for other in &shapes[1..] {
        if other.len() != first.len() {
            return Err(Error::shapes(op, first, other));
        }
        shape[1..].iter_mut().zip(*other).for_each(|(longest, &len)| *longest = len.max(*longest));
    }
    count(op, &shape, size)?;
    Ok(shape)
}

fn first<'a>(op: &'static str, shapes: &[&'a [usize]]) -> Result<&'a [usize]> {
    shapes.first().copied().ok_or_else(|| Error::argument(op, "there must be at least one array to join"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_arrays_that_are_filled_up() {
        assert_eq!(pad_stacked("pad_stack", &[&[2, 3], &[4, 1]], 8), Ok(vec![2, 4, 3]));
        assert_eq!(pad_stacked("pad_stack", &[&[2, 3], &[4]], 8), Err(Error::shapes("pad_stack", &[2, 3], &[4])));
        assert!(pad_stacked("pad_stack", &[], 8).is_err());
    }

    #[test]
    fn shapes_of_joined_arrays() {
        assert_eq!(joined("concat", &[&[2, 3], &[2, 4]], -1, 8), Ok((1, vec![2, 7])));
        assert_eq!(joined("concat", &[&[2, 3], &[3, 4]], -1, 8), Err(Error::shapes("concat", &[2, 3], &[3, 4])));
        assert_eq!(joined("concat", &[&[]], 0, 8), Err(Error::axis("concat", 0, 0)));
        assert!(matches!(joined("concat", &[], 0, 8), Err(Error::Argument { .. })));
        assert_eq!(joined_rows("concat", &[&[2, 3], &[], &[0, 4]], 8), Ok(7));
        assert!(matches!(joined_rows("concat", &[], 8), Err(Error::Argument { .. })));
        let long = [0, isize::MAX as usize];
        assert!(matches!(joined("concat", &[&long, &long, &long], 1, 1), Err(Error::Memory { .. })));
        assert_eq!(stacked("stack", &[&[2], &[2], &[2]], 1, 8), Ok((1, vec![2, 3])));
        assert_eq!(stacked("stack", &[&[2], &[3]], 0, 8), Err(Error::shapes("stack", &[2], &[3])));
    }
}
