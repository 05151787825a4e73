//! Preconditioners: approximate solutions of `A z = r`, which are cheap.

mod ilu;
mod jacobi;
mod multigrid;
mod transfer;

pub use ilu::{IncompleteCholesky, IncompleteLu};
pub use jacobi::Jacobi;
pub use multigrid::Multigrid;

use backends::{Backend, Result, WideFloat};

/// What approximately solves `A z = r`: a linear map `M` near the inverse of `A`, which makes iterations fewer.
///
/// Conjugate gradients need one that is Hermitian and definite with the sign of `A`; the other methods take any. A function `|b: &B, r: &B::Array<T>| ..` that may be
/// shared between threads is one.
pub trait Preconditioner<B: Backend, T: WideFloat>: Send + Sync {
    /// `M r`, of the shape of `r`, whose leading axes may be a batch.
    ///
    /// # Errors
    /// Those of the ops.
    fn apply(&self, b: &B, r: &B::Array<T>) -> Result<B::Array<T>>;

    /// `M^T r`, without a conjugate, for gradients and biCG. Where there is none, the solve on the way back goes without a preconditioner; for conjugate gradients it is
    /// the conjugate of [`apply`](Preconditioner::apply).
    ///
    /// # Errors
    /// Those of the ops.
    fn apply_transposed(&self, b: &B, r: &B::Array<T>) -> Result<Option<B::Array<T>>> {
        let _ = (b, r);
        Ok(None)
    }

    /// What reports call it.
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
