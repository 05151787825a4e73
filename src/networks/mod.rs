//! Ops of the group `networks`, for any backend: normalizations, losses and attention of neural networks.

mod attention;
mod classes;
mod losses;
mod normalizations;

pub use attention::scaled_dot_product_attention;
pub use classes::{cross_entropy, nll_loss};
pub use losses::{huber_loss, mse_loss};
pub use normalizations::{batch_norm, group_norm, layer_norm, rms_norm};

/// A shape as signed lengths, for `reshape`. No length of an array exceeds `isize::MAX`.
fn signed(shape: &[usize]) -> Vec<isize> {
    shape.iter().map(|&len| len as isize).collect()
}
