//! Gradient rules of linear interpolation, of filters along an axis, and of spline coefficients.

use super::{
    convolution::{along, extended},
    number,
    shapes::{axis_of, part, signed},
};
use crate::{
    ArrayAttributes, Backend, Boundary, ConcatOptions, Correlate1dOptions, Element, Precision, Result,
    SearchsortedOptions, SegmentSumOptions, Side, SplineFilterOptions, WideFloat,
    runtime::rules::{self, SplineEnds},
};

// ---- linear interpolation --------------------------------------------------------------------------------------------

/// Positions of the interpolation arguments `x` among the sorted points `xp`.
struct Between<B: Backend, T: Element> {
    /// For each argument, the number of points that are less than or equal to it.
    count: B::Array<i64>,
    /// Indices of the points before and after each argument.
    first: B::Array<i64>,
    second: B::Array<i64>,
    /// True for the arguments that lie between two points.
    inside: B::Array<bool>,
    /// `width` is the distance between the two points around each argument, or 1 if the argument does not lie between
    /// two points. `part` is the distance from the first of these points to the argument, as a fraction of `width`.
    width: B::Array<T>,
    part: B::Array<T>,
}

impl<B: Backend, T: Precision> Between<B, T> {
    /// Locates the arguments, a 1-D array, among the points.
    fn new(b: &B, x: &B::Array<T>, xp: &B::Array<T>) -> Result<Between<B, T>> {
        let n = xp.len() as i64;
        let count = b.searchsorted_with(xp, x, SearchsortedOptions::new().side(Side::Right))?;
        let first = b.clip(b.subtract(&count, 1)?, 0, (n - 1).max(0))?;
        let second = b.clip(&count, 0, (n - 1).max(0))?;
        let inside = b.logical_and(b.greater_equal(&count, 1)?, b.less(&count, n)?)?;
        let start = b.take(xp, &first, 0)?;
        let width = b.r#where(&inside, b.subtract(b.take(xp, &second, 0)?, &start)?, T::ONE)?;
        let part = b.r#where(&inside, b.divide(b.subtract(x, start)?, &width)?, T::ZERO)?;
        Ok(Between { count, first, second, inside, width, part })
    }

    /// For each argument, the slope of the line between the two points around it; 0 if the argument lies outside of the
    /// points.
    fn slopes(&self, b: &B, fp: &B::Array<T>) -> Result<B::Array<T>> {
        let rise = b.subtract(b.take(fp, &self.second, 0)?, b.take(fp, &self.first, 0)?)?;
        b.r#where(&self.inside, b.divide(rise, &self.width)?, T::ZERO)
    }
}

/// Gradient of `interp` with respect to the arguments: the slope between the points.
pub fn interp_x<B: Backend, T: Precision>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    xp: &B::Array<T>,
    fp: &B::Array<T>,
) -> Result<B::Array<T>> {
    let slopes = Between::new(b, &b.reshape(x, -1)?, xp)?.slopes(b, fp)?;
    b.multiply(g, b.reshape(slopes, signed(x.shape()))?)
}

/// Gradient of `interp` with respect to the positions of the points.
pub fn interp_xp<B: Backend, T: Precision>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    xp: &B::Array<T>,
    fp: &B::Array<T>,
) -> Result<B::Array<T>> {
    let between = Between::new(b, &b.reshape(x, -1)?, xp)?;
    // moving a point has the opposite effect of moving the argument, weighted by the nearness of the argument to the
    // point
    let by_x = b.negative(b.multiply(b.reshape(g, -1)?, between.slopes(b, fp)?)?)?;
    shared(b, &by_x, &between, xp.len())
}

/// Gradient of `interp` with respect to the values at the points; `shape` is the shape of these values.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn interp_fp<B: Backend, T: Precision>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    xp: &B::Array<T>,
    shape: &[usize],
    left: Option<f64>,
    right: Option<f64>,
) -> Result<B::Array<T>> {
    let x = b.reshape(x, -1)?;
    let between = Between::new(b, &x, xp)?;
    let mut g = b.reshape(g, -1)?;
    let n: usize = shape.iter().product();
    if left.is_some() {
        g = b.r#where(b.equal(&between.count, 0)?, T::ZERO, g)?;
    }
    if right.is_some() && n > 0 {
        let last = part(b, xp, 0, n - 1, 1)?;
        g = b.r#where(b.greater(&x, last)?, T::ZERO, g)?;
    }
    shared(b, &g, &between, n)
}

/// Distributes each element of `g` over the two points around its argument; the nearer point gets the larger share.
/// Returns, for each of the `n` points, the sum of its shares.
fn shared<B: Backend, T: Precision>(b: &B, g: &B::Array<T>, between: &Between<B, T>, n: usize) -> Result<B::Array<T>> {
    let second = b.multiply(g, &between.part)?;
    let first = b.subtract(g, &second)?;
    b.add(b.segment_sum(first, &between.first, n)?, b.segment_sum(second, &between.second, n)?)
}

// ---- filters along an axis -------------------------------------------------------------------------------------------

/// Gradient of `correlate1d` with respect to the input: the output gradient is correlated with the reversed weights.
/// Gradients of elements beyond the edges are added to the elements from which they were copied.
pub fn correlate1d_x<B: Backend, T: WideFloat>(
    b: &B,
    g: &B::Array<T>,
    weights: &B::Array<T::Real>,
    axis: isize,
    mode: Boundary,
    origin: isize,
) -> Result<B::Array<T>> {
    const OP: &str = "correlate1d";
    let axis = axis_of(OP, axis, g.ndim())?;
    let (len, size) = (g.shape()[axis], weights.len());
    if g.is_empty() {
        return Ok(g.clone());
    }
    let window = rules::window(OP, len, size, origin)?;
    let mut widths = vec![(0, 0); g.ndim()];
    widths[axis] = (0, window.border);
    // element `j` of the extended axis contributes to element `j - k` of the result, with weight `k`
    let last = size as isize - 1 - (size / 2) as isize;
    let options = Correlate1dOptions::new().axis(axis as isize).mode(Boundary::Constant).origin(last);
    let lanes = b.correlate1d_with(b.pad(g, widths)?, b.flip(weights, 0)?, options)?;
    if matches!(mode, Boundary::Constant | Boundary::GridConstant) {
        return part::<B, T>(b, &lanes, axis, window.before, len);
    }
    let sources: Vec<i64> = extended(len, window, mode).iter().map(|&source| source as i64).collect();
    b.segment_sum_with(lanes, b.asarray(sources)?, len, SegmentSumOptions::new().axis(axis as isize))
}

/// Gradient of `correlate1d` with respect to the weights, whose shape is `shape`: for each weight, the sum of the
/// products of the output gradient and the elements that the weight multiplies.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn correlate1d_weights<B: Backend, T: WideFloat>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    shape: &[usize],
    axis: isize,
    mode: Boundary,
    cval: f64,
    origin: isize,
) -> Result<B::Array<T::Real>> {
    const OP: &str = "correlate1d";
    let axis = axis_of(OP, axis, x.ndim())?;
    if x.is_empty() {
        return b.zeros::<T::Real>(shape);
    }
    let len = x.shape()[axis];
    let window = rules::window(OP, len, shape.iter().product(), origin)?;
    let mut lengths = x.shape().to_vec();
    lengths[axis] = 1;
    let beyond = b.full::<T>(lengths, number::<T>(cval))?;
    let sources: Vec<i64> = extended(len, window, mode).iter().map(|&source| source as i64).collect();
    let lanes = b.concat_with([x, &beyond], ConcatOptions::new().axis(axis as isize))?;
    let lanes = b.take(lanes, b.asarray(sources)?, axis as isize)?;
    let size = window.border + 1;
    let sum = |k: usize| b.sum(b.multiply(part::<B, T>(b, &lanes, axis, k, len)?, g)?, ..);
    let sums = (0..size).map(sum).collect::<Result<Vec<_>>>()?;
    b.astype::<T::Real, _>(b.real(b.stack(&sums)?)?)
}

/// Gradient of `spline_filter`: the same filter, applied to the output gradient. In modes that mirror about the end
/// elements, the end elements count half.
pub fn spline_filter<B: Backend, T: WideFloat>(
    b: &B,
    g: &B::Array<T>,
    order: usize,
    mode: Boundary,
) -> Result<B::Array<T>> {
    if order < 2 {
        return Ok(g.clone());
    }
    let options = SplineFilterOptions::new().order(order).mode(mode);
    if rules::spline_ends(mode) != SplineEnds::Mirror {
        return b.spline_filter_with(g, options);
    }
    // in each period of the mirrored axis, every inner element occurs twice, and each end element once
    let mut images = Vec::new();
    for (axis, &len) in g.shape().iter().enumerate().filter(|(_, len)| **len > 1) {
        let of_axis = |i: usize| number::<T>(if i == 0 || i + 1 == len { 1.0 } else { 2.0 });
        let of_axis = b.asarray((0..len).map(of_axis).collect::<Vec<T>>())?;
        images.push(along::<B, T>(b, &of_axis, axis, g.ndim())?);
    }
    let divided = images.iter().try_fold(g.clone(), |g, images| b.divide(g, images))?;
    images.iter().try_fold(b.spline_filter_with(divided, options)?, |g, images| b.multiply(g, images))
}
