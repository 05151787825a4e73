//! Ops of the group `convolution` that are composed of other ops, for any backend.

mod transforms;

use crate::{
    Axes, Backend, ConvOptions, ConvolutionMethod, ConvolutionMode, DTypeKind, Error, Float, Lengths, Numeric, Result,
    Slice,
    runtime::rules::{self, Overlap, Same},
};
use transforms::by_transforms;

/// The convolution of two arrays.
pub fn convolve<B: Backend, T: Numeric>(
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    mode: ConvolutionMode,
    method: ConvolutionMethod,
) -> Result<B::Array<T>> {
    const OP: &str = "convolve";
    let overlap = overlap(OP, b, x1, x2, mode, Same::Longer)?;
    convolved(OP, b, x1, x2, &overlap, method)
}

/// The correlation of two arrays: the convolution of the first array with the complex conjugate of the second array in
/// reverse order.
pub fn correlate<B: Backend, T: Numeric>(
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    mode: ConvolutionMode,
    method: ConvolutionMethod,
) -> Result<B::Array<T>> {
    const OP: &str = "correlate";
    let overlap = overlap(OP, b, x1, x2, mode, Same::LongerSwapped)?;
    let reversed = b.flip(x2, ..)?;
    let reversed = if T::dtype().kind() == DTypeKind::Complex { b.conj(reversed)? } else { reversed };
    convolved(OP, b, x1, &reversed, &overlap, method)
}

/// The convolution along axes, by Fourier transforms.
pub fn fftconvolve<B: Backend, T: Float>(
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    mode: ConvolutionMode,
    axes: Axes,
) -> Result<B::Array<T>> {
    const OP: &str = "fftconvolve";
    let axes = axes.resolve(OP, b.shape(x1).len())?;
    let overlap = rules::overlap(OP, b.shape(x1), b.shape(x2), &axes, mode, Same::First, T::dtype().size())?;
    by_transforms(OP, b, x1, x2, &overlap, &axes)
}

fn overlap<B: Backend, T: Numeric>(
    op: &'static str,
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    mode: ConvolutionMode,
    same: Same,
) -> Result<Overlap> {
    let axes: Vec<usize> = (0..b.shape(x1).len()).collect();
    rules::overlap(op, b.shape(x1), b.shape(x2), &axes, mode, same, T::dtype().size())
}

/// Number of elements in an array of this shape, as a float for cost estimates.
fn size(shape: &[usize]) -> f64 {
    shape.iter().map(|&n| n as f64).product()
}

/// Returns whether a convolution takes less time by Fourier transforms than by direct sums, by an estimate for the CPU.
fn transforms_are_faster(x1: &[usize], x2: &[usize], overlap: &Overlap) -> bool {
    /// Number of products of direct sums that take as long as a unit of [`transforms::time`].
    const PRODUCTS: f64 = 5.0;
    /// Number of products that take as long as the calls of the transforms, whatever the number of points.
    const CALLS: f64 = 5e4;
    /// Number of products that take as long as the setup of the sums along a row of the kernel.
    const SETUP: f64 = 11.0;
    let kernel = if size(x2) > size(x1) { x1 } else { x2 };
    let rows = size(kernel) / kernel.last().map_or(1.0, |&n| n.max(1) as f64);
    let sums = size(&overlap.shape) * (size(kernel) + SETUP * rows);
    // transforms take at least this time, because blocks have at least 256 points; the exact estimate takes longer
    let least = |n: usize| 2.0 + (n.clamp(2, 256) as f64).log2();
    let least = size(&overlap.full) * overlap.full.iter().map(|&n| least(n)).sum::<f64>();
    sums > CALLS + PRODUCTS * least && sums > CALLS + PRODUCTS * transforms::time(overlap, x1, x2)
}

/// The requested part of the convolution of two arrays, by the given method; `Auto` selects the method with the shorter
/// estimated time.
fn convolved<B: Backend, T: Numeric>(
    op: &'static str,
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    overlap: &Overlap,
    method: ConvolutionMethod,
) -> Result<B::Array<T>> {
    let rank = overlap.full.len();
    let floats = matches!(T::dtype().kind(), DTypeKind::Real | DTypeKind::Complex);
    let transforms = match method {
        ConvolutionMethod::Direct => false,
        ConvolutionMethod::Fft => true,
        ConvolutionMethod::Auto => {
            floats && (rank > rules::MAX_SPATIAL_AXES || transforms_are_faster(b.shape(x1), b.shape(x2), overlap))
        }
    };
    if transforms {
        let axes: Vec<usize> = (0..rank).collect();
        return by_transforms(op, b, x1, x2, overlap, &axes);
    }
    if rank > rules::MAX_SPATIAL_AXES {
        let why = format!(
            "the arrays have {rank} axes, but must have 1 to {} to be summed directly",
            rules::MAX_SPATIAL_AXES
        );
        return Err(Error::argument(op, why));
    }
    by_sums(b, x1, x2, overlap).map_err(|e| e.within(op))
}

/// Convolves by direct sums: a one-channel `conv` whose kernel is the smaller array in reverse order.
fn by_sums<B: Backend, T: Numeric>(
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    overlap: &Overlap,
) -> Result<B::Array<T>> {
    let (x, kernel) = if size(b.shape(x2)) > size(b.shape(x1)) { (x2, x1) } else { (x1, x2) };
    let (mut padding, mut part) = (Vec::new(), vec![Slice::at(0), Slice::at(0)]);
    for ((&n, &m), &(start, len)) in b.shape(x).iter().zip(b.shape(kernel)).zip(&overlap.part) {
        // with this padding, output `i` of `conv` has index `i + m - 1 - padding` in the full result
        let padded = (m - 1).saturating_sub(start).max((start + len).saturating_sub(n));
        let first = padded + start + 1 - m;
        padding.push(padded);
        part.push((first..first + len).into());
    }
    let channel = |x: &B::Array<T>| b.reshape(x, [&[1, 1], b.shape(x)].concat());
    let options = ConvOptions::new().padding(Lengths::from(padding));
    let y = b.conv_with(channel(x)?, channel(&b.flip(kernel, ..)?)?, options)?;
    b.getitem(&y, part)
}
