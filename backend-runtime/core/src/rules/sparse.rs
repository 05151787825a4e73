//! Rules for products with sparse matrices: the shapes of operands and results, and the error for invalid row starts.
//!
//! A matrix of compressed rows (CSR) has three arrays: the values of its elements, row after row; the column of each
//! element; and the pointers (`indptr`), which are the index of the first element of each row, followed by the number
//! of all elements. Compressed columns (CSC) are the compressed rows of the transpose.

use super::count;
use crate::{Error, Result};

/// The sizes in a product with a matrix of compressed rows, or with its transpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// Number of compressed rows, which is one less than the number of entries of `indptr`.
    pub rows: usize,
    /// Number of columns. All column indices must be less than this number.
    pub columns: usize,
    /// Number of stored elements.
    pub stored: usize,
    /// Number of right-hand sides; 1 for a vector.
    pub width: usize,
    /// The shape of the result.
    pub shape: Vec<usize>,
}

/// Returns the numbers of stored elements and of rows, from the shapes of the indices and of `indptr`.
fn structure(op: &'static str, indices: &[usize], indptr: &[usize]) -> Result<(usize, usize)> {
    let &[stored] = indices else {
        return Err(Error::shape(op, indices, "of the indices must have one axis"));
    };
    match *indptr {
        [pointers] if pointers > 0 => Ok((stored, pointers - 1)),
        _ => Err(Error::shape(
            op,
            indptr,
            "of the pointers must have one axis, with one element more than there are rows",
        )),
    }
}

/// Returns the numbers of rows and of columns of a matrix; for a vector, its length and 1.
fn dense(op: &'static str, x: &[usize]) -> Result<(usize, usize)> {
    match *x {
        [len] => Ok((len, 1)),
        [len, width] => Ok((len, width)),
        _ => Err(Error::shape(op, x, "must be the shape of a vector or a matrix")),
    }
}

/// Plans the product of a matrix of compressed rows with `x`, which has as many rows as the matrix has columns.
pub fn csr_product(
    op: &'static str,
    values: &[usize],
    indices: &[usize],
    indptr: &[usize],
    x: &[usize],
    size: usize,
) -> Result<Compressed> {
    let (stored, rows) = structure(op, indices, indptr)?;
    if values != indices {
        return Err(Error::shapes(op, values, indices));
    }
    let (columns, width) = dense(op, x)?;
    let shape = [&[rows], &x[1..]].concat();
    count(op, &shape, size)?;
    Ok(Compressed { rows, columns, stored, width, shape })
}

/// Plans the product of the transpose of a matrix of compressed rows with `x`. The transpose has `columns` rows, and
/// `x` must have as many rows as the matrix.
pub fn csc_product(
    op: &'static str,
    values: &[usize],
    indices: &[usize],
    indptr: &[usize],
    x: &[usize],
    columns: usize,
    size: usize,
) -> Result<Compressed> {
    let (stored, rows) = structure(op, indices, indptr)?;
    if values != indices {
        return Err(Error::shapes(op, values, indices));
    }
    let (len, width) = dense(op, x)?;
    if len != rows {
        return Err(Error::shapes(op, &[columns, rows], x));
    }
    let shape = [&[columns], &x[1..]].concat();
    count(op, &shape, size)?;
    Ok(Compressed { rows, columns, stored, width, shape })
}

/// Plans the product of `x1` with the transpose of `x2`. Only the elements that a matrix of compressed rows stores are
/// computed.
pub fn sampled_product(
    op: &'static str,
    indices: &[usize],
    indptr: &[usize],
    x1: &[usize],
    x2: &[usize],
    size: usize,
) -> Result<Compressed> {
    let (stored, rows) = structure(op, indices, indptr)?;
    let (len, width) = dense(op, x1)?;
    let (columns, _) = dense(op, x2)?;
    if x1[1..] != x2[1..] {
        return Err(Error::shapes(op, x1, x2));
    }
    if len != rows {
        return Err(Error::shapes(op, &[rows, columns], x1));
    }
    count(op, indices, size)?;
    Ok(Compressed { rows, columns, stored, width, shape: vec![stored] })
}

/// Returns the error for entries of `indptr` that do not ascend from 0 to the number of stored elements.
#[cold]
pub fn bad_pointers(op: &'static str, stored: usize) -> Error {
    Error::argument(op, format!("the pointers must ascend from 0 to {stored}, the number of stored elements"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_products() {
        let product = csr_product("csr_matmul", &[5], &[5], &[4], &[7, 2], 8).unwrap();
        assert_eq!(product, Compressed { rows: 3, columns: 7, stored: 5, width: 2, shape: vec![3, 2] });
        let product = csc_product("csc_matmul", &[5], &[5], &[4], &[3], 7, 8).unwrap();
        assert_eq!(product, Compressed { rows: 3, columns: 7, stored: 5, width: 1, shape: vec![7] });
        let product = sampled_product("sampled_matmul", &[5], &[4], &[3, 2], &[7, 2], 8).unwrap();
        assert_eq!(product, Compressed { rows: 3, columns: 7, stored: 5, width: 2, shape: vec![5] });
    }

    #[test]
    fn shapes_that_fit_no_product() {
        let csr = |values: &[usize], indices: &[usize], indptr: &[usize], x: &[usize]| {
            csr_product("csr_matmul", values, indices, indptr, x, 8).unwrap_err()
        };
        assert!(matches!(csr(&[4], &[5], &[4], &[7]), Error::Shapes { .. }));
        assert!(matches!(csr(&[5], &[5, 1], &[4], &[7]), Error::Shape { .. }));
        assert!(matches!(csr(&[5], &[5], &[0], &[7]), Error::Shape { .. }));
        assert!(matches!(csr(&[5], &[5], &[], &[7]), Error::Shape { .. }));
        assert!(matches!(csr(&[5], &[5], &[4], &[]), Error::Shape { .. }));
        assert!(matches!(csr(&[5], &[5], &[4], &[7, 1, 1]), Error::Shape { .. }));
        assert!(matches!(csr(&[5], &[5], &[1 << 40], &[1, 1 << 40]), Error::Memory { .. }));
        let csc = |x: &[usize], columns| csc_product("csc_matmul", &[5], &[5], &[4], x, columns, 8).unwrap_err();
        assert!(matches!(csc(&[4], 7), Error::Shapes { .. }));
        assert!(matches!(csc(&[3], usize::MAX), Error::Memory { .. }));
        let sampled = |x1: &[usize], x2: &[usize]| sampled_product("s", &[5], &[4], x1, x2, 8).unwrap_err();
        assert!(matches!(sampled(&[3, 2], &[7]), Error::Shapes { .. }));
        assert!(matches!(sampled(&[3, 2], &[7, 1]), Error::Shapes { .. }));
        assert!(matches!(sampled(&[4, 2], &[7, 2]), Error::Shapes { .. }));
    }
}
