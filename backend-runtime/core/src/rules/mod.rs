//! Checks of the shapes and parameters of ops, and the shapes of results: axes, broadcasting, slices, indices, sizes.
//!
//! Each rule is a function from shapes and parameters to a plan, or to an error that names the op. All libraries use
//! the same rules, so a bad call gives the same error on every backend; the conformance tests `errors` check this for
//! every op.
//!
//! # All axes
//!
//! A list of axes may be `..`. It means the same on every backend, and the same as `None` in the NumPy functions that
//! accept `None`: all axes in order for reductions, `flip`, `fftn`, `fftshift`, `moveaxis` and `tensordot`; the reverse
//! order for `permute_dims`, which names the axes of the result; the axes of length 1 for `squeeze`; and the flattened
//! array for `roll`. `expand_dims` needs the positions of the new axes, so it refuses `..`.
//!
//! # Arrays without axes
//!
//! A reduction of an array of 0 dimensions follows NumPy: it accepts axis 0 or -1, as if the array had one axis of
//! length 1, and the result has 0 dimensions. Scans and `argsort` of such an array give an array with one axis.

mod axes;
mod borders;
mod broadcast;
mod convolution;
mod creation;
mod einsum;
mod factor;
mod fft;
mod images;
mod index;
mod indices;
mod join;
mod matrix;
mod networks;
mod points;
mod product;
mod random;
mod reduction;
mod regions;
mod repeats;
mod roll;
mod size;
mod slices;
mod sparse;
mod spreading;
mod statistics;

pub use axes::{axis, matrix, moved, new_axes, permutation, require_axes, single_axes};
pub use borders::{check_borders, pad_sources, padded};
pub use broadcast::{broadcast, broadcast_all, check_broadcast_to};
pub use convolution::{
    Convolution, MAX_SPATIAL_AXES, Overlap, Same, Sliding, Steps as WindowSteps, convolution, fast_points, overlap,
    pool, transform_time, transposed_convolution,
};
pub use creation::{Steps, diagonal, doubled, items, steps};
pub use einsum::Einsum;
pub use factor::{Svd, System, eigen, failed, has_no_factors, not_finite, not_positive_definite, qr, singular, square};
pub use fft::{Direction, Half, Transform, Trigonometric, Wave, frequency_step, transform, transforms, trigonometric};
pub use images::{
    AffineMap, MAX_SAMPLED_AXES, SPLINE_BORDER, Sampling, SplineEnds, Window, affine, covering_window, extended,
    grid_sampled, mapped, spline_border, spline_ends, spline_order, spline_poles, weights, window, window_sizes,
    zoomed, zoomed_place,
};
pub use index::{Item, Kept, Pick, Selection};
pub use indices::{Along, Masked, along, check_indices, chosen, cut, masked, partitioned, scattered, segmented, taken};
pub use join::{joined, joined_rows, pad_stacked, stacked};
pub use matrix::{Diagonal, broadcast_around, vectors};
pub use networks::{Attention, attention, channel_groups, channels, classes, distances, normalized};
pub use points::{interpolated, sorted, sorter};
pub use product::Product;
pub use random::{
    Parameter, check_beta, check_binomial, check_choice, check_gamma, check_integers, check_multinomial, check_normal,
    check_permutation, check_poisson, check_probability, check_scale, check_trials, check_truncated, check_uniform,
};
pub use reduction::{
    differences, edge, quantile_range, reduced, reduction, reduction_axis, require_any, require_elements, row_reduced,
    scan,
};
pub use regions::{MAX_NEIGHBOUR_AXES, Measured, Neighbours, measured, neighbours};
pub use repeats::{Repeats, counted, repeated, tiled};
pub use roll::{Roll, halves, roll};
pub use size::{c_strides, count, infer, list, overlaps};
pub use slices::{Span, assigned, span, spans};
pub use sparse::{Compressed, bad_pointers, csc_product, csr_product, sampled_product};
pub use spreading::{Spreading, interpolated_grid, on_grid, spread};
pub use statistics::{bin_edges, bin_range, counted_numbers, counted_places, not_ascending, variables, weighted};
