//! LU factorization with row exchanges, which solves systems of equations and computes determinants. Triangular systems
//! are solved without a factorization.

use super::{
    Determinant, Failure, Result, Scalar,
    lu_panels::factorized,
    room::{list, matrix, matrix_mut},
    scale::{Balance, Product},
    team::Team,
    tiles::{each, parts},
};
use faer::{Par, linalg::triangular_solve, traits::ComplexField};
use std::ops::Range;

/// Minimum number of products in a task that solves for some of the right-hand sides.
const WORK: usize = 1 << 20;

/// Minimum number of right-hand sides of a task.
const TILE: usize = 64;

/// Returns whether an element on the diagonal is 0. The diagonal has the pivots if `a` holds LU factors.
fn is_singular<T: Scalar>(a: &[T], n: usize) -> bool {
    (0..n).any(|i| a[i * n + i] == T::default())
}

pub(crate) fn solve<T: Scalar + ComplexField>(
    a: &mut [T],
    b: &mut [T],
    n: usize,
    k: usize,
    team: &dyn Team,
) -> Result<()> {
    let balance = Balance::of(a, n)?;
    let (rows, _) = factorized(a, n, team)?;
    if is_singular(a, n) {
        return Err(Failure::Singular);
    }
    let (a, width) = (matrix(a, n, n), tile(n, k) * n);
    each(team, &parts(b, width, width)?, |_, b| {
        let k = b.len() / n;
        let exponents = balance.as_ref().map(|balance| right_sides(balance, b, n, k)).transpose()?;
        let mut column = list(n, T::default())?;
        for b in b.chunks_exact_mut(n) {
            column.copy_from_slice(b);
            b.iter_mut().zip(&rows).for_each(|(x, &row)| *x = column[row]);
        }
        triangular_solve::solve_unit_lower_triangular_in_place(a, matrix_mut(b, n, k), Par::Seq);
        triangular_solve::solve_upper_triangular_in_place(a, matrix_mut(b, n, k), Par::Seq);
        solutions(balance.as_ref(), exponents.as_deref(), b, n);
        Ok(())
    })
}

/// Number of right-hand sides of a task, for a matrix of size `n` and `k` right-hand sides.
fn tile(n: usize, k: usize) -> usize {
    TILE.max(WORK / n.saturating_mul(n).max(1)).min(k)
}

pub(crate) fn inverse<T: Scalar + ComplexField>(a: &mut [T], x: &mut [T], n: usize, team: &dyn Team) -> Result<()> {
    let balance = Balance::of(a, n)?;
    let (rows, _) = factorized(a, n, team)?;
    if is_singular(a, n) {
        return Err(Failure::Singular);
    }
    let (a, width) = (matrix(a, n, n), tile(n, n) * n);
    // the right-hand sides are in the order of `rows`, in which column `j` is 0 above row `j`
    each(team, &parts(x, width, width)?, |i, x| {
        let (j, k) = (i * (width / n), x.len() / n);
        x.fill(T::default());
        let mut exponents = list(k, 0)?;
        for (c, (x, e)) in x.chunks_exact_mut(n).zip(&mut exponents).enumerate() {
            x[j + c] = T::ONE;
            if let Some(balance) = &balance {
                (x[j + c], *e) = balance.unit(rows[j + c]);
            }
        }
        let mut x_mut = matrix_mut(x, n, k);
        let below = a.submatrix(j, j, n - j, n - j);
        triangular_solve::solve_unit_lower_triangular_in_place(below, x_mut.as_mut().subrows_mut(j, n - j), Par::Seq);
        triangular_solve::solve_upper_triangular_in_place(a, x_mut, Par::Seq);
        solutions(balance.as_ref(), Some(&exponents), x, n);
        Ok(())
    })?;
    to_original_order(x, rows, n);
    Ok(())
}

/// Moves column `j` of `x` to column `rows[j]`, for each `j`.
fn to_original_order<T: Scalar>(x: &mut [T], mut rows: Vec<usize>, n: usize) {
    for j in 0..n {
        // each exchange moves one column to its place; the columns before `j` are in their places, so `to` exceeds `j`
        while rows[j] != j {
            let to = rows[j];
            let (left, right) = x.split_at_mut(to * n);
            left[j * n..][..n].swap_with_slice(&mut right[..n]);
            rows.swap(j, to);
        }
    }
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

pub(crate) fn determinant<T: Scalar + ComplexField>(a: &mut [T], n: usize, team: &dyn Team) -> Result<Determinant<T>> {
    // `finite` is computed before the factorization, because the factors may be NaN after a zero pivot
    let finite = a.iter().all(|x| x.magnitude().is_finite());
    let balance = Balance::of(a, n)?;
    let exponent = balance.map_or(0, |balance| balance.of_determinant());
    let (_, exchanges) = factorized(a, n, team)?;
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
    team: &dyn Team,
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
    let (a, width) = (matrix(a, n, n), tile(n, k) * n);
    each(team, &parts(b, width, width)?, |_, b| {
        let k = b.len() / n;
        let exponents = balance.as_ref().map(|balance| right_sides(balance, b, n, k)).transpose()?;
        let of_b = matrix_mut(b, n, k);
        match (lower, unit) {
            (true, true) => triangular_solve::solve_unit_lower_triangular_in_place(a, of_b, Par::Seq),
            (true, false) => triangular_solve::solve_lower_triangular_in_place(a, of_b, Par::Seq),
            (false, true) => triangular_solve::solve_unit_upper_triangular_in_place(a, of_b, Par::Seq),
            (false, false) => triangular_solve::solve_upper_triangular_in_place(a, of_b, Par::Seq),
        }
        solutions(balance.as_ref(), exponents.as_deref(), b, n);
        Ok(())
    })
}
