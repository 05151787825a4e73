//! What ops ask of shapes and parameters, and what they make of them: axes, broadcasting, slices, indices, sizes.
//!
//! Each rule is a function from shapes and parameters to a plan or an error that names the op. All libraries use the same
//! ones, so the same bad call gives the same error on every backend; the conformance tests `errors` hold every row to that.
//!
//! # All axes
//!
//! `..` as a list of axes means the same on every backend, and what `None` means in NumPy where that takes it: all axes, in
//! order (reductions, `flip`, `fftn`, `fftshift`, `moveaxis`, `tensordot`); the reverse order for `permute_dims`, which names
//! the axes of the result; those of length 1 for `squeeze`; the elements as one row for `roll`. `expand_dims` has to know
//! where the new axes go: there `..` is an error that says so.
//!
//! # Arrays without axes
//!
//! As in NumPy, a reduction of an array of 0 dimensions takes axis 0 or -1, as of an array of one element, and gives 0
//! dimensions; scans and `argsort` then give an array of one axis.

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
mod statistics;

pub use axes::{axis, matrix, moved, new_axes, permutation, require_axes, single_axes};
pub use borders::{check_borders, pad_sources, padded};
pub use broadcast::{broadcast, broadcast_all, check_broadcast_to};
pub use convolution::{
    Convolution, MOST_SPATIAL, Overlap, Same, Sliding, Steps as WindowSteps, convolution, fast_points, overlap, pool,
    transposed_convolution,
};
pub use creation::{Steps, diagonal, doubled, items, steps};
pub use einsum::Einsum;
pub use factor::{Svd, System, eigen, failed, has_no_factors, not_finite, not_positive_definite, qr, singular, square};
pub use fft::{Direction, Half, Transform, frequency_step, transform, transforms};
pub use images::{
    AffineMap, MOST_SAMPLED, SPLINE_BORDER, Sampling, SplineEnds, Window, affine, covering_window, extended,
    grid_sampled, mapped, spline_border, spline_ends, spline_order, spline_poles, weights, window, window_sizes,
    zoomed, zoomed_place,
};
pub use index::{Item, Kept, Pick, Selection};
pub use indices::{Along, Masked, along, check_indices, chosen, cut, masked, partitioned, scattered, segmented, taken};
pub use join::{joined, joined_rows, pad_stacked, stacked};
pub use matrix::{Diagonal, broadcast_around, vectors};
pub use points::{interpolated, sorted, sorter};
pub use product::Product;
pub use random::{
    check_beta, check_binomial, check_choice, check_gamma, check_integers, check_multinomial, check_normal,
    check_permutation, check_poisson, check_scale, check_trials, check_truncated, check_uniform,
};
pub use reduction::{
    differences, edge, quantile_range, reduced, reduction, reduction_axis, require_any, require_elements, row_reduced,
    scan,
};
pub use regions::{MOST_NEIGHBOURING, Measured, Neighbours, measured, neighbours};
pub use repeats::{Repeats, counted, repeated, tiled};
pub use roll::{Roll, halves, roll};
pub use size::{c_strides, count, infer, list, overlaps};
pub use slices::{Span, assigned, span, spans};
pub use sparse::{Compressed, bad_pointers, csc_product, csr_product, sampled_product};
pub use statistics::{bin_edges, bin_range, counted_numbers, counted_places, not_ascending, variables, weighted};
