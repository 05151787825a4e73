//! Ops of the group `linalg` that are written once over any backend.

mod einsum;
mod norms;
mod products;

pub use einsum::einsum;
pub use norms::vector_norm;
pub use products::{cross, dot, inner, kron, tensordot, vecdot};

/// A shape, as `reshape` takes it. No length of an array is beyond `isize`.
fn signed(shape: &[usize]) -> Vec<isize> {
    shape.iter().map(|&len| len as isize).collect()
}
