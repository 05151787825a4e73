//! Transforms from values at non-uniform points to non-uniform frequencies (type 3). The values are spread over a grid,
//! whose elements then serve as the modes of a type 2 transform to the frequencies (J.-Y. Lee, L. Greengard, 2005, The
//! type 3 nonuniform FFT and its applications). Points and frequencies are first shifted so that their ranges are
//! centred at 0, and the grid is no finer than these ranges require.

use super::{
    NufftPlan, NufftType,
    design::{Accuracy, Design},
};
use crate::{Backend, ComplexFloat, Error, NufftSpreadOptions, Real, Result, StackOptions, lazy, runtime::rules};
use std::f64::consts::PI;

/// The factor by which the grid is finer than the frequencies require.
const FINER: f64 = 2.0;

/// The ratio of the grid's length to the number of modes for which the kernel is designed.
const UPSAMPLING: f64 = 2.0;

/// A number of modes with which the kernel's width is estimated before the actual number is known.
const TYPICAL: usize = 1000;

/// Computes `f[k] = sum_j c[j] exp(i isign s[k].x[j])`, given the coordinates of the points and the frequencies along
/// each axis.
pub(super) fn transform<B: Backend, C: ComplexFloat>(
    op: &'static str,
    b: &B,
    points: &[&B::Array<C::Real>],
    values: &B::Array<C>,
    frequencies: &[&B::Array<C::Real>],
    eps: f64,
    isign: isize,
) -> Result<B::Array<C>> {
    let (n, count) = (common(op, b, points)?, common(op, b, frequencies)?);
    let front = match b.shape(values) {
        [front @ .., last] if *last == n && front.len() <= 1 => front.to_vec(),
        shape => return Err(Error::shapes(op, shape, &[n])),
    };
    let shape = [&front[..], &[count]].concat();
    let accuracy = Accuracy::of::<C::Real>(op, eps)?.halved();
    if n == 0 || rules::count(op, &shape, size_of::<C>())? == 0 {
        return b.zeros(shape);
    }
    let named = |error: Error| error.within(op);
    transformed(op, b, points, values, frequencies, accuracy, isign, &shape).map_err(named)
}

/// Returns the number of points, and checks that every axis has one coordinate per point.
fn common<B: Backend, T: Real>(op: &'static str, b: &B, along: &[&B::Array<T>]) -> Result<usize> {
    let first = b.shape(along[0]);
    let &[n] = first else {
        return Err(Error::shape(op, first, "of the coordinates or frequencies must have one axis"));
    };
    match along.iter().map(|x| b.shape(x)).find(|shape| *shape != first) {
        Some(other) => Err(Error::shapes(op, first, other)),
        None => Ok(n),
    }
}

/// The midpoint of the range of `x`, and half of the range's length.
fn extent<B: Backend, T: Real>(op: &'static str, b: &B, x: &B::Array<T>) -> Result<(f64, f64)> {
    let ends = b.to_vec(&b.stack([b.min(x, ..)?, b.max(x, ..)?])?)?;
    let (least, most) = (ends[0].to_f64(), ends[1].to_f64());
    if !(least.is_finite() && most.is_finite()) {
        return Err(Error::argument(op, "a coordinate or a frequency is infinite or NaN, but all must be finite"));
    }
    Ok((least / 2.0 + most / 2.0, most / 2.0 - least / 2.0))
}

#[allow(clippy::too_many_arguments, reason = "those of the row")]
fn transformed<B: Backend, C: ComplexFloat>(
    op: &'static str,
    b: &B,
    points: &[&B::Array<C::Real>],
    values: &B::Array<C>,
    frequencies: &[&B::Array<C::Real>],
    accuracy: Accuracy,
    isign: isize,
    shape: &[usize],
) -> Result<B::Array<C>> {
    let real = |x: f64| C::Real::of(x);
    let turn = C::from_parts(real(0.0), real(if isign < 0 { -1.0 } else { 1.0 }));
    let (mut modes, mut axes) = (Vec::new(), Vec::new());
    let (mut before, mut after) = (None, None);
    let width = Design::for_every_mode(op, accuracy, &[TYPICAL], UPSAMPLING)?.width as f64;
    for (x, s) in points.iter().zip(frequencies) {
        let ((x_middle, x_extent), (s_middle, s_extent)) = (extent(op, b, x)?, extent(op, b, s)?);
        // if all points or all frequencies are equal, their extent is derived from the extent of the other set
        let (x_extent, s_extent) = match (x_extent > 0.0, s_extent > 0.0) {
            (false, false) => (1.0, 1.0),
            (false, true) => (1.0 / s_extent, s_extent),
            _ => (x_extent, s_extent.max(1.0 / x_extent)),
        };
        let length = 2.0 * FINER * x_extent * s_extent / PI + width + 1.0;
        if length > (1_u64 << 40) as f64 {
            return Err(Error::memory(op, usize::MAX));
        }
        modes.push((length / UPSAMPLING).ceil() as usize);
        let s_moved = (lazy(*s) - lazy(real(s_middle))).eval(b)?;
        before = Some(summed(b, before, (lazy(*x) * lazy(real(s_middle))).eval(b)?)?);
        after = Some(summed(b, after, (lazy(&s_moved) * lazy(real(x_middle))).eval(b)?)?);
        axes.push((*x, x_middle, s_moved, s_extent));
    }
    let waves = |angles: Option<B::Array<C::Real>>| match angles {
        Some(angles) => b.exp(b.multiply(b.astype::<C, _>(angles)?, turn)?),
        None => b.ones([1]),
    };

    let design = Design::for_every_mode(op, accuracy, &modes, UPSAMPLING)?;
    rules::count(op, &design.grid, size_of::<C>())?;
    let (mut near, mut far, mut factors) = (Vec::new(), Vec::new(), None);
    for ((x, x_middle, s_moved, s_extent), &length) in axes.iter().zip(&design.grid) {
        // maps the midpoint of the points to the middle of the grid, which corresponds to mode 0
        let scale = length as f64 / (2.0 * FINER * s_extent);
        near.push(((lazy(*x) - lazy(real(*x_middle))) / lazy(real(scale)) + lazy(real(PI))).eval(b)?);
        let angles = (lazy(s_moved) * lazy(real(PI / (FINER * s_extent)))).eval(b)?;
        let of_axis = design.undoing::<B, C::Real>(b, &angles)?;
        factors = Some(match factors {
            Some(others) => b.multiply(others, of_axis)?,
            None => of_axis,
        });
        far.push(angles);
    }
    let coordinates = b.stack_with(&near, StackOptions::new().axis(1))?;
    let values = b.multiply(values, waves(before)?)?;
    let options = NufftSpreadOptions::new().eps(design.tolerance);
    let grid = b.nufft_spread_with(&coordinates, &values, &design.grid[..], design.width, design.beta, options)?;
    let mut reading = NufftPlan::<B, C>::new(b, NufftType::Two, &design.grid, accuracy.eps, isign)?;
    reading.set_points(&far.iter().collect::<Vec<_>>())?;
    let mut result = b.multiply(reading.execute(&grid)?, waves(after)?)?;
    if let Some(factors) = factors {
        result = b.multiply(result, b.astype::<C, _>(factors)?)?;
    }
    b.reshape(result, shape)
}

fn summed<B: Backend, T: Real>(b: &B, sum: Option<B::Array<T>>, x: B::Array<T>) -> Result<B::Array<T>> {
    match sum {
        Some(sum) => b.add(sum, x),
        None => Ok(x),
    }
}
