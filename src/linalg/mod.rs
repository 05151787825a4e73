//! Ops of the group `linalg` that are composed of other ops, for any backend.

mod distances;
mod einsum;
mod least_squares;
mod norms;
mod powers;
mod products;
mod sparse;

pub use distances::cdist;
pub(crate) use distances::{MAX_DIFFERENCES, in_blocks};
pub use einsum::einsum;
pub(crate) use least_squares::{Relative, kept_values};
pub use least_squares::{lstsq, matrix_rank, pinv};
pub use norms::{matrix_norm, vector_norm};
pub use powers::{cholesky_solve, expm, inv, matrix_power};
pub use products::{cross, dot, inner, kron, tensordot, vecdot};
pub use sparse::{csc_matmul, csr_matmul, sampled_matmul};

/// A shape as signed lengths, for `reshape`. No length of an array exceeds `isize::MAX`.
fn signed(shape: &[usize]) -> Vec<isize> {
    shape.iter().map(|&len| len as isize).collect()
}
