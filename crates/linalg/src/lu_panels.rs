//! LU factorization with row exchanges, on a team of threads.

use super::{
    Failure, Result, Scalar,
    room::{list, matrix, matrix_mut, with_room},
    team::Team,
    tiles::{each, lock, parts},
};
use faer::{
    Accum, Par, Spec,
    linalg::{lu::partial_pivoting::factor, matmul::matmul, triangular_solve},
    traits::ComplexField,
};
use std::sync::Mutex;

/// Minimum size of the matrices that are factorized in panels. Smaller matrices have one task.
const IN_PANELS: usize = 256;

/// Number of columns of a panel.
const PANEL: usize = 64;

/// Number of columns that a task updates.
const TILE: usize = 128;

/// Factorizes `a` in place. Returns the original index of each row of the factors, and the number of row exchanges.
pub fn factorized<T: Scalar + ComplexField>(a: &mut [T], n: usize, team: &dyn Team) -> Result<(Vec<usize>, usize)> {
    if n < IN_PANELS { at_once(a, n, n, 0) } else { in_panels(a, n, team) }
}

/// Factorizes the rows from `k` on of columns of `n` elements in one task. Returns the original indices of these rows,
/// relative to `k`, and the number of row exchanges.
fn at_once<T: Scalar + ComplexField>(columns: &mut [T], n: usize, w: usize, k: usize) -> Result<(Vec<usize>, usize)> {
    let (mut rows, mut back) = (list(n - k, 0_usize)?, list(n - k, 0_usize)?);
    let needed = factor::lu_in_place_scratch::<usize, T>(n - k, w, Par::Seq, Spec::default());
    let exchanges = with_room(needed, |stack| {
        let columns = matrix_mut(columns, n, w).subrows_mut(k, n - k);
        factor::lu_in_place(columns, &mut rows, &mut back, Par::Seq, stack, Spec::default()).0.transposition_count
    })?;
    Ok((rows, exchanges))
}

/// The rows that a panel moved.
#[derive(Default)]
struct Moves {
    /// The new and the old index of each moved row.
    rows: Vec<(usize, usize)>,
    /// Number of exchanges of two rows.
    exchanges: usize,
}

impl Moves {
    /// Moves the elements of a column.
    fn apply<E: Copy + Default>(&self, column: &mut [E]) {
        // a panel exchanges one row for each of its columns
        let mut old = [E::default(); 2 * PANEL];
        old.iter_mut().zip(&self.rows).for_each(|(old, &(_, from))| *old = column[from]);
        old.iter().zip(&self.rows).for_each(|(&old, &(to, _))| column[to] = old);
    }
}

/// Factorizes panel by panel. When a panel is finished, tasks eliminate its columns from the columns to the right of
/// it. The task of the next panel also factorizes this panel.
fn in_panels<T: Scalar + ComplexField>(a: &mut [T], n: usize, team: &dyn Team) -> Result<(Vec<usize>, usize)> {
    let (mut moves, count) = (Vec::new(), n.div_ceil(PANEL));
    moves.try_reserve_exact(count).map_err(|_| Failure::Memory(count * size_of::<Moves>()))?;
    moves.push(panel(&mut a[..PANEL.min(n) * n], n, 0)?);
    for k in (0..n).step_by(PANEL).take_while(|k| k + PANEL < n) {
        let next = k + PANEL;
        let (done, rest) = a.split_at_mut(next * n);
        let (done, first) = (&done[k * n..], PANEL.min(n - next));
        let (moved, found) = (&moves[k / PANEL], Mutex::new(Moves::default()));
        each(team, &parts(rest, first * n, TILE * n)?, |i, part| {
            part.chunks_exact_mut(n).for_each(|column| moved.apply(column));
            eliminate(done, part, n, k);
            if i == 0 {
                *lock(&found) = panel(part, n, next)?;
            }
            Ok(())
        })?;
        moves.push(found.into_inner().unwrap_or_default());
    }
    // applies the row exchanges of the later panels to the columns of each panel
    each(team, &parts(a, PANEL * n, PANEL * n)?, |i, part| {
        for column in part.chunks_exact_mut(n) {
            moves[i + 1..].iter().for_each(|moved| moved.apply(column));
        }
        Ok(())
    })?;
    let mut rows = list(n, 0)?;
    rows.iter_mut().enumerate().for_each(|(i, row)| *row = i);
    moves.iter().for_each(|moved| moved.apply(&mut rows));
    Ok((rows, moves.iter().map(|moved| moved.exchanges).sum()))
}

/// Factorizes the columns from `k` on, from which all earlier panels were eliminated.
fn panel<T: Scalar + ComplexField>(columns: &mut [T], n: usize, k: usize) -> Result<Moves> {
    let (old, exchanges) = at_once(columns, n, columns.len() / n, k)?;
    let moved = || old.iter().enumerate().filter(|&(to, &from)| to != from);
    let mut rows = list(moved().count(), (0, 0))?;
    rows.iter_mut().zip(moved()).for_each(|(row, (to, from))| *row = (k + to, k + from));
    Ok(Moves { rows, exchanges })
}

/// Eliminates the panel at column `k` from other columns, whose rows were moved like those of the panel.
fn eliminate<T: Scalar + ComplexField>(panel: &[T], columns: &mut [T], n: usize, k: usize) {
    let (w, count) = (panel.len() / n, columns.len() / n);
    let (triangle, below) = matrix(panel, n, w).subrows(k, n - k).split_at_row(w);
    let (mut top, bottom) = matrix_mut(columns, n, count).subrows_mut(k, n - k).split_at_row_mut(w);
    triangular_solve::solve_unit_lower_triangular_in_place(triangle, top.as_mut(), Par::Seq);
    matmul(bottom, Accum::Add, below, top.as_ref(), T::ONE.over(-1.0), Par::Seq);
}
