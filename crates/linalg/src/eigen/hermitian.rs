//! Eigenvalues and eigenvectors of Hermitian matrices. faer reduces a matrix to tridiagonal form,
//! and transforms the eigenvectors of the tridiagonal form back.

use super::{divide, wanted};
use crate::{
    Failure, Result, Scalar,
    instructions::Set,
    room::{list, matrix, matrix_mut, real_diagonal, with_room},
    scale,
};
use faer::{
    Conj, Par, Spec,
    diag::DiagMut,
    dyn_stack::StackReq,
    linalg::{
        evd::{self, tridiag},
        householder,
        qr::no_pivoting::factor,
    },
    traits::ComplexField,
};

/// Minimum size of matrices whose tridiagonal form is used. Smaller matrices are left to faer,
/// which has formulas for their eigenvectors.
const MIN_TRIDIAGONAL_SIZE: usize = 3;

/// The type that faer uses for the real part of a scalar type.
type RealOf<T> = <T as ComplexField>::Real;

pub(crate) fn hermitian<T: Scalar + ComplexField>(
    a: &mut [T],
    w: &mut [f64],
    v: Option<&mut [T]>,
    n: usize,
) -> Result<()>
where
    f64: From<RealOf<T>>,
{
    if n == 0 {
        return Ok(());
    }
    real_diagonal(a, n);
    // only the lower triangle is read
    let exponent = scale::needed(scale::lower_triangle(a, n).map(|x| *x));
    if let Some(e) = exponent {
        scale::lower_triangle(a, n).for_each(|x| *x = scale::scaled(*x, -e));
    }
    match v {
        Some(v) if n >= MIN_TRIDIAGONAL_SIZE => vectors(Set::best(), a, w, v, n)?,
        v => by_faer(a, w, v, n)?,
    }
    if let Some(e) = exponent {
        scale::scale(w, e);
    }
    Ok(())
}

/// Computes the eigenvalues, and the eigenvectors if `v` is given, by faer alone.
fn by_faer<T: Scalar + ComplexField>(a: &[T], w: &mut [f64], v: Option<&mut [T]>, n: usize) -> Result<()>
where
    f64: From<RealOf<T>>,
{
    let needed = evd::self_adjoint_evd_scratch::<T>(n, wanted(v.is_some()), Par::Seq, Spec::default());
    let mut values = list(n, T::default())?;
    let done = with_room(needed, |stack| {
        let v = v.map(|v| matrix_mut(v, n, n));
        evd::self_adjoint_evd(
            matrix(a, n, n),
            DiagMut::from_slice_mut(&mut values),
            v,
            Par::Seq,
            stack,
            Spec::default(),
        )
    })?;
    done.map_err(|_| Failure::NoConvergence)?;
    w.iter_mut().zip(&values).for_each(|(w, value)| *w = real(value));
    Ok(())
}

fn real<T: ComplexField>(x: &T) -> f64
where
    f64: From<RealOf<T>>,
{
    f64::from(faer::traits::math_utils::real(x))
}

/// Computes the eigenvalues and eigenvectors of a matrix of at least [`MIN_TRIDIAGONAL_SIZE`] rows. Overwrites the
/// lower triangle of `a`.
fn vectors<T: Scalar + ComplexField>(set: Set, a: &mut [T], w: &mut [f64], v: &mut [T], n: usize) -> Result<()>
where
    f64: From<RealOf<T>>,
{
    let block = factor::recommended_block_size::<T>(n, n);
    let mut reflections = list(block * (n - 1), T::default())?;
    let needed = StackReq::any_of(&[
        tridiag::tridiag_in_place_scratch::<T>(n, Par::Seq, Spec::default()),
        householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(n - 1, block, n),
    ]);
    with_room(needed, |stack| {
        let coefficients = matrix_mut(&mut reflections, block, n - 1);
        tridiag::tridiag_in_place(matrix_mut(a, n, n), coefficients, Par::Seq, stack, Spec::default());
        of_tridiagonal(set, a, w, v, n)?;
        householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
            matrix(a, n, n).submatrix(1, 0, n - 1, n - 1),
            matrix(&reflections, block, n - 1),
            Conj::No,
            matrix_mut(v, n, n).subrows_mut(1, n - 1),
            Par::Seq,
            stack,
        );
        Ok(())
    })?
}

/// Computes the eigenvalues and eigenvectors of the Hermitian tridiagonal matrix on and below the diagonal of `a`.
///
/// A diagonal matrix `p` of numbers of magnitude 1 (the phases) makes `p* a p` real. The
/// eigenvectors of this real matrix are multiplied by `p`.
fn of_tridiagonal<T: Scalar + ComplexField>(set: Set, a: &[T], w: &mut [f64], v: &mut [T], n: usize) -> Result<()>
where
    f64: From<RealOf<T>>,
{
    let mut off = list(n - 1, 0.0)?;
    for i in 0..n {
        w[i] = real(&a[i * n + i]);
    }
    if let Some(v) = T::as_reals(v) {
        (0..n - 1).for_each(|i| off[i] = real(&a[i * n + i + 1]));
        return divide::eigen(set, w, &off, v);
    }
    let (mut phases, mut q) = (list(n, T::ONE)?, list(n * n, 0.0)?);
    for i in 0..n - 1 {
        let below = a[i * n + i + 1];
        off[i] = below.magnitude();
        phases[i + 1] = phases[i];
        if off[i] > 0.0 {
            let phase = below.over(off[i]).times(phases[i]);
            phases[i + 1] = phase.over(phase.magnitude());
        }
    }
    divide::eigen(set, w, &off, &mut q)?;
    for (v, q) in v.chunks_exact_mut(n).zip(q.chunks_exact(n)) {
        for ((v, &q), phase) in v.iter_mut().zip(q).zip(&phases) {
            *v = phase.by(q);
        }
    }
    Ok(())
}
