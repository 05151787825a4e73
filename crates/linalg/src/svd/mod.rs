//! Singular value decomposition.

use super::{
    Failure, Result, Scalar,
    room::{list, matrix, matrix_mut, with_room},
    scale,
};
use faer::{
    Par, Spec,
    diag::DiagMut,
    linalg::svd::{self, ComputeSvdVectors},
    traits::ComplexField,
};

pub(crate) fn svd<T: Scalar + ComplexField>(
    a: &[T],
    s: &mut [f64],
    vectors: Option<[&mut [T]; 2]>,
    m: usize,
    n: usize,
) -> Result<()> {
    let size = m.min(n);
    if size == 0 {
        // any orthonormal vectors are singular vectors of an empty matrix; the columns of the identity are used
        let identity = |of: &mut [T], rows: usize| {
            (0..of.len()).for_each(|i| of[i] = if i % (rows + 1) == 0 { T::ONE } else { T::default() })
        };
        vectors.into_iter().for_each(|[u, v]| {
            identity(u, m);
            identity(v, n);
        });
        return Ok(());
    }
    // faer squares elements, so a matrix of very large or small numbers is scaled, like in LAPACK
    let exponent = scale::needed(a.iter().copied());
    let copy = exponent.map(|e| scale::scaled_copy(a, -e)).transpose()?;
    let a = copy.as_deref().unwrap_or(a);
    let columns = |of: &[T], rows: usize| of.len().checked_div(rows).unwrap_or(0);
    let wanted = |columns: usize| if columns == size { ComputeSvdVectors::Thin } else { ComputeSvdVectors::Full };
    let counts = vectors.as_ref().map(|[u, v]| [columns(u, m), columns(v, n)]);
    let [of_u, of_v] = counts.map_or([ComputeSvdVectors::No; 2], |counts| counts.map(wanted));
    let needed = svd::svd_scratch::<T>(m, n, of_u, of_v, Par::Seq, Spec::default());
    let mut values = list(size, T::default())?;
    let done = with_room(needed, |stack| {
        let (u, v) = match vectors.zip(counts) {
            Some(([u, v], [of_u, of_v])) => (Some(matrix_mut(u, m, of_u)), Some(matrix_mut(v, n, of_v))),
            None => (None, None),
        };
        let values = DiagMut::from_slice_mut(&mut values);
        svd::svd(matrix(a, m, n), values, u, v, Par::Seq, stack, Spec::default())
    })?;
    done.map_err(|_| Failure::NoConvergence)?;
    s.iter_mut().zip(&values).for_each(|(s, value)| *s = value.magnitude());
    if let Some(e) = exponent {
        scale::scale(s, e);
    }
    Ok(())
}
