//! Direct methods: dense matrices are factorized by ops of the backend, sparse matrices on the host.

use super::{
    OP,
    csr::Factors,
    operator::{LinearOperator, Matrix},
    scale::{epsilon, shifted},
    solution::Reason,
    system::System,
};
use backends::{ArrayAttributes, Backend, Error, Result, WideFloat, expr};
use std::sync::Arc;

/// Method of solving systems with the matrix or with its transpose.
#[derive(Clone)]
pub(super) enum SystemSolver<B: Backend, T: WideFloat> {
    /// An iterative method, which needs only products with the operator.
    Iterative,
    /// The op `solve`, applied to this matrix.
    Dense(B::Array<T>),
    /// A factorization of a sparse matrix, in host memory.
    Sparse(Arc<Factors<T>>),
}

impl<B: Backend, T: WideFloat> SystemSolver<B, T> {
    /// Solves the system with the matrix, or with its transpose. Returns an error for `Iterative`.
    pub fn solve(&self, b: &B, y: &B::Array<T>, is_transposed: bool, batch: usize) -> Result<B::Array<T>> {
        match self {
            SystemSolver::Iterative => Err(Error::argument(OP, "there is no factorization")),
            SystemSolver::Dense(matrix) if is_transposed => dense(b, &b.matrix_transpose(matrix)?, y),
            SystemSolver::Dense(matrix) => dense(b, matrix, y),
            SystemSolver::Sparse(factors) => sparse(b, factors, y, is_transposed, batch),
        }
    }
}

/// Returns the data for direct solves: a dense matrix, which is factorized in each solve, or the factors of a sparse
/// matrix.
pub(super) fn solver<B: Backend, T: WideFloat>(
    b: &B,
    a: &dyn LinearOperator<B, T>,
    is_hermitian: bool,
) -> Result<SystemSolver<B, T>> {
    match a.matrix(b)? {
        Some(Matrix::Dense(matrix)) => Ok(SystemSolver::Dense(matrix)),
        Some(Matrix::Sparse(matrix)) => Ok(SystemSolver::Sparse(Arc::new(matrix.factors(is_hermitian)?))),
        None => Err(Error::argument(
            OP,
            "a direct method needs the matrix, and this operator has none: choose an iterative method",
        )),
    }
}

/// Solves one system for each vector along the last axis of `y`.
fn dense<B: Backend, T: WideFloat>(b: &B, matrix: &B::Array<T>, y: &B::Array<T>) -> Result<B::Array<T>> {
    match (matrix.ndim(), y.ndim()) {
        (2, 1) => b.solve(matrix, y),
        (2, _) => {
            // uses one factorization for all right sides
            let n = y.shape().last().copied().unwrap_or(0);
            let columns = b.matrix_transpose(b.reshape(y, [y.len().checked_div(n).unwrap_or(0), n])?)?;
            b.reshape(b.matrix_transpose(b.solve(matrix, columns)?)?, y.shape())
        }
        _ => b.squeeze(b.solve(matrix, b.expand_dims(y, -1)?)?, -1),
    }
    .map_err(|why| why.within(OP))
}

/// Solves one system for each vector along the last axis of `y`, by factors in host memory.
fn sparse<B: Backend, T: WideFloat>(
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

/// Finds the least-squares solution for each vector along the last axis of `y`.
pub(super) fn least_squares<B: Backend, T: WideFloat>(
    b: &B,
    matrix: &B::Array<T>,
    y: &B::Array<T>,
) -> Result<B::Array<T>> {
    let found = b.lstsq(matrix, b.expand_dims(y, -1)?).map_err(|why| why.within(OP))?;
    b.squeeze(found.solution, -1)
}

/// Checks least-squares solutions. Returns three values for each system: the length of its residual `r = y - A x`; the
/// reason for the report, which is `Converged` for a least-squares solution; and the largest `|A^H r|` for which `x`
/// counts as a least-squares solution, up to rounding.
pub(super) fn judged<B: Backend, T: WideFloat>(
    b: &B,
    a: &dyn LinearOperator<B, T>,
    matrix: &B::Array<T>,
    (x, y): (&B::Array<T>, &B::Array<T>),
    batch: usize,
) -> Result<(Vec<f64>, Vec<Reason>, Vec<f64>)> {
    let apply = |b: &B, x: &B::Array<T>| a.apply(b, x);
    let adjoint = |b: &B, y: &B::Array<T>| match a.apply_adjoint(b, y)? {
        Some(product) => Ok(product),
        None => Err(Error::argument(OP, "the matrix has no adjoint")),
    };
    let system = System::new(b, &apply, Some(&adjoint), None, (y, None), batch);
    let ax = system.forward(x)?;
    let r = system.measured(&expr!(b, y - ax)?)?;
    let none = vec![0; r.exponents.len()];
    let of_unit = system.lengths(&system.adjoint(&r.x, "least squares")?)?;
    // the norms of the matrix: `matrix` is one matrix for all systems, or one matrix for each system
    let of_matrix = match matrix.ndim() {
        2 => System::new(b, &apply, None, None, (matrix, None), 0).lengths(matrix)?,
        _ => {
            let shape = [&y.shape()[..batch], &matrix.shape()[matrix.ndim() - 2..]].concat();
            system.lengths(&b.broadcast_to(matrix, shape)?)?
        }
    };
    let (of_x, of_y) = (system.lengths(x)?, system.lengths(y)?);
    let (mut reasons, mut tolerances) = (vec![], vec![]);
    for (i, &e) in r.exponents.iter().enumerate() {
        let size = of_matrix[i.min(of_matrix.len() - 1)];
        // `rounding` bounds the rounding errors of `A x` and `y`, which matter if the residual consists of rounding
        // errors only
        let rounding = 64.0 * epsilon::<T>() * (size * shifted(of_x[i], -e) + shifted(of_y[i], -e));
        let most = size * (epsilon::<T>().sqrt() * r.squares[i].sqrt() + rounding);
        reasons.push(match of_unit[i] {
            _ if !(r.squares[i].is_finite() && of_x[i].is_finite()) => Reason::NotFinite,
            slope if slope <= most => Reason::Converged,
            slope if slope.is_finite() => Reason::Singular,
            _ => Reason::NotFinite,
        });
        tolerances.push(shifted(most, e));
    }
    Ok((r.lengths(&none), reasons, tolerances))
}
