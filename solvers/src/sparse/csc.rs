//! Matrices of compressed columns.

use super::{coo::Coo, csr::Csr, dia::Dia};
use backends::{ArrayAttributes, Arrays, Backend, DType, Element, Error, Numeric, Result};

/// A sparse matrix of compressed columns (CSC): the values of its elements, column after column, the row of each, and for each column the
/// place of its first element, with the number of all elements behind the last. It is the transpose of a [`Csr`] of the same arrays.
pub struct Csc<B: Arrays, T: Element> {
    transposed: Csr<B, T>,
}

impl<B: Arrays, T: Element> Clone for Csc<B, T> {
    fn clone(&self) -> Self {
        Csc { transposed: self.transposed.clone() }
    }
}

impl<B: Arrays, T: Element> Csc<B, T> {
    /// The transpose of a matrix.
    pub(super) fn of_transpose(transposed: Csr<B, T>) -> Csc<B, T> {
        Csc { transposed }
    }

    /// The matrix of which this is the transpose.
    pub(super) fn as_transpose(&self) -> &Csr<B, T> {
        &self.transposed
    }
}

impl<B: Backend, T: Numeric> Csc<B, T> {
    /// The matrix of this shape with these values, the row of each (`indices`), and `shape[1] + 1` pointers (`indptr`): column `j` has the
    /// elements `indptr[j]..indptr[j + 1]`. It waits for the check of the indices.
    ///
    /// # Errors
    /// As those of [`Csr::new`] of the transpose, in whose words they are.
    pub fn new(
        b: &B,
        values: B::Array<T>,
        indices: B::Array<i64>,
        indptr: B::Array<i64>,
        shape: [usize; 2],
    ) -> Result<Csc<B, T>> {
        let [rows, columns] = shape;
        let named = |why: Error| match why {
            Error::Index { index, len, .. } => Error::index("Csc::new", index, 0, len),
            why => why.within("Csc::new"),
        };
        Ok(Csr::new(b, values, indices, indptr, [columns, rows]).map_err(named)?.transpose())
    }

    /// The elements that are not 0 of a dense matrix. It waits for their number.
    ///
    /// # Errors
    /// `Error::Shape` where `x` does not have two axes.
    pub fn from_dense(b: &B, x: &B::Array<T>) -> Result<Csc<B, T>> {
        if x.ndim() != 2 {
            return Err(Error::shape("Csc::from_dense", x.shape(), "is not that of a matrix"));
        }
        Ok(Csr::from_dense(b, &b.matrix_transpose(x)?)?.transpose())
    }

    /// The identity of `n` rows.
    ///
    /// # Errors
    /// `Error::Memory` where there is not so much.
    pub fn eye(b: &B, n: usize) -> Result<Csc<B, T>> {
        Ok(Csr::eye(b, n)?.transpose())
    }

    /// The stored values.
    pub fn values(&self) -> &B::Array<T> {
        self.transposed.values()
    }

    /// The row of each stored element.
    pub fn indices(&self) -> &B::Array<i64> {
        self.transposed.indices()
    }

    /// The place of the first element of each column, and the number of all elements.
    pub fn indptr(&self) -> &B::Array<i64> {
        self.transposed.indptr()
    }

    /// Rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        let [columns, rows] = self.transposed.shape();
        [rows, columns]
    }

    /// How many elements are stored, zeros and duplicates too.
    pub fn nnz(&self) -> usize {
        self.transposed.nnz()
    }

    /// The dtype of the values.
    pub fn dtype(&self) -> DType {
        T::DTYPE
    }

    /// Other values at the same places.
    ///
    /// # Errors
    /// `Error::Shapes` where there are not as many.
    pub fn with_values<U: Numeric>(&self, values: B::Array<U>) -> Result<Csc<B, U>> {
        Ok(self.transposed.with_values(values).map_err(|why| why.within("Csc::with_values"))?.transpose())
    }

    /// The product with a vector, or with each column of a matrix.
    ///
    /// # Errors
    /// `Error::Shapes` where `x` does not have as many rows as this matrix has columns; `Error::Shape` where it has neither one
    /// axis nor two.
    pub fn matmul(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        self.transposed.transpose_matmul(b, x)
    }

    /// The product of the transpose with a vector, or with each column of a matrix.
    ///
    /// # Errors
    /// `Error::Shapes` where `x` does not have as many rows as this matrix; `Error::Shape` where it has neither one axis nor two.
    pub fn transpose_matmul(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        self.transposed.matmul(b, x)
    }

    /// Rows as columns, and columns as rows: the same arrays, read as those of compressed rows.
    #[must_use]
    pub fn transpose(&self) -> Csr<B, T> {
        self.transposed.clone()
    }

    /// The same elements with the column of each in place of the pointers.
    ///
    /// # Errors
    /// Those of the ops that are run.
    pub fn to_coo(&self, b: &B) -> Result<Coo<B, T>> {
        Ok(self.transposed.to_coo(b)?.transpose())
    }

    /// The same matrix with its rows one after another.
    ///
    /// # Errors
    /// Those of the ops that are run.
    pub fn to_csr(&self, b: &B) -> Result<Csr<B, T>> {
        self.to_coo(b)?.to_csr(b)
    }

    /// The same matrix as diagonals: see [`Coo::to_dia`].
    ///
    /// # Errors
    /// As those of [`Coo::to_dia`].
    pub fn to_dia(&self, b: &B) -> Result<Dia<B, T>> {
        self.to_coo(b)?.to_dia(b)
    }

    /// The matrix in full: an array of its shape.
    ///
    /// # Errors
    /// `Error::Memory` where there is not so much.
    pub fn to_dense(&self, b: &B) -> Result<B::Array<T>> {
        self.to_coo(b)?.to_dense(b)
    }

    /// The columns of a range, as a matrix of their own; see [`Csr::rows`].
    ///
    /// # Errors
    /// `Error::Argument` where it is no range of the columns.
    pub fn columns(&self, b: &B, range: std::ops::Range<usize>) -> Result<Csc<B, T>> {
        Ok(self.transposed.rows(b, range)?.transpose())
    }

    /// The rows of a range, as a matrix of their own.
    ///
    /// # Errors
    /// `Error::Argument` where it is no range of the rows.
    pub fn rows(&self, b: &B, range: std::ops::Range<usize>) -> Result<Csc<B, T>> {
        Ok(self.transposed.columns(b, range)?.transpose())
    }

    /// Each value conjugated; the same of real numbers.
    ///
    /// # Errors
    /// Those of the op.
    pub fn conj(&self, b: &B) -> Result<Csc<B, T>> {
        Ok(self.transposed.conj(b)?.transpose())
    }
}
