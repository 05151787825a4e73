//! Sparse matrices in CSR format: compressed rows.

use super::{
    coo::Coo,
    csc::Csc,
    dia::Dia,
    structure::{check_indices, check_pointers, check_shape, pointers_of, rows_of},
};
use backends::{ArrayAttributes, Arrays, Backend, DType, Element, Error, Numeric, Result};

/// A sparse matrix of compressed rows (CSR). It consists of three arrays: the values of its elements, row after row;
/// the column of each element; and the position of the first element of each row, followed by the total number of
/// elements.
///
/// Within a row, columns may be in any order, and duplicates add up. Matrices that result from a conversion have
/// ascending columns without duplicates.
pub struct Csr<B: Arrays, T: Element> {
    values: B::Array<T>,
    indices: B::Array<i64>,
    indptr: B::Array<i64>,
    shape: [usize; 2],
}

impl<B: Arrays, T: Element> Clone for Csr<B, T> {
    fn clone(&self) -> Self {
        let Csr { values, indices, indptr, shape } = self;
        Csr { values: values.clone(), indices: indices.clone(), indptr: indptr.clone(), shape: *shape }
    }
}

impl<B: Backend, T: Numeric> Csr<B, T> {
    /// Creates a matrix of this shape from its values, the column of each value (`indices`), and `shape[0] + 1`
    /// pointers (`indptr`): row `i` has the elements `indptr[i]..indptr[i + 1]`. Waits for the device to check the
    /// indices.
    ///
    /// # Errors
    /// `Error::Shape` if an array is not 1-D, if the number of pointers is not `shape[0] + 1`, or if rows times columns
    /// exceeds `i64`; `Error::Shapes` if values and indices differ in length; `Error::Index` if a column is negative or
    /// outside of the shape; `Error::Argument` if the pointers do not ascend from 0 to the number of elements.
    pub fn new(
        b: &B,
        values: B::Array<T>,
        indices: B::Array<i64>,
        indptr: B::Array<i64>,
        shape: [usize; 2],
    ) -> Result<Csr<B, T>> {
        const OP: &str = "Csr::new";
        check_shape(OP, shape)?;
        if values.ndim() != 1 {
            return Err(Error::shape(OP, values.shape(), "must have one axis"));
        }
        if indices.shape() != values.shape() {
            return Err(Error::shapes(OP, values.shape(), indices.shape()));
        }
        if indptr.shape() != [shape[0] + 1] {
            let why = format!("must be one pointer for each of {} rows, and one more", shape[0]);
            return Err(Error::shape(OP, indptr.shape(), why));
        }
        check_pointers(OP, b, &indptr, values.len())?;
        check_indices(OP, b, &indices, 1, shape[1])?;
        Ok(Csr { values, indices, indptr, shape })
    }

    /// Creates a matrix from arrays that the caller has checked.
    pub(super) fn of(
        values: B::Array<T>,
        indices: B::Array<i64>,
        indptr: B::Array<i64>,
        shape: [usize; 2],
    ) -> Csr<B, T> {
        Csr { values, indices, indptr, shape }
    }

    /// Returns the nonzero elements of a dense matrix. Waits for the device to count these elements.
    ///
    /// # Errors
    /// `Error::Shape` if `x` does not have two axes.
    pub fn from_dense(b: &B, x: &B::Array<T>) -> Result<Csr<B, T>> {
        let elements = Coo::from_dense(b, x)?;
        // `elements` is in C order and has no duplicates, so only the row starts (`indptr`) are missing
        let indptr = pointers_of(b, elements.row_indices(), elements.shape()[0])?;
        Ok(Csr::of(elements.values().clone(), elements.column_indices().clone(), indptr, elements.shape()))
    }

    /// The identity matrix with `n` rows.
    ///
    /// # Errors
    /// `Error::Memory` if memory is insufficient.
    pub fn eye(b: &B, n: usize) -> Result<Csr<B, T>> {
        check_shape("Csr::eye", [n, n])?;
        Ok(Csr::of(b.ones([n])?, b.arange(0, n as i64, 1)?, b.arange(0, n as i64 + 1, 1)?, [n, n]))
    }

    /// The stored values.
    pub fn values(&self) -> &B::Array<T> {
        &self.values
    }

    /// The column of each stored element.
    pub fn indices(&self) -> &B::Array<i64> {
        &self.indices
    }

    /// The position of the first element of each row, followed by the number of all elements.
    pub fn indptr(&self) -> &B::Array<i64> {
        &self.indptr
    }

    /// The numbers of rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// Number of stored elements, including zeros and duplicates.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// The dtype of the values.
    pub fn dtype(&self) -> DType {
        T::DTYPE
    }

    /// Returns a matrix with the given values at the positions of this matrix's elements.
    ///
    /// # Errors
    /// `Error::Shapes` if the number of values is not the number of stored elements.
    pub fn with_values<U: Numeric>(&self, values: B::Array<U>) -> Result<Csr<B, U>> {
        if values.shape() != self.indices.shape() {
            return Err(Error::shapes("Csr::with_values", self.indices.shape(), values.shape()));
        }
        Ok(Csr::of(values, self.indices.clone(), self.indptr.clone(), self.shape))
    }

    /// The product with a vector, or with each column of a matrix.
    ///
    /// # Errors
    /// `Error::Shapes` if the number of rows of `x` is not the number of this matrix's columns; `Error::Shape` if `x`
    /// has neither one axis nor two.
    pub fn matmul(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        self.fits("csr_matmul", self.shape, x)?;
        b.csr_matmul(&self.values, &self.indices, &self.indptr, x)
    }

    /// The product of the transpose with a vector, or with each column of a matrix. For real matrices the transpose is
    /// the adjoint.
    ///
    /// # Errors
    /// `Error::Shapes` if `x` has another number of rows than this matrix; `Error::Shape` if `x` has neither one axis
    /// nor two.
    pub fn transpose_matmul(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        let [rows, columns] = self.shape;
        self.fits("csc_matmul", [columns, rows], x)?;
        b.csc_matmul(&self.values, &self.indices, &self.indptr, x, columns)
    }

    /// Returns an error if the number of rows of `x` is not the number of columns in `shape`.
    fn fits(&self, op: &'static str, shape: [usize; 2], x: &B::Array<T>) -> Result<()> {
        match x.shape().first() {
            Some(&len) if len != shape[1] => Err(Error::shapes(op, &shape, x.shape())),
            _ => Ok(()), // the op checks the rest
        }
    }

    /// Converts to COO, which stores the row of each element instead of the row starts (`indptr`).
    ///
    /// # Errors
    /// The errors of the ops that run.
    pub fn to_coo(&self, b: &B) -> Result<Coo<B, T>> {
        let rows = rows_of(b, &self.indptr, self.nnz())?;
        Ok(Coo::of(self.values.clone(), rows, self.indices.clone(), self.shape))
    }

    /// The matrix as a dense array of its shape.
    ///
    /// # Errors
    /// `Error::Memory` if memory is insufficient.
    pub fn to_dense(&self, b: &B) -> Result<B::Array<T>> {
        self.to_coo(b)?.to_dense(b)
    }

    /// The transpose. It shares the arrays of this matrix, read as compressed columns.
    #[must_use]
    pub fn transpose(&self) -> Csc<B, T> {
        Csc::of_transpose(self.clone())
    }

    /// Converts to CSC.
    ///
    /// # Errors
    /// The errors of the ops that run.
    pub fn to_csc(&self, b: &B) -> Result<Csc<B, T>> {
        self.to_coo(b)?.to_csc(b)
    }

    /// Converts to DIA; see [`Coo::to_dia`].
    ///
    /// # Errors
    /// The errors of [`Coo::to_dia`].
    pub fn to_dia(&self, b: &B) -> Result<Dia<B, T>> {
        self.to_coo(b)?.to_dia(b)
    }
}
