//! Triangular factors with exchanged rows, and what they are for: systems of equations and determinants.

use super::{
    Determinant, Failure, Result, Scalar,
    room::{list, matrix, matrix_mut, with_room},
};
use faer::{
    Par, Spec,
    linalg::{lu::partial_pivoting::factor, triangular_solve},
    traits::ComplexField,
};

/// Factorizes in place. Gives the row of `a` that each row of the factors was, and how many rows were exchanged.
fn factorized<T: Scalar + ComplexField>(a: &mut [T], n: usize) -> Result<(Vec<usize>, usize)> {
    let (mut rows, mut back) = (list(n, 0_usize)?, list(n, 0_usize)?);
    let needed = factor::lu_in_place_scratch::<usize, T>(n, n, Par::Seq, Spec::default());
    let exchanges = with_room(needed, |stack| {
        let a = matrix_mut(a, n, n);
        factor::lu_in_place(a, &mut rows, &mut back, Par::Seq, stack, Spec::default()).0.transposition_count
    })?;
    Ok((rows, exchanges))
}

/// Whether a pivot is 0, or an element of a triangle's diagonal.
fn is_singular<T: Scalar>(a: &[T], n: usize) -> bool {
    (0..n).any(|i| a[i * n + i] == T::default())
}

pub(crate) fn solve<T: Scalar + ComplexField>(a: &mut [T], b: &mut [T], n: usize, k: usize) -> Result<()> {
    let (rows, _) = factorized(a, n)?;
    if is_singular(a, n) {
        return Err(Failure::Singular);
    }
    let mut column = list(n, T::default())?;
    for b in b.chunks_exact_mut(n.max(1)) {
        column.copy_from_slice(b);
        b.iter_mut().zip(&rows).for_each(|(x, &row)| *x = column[row]);
    }
    triangular_solve::solve_unit_lower_triangular_in_place(matrix(a, n, n), matrix_mut(b, n, k), Par::Seq);
    triangular_solve::solve_upper_triangular_in_place(matrix(a, n, n), matrix_mut(b, n, k), Par::Seq);
    Ok(())
}

pub(crate) fn determinant<T: Scalar + ComplexField>(a: &mut [T], n: usize) -> Result<Determinant<T>> {
    // after a pivot 0 the library's factors are no numbers
    let finite = a.iter().all(|x| x.magnitude().is_finite());
    let (_, exchanges) = factorized(a, n)?;
    if finite && is_singular(a, n) {
        return Ok(Determinant { value: T::default(), sign: T::default(), log: f64::NEG_INFINITY });
    }
    let sign = if exchanges % 2 == 0 { T::ONE } else { T::ONE.over(-1.0) };
    let start = Determinant { value: sign, sign, log: 0.0 };
    Ok((0..n).map(|i| a[i * n + i]).fold(start, |so_far, pivot| {
        let magnitude = pivot.magnitude();
        Determinant {
            value: so_far.value.times(pivot),
            sign: so_far.sign.times(pivot.over(magnitude)),
            log: so_far.log + magnitude.ln(),
        }
    }))
}

pub(crate) fn solve_triangular<T: Scalar + ComplexField>(
    a: &[T],
    b: &mut [T],
    n: usize,
    k: usize,
    lower: bool,
    unit: bool,
) -> Result<()> {
    if !unit && is_singular(a, n) {
        return Err(Failure::Singular);
    }
    let (a, b) = (matrix(a, n, n), matrix_mut(b, n, k));
    match (lower, unit) {
        (true, true) => triangular_solve::solve_unit_lower_triangular_in_place(a, b, Par::Seq),
        (true, false) => triangular_solve::solve_lower_triangular_in_place(a, b, Par::Seq),
        (false, true) => triangular_solve::solve_unit_upper_triangular_in_place(a, b, Par::Seq),
        (false, false) => triangular_solve::solve_upper_triangular_in_place(a, b, Par::Seq),
    }
    Ok(())
}
