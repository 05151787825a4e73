//! Cholesky factorization of Hermitian positive definite matrices.

use super::{
    Failure, Result, Scalar,
    room::{matrix_mut, real_diagonal, with_room},
};
use faer::{Par, Spec, linalg::cholesky::llt::factor, traits::ComplexField};

pub(crate) fn lower<T: Scalar + ComplexField>(a: &mut [T], n: usize) -> Result<()> {
    real_diagonal(a, n);
    let needed = factor::cholesky_in_place_scratch::<T>(n, Par::Seq, Spec::default());
    let factorized = with_room(needed, |stack| {
        factor::cholesky_in_place(matrix_mut(a, n, n), Default::default(), Par::Seq, stack, Spec::default())
    })?;
    factorized.map_err(|_| Failure::NotPositiveDefinite)?;
    for (j, column) in a.chunks_exact_mut(n.max(1)).enumerate() {
        column[..j].fill(T::default());
    }
    Ok(())
}
