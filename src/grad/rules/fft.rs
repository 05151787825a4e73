//! Gradient rules of Fourier transforms.
//!
//! The matrix of a discrete Fourier transform is symmetric. Therefore the gradient of a transform is the transform of
//! the output gradient, with the same sign and scale, cropped or padded to the length of the input. Transforms of real
//! arrays have a half spectrum. Each of its elements represents two elements of the whole spectrum, except for the
//! first element and, for an even number of points, the last one.

use super::shapes::axis_of;
use crate::{
    ArrayAttributes, Axes, Backend, ComplexFloat, FftOptions, FftnOptions, Float, HfftOptions, IfftOptions,
    IfftnOptions, IhfftOptions, IrfftOptions, Lengths, Norm, Real, Result, RfftOptions,
    runtime::rules::{Direction, Half, transforms},
};

/// Multiplies the elements of a half spectrum by `weight`, except elements that represent only one element of the
/// whole spectrum. `n` is the number of points of the transform.
fn inner<B: Backend, C: ComplexFloat>(
    b: &B,
    x: &B::Array<C>,
    axis: usize,
    n: usize,
    weight: f64,
) -> Result<B::Array<C>> {
    let length = x.shape()[axis];
    let place = b.arange::<i64>(0, length as i64, 1)?;
    // index of the last element if it represents only one element, else -1 (for an odd number of points)
    let last = if n.is_multiple_of(2) { n as i64 / 2 } else { -1 };
    let is_inner = b.logical_and(b.not_equal(&place, 0)?, b.not_equal(&place, last)?)?;
    let weights = b.r#where(is_inner, super::number::<C>(weight), b.ones::<C>([length])?)?;
    let mut shape = vec![1; x.ndim() - axis];
    shape[0] = length as isize;
    b.multiply(x, b.reshape(weights, shape)?)
}

/// Crops or pads the array: each pair of `lengths` is an axis and its new length.
fn fit<B: Backend, C: Float>(b: &B, x: B::Array<C>, lengths: &[(usize, usize)]) -> Result<B::Array<C>> {
    let mut x = x;
    for &(axis, length) in lengths {
        if x.shape()[axis] != length {
            x = b.pad_to(&x, length, axis as isize)?;
        }
    }
    Ok(x)
}

/// Gradient of `fft`. For a real input, it is the real part of the complex gradient.
pub fn fft<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T::Complex>,
    shape: &[usize],
    axis: isize,
    norm: Norm,
) -> Result<B::Array<T>> {
    along::<B, T>(b, g, "fft", shape, axis, norm, Direction::Forward)
}

/// Gradient of `ifft`. For a real input, it is the real part of the complex gradient.
pub fn ifft<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T::Complex>,
    shape: &[usize],
    axis: isize,
    norm: Norm,
) -> Result<B::Array<T>> {
    along::<B, T>(b, g, "ifft", shape, axis, norm, Direction::Inverse)
}

/// Gradient of a transform along one axis.
fn along<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T::Complex>,
    op: &'static str,
    shape: &[usize],
    axis: isize,
    norm: Norm,
    direction: Direction,
) -> Result<B::Array<T>> {
    let axis = axis_of(op, axis, shape.len())?;
    let g = complex::<B, T::Complex>(b, g.clone(), &[(axis, shape[axis])], norm, direction)?;
    b.astype::<T, T::Complex>(g)
}

/// Gradient of complex transforms along distinct axes. `lengths` has a pair for each axis: the axis, and the length of
/// the input along it.
fn complex<B: Backend, C: ComplexFloat>(
    b: &B,
    g: B::Array<C>,
    lengths: &[(usize, usize)],
    norm: Norm,
    direction: Direction,
) -> Result<B::Array<C>> {
    let g = match (lengths, direction) {
        ([], _) => return Ok(g),
        (&[(axis, _)], Direction::Forward) => b.fft_with(g, FftOptions::new().axis(axis as isize).norm(norm))?,
        (&[(axis, _)], Direction::Inverse) => b.ifft_with(g, IfftOptions::new().axis(axis as isize).norm(norm))?,
        (_, Direction::Forward) => b.fftn_with(g, FftnOptions::new().axes(axes_of(lengths)).norm(norm))?,
        (_, Direction::Inverse) => b.ifftn_with(g, IfftnOptions::new().axes(axes_of(lengths)).norm(norm))?,
    };
    fit::<B, C>(b, g, lengths)
}

fn axes_of(lengths: &[(usize, usize)]) -> Vec<isize> {
    lengths.iter().map(|(axis, _)| *axis as isize).collect()
}

/// Gradient of `rfft`: `hfft` of the output gradient, in which elements that represent two elements are halved.
pub fn rfft<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T::Complex>,
    shape: &[usize],
    n: Option<usize>,
    axis: isize,
    norm: Norm,
) -> Result<B::Array<T>> {
    let axis = axis_of("rfft", axis, shape.len())?;
    let n = n.unwrap_or(shape[axis]);
    let halved = inner::<B, T::Complex>(b, g, axis, n, 0.5)?;
    let g = b.hfft_with(halved, HfftOptions::new().n(n).axis(axis as isize).norm(norm))?;
    fit::<B, T>(b, b.astype::<T, _>(g)?, &[(axis, shape[axis])])
}

/// Gradient of `ihfft`: `irfft` of the output gradient, in which elements that represent two elements are halved.
pub fn ihfft<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T::Complex>,
    shape: &[usize],
    n: Option<usize>,
    axis: isize,
    norm: Norm,
) -> Result<B::Array<T>> {
    let axis = axis_of("ihfft", axis, shape.len())?;
    let n = n.unwrap_or(shape[axis]);
    let halved = inner::<B, T::Complex>(b, g, axis, n, 0.5)?;
    let g = b.irfft_with(halved, IrfftOptions::new().n(n).axis(axis as isize).norm(norm))?;
    fit::<B, T>(b, b.astype::<T, _>(g)?, &[(axis, shape[axis])])
}

/// Gradient of `irfft`: `ihfft` of the output gradient; then elements that represent two elements are doubled.
pub fn irfft<B: Backend, T: ComplexFloat>(
    b: &B,
    g: &B::Array<T::Real>,
    shape: &[usize],
    axis: isize,
    norm: Norm,
) -> Result<B::Array<T>> {
    let axis = axis_of("irfft", axis, shape.len())?;
    let n = g.shape()[axis];
    let g = b.astype::<T, _>(b.ihfft_with(g, IhfftOptions::new().axis(axis as isize).norm(norm))?)?;
    fit::<B, T>(b, inner::<B, T>(b, &g, axis, n, 2.0)?, &[(axis, shape[axis])])
}

/// Gradient of `hfft`: `rfft` of the output gradient; then elements that represent two elements are doubled.
pub fn hfft<B: Backend, T: ComplexFloat>(
    b: &B,
    g: &B::Array<T::Real>,
    shape: &[usize],
    axis: isize,
    norm: Norm,
) -> Result<B::Array<T>> {
    let axis = axis_of("hfft", axis, shape.len())?;
    let n = g.shape()[axis];
    let g = b.astype::<T, _>(b.rfft_with(g, RfftOptions::new().axis(axis as isize).norm(norm))?)?;
    fit::<B, T>(b, inner::<B, T>(b, &g, axis, n, 2.0)?, &[(axis, shape[axis])])
}

/// One step of a transform over several axes: the transform along one of these axes.
struct Step {
    axis: usize,
    /// The length along the axis before the step.
    length: usize,
    /// Number of points of the transform.
    n: usize,
}

/// The steps in the order in which the transform does them.
fn steps(op: &'static str, shape: &[usize], s: Option<Lengths>, axes: Axes, half: Half) -> Result<Vec<Step>> {
    let mut lengths = shape.to_vec();
    let step = |(axis, n, elements)| Step { axis, length: std::mem::replace(&mut lengths[axis], elements), n };
    Ok(transforms(op, shape, s, axes, half)?.steps(half).into_iter().map(step).collect())
}

/// Applies the gradient rules of complex transforms, from the last step to the first.
fn several<B: Backend, C: ComplexFloat>(
    b: &B,
    g: B::Array<C>,
    steps: &[Step],
    norm: Norm,
    direction: Direction,
) -> Result<B::Array<C>> {
    let lengths: Vec<(usize, usize)> = steps.iter().rev().map(|step| (step.axis, step.length)).collect();
    let repeats = (1..steps.len()).any(|i| steps[..i].iter().any(|step| step.axis == steps[i].axis));
    if !repeats {
        return complex::<B, C>(b, g, &lengths, norm, direction);
    }
    lengths.chunks(1).try_fold(g, |g, step| complex::<B, C>(b, g, step, norm, direction))
}

/// Gradient of `fftn`. For a real input, it is the real part of the complex gradient.
pub fn fftn<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T::Complex>,
    shape: &[usize],
    s: Option<Lengths>,
    axes: Axes,
    norm: Norm,
) -> Result<B::Array<T>> {
    let steps = steps("fftn", shape, s, axes, Half::Neither)?;
    b.astype::<T, T::Complex>(several::<B, T::Complex>(b, g.clone(), &steps, norm, Direction::Forward)?)
}

/// Gradient of `ifftn`. For a real input, it is the real part of the complex gradient.
pub fn ifftn<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T::Complex>,
    shape: &[usize],
    s: Option<Lengths>,
    axes: Axes,
    norm: Norm,
) -> Result<B::Array<T>> {
    let steps = steps("ifftn", shape, s, axes, Half::Neither)?;
    b.astype::<T, T::Complex>(several::<B, T::Complex>(b, g.clone(), &steps, norm, Direction::Inverse)?)
}

/// Gradient of `rfftn`: the rule of the complex transforms, then the rule of the real transform, which was the first
/// step.
pub fn rfftn<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T::Complex>,
    shape: &[usize],
    s: Option<Lengths>,
    axes: Axes,
    norm: Norm,
) -> Result<B::Array<T>> {
    let steps = steps("rfftn", shape, s, axes, Half::Result)?;
    let Some((first, others)) = steps.split_first() else { return b.zeros::<T>(shape) };
    let g = several::<B, T::Complex>(b, g.clone(), others, norm, Direction::Forward)?;
    rfft::<B, T>(b, &g, shape, Some(first.n), first.axis as isize, norm)
}

/// Gradient of `irfftn`: the rule of the real transform, which was the last step, then the rule of the complex
/// transforms.
pub fn irfftn<B: Backend, T: ComplexFloat>(
    b: &B,
    g: &B::Array<T::Real>,
    shape: &[usize],
    s: Option<Lengths>,
    axes: Axes,
    norm: Norm,
) -> Result<B::Array<T>> {
    let steps = steps("irfftn", shape, s, axes, Half::Input)?;
    let Some((last, others)) = steps.split_last() else { return b.zeros::<T>(shape) };
    let mut before = shape.to_vec();
    before[last.axis] = last.length;
    let g = irfft::<B, T>(b, g, &before, last.axis as isize, norm)?;
    several::<B, T>(b, g, others, norm, Direction::Inverse)
}
