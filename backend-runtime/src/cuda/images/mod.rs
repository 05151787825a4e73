//! Images: interpolation, filters, connected regions and distance transforms.

mod filters;
mod interpolation;
mod program;
mod regions;

pub use filters::{correlate1d, maximum_filter, minimum_filter, spline_filter};
pub use interpolation::{affine_transform, grid_sample, map_coordinates, zoom};
pub(super) use regions::KERNELS as REGION_KERNELS;
pub use regions::{distance_transform_edt, label};

use super::{OpContext, array::RawArray, program::KernelList};
use crate::Result;

/// The kernels, listed for the check that all kernels compile.
pub(super) const KERNELS: KernelList =
    (&program::PROGRAM, || interpolation::kernels().chain(filters::kernels()).collect());

/// Refuses an image of another dtype than that of the call, and numbers of another dtype than that of its real part.
fn require(on: OpContext<'_>, x: &RawArray, numbers: &[&RawArray]) -> Result<()> {
    on.require(&[x])?;
    on.with_dtype(on.dtype.to_real()).require(numbers)
}
