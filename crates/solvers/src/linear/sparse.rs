//! Implements `LinearOperator` for sparse matrices, so that the solvers accept them as operators.

use super::{
    OP,
    csr::HostCsr,
    operator::{LinearOperator, Matrix},
};
use crate::sparse::{Coo, Csc, Csr, Dia};
use backends::{ArrayAttributes, Backend, Error, Result, WideFloat};

/// Multiplies the vectors along the last axis of `x` by a matrix. `product` multiplies the matrix by its argument: a
/// vector, or a matrix that has one of the vectors in each column.
fn rows<B: Backend, T: WideFloat>(
    b: &B,
    [m, n]: [usize; 2],
    x: &B::Array<T>,
    product: impl Fn(&B::Array<T>) -> Result<B::Array<T>>,
) -> Result<B::Array<T>> {
    match x.shape() {
        [.., last] if *last != n => Err(Error::shapes(OP, &[m, n], x.shape())),
        [] => Err(Error::shapes(OP, &[m, n], x.shape())),
        [_] => product(x),
        [batch @ .., _] => {
            let columns = b.matrix_transpose(b.reshape(x, [batch.iter().product(), n])?)?;
            b.reshape(b.matrix_transpose(product(&columns)?)?, [batch, &[m]].concat())
        }
    }
}

macro_rules! operators {
    ($($matrix:ident: |$m:ident, $b:ident, $y:ident| $transposed:expr, $csr:expr;)*) => {$(
        /// The vectors of unknowns lie along the last axis of `x`. All axes before it are batch axes.
        impl<B: Backend, T: WideFloat> LinearOperator<B, T> for $matrix<B, T> {
            fn apply(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
                rows(b, self.shape(), x, |x| self.matmul(b, x)).map_err(|why| why.within(OP))
            }

            fn apply_adjoint(&self, $b: &B, $y: &B::Array<T>) -> Result<Option<B::Array<T>>> {
                let ($m, [rows_of_this, columns]) = (self, self.shape());
                // A^H y is the conjugate of the product of A^T and the conjugate of y
                let $y = &$b.conj($y)?;
                let product = rows($b, [columns, rows_of_this], $y, |$y| $transposed).map_err(|why| why.within(OP))?;
                $b.conj(product).map(Some)
            }

            fn shape(&self) -> Option<[usize; 2]> {
                Some(self.shape())
            }

            fn unknown_ndim(&self) -> Option<usize> {
                Some(1)
            }

            fn matrix(&self, $b: &B) -> Result<Option<Matrix<B, T>>> {
                let $m = self;
                host($b, &$csr).map(Matrix::Sparse).map(Some)
            }
        }
    )*};
}
operators! {
    Csr: |m, b, y| m.transpose_matmul(b, y), m;
    Coo: |m, b, y| m.transpose().matmul(b, y), m.to_csr(b)?;
    Csc: |m, b, y| m.transpose_matmul(b, y), m.to_csr(b)?;
    Dia: |m, b, y| m.transpose_matmul(b, y), m.to_csr(b)?;
}

/// Copies the matrix to host memory.
fn host<B: Backend, T: WideFloat>(b: &B, a: &Csr<B, T>) -> Result<HostCsr<T>> {
    let list = |x: &B::Array<i64>| Ok::<Vec<usize>, Error>(b.to_vec(x)?.into_iter().map(|i| i as usize).collect());
    HostCsr::new(a.shape(), &list(a.indptr())?, &list(a.indices())?, &b.to_vec(a.values())?)
}
