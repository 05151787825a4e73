//! Views of slices as faer's matrices, and fallible allocation of workspaces.

use crate::{Failure, Result, Scalar};
use faer::{
    MatMut, MatRef,
    dyn_stack::{MemBuffer, MemStack, StackReq},
};

/// A matrix view in column-major order.
pub fn matrix<T>(a: &[T], rows: usize, columns: usize) -> MatRef<'_, T> {
    MatRef::from_column_major_slice(a, rows, columns)
}

/// A mutable matrix view in column-major order.
pub fn matrix_mut<T>(a: &mut [T], rows: usize, columns: usize) -> MatMut<'_, T> {
    MatMut::from_column_major_slice_mut(a, rows, columns)
}

/// Makes the diagonal of a Hermitian matrix real.
pub fn real_diagonal<T: Scalar>(a: &mut [T], n: usize) {
    (0..n).for_each(|i| a[i * n + i] = a[i * n + i].re());
}

/// Runs `f` with a workspace of the needed size.
pub fn with_room<V>(needed: StackReq, f: impl FnOnce(&mut MemStack) -> V) -> Result<V> {
    let mut room = MemBuffer::try_new(needed).map_err(|_| Failure::Memory(needed.size_bytes()))?;
    Ok(f(MemStack::new(&mut room)))
}

/// A vector of `n` copies of a value; an error if the allocation fails.
pub fn list<T: Clone>(n: usize, value: T) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(n).map_err(|_| Failure::Memory(n.saturating_mul(size_of::<T>())))?;
    list.resize(n, value);
    Ok(list)
}
