//! Eigenvalues of general square matrices: the QR algorithm with shifts on the Hessenberg form, and eigenvectors of the
//! resulting triangular matrix.

use super::{C, Columns, quotient};

/// The number of steps for one eigenvalue after which the method gives up.
const STEPS: usize = 300;

/// Reduces the matrix to Hessenberg form (zeros below the first subdiagonal) by reflections. `q` is multiplied by the
/// same reflections.
fn reduce(a: &mut Columns, q: &mut Columns) {
    let n = a.rows;
    for k in 0..n.saturating_sub(2) {
        let mut v: Vec<C> = (0..n).map(|i| if i > k { a[(i, k)] } else { C::ZERO }).collect();
        let length = v.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
        let first = v[k + 1];
        let phase = if first == C::ZERO { C::ONE } else { first / first.norm() };
        v[k + 1] += phase * length;
        let square = v.iter().map(|x| x.norm_sqr()).sum::<f64>();
        if square == 0.0 {
            continue;
        }
        // applies the reflection 1 - 2 v v* / v*v from both sides
        for j in 0..n {
            let by: C = (0..n).map(|i| v[i].conj() * a[(i, j)]).sum::<C>() * 2.0 / square;
            (0..n).for_each(|i| a[(i, j)] -= v[i] * by);
        }
        for x in [&mut *a, &mut *q] {
            for i in 0..n {
                let by: C = (0..n).map(|j| x[(i, j)] * v[j]).sum::<C>() * 2.0 / square;
                (0..n).for_each(|j| x[(i, j)] -= by * v[j].conj());
            }
        }
        (k + 2..n).for_each(|i| a[(i, k)] = C::ZERO);
    }
}

/// Returns the shift for a step of the QR algorithm. The shift is an eigenvalue of the 2 x 2 block whose last row is
/// `end`: the eigenvalue that is nearer to the last element of the block.
fn shift(t: &Columns, end: usize) -> C {
    let (a, b, c, d) = (t[(end - 1, end - 1)], t[(end - 1, end)], t[(end, end - 1)], t[(end, end)]);
    let half = (a - d) / 2.0;
    let root = (half * half + b * c).sqrt();
    let [x, y] = [d + half + root, d + half - root];
    if (x - d).norm() < (y - d).norm() { x } else { y }
}

/// Makes one step of the QR algorithm on the rows and columns `first..=last` of `t`, by rotations of neighbouring rows
/// and columns.
fn step(t: &mut Columns, q: &mut Columns, first: usize, last: usize, shift: C) {
    let n = t.rows;
    (first..=last).for_each(|i| t[(i, i)] -= shift);
    let mut rotations = Vec::new();
    for k in first..last {
        let (x, y) = (t[(k, k)], t[(k + 1, k)]);
        let length = x.norm().hypot(y.norm());
        let (c, s) = if length == 0.0 { (C::ONE, C::ZERO) } else { (x / length, y / length) };
        for j in k..n {
            let (upper, lower) = (t[(k, j)], t[(k + 1, j)]);
            t[(k, j)] = c.conj() * upper + s.conj() * lower;
            t[(k + 1, j)] = c * lower - s * upper;
        }
        // each rotation is later applied to two columns as well, also to their elements above the block, because these
        // elements belong to the triangular matrix
        rotations.push((k, c, s));
    }
    for (k, c, s) in rotations {
        let turned = |x: &mut Columns, rows: usize| {
            for i in 0..rows {
                let (left, right) = (x[(i, k)], x[(i, k + 1)]);
                x[(i, k)] = left * c + right * s;
                x[(i, k + 1)] = right * c.conj() - left * s.conj();
            }
        };
        turned(t, (k + 2).min(last + 1));
        turned(q, n);
    }
    (first..=last).for_each(|i| t[(i, i)] += shift);
}

/// Returns the eigenvalues, and a matrix whose columns are the eigenvectors, of length 1. `None` if the method does not
/// converge.
pub(crate) fn eig(a: &Columns) -> Option<(Vec<C>, Columns)> {
    let n = a.rows;
    let (mut t, mut q) = (a.clone(), Columns::identity(n, n));
    reduce(&mut t, &mut q);
    let norm = t.largest();
    let (mut last, mut steps) = (n.saturating_sub(1), 0);
    while last > 0 {
        let small =
            |k: usize| t[(k, k - 1)].norm() <= 1e-16 * (t[(k, k)].norm() + t[(k - 1, k - 1)].norm()).max(1e-3 * norm);
        let first = (1..=last).rev().find(|&k| small(k)).unwrap_or(0);
        if first > 0 {
            t[(first, first - 1)] = C::ZERO;
        }
        if first == last {
            (last, steps) = (last - 1, 0);
            continue;
        }
        steps += 1;
        if steps > STEPS {
            return None;
        }
        // every tenth step takes an exceptional shift, for matrices that the usual shift leaves unchanged
        let by = if steps % 10 == 0 { t[(last, last - 1)].norm().into() } else { shift(&t, last) };
        step(&mut t, &mut q, first, last, by);
    }
    let least = (1e-16 * norm).max(f64::MIN_POSITIVE);
    let mut vectors = Columns::zeros(n, n);
    for k in 0..n {
        let mut x = vec![C::ZERO; n];
        x[k] = C::ONE;
        for i in (0..k).rev() {
            let sum: C = (i + 1..=k).map(|j| t[(i, j)] * x[j]).sum();
            let apart = t[(i, i)] - t[(k, k)];
            x[i] = -quotient(sum, if apart.norm() < least { least.into() } else { apart });
        }
        let column: Vec<C> = (0..n).map(|i| (0..=k).map(|j| q[(i, j)] * x[j]).sum()).collect();
        let largest = column.iter().map(|x| x.norm()).fold(0.0, f64::max);
        let length = column.iter().map(|x| (x / largest).norm_sqr()).sum::<f64>().sqrt() * largest;
        vectors.column_mut(k).iter_mut().zip(column).for_each(|(v, x)| *v = x / length);
    }
    Some(((0..n).map(|k| t[(k, k)]).collect(), vectors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::testing::{near, noise};

    #[track_caller]
    fn check(a: &Columns) {
        let (w, v) = eig(a).unwrap();
        near(&a.times(&v), &Columns::made(a.rows, a.rows, |i, j| v[(i, j)] * w[j]));
        for j in 0..a.rows {
            assert!((v.column(j).iter().map(|x| x.norm_sqr()).sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn eigenvalues_and_vectors() {
        for n in [1, 2, 3, 4, 7, 20] {
            check(&noise(1, n, n, true));
            check(&noise(2, n, n, false));
        }
        check(&Columns::identity(3, 3));
        check(&Columns::zeros(3, 3));
        // a permutation, which a step of the iteration with a shift of 0 would leave unchanged
        check(&Columns::made(4, 4, |i, j| if i == (j + 1) % 4 { C::ONE } else { C::ZERO }));
        // a rotation by a right angle
        check(&Columns::made(2, 2, |i, j| if i == j { C::ZERO } else { C::from(i as f64 - j as f64) }));
    }
}
