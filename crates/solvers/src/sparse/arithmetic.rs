//! Sums and products of CSR matrices.

use super::{
    coo::Coo,
    csr::Csr,
    structure::{gathered, rows_of},
};
use backends::{ArrayAttributes, Backend, Error, IntoOperand, Numeric, Result, lazy};

impl<B: Backend, T: Numeric> Csr<B, T> {
    /// Conjugates each value; no change for real matrices.
    ///
    /// # Errors
    /// The errors of the op.
    pub fn conj(&self, b: &B) -> Result<Csr<B, T>> {
        self.with_values(b.conj(self.values())?)
    }

    /// Multiplies each stored value by the same number, or by the same 0-D array.
    ///
    /// # Errors
    /// `Error::Shapes` if `by` does not broadcast to the shape of the values.
    pub fn scale<'a, K>(&'a self, b: &B, by: impl IntoOperand<'a, B, T, K>) -> Result<Csr<B, T>> {
        self.with_values(b.multiply(self.values(), by)?).map_err(|why| why.within("Csr::scale"))
    }

    /// Multiplies each row by the corresponding element of a vector: the product with a diagonal matrix from the left.
    ///
    /// # Errors
    /// `Error::Shapes` if the vector does not have one element for each row.
    pub fn scale_rows(&self, b: &B, by: &B::Array<T>) -> Result<Csr<B, T>> {
        self.check_vector("Csr::scale_rows", 0, by)?;
        let rows = rows_of(b, self.indptr(), self.nnz())?;
        self.with_values(b.multiply(self.values(), b.take(by, rows, 0)?)?)
    }

    /// Multiplies each column by the corresponding element of a vector: the product with a diagonal matrix from the
    /// right.
    ///
    /// # Errors
    /// `Error::Shapes` if the vector does not have one element for each column.
    pub fn scale_columns(&self, b: &B, by: &B::Array<T>) -> Result<Csr<B, T>> {
        self.check_vector("Csr::scale_columns", 1, by)?;
        self.with_values(b.multiply(self.values(), b.take(by, self.indices(), 0)?)?)
    }

    fn check_vector(&self, op: &'static str, axis: usize, by: &B::Array<T>) -> Result<()> {
        if by.shape() == [self.shape()[axis]] { Ok(()) } else { Err(Error::shapes(op, &self.shape(), by.shape())) }
    }

    fn check_same_shape(&self, op: &'static str, other: &Csr<B, T>) -> Result<()> {
        if self.shape() == other.shape() { Ok(()) } else { Err(Error::shapes(op, &self.shape(), &other.shape())) }
    }

    /// The sum of two matrices. It stores the elements that either matrix stores.
    ///
    /// # Errors
    /// `Error::Shapes` if the two matrices differ in shape.
    pub fn add(&self, b: &B, other: &Csr<B, T>) -> Result<Csr<B, T>> {
        self.check_same_shape("Csr::add", other)?;
        let (x, y) = (self.to_coo(b)?, other.to_coo(b)?);
        let values = b.concat([x.values(), y.values()])?;
        let rows = b.concat([x.row_indices(), y.row_indices()])?;
        let columns = b.concat([x.column_indices(), y.column_indices()])?;
        Coo::of(values, rows, columns, self.shape()).to_csr(b)
    }

    /// The difference `self - other`. It stores the elements that either matrix stores.
    ///
    /// # Errors
    /// `Error::Shapes` if the two matrices differ in shape.
    pub fn subtract(&self, b: &B, other: &Csr<B, T>) -> Result<Csr<B, T>> {
        self.check_same_shape("Csr::subtract", other)?;
        self.add(b, &other.with_values(b.subtract(T::ZERO, other.values())?)?)
    }

    /// The elementwise product of two matrices. It stores the elements that both matrices store. Waits for the device
    /// to count the elements.
    ///
    /// # Errors
    /// `Error::Shapes` if the two matrices differ in shape.
    pub fn multiply(&self, b: &B, other: &Csr<B, T>) -> Result<Csr<B, T>> {
        self.check_same_shape("Csr::multiply", other)?;
        let (x, y) = (self.sum_duplicates(b)?, other.sum_duplicates(b)?);
        if y.nnz() == 0 {
            return Ok(y);
        }
        let (places, others) = (x.to_coo(b)?.places(b)?, y.to_coo(b)?.places(b)?);
        // for each element of `x`, its index in `y`, or an arbitrary index if `y` does not store the element
        let at = b.minimum(b.searchsorted(&others, &places)?, y.nnz() as i64 - 1)?;
        let both = b.equal(b.take(others, &at, 0)?, places)?;
        x.with_values(b.multiply(x.values(), b.take(y.values(), at, 0)?)?)?.kept(b, &both)
    }

    /// The elementwise product with a dense matrix of the same shape.
    ///
    /// # Errors
    /// `Error::Shapes` if the two matrices differ in shape.
    pub fn multiply_dense(&self, b: &B, x: &B::Array<T>) -> Result<Csr<B, T>> {
        if x.shape() != self.shape() {
            return Err(Error::shapes("Csr::multiply_dense", &self.shape(), x.shape()));
        }
        let taken = b.take(b.reshape(x, -1)?, self.to_coo(b)?.places(b)?, 0)?;
        self.with_values(b.multiply(self.values(), taken)?)
    }

    /// The matrix product with another sparse matrix. Waits for the device to count the elements.
    ///
    /// # Errors
    /// `Error::Shapes` if the number of columns of this matrix is not the number of rows of the other matrix.
    pub fn matmul_sparse(&self, b: &B, other: &Csr<B, T>) -> Result<Csr<B, T>> {
        let ([rows, inner], [others, columns]) = (self.shape(), other.shape());
        if inner != others {
            return Err(Error::shapes("Csr::matmul_sparse", &self.shape(), &other.shape()));
        }
        super::structure::check_shape("Csr::matmul_sparse", [rows, columns])?;
        // each element in column `j` is multiplied by row `j` of the other matrix
        let terms = gathered(b, other.indptr(), self.indices())?;
        let row_of = b.take(rows_of(b, self.indptr(), self.nnz())?, &terms.owner, 0)?;
        let column_of = b.take(other.indices(), &terms.place, 0)?;
        let (left, right) = (b.take(self.values(), &terms.owner, 0)?, b.take(other.values(), &terms.place, 0)?);
        Coo::of(b.multiply(left, right)?, row_of, column_of, [rows, columns]).to_csr(b)
    }

    /// The product of each matrix of a batch with its own vector or matrix in `x`. All matrices of the batch have the
    /// sparsity pattern of this matrix. Row `k` of `values` has the stored values of matrix `k`, which is multiplied by
    /// `x[k]`.
    ///
    /// # Errors
    /// `Error::Shapes` if the rows of `values` do not have one value per stored element, or if `x` does not have one
    /// vector or matrix of the right length for each row of `values`; `Error::Shape` if `values` does not have two
    /// axes, or if `x` has neither two axes nor three.
    pub fn matmul_batched(&self, b: &B, values: &B::Array<T>, x: &B::Array<T>) -> Result<B::Array<T>> {
        const OP: &str = "Csr::matmul_batched";
        let &[batch, stored] = values.shape() else {
            return Err(Error::shape(OP, values.shape(), "must be [matrices, values]"));
        };
        if !(2..=3).contains(&x.ndim()) {
            return Err(Error::shape(
                OP,
                x.shape(),
                "must have two axes (a vector for each matrix) or three (a matrix for each matrix)",
            ));
        }
        let [rows, columns] = self.shape();
        if stored != self.nnz() {
            return Err(Error::shapes(OP, values.shape(), &[batch, self.nnz()]));
        }
        if x.shape()[..2] != [batch, columns] {
            return Err(Error::shapes(OP, &[batch, rows, columns], x.shape()));
        }
        let shape = [&[batch, rows], &x.shape()[2..]].concat();
        if batch == 0 {
            return b.zeros(shape);
        }
        // the batch becomes one large matrix, with the matrices as blocks on its diagonal
        let block = b.expand_dims(b.arange(0, batch as i64, 1)?, 1)?;
        let indices = (lazy(&block) * columns as i64 + self.indices()).eval(b)?;
        let begins = b.getitem(self.indptr(), backends::slices![..-1])?;
        let begins = b.reshape((lazy(&block) * stored as i64 + &begins).eval(b)?, -1)?;
        let indptr = b.concat(&[begins, b.full([1], (batch * stored) as i64)?])?;
        let tall = [&[batch * columns], &x.shape()[2..]].concat();
        let x = b.reshape(x, tall.iter().map(|&len| len as isize).collect::<Vec<_>>())?;
        let y = b.csr_matmul(b.reshape(values, -1)?, b.reshape(indices, -1)?, indptr, x)?;
        b.reshape(y, shape.iter().map(|&len| len as isize).collect::<Vec<_>>())
    }

    /// Returns this matrix with ascending columns in each row, and with duplicates replaced by one element, their sum.
    /// Waits for the device to count the elements.
    ///
    /// # Errors
    /// The errors of the ops that run.
    pub fn sum_duplicates(&self, b: &B) -> Result<Csr<B, T>> {
        self.to_coo(b)?.to_csr(b)
    }

    /// Returns the same matrix without stored zeros. Waits for the device to count the nonzero elements.
    ///
    /// # Errors
    /// The errors of the ops that run.
    pub fn eliminate_zeros(&self, b: &B) -> Result<Csr<B, T>> {
        self.kept(b, &b.not_equal(self.values(), T::ZERO)?)
    }
}
