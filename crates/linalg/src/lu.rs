//! LU factorization with row exchanges, which solves systems of equations and computes determinants. Triangular systems
//! are solved without a factorization.

use super::{
    Determinant, Failure, Result, Scalar,
    room::{list, matrix, matrix_mut, with_room},
    scale::{Balance, Product},
};
use faer::{
    Par, Spec,
    linalg::{lu::partial_pivoting::factor, triangular_solve},
    traits::ComplexField,
};
use std::ops::Range;

/// Factorizes `a` in place. Returns the original index of each row of the factors, and the number of row exchanges.
fn factorized<T: Scalar + ComplexField>(a: &mut [T], n: usize) -> Result<(Vec<usize>, usize)> {
    let (mut rows, mut back) = (list(n, 0_usize)?, list(n, 0_usize)?);
    let needed = factor::lu_in_place_scratch::<usize, T>(n, n, Par::Seq, Spec::default());
    let exchanges = with_room(needed, |stack| {
        let a = matrix_mut(a, n, n);
        factor::lu_in_place(a, &mut rows, &mut back, Par::Seq, stack, Spec::default()).0.transposition_count
    })?;
    Ok((rows, exchanges))
}

/// Returns whether an element on the diagonal is 0. The diagonal has the pivots if `a` holds LU factors.
fn is_singular<T: Scalar>(a: &[T], n: usize) -> bool {
    (0..n).any(|i| a[i * n + i] == T::default())
}

pub(crate) fn solve<T: Scalar + ComplexField>(a: &mut [T], b: &mut [T], n: usize, k: usize) -> Result<()> {
    let balance = Balance::of(a, n)?;
    let (rows, _) = factorized(a, n)?;
    if is_singular(a, n) {
        return Err(Failure::Singular);
    }
    let exponents = balance.as_ref().map(|balance| right_sides(balance, b, n, k)).transpose()?;
    let mut column = list(n, T::default())?;
    for b in b.chunks_exact_mut(n.max(1)) {
        column.copy_from_slice(b);
        b.iter_mut().zip(&rows).for_each(|(x, &row)| *x = column[row]);
    }
    triangular_solve::solve_unit_lower_triangular_in_place(matrix(a, n, n), matrix_mut(b, n, k), Par::Seq);
    triangular_solve::solve_upper_triangular_in_place(matrix(a, n, n), matrix_mut(b, n, k), Par::Seq);
    solutions(balance.as_ref(), exponents.as_deref(), b, n);
    Ok(())
}

/// Scales the rows of the right-hand sides of a system as `balance` has scaled the rows of its matrix. Each right-hand
/// side is also divided by a power of two. Returns the exponents of these powers.
fn right_sides<T: Scalar>(balance: &Balance, b: &mut [T], n: usize, k: usize) -> Result<Vec<i32>> {
    let mut exponents = list(k, 0)?;
    b.chunks_exact_mut(n.max(1)).zip(&mut exponents).for_each(|(b, e)| *e = balance.right_side(b));
    Ok(exponents)
}

/// Undoes the scaling of a system in its solutions `x`. Does nothing if `balance` is `None`.
fn solutions<T: Scalar>(balance: Option<&Balance>, exponents: Option<&[i32]>, x: &mut [T], n: usize) {
    let Some((balance, exponents)) = balance.zip(exponents) else { return };
    x.chunks_exact_mut(n.max(1)).zip(exponents).for_each(|(x, &e)| balance.solution(x, e));
}

pub(crate) fn determinant<T: Scalar + ComplexField>(a: &mut [T], n: usize) -> Result<Determinant<T>> {
    // `finite` is computed before the factorization, because the factors may be NaN after a zero pivot
    let finite = a.iter().all(|x| x.magnitude().is_finite());
    let balance = Balance::of(a, n)?;
    let exponent = balance.map_or(0, |balance| balance.of_determinant());
    let (_, exchanges) = factorized(a, n)?;
    if finite && is_singular(a, n) {
        return Ok(Determinant::zero());
    }
    let sign = if exchanges % 2 == 0 { T::ONE } else { T::ONE.over(-1.0) };
    Ok(from_pivots((0..n).map(|i| a[i * n + i]), sign, exponent))
}

/// Magnitudes of intermediate products that are far from overflow and underflow.
pub(crate) const PRODUCTS: Range<f64> = 1e-280..1e280;

/// Computes the determinant `sign * 2^exponent * p`, where `p` is the product of the pivots.
pub(crate) fn from_pivots<T: Scalar>(
    pivots: impl Iterator<Item = T> + Clone,
    sign: T,
    exponent: i64,
) -> Determinant<T> {
    let start = Determinant { value: sign, sign, log: exponent as f64 * std::f64::consts::LN_2 };
    let mut is_ordinary = exponent == 0;
    let plain = pivots.clone().fold(start, |so_far, pivot| {
        let magnitude = pivot.magnitude();
        let value = so_far.value.times(pivot);
        is_ordinary &= PRODUCTS.contains(&value.largest_part());
        Determinant { value, sign: so_far.sign.times(pivot.over(magnitude)), log: so_far.log + magnitude.ln() }
    });
    if is_ordinary {
        return plain;
    }
    // the product of the pivots may be in the range of doubles even if intermediate products overflow or underflow
    let value = pivots.fold(Product::new(sign, exponent), Product::times).value();
    Determinant { value, ..plain }
}

pub(crate) fn solve_triangular<T: Scalar + ComplexField>(
    a: &mut [T],
    b: &mut [T],
    n: usize,
    k: usize,
    lower: bool,
    unit: bool,
) -> Result<()> {
    if !unit && is_singular(a, n) {
        return Err(Failure::Singular);
    }
    // faer multiplies by the reciprocals of the diagonal elements. A reciprocal may overflow, so the matrix is scaled
    // first
    let is_ordinary = |x: T| (1e-140..1e140).contains(&x.largest_part());
    let mut balance = None;
    if !unit && !(0..n).all(|i| is_ordinary(a[i * n + i])) {
        for (j, column) in a.chunks_exact_mut(n.max(1)).enumerate() {
            let beside = if lower { &mut column[..j] } else { &mut column[j + 1..] };
            beside.fill(T::default());
        }
        balance = Balance::of(a, n)?;
    }
    let exponents = balance.as_ref().map(|balance| right_sides(balance, b, n, k)).transpose()?;
    let (of_a, of_b) = (matrix(a, n, n), matrix_mut(b, n, k));
    match (lower, unit) {
        (true, true) => triangular_solve::solve_unit_lower_triangular_in_place(of_a, of_b, Par::Seq),
        (true, false) => triangular_solve::solve_lower_triangular_in_place(of_a, of_b, Par::Seq),
        (false, true) => triangular_solve::solve_unit_upper_triangular_in_place(of_a, of_b, Par::Seq),
        (false, false) => triangular_solve::solve_upper_triangular_in_place(of_a, of_b, Par::Seq),
    }
    solutions(balance.as_ref(), exponents.as_deref(), b, n);
    Ok(())
}
