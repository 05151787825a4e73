//! Gradient rules of interpolation between the elements of an array.
//!
//! An interpolated value is a sum of coefficients times weights that depend on the position. The gradient of a
//! coefficient is therefore the sum, over the positions, of the output gradient times the same weight. A weight is a
//! product of one weight for each axis; for the gradient with respect to a coordinate, the weight of its axis is
//! replaced by its derivative. The spline coefficients are a linear filter of the elements, so another linear filter
//! converts the gradient of the coefficients to the gradient of the elements. Positions are computed in float64, as in
//! the ops.

use super::{
    convolution::along,
    filters::spline_filter,
    number,
    shapes::{pad, part, signed},
};
use crate::{
    ArrayAttributes, Backend, Boundary, ConcatOptions, Element, Number, PadMode, PadOptions, Result, SegmentSumOptions,
    Slice, SplineFilterOptions, WideFloat,
    runtime::rules::{self, SPLINE_BORDER},
};

/// Parameters of the interpolation: the spline order, the boundary mode, the value beyond the edge, and whether the
/// elements are filtered to coefficients first.
#[derive(Clone, Copy)]
struct Spline {
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
}

/// The taps: for each position along one axis, the indices and the weights of the coefficients that determine the
/// value. Both arrays have the shape (taps, positions).
struct Taps<B: Backend> {
    index: B::Array<i64>,
    weight: B::Array<f64>,
    /// The derivatives of the weights with respect to the position, if they are needed.
    slope: Option<B::Array<f64>>,
}

/// Layout of the positions and of the coefficients. If several arrays are interpolated, their coefficients are
/// concatenated.
struct Layout<B: Backend> {
    /// Number of arrays that are interpolated at the same positions.
    arrays: usize,
    /// Number of coefficients of each array.
    count: usize,
    /// Number of elements at each position.
    channels: usize,
    /// Number of positions.
    points: usize,
    /// For each position, the index of the first coefficient of its array, if the positions belong to different arrays.
    starts: Option<B::Array<i64>>,
}

impl Spline {
    /// Returns whether the elements are filtered to coefficients first.
    fn filters(&self) -> bool {
        self.prefilter && self.order > 1
    }

    fn border(&self) -> Option<PadMode> {
        rules::spline_border(self.mode, self.order, self.prefilter)
    }

    /// Number of coefficients in the border before the first element of an axis.
    fn before(&self) -> usize {
        if self.border().is_some() { SPLINE_BORDER } else { 0 }
    }

    /// Number of coefficients along each axis, including the borders.
    fn coefficients_along(&self, lengths: &[usize]) -> Vec<usize> {
        lengths.iter().map(|&len| len + 2 * self.before()).collect()
    }

    /// The coefficients of each array of a stack; shape `(stack, lengths..)`.
    fn coefficients<B: Backend, T: WideFloat>(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        if !self.filters() {
            return Ok(x.clone());
        }
        let mut x = x.clone();
        if let Some(mode) = self.border() {
            let mut widths = vec![(SPLINE_BORDER, SPLINE_BORDER); x.ndim()];
            widths[0] = (0, 0);
            let options = PadOptions::new().mode(mode).value(Number::of(number::<T>(self.cval)));
            x = b.pad_with(x, widths, options)?;
        }
        let options = SplineFilterOptions::new().order(self.order).mode(self.mode);
        let parts = b.unstack(&x)?;
        let parts = parts.iter().map(|x| b.spline_filter_with(x, options)).collect::<Result<Vec<_>>>()?;
        b.stack(&parts)
    }

    /// The gradients of the elements, of shape `(stack, lengths..)`, given the gradients of the coefficients, of shape
    /// `(stack, lengths.. with borders)`.
    fn elements<B: Backend, T: WideFloat>(&self, b: &B, g: &B::Array<T>, lengths: &[usize]) -> Result<B::Array<T>> {
        if !self.filters() {
            return Ok(g.clone());
        }
        let parts = b.unstack(g)?;
        let parts =
            parts.iter().map(|g| spline_filter::<B, T>(b, g, self.order, self.mode)).collect::<Result<Vec<_>>>()?;
        let g = b.stack(&parts)?;
        let Some(mode) = self.border() else { return Ok(g) };
        let mut widths = vec![SPLINE_BORDER; 2 * g.ndim()];
        widths[..2].fill(0);
        let shape = [&g.shape()[..1], lengths].concat();
        pad::<B, T>(b, &g, &shape, &widths, mode)
    }

    /// The taps (coefficients and their weights) for positions on an axis of `len` elements. For a position that is not
    /// finite, all weights are 0.
    fn taps<B: Backend>(&self, b: &B, places: &B::Array<f64>, len: usize, with_slopes: bool) -> Result<Taps<B>> {
        let (len, order) = (len + 2 * self.before(), self.order);
        let last = len as f64 - 1.0;
        let known = b.isfinite(places)?;
        let at = b.r#where(&known, b.add(places, self.before() as f64)?, 0.0)?;
        let within = b.logical_and(b.greater_equal(&at, 0.0)?, b.less_equal(&at, last)?)?;
        let Folded { at, turned, counted } = self.folded(b, at, &within, len as f64)?;
        let counted = match counted {
            Some(counted) => b.logical_and(counted, known)?,
            None => known,
        };
        let nearest = if order % 2 == 1 { b.floor(&at)? } else { b.floor(b.add(&at, 0.5)?)? };
        let points = places.len();
        let t = b.reshape(b.subtract(&at, &nearest)?, [1, points as isize])?;
        let start = b.reshape(b.astype::<i64, f64>(nearest)?, [1, points as isize])?;
        let offsets: Vec<i64> = (0..=order).map(|k| k as i64 - (order / 2) as i64).collect();
        let index = b.add(start, b.reshape(b.asarray(offsets)?, [-1, 1])?)?;
        let mut counted = b.expand_dims(counted, 0)?;
        if self.mode == Boundary::GridConstant {
            let inside = b.logical_and(b.greater_equal(&index, 0)?, b.less(&index, len as i64)?)?;
            counted = b.logical_and(counted, inside)?;
        }
        let polynomials = weights(order);
        let shape = [order + 1, points];
        let weight = b.r#where(&counted, values(b, &polynomials, &t, shape)?, 0.0)?;
        let slope = if with_slopes {
            let slope = values(b, &derivatives(&polynomials), &t, shape)?;
            let slope = match turned {
                Some(turned) => b.r#where(b.expand_dims(turned, 0)?, b.negative(&slope)?, slope)?,
                None => slope,
            };
            Some(b.r#where(&counted, slope, 0.0)?)
        } else {
            None
        };
        Ok(Taps { index: self.folded_index(b, &index, len as i64)?, weight, slope })
    }

    /// Maps positions beyond the ends of an axis to equivalent positions on the axis.
    fn folded<B: Backend>(&self, b: &B, at: B::Array<f64>, within: &B::Array<bool>, len: f64) -> Result<Folded<B>> {
        let last = len - 1.0;
        // positions at least this far from the axis get only the value beyond the edge
        let far = (self.order + 1) as f64;
        let (mut turned, mut counted) = (None, None);
        let mirrored = |at: &B::Array<f64>, half: f64| -> Result<(B::Array<f64>, B::Array<bool>)> {
            let at = b.remainder(at, 2.0 * half)?;
            let turned = b.greater(&at, half)?;
            Ok((b.r#where(&turned, b.subtract(2.0 * half, &at)?, &at)?, turned))
        };
        let folded = match self.mode {
            Boundary::Constant => {
                counted = Some(within.clone());
                b.zeros_like::<f64>(&at)?
            }
            Boundary::GridConstant => {
                counted = Some(b.logical_and(b.greater_equal(&at, -far)?, b.less_equal(&at, last + far)?)?);
                at.clone()
            }
            Boundary::Nearest => at.clone(),
            Boundary::Mirror | Boundary::Wrap if last <= 0.0 => b.zeros_like::<f64>(&at)?,
            Boundary::Mirror => {
                let (at, is_turned) = mirrored(&at, last)?;
                turned = Some(is_turned);
                at
            }
            Boundary::Reflect => {
                let (at, is_turned) = mirrored(&b.add(&at, 0.5)?, len)?;
                turned = Some(is_turned);
                b.subtract(at, 0.5)?
            }
            Boundary::Wrap => {
                let periods = |at: &B::Array<f64>| b.multiply(b.floor(b.divide(at, last)?)?, last);
                let below = b.add(b.add(&at, periods(&b.negative(&at)?)?)?, last)?;
                b.r#where(b.less(&at, 0.0)?, below, b.subtract(&at, periods(&at)?)?)?
            }
            Boundary::GridWrap => b.remainder(&at, len)?,
        };
        // clips positions that are far away, or that have no correct digits after the reduction by periods
        let at = b.clip(b.r#where(within, at, folded)?, -far, last + far)?;
        Ok(Folded { at, turned, counted })
    }

    /// Maps indices that are a few elements beyond the ends of an axis to equivalent indices on the axis.
    fn folded_index<B: Backend>(&self, b: &B, index: &B::Array<i64>, len: i64) -> Result<B::Array<i64>> {
        let mirrored = |period: i64, sum: i64| {
            let at = b.remainder(index, period)?;
            b.minimum(&at, b.subtract(sum, &at)?)
        };
        match self.mode {
            Boundary::GridConstant | Boundary::Nearest => b.clip(index, 0, len - 1),
            Boundary::GridWrap => b.remainder(index, len),
            Boundary::Reflect => mirrored(2 * len, 2 * len - 1),
            _ if len == 1 => b.zeros_like::<i64>(index),
            Boundary::Constant | Boundary::Mirror | Boundary::Wrap => mirrored(2 * len - 2, 2 * len - 2),
        }
    }
}

/// Positions on an axis after the boundary mode was applied.
struct Folded<B: Backend> {
    at: B::Array<f64>,
    /// True for positions that were mirrored, where the direction is reversed.
    turned: Option<B::Array<bool>>,
    /// True for positions whose values depend on the array.
    counted: Option<B::Array<bool>>,
}

/// The weights of the coefficients around a position: polynomials in the distance from the middle coefficient, lowest
/// power first. They are the polynomial pieces of the B-spline of this order, which is a sum of truncated powers.
fn weights(order: usize) -> Vec<Vec<f64>> {
    let choose = |n: usize, k: usize| (0..k).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64);
    let factorial: f64 = (1..=order).map(|k| k as f64).product();
    let piece = |tap: usize| {
        let mut polynomial = vec![0.0; order + 1];
        for begin in 0..=order + 1 {
            let shift = (order / 2) as f64 + (order + 1) as f64 / 2.0 - (tap + begin) as f64;
            if shift < 0.0 {
                continue;
            }
            let sign = if begin % 2 == 0 { 1.0 } else { -1.0 };
            for (power, coefficient) in polynomial.iter_mut().enumerate() {
                let rest = i32::try_from(order - power).unwrap_or(0);
                *coefficient += sign * choose(order + 1, begin) * choose(order, power) * shift.powi(rest) / factorial;
            }
        }
        polynomial
    };
    (0..=order).map(piece).collect()
}

/// The derivatives of polynomials.
fn derivatives(polynomials: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let of = |polynomial: &Vec<f64>| {
        let powers = polynomial.iter().enumerate().skip(1);
        let lower: Vec<f64> = powers.map(|(power, coefficient)| power as f64 * coefficient).collect();
        if lower.is_empty() { vec![0.0] } else { lower }
    };
    polynomials.iter().map(of).collect()
}

/// Evaluates polynomials at the numbers `t`; the result has the shape (polynomials, numbers).
fn values<B: Backend>(b: &B, polynomials: &[Vec<f64>], t: &B::Array<f64>, shape: [usize; 2]) -> Result<B::Array<f64>> {
    let powers = polynomials.iter().map(Vec::len).max().unwrap_or(0);
    let mut value = b.zeros::<f64>(shape)?;
    for power in (0..powers).rev() {
        let of_power: Vec<f64> = polynomials.iter().map(|p| p.get(power).copied().unwrap_or(0.0)).collect();
        value = b.add(b.multiply(value, t)?, b.reshape(b.asarray(of_power)?, [-1, 1])?)?;
    }
    Ok(value)
}

/// Row `k` of an array of shape (taps or axes, positions).
fn row<B: Backend, T: Element>(b: &B, x: &B::Array<T>, k: usize) -> Result<B::Array<T>> {
    b.getitem(x, vec![Slice::at(k as isize), Slice::ALL])
}

/// A selection of coefficients for each position: one tap along each axis except the last, and all taps along the last
/// axis.
struct Choice<B: Backend> {
    /// Flat indices of the coefficients for all taps of the last axis: an array of shape (taps, positions), flattened.
    places: B::Array<i64>,
    /// Weights of the selected taps.
    weights: Vec<B::Array<f64>>,
    /// The index of the selected tap along each axis but the last.
    taps: Vec<usize>,
}

impl<B: Backend> Layout<B> {
    /// Calls `f` with each combination of taps along all axes except the last. `lengths` are the numbers of
    /// coefficients along the axes.
    fn choices(
        &self,
        b: &B,
        taps: &[Taps<B>],
        lengths: &[usize],
        mut f: impl FnMut(Choice<B>, &Taps<B>) -> Result<()>,
    ) -> Result<()> {
        let Some((last, outer)) = taps.split_last() else { return Ok(()) };
        let width = last.weight.shape()[0];
        let all = width.pow(outer.len() as u32);
        for choice in 0..all {
            let (mut places, mut rest) = (last.index.clone(), choice);
            if let Some(starts) = &self.starts {
                places = b.add(places, starts)?;
            }
            let mut choice = Choice { places: last.index.clone(), weights: Vec::new(), taps: Vec::new() };
            for (axis, taps) in outer.iter().enumerate() {
                let (k, stride) = (rest % width, lengths[axis + 1..].iter().product::<usize>());
                rest /= width;
                places = b.add(places, b.multiply(row(b, &taps.index, k)?, stride as i64)?)?;
                choice.weights.push(row(b, &taps.weight, k)?);
                choice.taps.push(k);
            }
            choice.places = b.reshape(places, -1)?;
            f(choice, last)?;
        }
        Ok(())
    }

    /// Adds up the gradients of the values, of shape `(arrays, points, channels)`, to gradients of the coefficients, of
    /// shape `(arrays, coefficients, channels)`.
    fn spread<T: WideFloat>(&self, b: &B, g: &B::Array<T>, taps: &[Taps<B>], lengths: &[usize]) -> Result<B::Array<T>> {
        let g = b.expand_dims(g, 1)?;
        let mut sum: Option<B::Array<T>> = None;
        self.choices(b, taps, lengths, |choice, last| {
            let weight = choice.weights.iter().try_fold(last.weight.clone(), |product, w| b.multiply(product, w))?;
            let weight = b.expand_dims(b.astype::<T, f64>(weight)?, [0, 3])?;
            let rows = [self.arrays as isize, choice.places.len() as isize, self.channels as isize];
            let parts = b.reshape(b.multiply(&g, weight)?, rows)?;
            let parts = b.segment_sum_with(parts, &choice.places, self.count, SegmentSumOptions::new().axis(1))?;
            sum = Some(match sum.take() {
                Some(sum) => b.add(sum, parts)?,
                None => parts,
            });
            Ok(())
        })?;
        match sum {
            Some(sum) => Ok(sum),
            None => b.zeros::<T>([self.arrays, self.count, self.channels]),
        }
    }

    /// The gradients with respect to the coordinates, one row for each axis, given the gradients of the values, of
    /// shape `(arrays, points, channels)`, and the coefficients `c`, of shape `(arrays, coefficients, channels)`.
    fn by_places<T: WideFloat>(
        &self,
        b: &B,
        g: &B::Array<T>,
        c: &B::Array<T>,
        taps: &[Taps<B>],
        lengths: &[usize],
    ) -> Result<B::Array<f64>> {
        let g = b.expand_dims(g, 1)?;
        let zero = b.zeros::<f64>([self.points])?;
        let mut sums = vec![zero.clone(); taps.len()];
        self.choices(b, taps, lengths, |choice, last| {
            let width = last.weight.shape()[0];
            let rows = [self.arrays, width, self.points, self.channels];
            let around = b.reshape(b.take(c, &choice.places, 1)?, signed(&rows))?;
            let products = b.real(b.sum(b.multiply(around, &g)?, [0, 3])?)?;
            let products = b.astype::<f64, T::Real>(products)?;
            let slope = |taps: &Taps<B>| taps.slope.clone().map_or_else(|| b.zeros_like::<f64>(&taps.weight), Ok);
            let others = |left_out: Option<usize>, start: B::Array<f64>| {
                let kept = choice.weights.iter().enumerate().filter(|(axis, _)| Some(*axis) != left_out);
                kept.map(|(_, weight)| weight).try_fold(start, |product, weight| b.multiply(product, weight))
            };
            let valued = b.sum(b.multiply(&products, &last.weight)?, 0)?;
            for (axis, &k) in choice.taps.iter().enumerate() {
                let along = row(b, &slope(&taps[axis])?, k)?;
                let of_axis = others(Some(axis), b.multiply(&valued, along)?)?;
                sums[axis] = b.add(&sums[axis], of_axis)?;
            }
            let of_last = others(None, b.sum(b.multiply(&products, slope(last)?)?, 0)?)?;
            if let Some(sum) = sums.last_mut() {
                *sum = b.add(&*sum, of_last)?;
            }
            Ok(())
        })?;
        b.stack(&sums)
    }
}

/// The taps (coefficients and their weights) along each axis. `places` has one row of positions for each axis.
fn taps_of<B: Backend>(
    b: &B,
    spline: Spline,
    places: &B::Array<f64>,
    lengths: &[usize],
    with_slopes: bool,
) -> Result<Vec<Taps<B>>> {
    let of_axis = |(axis, &len): (usize, &usize)| spline.taps(b, &row(b, places, axis)?, len, with_slopes);
    lengths.iter().enumerate().map(of_axis).collect()
}

/// The gradient with respect to a stack of arrays of shape `(stack, lengths..)`. The op interpolates all arrays of the
/// stack at the same positions. `g` is the gradient of the interpolated values.
fn by_elements<B: Backend, T: WideFloat>(
    b: &B,
    g: &B::Array<T>,
    places: &B::Array<f64>,
    shape: &[usize],
    first: usize,
    spline: Spline,
) -> Result<B::Array<T>> {
    if g.is_empty() {
        return b.zeros::<T>(shape);
    }
    let (stack, lengths) = shape.split_at(first);
    let (layout, all) = stacked::<B>(stack, lengths, places, spline);
    let g = b.reshape(g, [layout.arrays as isize, layout.points as isize, 1])?;
    let taps = taps_of(b, spline, places, lengths, false)?;
    let sums = layout.spread::<T>(b, &g, &taps, &all)?;
    let sums = b.reshape(sums, signed(&[&[layout.arrays], &all[..]].concat()))?;
    b.reshape(spline.elements::<B, T>(b, &sums, lengths)?, signed(shape))
}

/// The gradients with respect to the positions at which a stack of arrays is interpolated, one row for each axis.
fn by_coordinates<B: Backend, T: WideFloat>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    places: &B::Array<f64>,
    first: usize,
    spline: Spline,
) -> Result<B::Array<f64>> {
    if g.is_empty() {
        return b.zeros::<f64>(places.shape());
    }
    let (stack, lengths) = x.shape().split_at(first);
    let (layout, all) = stacked::<B>(stack, lengths, places, spline);
    let g = b.reshape(g, [layout.arrays as isize, layout.points as isize, 1])?;
    let x = b.reshape(x, signed(&[&[layout.arrays], lengths].concat()))?;
    let c = b.reshape(spline.coefficients::<B, T>(b, &x)?, [layout.arrays as isize, layout.count as isize, 1])?;
    let taps = taps_of(b, spline, places, lengths, true)?;
    layout.by_places::<T>(b, &g, &without_beyond::<B, T>(b, c, spline)?, &taps, &all)
}

/// In the mode `GridConstant`, all coefficients beyond the edge are `cval`. Subtracts `cval` from the coefficients in
/// this mode: the weights of the existing coefficients may sum to less than 1, and the rest is the weight of `cval`.
fn without_beyond<B: Backend, T: WideFloat>(b: &B, c: B::Array<T>, spline: Spline) -> Result<B::Array<T>> {
    if spline.mode == Boundary::GridConstant { b.subtract(c, number::<T>(spline.cval)) } else { Ok(c) }
}

/// The layout of a stack of arrays, and the number of coefficients along each axis.
fn stacked<B: Backend>(
    stack: &[usize],
    lengths: &[usize],
    places: &B::Array<f64>,
    spline: Spline,
) -> (Layout<B>, Vec<usize>) {
    let all = spline.coefficients_along(lengths);
    let (arrays, count) = (stack.iter().product(), all.iter().product());
    (Layout { arrays, count, channels: 1, points: places.shape()[1], starts: None }, all)
}

/// Converts coordinates to positions in float64, of shape (axes, points).
fn rows_of<B: Backend, T: WideFloat>(b: &B, coordinates: &B::Array<T::Real>) -> Result<B::Array<f64>> {
    let axes = coordinates.shape().first().copied().unwrap_or(0);
    let points = coordinates.shape().iter().skip(1).product::<usize>();
    b.reshape(b.astype::<f64, T::Real>(coordinates)?, [axes as isize, points as isize])
}

/// Gradient of `map_coordinates` with respect to the elements of the input, whose shape is `shape`.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn map_coordinates_x<B: Backend, T: WideFloat>(
    b: &B,
    g: &B::Array<T>,
    coordinates: &B::Array<T::Real>,
    shape: &[usize],
    order: usize,
    mode: Boundary,
    prefilter: bool,
) -> Result<B::Array<T>> {
    let spline = Spline { order, mode, cval: 0.0, prefilter };
    by_elements::<B, T>(b, g, &rows_of::<B, T>(b, coordinates)?, shape, 0, spline)
}

/// Gradient of `map_coordinates` with respect to the coordinates: the slope of the spline; 0 for coordinates that are
/// not finite.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn map_coordinates_coordinates<B: Backend, T: WideFloat>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    coordinates: &B::Array<T::Real>,
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
) -> Result<B::Array<T::Real>> {
    let spline = Spline { order, mode, cval, prefilter };
    let slopes = by_coordinates::<B, T>(b, g, x, &rows_of::<B, T>(b, coordinates)?, 0, spline)?;
    b.reshape(b.astype::<T::Real, f64>(slopes)?, signed(coordinates.shape()))
}

/// An affine map from the indices of a result to positions in an array.
struct Map<B: Backend> {
    /// Number of axes before the axes that the map transforms.
    first: usize,
    /// The indices of the result, one row for each axis.
    indices: B::Array<f64>,
    places: B::Array<f64>,
    /// True if the matrix contains the offset as an additional column (homogeneous coordinates).
    homogeneous: bool,
}

impl<B: Backend> Map<B> {
    /// Creates the map; `shape` is the shape of the array, and `to` the shape of the result.
    fn new<T: WideFloat>(
        b: &B,
        matrix: &B::Array<T::Real>,
        offset: Option<&B::Array<T::Real>>,
        shape: &[usize],
        to: &[usize],
    ) -> Result<Map<B>> {
        let of = rules::affine("affine_transform", shape, matrix.shape(), offset.map(|o| o.shape()), None, 1)?;
        let (n, homogeneous) = (of.grid.len(), of.homogeneous);
        let grid = &to[shape.len() - n..];
        let points: usize = grid.iter().product();
        let mut indices = Vec::with_capacity(n);
        for (axis, &len) in grid.iter().enumerate() {
            let of_axis = b.astype::<f64, i64>(b.arange::<i64>(0, len as i64, 1)?)?;
            let of_axis = b.broadcast_to(along::<B, f64>(b, &of_axis, axis, n)?, grid)?;
            indices.push(b.reshape(of_axis, [points as isize])?);
        }
        let indices = b.stack(&indices)?;
        let matrix = b.astype::<f64, T::Real>(matrix)?;
        let square = part::<B, f64>(b, &part::<B, f64>(b, &matrix, 0, 0, n)?, 1, 0, n)?;
        let mut places = b.matmul(square, &indices)?;
        if let Some(offset) = offset {
            places = b.add(places, b.expand_dims(b.astype::<f64, T::Real>(offset)?, 1)?)?;
        } else if homogeneous {
            places = b.add(places, part::<B, f64>(b, &part::<B, f64>(b, &matrix, 0, 0, n)?, 1, n, 1)?)?;
        }
        Ok(Map { first: shape.len() - n, indices, places, homogeneous })
    }
}

/// Gradient of `affine_transform` with respect to the elements of the input, whose shape is `shape`.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn affine_transform_x<B: Backend, T: WideFloat>(
    b: &B,
    g: &B::Array<T>,
    matrix: &B::Array<T::Real>,
    offset: Option<&B::Array<T::Real>>,
    shape: &[usize],
    order: usize,
    mode: Boundary,
    prefilter: bool,
) -> Result<B::Array<T>> {
    let map = Map::new::<T>(b, matrix, offset, shape, g.shape())?;
    by_elements::<B, T>(b, g, &map.places, shape, map.first, Spline { order, mode, cval: 0.0, prefilter })
}

/// Gradient of `affine_transform` with respect to the matrix: the gradients of the positions times the indices of the
/// result.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn affine_transform_matrix<B: Backend, T: WideFloat>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    matrix: &B::Array<T::Real>,
    offset: Option<&B::Array<T::Real>>,
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
) -> Result<B::Array<T::Real>> {
    let map = Map::new::<T>(b, matrix, offset, x.shape(), g.shape())?;
    let slopes = by_coordinates::<B, T>(b, g, x, &map.places, map.first, Spline { order, mode, cval, prefilter })?;
    let mut of_matrix = b.matmul(&slopes, b.matrix_transpose(&map.indices)?)?;
    if map.homogeneous {
        let of_offset = b.expand_dims(b.sum(&slopes, 1)?, 1)?;
        of_matrix = b.concat_with([&of_matrix, &of_offset], ConcatOptions::new().axis(1))?;
        let further = matrix.shape()[0] - of_matrix.shape()[0];
        // the op does not read the additional row of the matrix, so the gradient of this row is 0
        of_matrix = b.pad(of_matrix, [(0, further), (0, 0)])?;
    }
    b.astype::<T::Real, f64>(of_matrix)
}

/// Gradient of `affine_transform` with respect to the offset: the sum of the gradients of the positions.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn affine_transform_offset<B: Backend, T: WideFloat>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    matrix: &B::Array<T::Real>,
    offset: Option<&B::Array<T::Real>>,
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
) -> Result<B::Array<T::Real>> {
    let map = Map::new::<T>(b, matrix, offset, x.shape(), g.shape())?;
    let slopes = by_coordinates::<B, T>(b, g, x, &map.places, map.first, Spline { order, mode, cval, prefilter })?;
    b.astype::<T::Real, f64>(b.sum(slopes, 1)?)
}

/// Gradient of `zoom` for an array of shape `shape`, computed along one axis after another.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn zoom<B: Backend, T: WideFloat>(
    b: &B,
    g: &B::Array<T>,
    shape: &[usize],
    order: usize,
    mode: Boundary,
    prefilter: bool,
    grid_mode: bool,
) -> Result<B::Array<T>> {
    if g.is_empty() {
        return b.zeros::<T>(shape);
    }
    let spline = Spline { order, mode, cval: 0.0, prefilter };
    let all = spline.coefficients_along(shape);
    let mut g = g.clone();
    for (axis, &len) in shape.iter().enumerate() {
        let to = g.shape()[axis];
        let places: Vec<f64> = (0..to).map(|i| rules::zoomed_place(i, len, to, grid_mode)).collect();
        let taps = spline.taps(b, &b.asarray(places)?, len, false)?;
        let mut sum: Option<B::Array<T>> = None;
        for k in 0..=order {
            let weight = b.astype::<T, f64>(row(b, &taps.weight, k)?)?;
            let parts = b.multiply(&g, along::<B, T>(b, &weight, axis, g.ndim())?)?;
            let options = SegmentSumOptions::new().axis(axis as isize);
            let parts = b.segment_sum_with(parts, row(b, &taps.index, k)?, all[axis], options)?;
            sum = Some(match sum {
                Some(sum) => b.add(sum, parts)?,
                None => parts,
            });
        }
        if let Some(sum) = sum {
            g = sum;
        }
    }
    b.squeeze(spline.elements::<B, T>(b, &b.expand_dims(g, 0)?, shape)?, 0)
}

/// The layout of the arrays and positions of `grid_sample`. The parameters `grid` and `coordinates` are shapes.
fn batched<B: Backend>(b: &B, grid: &[usize], coordinates: &[usize]) -> Result<(Layout<B>, Vec<usize>)> {
    let sampling = rules::grid_sampled("grid_sample", grid, coordinates, 1)?;
    let (lengths, channels) = (sampling.lengths, sampling.channels);
    let count: usize = lengths.iter().product();
    let points = sampling.points;
    if coordinates[0] == 1 {
        return Ok((Layout { arrays: grid[0], count, channels, points, starts: None }, lengths));
    }
    // each batch has its own positions, so the coefficients of all arrays are concatenated
    let batches = coordinates[0];
    let starts = if grid[0] == 1 {
        None
    } else {
        let of_batch = b.multiply(b.arange::<i64>(0, batches as i64, 1)?, count as i64)?;
        Some(b.reshape(b.broadcast_to(b.expand_dims(of_batch, 1)?, [batches, points])?, -1)?)
    };
    Ok((Layout { arrays: 1, count: count * grid[0], channels, points: points * batches, starts }, lengths))
}

/// Converts the coordinates of `grid_sample` to positions in float64, of shape (axes, points).
fn components<B: Backend, T: WideFloat>(b: &B, coordinates: &B::Array<T::Real>) -> Result<B::Array<f64>> {
    let axes = coordinates.shape().last().copied().unwrap_or(0);
    let rows = b.reshape(b.astype::<f64, T::Real>(coordinates)?, [-1, axes as isize])?;
    b.matrix_transpose(rows)
}

/// Gradient of `grid_sample` with respect to the grid, whose shape is `shape`.
pub fn grid_sample_grid<B: Backend, T: WideFloat>(
    b: &B,
    g: &B::Array<T>,
    coordinates: &B::Array<T::Real>,
    shape: &[usize],
    mode: Boundary,
) -> Result<B::Array<T>> {
    if g.is_empty() {
        return b.zeros::<T>(shape);
    }
    let (layout, lengths) = batched(b, shape, coordinates.shape())?;
    let spline = Spline { order: 1, mode, cval: 0.0, prefilter: false };
    let taps = taps_of(b, spline, &components::<B, T>(b, coordinates)?, &lengths, false)?;
    let g = b.reshape(g, signed(&[layout.arrays, layout.points, layout.channels]))?;
    b.reshape(layout.spread::<T>(b, &g, &taps, &lengths)?, signed(shape))
}

/// Gradient of `grid_sample` with respect to the coordinates: the slope between the elements.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn grid_sample_coordinates<B: Backend, T: WideFloat>(
    b: &B,
    g: &B::Array<T>,
    grid: &B::Array<T>,
    coordinates: &B::Array<T::Real>,
    mode: Boundary,
    cval: f64,
) -> Result<B::Array<T::Real>> {
    if g.is_empty() {
        return b.zeros::<T::Real>(coordinates.shape());
    }
    let (layout, lengths) = batched(b, grid.shape(), coordinates.shape())?;
    let spline = Spline { order: 1, mode, cval, prefilter: false };
    let taps = taps_of(b, spline, &components::<B, T>(b, coordinates)?, &lengths, true)?;
    let g = b.reshape(g, signed(&[layout.arrays, layout.points, layout.channels]))?;
    let grid = b.reshape(grid, signed(&[layout.arrays, layout.count, layout.channels]))?;
    let grid = without_beyond::<B, T>(b, grid, spline)?;
    let slopes = layout.by_places::<T>(b, &g, &grid, &taps, &lengths)?;
    b.reshape(b.astype::<T::Real, f64>(b.matrix_transpose(slopes)?)?, signed(coordinates.shape()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weights sum to 1, and their derivatives to 0. The weighted mean of the coefficients' positions is the
    /// interpolated position.
    #[test]
    fn weights_are_pieces_of_a_spline() {
        for order in 0..=5 {
            let polynomials = weights(order);
            let low = if order % 2 == 1 { 0.0 } else { -0.5 };
            for t in [low, low + 0.25, low + 0.5, low + 0.999] {
                let value = |p: &Vec<f64>| p.iter().rev().fold(0.0, |sum, c| sum * t + c);
                let all: Vec<f64> = polynomials.iter().map(value).collect();
                assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-13, "{order} {t} {all:?}");
                assert!(all.iter().all(|&w| (-1e-13..=1.0).contains(&w)), "{order} {t} {all:?}");
                let slopes: f64 = derivatives(&polynomials).iter().map(value).sum();
                assert!(slopes.abs() < 1e-12, "{order} {t} {slopes}");
                let mean: f64 = (0..).zip(&all).map(|(k, w)| w * f64::from(k - order as i32 / 2)).sum();
                assert!(order == 0 || (mean - t).abs() < 1e-13, "{order} {t} {mean}");
            }
        }
    }
}
