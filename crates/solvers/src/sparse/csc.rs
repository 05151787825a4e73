//! Sparse matrices in CSC format: compressed columns.

use super::{coo::Coo, csr::Csr, dia::Dia};
use backends::{ArrayAttributes, Arrays, Backend, DType, Element, Error, Numeric, Result};

/// A sparse matrix of compressed columns (CSC). It consists of three arrays: the values of its elements, column after
/// column; the row of each element; and the position of the first element of each column, followed by the total number
/// of elements. It is the transpose of a [`Csr`] with the same arrays.
pub struct Csc<B: Arrays, T: Element> {
    transposed: Csr<B, T>,
}

impl<B: Arrays, T: Element> Clone for Csc<B, T> {
    fn clone(&self) -> Self {
        Csc { transposed: self.transposed.clone() }
    }
}

impl<B: Arrays, T: Element> Csc<B, T> {
    /// Creates the transpose of a CSR matrix, with the same arrays.
    pub(super) fn of_transpose(transposed: Csr<B, T>) -> Csc<B, T> {
        Csc { transposed }
    }

    /// The CSR matrix with the same arrays, whose transpose is this matrix.
    pub(super) fn as_transpose(&self) -> &Csr<B, T> {
        &self.transposed
    }
}

impl<B: Backend, T: Numeric> Csc<B, T> {
    /// Creates a matrix of this shape from its values, the row of each value (`indices`), and `shape[1] + 1` pointers
    /// (`indptr`): column `j` has the elements `indptr[j]..indptr[j + 1]`. Waits for the device to check the indices.
    ///
    /// # Errors
    /// The errors of [`Csr::new`] for the transpose; their texts name the rows and columns of the transpose.
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

    /// Returns the nonzero elements of a dense matrix. Waits for the device to count these elements.
    ///
    /// # Errors
    /// `Error::Shape` if `x` does not have two axes.
    pub fn from_dense(b: &B, x: &B::Array<T>) -> Result<Csc<B, T>> {
        if x.ndim() != 2 {
            return Err(Error::shape("Csc::from_dense", x.shape(), "must have two axes"));
        }
        Ok(Csr::from_dense(b, &b.matrix_transpose(x)?)?.transpose())
    }

    /// The identity matrix with `n` rows.
    ///
    /// # Errors
    /// `Error::Memory` if memory is insufficient.
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

    /// The position of the first element of each column, followed by the number of all elements.
    pub fn indptr(&self) -> &B::Array<i64> {
        self.transposed.indptr()
    }

    /// The numbers of rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        let [columns, rows] = self.transposed.shape();
        [rows, columns]
    }

    /// Number of stored elements, including zeros and duplicates.
    pub fn nnz(&self) -> usize {
        self.transposed.nnz()
    }

    /// The dtype of the values.
    pub fn dtype(&self) -> DType {
        T::DTYPE
    }

    /// Returns a matrix with the given values at the positions of this matrix's elements.
    ///
    /// # Errors
    /// `Error::Shapes` if the number of values is not the number of stored elements.
    pub fn with_values<U: Numeric>(&self, values: B::Array<U>) -> Result<Csc<B, U>> {
        Ok(self.transposed.with_values(values).map_err(|why| why.within("Csc::with_values"))?.transpose())
    }

    /// The product with a vector, or with each column of a matrix.
    ///
    /// # Errors
    /// `Error::Shapes` if the number of rows of `x` is not the number of this matrix's columns; `Error::Shape` if `x`
    /// has neither one axis nor two.
    pub fn matmul(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        self.transposed.transpose_matmul(b, x)
    }

    /// The product of the transpose with a vector, or with each column of a matrix.
    ///
    /// # Errors
    /// `Error::Shapes` if `x` has another number of rows than this matrix; `Error::Shape` if `x` has neither one axis
    /// nor two.
    pub fn transpose_matmul(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        self.transposed.matmul(b, x)
    }

    /// The transpose. It shares the arrays of this matrix, read as compressed rows.
    #[must_use]
    pub fn transpose(&self) -> Csr<B, T> {
        self.transposed.clone()
    }

    /// Converts to COO, which stores the column of each element instead of the column starts (`indptr`).
    ///
    /// # Errors
    /// The errors of the ops that run.
    pub fn to_coo(&self, b: &B) -> Result<Coo<B, T>> {
        Ok(self.transposed.to_coo(b)?.transpose())
    }

    /// Converts to CSR.
    ///
    /// # Errors
    /// The errors of the ops that run.
    pub fn to_csr(&self, b: &B) -> Result<Csr<B, T>> {
        self.to_coo(b)?.to_csr(b)
    }

    /// Converts to DIA; see [`Coo::to_dia`].
    ///
    /// # Errors
    /// The errors of [`Coo::to_dia`].
    pub fn to_dia(&self, b: &B) -> Result<Dia<B, T>> {
        self.to_coo(b)?.to_dia(b)
    }

    /// The matrix as a dense array of its shape.
    ///
    /// # Errors
    /// `Error::Memory` if memory is insufficient.
    pub fn to_dense(&self, b: &B) -> Result<B::Array<T>> {
        self.to_coo(b)?.to_dense(b)
    }

    /// A range of columns, as a separate matrix; see [`Csr::rows`].
    ///
    /// # Errors
    /// `Error::Argument` if the range is not within the columns.
    pub fn columns(&self, b: &B, range: std::ops::Range<usize>) -> Result<Csc<B, T>> {
        Ok(self.transposed.rows(b, range)?.transpose())
    }

    /// A range of rows, as a separate matrix.
    ///
    /// # Errors
    /// `Error::Argument` if the range is not within the rows.
    pub fn rows(&self, b: &B, range: std::ops::Range<usize>) -> Result<Csc<B, T>> {
        Ok(self.transposed.columns(b, range)?.transpose())
    }

    /// Conjugates each value; no change for real matrices.
    ///
    /// # Errors
    /// The errors of the op.
    pub fn conj(&self, b: &B) -> Result<Csc<B, T>> {
        Ok(self.transposed.conj(b)?.transpose())
    }
}
