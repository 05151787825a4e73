//! Gradient rules of reductions, sorting and cumulative ops.

use super::{
    EXACT, in_float32, number, over,
    shapes::{axis_of, part, signed},
    whole,
};
use crate::{
    ArrayAttributes, Axes, Backend, Element, Float, Interpolation, Numeric, Real, Result, segments::is_16_bit,
};

/// The axes of a reduction. For a 0-D array the list is empty, even for the axes 0 and -1, which are valid.
fn axes_of(op: &'static str, axis: Axes, ndim: usize) -> Result<Vec<usize>> {
    if ndim == 0 { Ok(Vec::new()) } else { axis.resolve(op, ndim) }
}

/// Inserts the reduced axes, with length 1, into `x`, the result of a reduction over `axis`. `shape` is the shape of
/// the array that was reduced.
pub(super) fn kept<B: Backend, T: Element>(b: &B, x: &B::Array<T>, shape: &[usize], axis: Axes) -> Result<B::Array<T>> {
    let axes = axes_of("sum", axis, shape.len())?;
    let lengths = shape.iter().enumerate().map(|(k, &d)| if axes.contains(&k) { 1 } else { d as isize });
    b.reshape(x, lengths.collect::<Vec<_>>())
}

/// Number of elements that are reduced to each element of the result.
fn count(shape: &[usize], axis: Axes) -> Result<f64> {
    let axes = axes_of("sum", axis, shape.len())?;
    Ok(axes.iter().map(|&axis| shape[axis] as f64).product())
}

/// Gradient of `sum`: every element gets the output gradient of the sum that contains it.
pub fn sum<B: Backend, T: Float>(b: &B, g: &B::Array<T>, shape: &[usize], axis: Axes) -> Result<B::Array<T>> {
    b.broadcast_to(kept::<B, T>(b, g, shape, axis)?, shape)
}

/// Gradient of `mean`: the output gradient of each mean, divided by the number of its elements.
pub fn mean<B: Backend, T: Float>(b: &B, g: &B::Array<T>, shape: &[usize], axis: Axes) -> Result<B::Array<T>> {
    let n = count(shape, axis)?;
    sum::<B, T>(b, &over::<B, T>(b, g, n)?, shape, axis)
}

/// Gradient of `softmax`: `y (g - sum(g y))`.
pub fn softmax<B: Backend, T: Real>(b: &B, g: &B::Array<T>, y: &B::Array<T>, axis: Axes) -> Result<B::Array<T>> {
    if is_16_bit::<T>() && count(y.shape(), axis)? > EXACT {
        return in_float32::<B, T, 2>(b, [g, y], |[g, y]| softmax::<B, T::InFloat32>(b, g, y, axis));
    }
    let along = b.multiply(g, y)?;
    let sum = kept::<B, T>(b, &b.sum(&along, axis)?, y.shape(), axis)?;
    b.subtract(along, b.multiply(y, sum)?)
}

/// Gradient of `log_softmax`: `g - exp(y) sum(g)`.
pub fn log_softmax<B: Backend, T: Real>(b: &B, g: &B::Array<T>, y: &B::Array<T>, axis: Axes) -> Result<B::Array<T>> {
    if is_16_bit::<T>() && count(y.shape(), axis)? > EXACT {
        return in_float32::<B, T, 2>(b, [g, y], |[g, y]| log_softmax::<B, T::InFloat32>(b, g, y, axis));
    }
    let sum = kept::<B, T>(b, &b.sum(g, axis)?, y.shape(), axis)?;
    b.subtract(g, b.multiply(b.exp(y)?, sum)?)
}

/// Gradient of `logsumexp`: the softmax of the elements. If the result is infinite, finite elements get 0.
pub fn logsumexp<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x: &B::Array<T>,
    axis: Axes,
) -> Result<B::Array<T>> {
    let (g, y) = (kept::<B, T>(b, g, x.shape(), axis)?, kept::<B, T>(b, y, x.shape(), axis)?);
    let softmax = b.softmax(x, axis)?;
    expr!(b, where((y == f64::INFINITY) & (x < f64::INFINITY), T::ZERO, softmax) * g)
}

/// Gradient of `prod`: each element gets the output gradient times the product of all other elements. Any of the
/// elements may be zero.
pub fn prod<B: Backend, T: Float>(b: &B, g: &B::Array<T>, x: &B::Array<T>, axis: Axes) -> Result<B::Array<T>> {
    let axes = axes_of("prod", axis, x.ndim())?;
    let (row, back) = as_rows::<B, T>(b, x, &axes)?;
    // the product of the elements before each element times the product of the elements after it
    let before = exclusive::<B, T>(b, &row)?;
    let after = b.flip(exclusive::<B, T>(b, &b.flip(&row, -1)?)?, -1)?;
    let others = back.apply::<B, T>(b, &b.multiply(before, after)?)?;
    b.multiply(others, kept::<B, T>(b, g, x.shape(), axis)?)
}

/// For each element, the product of all elements before it along the last axis.
fn exclusive<B: Backend, T: Float>(b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
    let n = x.shape().last().copied().unwrap_or(0);
    let all = b.cumulative_prod_with(x, -1, crate::CumulativeProdOptions::new().include_initial(true))?;
    part::<B, T>(b, &all, x.ndim() - 1, 0, n)
}

/// Undoes `as_rows`: splits the merged axis into its axes, and moves them back.
struct Back {
    lengths: Vec<isize>,
    axes: Vec<usize>,
}

impl Back {
    fn apply<B: Backend, T: Element>(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        let ends: Vec<isize> = (0..self.axes.len()).map(|k| k as isize - self.axes.len() as isize).collect();
        b.moveaxis(b.reshape(x, &self.lengths[..])?, ends, &self.axes[..])
    }
}

/// Moves the given axes to the end and merges them into one axis.
fn as_rows<B: Backend, T: Element>(b: &B, x: &B::Array<T>, axes: &[usize]) -> Result<(B::Array<T>, Back)> {
    let ends: Vec<isize> = (0..axes.len()).map(|k| k as isize - axes.len() as isize).collect();
    let moved = b.moveaxis(x, axes, ends)?;
    let lengths = signed(moved.shape());
    let rest = x.ndim() - axes.len();
    let one: usize = moved.shape()[rest..].iter().product();
    let mut shape = lengths[..rest].to_vec();
    shape.push(one as isize);
    Ok((b.reshape(moved, shape)?, Back { lengths, axes: axes.to_vec() }))
}

/// Gradient of `max` and `min`: the elements that equal the result share the output gradient.
pub fn extremum<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x: &B::Array<T>,
    axis: Axes,
) -> Result<B::Array<T>> {
    let y = kept::<B, T>(b, y, x.shape(), axis)?;
    // if an element is NaN, the result is NaN, so NaN counts as equal to NaN here
    let is_it = b.logical_or(b.equal(x, &y)?, b.logical_and(b.isnan(x)?, b.isnan(&y)?)?)?;
    let g = kept::<B, T>(b, g, x.shape(), axis)?;
    let count = b.sum_with(&is_it, axis, crate::SumOptions::new().keepdims(true))?;
    // the number of elements may exceed the range of 16-bit floats
    let share = match is_16_bit::<T>() {
        true => in_float32::<B, T, 1>(b, [&g], |[g]| b.divide(g, b.astype::<T::InFloat32, _>(count)?))?,
        false => b.divide(g, b.astype::<T, _>(count)?)?,
    };
    b.multiply(b.astype::<T, bool>(is_it)?, share)
}

/// If `T` has 16 bits, applies the rule in float32 and returns from the enclosing function with the result.
macro_rules! wide_where_narrow {
    ($b:ident, $g:ident, $x:ident, $rule:ident($($more:expr),*)) => {
        if $crate::segments::is_16_bit::<T>() {
            let wide = vec![$b.astype::<f32, T::Real>($g)?, $b.astype::<f32, T>($x)?];
            let rule = |[g, x]: [&B::Array<T::InFloat32>; 2]| $rule::<B, T::InFloat32>($b, g, x, $($more),*);
            return $crate::grad::rules::with_float32::<B, T, 2>($b, wide, rule);
        }
    };
}
pub(super) use wide_where_narrow;

/// Gradient of `var`: `2 g / (n - correction)` times the conjugate deviations from the mean of `n` elements.
pub fn var<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T::Real>,
    x: &B::Array<T>,
    axis: Axes,
    correction: f64,
) -> Result<B::Array<T>> {
    wide_where_narrow!(b, g, x, var(axis, correction));
    let n = count(x.shape(), axis)?;
    let distance = distance::<B, T>(b, x, axis)?;
    let g = b.multiply(g, number::<T::Real>(2.0 / (n - correction)))?;
    let g = whole::<B, T>(b, &kept::<B, T::Real>(b, &g, x.shape(), axis)?)?;
    b.multiply(b.conj::<T>(distance)?, g)
}

/// The deviations from the mean.
fn distance<B: Backend, T: Float>(b: &B, x: &B::Array<T>, axis: Axes) -> Result<B::Array<T>> {
    b.subtract(x, b.mean_with(x, axis, crate::MeanOptions::new().keepdims(true))?)
}

/// Gradient of `std`; 0 if the result is 0. Deviations are divided by the largest deviation, because their squares, and
/// the result itself, may exceed the range of the dtype.
pub fn std<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T::Real>,
    x: &B::Array<T>,
    axis: Axes,
    correction: f64,
) -> Result<B::Array<T>> {
    wide_where_narrow!(b, g, x, std(axis, correction));
    let n = count(x.shape(), axis)?;
    let distance = distance::<B, T>(b, x, axis)?;
    let (unit, norm) = of_unit::<B, T>(b, &distance, axis)?;
    let g = kept::<B, T::Real>(b, g, x.shape(), axis)?;
    let g = b.multiply(b.divide(g, norm)?, number::<T::Real>(1.0 / (n - correction).sqrt()))?;
    b.multiply(b.conj::<T>(unit)?, whole::<B, T>(b, &g)?)
}

/// Gradient of `nanstd`: like `std`, over the elements that are not NaN.
pub fn nanstd<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    axis: Axes,
    correction: f64,
) -> Result<B::Array<T>> {
    if is_16_bit::<T>() {
        return in_float32::<B, T, 2>(b, [g, x], |[g, x]| nanstd::<B, T::InFloat32>(b, g, x, axis, correction));
    }
    let is_number = b.logical_not(b.isnan(x)?)?;
    let mean = b.nanmean_with(x, axis, crate::NanmeanOptions::new().keepdims(true))?;
    let distance = b.r#where(&is_number, b.subtract(x, mean)?, T::ZERO)?;
    let (unit, norm) = of_unit::<B, T>(b, &distance, axis)?;
    let count = b.sum_with(&is_number, axis, crate::SumOptions::new().keepdims(true))?;
    let freedom = b.astype::<T, f64>(b.sqrt(b.subtract(b.astype::<f64, _>(count)?, correction)?)?)?;
    let g = b.divide(b.divide(kept::<B, T>(b, g, x.shape(), axis)?, norm)?, freedom)?;
    b.r#where(is_number, b.multiply(unit, g)?, T::ZERO)
}

/// Gradient of `corrcoef`. The result consists of the inner products of the variables' deviations. The deviations are
/// scaled to norm 1, so changes of their norm have no effect. A variable whose elements are all equal has no
/// correlations, and its gradient is NaN.
pub fn corrcoef<B: Backend, T: Real>(b: &B, g: &B::Array<T>, x: &B::Array<T>, rowvar: bool) -> Result<B::Array<T>> {
    if is_16_bit::<T>() {
        return in_float32::<B, T, 2>(b, [g, x], |[g, x]| corrcoef::<B, T::InFloat32>(b, g, x, rowvar));
    }
    if x.shape().contains(&0) {
        return b.zeros_like::<T>(x);
    }
    let is_turned = x.ndim() == 2 && !rowvar;
    let rows = if is_turned { b.matrix_transpose(x)? } else { x.clone() };
    let rows = if x.ndim() == 2 { rows } else { b.reshape(rows, [1, -1])? };
    let distance = distance::<B, T>(b, &rows, Axes::from(1))?;
    let (unit, norm) = of_unit::<B, T>(b, &distance, Axes::from(1))?;
    let is_equal = b.logical_not(b.any_with(&unit, 1, crate::AnyOptions::new().keepdims(true))?)?;
    let norm = b.r#where(is_equal, T::of(f64::NAN), norm)?;
    let unit = b.divide(unit, &norm)?;
    let g = b.reshape(g, [rows.shape()[0], rows.shape()[0]])?;
    let along = b.matmul(b.add(&g, b.matrix_transpose(&g)?)?, &unit)?;
    let within = b.sum_with(b.multiply(&along, &unit)?, 1, crate::SumOptions::new().keepdims(true))?;
    // divides by the norm of the unscaled deviations in two steps, because this norm may exceed the range of the dtype
    // although the quotient does not
    let most = b.max_with(b.abs(&distance)?, 1, crate::MaxOptions::new().keepdims(true))?;
    let slope = b.divide(b.divide(b.subtract(along, b.multiply(unit, within)?)?, norm)?, most)?;
    let slope = self::distance::<B, T>(b, &slope, Axes::from(1))?;
    let slope = if is_turned { b.matrix_transpose(slope)? } else { slope };
    b.reshape(slope, signed(x.shape()))
}

/// Returns the elements divided by their largest magnitude along the axes, and the Euclidean norm of the quotients. If
/// all elements are 0, the quotients are 0 and the norm is 1.
#[allow(clippy::type_complexity)] // a pair of results
pub(super) fn of_unit<B: Backend, T: Float>(
    b: &B,
    x: &B::Array<T>,
    axis: Axes,
) -> Result<(B::Array<T>, B::Array<T::Real>)> {
    let axis = if x.ndim() == 0 { Axes::from(..) } else { axis };
    let magnitude = b.astype::<T::Real, _>(b.abs::<T>(x)?)?;
    if x.shape().contains(&0) {
        // an empty array has no largest element
        let sum = b.sum_with(magnitude, axis, crate::SumOptions::new().keepdims(true))?;
        return Ok((x.clone(), b.add(b.astype::<T::Real, _>(sum)?, T::Real::ONE)?));
    }
    let most = b.max_with(&magnitude, axis, crate::MaxOptions::new().keepdims(true))?;
    let is_zero = b.equal(&most, T::Real::ZERO)?;
    let most = b.r#where(&is_zero, T::Real::ONE, most)?;
    let unit = b.divide(x, whole::<B, T>(b, &most)?)?;
    let squares = b.square(b.divide(magnitude, most)?)?;
    let sum = b.sum_with(squares, axis, crate::SumOptions::new().keepdims(true))?;
    let norm = b.sqrt(b.r#where(is_zero, T::Real::ONE, sum)?)?;
    Ok((unit, norm))
}

/// Returns the array and the axis as an index. If no axis is given, the array is flattened and the axis is 0.
fn along<B: Backend, T: Element>(b: &B, x: &B::Array<T>, axis: Option<isize>) -> Result<(B::Array<T>, usize)> {
    match axis {
        Some(axis) if x.ndim() > 0 => Ok((x.clone(), axis_of("cumulative_sum", axis, x.ndim())?)),
        _ => Ok((b.reshape(x, -1)?, 0)),
    }
}

/// Gradient of `cumulative_sum`: each element is a term of the sum at its own index and of all later sums.
pub fn cumulative_sum<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    shape: &[usize],
    axis: Option<isize>,
    include_initial: bool,
) -> Result<B::Array<T>> {
    let (g, axis) = along::<B, T>(b, g, axis)?;
    let first = usize::from(include_initial);
    let g = part::<B, T>(b, &g, axis, first, g.shape()[axis] - first)?;
    let axis = axis as isize;
    let sums = b.flip(b.cumulative_sum(b.flip(g, axis)?, axis)?, axis)?;
    b.reshape(sums, signed(shape))
}

/// Gradient of `cumulative_prod`. With `r[i] = g[i] + x[i + 1] r[i + 1]`, the gradient of `x[i]` is `r[i]` times the
/// product of the elements before `x[i]`, which may be zero. `r` is computed by doubling, in log(n) steps.
pub fn cumulative_prod<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    axis: Option<isize>,
    include_initial: bool,
) -> Result<B::Array<T>> {
    let shape = signed(x.shape());
    let ((g, axis), (x, _)) = (along::<B, T>(b, g, axis)?, along::<B, T>(b, x, axis)?);
    let first = usize::from(include_initial);
    let n = x.shape()[axis];
    let g = b.moveaxis(part::<B, T>(b, &g, axis, first, n)?, axis as isize, -1)?;
    let x = b.moveaxis(&x, axis as isize, -1)?;
    // shifts the elements towards index 0, and fills the end with zeros
    let shifted = |x: &B::Array<T>, by: usize| -> Result<B::Array<T>> {
        let mut widths = vec![(0, 0); x.ndim()];
        widths[x.ndim() - 1] = (0, by);
        b.pad(part::<B, T>(b, x, x.ndim() - 1, by, n - by)?, widths)
    };
    let (mut r, mut by) = (g, 1);
    if n > 1 {
        let mut a = shifted(&x, 1)?;
        while by < n {
            r = b.add(&r, b.multiply(&a, shifted(&r, by)?)?)?;
            a = b.multiply(&a, shifted(&a, by)?)?;
            by *= 2;
        }
    }
    let g = b.multiply(exclusive::<B, T>(b, &x)?, r)?;
    b.reshape(b.moveaxis(g, -1, axis as isize)?, shape)
}

/// Gradient of `diff` of order `n` with respect to the concatenation of the prepended array, the array, and the
/// appended array.
fn undone<B: Backend, T: Float>(b: &B, g: &B::Array<T>, axis: usize, n: usize) -> Result<B::Array<T>> {
    let mut g = g.clone();
    for _ in 0..n {
        let mut widths = vec![(0, 0); g.ndim()];
        widths[axis] = (1, 1);
        let padded = b.pad(&g, widths)?;
        g = b.negative(b.diff_with(padded, crate::DiffOptions::new().axis(axis as isize))?)?;
    }
    Ok(g)
}

/// The length of an optional array along `axis`: 0 if the array is not given, and 1 for a 0-D array. `shape` is the
/// number of axes followed by the shape; it is empty if the array is not given.
fn length(shape: &[usize], axis: usize) -> usize {
    match shape {
        [] => 0,
        [0] => 1,
        [_, shape @ ..] => shape.get(axis).copied().unwrap_or(0),
    }
}

/// Gradient of `diff` with respect to the array.
pub fn diff_x<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    shape: &[usize],
    prepended: &[usize],
    axis: isize,
    n: usize,
) -> Result<B::Array<T>> {
    let axis = axis_of("diff", axis, shape.len())?;
    part::<B, T>(b, &undone::<B, T>(b, g, axis, n)?, axis, length(prepended, axis), shape[axis])
}

/// Gradient of `diff` with respect to the prepended array.
pub fn diff_prepend<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    prepended: &[usize],
    axis: isize,
    n: usize,
) -> Result<B::Array<T>> {
    let axis = axis_of("diff", axis, g.ndim())?;
    part::<B, T>(b, &undone::<B, T>(b, g, axis, n)?, axis, 0, length(prepended, axis))
}

/// Gradient of `diff` with respect to the appended array.
pub fn diff_append<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    appended: &[usize],
    axis: isize,
    n: usize,
) -> Result<B::Array<T>> {
    let axis = axis_of("diff", axis, g.ndim())?;
    let all = undone::<B, T>(b, g, axis, n)?;
    let of = length(appended, axis);
    part::<B, T>(b, &all, axis, all.shape()[axis] - of, of)
}

/// Gradient of `sort`: the output gradients move to the original indices of the elements.
pub fn sort<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    axis: isize,
    descending: bool,
) -> Result<B::Array<T>> {
    let order = b.argsort_with(x, crate::ArgsortOptions::new().axis(axis).descending(descending))?;
    unsorted::<B, T>(b, g, &order, axis)
}

/// Moves sorted elements back to their original indices. `order` is the index of each sorted element before sorting.
fn unsorted<B: Backend, T: Real>(b: &B, x: &B::Array<T>, order: &B::Array<i64>, axis: isize) -> Result<B::Array<T>> {
    let back = b.argsort_with(order, crate::ArgsortOptions::new().axis(axis))?;
    b.take_along_axis(x, &back, axis)
}

/// Gradient of `partition`: each output gradient goes to the input element with the same position in sorted order.
pub fn partition<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x: &B::Array<T>,
    axis: isize,
) -> Result<B::Array<T>> {
    let order = |x: &B::Array<T>| b.argsort_with(x, crate::ArgsortOptions::new().axis(axis));
    let ranked = b.take_along_axis(g, &order(y)?, axis)?;
    unsorted::<B, T>(b, &ranked, &order(x)?, axis)
}

/// Gradient of `percentile`, which is `quantile` with `q` in percent.
pub fn percentile<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    q: &B::Array<T>,
    axis: Axes,
    method: Interpolation,
) -> Result<B::Array<T>> {
    quantile::<B, T>(b, g, x, &b.divide(q, 100.0)?, axis, method)
}

/// Gradient of `quantile`: the output gradient goes to the two elements around the quantile, in proportion to their
/// weights.
#[allow(clippy::too_many_arguments)]
pub fn quantile<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    q: &B::Array<T>,
    axis: Axes,
    method: Interpolation,
) -> Result<B::Array<T>> {
    let axes = axes_of("quantile", axis, x.ndim())?;
    let (rows, back) = as_rows::<B, T>(b, x, &axes)?;
    let n = rows.shape().last().copied().unwrap_or(0);
    let q = b.reshape(q, -1)?;
    let place = b.multiply(b.astype::<f64, T>(&q)?, n as f64 - 1.0)?;
    let low = b.floor(&place)?;
    let above = match method {
        Interpolation::Linear => b.subtract(&place, &low)?,
        Interpolation::Lower => b.zeros_like::<f64>(&low)?,
        Interpolation::Higher => b.subtract(b.ceil(&place)?, &low)?,
        Interpolation::Midpoint => b.multiply(b.subtract(b.ceil(&place)?, &low)?, 0.5)?,
        Interpolation::Nearest => b.subtract(b.round(&place)?, &low)?,
    };
    let one_hot = |place: B::Array<f64>, weight: B::Array<f64>| -> Result<B::Array<T>> {
        let index = b.minimum(b.astype::<i64, f64>(place)?, n as i64 - 1)?;
        b.multiply(b.one_hot::<T>(&index, n)?, b.expand_dims(b.astype::<T, f64>(weight)?, -1)?)
    };
    let lower = one_hot(low.clone(), b.subtract(1.0, &above)?)?;
    let weights = b.add(lower, one_hot(b.add(low, 1.0)?, above)?)?;
    // the axes of `q` are the first axes of the result
    let g = b.reshape(g, [q.shape()[0] as isize, -1])?;
    let sorted = b.reshape(b.matmul(b.matrix_transpose(g)?, weights)?, signed(rows.shape()))?;
    back.apply::<B, T>(b, &sort::<B, T>(b, &sorted, &rows, -1, false)?)
}
