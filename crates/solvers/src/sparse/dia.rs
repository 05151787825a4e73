//! Sparse matrices in DIA format: diagonals.

use super::{coo::Coo, csc::Csc, csr::Csr, structure::check_shape};
use backends::{ArrayAttributes, Arrays, Backend, DType, Element, Error, Numeric, Result, ix, slices};
use std::ops::Range;

/// A sparse matrix of diagonals (DIA). It has a row of values for each diagonal. Value `j` of this row belongs to
/// column `j` of the matrix: for the diagonal with offset `k`, it is the element `(j - k, j)`. Values whose row
/// `j - k` is outside of the matrix are not read.
///
/// The offsets are numbers on the host, because they are part of the structure of the matrix, like its shape.
pub struct Dia<B: Arrays, T: Element> {
    values: B::Array<T>,
    offsets: Vec<isize>,
    shape: [usize; 2],
}

impl<B: Arrays, T: Element> Clone for Dia<B, T> {
    fn clone(&self) -> Self {
        Dia { values: self.values.clone(), offsets: self.offsets.clone(), shape: self.shape }
    }
}

/// The columns of the matrix in which the diagonal with this offset has elements.
fn columns_of(offset: isize, [rows, columns]: [usize; 2]) -> Range<usize> {
    let first = offset.max(0) as usize;
    let last = rows.saturating_add_signed(offset).min(columns);
    first.min(last)..last
}

/// The rows in which the diagonal with this offset crosses these columns.
fn rows_of(columns: &Range<usize>, offset: isize) -> Range<usize> {
    columns.start.wrapping_add_signed(-offset)..columns.end.wrapping_add_signed(-offset)
}

impl<B: Backend, T: Numeric> Dia<B, T> {
    /// Creates a matrix of this shape from diagonals. `values` has one row per offset, and as many columns as the
    /// matrix.
    ///
    /// # Errors
    /// `Error::Shape` if the shape of the values is not (number of offsets, columns), or if rows times columns exceeds
    /// `i64`; `Error::Argument` if an offset occurs twice, or if its diagonal is outside of the matrix.
    pub fn new(values: B::Array<T>, offsets: impl Into<Vec<isize>>, shape: [usize; 2]) -> Result<Dia<B, T>> {
        const OP: &str = "Dia::new";
        check_shape(OP, shape)?;
        let offsets = offsets.into();
        let [rows, columns] = shape;
        if values.shape() != [offsets.len(), columns] {
            let why = format!("must be {} diagonals of {columns} columns", offsets.len());
            return Err(Error::shape(OP, values.shape(), why));
        }
        let mut sorted = offsets.clone();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::argument(OP, format!("the diagonal {} is there twice", twice[0])));
        }
        let is_outside = |&&offset: &&isize| offset >= (columns.max(1)) as isize || offset <= -(rows.max(1) as isize);
        if let Some(offset) = sorted.iter().find(is_outside) {
            return Err(Error::argument(
                OP,
                format!("the diagonal {offset} is outside of a matrix of shape {shape:?}"),
            ));
        }
        Ok(Dia { values, offsets, shape })
    }

    /// Creates a matrix from diagonals that the caller has checked.
    pub(super) fn of(values: B::Array<T>, offsets: Vec<isize>, shape: [usize; 2]) -> Dia<B, T> {
        Dia { values, offsets, shape }
    }

    /// Creates a matrix of this shape with constant values along its diagonals, such as a stencil along one axis. Each
    /// diagonal is given by its offset and its value.
    ///
    /// # Errors
    /// The errors of [`Dia::new`].
    pub fn constant(b: &B, diagonals: &[(isize, T)], shape: [usize; 2]) -> Result<Dia<B, T>> {
        check_shape("Dia::constant", shape)?;
        let values = b.from_iter(diagonals.iter().map(|&(_, value)| value))?;
        let values = b.broadcast_to(b.expand_dims(values, 1)?, [diagonals.len(), shape[1]])?;
        let offsets: Vec<isize> = diagonals.iter().map(|&(offset, _)| offset).collect();
        Dia::new(values, offsets, shape).map_err(|why| why.within("Dia::constant"))
    }

    /// The identity matrix with `n` rows.
    ///
    /// # Errors
    /// `Error::Memory` if memory is insufficient.
    pub fn eye(b: &B, n: usize) -> Result<Dia<B, T>> {
        Dia::constant(b, &[(0, T::ONE)], [n, n])
    }

    /// Creates a matrix from those diagonals of a dense matrix that have a nonzero element. Waits for the device to
    /// count the diagonals.
    ///
    /// # Errors
    /// `Error::Shape` if `x` does not have two axes.
    pub fn from_dense(b: &B, x: &B::Array<T>) -> Result<Dia<B, T>> {
        Coo::from_dense(b, x).map_err(|why| why.within("Dia::from_dense"))?.to_dia(b)
    }

    /// The values, one row for each diagonal.
    pub fn values(&self) -> &B::Array<T> {
        &self.values
    }

    /// The offsets of the diagonals: 0 for the main diagonal, positive above it.
    pub fn offsets(&self) -> &[isize] {
        &self.offsets
    }

    /// The numbers of rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// Number of elements of the matrix that lie on the stored diagonals.
    pub fn nnz(&self) -> usize {
        self.offsets.iter().map(|&offset| columns_of(offset, self.shape).len()).sum()
    }

    /// The dtype of the values.
    pub fn dtype(&self) -> DType {
        T::DTYPE
    }

    /// Returns a matrix with the given values on the diagonals of this matrix.
    ///
    /// # Errors
    /// `Error::Shape` if the values have another shape.
    pub fn with_values<U: Numeric>(&self, values: B::Array<U>) -> Result<Dia<B, U>> {
        Dia::new(values, self.offsets.clone(), self.shape).map_err(|why| why.within("Dia::with_values"))
    }

    /// For each diagonal: the values that lie within the matrix, the range of their rows, and the range of their
    /// columns.
    #[allow(clippy::type_complexity)] // values, rows and columns, named where they are destructured
    fn parts(&self, b: &B) -> Result<Vec<(B::Array<T>, Range<usize>, Range<usize>)>> {
        let part = |(k, &offset): (usize, &isize)| {
            let columns = columns_of(offset, self.shape);
            let values = b.getitem(&self.values, slices![k, columns.start..columns.end])?;
            Ok((values, rows_of(&columns, offset), columns))
        };
        self.offsets.iter().enumerate().map(part).collect()
    }

    /// The product with a vector, or with each column of a matrix, computed as one elementwise product per diagonal.
    ///
    /// # Errors
    /// `Error::Shapes` if the number of rows of `x` is not the number of this matrix's columns; `Error::Shape` if `x`
    /// has neither one axis nor two.
    pub fn matmul(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        const OP: &str = "Dia::matmul";
        match *x.shape() {
            [len] | [len, _] if len == self.shape[1] => {}
            [_] | [_, _] => return Err(Error::shapes(OP, &self.shape, x.shape())),
            _ => return Err(Error::shape(OP, x.shape(), "must have one axis (a vector) or two (a matrix)")),
        }
        let mut y = b.zeros::<T>([&self.shape[..1], &x.shape()[1..]].concat())?;
        for (values, rows, columns) in self.parts(b)? {
            let x = b.getitem(x, slices![columns.start..columns.end])?;
            let values = if x.ndim() == 1 { values } else { b.expand_dims(values, 1)? };
            b.add_at(&mut y, ix![rows.start..rows.end], &b.multiply(values, x)?)?;
        }
        Ok(y)
    }

    /// The product of the transpose with a vector, or with each column of a matrix.
    ///
    /// # Errors
    /// The errors of [`Dia::matmul`] for the transpose.
    pub fn transpose_matmul(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        self.transpose(b)?.matmul(b, x)
    }

    /// Returns the transpose. Its values are in a new array, because the index of a value is the column of its element,
    /// and the transpose has another column for this element: value `j` of the diagonal with offset `k` is the element
    /// `(j - k, j)`, and becomes value `j - k` of the diagonal with offset `-k`.
    ///
    /// # Errors
    /// `Error::Memory` if memory is insufficient.
    pub fn transpose(&self, b: &B) -> Result<Dia<B, T>> {
        let [rows, columns] = self.shape;
        let mut values = b.zeros::<T>([self.offsets.len(), rows])?;
        for (k, (part, place, _)) in self.parts(b)?.into_iter().enumerate() {
            b.add_at(&mut values, ix![k, place.start..place.end], &part)?;
        }
        Dia::new(values, self.offsets.iter().map(|offset| -offset).collect::<Vec<_>>(), [columns, rows])
    }

    /// The elements of one diagonal, as a vector. If the diagonal is not stored, the elements are zeros.
    ///
    /// # Errors
    /// The errors of the ops that run.
    pub fn diagonal(&self, b: &B, offset: isize) -> Result<B::Array<T>> {
        match self.offsets.iter().position(|&stored| stored == offset) {
            Some(k) => {
                let columns = columns_of(offset, self.shape);
                b.getitem(&self.values, slices![k, columns.start..columns.end])
            }
            None => b.zeros([columns_of(offset, self.shape).len()]),
        }
    }

    /// Converts to COO. The result also stores the zeros on the diagonals.
    ///
    /// # Errors
    /// `Error::Memory` if memory is insufficient.
    pub fn to_coo(&self, b: &B) -> Result<Coo<B, T>> {
        let parts = self.parts(b)?;
        if parts.is_empty() {
            return Ok(Coo::of(b.zeros([0])?, b.zeros([0])?, b.zeros([0])?, self.shape));
        }
        let counted = |range: &Range<usize>| b.arange(range.start as i64, range.end as i64, 1);
        let rows = parts.iter().map(|(_, rows, _)| counted(rows)).collect::<Result<Vec<_>>>()?;
        let columns = parts.iter().map(|(_, _, columns)| counted(columns)).collect::<Result<Vec<_>>>()?;
        let values: Vec<B::Array<T>> = parts.into_iter().map(|(values, _, _)| values).collect();
        Ok(Coo::of(b.concat(&values)?, b.concat(&rows)?, b.concat(&columns)?, self.shape))
    }

    /// Converts to CSR. The result also stores the zeros on the diagonals.
    ///
    /// # Errors
    /// `Error::Memory` if memory is insufficient.
    pub fn to_csr(&self, b: &B) -> Result<Csr<B, T>> {
        self.to_coo(b)?.to_csr(b)
    }

    /// Converts to CSC. The result also stores the zeros on the diagonals.
    ///
    /// # Errors
    /// `Error::Memory` if memory is insufficient.
    pub fn to_csc(&self, b: &B) -> Result<Csc<B, T>> {
        self.to_coo(b)?.to_csc(b)
    }

    /// The matrix as a dense array of its shape.
    ///
    /// # Errors
    /// `Error::Memory` if memory is insufficient.
    pub fn to_dense(&self, b: &B) -> Result<B::Array<T>> {
        self.to_coo(b)?.to_dense(b)
    }

    /// Conjugates each value; no change for real matrices.
    ///
    /// # Errors
    /// The errors of the op.
    pub fn conj(&self, b: &B) -> Result<Dia<B, T>> {
        self.with_values(b.conj(&self.values)?)
    }
}
