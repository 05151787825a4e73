//! Shapes of samples, and of their weights.

use crate::{Error, Result};

/// The shape in which weights broadcast to the elements: that of the elements, or one weight for each along the one axis.
pub fn weighted(op: &'static str, x: &[usize], weights: &[usize], axes: &[usize]) -> Result<Vec<usize>> {
    match (weights, axes) {
        (weights, _) if weights == x => Ok(x.to_vec()),
        (&[n], &[axis]) if n == x[axis] => {
            let mut shape = vec![1; x.len()];
            shape[axis] = n;
            Ok(shape)
        }
        _ => Err(Error::shapes(op, x, weights)),
    }
}

/// How many variables there are, which are the rows or the columns, and how often each was observed.
pub fn variables(op: &'static str, x: &[usize], rowvar: bool) -> Result<(usize, usize)> {
    match *x {
        [n] => Ok((1, n)),
        [rows, columns] if rowvar => Ok((rows, columns)),
        [rows, columns] => Ok((columns, rows)),
        _ => Err(Error::shape(op, x, "has neither one axis nor two")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_an_axis_or_of_all_elements() {
        assert_eq!(weighted("average", &[2, 3], &[2, 3], &[0, 1]), Ok(vec![2, 3]));
        assert_eq!(weighted("average", &[2, 3], &[3], &[1]), Ok(vec![1, 3]));
        assert!(matches!(weighted("average", &[2, 3], &[3], &[0]), Err(Error::Shapes { .. })));
        assert!(matches!(weighted("average", &[2, 3], &[3], &[0, 1]), Err(Error::Shapes { .. })));
    }

    #[test]
    fn variables_are_rows_or_columns() {
        assert_eq!(variables("cov", &[4], false), Ok((1, 4)));
        assert_eq!(variables("cov", &[2, 3], true), Ok((2, 3)));
        assert_eq!(variables("cov", &[2, 3], false), Ok((3, 2)));
        assert!(matches!(variables("cov", &[2, 3, 4], true), Err(Error::Shape { .. })));
    }
}
