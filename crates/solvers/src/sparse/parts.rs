//! Slices, blocks and sums of CSR matrices.

use super::{
    csr::Csr,
    structure::{check_range, gathered, number_at, pointers, rows_of},
};
use backends::{ArrayAttributes, Backend, Error, IntoAxisOrAll, Numeric, Result, lazy, slices};
use std::ops::Range;

impl<B: Backend, T: Numeric> Csr<B, T> {
    /// Returns a matrix of the stored elements for which the mask is true. Waits for the device to count them.
    pub(super) fn kept(&self, b: &B, mask: &B::Array<bool>) -> Result<Csr<B, T>> {
        let places = b.nonzero(mask)?.swap_remove(0);
        // for each element, the number of preceding elements for which the mask is true
        let before = pointers(b, &b.astype::<i64, _>(mask)?)?;
        let indptr = b.take(before, self.indptr(), 0)?;
        let (values, indices) = (b.take(self.values(), &places, 0)?, b.take(self.indices(), &places, 0)?);
        Ok(Csr::of(values, indices, indptr, self.shape()))
    }

    /// A range of rows, as a separate matrix. Waits for the device to return the pointers at both ends of the range.
    ///
    /// # Errors
    /// `Error::Argument` if the range is not within the rows.
    pub fn rows(&self, b: &B, range: Range<usize>) -> Result<Csr<B, T>> {
        let [rows, columns] = self.shape();
        check_range("Csr::rows", &range, 0, rows)?;
        let (begin, end) = (number_at(b, self.indptr(), range.start)?, number_at(b, self.indptr(), range.end)?);
        let part = slices![begin..end];
        let indptr = b.subtract(b.getitem(self.indptr(), slices![range.start..range.end + 1])?, begin as i64)?;
        let values = b.getitem(self.values(), part)?;
        Ok(Csr::of(values, b.getitem(self.indices(), part)?, indptr, [range.len(), columns]))
    }

    /// A range of columns, as a separate matrix. Waits for the device to count the elements.
    ///
    /// # Errors
    /// `Error::Argument` if the range is not within the columns.
    pub fn columns(&self, b: &B, range: Range<usize>) -> Result<Csr<B, T>> {
        let [rows, columns] = self.shape();
        check_range("Csr::columns", &range, 1, columns)?;
        let (first, end) = (range.start as i64, range.end as i64);
        let inside = (lazy(self.indices()).greater_equal(first) & lazy(self.indices()).less(end)).eval(b)?;
        let part = self.kept(b, &inside)?;
        let indices = b.subtract(part.indices(), first)?;
        Ok(Csr::of(part.values().clone(), indices, part.indptr().clone(), [rows, range.len()]))
    }

    /// The block of a range of rows and a range of columns. Waits for the device to count the elements.
    ///
    /// # Errors
    /// `Error::Argument` if a range is not within its axis.
    pub fn block(&self, b: &B, rows: Range<usize>, columns: Range<usize>) -> Result<Csr<B, T>> {
        self.rows(b, rows)?.columns(b, columns)
    }

    /// The rows at these indices, in the order of the indices and with repetitions; negative indices count from the
    /// end. Waits for the device to count the elements.
    ///
    /// # Errors
    /// `Error::Shape` if the indices are not 1-D; `Error::Index` if an index is out of range.
    pub fn take_rows(&self, b: &B, indices: &B::Array<i64>) -> Result<Csr<B, T>> {
        const OP: &str = "Csr::take_rows";
        if indices.ndim() != 1 {
            return Err(Error::shape(OP, indices.shape(), "must have one axis"));
        }
        let [rows, columns] = self.shape();
        let indices = b.r#where(b.less(indices, 0)?, b.add(indices, rows as i64)?, indices)?;
        super::structure::check_indices(OP, b, &indices, 0, rows)?;
        let part = gathered(b, self.indptr(), &indices)?;
        let (values, columns_of) = (b.take(self.values(), &part.place, 0)?, b.take(self.indices(), &part.place, 0)?);
        Ok(Csr::of(values, columns_of, part.indptr, [indices.len(), columns]))
    }

    /// One element, as a 0-D array. Waits for the device to return the pointers of the element's row.
    ///
    /// # Errors
    /// `Error::Index` if the position is outside of the matrix.
    pub fn get(&self, b: &B, row: usize, column: usize) -> Result<B::Array<T>> {
        for (axis, index) in [row, column].into_iter().enumerate() {
            let len = self.shape()[axis];
            if index >= len {
                return Err(Error::index("Csr::get", index as i128, axis, len));
            }
        }
        let row = self.rows(b, row..row + 1)?;
        let here = b.equal(row.indices(), column as i64)?;
        b.sum_as::<T, T>(b.r#where(here, row.values(), T::ZERO)?, ..)
    }

    /// A diagonal as a vector: offset 0 is the main diagonal, positive offsets lie above it. Empty if the diagonal is
    /// outside of the matrix.
    ///
    /// # Errors
    /// The errors of the ops that run.
    pub fn diagonal(&self, b: &B, offset: isize) -> Result<B::Array<T>> {
        let [rows, columns] = self.shape();
        let first = if offset < 0 { offset.unsigned_abs() } else { 0 };
        let len = rows.saturating_sub(first).min(columns.saturating_sub(offset.max(0) as usize));
        if len == 0 {
            return b.zeros([0]);
        }
        let row_of = rows_of(b, self.indptr(), self.nnz())?;
        let on = (lazy(self.indices()) - &row_of).equal(offset as i64);
        let values = on.r#where(self.values(), lazy(T::ZERO)).eval(b)?;
        let places = on.r#where(lazy(&row_of) - first as i64, 0).eval(b)?;
        b.segment_sum(values, places, len)
    }

    /// The sum of all elements (axis `..`), of each column (axis 0), or of each row (axis 1).
    ///
    /// # Errors
    /// `Error::Axis` for another axis.
    pub fn sum(&self, b: &B, axis: impl IntoAxisOrAll) -> Result<B::Array<T>> {
        let [rows, columns] = self.shape();
        match axis.axis_or_all() {
            None => b.sum_as::<T, T>(self.values(), ..),
            Some(0 | -2) => self.transpose_matmul(b, &b.ones([rows])?),
            Some(1 | -1) => self.matmul(b, &b.ones([columns])?),
            Some(axis) => Err(Error::axis("Csr::sum", axis as i128, 2)),
        }
    }
}
