//! Images: interpolation, filters, connected regions and distance transforms.

mod filters;
mod interpolation;
mod program;
mod regions;

pub use filters::{correlate1d, maximum_filter, minimum_filter, spline_filter};
pub use interpolation::{affine_transform, grid_sample, map_coordinates, zoom};
pub(super) use regions::KERNELS as REGION_KERNELS;
pub use regions::{distance_transform_edt, label};

use super::program::KernelList;

/// The kernels of this folder, listed so that `check` can compile them all.
pub(super) const KERNELS: KernelList =
    (&program::PROGRAM, || interpolation::kernels().chain(filters::kernels()).collect());
