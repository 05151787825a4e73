//! Preconditioners: cheap approximate solutions of `A z = r`.

mod ilu;
mod jacobi;
mod multigrid;
mod transfer;

pub use ilu::{IncompleteCholesky, IncompleteLu};
pub use jacobi::Jacobi;
pub use multigrid::Multigrid;

use backends::{Backend, Result, WideFloat};

/// An approximate solver of `A z = r`: a linear map `M` near the inverse of `A`, which reduces the number of
/// iterations.
///
/// Conjugate gradients need an `M` that is Hermitian and definite with the sign of `A`. MINRES needs an `M` that is
/// Hermitian and positive definite. The other methods take any `M`. A function `|b: &B, r: &B::Array<T>| ..` that is
/// `Send + Sync` is a preconditioner.
pub trait Preconditioner<B: Backend, T: WideFloat>: Send + Sync {
    /// Returns `M r`, which has the shape of `r`. The leading axes of `r` may be a batch.
    ///
    /// # Errors
    /// The errors of the ops.
    fn apply(&self, b: &B, r: &B::Array<T>) -> Result<B::Array<T>>;

    /// Returns `M^T r`, without conjugation, for gradients and biCG. If the result is `None`, the solve in the backward
    /// pass runs without a preconditioner. Methods that take Hermitian preconditioners are an exception: they use the
    /// conjugate of [`apply`](Preconditioner::apply) instead.
    ///
    /// # Errors
    /// The errors of the ops.
    fn apply_transposed(&self, b: &B, r: &B::Array<T>) -> Result<Option<B::Array<T>>> {
        let _ = (b, r);
        Ok(None)
    }

    /// The name of the preconditioner in reports.
    fn name(&self) -> &'static str {
        "a preconditioner of the user's"
    }
}

impl<B: Backend, T: WideFloat, F> Preconditioner<B, T> for F
where
    F: Fn(&B, &B::Array<T>) -> Result<B::Array<T>> + Send + Sync,
{
    fn apply(&self, b: &B, r: &B::Array<T>) -> Result<B::Array<T>> {
        self(b, r)
    }
}
