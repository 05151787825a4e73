//! Gradient rules of convolutions with channels, of pooling, and of maximum and minimum filters.

use super::{
    EXACT, in_float32, number,
    shapes::{part, signed},
};
use crate::{
    ArrayAttributes, Backend, Boundary, ConcatOptions, ConvOptions, ConvTransposeOptions, Element, Float, Lengths,
    Real, Result, runtime::rules, segments::is_16_bit,
};

/// One value for each spatial axis. `given` has one value for all spatial axes or one for each of them; if it is
/// `None`, all values are `default`. The spatial axes follow the batch axis and the channel axis.
fn each(given: Option<Lengths>, rank: usize, default: usize) -> Vec<usize> {
    match given.as_ref().and_then(Lengths::as_slice) {
        None => vec![default; rank],
        Some(&[one]) => vec![one; rank],
        Some(all) => all.to_vec(),
    }
}

/// Number of spatial axes of an array of shape `shape`. They follow the batch axis and the channel axis.
fn rank_of(shape: &[usize]) -> usize {
    shape.len().saturating_sub(2)
}

/// Number of elements at the end of each spatial axis that no window reaches. A transposed convolution must pad its
/// result by this number of elements.
fn unreached(shape: &[usize], taps: &[usize], stride: &[usize], padding: &[usize], dilation: &[usize]) -> Vec<usize> {
    let of = |k: usize| {
        let all = shape.get(k + 2).copied().unwrap_or(0) + 2 * padding[k];
        all.saturating_sub(dilation[k] * taps[k].saturating_sub(1) + 1) % stride[k].max(1)
    };
    (0..taps.len()).map(of).collect()
}

/// Gradient of `conv` with respect to the input, whose shape is `shape`: a transposed convolution of the output
/// gradient.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn conv_x<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    weight: &B::Array<T>,
    shape: &[usize],
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    dilation: Option<Lengths>,
    groups: usize,
) -> Result<B::Array<T>> {
    let rank = rank_of(shape);
    let (stride, padding, dilation) = (each(stride, rank, 1), each(padding, rank, 0), each(dilation, rank, 1));
    let further = unreached(shape, &weight.shape()[2..], &stride, &padding, &dilation);
    let options = ConvTransposeOptions::new()
        .stride(Lengths::from(stride))
        .padding(Lengths::from(padding))
        .output_padding(Lengths::from(further))
        .dilation(Lengths::from(dilation))
        .groups(groups);
    b.conv_transpose_with(g, weight, options)
}

/// Gradient of `conv` with respect to the kernel, whose shape is `shape`: a convolution of the input with the output
/// gradient as the kernel. In both arrays, the batch axis and the channel axis are swapped.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn conv_weight<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    shape: &[usize],
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    dilation: Option<Lengths>,
    groups: usize,
) -> Result<B::Array<T>> {
    let rank = rank_of(shape);
    if x.is_empty() || g.is_empty() || groups == 0 {
        return b.zeros::<T>(shape);
    }
    // reshapes (batch, groups, channels of a group, ..) to (channels of a group, groups and batch, ..)
    let (batch, channels) = (x.shape()[0], x.shape()[1] / groups);
    let mut split = vec![batch, groups, channels];
    split.extend(&x.shape()[2..]);
    let mut axes: Vec<usize> = (0..rank + 3).collect();
    axes.swap(0, 2);
    let mut joined = vec![channels, groups * batch];
    joined.extend(&x.shape()[2..]);
    let x = b.reshape(b.permute_dims(b.reshape(x, signed(&split))?, axes)?, signed(&joined))?;
    // the stride of the windows becomes the dilation of the new kernel, and the dilation of the old kernel becomes the
    // stride
    let options = ConvOptions::new()
        .stride(Lengths::from(each(dilation, rank, 1)))
        .padding(Lengths::from(each(padding, rank, 0)))
        .dilation(Lengths::from(each(stride, rank, 1)))
        .groups(groups);
    let mut y = b.conv_with(x, b.moveaxis(g, 0, 1)?, options)?;
    for (axis, &len) in shape.iter().enumerate().skip(2) {
        y = part::<B, T>(b, &y, axis, 0, len)?;
    }
    b.moveaxis(y, 0, 1)
}

/// Gradient of `conv` and of `conv_transpose` with respect to the bias of each channel.
pub fn conv_bias<B: Backend, T: Float>(b: &B, g: &B::Array<T>) -> Result<B::Array<T>> {
    let axes: Vec<usize> = (0..g.ndim()).filter(|&axis| axis != 1).collect();
    b.sum(g, axes)
}

/// Gradient of `conv_transpose` with respect to the input, whose shape is `shape`: a convolution of the output
/// gradient.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn conv_transpose_x<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    weight: &B::Array<T>,
    shape: &[usize],
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    dilation: Option<Lengths>,
    groups: usize,
) -> Result<B::Array<T>> {
    let rank = rank_of(shape);
    let options = ConvOptions::new()
        .stride(Lengths::from(each(stride, rank, 1)))
        .padding(Lengths::from(each(padding, rank, 0)))
        .dilation(Lengths::from(each(dilation, rank, 1)))
        .groups(groups);
    let mut y = b.conv_with(g, weight, options)?;
    // an output padding of at least one stride adds elements, which this loop removes
    for (axis, &len) in shape.iter().enumerate().skip(2) {
        if y.shape()[axis] != len {
            y = part::<B, T>(b, &y, axis, 0, len)?;
        }
    }
    Ok(y)
}

/// Gradient of `conv_transpose` with respect to the kernel, whose shape is `shape`: the rule of `conv`, in which the
/// input and the output gradient exchange their roles.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn conv_transpose_weight<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    shape: &[usize],
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    dilation: Option<Lengths>,
    groups: usize,
) -> Result<B::Array<T>> {
    conv_weight::<B, T>(b, x, g, shape, stride, padding, dilation, groups)
}

/// Divides the array along an axis by the numbers in `by`, one for each index of the axis.
fn divided<B: Backend, T: Real>(b: &B, x: &B::Array<T>, by: &[f64], axis: usize) -> Result<B::Array<T>> {
    let by = b.asarray(by.iter().map(|&by| number::<T>(by)).collect::<Vec<_>>())?;
    b.divide(x, along::<B, T>(b, &by, axis, x.ndim())?)
}

/// Gradient of `avg_pool` for an input of shape `shape`: each output gradient is divided by the number of elements in
/// its window, and added to each of these elements, by a transposed convolution with ones.
pub fn avg_pool<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    shape: &[usize],
    kernel: &[usize],
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    count_include_pad: bool,
) -> Result<B::Array<T>> {
    let rank = rank_of(shape);
    let taps = each(Some(Lengths::from(kernel)), rank, 1);
    let stride = if stride.is_some() { each(stride, rank, 1) } else { taps.clone() };
    let padding = each(padding, rank, 0);
    if g.is_empty() {
        return b.zeros::<T>(shape);
    }
    let mut g = g.clone();
    for k in 0..rank {
        let windows = g.shape()[k + 2];
        let counted = |window: usize| {
            if count_include_pad {
                return taps[k] as f64;
            }
            let (start, end) = (window * stride[k], window * stride[k] + taps[k]);
            let (first, last) = (padding[k], padding[k] + shape[k + 2]);
            end.min(last).saturating_sub(start.max(first)).max(1) as f64
        };
        let counts: Vec<f64> = (0..windows).map(counted).collect();
        g = match is_16_bit::<T>() && taps[k] as f64 > EXACT {
            // the number of elements in a window may exceed the range of 16-bit floats
            true => in_float32::<B, T, 1>(b, [&g], |[g]| divided(b, g, &counts, k + 2))?,
            false => divided(b, &g, &counts, k + 2)?,
        };
    }
    // treats each channel as a separate image
    let planes = |shape: &[usize]| {
        let mut lengths = vec![(shape[0] * shape[1]) as isize, 1];
        lengths.extend(signed(&shape[2..]));
        lengths
    };
    let ones = b.ones::<T>([&[1, 1], &taps[..]].concat())?;
    let further = unreached(shape, &taps, &stride, &padding, &vec![1; rank]);
    let options = ConvTransposeOptions::new()
        .stride(Lengths::from(stride))
        .padding(Lengths::from(padding))
        .output_padding(Lengths::from(further));
    let spread = b.conv_transpose_with(b.reshape(&g, planes(g.shape()))?, ones, options)?;
    b.reshape(spread, signed(shape))
}

/// Reshapes a 1-D array to `ndim` axes, of which only `axis` has a length other than 1.
pub(super) fn along<B: Backend, T: Element>(b: &B, x: &B::Array<T>, axis: usize, ndim: usize) -> Result<B::Array<T>> {
    let mut lengths = vec![1; ndim];
    lengths[axis] = -1;
    b.reshape(x, lengths)
}

/// Sliding windows along one axis of an array that is extended beyond the ends of the axis.
struct Windows {
    axis: usize,
    /// For each element of the extended axis, its index on the original axis. An index equal to the length of the
    /// original axis stands for the value beyond the edge.
    sources: Vec<usize>,
    /// Number of elements in a window (`taps`), and the distance between them (`dilation`).
    taps: usize,
    dilation: usize,
    /// Distance from the start of one window to the start of the next.
    stride: usize,
}

impl Windows {
    /// The largest element of each window, and its index on the axis. Of equal elements the first index is returned; if
    /// a window contains NaN, its first NaN is the largest element.
    ///
    /// The lengths of the windows are doubled step by step: the maximum of a window is the larger of the maxima of its
    /// two parts. With `only_inside`, the value beyond the edge counts only in windows that contain nothing else.
    fn largest<B: Backend, T: Real>(
        &self,
        b: &B,
        x: &B::Array<T>,
        beyond: f64,
        only_inside: bool,
    ) -> Result<(B::Array<T>, B::Array<i64>)> {
        let (axis, ndim) = (self.axis, x.ndim());
        let len = x.shape()[axis];
        let mut lengths = x.shape().to_vec();
        lengths[axis] = 1;
        let last = b.full::<T>(lengths, number::<T>(beyond))?;
        let x = b.concat_with([x, &last], ConcatOptions::new().axis(axis as isize))?;
        let sources: Vec<i64> = self.sources.iter().map(|&source| source as i64).collect();
        let sources = b.asarray(sources)?;
        let mut value = b.take(x, &sources, axis as isize)?;
        let mut index = b.broadcast_to(along::<B, i64>(b, &sources, axis, ndim)?, value.shape())?;
        let mut width = 1;
        while width < self.taps {
            let step = width.min(self.taps - width);
            let apart = step * self.dilation;
            let rest = value.shape()[axis].saturating_sub(apart);
            let halves = |x: &B::Array<T>| Ok((part(b, x, axis, 0, rest)?, part(b, x, axis, apart, rest)?));
            let indices = (part(b, &index, axis, 0, rest)?, part(b, &index, axis, apart, rest)?);
            let (first, second) = halves(&value)?;
            let not_a_number = b.logical_and(b.isnan(&second)?, b.logical_not(b.isnan(&first)?)?)?;
            let mut better = b.logical_or(b.greater(&second, &first)?, not_a_number)?;
            if only_inside {
                better = b.logical_or(better, b.equal(&indices.0, len as i64)?)?;
            }
            value = b.r#where(&better, second, first)?;
            index = b.r#where(better, indices.1, indices.0)?;
            width += step;
        }
        if self.stride > 1 {
            let starts: Vec<i64> = (0..value.shape()[axis]).step_by(self.stride).map(|i| i as i64).collect();
            let starts = b.asarray(starts)?;
            value = b.take(value, &starts, axis as isize)?;
            index = b.take(index, &starts, axis as isize)?;
        }
        Ok((value, index))
    }
}

/// The gradient of an array, given the gradient of its maxima over windows. The maxima are computed along one axis
/// after another.
fn of_windows<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    windows: &[Windows],
    beyond: f64,
    only_inside: bool,
) -> Result<B::Array<T>> {
    let (mut value, mut stages) = (x.clone(), Vec::with_capacity(windows.len()));
    for along in windows {
        let (largest, index) = along.largest::<B, T>(b, &value, beyond, only_inside)?;
        stages.push((along.axis, value.shape()[along.axis], index));
        value = largest;
    }
    let mut g = g.clone();
    for (axis, len, index) in stages.into_iter().rev() {
        let sums = summed_at::<B, T>(b, &g, &index, axis, len + 1)?;
        g = part::<B, T>(b, &sums, axis, 0, len)?;
    }
    Ok(g)
}

/// For each index `i` from 0 to `len - 1`, sums the elements of `x` along `axis` whose entry in `index` is `i`. The
/// shapes of `index` and `x` are equal.
fn summed_at<B: Backend, T: Float>(
    b: &B,
    x: &B::Array<T>,
    index: &B::Array<i64>,
    axis: usize,
    len: usize,
) -> Result<B::Array<T>> {
    let (values, index) = (b.moveaxis(x, axis as isize, -1)?, b.moveaxis(index, axis as isize, -1)?);
    let mut lengths = values.shape().to_vec();
    let many = lengths.pop().unwrap_or(1).max(1);
    let rows = values.len() / many;
    // adds the start of each row to the indices, so that they address the flattened array
    let starts = b.expand_dims(b.multiply(b.arange::<i64>(0, rows as i64, 1)?, len as i64)?, 1)?;
    let places = b.reshape(b.add(b.reshape(index, [rows as isize, many as isize])?, starts)?, -1)?;
    let sums = b.segment_sum(b.reshape(values, -1)?, places, rows * len)?;
    lengths.push(len);
    b.moveaxis(b.reshape(sums, signed(&lengths))?, -1, axis as isize)
}

/// Gradient of `max_pool`: each output gradient goes to the largest element of its window, or to the first of equal
/// elements.
pub fn max_pool<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    kernel: &[usize],
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    dilation: Option<Lengths>,
) -> Result<B::Array<T>> {
    let shape = x.shape();
    let rank = rank_of(shape);
    let taps = each(Some(Lengths::from(kernel)), rank, 1);
    let stride = if stride.is_some() { each(stride, rank, 1) } else { taps.clone() };
    let (padding, dilation) = (each(padding, rank, 0), each(dilation, rank, 1));
    if g.is_empty() {
        return b.zeros::<T>(shape);
    }
    // handles the last axis first, so that the first of equal elements in C order gets the gradient
    let windows: Vec<Windows> = (0..rank)
        .rev()
        .map(|k| {
            let len = shape[k + 2];
            let beyond = vec![len; padding[k]];
            let sources = [&beyond[..], &(0..len).collect::<Vec<_>>(), &beyond].concat();
            Windows { axis: k + 2, sources, taps: taps[k], dilation: dilation[k], stride: stride[k] }
        })
        .collect();
    of_windows::<B, T>(b, g, x, &windows, f64::NEG_INFINITY, true)
}

/// Gradient of `maximum_filter`: each output gradient goes to the largest element of its window, or to the first of
/// equal elements. If the value beyond the edge is the largest, the output gradient is dropped.
pub fn maximum_filter<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    size: &[usize],
    mode: Boundary,
    cval: f64,
) -> Result<B::Array<T>> {
    const OP: &str = "maximum_filter";
    let sizes = rules::window_sizes(OP, x.shape(), size)?;
    if x.is_empty() {
        return Ok(g.clone());
    }
    let mut windows = Vec::with_capacity(sizes.len());
    for (axis, (&len, &size)) in x.shape().iter().zip(&sizes).enumerate().rev() {
        if size > 1 {
            let window = rules::covering_window(OP, len, size)?;
            let sources = extended(len, window, mode);
            windows.push(Windows { axis, sources, taps: window.border + 1, dilation: 1, stride: 1 });
        }
    }
    of_windows::<B, T>(b, g, x, &windows, cval, false)
}

/// Gradient of `minimum_filter`: the rule of `maximum_filter` for the negated array.
pub fn minimum_filter<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    size: &[usize],
    mode: Boundary,
    cval: f64,
) -> Result<B::Array<T>> {
    maximum_filter::<B, T>(b, g, &b.negative(x)?, size, mode, -cval)
}

/// For each element of an axis extended by a window's border, its index on the original axis. An index equal to the
/// length of the original axis stands for the value beyond the edge.
pub(super) fn extended(len: usize, window: rules::Window, mode: Boundary) -> Vec<usize> {
    let first = -(window.before as isize);
    (0..len + window.border).map(|i| rules::extended(first + i as isize, len, mode).unwrap_or(len)).collect()
}
