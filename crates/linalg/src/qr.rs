//! QR factorization into a matrix with orthonormal columns and an upper triangular matrix.

use super::{
    Failure, Result, Scalar,
    room::{list, matrix, matrix_mut, with_room},
    scale,
};
use faer::{
    Conj, Par, Spec,
    dyn_stack::StackReq,
    linalg::{householder, qr::no_pivoting::factor},
    traits::ComplexField,
};

pub(crate) fn qr<T: Scalar + ComplexField>(a: &mut [T], q: &mut [T], m: usize, n: usize) -> Result<()> {
    let size = m.min(n);
    // `q` begins as columns of the identity; if `a` has no rows or no columns, there are no reflections to apply
    let columns = q.len().checked_div(m).unwrap_or(0);
    for (j, column) in q.chunks_exact_mut(m.max(1)).enumerate() {
        column.fill(T::default());
        column[j] = T::ONE;
    }
    if size == 0 {
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
    })?;
    for (j, column) in a.chunks_exact_mut(m).enumerate().take(m) {
        column[j + 1..].fill(T::default());
    }
    scaled.into_iter().for_each(|(j, e)| scale::scale(&mut a[j * m..][..m], e));
    Ok(())
}
