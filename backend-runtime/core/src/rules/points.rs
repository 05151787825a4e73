//! Rules for searches in sorted arrays, and for interpolation between points.

use crate::{Error, Result};

/// Returns the number of interpolation points (xp, fp), which must be at least one.
pub fn interpolated(op: &'static str, xp: &[usize], fp: &[usize]) -> Result<usize> {
    match (xp, fp) {
        ([n], [m]) if n == m && *n > 0 => Ok(*n),
        ([0], [0]) => Err(Error::shape(op, xp, "must have at least one point to interpolate")),
        _ => Err(Error::shapes(op, xp, fp)),
    }
}

/// Returns the number of elements to search in, which must form a 1-D array.
pub fn sorted(op: &'static str, shape: &[usize]) -> Result<usize> {
    match shape {
        [n] => Ok(*n),
        _ => Err(Error::shape(op, shape, "of the sorted array must have one axis")),
    }
}

/// Returns an error unless there is one index for each element of the sorted array.
pub fn sorter(op: &'static str, shape: &[usize], indices: &[usize]) -> Result<()> {
    sorted(op, shape)?;
    if shape == indices { Ok(()) } else { Err(Error::shapes(op, shape, indices)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_points() {
        assert_eq!(interpolated("interp", &[3], &[3]), Ok(3));
        assert!(matches!(interpolated("interp", &[0], &[0]), Err(Error::Shape { .. })));
        assert!(matches!(interpolated("interp", &[3], &[4]), Err(Error::Shapes { .. })));
        assert!(matches!(interpolated("interp", &[3, 1], &[3, 1]), Err(Error::Shapes { .. })));
        assert_eq!(sorted("searchsorted", &[3]), Ok(3));
        assert!(matches!(sorted("searchsorted", &[]), Err(Error::Shape { .. })));
    }
}
