//! Matrices as lists of elements with their rows and columns.

use super::{
    csr::Csr,
    structure::{check_indices, check_shape, pointers_of, signed},
};
use backends::{ArrayAttributes, Arrays, Backend, Element, Error, Numeric, Result, lazy};

/// A sparse matrix as the value, the row and the column of each stored element, in any order (COO). Elements at one place add up.
pub struct Coo<B: Arrays, T: Element> {
    values: B::Array<T>,
    rows: B::Array<i64>,
    columns: B::Array<i64>,
    shape: [usize; 2],
}

impl<B: Arrays, T: Element> Clone for Coo<B, T> {
    fn clone(&self) -> Self {
        let Coo { values, rows, columns, shape } = self;
        Coo { values: values.clone(), rows: rows.clone(), columns: columns.clone(), shape: *shape }
    }
}

impl<B: Backend, T: Numeric> Coo<B, T> {
    /// The matrix of this shape with these elements, each an array of one axis and one length.
    ///
    /// # Errors
    /// [`Error::Shape`] where the values do not have one axis, or the shape has more places than `i64` counts; [`Error::Shapes`] where
    /// the arrays differ in length; [`Error::Index`] where a row or a column is negative or outside of the shape.
    pub fn new(
        b: &B,
        values: B::Array<T>,
        rows: B::Array<i64>,
        columns: B::Array<i64>,
        shape: [usize; 2],
    ) -> Result<Coo<B, T>> {
        const OP: &str = "Coo::new";
        check_shape(OP, shape)?;
        if values.ndim() != 1 {
            return Err(Error::shape(OP, values.shape(), "is not that of 1-D values"));
        }
        for indices in [&rows, &columns] {
            if indices.shape() != values.shape() {
                return Err(Error::shapes(OP, values.shape(), indices.shape()));
            }
        }
        check_indices(OP, b, &rows, 0, shape[0])?;
        check_indices(OP, b, &columns, 1, shape[1])?;
        Ok(Coo { values, rows, columns, shape })
    }

    /// The matrix of this shape with these elements, each as row, column and value, from the host.
    ///
    /// # Errors
    /// As those of [`Coo::new`].
    pub fn from_triplets(
        b: &B,
        elements: impl IntoIterator<Item = (usize, usize, T)>,
        shape: [usize; 2],
    ) -> Result<Coo<B, T>> {
        let (mut values, mut rows, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        // what does not fit is outside of any shape
        let index = |i: usize| i64::try_from(i).unwrap_or(i64::MAX);
        for (row, column, value) in elements {
            values.push(value);
            rows.push(index(row));
            columns.push(index(column));
        }
        Coo::new(b, b.from_iter(values)?, b.from_iter(rows)?, b.from_iter(columns)?, shape)
    }

    /// Of arrays that make a matrix, as the caller has seen to.
    pub(super) fn of(
        values: B::Array<T>,
        rows: B::Array<i64>,
        columns: B::Array<i64>,
        shape: [usize; 2],
    ) -> Coo<B, T> {
        Coo { values, rows, columns, shape }
    }

    /// The elements that are not 0, in C order, of a dense matrix. It waits for their number.
    ///
    /// # Errors
    /// [`Error::Shape`] where `x` does not have two axes.
    pub fn from_dense(b: &B, x: &B::Array<T>) -> Result<Coo<B, T>> {
        const OP: &str = "Coo::from_dense";
        let &[rows, columns] = x.shape() else {
            return Err(Error::shape(OP, x.shape(), "is not that of a matrix"));
        };
        check_shape(OP, [rows, columns])?;
        let mask = b.not_equal(x, T::ZERO)?;
        let mut places = b.nonzero(&mask)?.into_iter();
        let (Some(row_of), Some(column_of)) = (places.next(), places.next()) else {
            return Err(Error::shape(OP, x.shape(), "is not that of a matrix"));
        };
        let flat = b.add(b.multiply(&row_of, columns as i64)?, &column_of)?;
        let values = b.take(b.reshape(x, -1)?, flat, 0)?;
        Ok(Coo { values, rows: row_of, columns: column_of, shape: [rows, columns] })
    }

    /// The stored values.
    pub fn values(&self) -> &B::Array<T> {
        &self.values
    }

    /// The row of each stored element.
    pub fn row_indices(&self) -> &B::Array<i64> {
        &self.rows
    }

    /// The column of each stored element.
    pub fn column_indices(&self) -> &B::Array<i64> {
        &self.columns
    }

    /// Rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// How many elements are stored, zeros and duplicates too.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// The matrix in full: an array of its shape.
    ///
    /// # Errors
    /// [`Error::Memory`] where there is not so much.
    pub fn to_dense(&self, b: &B) -> Result<B::Array<T>> {
        let [rows, columns] = self.shape;
        let sums = b.segment_sum(&self.values, self.places(b)?, rows * columns)?;
        b.reshape(sums, signed(self.shape))
    }

    /// The place of each element, counted in C order.
    pub(super) fn places(&self, b: &B) -> Result<B::Array<i64>> {
        (lazy(&self.rows) * self.shape[1] as i64 + &self.columns).eval(b)
    }

    /// The same matrix with its rows one after another, the columns of each ascending; elements at one place are one, their sum. It waits for
    /// the number of elements.
    ///
    /// # Errors
    /// Those of the ops that are run.
    pub fn to_csr(&self, b: &B) -> Result<Csr<B, T>> {
        let places = b.unique_inverse(self.places(b)?)?;
        let values = b.segment_sum(&self.values, places.inverse_indices, places.values.len())?;
        let width = (self.shape[1] as i64).max(1);
        let rows = b.floor_divide(&places.values, width)?;
        let columns = b.remainder(&places.values, width)?;
        let indptr = pointers_of(b, &rows, self.shape[0])?;
        Ok(Csr::of(values, columns, indptr, self.shape))
    }
}
