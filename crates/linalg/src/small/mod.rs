//! Systems and determinants of stacks of small matrices, in double precision.
//!
//! Eight matrices are factorized at a time, one in each lane of a vector. The few matrices that are
//! left over are factorized one by one, by the same operations in the same order, so the result for
//! a matrix has the same bits anywhere in a stack and on every processor. A pivot is the largest
//! element of its column, and the first one if several elements are equally large.
//!
//! Matrices of very large or very small numbers, and matrices with infinite elements or NaN, are
//! left to `lu`. This choice depends on the matrix only.

mod groups;
mod lanes;
mod sets;
mod single;
mod stacked;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::{Determinant, Result, SMALL, Team, instructions::Set, lu, room::list};
use groups::Sizes;
use lanes::AlignedVector;

/// Maximum number of elements of eight matrices with their right-hand sides that are solved at a time. More elements
/// would have to be read from the second-level cache again and again, which is slow.
const ELEMENTS: usize = 1280;

/// Solves the systems of a stack; see [`crate::Scalar::solve_all`].
pub fn solve_all(a: &mut [f64], b: &mut [f64], n: usize, k: usize, team: &dyn Team) -> Result<()> {
    solve_all_with(Set::best(), a, b, n, k, team)
}

/// Computes the determinants of a stack; see [`crate::Scalar::determinants`].
pub fn determinants(a: &mut [f64], n: usize, to: &mut [Determinant<f64>], team: &dyn Team) -> Result<()> {
    determinants_with(Set::best(), a, n, to, team)
}

/// Computes the inverses of the matrices of a stack; see [`crate::Scalar::inverse_all`].
pub fn inverse_all(a: &mut [f64], x: &mut [f64], n: usize, team: &dyn Team) -> Result<()> {
    let size = (n * n).max(1);
    if n > SMALL || n * (n + n) > ELEMENTS {
        let matrices = a.chunks_exact_mut(size).zip(x.chunks_exact_mut(size));
        return matrices.into_iter().try_for_each(|(a, x)| lu::inverse(a, x, n, team));
    }
    x.fill(0.0);
    x.chunks_exact_mut(size).for_each(|x| x.iter_mut().step_by(n + 1).for_each(|x| *x = 1.0));
    solve_all(a, x, n, n, team)
}

fn solve_all_with(set: Set, a: &mut [f64], b: &mut [f64], n: usize, k: usize, team: &dyn Team) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    if n > SMALL || k > SMALL || k == 0 || n * (n + k) > ELEMENTS {
        let matrices = a.chunks_exact_mut(n * n).enumerate();
        return matrices.into_iter().try_for_each(|(i, a)| lu::solve(a, &mut b[i * n * k..][..n * k], n, k, team));
    }
    let sizes = Sizes { n, k };
    with_room(sizes.room(a.len() / (n * n)), |room| sets::solve_all(set, a, b, sizes, room))
}

fn determinants_with(set: Set, a: &mut [f64], n: usize, to: &mut [Determinant<f64>], team: &dyn Team) -> Result<()> {
    if n == 0 {
        to.fill(Determinant::one());
        return Ok(());
    }
    if n > SMALL {
        let matrices = a.chunks_exact_mut(n * n).zip(to);
        return matrices.into_iter().try_for_each(|(a, to)| lu::determinant(a, n, team).map(|found| *to = found));
    }
    with_room(Sizes { n, k: 0 }.room(to.len()), |room| sets::determinants(set, a, to, n, room))
}

/// Runs `f` with a room of this many elements.
fn with_room(size: usize, f: impl FnOnce(&mut [AlignedVector]) -> Result<()>) -> Result<()> {
    // most single matrices need no allocation
    let mut small = [AlignedVector::ZERO; 16];
    match small.get_mut(..size) {
        Some(room) => f(room),
        None => f(&mut list(size, AlignedVector::ZERO)?),
    }
}
