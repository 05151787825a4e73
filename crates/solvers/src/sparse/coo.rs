//! Sparse matrices in COO format: a list of elements with their rows and columns.

use super::{
    csc::Csc,
    csr::Csr,
    dia::Dia,
    structure::{check_indices, check_shape, pointers_of, signed},
};
use backends::{ArrayAttributes, Arrays, Backend, DType, Element, Error, Numeric, Result, lazy};

/// A sparse matrix (COO), stored as the value, the row and the column of each element. The elements may be in any
/// order, and duplicates add up.
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
    /// Creates a matrix of this shape from its elements, given as three 1-D arrays of equal length.
    ///
    /// # Errors
    /// `Error::Shape` if the values are not 1-D, or if rows times columns exceeds `i64`; `Error::Shapes` if the arrays
    /// differ in length; `Error::Index` if a row or a column is negative or outside of the shape.
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
            return Err(Error::shape(OP, values.shape(), "must have one axis"));
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

    /// Creates a matrix of this shape from elements on the host, each given as row, column and value.
    ///
    /// # Errors
    /// The errors of [`Coo::new`].
    pub fn from_triplets(
        b: &B,
        elements: impl IntoIterator<Item = (usize, usize, T)>,
        shape: [usize; 2],
    ) -> Result<Coo<B, T>> {
        let (mut values, mut rows, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        // an index that does not fit into i64 is outside of any shape
        let index = |i: usize| i64::try_from(i).unwrap_or(i64::MAX);
        for (row, column, value) in elements {
            values.push(value);
            rows.push(index(row));
            columns.push(index(column));
        }
        Coo::new(b, b.from_iter(values)?, b.from_iter(rows)?, b.from_iter(columns)?, shape)
    }

    /// Creates a matrix from arrays that the caller has checked.
    pub(super) fn of(values: B::Array<T>, rows: B::Array<i64>, columns: B::Array<i64>, shape: [usize; 2]) -> Coo<B, T> {
        Coo { values, rows, columns, shape }
    }

    /// Returns the nonzero elements of a dense matrix, in C order. Waits for the device to count these elements.
    ///
    /// # Errors
    /// `Error::Shape` if `x` does not have two axes.
    pub fn from_dense(b: &B, x: &B::Array<T>) -> Result<Coo<B, T>> {
        const OP: &str = "Coo::from_dense";
        let &[rows, columns] = x.shape() else {
            return Err(Error::shape(OP, x.shape(), "must have two axes"));
        };
        check_shape(OP, [rows, columns])?;
        let mask = b.not_equal(x, T::ZERO)?;
        let mut places = b.nonzero(&mask)?.into_iter();
        let (Some(row_of), Some(column_of)) = (places.next(), places.next()) else {
            return Err(Error::shape(OP, x.shape(), "must have two axes"));
        };
        let flat = b.add(b.multiply(&row_of, columns as i64)?, &column_of)?;
        let values = b.take(b.reshape(x, -1)?, flat, 0)?;
        Ok(Coo { values, rows: row_of, columns: column_of, shape: [rows, columns] })
    }

    /// The identity matrix with `n` rows.
    ///
    /// # Errors
    /// `Error::Memory` if memory is insufficient.
    pub fn eye(b: &B, n: usize) -> Result<Coo<B, T>> {
        check_shape("Coo::eye", [n, n])?;
        let places = b.arange(0, n as i64, 1)?;
        Ok(Coo::of(b.ones([n])?, places.clone(), places, [n, n]))
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
    pub fn with_values<U: Numeric>(&self, values: B::Array<U>) -> Result<Coo<B, U>> {
        if values.shape() != self.rows.shape() {
            return Err(Error::shapes("Coo::with_values", self.rows.shape(), values.shape()));
        }
        Ok(Coo::of(values, self.rows.clone(), self.columns.clone(), self.shape))
    }

    /// The transpose. It shares the arrays of this matrix.
    #[must_use]
    pub fn transpose(&self) -> Coo<B, T> {
        let [rows, columns] = self.shape;
        Coo::of(self.values.clone(), self.columns.clone(), self.rows.clone(), [columns, rows])
    }

    /// The product with a vector, or with each column of a matrix. Every call sorts the elements: for several products,
    /// convert to a [`Csr`] first.
    ///
    /// # Errors
    /// The errors of [`Csr::matmul`].
    pub fn matmul(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        self.to_csr(b)?.matmul(b, x)
    }

    /// The matrix as a dense array of its shape.
    ///
    /// # Errors
    /// `Error::Memory` if memory is insufficient.
    pub fn to_dense(&self, b: &B) -> Result<B::Array<T>> {
        let [rows, columns] = self.shape;
        let sums = b.segment_sum(&self.values, self.places(b)?, rows * columns)?;
        b.reshape(sums, signed(self.shape))
    }

    /// For each element, its flat index in the matrix, in C order.
    pub(super) fn places(&self, b: &B) -> Result<B::Array<i64>> {
        (lazy(&self.rows) * self.shape[1] as i64 + &self.columns).eval(b)
    }

    /// Converts to CSR, with ascending columns in each row and duplicate elements summed. Waits for the device to count
    /// the elements.
    ///
    /// # Errors
    /// The errors of the ops that run.
    pub fn to_csr(&self, b: &B) -> Result<Csr<B, T>> {
        let places = b.unique_inverse(self.places(b)?)?;
        let values = b.segment_sum(&self.values, places.inverse_indices, places.values.len())?;
        let width = (self.shape[1] as i64).max(1);
        let rows = b.floor_divide(&places.values, width)?;
        let columns = b.remainder(&places.values, width)?;
        let indptr = pointers_of(b, &rows, self.shape[0])?;
        Ok(Csr::of(values, columns, indptr, self.shape))
    }

    /// Converts to CSC, like [`Coo::to_csr`]: with ascending rows in each column and duplicate elements summed.
    ///
    /// # Errors
    /// The errors of the ops that run.
    pub fn to_csc(&self, b: &B) -> Result<Csc<B, T>> {
        Ok(self.transpose().to_csr(b)?.transpose())
    }

    /// Converts to DIA, with every diagonal that has a stored element. Elements of these diagonals that are not stored
    /// become zeros. Waits for the device to count the diagonals.
    ///
    /// # Errors
    /// `Error::Memory` if memory is insufficient.
    pub fn to_dia(&self, b: &B) -> Result<Dia<B, T>> {
        let [rows, columns] = self.shape;
        let of_diagonals = b.unique_inverse(b.subtract(&self.columns, &self.rows)?)?;
        let offsets: Vec<isize> = b.to_ndarray(&of_diagonals.values)?.iter().map(|&offset| offset as isize).collect();
        let places = (lazy(&of_diagonals.inverse_indices) * columns as i64 + &self.columns).eval(b)?;
        let data = b.segment_sum(&self.values, places, offsets.len() * columns)?;
        let data = b.reshape(data, [offsets.len() as isize, columns as isize])?;
        Dia::new(data, offsets, [rows, columns])
    }
}

/// The Kronecker product: each element of `x` is replaced by a copy of `y` that is multiplied by this element. With `n`
/// and `m` stored elements in the factors, the product stores `n m` elements.
///
/// If one factor is an identity, the product extends an operator along one axis to a grid: the Laplacian of a grid is
/// the Laplacian along each row plus the Laplacian along each column.
///
/// ```
/// use backends::{Error, prelude::*};
/// use backends_solvers::sparse::{Coo, Dia, kron};
///
/// let b = Numpyish::new();
/// let (n, m) = (3, 4);
/// let second = |n: usize| Dia::<_, f64>::constant(&b, &[(-1, 1.0), (0, -2.0), (1, 1.0)], [n, n])?.to_coo(&b);
/// let rows = kron(&b, &second(n)?, &Coo::eye(&b, m)?)?;
/// let columns = kron(&b, &Coo::eye(&b, n)?, &second(m)?)?;
/// let laplacian = rows.to_csr(&b)?.add(&b, &columns.to_csr(&b)?)?;
/// assert_eq!((laplacian.shape(), laplacian.nnz()), ([12, 12], 12 + 2 * (2 * 4 + 3 * 3)));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// `Error::Shape` if rows times columns of the product exceeds `i64`; `Error::Memory` if memory is insufficient.
pub fn kron<B: Backend, T: Numeric>(b: &B, x: &Coo<B, T>, y: &Coo<B, T>) -> Result<Coo<B, T>> {
    const OP: &str = "kron";
    let sizes = [x.shape[0].checked_mul(y.shape[0]), x.shape[1].checked_mul(y.shape[1])];
    let [Some(rows), Some(columns)] = sizes else {
        return Err(Error::shapes(OP, &x.shape, &y.shape));
    };
    check_shape(OP, [rows, columns])?;
    // combines each element of `x` (axis 0) with each element of `y` (axis 1)
    let pairs = |left: &B::Array<i64>, scale: usize, right: &B::Array<i64>| {
        let left = b.expand_dims(b.multiply(left, scale as i64)?, 1)?;
        b.reshape(b.add(left, right)?, -1)
    };
    let values = b.reshape(b.multiply(b.expand_dims(&x.values, 1)?, &y.values)?, -1)?;
    let row_of = pairs(&x.rows, y.shape[0], &y.rows)?;
    let column_of = pairs(&x.columns, y.shape[1], &y.columns)?;
    Ok(Coo::of(values, row_of, column_of, [rows, columns]))
}
