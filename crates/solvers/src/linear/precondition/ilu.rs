//! Incomplete factorizations, whose factors have nonzero elements only where the matrix has stored elements.

use super::Preconditioner;
use crate::linear::{
    OP,
    csr::HostCsr,
    operator::{LinearOperator, Matrix},
};
use backends::{ArrayAttributes, Backend, Error, Float, Real, Result, WideFloat};
use std::sync::Arc;

/// The incomplete LU factorization of a sparse matrix without fill-in, ILU(0) (Saad, "Iterative Methods for Sparse
/// Linear Systems", section 10.3). It is computed and applied on the host, so each iteration copies the residual to the
/// host and the result back.
#[derive(Clone, Debug)]
pub struct IncompleteLu<T: WideFloat> {
    factors: Arc<Factors<T>>,
}

/// The incomplete Cholesky factorization without fill-in, IC(0), of a sparse Hermitian definite matrix: `A` is
/// approximately `l l^H`, or `-l l^H` if `A` is negative definite. It is a preconditioner for conjugate gradients, and
/// runs on the host like [`IncompleteLu`].
#[derive(Clone, Debug)]
pub struct IncompleteCholesky<T: WideFloat> {
    factors: Arc<Factors<T>>,
}

/// A lower and an upper triangular factor in one matrix, with the diagonal also stored separately.
#[derive(Debug)]
struct Factors<T> {
    matrix: HostCsr<T>,
    lower: Vec<T>,
    diagonal: Vec<T>,
    /// The index of each row's diagonal element among the stored elements.
    middle: Vec<usize>,
    is_cholesky: bool,
    sign: T,
}

fn host<B: Backend, T: WideFloat>(b: &B, a: &dyn LinearOperator<B, T>, what: &str) -> Result<HostCsr<T>> {
    match a.matrix(b)? {
        Some(Matrix::Sparse(matrix)) => Ok(matrix),
        _ => Err(Error::argument(OP, format!("{what} needs the sparse matrix of the operator, and this one has none"))),
    }
}

/// Returns the index of each row's diagonal element among the stored elements; an error if the matrix is not square or
/// a diagonal element is not stored.
fn middles<T: WideFloat>(matrix: &HostCsr<T>, what: &str) -> Result<Vec<usize>> {
    let [rows, columns] = matrix.shape();
    if rows != columns {
        return Err(Error::shape(OP, &matrix.shape(), format!("{what} needs a square matrix")));
    }
    let missing = |i| Error::argument(OP, format!("{what}: element ({i}, {i}) of the diagonal is not stored"));
    (0..rows).map(|i| matrix.place(i, i).ok_or_else(|| missing(i))).collect()
}

fn pivot_error(what: &str, i: usize) -> Error {
    Error::argument(OP, format!("{what}: the pivot of row {i} is 0, or not finite, or of another sign"))
}

impl<T: WideFloat> IncompleteLu<T> {
    /// Factorizes the sparse matrix of an operator.
    ///
    /// # Errors
    /// `Error::Argument` if the operator has no sparse matrix, if a diagonal element is not stored, or if a pivot is 0
    /// or not finite; `Error::Shape` if the matrix is not square.
    pub fn of<B: Backend>(b: &B, a: &dyn LinearOperator<B, T>) -> Result<Self> {
        IncompleteLu::new(&host(b, a, "ILU(0)")?)
    }

    /// Factorizes a matrix in host memory.
    ///
    /// # Errors
    /// The errors of [`of`](IncompleteLu::of).
    pub fn new(matrix: &HostCsr<T>) -> Result<Self> {
        let middle = middles(matrix, "ILU(0)")?;
        let (indptr, indices) = (matrix.indptr(), matrix.indices());
        let mut values = matrix.values().to_vec();
        for i in 0..middle.len() {
            for k in indptr[i]..middle[i] {
                let j = indices[k];
                let factor = Float::div(values[k], values[middle[j]]);
                values[k] = factor;
                // subtracts `factor` times row j from row i, in the columns after j where row i has stored elements
                let mut at = k + 1;
                for other in middle[j] + 1..indptr[j + 1] {
                    while at < indptr[i + 1] && indices[at] < indices[other] {
                        at += 1;
                    }
                    if at < indptr[i + 1] && indices[at] == indices[other] {
                        values[at] = values[at] - factor * values[other];
                    }
                }
            }
            let pivot = values[middle[i]];
            if pivot == T::ZERO || !pivot.is_finite() {
                return Err(pivot_error("ILU(0)", i));
            }
        }
        let diagonal = middle.iter().map(|&k| values[k]).collect();
        let factors =
            Factors { matrix: matrix.clone(), lower: values, diagonal, middle, is_cholesky: false, sign: T::ONE };
        Ok(IncompleteLu { factors: Arc::new(factors) })
    }
}

impl<T: WideFloat> IncompleteCholesky<T> {
    /// Factorizes the sparse matrix of an operator, reading its lower triangle.
    ///
    /// # Errors
    /// `Error::Argument` if the operator has no sparse matrix, if a diagonal element is not stored, or if a pivot is 0,
    /// not finite, or of another sign than the first; `Error::Shape` if the matrix is not square.
    pub fn of<B: Backend>(b: &B, a: &dyn LinearOperator<B, T>) -> Result<Self> {
        IncompleteCholesky::new(&host(b, a, "IC(0)")?)
    }

    /// Factorizes a matrix in host memory.
    ///
    /// # Errors
    /// The errors of [`of`](IncompleteCholesky::of).
    pub fn new(matrix: &HostCsr<T>) -> Result<Self> {
        let middle = middles(matrix, "IC(0)")?;
        let (indptr, indices) = (matrix.indptr(), matrix.indices());
        let is_negative = middle.first().is_some_and(|&k| matrix.values()[k].real().to_f64() < 0.0);
        let sign = if is_negative { -T::ONE } else { T::ONE };
        let mut values: Vec<T> = matrix.values().iter().map(|&v| sign * v).collect();
        for i in 0..middle.len() {
            for k in indptr[i]..=middle[i] {
                let j = indices[k];
                // the inner product of rows i and j of the factor, over the columns before j
                let (mut p, mut q) = (indptr[i], indptr[j]);
                let mut sum = values[k];
                while p < k && q < middle[j] {
                    match indices[p].cmp(&indices[q]) {
                        std::cmp::Ordering::Less => p += 1,
                        std::cmp::Ordering::Greater => q += 1,
                        std::cmp::Ordering::Equal => {
                            sum = sum - values[p] * values[q].conj();
                            (p, q) = (p + 1, q + 1);
                        }
                    }
                }
                if j < i {
                    values[k] = Float::div(sum, values[middle[j]]);
                } else {
                    let pivot = sum.real().to_f64();
                    if !(pivot > 0.0 && pivot.is_finite()) {
                        return Err(pivot_error("IC(0)", i));
                    }
                    values[k] = T::from_real(T::Real::of(pivot.sqrt()));
                }
            }
        }
        let diagonal = middle.iter().map(|&k| values[k]).collect();
        let factors = Factors { matrix: matrix.clone(), lower: values, diagonal, middle, is_cholesky: true, sign };
        Ok(IncompleteCholesky { factors: Arc::new(factors) })
    }
}

impl<T: WideFloat> Factors<T> {
    fn lower(&self, i: usize) -> impl DoubleEndedIterator<Item = (usize, T)> {
        let range = self.matrix.indptr()[i]..self.middle[i];
        range.map(|k| (self.matrix.indices()[k], self.lower[k]))
    }

    fn upper(&self, i: usize) -> impl DoubleEndedIterator<Item = (usize, T)> {
        let range = self.middle[i] + 1..self.matrix.indptr()[i + 1];
        range.map(|k| (self.matrix.indices()[k], self.lower[k]))
    }

    /// Solves a system with the triangular factors, or with their transposes, in place.
    fn solve(&self, x: &mut [T], is_transposed: bool) {
        let n = x.len();
        match (self.is_cholesky, is_transposed) {
            (true, false) => {
                for i in 0..n {
                    let sum = self.lower(i).fold(x[i], |sum, (j, l)| sum - l * x[j]);
                    x[i] = Float::div(sum, self.diagonal[i]);
                }
                // solves with the conjugate transpose of the factor, column by column
                for i in (0..n).rev() {
                    x[i] = Float::div(x[i], self.diagonal[i]);
                    let xi = x[i];
                    self.lower(i).for_each(|(j, l)| x[j] = x[j] - l.conj() * xi);
                }
            }
            (true, true) => {
                // the transpose of a Hermitian matrix is its conjugate
                x.iter_mut().for_each(|x| *x = x.conj());
                self.solve(x, false);
                x.iter_mut().for_each(|x| *x = x.conj());
                return;
            }
            (false, false) => {
                for i in 0..n {
                    x[i] = self.lower(i).fold(x[i], |sum, (j, l)| sum - l * x[j]);
                }
                for i in (0..n).rev() {
                    let sum = self.upper(i).fold(x[i], |sum, (j, u)| sum - u * x[j]);
                    x[i] = Float::div(sum, self.diagonal[i]);
                }
            }
            (false, true) => {
                for i in 0..n {
                    x[i] = Float::div(x[i], self.diagonal[i]);
                    let xi = x[i];
                    self.upper(i).for_each(|(j, u)| x[j] = x[j] - u * xi);
                }
                for i in (0..n).rev() {
                    let xi = x[i];
                    self.lower(i).for_each(|(j, l)| x[j] = x[j] - l * xi);
                }
            }
        }
        x.iter_mut().for_each(|x| *x = self.sign * *x);
    }

    fn apply<B: Backend>(&self, b: &B, r: &B::Array<T>, is_transposed: bool) -> Result<B::Array<T>> {
        let n = self.diagonal.len();
        if r.shape().last() != Some(&n) {
            return Err(Error::shapes("incomplete factorization", &self.matrix.shape(), r.shape()));
        }
        let mut x = b.to_vec::<T>(r)?;
        if n > 0 {
            x.chunks_mut(n).for_each(|x| self.solve(x, is_transposed));
        }
        b.reshape(b.from_iter(x)?, r.shape())
    }
}

macro_rules! preconditioner {
    ($type:ident, $name:literal) => {
        impl<B: Backend, T: WideFloat> Preconditioner<B, T> for $type<T> {
            fn apply(&self, b: &B, r: &B::Array<T>) -> Result<B::Array<T>> {
                self.factors.apply(b, r, false)
            }

            fn apply_transposed(&self, b: &B, r: &B::Array<T>) -> Result<Option<B::Array<T>>> {
                self.factors.apply(b, r, true).map(Some)
            }

            fn name(&self) -> &'static str {
                $name
            }
        }
    };
}
preconditioner!(IncompleteLu, "ILU(0)");
preconditioner!(IncompleteCholesky, "IC(0)");
