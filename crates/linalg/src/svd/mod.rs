//! Singular value decomposition. faer computes singular vectors. Singular values without vectors are computed by dqds
//! from a bidiagonal form, which this crate computes for real matrices, and faer for complex ones.

mod bidiagonal;
mod dqds;
#[cfg(test)]
mod tests;
mod values;

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
    let Some([u, v]) = vectors else {
        return values::values(a, s, m, n);
    };
    // faer squares elements, so a matrix of very large or small numbers is scaled, like in LAPACK
    let exponent = scale::needed(a.iter().copied());
    let copy = exponent.map(|e| scale::scaled_copy(a, -e)).transpose()?;
    let a = copy.as_deref().unwrap_or(a);
    let columns = |of: &[T], rows: usize| of.len().checked_div(rows).unwrap_or(0);
    let wanted = |columns: usize| if columns == size { ComputeSvdVectors::Thin } else { ComputeSvdVectors::Full };
    let (of_u, of_v) = (columns(u, m), columns(v, n));
    let needed = svd::svd_scratch::<T>(m, n, wanted(of_u), wanted(of_v), Par::Seq, Spec::default());
    let mut values = list(size, T::default())?;
    let done = with_room(needed, |stack| {
        let (u, v) = (Some(matrix_mut(u, m, of_u)), Some(matrix_mut(v, n, of_v)));
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
