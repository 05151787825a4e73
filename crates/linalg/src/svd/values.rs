//! Singular values without vectors: bidiagonal form, then dqds.

use super::{bidiagonal, dqds};
use crate::{
    Result, Scalar,
    instructions::Set,
    room::{list, matrix_mut, with_room},
    scale,
};
use faer::{
    Par, Spec,
    linalg::{qr::no_pivoting::factor, svd::bidiag},
    traits::ComplexField,
};

/// Computes the singular values of a nonempty `m` by `n` matrix in descending order.
pub fn values<T: Scalar + ComplexField>(a: &[T], s: &mut [f64], m: usize, n: usize) -> Result<()> {
    // squares of elements must neither overflow nor underflow
    let exponent = scale::needed(a.iter().copied()).unwrap_or(0);
    let (mut rows, columns) = (m.max(n), m.min(n));
    let mut tall = list(m * n, T::default())?;
    if m < n {
        // the transposed matrix has the same singular values
        for (i, column) in tall.chunks_exact_mut(rows).enumerate() {
            column.iter_mut().zip(a[i..].iter().step_by(m)).for_each(|(to, &x)| *to = x);
        }
    } else {
        tall.copy_from_slice(a);
    }
    if exponent != 0 {
        scale::scale(&mut tall, -exponent);
    }
    // as in faer: if there are many more rows than columns, uses the triangular factor, which has
    // the same singular values
    if 6 * rows > 11 * columns {
        tall = triangle(tall, rows, columns)?;
        rows = columns;
    }
    let mut off = list(columns - 1, 0.0)?;
    match T::as_reals(&mut tall) {
        Some(a) => bidiagonal::reduce(Set::best(), a, rows, columns, s, &mut off)?,
        None => by_faer(&mut tall, rows, columns, s, &mut off)?,
    }
    dqds::singular_values(s, &off)?;
    scale::scale(s, exponent);
    Ok(())
}

/// The square triangular factor of a matrix with more rows than columns.
fn triangle<T: Scalar + ComplexField>(mut a: Vec<T>, m: usize, n: usize) -> Result<Vec<T>> {
    let block = factor::recommended_block_size::<T>(m, n);
    let mut reflections = list(block * n, T::default())?;
    with_room(factor::qr_in_place_scratch::<T>(m, n, block, Par::Seq, Spec::default()), |stack| {
        let coefficients = matrix_mut(&mut reflections, block, n);
        factor::qr_in_place(matrix_mut(&mut a, m, n), coefficients, Par::Seq, stack, Spec::default());
    })?;
    for j in 0..n {
        a.copy_within(j * m..j * m + j + 1, j * n);
        a[j * n + j + 1..(j + 1) * n].fill(T::default());
    }
    a.truncate(n * n);
    Ok(a)
}

/// Reduces the matrix to bidiagonal form by faer. Stores the magnitudes of the diagonal and of the elements above it.
fn by_faer<T: Scalar + ComplexField>(
    a: &mut [T],
    m: usize,
    n: usize,
    diagonal: &mut [f64],
    above: &mut [f64],
) -> Result<()> {
    let (mut left, mut right) = (list(n, T::default())?, list(n - 1, T::default())?);
    with_room(bidiag::bidiag_in_place_scratch::<T>(m, n, Par::Seq, Spec::default()), |stack| {
        let (left, right) = (matrix_mut(&mut left, 1, n), matrix_mut(&mut right, 1, n - 1));
        bidiag::bidiag_in_place(matrix_mut(a, m, n), left, right, Par::Seq, stack, Spec::default());
    })?;
    let magnitudes = |from: &[T], to: &mut [f64]| {
        to.iter_mut().zip(from.iter().step_by(m + 1)).for_each(|(to, x)| *to = x.magnitude());
    };
    magnitudes(a, diagonal);
    magnitudes(a.get(m..).unwrap_or_default(), above);
    Ok(())
}
