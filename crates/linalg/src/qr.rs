//! QR factorization into a matrix with orthonormal columns and an upper triangular matrix.

use super::{
    Failure, Result, Scalar,
    room::{list, matrix, matrix_mut, with_room},
    scale,
    team::Team,
    tiles::{each, lock, parts},
};
use faer::{
    Conj, Par, Spec,
    dyn_stack::StackReq,
    linalg::{householder, qr::no_pivoting::factor},
    traits::ComplexField,
};
use std::sync::Mutex;

/// Minimum number of rows and of columns of the matrices that are factorized in panels. Smaller matrices have one task.
const IN_PANELS: usize = 256;

/// Number of columns of a panel.
const PANEL: usize = 32;

/// Number of columns that a task updates.
const TILE: usize = 64;

pub(crate) fn qr<T: Scalar + ComplexField>(
    a: &mut [T],
    q: &mut [T],
    m: usize,
    n: usize,
    team: &dyn Team,
) -> Result<()> {
    if m.min(n) == 0 {
        // there are no reflections to apply
        identity(q, m, 0);
        return Ok(());
    }
    // faer squares elements, so columns of very large or small numbers are scaled; scaling a column of `a` scales only
    // the same column of the triangular factor
    let mut scaled = Vec::new();
    for (j, column) in a.chunks_exact_mut(m).enumerate() {
        if let Some(e) = scale::needed(column.iter().copied()) {
            scale::scale(column, -e);
            scaled.try_reserve(1).map_err(|_| Failure::Memory(size_of::<(usize, i32)>() * n))?;
            scaled.push((j, e));
        }
    }
    if m.min(n) < IN_PANELS {
        at_once(a, q, m, n)?;
    } else {
        let coefficients = in_panels(a, m, n, team)?;
        form_q(a, &coefficients, q, m, n, team)?;
    }
    for (j, column) in a.chunks_exact_mut(m).enumerate().take(m) {
        column[j + 1..].fill(T::default());
    }
    scaled.into_iter().for_each(|(j, e)| scale::scale(&mut a[j * m..][..m], e));
    Ok(())
}

/// Overwrites columns of `m` elements with the columns of the identity from `j` on.
fn identity<T: Scalar>(columns: &mut [T], m: usize, j: usize) {
    for (place, column) in columns.chunks_exact_mut(m.max(1)).enumerate() {
        column.fill(T::default());
        column[j + place] = T::ONE;
    }
}

/// Factorizes and forms `q` in one task.
fn at_once<T: Scalar + ComplexField>(a: &mut [T], q: &mut [T], m: usize, n: usize) -> Result<()> {
    let (size, columns) = (m.min(n), q.len() / m);
    identity(q, m, 0);
    let block = factor::recommended_block_size::<T>(m, n);
    let mut reflections = list(block * size, T::default())?;
    let needed = StackReq::any_of(&[
        factor::qr_in_place_scratch::<T>(m, n, block, Par::Seq, Spec::default()),
        householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(m, block, columns),
    ]);
    with_room(needed, |stack| {
        let coefficients = matrix_mut(&mut reflections, block, size);
        factor::qr_in_place(matrix_mut(a, m, n), coefficients, Par::Seq, stack, Spec::default());
        householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
            matrix(a, m, n).subcols(0, size),
            matrix(&reflections, block, size),
            Conj::No,
            matrix_mut(q, m, columns),
            Par::Seq,
            stack,
        );
    })
}

/// Factorizes panel by panel. When a panel is finished, tasks apply its reflections to the columns to the right of it.
/// The task of the next panel also factorizes this panel.
///
/// Returns the triangular factors of the panels' block reflections, one after another: `PANEL * w` elements for a
/// panel of `w` columns, of which the first `w * w` are used.
fn in_panels<T: Scalar + ComplexField>(a: &mut [T], m: usize, n: usize, team: &dyn Team) -> Result<Vec<T>> {
    let size = m.min(n);
    let mut coefficients = list(PANEL * size, T::default())?;
    panel(&mut a[..PANEL.min(size) * m], &mut coefficients, m, 0)?;
    for k in (0..size).step_by(PANEL) {
        let w = PANEL.min(size - k);
        let next = k + w;
        let (done, rest) = a.split_at_mut(next * m);
        let (of_done, of_next) = coefficients.split_at_mut(next * PANEL);
        let (done, of_done) = (&done[k * m..], &of_done[k * PANEL..]);
        let (first, of_next) = (PANEL.min(size - next), Mutex::new(of_next));
        each(team, &parts(rest, first * m, TILE * m)?, |i, part| {
            update(done, of_done, part, m, k)?;
            if i == 0 { panel(part, &mut lock(&of_next), m, next) } else { Ok(()) }
        })?;
    }
    Ok(coefficients)
}

/// Factorizes the columns from `k` on, to which the reflections of all earlier panels were applied.
fn panel<T: Scalar + ComplexField>(columns: &mut [T], coefficients: &mut [T], m: usize, k: usize) -> Result<()> {
    let w = columns.len() / m;
    let needed = factor::qr_in_place_scratch::<T>(m - k, w, w, Par::Seq, Spec::default());
    with_room(needed, |stack| {
        let coefficients = matrix_mut(&mut coefficients[..w * w], w, w);
        let columns = matrix_mut(columns, m, w).subrows_mut(k, m - k);
        factor::qr_in_place(columns, coefficients, Par::Seq, stack, Spec::default());
    })
}

/// Applies the adjoint of the reflections of the panel at column `k` to other columns.
fn update<T: Scalar + ComplexField>(
    panel: &[T],
    coefficients: &[T],
    columns: &mut [T],
    m: usize,
    k: usize,
) -> Result<()> {
    let (w, count) = (panel.len() / m, columns.len() / m);
    let needed = householder::apply_block_householder_transpose_on_the_left_in_place_scratch::<T>(m - k, w, count);
    with_room(needed, |stack| {
        householder::apply_block_householder_transpose_on_the_left_in_place_with_conj(
            matrix(panel, m, w).subrows(k, m - k),
            matrix(&coefficients[..w * w], w, w),
            Conj::Yes,
            matrix_mut(columns, m, count).subrows_mut(k, m - k),
            Par::Seq,
            stack,
        );
    })
}

/// Computes the columns of `q` by applying the reflections to columns of the identity, beginning with the last panel.
/// When a panel is applied, only the rows and columns from its first column on differ from the identity.
fn form_q<T: Scalar + ComplexField>(
    a: &[T],
    coefficients: &[T],
    q: &mut [T],
    m: usize,
    n: usize,
    team: &dyn Team,
) -> Result<()> {
    let size = m.min(n);
    each(team, &parts(q, TILE * m, TILE * m)?, |i, part| {
        let (j, count) = (i * TILE, part.len() / m);
        identity(part, m, j);
        let needed = householder::apply_block_householder_on_the_left_in_place_scratch::<T>(m, PANEL, count);
        with_room(needed, |stack| {
            for k in (0..size.min(j + count)).step_by(PANEL).rev() {
                let (w, before) = (PANEL.min(size - k), k.saturating_sub(j));
                householder::apply_block_householder_on_the_left_in_place_with_conj(
                    matrix(&a[k * m..][..w * m], m, w).subrows(k, m - k),
                    matrix(&coefficients[k * PANEL..][..w * w], w, w),
                    Conj::No,
                    matrix_mut(part, m, count).submatrix_mut(k, before, m - k, count - before),
                    Par::Seq,
                    stack,
                );
            }
        })
    })
}
