//! Matrices of diagonals.

use super::{coo::Coo, csc::Csc, csr::Csr, structure::check_shape};
use backends::{ArrayAttributes, Arrays, Backend, DType, Element, Error, Numeric, Result, ix, slices};
use std::ops::Range;

/// A sparse matrix of diagonals (DIA): a row of values for each, in which value `j` is that of column `j`. Diagonal `k` has the elements
/// `(j - k, j)`; values whose row is outside of the matrix are not read.
///
/// The offsets are numbers of the host: they are the structure of the matrix, as a shape is.
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

/// The columns of a diagonal of a matrix.
fn columns_of(offset: isize, [rows, columns]: [usize; 2]) -> Range<usize> {
    let first = offset.max(0) as usize;
    let last = rows.saturating_add_signed(offset).min(columns);
    first.min(last)..last
}

/// Columns as rows of a diagonal.
fn rows_of(columns: &Range<usize>, offset: isize) -> Range<usize> {
    columns.start.wrapping_add_signed(-offset)..columns.end.wrapping_add_signed(-offset)
}

impl<B: Backend, T: Numeric> Dia<B, T> {
    /// The matrix of this shape with these diagonals: a row of `values`, as long as the matrix has columns, for each of the offsets.
    ///
    /// # Errors
    /// `Error::Shape` where the values are not of the shape (offsets, columns), or the shape has more places than `i64` counts;
    /// `Error::Argument` where an offset is there twice, or that of a diagonal outside of the matrix.
    pub fn new(values: B::Array<T>, offsets: impl Into<Vec<isize>>, shape: [usize; 2]) -> Result<Dia<B, T>> {
        const OP: &str = "Dia::new";
        check_shape(OP, shape)?;
        let offsets = offsets.into();
        let [rows, columns] = shape;
        if values.shape() != [offsets.len(), columns] {
            let why = format!("is not that of {} diagonals of {columns} columns", offsets.len());
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

    /// Of diagonals that the caller has looked at.
    pub(super) fn of(values: B::Array<T>, offsets: Vec<isize>, shape: [usize; 2]) -> Dia<B, T> {
        Dia { values, offsets, shape }
    }

    /// The matrix of this shape whose diagonals are each filled with one value: what a stencil is on one axis.
    ///
    /// # Errors
    /// As those of [`Dia::new`].
    pub fn constant(b: &B, diagonals: &[(isize, T)], shape: [usize; 2]) -> Result<Dia<B, T>> {
        check_shape("Dia::constant", shape)?;
        let values = b.from_iter(diagonals.iter().map(|&(_, value)| value))?;
        let values = b.broadcast_to(b.expand_dims(values, 1)?, [diagonals.len(), shape[1]])?;
        let offsets: Vec<isize> = diagonals.iter().map(|&(offset, _)| offset).collect();
        Dia::new(values, offsets, shape).map_err(|why| why.within("Dia::constant"))
    }

    /// The identity of `n` rows.
    ///
    /// # Errors
    /// `Error::Memory` where there is not so much.
    pub fn eye(b: &B, n: usize) -> Result<Dia<B, T>> {
        Dia::constant(b, &[(0, T::ONE)], [n, n])
    }

    /// The diagonals that have an element that is not 0, of a dense matrix. It waits for their number.
    ///
    /// # Errors
    /// `Error::Shape` where `x` does not have two axes.
    pub fn from_dense(b: &B, x: &B::Array<T>) -> Result<Dia<B, T>> {
        Coo::from_dense(b, x).map_err(|why| why.within("Dia::from_dense"))?.to_dia(b)
    }

    /// The values, a row for each diagonal.
    pub fn values(&self) -> &B::Array<T> {
        &self.values
    }

    /// Which diagonals these are: 0 for the main one, positive above it.
    pub fn offsets(&self) -> &[isize] {
        &self.offsets
    }

    /// Rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// How many elements of the matrix lie on its diagonals.
    pub fn nnz(&self) -> usize {
        self.offsets.iter().map(|&offset| columns_of(offset, self.shape).len()).sum()
    }

    /// The dtype of the values.
    pub fn dtype(&self) -> DType {
        T::DTYPE
    }

    /// Other values for the same diagonals.
    ///
    /// # Errors
    /// `Error::Shape` where they have another shape.
    pub fn with_values<U: Numeric>(&self, values: B::Array<U>) -> Result<Dia<B, U>> {
        Dia::new(values, self.offsets.clone(), self.shape).map_err(|why| why.within("Dia::with_values"))
    }

    /// The part of each diagonal that lies in the matrix: its values, its rows and its columns.
    #[allow(clippy::type_complexity)] // values, rows, columns: named where they are taken apart
    fn parts(&self, b: &B) -> Result<Vec<(B::Array<T>, Range<usize>, Range<usize>)>> {
        let part = |(k, &offset): (usize, &isize)| {
            let columns = columns_of(offset, self.shape);
            let values = b.getitem(&self.values, slices![k, columns.start..columns.end])?;
            Ok((values, rows_of(&columns, offset), columns))
        };
        self.offsets.iter().enumerate().map(part).collect()
    }

    /// The product with a vector, or with each column of a matrix: a product of two vectors for each diagonal.
    ///
    /// # Errors
    /// `Error::Shapes` where `x` does not have as many rows as this matrix has columns; `Error::Shape` where it has neither one
    /// axis nor two.
    pub fn matmul(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        const OP: &str = "Dia::matmul";
        match *x.shape() {
            [len] | [len, _] if len == self.shape[1] => {}
            [_] | [_, _] => return Err(Error::shapes(OP, &self.shape, x.shape())),
            _ => return Err(Error::shape(OP, x.shape(), "is neither that of a vector nor that of a matrix")),
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
    /// As those of [`Dia::matmul`] of the transpose.
    pub fn transpose_matmul(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        self.transpose(b)?.matmul(b, x)
    }

    /// Rows as columns, and columns as rows. The values move along their diagonals.
    ///
    /// # Errors
    /// `Error::Memory` where there is not so much.
    pub fn transpose(&self, b: &B) -> Result<Dia<B, T>> {
        let [rows, columns] = self.shape;
        let mut values = b.zeros::<T>([self.offsets.len(), rows])?;
        for (k, (part, place, _)) in self.parts(b)?.into_iter().enumerate() {
            b.add_at(&mut values, ix![k, place.start..place.end], &part)?;
        }
        Dia::new(values, self.offsets.iter().map(|offset| -offset).collect::<Vec<_>>(), [columns, rows])
    }

    /// One diagonal as a vector of its elements; of a diagonal that is not stored, zeros.
    ///
    /// # Errors
    /// Those of the ops that are run.
    pub fn diagonal(&self, b: &B, offset: isize) -> Result<B::Array<T>> {
        match self.offsets.iter().position(|&stored| stored == offset) {
            Some(k) => {
                let columns = columns_of(offset, self.shape);
                b.getitem(&self.values, slices![k, columns.start..columns.end])
            }
            None => b.zeros([columns_of(offset, self.shape).len()]),
        }
    }

    /// The same matrix as a list of elements, zeros of the diagonals too.
    ///
    /// # Errors
    /// `Error::Memory` where there is not so much.
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

    /// The same matrix with its rows one after another, zeros of the diagonals too.
    ///
    /// # Errors
    /// `Error::Memory` where there is not so much.
    pub fn to_csr(&self, b: &B) -> Result<Csr<B, T>> {
        self.to_coo(b)?.to_csr(b)
    }

    /// The same matrix with its columns one after another, zeros of the diagonals too.
    ///
    /// # Errors
    /// `Error::Memory` where there is not so much.
    pub fn to_csc(&self, b: &B) -> Result<Csc<B, T>> {
        self.to_coo(b)?.to_csc(b)
    }

    /// The matrix in full: an array of its shape.
    ///
    /// # Errors
    /// `Error::Memory` where there is not so much.
    pub fn to_dense(&self, b: &B) -> Result<B::Array<T>> {
        self.to_coo(b)?.to_dense(b)
    }

    /// Each value conjugated; the same of real numbers.
    ///
    /// # Errors
    /// Those of the op.
    pub fn conj(&self, b: &B) -> Result<Dia<B, T>> {
        self.with_values(b.conj(&self.values)?)
    }
}
