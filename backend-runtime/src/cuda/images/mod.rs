//! Images: interpolation and filters.

mod filters;
mod interpolation;
mod program;

pub use filters::{correlate1d, maximum_filter, minimum_filter, spline_filter};
pub use interpolation::{affine_transform, grid_sample, map_coordinates, zoom};

use super::program::KernelList;

/// The kernels, listed for the check.
pub(super) const KERNELS: KernelList =
    (&program::PROGRAM, || interpolation::kernels().chain(filters::kernels()).collect());
