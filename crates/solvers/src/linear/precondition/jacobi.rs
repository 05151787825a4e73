//! The Jacobi preconditioner: division by the diagonal.

use super::Preconditioner;
use crate::linear::{
    OP,
    operator::{LinearOperator, Matrix},
};
use backends::{ArrayAttributes, Backend, Error, Result, WideFloat, expr};

/// Preconditioner that divides by the diagonal, for matrices whose rows differ much in size. Where the diagonal is 0,
/// it leaves the elements of the residual unchanged.
#[derive(Clone)]
pub struct Jacobi<B: Backend, T: WideFloat> {
    diagonal: B::Array<T>,
}

impl<B: Backend, T: WideFloat> Jacobi<B, T> {
    /// A preconditioner with this diagonal, an array that broadcasts to the unknowns.
    pub fn new(diagonal: B::Array<T>) -> Self {
        Jacobi { diagonal }
    }

    /// A preconditioner with the diagonal of an operator's matrix.
    ///
    /// # Errors
    /// `Error::Argument` if the operator has no matrix.
    pub fn of(b: &B, a: &dyn LinearOperator<B, T>) -> Result<Self> {
        let diagonal = match a.matrix(b)? {
            Some(Matrix::Dense(matrix)) => b.diagonal(matrix)?,
            Some(Matrix::Sparse(matrix)) => b.from_iter(matrix.diagonal())?,
            None => {
                return Err(Error::argument(
                    OP,
                    "Jacobi: the operator has no matrix; give the diagonal to `Jacobi::new`",
                ));
            }
        };
        Ok(Jacobi { diagonal })
    }
}

impl<B: Backend, T: WideFloat> Preconditioner<B, T> for Jacobi<B, T> {
    fn apply(&self, b: &B, r: &B::Array<T>) -> Result<B::Array<T>> {
        let d = &self.diagonal;
        let z = expr!(b, where(d == 0, r, r / d))?;
        if z.shape() == r.shape() { Ok(z) } else { Err(Error::shapes("Jacobi", d.shape(), r.shape())) }
    }

    fn apply_transposed(&self, b: &B, r: &B::Array<T>) -> Result<Option<B::Array<T>>> {
        self.apply(b, r).map(Some)
    }

    fn name(&self) -> &'static str {
        "Jacobi"
    }
}
