//! Rules for matrix products: the shapes of operands and results.

use super::{broadcast, count};
use crate::{Error, Result};

/// The shapes of a matrix product: for each of the `batches`, a (rows, inner) matrix times an (inner, columns) matrix.
#[derive(Debug, PartialEq)]
pub struct Product {
    /// Shape of the result.
    pub shape: Vec<usize>,
    /// The leading axes of both operands, broadcast together.
    pub batches: Vec<usize>,
    /// Rows of the left matrices and of the result.
    pub rows: usize,
    /// Columns of the left matrices, and rows of the right matrices.
    pub inner: usize,
    /// Columns of the right matrices and of the result.
    pub columns: usize,
}

impl Product {
    /// Plans the product of operands of these shapes. A left operand with a single axis is a row, and a right operand
    /// with a single axis is a column. The result has no axis for such a row or column. `size` is the size of an
    /// element in bytes.
    pub fn of(op: &'static str, x1: &[usize], x2: &[usize], size: usize) -> Result<Product> {
        let refuse = || Error::shapes(op, x1, x2);
        let (leading1, rows, inner) = match x1 {
            [] => return Err(refuse()),
            [inner] => (&[][..], 1, *inner),
            [leading @ .., rows, inner] => (leading, *rows, *inner),
        };
        let (leading2, inner2, columns) = match x2 {
            [] => return Err(refuse()),
            [inner] => (&[][..], *inner, 1),
            [leading @ .., inner, columns] => (leading, *inner, *columns),
        };
        if inner != inner2 {
            return Err(refuse());
        }
        let batches = broadcast(op, leading1, leading2).map_err(|_| refuse())?;
        let mut shape = batches.clone();
        shape.extend((x1.len() > 1).then_some(rows));
        shape.extend((x2.len() > 1).then_some(columns));
        count(op, &shape, size)?;
        Ok(Product { shape, batches, rows, inner, columns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_products() {
        let of = |x1: &[usize], x2: &[usize]| {
            Product::of("matmul", x1, x2, 8).map(|p| (p.shape, p.rows, p.inner, p.columns))
        };
        assert_eq!(of(&[3, 4], &[4, 5]).unwrap(), (vec![3, 5], 3, 4, 5));
        assert_eq!(of(&[4], &[4]).unwrap(), (vec![], 1, 4, 1));
        assert_eq!(of(&[4], &[2, 4, 5]).unwrap(), (vec![2, 5], 1, 4, 5));
        assert_eq!(of(&[2, 1, 3, 4], &[6, 4, 5]).unwrap(), (vec![2, 6, 3, 5], 3, 4, 5));
        for (x1, x2) in [(&[][..], &[1][..]), (&[3], &[4]), (&[3, 4], &[3, 4]), (&[2, 3, 4], &[3, 4, 5])] {
            assert_eq!(of(x1, x2), Err(Error::shapes("matmul", x1, x2)));
        }
    }
}
