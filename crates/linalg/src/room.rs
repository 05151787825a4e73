//! Views of slices as faer's matrices, and allocation of vectors and workspaces with an error if memory is exhausted.

use crate::{Failure, Result, Scalar};
use faer::{
    MatMut, MatRef,
    dyn_stack::{MemBuffer, MemStack, StackReq},
};

/// Views a slice in column-major order as a matrix.
pub fn matrix<T>(a: &[T], rows: usize, columns: usize) -> MatRef<'_, T> {
    MatRef::from_column_major_slice(a, rows, columns)
}

/// Views a mutable slice in column-major order as a matrix.
pub fn matrix_mut<T>(a: &mut [T], rows: usize, columns: usize) -> MatMut<'_, T> {
    MatMut::from_column_major_slice_mut(a, rows, columns)
}

/// Sets the imaginary parts on the diagonal of an `n` by `n` matrix to 0.
pub fn real_diagonal<T: Scalar>(a: &mut [T], n: usize) {
    (0..n).for_each(|i| a[i * n + i] = a[i * n + i].re());
}

/// Runs `f` with a workspace of the needed size. Returns an error if the allocation fails.
pub fn with_room<V>(needed: StackReq, f: impl FnOnce(&mut MemStack) -> V) -> Result<V> {
    let mut room = MemBuffer::try_new(needed).map_err(|_| Failure::Memory(needed.size_bytes()))?;
    Ok(f(MemStack::new(&mut room)))
}

/// Creates a vector of `n` copies of a value. Returns an error if the allocation fails.
pub fn list<T: Clone>(n: usize, value: T) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(n).map_err(|_| Failure::Memory(n.saturating_mul(size_of::<T>())))?;
    list.resize(n, value);
    Ok(list)
}
