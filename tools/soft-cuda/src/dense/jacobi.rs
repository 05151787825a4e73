//! Jacobi's methods. For singular values, pairs of columns are rotated until all are orthogonal; for eigenvalues of
//! Hermitian matrices, pairs of rows and columns are rotated until the matrix is diagonal.

use super::{C, Columns};

/// The number of sweeps over all pairs after which a method gives up.
const SWEEPS: usize = 100;

/// A rotation of two columns, after the second column is multiplied by a phase.
#[derive(Clone, Copy)]
struct Rotation {
    cos: f64,
    sin: f64,
    phase: C,
}

impl Rotation {
    /// Returns the rotation that diagonalises the 2 x 2 Hermitian matrix with the diagonal elements `first` and
    /// `second` and the off-diagonal element `off`. For two columns, these are their squared norms and their inner
    /// product, and the rotation makes the columns orthogonal.
    fn of(first: f64, second: f64, off: C) -> Rotation {
        let size = off.norm();
        let half = (second - first) / (2.0 * size);
        let tan = half.signum() / (half.abs() + half.hypot(1.0));
        let cos = 1.0 / tan.hypot(1.0);
        Rotation { cos, sin: cos * tan, phase: off.conj() / size }
    }

    fn columns(self, a: &mut Columns, p: usize, q: usize) {
        for i in 0..a.rows {
            let (x, y) = (a[(i, p)], self.phase * a[(i, q)]);
            a[(i, p)] = x * self.cos - y * self.sin;
            a[(i, q)] = x * self.sin + y * self.cos;
        }
    }

    fn rows(self, a: &mut Columns, p: usize, q: usize) {
        for j in 0..a.columns {
            let (x, y) = (a[(p, j)], self.phase.conj() * a[(q, j)]);
            a[(p, j)] = x * self.cos - y * self.sin;
            a[(q, j)] = x * self.sin + y * self.cos;
        }
    }
}

fn dot(x: &[C], y: &[C]) -> C {
    x.iter().zip(y).map(|(x, y)| x.conj() * y).sum()
}

/// Returns the columns of `a` whose indices are in `order`, in this order.
fn reordered(a: &Columns, order: &[usize]) -> Columns {
    Columns::made(a.rows, order.len(), |i, j| a[(i, order[j])])
}

/// Returns the singular values in descending order, and two square matrices whose columns are the left and the right
/// singular vectors. `None` if the method does not converge.
pub(crate) fn svd(a: &Columns) -> Option<(Vec<f64>, Columns, Columns)> {
    if a.rows < a.columns {
        return svd(&a.adjoint()).map(|(s, u, v)| (s, v, u));
    }
    let n = a.columns;
    let (mut a, mut v) = (a.clone(), Columns::identity(n, n));
    // the matrix is divided by its largest element, because otherwise squares of very small or very large elements
    // would underflow or overflow
    let scale = match a.largest() {
        0.0 => 1.0,
        largest => largest,
    };
    a.elements.iter_mut().for_each(|x| *x /= scale);
    let pairs = || (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q)));
    let mut sweep = 0;
    loop {
        let mut rotated = false;
        for (p, q) in pairs() {
            let (x, y) = (a.column(p), a.column(q));
            let (first, second, off) = (dot(x, x).re, dot(y, y).re, dot(x, y));
            if off.norm() <= 1e-16 * (first * second).sqrt() || off.norm() < 1e-300 {
                continue;
            }
            let rotation = Rotation::of(first, second, off);
            rotation.columns(&mut a, p, q);
            rotation.columns(&mut v, p, q);
            rotated = rotated || off.norm() > 1e-14 * (first * second).sqrt();
        }
        sweep += 1;
        if !rotated {
            break;
        }
        if sweep > SWEEPS {
            return None;
        }
    }
    let lengths: Vec<f64> = (0..n).map(|j| dot(a.column(j), a.column(j)).re.sqrt()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| lengths[j].total_cmp(&lengths[i]));
    let s: Vec<f64> = order.iter().map(|&j| lengths[j]).collect();
    let (sorted, v) = (reordered(&a, &order), reordered(&v, &order));
    let least = 1e-15 * s.first().copied().unwrap_or(0.0);
    let mut u = Columns::zeros(a.rows, a.rows);
    let known = s.iter().take_while(|&&s| s > least).count();
    for (j, s) in s[..known].iter().enumerate() {
        u.column_mut(j).iter_mut().zip(sorted.column(j)).for_each(|(u, x)| *u = x / s);
    }
    complete(&mut u, known);
    Some((s.iter().map(|s| s * scale).collect(), u, v))
}

/// Fills the columns from index `known` on, so that all columns are orthonormal.
fn complete(u: &mut Columns, known: usize) {
    for j in known..u.columns {
        let best = (0..u.rows).map(|place| {
            let mut new = vec![C::ZERO; u.rows];
            new[place] = C::ONE;
            // the components along the previous columns are subtracted twice, because the first pass leaves rounding
            // errors
            for k in (0..j).chain(0..j) {
                let part = dot(u.column(k), &new);
                new.iter_mut().zip(u.column(k)).for_each(|(x, u)| *x -= part * u);
            }
            let length = dot(&new, &new).re.sqrt();
            (length, new)
        });
        let (length, new) = best.max_by(|x, y| x.0.total_cmp(&y.0)).unwrap_or_default();
        u.column_mut(j).iter_mut().zip(new).for_each(|(u, x)| *u = x / length);
    }
}

/// Returns the eigenvalues of a Hermitian matrix in ascending order, and a matrix whose columns are the eigenvectors.
/// `None` if the method does not converge.
pub(crate) fn eigh(a: &Columns) -> Option<(Vec<f64>, Columns)> {
    let n = a.rows;
    let (mut a, mut v) = (a.clone(), Columns::identity(n, n));
    let least = 1e-16 * a.largest();
    let mut sweep = 0;
    loop {
        let mut rotated = false;
        for (p, q) in (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q))) {
            let off = a[(p, q)];
            if off.norm() <= least {
                continue;
            }
            let rotation = Rotation::of(a[(p, p)].re, a[(q, q)].re, off);
            rotation.columns(&mut a, p, q);
            rotation.rows(&mut a, p, q);
            rotation.columns(&mut v, p, q);
            rotated = true;
        }
        sweep += 1;
        if !rotated {
            break;
        }
        if sweep > SWEEPS {
            return None;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[(i, i)].re.total_cmp(&a[(j, j)].re));
    Some((order.iter().map(|&i| a[(i, i)].re).collect(), reordered(&v, &order)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::testing::{SIZES, near, noise};

    fn diagonal(values: &[f64], rows: usize, columns: usize) -> Columns {
        Columns::made(rows, columns, |i, j| if i == j { values[i].into() } else { C::ZERO })
    }

    #[track_caller]
    fn check(a: &Columns) {
        let (s, u, v) = svd(a).unwrap();
        assert!(s.is_sorted_by(|x, y| x >= y));
        near(&u.adjoint().times(&u), &Columns::identity(a.rows, a.rows));
        near(&v.adjoint().times(&v), &Columns::identity(a.columns, a.columns));
        near(&u.times(&diagonal(&s, a.rows, a.columns)).times(&v.adjoint()), a);
    }

    #[test]
    fn singular_values_and_vectors() {
        for (m, n) in SIZES {
            check(&noise(1, m, n, true));
            check(&noise(2, m, n, false));
        }
        check(&Columns::zeros(4, 3));
        check(&Columns::made(4, 4, |_, _| C::ONE));
        let (s, _, _) = svd(&Columns::made(2, 2, |i, j| C::from(1e-200 * (i + 2 * j) as f64))).unwrap();
        assert!((s[0] - 3.702_459_173_643_833e-200).abs() < 1e-212, "{s:?}");
    }

    #[test]
    fn eigenvalues_and_vectors() {
        for n in [1, 2, 3, 12] {
            for is_real in [true, false] {
                let x = noise(5, n, n, is_real);
                let a = Columns::made(n, n, |i, j| x[(i, j)] + x[(j, i)].conj());
                let (w, v) = eigh(&a).unwrap();
                assert!(w.is_sorted());
                near(&v.adjoint().times(&v), &Columns::identity(n, n));
                near(&v.times(&diagonal(&w, n, n)).times(&v.adjoint()), &a);
            }
        }
        assert_eq!(eigh(&Columns::zeros(2, 2)).unwrap().0, [0.0, 0.0]);
    }
}
