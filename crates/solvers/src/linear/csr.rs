//! Sparse matrices in host memory, for factorizations on the host by the crate `faer`.

use super::OP;
use backends::{Error, Result, WideFloat};

/// A sparse matrix by rows (CSR) in host memory, for direct methods and incomplete factorizations.
#[derive(Clone, Debug, PartialEq)]
pub struct HostCsr<T> {
    rows: usize,
    columns: usize,
    /// The start of each row in `indices` and `values`, followed by the end of the last row.
    indptr: Vec<usize>,
    /// The column of each stored element. The columns are ascending within each row.
    indices: Vec<usize>,
    values: Vec<T>,
}

impl<T: WideFloat> HostCsr<T> {
    /// Creates a matrix of this shape. `indptr` has the start of each row in `indices` (columns) and `values`, followed
    /// by the end of the last row. Columns may be in any order; duplicates are added.
    ///
    /// # Errors
    /// `Error::Argument` if the lengths of the lists do not match, `indptr` decreases, or a column is out of bounds.
    pub fn new([rows, columns]: [usize; 2], indptr: &[usize], indices: &[usize], values: &[T]) -> Result<Self> {
        let wrong =
            |why: String| Err(Error::argument(OP, format!("a sparse matrix of shape [{rows}, {columns}]: {why}")));
        if indptr.len() != rows + 1 || indptr.first() != Some(&0) || indptr.last() != Some(&indices.len()) {
            return wrong(format!("`indptr` must have {} numbers, from 0 to {}", rows + 1, indices.len()));
        }
        if indices.len() != values.len() {
            return wrong(format!("{} columns for {} values", indices.len(), values.len()));
        }
        if indptr.windows(2).any(|w| w[0] > w[1]) {
            return wrong("`indptr` falls".into());
        }
        if let Some(column) = indices.iter().find(|&&j| j >= columns) {
            return wrong(format!("there is no column {column}"));
        }
        let mut sorted = HostCsr {
            rows,
            columns,
            indptr: vec![0],
            indices: Vec::with_capacity(indices.len()),
            values: Vec::with_capacity(values.len()),
        };
        for row in indptr.windows(2) {
            let mut entries: Vec<(usize, T)> = (row[0]..row[1]).map(|k| (indices[k], values[k])).collect();
            entries.sort_by_key(|entry| entry.0);
            let begin = sorted.indices.len();
            for (j, value) in entries {
                match sorted.values.last_mut() {
                    Some(last) if sorted.indices.len() > begin && sorted.indices.last() == Some(&j) => {
                        *last = *last + value
                    }
                    _ => {
                        sorted.indices.push(j);
                        sorted.values.push(value);
                    }
                }
            }
            sorted.indptr.push(sorted.indices.len());
        }
        Ok(sorted)
    }

    /// The numbers of rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        [self.rows, self.columns]
    }

    /// The columns and the values of the stored elements of a row.
    pub fn row(&self, i: usize) -> (&[usize], &[T]) {
        let range = self.indptr[i]..self.indptr[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// The diagonal, with 0 for elements that are not stored.
    pub fn diagonal(&self) -> Vec<T> {
        (0..self.rows.min(self.columns)).map(|i| self.place(i, i).map_or(T::ZERO, |k| self.values[k])).collect()
    }

    /// Index of the stored element in row `i` and column `j`; `None` if the element is not stored.
    pub(super) fn place(&self, i: usize, j: usize) -> Option<usize> {
        let begin = self.indptr[i];
        self.row(i).0.binary_search(&j).ok().map(|k| begin + k)
    }

    pub(super) fn indptr(&self) -> &[usize] {
        &self.indptr
    }

    pub(super) fn indices(&self) -> &[usize] {
        &self.indices
    }

    pub(super) fn values(&self) -> &[T] {
        &self.values
    }

    /// Factorizes the matrix, for direct solves.
    pub(super) fn factors(&self, is_hermitian: bool) -> Result<Factors<T>> {
        if self.rows != self.columns {
            return Err(Error::shape(OP, &self.shape(), "a direct method needs a square matrix"));
        }
        Factors::new(self, is_hermitian)
    }
}

#[cfg(feature = "faer")]
pub(super) use factors::Factors;

#[cfg(feature = "faer")]
mod factors {
    use super::HostCsr;
    use crate::linear::OP;
    use backends::{Complex, DTypeKind, Element, Error, Real, Result, WideFloat};
    use faer::{
        MatMut, Side,
        linalg::solvers::SolveCore,
        sparse::{SparseColMat, Triplet},
        traits::ComplexField,
    };
    use std::marker::PhantomData;

    /// Factorization of a sparse matrix by faer, in double precision: Cholesky (`l l^H`) if the matrix is Hermitian and
    /// definite, else LU.
    pub struct Factors<T> {
        real: Option<Kind<f64>>,
        complex: Option<Kind<Complex<f64>>>,
        dtype: PhantomData<fn() -> T>,
    }

    enum Kind<S> {
        Empty,
        Cholesky { factors: Box<dyn SolveCore<S> + Send + Sync>, sign: f64 },
        Lu(Box<dyn SolveCore<S> + Send + Sync>),
    }

    /// The element types of a factorization: `f64` and `Complex<f64>`.
    trait Scalar: ComplexField + Copy + 'static {
        fn scaled(self, by: f64) -> Self;
        fn is_finite(self) -> bool;
        fn first(self) -> f64;
    }

    impl Scalar for f64 {
        fn scaled(self, by: f64) -> f64 {
            self * by
        }
        fn is_finite(self) -> bool {
            f64::is_finite(self)
        }
        fn first(self) -> f64 {
            self
        }
    }

    impl Scalar for Complex<f64> {
        fn scaled(self, by: f64) -> Self {
            self * by
        }
        fn is_finite(self) -> bool {
            self.re.is_finite() && self.im.is_finite()
        }
        fn first(self) -> f64 {
            self.re
        }
    }

    impl<S: Scalar> Kind<S> {
        fn new<T: WideFloat>(matrix: &HostCsr<T>, is_hermitian: bool, as_scalar: impl Fn(T) -> S) -> Result<Self> {
            let n = matrix.rows;
            if n == 0 {
                return Ok(Kind::Empty);
            }
            let mut triplets = Vec::with_capacity(matrix.values.len());
            for i in 0..n {
                let (columns, values) = matrix.row(i);
                triplets.extend(columns.iter().zip(values).map(|(&j, &v)| Triplet::new(i, j, as_scalar(v))));
            }
            if triplets.iter().any(|t| !t.val.is_finite()) {
                return Err(Error::argument(OP, "the matrix has an element that is infinite or NaN"));
            }
            if is_hermitian {
                // all diagonal elements of a definite matrix have the same sign; a negative definite matrix is
                // multiplied by -1, because Cholesky needs a positive definite matrix
                let sign = triplets.iter().find(|t| t.row == t.col).map_or(1.0, |t| t.val.first().signum());
                let signed: Vec<_> = triplets.iter().map(|t| Triplet::new(t.row, t.col, t.val.scaled(sign))).collect();
                if let Ok(factors) = columns(n, &signed)?.sp_cholesky(Side::Lower) {
                    return Ok(Kind::Cholesky { factors: Box::new(factors), sign });
                }
            }
            let lu = columns(n, &triplets)?.sp_lu().map_err(|why| match why {
                faer::sparse::linalg::LuError::SymbolicSingular { .. } => Error::argument(OP, "the matrix is singular"),
                why => Error::library(OP, "faer", format!("{why:?}")),
            })?;
            Ok(Kind::Lu(Box::new(lu)))
        }

        fn solve(&self, x: &mut [S], n: usize, items: usize, is_transposed: bool) {
            let columns = MatMut::from_column_major_slice_mut(x, n, items);
            match self {
                Kind::Empty => {}
                Kind::Cholesky { factors, sign } => {
                    solve_in_place(&**factors, columns, is_transposed);
                    x.iter_mut().for_each(|x| *x = x.scaled(*sign));
                }
                Kind::Lu(factors) => solve_in_place(&**factors, columns, is_transposed),
            }
        }
    }

    fn columns<S: Scalar>(n: usize, triplets: &[Triplet<usize, usize, S>]) -> Result<SparseColMat<usize, S>> {
        SparseColMat::try_new_from_triplets(n, n, triplets)
            .map_err(|why| Error::library(OP, "faer", format!("{why:?}")))
    }

    fn solve_in_place<S: Scalar>(factors: &dyn SolveCore<S>, x: MatMut<'_, S>, is_transposed: bool) {
        debug_assert_eq!(factors.nrows(), x.nrows());
        if is_transposed {
            factors.solve_transpose_in_place_with_conj(faer::Conj::No, x);
        } else {
            factors.solve_in_place_with_conj(faer::Conj::No, x);
        }
    }

    impl<T: WideFloat> Factors<T> {
        pub fn new(matrix: &HostCsr<T>, is_hermitian: bool) -> Result<Self> {
            let (mut real, mut complex) = (None, None);
            if T::DTYPE.kind() == DTypeKind::Complex {
                complex =
                    Some(Kind::new(matrix, is_hermitian, |v| Complex::new(v.real().to_f64(), v.imag().to_f64()))?);
            } else {
                real = Some(Kind::new(matrix, is_hermitian, |v| v.real().to_f64())?);
            }
            let factors = Factors { real, complex, dtype: PhantomData };
            factors.is_regular(matrix)?;
            Ok(factors)
        }

        /// Returns an error if the matrix is singular. An LU factorization may finish with pivots of 0, and then gives
        /// solutions that are not finite.
        fn is_regular(&self, matrix: &HostCsr<T>) -> Result<()> {
            let n = matrix.rows;
            let sum = |i| matrix.row(i).1.iter().fold(T::ZERO, |sum, &v| sum + v);
            let mut ones: Vec<T> = (0..n).map(sum).collect();
            self.solve(&mut ones, 1, false)?;
            if ones.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Error::argument(OP, "the matrix is singular")) }
        }

        /// Solves in place for `items` right sides, which `x` contains one after another.
        pub fn solve(&self, x: &mut [T], items: usize, is_transposed: bool) -> Result<()> {
            let n = x.len().checked_div(items).unwrap_or(0);
            if let Some(kind) = &self.real {
                let mut host: Vec<f64> = x.iter().map(|x| x.real().to_f64()).collect();
                kind.solve(&mut host, n, items, is_transposed);
                x.iter_mut().zip(host).for_each(|(x, h)| *x = T::from_real(T::Real::of(h)));
            }
            if let Some(kind) = &self.complex {
                let mut host: Vec<Complex<f64>> =
                    x.iter().map(|x| Complex::new(x.real().to_f64(), x.imag().to_f64())).collect();
                kind.solve(&mut host, n, items, is_transposed);
                x.iter_mut().zip(host).for_each(|(x, h)| *x = <T as Element>::from_complex(h));
            }
            Ok(())
        }
    }
}

#[cfg(not(feature = "faer"))]
pub(super) use without::Factors;

#[cfg(not(feature = "faer"))]
mod without {
    use super::HostCsr;
    use crate::linear::OP;
    use backends::{Error, Result, WideFloat};
    use std::marker::PhantomData;

    /// Substitute for the factorization in builds without the feature `faer`; its methods return errors.
    pub struct Factors<T>(PhantomData<fn() -> T>);

    fn missing() -> Error {
        Error::argument(
            OP,
            "factorizations of sparse matrices need the feature `faer` of `backends-solvers`: enable it, or choose an iterative method",
        )
    }

    impl<T: WideFloat> Factors<T> {
        pub fn new(_matrix: &HostCsr<T>, _is_hermitian: bool) -> Result<Self> {
            Err(missing())
        }

        pub fn solve(&self, _x: &mut [T], _items: usize, _is_transposed: bool) -> Result<()> {
            Err(missing())
        }
    }
}
