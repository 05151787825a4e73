//! Matrices of compressed rows.

use super::{
    coo::Coo,
    csc::Csc,
    dia::Dia,
    structure::{check_indices, check_pointers, check_shape, pointers_of, rows_of},
};
use backends::{ArrayAttributes, Arrays, Backend, DType, Element, Error, Numeric, Result};

/// A sparse matrix of compressed rows (CSR): the values of its elements, row after row, the column of each, and for each row the place
/// of its first element, with the number of all elements behind the last.
///
/// Within a row the columns may stand in any order and more than once, and add up; matrices that were converted have them ascending
/// and single.
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
    /// The matrix of this shape with these values, the column of each (`indices`), and `shape[0] + 1` pointers (`indptr`): row `i` has the
    /// elements `indptr[i]..indptr[i + 1]`. It waits for the check of the indices.
    ///
    /// # Errors
    /// `Error::Shape` where an array does not have one axis, there are not as many pointers, or the shape has more places than `i64`
    /// counts; `Error::Shapes` where values and indices differ in length; `Error::Index` where a column is negative or outside of the
    /// shape; `Error::Argument` where the pointers do not ascend from 0 to the number of elements.
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
            return Err(Error::shape(OP, values.shape(), "is not that of 1-D values"));
        }
        if indices.shape() != values.shape() {
            return Err(Error::shapes(OP, values.shape(), indices.shape()));
        }
        if indptr.shape() != [shape[0] + 1] {
            let why = format!("is not that of the pointers of {} rows, one more than there are rows", shape[0]);
            return Err(Error::shape(OP, indptr.shape(), why));
        }
        check_pointers(OP, b, &indptr, values.len())?;
        check_indices(OP, b, &indices, 1, shape[1])?;
        Ok(Csr { values, indices, indptr, shape })
    }

    /// Of arrays that make a matrix, as the caller has seen to.
    pub(super) fn of(
        values: B::Array<T>,
        indices: B::Array<i64>,
        indptr: B::Array<i64>,
        shape: [usize; 2],
    ) -> Csr<B, T> {
        Csr { values, indices, indptr, shape }
    }

    /// The elements that are not 0 of a dense matrix. It waits for their number.
    ///
    /// # Errors
    /// `Error::Shape` where `x` does not have two axes.
    pub fn from_dense(b: &B, x: &B::Array<T>) -> Result<Csr<B, T>> {
        let elements = Coo::from_dense(b, x)?;
        // they come in C order, each once
        let indptr = pointers_of(b, elements.row_indices(), elements.shape()[0])?;
        Ok(Csr::of(elements.values().clone(), elements.column_indices().clone(), indptr, elements.shape()))
    }

    /// The identity of `n` rows.
    ///
    /// # Errors
    /// `Error::Memory` where there is not so much.
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

    /// The place of the first element of each row, and the number of all elements.
    pub fn indptr(&self) -> &B::Array<i64> {
        &self.indptr
    }

    /// Rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// How many elements are stored, zeros and duplicates too.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// The dtype of the values.
    pub fn dtype(&self) -> DType {
        T::DTYPE
    }

    /// Other values at the same places.
    ///
    /// # Errors
    /// `Error::Shapes` where there are not as many.
    pub fn with_values<U: Numeric>(&self, values: B::Array<U>) -> Result<Csr<B, U>> {
        if values.shape() != self.indices.shape() {
            return Err(Error::shapes("Csr::with_values", self.indices.shape(), values.shape()));
        }
        Ok(Csr::of(values, self.indices.clone(), self.indptr.clone(), self.shape))
    }

    /// The product with a vector, or with each column of a matrix.
    ///
    /// # Errors
    /// `Error::Shapes` where `x` does not have as many rows as this matrix has columns; `Error::Shape` where it has neither one
    /// axis nor two.
    pub fn matmul(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        self.fits("csr_matmul", self.shape, x)?;
        b.csr_matmul(&self.values, &self.indices, &self.indptr, x)
    }

    /// The product of the transpose with a vector, or with each column of a matrix. For real matrices it is the adjoint.
    ///
    /// # Errors
    /// `Error::Shapes` where `x` does not have as many rows as this matrix; `Error::Shape` where it has neither one axis nor two.
    pub fn transpose_matmul(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        let [rows, columns] = self.shape;
        self.fits("csc_matmul", [columns, rows], x)?;
        b.csc_matmul(&self.values, &self.indices, &self.indptr, x, columns)
    }

    /// Whether `x` has the rows of what a matrix of this shape is multiplied with.
    fn fits(&self, op: &'static str, shape: [usize; 2], x: &B::Array<T>) -> Result<()> {
        match x.shape().first() {
            Some(&len) if len != shape[1] => Err(Error::shapes(op, &shape, x.shape())),
            _ => Ok(()), // the op has the rest to say
        }
    }

    /// The same elements with the row of each in place of the pointers.
    ///
    /// # Errors
    /// Those of the ops that are run.
    pub fn to_coo(&self, b: &B) -> Result<Coo<B, T>> {
        let rows = rows_of(b, &self.indptr, self.nnz())?;
        Ok(Coo::of(self.values.clone(), rows, self.indices.clone(), self.shape))
    }

    /// The matrix in full: an array of its shape.
    ///
    /// # Errors
    /// `Error::Memory` where there is not so much.
    pub fn to_dense(&self, b: &B) -> Result<B::Array<T>> {
        self.to_coo(b)?.to_dense(b)
    }

    /// Rows as columns, and columns as rows: the same arrays, read as those of compressed columns.
    #[must_use]
    pub fn transpose(&self) -> Csc<B, T> {
        Csc::of_transpose(self.clone())
    }

    /// The same matrix with its columns one after another.
    ///
    /// # Errors
    /// Those of the ops that are run.
    pub fn to_csc(&self, b: &B) -> Result<Csc<B, T>> {
        self.to_coo(b)?.to_csc(b)
    }

    /// The same matrix as diagonals: see [`Coo::to_dia`].
    ///
    /// # Errors
    /// As those of [`Coo::to_dia`].
    pub fn to_dia(&self, b: &B) -> Result<Dia<B, T>> {
        self.to_coo(b)?.to_dia(b)
    }
}
