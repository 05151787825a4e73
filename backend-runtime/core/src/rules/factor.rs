//! Rules for factorizations and systems of equations: the shapes of operands and results, and the errors for matrices
//! without factors.

use super::{broadcast, count, matrix};
use crate::{Error, Result};

/// Returns the number of rows of a square matrix, or of each matrix in a stack of square matrices.
pub fn square(op: &'static str, shape: &[usize]) -> Result<usize> {
    match matrix(op, shape)? {
        (rows, columns) if rows == columns => Ok(rows),
        _ => Err(Error::shape(op, shape, "must have last two axes of the same length: square matrices")),
    }
}

const SINGULAR: &str = "a matrix is singular, but must be invertible";
const NOT_DEFINITE: &str = "a matrix is not positive definite";
const NOT_FINITE: &str = "an element is infinite or NaN, but all must be finite";
const NO_END: &str = "the iteration did not converge";

/// Returns whether an error means that a matrix with these elements has no factorization. After such an error, a
/// program that tries several matrices can continue with the next matrix.
pub fn has_no_factors(error: &Error) -> bool {
    matches!(error, Error::Argument { why, .. } if [SINGULAR, NOT_DEFINITE, NOT_FINITE, NO_END].contains(&why.as_str()))
}

/// Returns the error for a matrix without an inverse.
pub fn singular(op: &'static str) -> Error {
    Error::argument(op, SINGULAR)
}

/// Returns the error for a matrix without a Cholesky factor.
pub fn not_positive_definite(op: &'static str) -> Error {
    Error::argument(op, NOT_DEFINITE)
}

/// Returns the error for infinite or NaN elements, for which no iteration would converge.
pub fn not_finite(op: &'static str) -> Error {
    Error::argument(op, NOT_FINITE)
}

/// Returns the error for an iteration that did not converge.
pub fn failed(op: &'static str) -> Error {
    Error::argument(op, NO_END)
}

/// A system of equations `a x = b`.
#[derive(Debug, PartialEq)]
pub struct System {
    /// The leading axes of both operands, broadcast together.
    pub batches: Vec<usize>,
    /// Number of equations: the rows of `a` and of `b`.
    pub rows: usize,
    /// Number of unknowns: the columns of `a`, and the rows of the solution.
    pub unknowns: usize,
    /// Number of right-hand sides: the columns of `b`.
    pub columns: usize,
    /// True if `b` is a single vector. Then neither `b` nor the solution has an axis of columns.
    pub is_vector: bool,
}

impl System {
    /// Checks the shapes. `a` is a matrix or a stack of matrices. `b` is a vector if it has one axis, and otherwise a
    /// matrix or a stack of matrices.
    pub fn of(op: &'static str, a: &[usize], b: &[usize], size: usize) -> Result<System> {
        let (rows, unknowns) = matrix(op, a)?;
        let refuse = || Error::shapes(op, a, b);
        let (leading, of_b, columns) = match b {
            [] => return Err(refuse()),
            [rows] => (&[][..], *rows, 1),
            [leading @ .., rows, columns] => (leading, *rows, *columns),
        };
        if of_b != rows {
            return Err(refuse());
        }
        let batches = broadcast(op, &a[..a.len() - 2], leading).map_err(|_| refuse())?;
        let system = System { batches, rows, unknowns, columns, is_vector: b.len() == 1 };
        // check the sizes of both operands after broadcasting, and of the solution
        for shape in [[rows, unknowns], [rows, columns], [unknowns, columns]] {
            count(op, &[&system.batches[..], &shape].concat(), size)?;
        }
        Ok(system)
    }

    /// Checks the shapes like [`System::of`], and requires square matrices.
    pub fn square(op: &'static str, a: &[usize], b: &[usize], size: usize) -> Result<System> {
        square(op, a)?;
        System::of(op, a, b, size)
    }

    /// Returns the shape of the solution.
    pub fn shape(&self) -> Vec<usize> {
        let mut shape = self.batches.clone();
        shape.push(self.unknowns);
        shape.extend((!self.is_vector).then_some(self.columns));
        shape
    }
}

/// Returns the shapes of the two QR factors of matrices of this shape. The first factor has orthonormal columns. It has
/// as many columns as the matrix has rows if `complete` is true, and otherwise as many as the shorter side of the
/// matrix.
pub fn qr(op: &'static str, shape: &[usize], complete: bool, size: usize) -> Result<[Vec<usize>; 2]> {
    let (rows, columns) = matrix(op, shape)?;
    let leading = &shape[..shape.len() - 2];
    let inner = if complete { rows } else { rows.min(columns) };
    let shapes = [[leading, &[rows, inner]].concat(), [leading, &[inner, columns]].concat()];
    shapes.iter().try_for_each(|shape| count(op, shape, size).map(drop))?;
    Ok(shapes)
}

/// The shapes of the singular vectors and values of matrices.
#[derive(Debug, PartialEq)]
pub struct Svd {
    /// Left singular vectors, in columns.
    pub u: Vec<usize>,
    /// Singular values.
    pub s: Vec<usize>,
    /// Right singular vectors, in rows.
    pub vh: Vec<usize>,
}

impl Svd {
    /// Returns the shapes for an array of this shape. If `full` is true, the matrices of singular vectors are square.
    pub fn of(op: &'static str, shape: &[usize], full: bool, size: usize) -> Result<Svd> {
        let (rows, columns) = matrix(op, shape)?;
        let leading = &shape[..shape.len() - 2];
        let values = rows.min(columns);
        let (of_u, of_v) = if full { (rows, columns) } else { (values, values) };
        let with = |lengths: &[usize]| [leading, lengths].concat();
        let svd = Svd { u: with(&[rows, of_u]), s: with(&[values]), vh: with(&[of_v, columns]) };
        [&svd.u, &svd.s, &svd.vh].into_iter().try_for_each(|shape| count(op, shape, size).map(drop))?;
        Ok(svd)
    }
}

/// Returns the shape of the eigenvalues of square matrices. The eigenvectors have the shape of the matrices. `size` is
/// the size in bytes of an element of the eigenvalues or eigenvectors.
pub fn eigen(op: &'static str, shape: &[usize], size: usize) -> Result<Vec<usize>> {
    square(op, shape)?;
    count(op, shape, size)?;
    Ok(shape[..shape.len() - 1].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_have_the_shape_of_their_right_sides() {
        let of = |a: &[usize], b: &[usize]| System::of("lstsq", a, b, 8);
        assert_eq!(of(&[3, 3], &[3]).unwrap().shape(), [3]);
        assert_eq!(of(&[5, 3], &[5, 2]).unwrap().shape(), [3, 2]);
        assert_eq!(of(&[4, 3, 3], &[3]).unwrap().shape(), [4, 3], "one vector for all matrices");
        assert_eq!(of(&[4, 3, 3], &[7, 1, 3, 2]).unwrap().shape(), [7, 4, 3, 2]);
        assert_eq!(of(&[3, 3], &[4]), Err(Error::shapes("lstsq", &[3, 3], &[4])));
        assert_eq!(of(&[2, 3, 3], &[4, 3, 1]), Err(Error::shapes("lstsq", &[2, 3, 3], &[4, 3, 1])));
        assert_eq!(of(&[3, 3], &[]), Err(Error::shapes("lstsq", &[3, 3], &[])));
        assert!(System::square("solve", &[2, 3], &[2], 8).unwrap_err().to_string().contains("square matrices"));
        assert!(square("det", &[3]).is_err());
    }

    #[test]
    fn refused_numbers_are_told_from_refused_calls() {
        for error in [singular("solve"), not_positive_definite("cholesky"), not_finite("svd"), failed("eigh")] {
            assert!(has_no_factors(&error) && has_no_factors(&error.within("pinv")));
        }
        assert!(!has_no_factors(&Error::argument("solve", "another reason")));
        assert!(!has_no_factors(&Error::shape("solve", &[2, 3], "a matrix is singular")));
    }

    #[test]
    fn factors_have_the_shapes_of_their_mode() {
        assert_eq!(qr("qr", &[2, 5, 3], false, 8).unwrap(), [[2, 5, 3], [2, 3, 3]]);
        assert_eq!(qr("qr", &[5, 3], true, 8).unwrap(), [[5, 5], [5, 3]]);
        assert_eq!(qr("qr", &[0, 3], true, 8).unwrap(), [[0, 0], [0, 3]]);
        let svd = Svd::of("svd", &[2, 5, 3], true, 8).unwrap();
        assert_eq!((svd.u, svd.s, svd.vh), (vec![2, 5, 5], vec![2, 3], vec![2, 3, 3]));
        let svd = Svd::of("svd", &[3, 5], false, 8).unwrap();
        assert_eq!((svd.u, svd.s, svd.vh), (vec![3, 3], vec![3], vec![3, 5]));
        assert!(matches!(Svd::of("svd", &[0, 1 << 40], true, 8), Err(Error::Memory { .. })));
        assert_eq!(eigen("eig", &[4, 3, 3], 16).unwrap(), [4, 3]);
    }
}
