//! Divide and conquer for the eigenvectors of symmetric tridiagonal matrices. A matrix is split into a block-diagonal
//! matrix of two blocks, the halves, and a matrix of rank one.

use super::{
    merge::{self, Room},
    ql,
};
use crate::{Failure, Result, instructions::Set, room::list};

/// Replaces the diagonal `d` of a symmetric tridiagonal matrix by its eigenvalues in ascending
/// order, and the columns of `q` by its eigenvectors. `e` has the elements below the diagonal. The
/// magnitude of the largest element must be between 2^-500 and 2^500.
pub fn eigen(set: Set, d: &mut [f64], e: &[f64], q: &mut [f64]) -> Result<()> {
    if !d.iter().chain(e).all(|x| x.is_finite()) {
        return Err(Failure::NoConvergence);
    }
    let n = d.len();
    q.fill(0.0);
    let room = &mut Room::new(n, n > ql::LARGEST)?;
    // solves a separate eigenvalue problem for each block between negligible elements, so that
    // small blocks are accurate
    let mut first = 0;
    for i in 0..n {
        let is_end = i + 1 == n || e[i].abs() <= f64::EPSILON * d[i].abs().sqrt() * d[i + 1].abs().sqrt();
        if is_end {
            part(set, &mut d[first..=i], &e[first..i], &mut q[first * (n + 1)..], n, room)?;
            first = i + 1;
        }
    }
    if !d.iter().all(|x| x.is_finite()) {
        return Err(Failure::NoConvergence);
    }
    if !d.is_sorted() {
        sort(d, q)?;
    }
    Ok(())
}

/// Sorts the eigenvalues `d`, and the columns of `q` in the same way.
fn sort(d: &mut [f64], q: &mut [f64]) -> Result<()> {
    let n = d.len();
    let (mut order, mut values, mut vectors) = (list(n, 0)?, list(n, 0.0)?, list(n * n, 0.0)?);
    (0..n).for_each(|j| order[j] = j);
    order.sort_unstable_by(|&i: &usize, &j| d[i].total_cmp(&d[j]).then(i.cmp(&j)));
    for ((value, vector), &j) in values.iter_mut().zip(vectors.chunks_exact_mut(n)).zip(&order) {
        *value = d[j];
        vector.copy_from_slice(&q[j * n..][..n]);
    }
    d.copy_from_slice(&values);
    q.copy_from_slice(&vectors);
    Ok(())
}

/// Like [`eigen`], for one diagonal block. `q` begins at the first element of the block, and its
/// columns are `stride` apart.
fn part(set: Set, d: &mut [f64], e: &[f64], q: &mut [f64], stride: usize, room: &mut Room) -> Result<()> {
    let n = d.len();
    if n <= ql::LARGEST {
        return ql::small(set, d, e, q, stride);
    }
    let half = n / 2;
    let off = e[half - 1];
    d[half - 1] -= off.abs();
    d[half] -= off.abs();
    let (first, second) = d.split_at_mut(half);
    part(set, first, &e[..half - 1], q, stride, room)?;
    part(set, second, &e[half..], &mut q[half * (stride + 1)..], stride, room)?;
    merge::merge(set, d, half, off, q, stride, room)
}
