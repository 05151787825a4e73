//! Reductions over axes, and scans along one axis.

pub use super::loops::fold;

use super::{
    call::{OpContext, Schema, args},
    manipulation::{broadcast_to, concat},
    ops,
    strategy::DtypeStrategy,
    tensor::{Number, Tensor},
    with::computed_in,
};
use backend_core::{Axes, DType, DTypeKind, Interpolation, Result, raw::RawElement, rules};

/// An array and the axes of its reduction, adapted for libtorch, for which an empty list of axes means all axes.
struct ReductionAxes {
    x: Tensor,
    axes: Vec<usize>,
    keepdims: bool,
}

impl ReductionAxes {
    fn new(on: OpContext<'_>, x: Tensor, axis: Axes, keepdims: bool) -> Result<ReductionAxes> {
        let axes = rules::reduction(on.op, axis, x.ndim())?;
        if !axes.is_empty() {
            return Ok(ReductionAxes { x, axes, keepdims });
        }
        // a reduction over no axis reduces each element by itself, along a new axis of length 1
        let ndim = x.ndim();
        Ok(ReductionAxes { x: on.call(&ops::UNSQUEEZE, args![&x, ndim])?, axes: vec![ndim], keepdims: false })
    }

    /// The number of elements that are reduced to one element of the result.
    fn count(&self) -> usize {
        self.axes.iter().map(|&a| self.x.shape()[a]).product()
    }

    /// Calls an op that takes axes and `keepdims`.
    fn call(&self, on: OpContext<'_>, schema: &Schema) -> Result<Tensor> {
        on.call(schema, args![&self.x, &self.axes, self.keepdims])
    }

    /// Returns the array with the reduced axes merged into one last axis, and the shape of the reduction's result.
    fn flat(&self, on: OpContext<'_>) -> Result<(Tensor, Vec<usize>)> {
        let shape = self.x.shape();
        let kept: Vec<usize> = (0..shape.len()).filter(|a| !self.axes.contains(a)).collect();
        let order: Vec<usize> = kept.iter().chain(&self.axes).copied().collect();
        let mut flat: Vec<usize> = kept.iter().map(|&a| shape[a]).collect();
        flat.push(self.count());
        let moved = on.permute(&self.x, &order)?;
        Ok((on.reshape(&moved, &flat)?, rules::reduced(shape, &self.axes, self.keepdims)))
    }
}

/// Converts the array to the dtype in which it is summed. uint64 becomes the int64 with the same bits, because sums of
/// uint64 and int64 wrap in the same way.
fn to_sum(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    match on.dtype {
        DType::UInt64 => on.enter(DtypeStrategy::Wrap, x),
        dtype => match dtype.kind() {
            DTypeKind::Real | DTypeKind::Complex => on.cast(x, computed_in(dtype)),
            _ => on.cast(x, DType::Int64),
        },
    }
}

/// Converts a sum in [`to_sum`]'s dtype to the dtype of the result.
fn from_sum(on: OpContext<'_>, x: Tensor) -> Result<Tensor> {
    match on.dtype.to_sum() {
        DType::UInt64 => on.call(&ops::VIEW_DTYPE, args![&x, DType::UInt64]),
        other => on.cast(&x, other),
    }
}

/// Sum over axes; integers and bools are summed in 64 bits.
pub fn sum(on: OpContext<'_>, x: &Tensor, axis: Axes, keepdims: bool) -> Result<Tensor> {
    let over = ReductionAxes::new(on, to_sum(on, x)?, axis, keepdims)?;
    from_sum(on, over.call(on, &ops::SUM)?)
}

/// Product over axes; integers and bools are multiplied in 64 bits.
pub fn prod(on: OpContext<'_>, x: &Tensor, axis: Axes, keepdims: bool) -> Result<Tensor> {
    let (flat, shape) = ReductionAxes::new(on, to_sum(on, x)?, axis, keepdims)?.flat(on)?;
    let product = on.call(&ops::PROD, args![&flat, -1_i64])?;
    from_sum(on, on.reshape(&product, &shape)?)
}

/// Arithmetic mean over axes.
pub fn mean(on: OpContext<'_>, x: &Tensor, axis: Axes, keepdims: bool) -> Result<Tensor> {
    let over = ReductionAxes::new(on, on.enter(DtypeStrategy::Float32, x)?, axis, keepdims)?;
    on.leave(DtypeStrategy::Float32, over.call(on, &ops::MEAN)?)
}

fn extreme(on: OpContext<'_>, schema: &Schema, x: &Tensor, axis: Axes, keepdims: bool) -> Result<Tensor> {
    let over = ReductionAxes::new(on, on.enter(DtypeStrategy::Order, x)?, axis, keepdims)?;
    rules::require_elements(on.op, over.x.shape(), &over.axes)?;
    on.leave(DtypeStrategy::Order, over.call(on, schema)?)
}

/// Maximum over axes; NaN if an element is NaN.
pub fn max(on: OpContext<'_>, x: &Tensor, axis: Axes, keepdims: bool) -> Result<Tensor> {
    extreme(on, &ops::AMAX, x, axis, keepdims)
}

/// Minimum over axes; NaN if an element is NaN.
pub fn min(on: OpContext<'_>, x: &Tensor, axis: Axes, keepdims: bool) -> Result<Tensor> {
    extreme(on, &ops::AMIN, x, axis, keepdims)
}

/// Tests whether any element over axes is nonzero.
pub fn any(on: OpContext<'_>, x: &Tensor, axis: Axes, keepdims: bool) -> Result<Tensor> {
    ReductionAxes::new(on, on.is_nonzero(x)?, axis, keepdims)?.call(on, &ops::ANY)
}

/// Tests whether all elements over axes are nonzero.
pub fn all(on: OpContext<'_>, x: &Tensor, axis: Axes, keepdims: bool) -> Result<Tensor> {
    ReductionAxes::new(on, on.is_nonzero(x)?, axis, keepdims)?.call(on, &ops::ALL)
}

/// Number of nonzero elements over axes.
pub fn count_nonzero(on: OpContext<'_>, x: &Tensor, axis: Axes, keepdims: bool) -> Result<Tensor> {
    ReductionAxes::new(on, on.is_nonzero(x)?, axis, keepdims)?.call(on, &ops::SUM)
}

fn spread(
    on: OpContext<'_>,
    schema: &Schema,
    x: &Tensor,
    axis: Axes,
    correction: f64,
    keepdims: bool,
) -> Result<Tensor> {
    let over = ReductionAxes::new(on, on.enter(DtypeStrategy::Float32, x)?, axis, keepdims)?;
    let result = on.call(schema, args![&over.x, &over.axes, correction, over.keepdims])?;
    // without elements, the result is 0, the sum of the squares, divided by `-correction`. libtorch omits this
    // division, so the quotient 0 is set here
    let is_empty = over.axes.iter().any(|&axis| over.x.shape()[axis] == 0);
    let result = if is_empty && correction < 0.0 { on.call(&ops::ZEROS_LIKE, args![&result])? } else { result };
    on.cast(&result, on.dtype.to_real())
}

/// Variance over axes.
pub fn var(on: OpContext<'_>, x: &Tensor, axis: Axes, correction: f64, keepdims: bool) -> Result<Tensor> {
    spread(on, &ops::VAR, x, axis, correction, keepdims)
}

/// Standard deviation over axes.
pub fn std(on: OpContext<'_>, x: &Tensor, axis: Axes, correction: f64, keepdims: bool) -> Result<Tensor> {
    spread(on, &ops::STD, x, axis, correction, keepdims)
}

fn index_of(on: OpContext<'_>, schema: &Schema, x: &Tensor, axis: Option<isize>, keepdims: bool) -> Result<Tensor> {
    let Some(axis) = axis else {
        rules::require_any(on.op, x.shape())?;
        let row = on.reshape(x, &[x.size()])?;
        let index = index_of(on, schema, &row, Some(0), false)?;
        let shape = rules::row_reduced(x.ndim(), keepdims);
        return on.reshape(&index, &shape);
    };
    let Some(axis) = rules::reduction_axis(on.op, axis, x.ndim())? else {
        return on.full(&[], RawElement::of(0_i64));
    };
    rules::require_elements(on.op, x.shape(), &[axis])?;
    let x = on.enter(DtypeStrategy::Order, x)?;
    let x = if on.dtype == DType::Bool { on.cast(&x, DType::UInt8)? } else { x };
    on.call(schema, args![&x, axis, keepdims])
}

/// Index of the largest element, the first one in case of a tie; NaN counts as the largest.
pub fn argmax(on: OpContext<'_>, x: &Tensor, axis: Option<isize>, keepdims: bool) -> Result<Tensor> {
    index_of(on, &ops::ARGMAX, x, axis, keepdims)
}

/// Index of the smallest element, the first one in case of a tie; NaN counts as the smallest.
pub fn argmin(on: OpContext<'_>, x: &Tensor, axis: Option<isize>, keepdims: bool) -> Result<Tensor> {
    index_of(on, &ops::ARGMIN, x, axis, keepdims)
}

fn scan(on: OpContext<'_>, schema: &Schema, x: &Tensor, axis: Option<isize>, initial: Option<i64>) -> Result<Tensor> {
    let size = on.dtype.to_sum().size();
    let row = [x.size()];
    let shape = if axis.is_some() { x.shape() } else { &row };
    let (axis, shape, _) = rules::scan(on.op, shape, axis.unwrap_or(0), initial.is_some(), size)?;
    let scanned = on.call(schema, args![&on.reshape(&to_sum(on, x)?, &shape)?, axis])?;
    let Some(initial) = initial else {
        return from_sum(on, scanned);
    };
    let mut first = scanned.shape().to_vec();
    first[axis] = 1;
    // the initial element is a new tensor, because the scan may be empty and then has no slice of length 1
    let first = on.call(&ops::NEW_FULL, args![&scanned, &first, Number::of(initial)])?;
    from_sum(on, on.call(&ops::CAT, args![&[first, scanned][..], axis])?)
}

/// Running sum along one axis; without an axis, the array is flattened first.
pub fn cumulative_sum(on: OpContext<'_>, x: &Tensor, axis: Option<isize>, include_initial: bool) -> Result<Tensor> {
    scan(on, &ops::CUMSUM, x, axis, include_initial.then_some(0))
}

/// Running product along one axis; without an axis, the array is flattened first.
pub fn cumulative_prod(on: OpContext<'_>, x: &Tensor, axis: Option<isize>, include_initial: bool) -> Result<Tensor> {
    scan(on, &ops::CUMPROD, x, axis, include_initial.then_some(1))
}

/// Differences of neighbouring elements along one axis, taken `n` times.
pub fn diff(
    on: OpContext<'_>,
    x: &Tensor,
    axis: isize,
    n: usize,
    prepend: Option<&Tensor>,
    append: Option<&Tensor>,
) -> Result<Tensor> {
    let axis = rules::axis(on.op, axis, x.ndim())?;
    let longer = with_edges(on, x, axis, prepend, append)?;
    let x = longer.as_ref().unwrap_or(x);
    let (left, times) = rules::differences(x.shape(), axis, n);
    if left.contains(&0) {
        return on.full(&left, RawElement::zero(on.dtype));
    }
    let mut d = on.enter(DtypeStrategy::Parts, x)?;
    for _ in 0..times {
        let left = d.shape()[axis] - 1;
        d = on.call(&ops::SUB, args![&on.narrow(&d, axis, 1, left)?, &on.narrow(&d, axis, 0, left)?])?;
    }
    on.leave(DtypeStrategy::Parts, d)
}

/// Joins `before` and `after` to the two ends of `x` along the axis. Returns `None` if both are `None`.
fn with_edges(
    on: OpContext<'_>,
    x: &Tensor,
    axis: usize,
    before: Option<&Tensor>,
    after: Option<&Tensor>,
) -> Result<Option<Tensor>> {
    let shape = |edge: &Tensor| rules::edge(on.op, x.shape(), edge.shape(), axis);
    // both shapes are checked before memory is needed
    let shapes = [before.map(shape).transpose()?, after.map(shape).transpose()?];
    let edge = |(edge, shape): (&Tensor, &Vec<usize>)| broadcast_to(on, edge, shape);
    let before = before.zip(shapes[0].as_ref()).map(edge).transpose()?;
    let after = after.zip(shapes[1].as_ref()).map(edge).transpose()?;
    if before.is_none() && after.is_none() {
        return Ok(None);
    }
    let parts: Vec<&Tensor> = before.iter().chain([x]).chain(&after).collect();
    concat(on, &parts, Some(axis as isize)).map(Some)
}

/// Quantiles over axes. The first axes of the result are the axes of `q`.
pub fn quantile(
    on: OpContext<'_>,
    x: &Tensor,
    q: &Tensor,
    axis: Axes,
    method: Interpolation,
    keepdims: bool,
) -> Result<Tensor> {
    on.require(&[x, q])?;
    let dtype = computed_in(on.dtype);
    let over = ReductionAxes::new(on, on.cast(x, dtype)?, axis, keepdims)?;
    check_quantiles(on, q)?;
    rules::require_elements(on.op, over.x.shape(), &over.axes)?;
    let (n, (lanes, reduced)) = (over.count(), over.flat(on)?);
    let shape = [q.shape(), &reduced].concat();
    if rules::count(on.op, &shape, on.dtype.size())? == 0 {
        return on.full(&shape, RawElement::zero(on.dtype));
    }
    let (sorted, _) = on.pair(&ops::SORT, args![&lanes, true, -1_i64, false])?;
    let quantiles = on.reshape(q, &[q.size()])?;
    let found = between(on, &sorted, &places(on, &quantiles, n, dtype)?, method)?;
    // NaN is sorted to the end, so if the last of the sorted elements is NaN, the quantiles are NaN
    let last = on.narrow(&sorted, sorted.ndim() - 1, n - 1, 1)?;
    let found = on.select(&on.call(&ops::ISNAN, args![&last])?, &last, &found)?;
    let found = on.call(&ops::MOVEDIM, args![&found, -1_i64, 0_i64])?;
    on.cast(&on.reshape(&found, &shape)?, on.dtype)
}

/// Returns an error if a quantile is outside [0, 1].
fn check_quantiles(on: OpContext<'_>, q: &Tensor) -> Result<()> {
    let half = Number::of(0.5_f32);
    let distance = on.call(&ops::ABS, args![&on.call(&ops::SUB, args![&on.cast(q, DType::Float64)?, half])?])?;
    let inside = on.call(&ops::LE, args![&distance, half])?;
    let axes: Vec<usize> = (0..inside.ndim()).collect();
    match on.item(&on.call(&ops::ALL, args![&inside, &axes, false])?)? {
        0 => Err(rules::quantile_range(on.op)),
        _ => Ok(()),
    }
}

/// Returns the fractional positions of the quantiles among `n` sorted elements. As in NumPy, the positions are rounded
/// to `dtype` if `dtype` can represent all indices.
fn places(on: OpContext<'_>, q: &Tensor, n: usize, dtype: DType) -> Result<Tensor> {
    let exact = on.call(&ops::MUL, args![&on.cast(q, DType::Float64)?, Number::of((n - 1) as f64)])?;
    if n <= 1 << 24 { on.cast(&on.cast(&exact, dtype)?, DType::Float64) } else { Ok(exact) }
}

/// Returns the values at these fractional positions along the last axis of `sorted`, interpolated by `method`.
fn between(on: OpContext<'_>, sorted: &Tensor, places: &Tensor, method: Interpolation) -> Result<Tensor> {
    let axis = sorted.ndim() - 1;
    let at = |places: &Tensor| on.pick(sorted, axis, &on.cast(places, DType::Int64)?);
    let (floor, ceil) = (on.call(&ops::FLOOR, args![places])?, on.call(&ops::CEIL, args![places])?);
    let part = match method {
        Interpolation::Lower => return at(&floor),
        Interpolation::Higher => return at(&ceil),
        Interpolation::Nearest => return at(&on.call(&ops::ROUND, args![places])?),
        Interpolation::Linear => on.call(&ops::SUB, args![places, &floor])?,
        Interpolation::Midpoint => {
            let apart = on.call(&ops::NE, args![&floor, &ceil])?;
            on.call(&ops::MUL, args![&apart, Number::of(0.5_f64)])?
        }
    };
    // `part` is rounded to the dtype of the elements, as in NumPy
    let (low, high) = (at(&floor)?, at(&ceil)?);
    let part = on.call(&ops::TO_OTHER, args![&part, &low])?;
    let step = on.call(&ops::SUB, args![&high, &low])?;
    // interpolate from the nearer end, so that both ends are reproduced exactly
    let left = on.call(&ops::SUB, args![&on.call(&ops::ONES_LIKE, args![&part])?, &part])?;
    let from_high = on.call(&ops::SUB, args![&high, &on.call(&ops::MUL, args![&step, &left])?])?;
    let from_low = on.call(&ops::ADD, args![&low, &on.call(&ops::MUL, args![&step, &part])?])?;
    let found = on.select(&on.call(&ops::GE, args![&part, Number::of(0.5_f32)])?, &from_high, &from_low)?;
    // `step` is infinite if `low` or `high` is infinite, or if both are large with opposite signs. The result is then
    // the weighted sum of `low` and `high`
    let shares = |x: &Tensor, share: &Tensor| on.call(&ops::MUL, args![x, share]);
    let weighted = on.call(&ops::ADD, args![&shares(&low, &left)?, &shares(&high, &part)?])?;
    let weighted = on.select(&on.call(&ops::EQ, args![&part, Number::of(1.0_f32)])?, &high, &weighted)?;
    let is_low = on.call(&ops::EQ, args![&part, Number::of(0.0_f32)])?;
    let is_low = on.call(&ops::LOGICAL_OR, args![&is_low, &on.call(&ops::EQ, args![&low, &high])?])?;
    let at_ends = on.select(&is_low, &low, &weighted)?;
    let is_ordinary = on.call(&ops::LT, args![&on.call(&ops::ABS, args![&step])?, Number::of(f64::INFINITY)])?;
    on.select(&is_ordinary, &found, &at_ends)
}
