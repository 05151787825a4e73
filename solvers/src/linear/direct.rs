//! Direct methods: factorizations of dense matrices by the ops of the table, of sparse ones on the host.

use super::{
    OP,
    csr::Factors,
    gradient::Way,
    operator::{LinearOperator, Matrix},
};
use backends::{ArrayAttributes, Backend, Error, Result, WideFloat};
use std::sync::Arc;

/// The factorization of an operator's matrix; that of a dense one is made where it is used.
pub(super) fn way<B: Backend, T: WideFloat>(
    b: &B,
    a: &dyn LinearOperator<B, T>,
    is_hermitian: bool,
) -> Result<Way<B, T>> {
    match a.matrix(b)? {
        Some(Matrix::Dense(matrix)) => Ok(Way::Dense(matrix)),
        Some(Matrix::Sparse(matrix)) => Ok(Way::Sparse(Arc::new(matrix.factors(is_hermitian)?))),
        None => Err(Error::argument(
            OP,
            "a direct method needs the matrix, and this operator has none: choose one that iterates",
        )),
    }
}

/// The solutions of systems along the last axis of `y`.
pub(super) fn dense<B: Backend, T: WideFloat>(b: &B, matrix: &B::Array<T>, y: &B::Array<T>) -> Result<B::Array<T>> {
    match (matrix.ndim(), y.ndim()) {
        (2, 1) => b.solve(matrix, y),
        (2, _) => {
            // one factorization for all right sides
            let n = y.shape().last().copied().unwrap_or(0);
            let columns = b.matrix_transpose(b.reshape(y, [y.len().checked_div(n).unwrap_or(0), n])?)?;
            b.reshape(b.matrix_transpose(b.solve(matrix, columns)?)?, y.shape())
        }
        _ => b.squeeze(b.solve(matrix, b.expand_dims(y, -1)?)?, -1),
    }
    .map_err(|why| why.within(OP))
}

/// The solutions by factors in the host's memory.
pub(super) fn sparse<B: Backend, T: WideFloat>(
    b: &B,
    factors: &Factors<T>,
    y: &B::Array<T>,
    is_transposed: bool,
    batch: usize,
) -> Result<B::Array<T>> {
    let items: usize = y.shape()[..batch].iter().product();
    let mut numbers = b.to_vec::<T>(y)?;
    factors.solve(&mut numbers, items, is_transposed)?;
    b.reshape(b.from_iter(numbers)?, y.shape())
}

/// The least-squares solutions along the last axis of `y`.
pub(super) fn least_squares<B: Backend, T: WideFloat>(
    b: &B,
    matrix: &B::Array<T>,
    y: &B::Array<T>,
) -> Result<B::Array<T>> {
    let found = b.lstsq(matrix, b.expand_dims(y, -1)?).map_err(|why| why.within(OP))?;
    b.squeeze(found.solution, -1)
}
