//! Cholesky factors, LU factors with row exchanges, Householder reflections, and systems of equations.

use super::{C, Columns, quotient};

/// Overwrites the lower triangle with the lower Cholesky factor, and ignores the upper triangle. Returns the number
/// (from 1) of the first column whose pivot is 0 or negative, or 0 if all pivots are positive. A NaN pivot is not
/// detected.
pub(crate) fn cholesky(a: &mut Columns) -> usize {
    for j in 0..a.rows {
        let square = a[(j, j)].re - (0..j).map(|k| a[(j, k)].norm_sqr()).sum::<f64>();
        if square <= 0.0 {
            return j + 1;
        }
        let pivot = square.sqrt();
        a[(j, j)] = pivot.into();
        for i in j + 1..a.rows {
            let sum: C = (0..j).map(|k| a[(i, k)] * a[(j, k)].conj()).sum();
            a[(i, j)] = (a[(i, j)] - sum) / pivot;
        }
    }
    0
}

/// Overwrites a matrix with its LU factors. Returns for each row the number (from 1) of the row with which it was
/// exchanged. Also returns the number (from 1) of the first zero pivot, or 0 for a regular matrix.
pub(crate) fn lu(a: &mut Columns) -> (Vec<i64>, usize) {
    let (n, mut pivots, mut singular) = (a.rows, Vec::new(), 0);
    for j in 0..n {
        let mut pivot = j;
        for i in j + 1..n {
            if a[(i, j)].l1_norm() > a[(pivot, j)].l1_norm() {
                pivot = i;
            }
        }
        pivots.push(pivot as i64 + 1);
        for k in 0..n {
            let (x, y) = (a[(j, k)], a[(pivot, k)]);
            (a[(j, k)], a[(pivot, k)]) = (y, x);
        }
        if a[(j, j)] == C::ZERO {
            singular = if singular == 0 { j + 1 } else { singular };
            continue;
        }
        for i in j + 1..n {
            let factor = quotient(a[(i, j)], a[(j, j)]);
            a[(i, j)] = factor;
            for k in j + 1..n {
                let product = factor * a[(j, k)];
                a[(i, k)] -= product;
            }
        }
    }
    (pivots, singular)
}

/// Solves systems of equations with the LU factors from [`lu`]. Overwrites the right-hand sides `x` with the solutions.
pub(crate) fn solve(factors: &Columns, pivots: &[u64], x: &mut Columns) {
    for j in 0..x.columns {
        for (i, &pivot) in pivots.iter().enumerate() {
            x.column_mut(j).swap(i, pivot as usize - 1);
        }
    }
    solve_triangle(factors, true, true, x);
    solve_triangle(factors, false, false, x);
}

/// Solves triangular systems, and overwrites the right-hand sides `x` with the solutions. With `unit`, the diagonal
/// elements of `a` are taken to be 1.
pub(crate) fn solve_triangle(a: &Columns, lower: bool, unit: bool, x: &mut Columns) {
    let n = a.rows;
    for j in 0..x.columns {
        for step in 0..n {
            let i = if lower { step } else { n - 1 - step };
            let known = if lower { 0..i } else { i + 1..n };
            let sum: C = known.map(|k| a[(i, k)] * x[(k, j)]).sum();
            let rest = x[(i, j)] - sum;
            x[(i, j)] = if unit { rest } else { quotient(rest, a[(i, i)]) };
        }
    }
}

/// The numbers `tau` of the Householder reflections `1 - tau v v*`.
pub(crate) type Reflections = Vec<C>;

/// Overwrites a matrix with its QR factors: R in the upper triangle and, below the diagonal, the vectors `v` of the
/// reflections `1 - tau v v*`. The first element of each `v` is 1 and is not stored. Q is the product of the
/// reflections, with the first reflection leftmost.
pub(crate) fn qr(a: &mut Columns) -> Reflections {
    let (m, n) = (a.rows, a.columns);
    let mut all = Vec::new();
    for j in 0..m.min(n) {
        let first = a[(j, j)];
        if (j + 1..m).all(|i| a[(i, j)] == C::ZERO) && first.im == 0.0 {
            all.push(C::ZERO);
            continue;
        }
        // the squares of very large or very small elements would overflow or underflow
        let largest = (j..m).map(|i| a[(i, j)].l1_norm()).fold(0.0, f64::max);
        let length = largest * (j..m).map(|i| (a[(i, j)] / largest).norm_sqr()).sum::<f64>().sqrt();
        let beta = if first.re > 0.0 { -length } else { length };
        let tau = (C::from(beta) - first) / beta;
        (j + 1..m).for_each(|i| a[(i, j)] = quotient(a[(i, j)], first - beta));
        a[(j, j)] = beta.into();
        all.push(tau);
        // the adjoint of the reflection is applied to the columns after this one
        for k in j + 1..n {
            let product = a[(j, k)] + (j + 1..m).map(|i| a[(i, j)].conj() * a[(i, k)]).sum::<C>();
            let by = tau.conj() * product;
            a[(j, k)] -= by;
            for i in j + 1..m {
                let part = a[(i, j)] * by;
                a[(i, k)] -= part;
            }
        }
    }
    all
}

/// Returns the first columns of a product of reflections. The vectors of the reflections are below the diagonal of `a`.
pub(crate) fn orthonormal(a: &Columns, tau: &[C]) -> Columns {
    let (m, n) = (a.rows, a.columns);
    let mut q = Columns::identity(m, n);
    for (j, tau) in tau.iter().enumerate().rev() {
        for k in 0..n {
            let product = q[(j, k)] + (j + 1..m).map(|i| a[(i, j)].conj() * q[(i, k)]).sum::<C>();
            let by = tau * product;
            q[(j, k)] -= by;
            (j + 1..m).for_each(|i| q[(i, k)] -= a[(i, j)] * by);
        }
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::testing::{SIZES, near, noise};

    #[test]
    fn cholesky_factors_multiply_to_the_matrix() {
        for (is_real, n) in [(true, 1), (true, 6), (false, 1), (false, 6)] {
            let x = noise(7, n, n, is_real);
            let mut a = x.times(&x.adjoint());
            (0..n).for_each(|i| a[(i, i)] += 1.0);
            let mut l = Columns::made(n, n, |i, j| if i >= j { a[(i, j)] } else { f64::NAN.into() });
            assert_eq!(cholesky(&mut l), 0);
            let l = Columns::made(n, n, |i, j| if i >= j { l[(i, j)] } else { C::ZERO });
            near(&l.times(&l.adjoint()), &a);
        }
        let mut x = Columns::made(2, 2, |i, j| if i == j && i == 1 { C::ZERO } else { C::ONE });
        assert_eq!(cholesky(&mut x), 2);
    }

    #[test]
    fn solutions_solve() {
        for is_real in [true, false] {
            let (a, x) = (noise(1, 9, 9, is_real), noise(2, 9, 2, is_real));
            let (mut factors, mut b) = (a.clone(), a.times(&x));
            let (pivots, singular) = lu(&mut factors);
            assert_eq!(singular, 0);
            solve(&factors, &pivots.iter().map(|&p| p as u64).collect::<Vec<_>>(), &mut b);
            near(&b, &x);
        }
        let mut same = Columns::made(3, 3, |_, _| C::ONE);
        assert_eq!(lu(&mut same), (vec![1, 2, 3], 2));
    }

    #[test]
    fn reflections_of_tiny_and_huge_columns() {
        for scale in [1e-200, 1e200] {
            let a = noise(3, 4, 3, false);
            let mut packed = Columns::made(4, 3, |i, j| a[(i, j)] * scale);
            let tau = qr(&mut packed);
            let q = orthonormal(&packed, &tau);
            let r = Columns::made(3, 3, |i, j| if i <= j { packed[(i, j)] / scale } else { C::ZERO });
            near(&q.times(&r), &a);
        }
    }

    #[test]
    fn reflections_are_factors() {
        for (m, n) in SIZES {
            for is_real in [true, false] {
                let a = noise(3, m, n, is_real);
                let mut packed = a.clone();
                let tau = qr(&mut packed);
                let vectors = Columns::made(m, m, |i, j| if j < n { packed[(i, j)] } else { f64::NAN.into() });
                let q = orthonormal(&vectors, &tau);
                near(&q.adjoint().times(&q), &Columns::identity(m, m));
                let r = Columns::made(m, n, |i, j| if i <= j { packed[(i, j)] } else { C::ZERO });
                near(&q.times(&r), &a);
            }
        }
    }
}
