//! Rules for linear algebra: the shapes of vectors along axes, and of diagonals.

use super::{axis, broadcast, count, diagonal};
use crate::{Error, Result};

/// Returns the axis of the vectors in each of two arrays. `along` is resolved in each array separately. The vectors
/// must have equal lengths.
pub fn vectors(op: &'static str, x1: &[usize], x2: &[usize], along: isize) -> Result<[usize; 2]> {
    let axes = [axis(op, along, x1.len())?, axis(op, along, x2.len())?];
    if x1[axes[0]] == x2[axes[1]] { Ok(axes) } else { Err(Error::shapes(op, x1, x2)) }
}

/// Returns the shape to which two arrays broadcast after the axes of their vectors are removed: `axis1` from the first
/// array, and `axis2` from the second.
pub fn broadcast_around(
    op: &'static str,
    x1: &[usize],
    axis1: usize,
    x2: &[usize],
    axis2: usize,
) -> Result<Vec<usize>> {
    let without = |shape: &[usize], axis: usize| [&shape[..axis], &shape[axis + 1..]].concat();
    broadcast(op, &without(x1, axis1), &without(x2, axis2)).map_err(|_| Error::shapes(op, x1, x2))
}

/// The diagonals of the matrices that are formed by two axes of an array.
#[derive(Debug, PartialEq)]
pub struct Diagonal {
    /// The axes of rows and of columns.
    pub axes: [usize; 2],
    /// Row and column of the first element of each diagonal.
    pub start: [usize; 2],
    /// Shape of the result: the other axes, followed by the axis of the diagonal.
    pub shape: Vec<usize>,
}

impl Diagonal {
    /// Describes diagonal number `offset` of the matrices in an array of this shape.
    pub fn of(
        op: &'static str,
        shape: &[usize],
        offset: isize,
        [axis1, axis2]: [isize; 2],
        size: usize,
    ) -> Result<Diagonal> {
        if shape.len() < 2 {
            return Err(Error::shape(op, shape, "must have at least two axes, the axes of a matrix"));
        }
        let axes = [axis(op, axis1, shape.len())?, axis(op, axis2, shape.len())?];
        if axes[0] == axes[1] {
            return Err(Error::repeated_axis(op, axes[0]));
        }
        let (row, column, n) = diagonal(shape[axes[0]], shape[axes[1]], offset);
        let mut kept: Vec<usize> = (0..shape.len()).filter(|k| !axes.contains(k)).map(|k| shape[k]).collect();
        kept.push(n);
        count(op, &kept, size)?;
        Ok(Diagonal { axes, start: [row, column], shape: kept })
    }

    /// Returns the offset of the first diagonal in an array with these strides, and the strides of the result. The
    /// offset is 0 if the result has no elements.
    pub fn strides(&self, strides: &[isize]) -> (isize, Vec<isize>) {
        let [rows, columns] = self.axes;
        let mut kept: Vec<isize> = (0..strides.len()).filter(|k| !self.axes.contains(k)).map(|k| strides[k]).collect();
        kept.push(strides[rows].wrapping_add(strides[columns]));
        // a result without elements has no first diagonal
        let empty = self.shape.contains(&0);
        let start =
            if empty { 0 } else { self.start[0] as isize * strides[rows] + self.start[1] as isize * strides[columns] };
        (start, kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_one_length_along_each_arrays_own_axis() {
        assert_eq!(vectors("cross", &[2, 3], &[3], -1), Ok([1, 0]));
        assert_eq!(vectors("cross", &[3, 2], &[3], 0), Ok([0, 0]));
        assert_eq!(vectors("cross", &[2, 3], &[1], -1), Err(Error::shapes("cross", &[2, 3], &[1])));
        assert!(matches!(vectors("cross", &[2, 3], &[3], 1), Err(Error::Axis { axis: 1, ndim: 1, .. })));
        assert_eq!(broadcast_around("cross", &[3, 4], 0, &[5, 1, 3], 2), Ok(vec![5, 4]));
        let refused = Err(Error::shapes("cross", &[3, 4], &[3, 5]));
        assert_eq!(broadcast_around("cross", &[3, 4], 0, &[3, 5], 0), refused);
    }

    #[test]
    fn diagonals_have_their_axis_last() {
        let of = |shape: &[usize], offset, axes| Diagonal::of("diagonal", shape, offset, axes, 8);
        let main = of(&[3, 4], 0, [-2, -1]).unwrap();
        assert_eq!((main.shape.clone(), main.strides(&[4, 1])), (vec![3], (0, vec![5])));
        let above = of(&[2, 3, 4], 2, [1, 2]).unwrap();
        assert_eq!((above.shape.clone(), above.strides(&[12, 4, 1])), (vec![2, 2], (2, vec![12, 5])));
        let below = of(&[2, 3, 4], -1, [2, 0]).unwrap();
        assert_eq!((below.shape.clone(), below.strides(&[12, 4, 1])), (vec![3, 2], (1, vec![4, 13])));
        assert_eq!(of(&[2, 3], 7, [0, 1]).unwrap().strides(&[3, 1]), (0, vec![4]));
        assert_eq!(of(&[2, 3], isize::MIN, [0, 1]).unwrap().shape, [0]);
        assert_eq!(of(&[2, 3], 0, [1, -1]), Err(Error::repeated_axis("diagonal", 1)));
        assert!(of(&[3], 0, [-2, -1]).is_err() && of(&[2, 3], 0, [0, 2]).is_err());
    }
}
