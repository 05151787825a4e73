//! Cholesky factorization of Hermitian positive definite matrices.

use super::{
    Failure, Result, Scalar,
    room::{matrix, matrix_mut, real_diagonal, with_room},
    team::Team,
    tiles::{each, parts},
};
use faer::{
    Accum, MatMut, Par, Spec,
    linalg::{
        cholesky::llt::factor,
        matmul::{
            matmul,
            triangular::{self, BlockStructure},
        },
        triangular_solve,
    },
    traits::ComplexField,
};

/// Minimum size of the matrices that are factorized in panels. Smaller matrices have one task.
const IN_PANELS: usize = 384;

/// Number of columns of a panel.
const PANEL: usize = 64;

/// Number of columns that a task updates.
const TILE: usize = 128;

pub(crate) fn lower<T: Scalar + ComplexField>(a: &mut [T], n: usize, team: &dyn Team) -> Result<()> {
    real_diagonal(a, n);
    if n < IN_PANELS {
        square(matrix_mut(a, n, n))?
    } else {
        in_panels(a, n, team)?
    }
    // products of complex numbers leave rounding errors in the imaginary parts
    real_diagonal(a, n);
    for (j, column) in a.chunks_exact_mut(n.max(1)).enumerate() {
        column[..j].fill(T::default());
    }
    Ok(())
}

/// Factorizes a square matrix in one task.
fn square<T: Scalar + ComplexField>(a: MatMut<'_, T>) -> Result<()> {
    let needed = factor::cholesky_in_place_scratch::<T>(a.nrows(), Par::Seq, Spec::default());
    let factorized =
        with_room(needed, |stack| factor::cholesky_in_place(a, Default::default(), Par::Seq, stack, Spec::default()))?;
    factorized.map(|_| ()).map_err(|_| Failure::NotPositiveDefinite)
}

/// Factorizes panel by panel. When a panel is finished, tasks subtract its contribution from the columns to the right
/// of it. The task of the next panel also factorizes this panel.
fn in_panels<T: Scalar + ComplexField>(a: &mut [T], n: usize, team: &dyn Team) -> Result<()> {
    panel(&mut a[..PANEL.min(n) * n], n, 0)?;
    for k in (0..n).step_by(PANEL).take_while(|k| k + PANEL < n) {
        let next = k + PANEL;
        let (done, rest) = a.split_at_mut(next * n);
        let (done, first) = (&done[k * n..], PANEL.min(n - next));
        each(team, &parts(rest, first * n, TILE * n)?, |i, part| {
            let j = if i == 0 { next } else { next + first + (i - 1) * TILE };
            update(done, part, n, j);
            if i == 0 { panel(part, n, next) } else { Ok(()) }
        })?;
    }
    Ok(())
}

/// Factorizes the columns from `k` on, from which all earlier panels were subtracted.
fn panel<T: Scalar + ComplexField>(columns: &mut [T], n: usize, k: usize) -> Result<()> {
    let w = columns.len() / n;
    let (mut triangle, below) = matrix_mut(columns, n, w).subrows_mut(k, n - k).split_at_row_mut(w);
    square(triangle.as_mut())?;
    triangular_solve::solve_lower_triangular_in_place(triangle.as_ref().conjugate(), below.transpose_mut(), Par::Seq);
    Ok(())
}

/// Subtracts the contribution of a panel from the lower triangle of the columns from `j` on.
fn update<T: Scalar + ComplexField>(panel: &[T], columns: &mut [T], n: usize, j: usize) {
    let w = columns.len() / n;
    let (top, bottom) = matrix(panel, n, panel.len() / n).subrows(j, n - j).split_at_row(w);
    let (triangle, below) = matrix_mut(columns, n, w).subrows_mut(j, n - j).split_at_row_mut(w);
    let minus = T::ONE.over(-1.0);
    triangular::matmul(
        triangle,
        BlockStructure::TriangularLower,
        Accum::Add,
        top,
        BlockStructure::Rectangular,
        top.adjoint(),
        BlockStructure::Rectangular,
        minus,
        Par::Seq,
    );
    matmul(below, Accum::Add, bottom, top.adjoint(), minus, Par::Seq);
}
