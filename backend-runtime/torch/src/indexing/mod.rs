//! Indexing: slices, gathers, scatters and masks.

mod gather;

pub use gather::{add_at, get, set};

use super::{
    call::{OpContext, args},
    hosted::{hosted, placed},
    ops,
    strategy::DtypeStrategy,
    tensor::{Arg, Number, Tensor},
};
use backend_core::{
    DType, DTypeKind, Error, Result, Slice,
    raw::RawElement,
    rules::{self, Along, Masked, Span},
};
use backend_numpyish::indexing::scatter_mul_of;

/// Returns the part of `x` that the slices select. The result is a view, unless a step is negative.
pub fn getitem(on: OpContext<'_>, x: &Tensor, slices: &[Slice]) -> Result<Tensor> {
    let spans = rules::spans(on.op, slices, x.shape())?;
    let (part, backwards) = forward_part(on, x, &spans)?;
    on.reverse(&part, &backwards)
}

/// Returns a view of the elements that `spans` select, with all steps made positive. Also returns the axes with
/// negative steps, along which the caller must reverse the view.
fn forward_part(on: OpContext<'_>, x: &Tensor, spans: &[Span]) -> Result<(Tensor, Vec<usize>)> {
    let (mut lengths, mut strides, mut backwards) = (Vec::new(), Vec::new(), Vec::new());
    let mut offset = x.offset();
    let empty = spans.iter().any(|s| s.len == 0);
    for (span, &stride) in spans.iter().zip(x.strides()) {
        let step = span.step.unsigned_abs();
        // the step of a span with at most one element does not matter, and may be longer than the axis, so it becomes 1
        let (len, step) = if span.len > 1 { (span.len, step) } else { (span.len, 1) };
        if !empty {
            let back = if span.step < 0 { (len - 1) * step } else { 0 };
            offset += (span.start - back) * stride;
        }
        if span.drop {
            continue;
        }
        if span.step < 0 && len > 1 {
            backwards.push(lengths.len());
        }
        lengths.push(len);
        strides.push(stride * step);
    }
    Ok((on.call(&ops::AS_STRIDED, args![x, &lengths, &strides, offset])?, backwards))
}

/// Checks that the indices are inside an axis of length `len`, and returns them as non-negative indices. Negative
/// indices count from the end of the axis.
fn from_zero(on: OpContext<'_>, indices: &Tensor, axis: usize, len: usize) -> Result<Tensor> {
    if indices.size() == 0 {
        return Ok(indices.clone());
    }
    let (least, most) = on.pair(&ops::AMINMAX, args![indices])?;
    let (least, most) = (on.item(&least)?, on.item(&most)?);
    let n = len as i64;
    match () {
        _ if least < -n || most >= n => Err(first_outside(on, indices, axis, -n, len)?),
        _ if least >= 0 => Ok(indices.clone()),
        _ => on.call(&ops::REMAINDER, args![indices, Number::of(n)]),
    }
}

/// Returns an error if an index is outside 0 to `len` - 1.
pub(super) fn check_from_zero(on: OpContext<'_>, indices: &Tensor, axis: usize, len: usize) -> Result<()> {
    if indices.size() == 0 {
        return Ok(());
    }
    let (least, most) = on.pair(&ops::AMINMAX, args![indices])?;
    if on.item(&least)? < 0 || on.item(&most)? >= len as i64 {
        return Err(first_outside(on, indices, axis, 0, len)?);
    }
    Ok(())
}

/// Returns the error for the first index, in C order, that is smaller than `least` or not smaller than `len`. The
/// caller must know that there is such an index.
#[cold]
fn first_outside(on: OpContext<'_>, indices: &Tensor, axis: usize, least: i64, len: usize) -> Result<Error> {
    let flat = on.reshape(indices, &[indices.size()])?;
    let below = on.call(&ops::LT, args![&flat, Number::of(least)])?;
    let above = on.call(&ops::GE, args![&flat, Number::of(len as i64)])?;
    let outside = on.cast(&on.call(&ops::MAXIMUM, args![&below, &above])?, DType::UInt8)?;
    let first = on.item(&on.call(&ops::ARGMAX, args![&outside, 0_i64, false])?)?;
    let index = on.item(&on.narrow(&flat, 0, first as usize, 1)?)?;
    Ok(Error::index(on.op, index, axis, len))
}

/// Returns the elements of `x` at `indices` along one axis. Without an axis, `x` is flattened first.
pub fn take(on: OpContext<'_>, x: &Tensor, indices: &Tensor, axis: Option<isize>) -> Result<Tensor> {
    let x = match axis {
        Some(_) => x.clone(),
        None => on.reshape(x, &[x.size()])?,
    };
    let (axis, result) = rules::taken(on.op, x.shape(), indices.shape(), axis.unwrap_or(0), on.dtype.size())?;
    let indices = from_zero(on, indices, axis, x.shape()[axis])?;
    let picked = on.pick(&x, axis, &on.reshape(&indices, &[indices.size()])?)?;
    on.reshape(&picked, &result)
}

/// Returns one element of `x` for each element of `indices`: the element with this index along `axis`, and with the
/// same indices as the element of `indices` along the other axes. The other axes of `x` and `indices` broadcast.
pub fn take_along_axis(on: OpContext<'_>, x: &Tensor, indices: &Tensor, axis: isize) -> Result<Tensor> {
    let Along { axis, x: x_shape, shape } = rules::along(on.op, x.shape(), indices.shape(), axis, on.dtype.size())?;
    let indices = from_zero(on, indices, axis, x_shape[axis])?;
    let indices = on.call(&ops::EXPAND, args![&indices, &shape])?;
    let x = on.call(&ops::EXPAND, args![&on.enter(DtypeStrategy::Wrap, x)?, &x_shape])?;
    on.leave(DtypeStrategy::Wrap, on.call(&ops::GATHER, args![&x, axis, &indices])?)
}

/// Returns the axis of a scatter, and the indices as non-negative numbers. `values` must have the shape of `x`, except
/// that its length along the axis is the number of indices.
fn places(on: OpContext<'_>, x: &Tensor, indices: &Tensor, values: &Tensor, axis: isize) -> Result<(usize, Tensor)> {
    on.require(&[x, values])?;
    let axis = rules::scattered(on.op, x.shape(), indices.shape(), values.shape(), axis)?;
    Ok((axis, from_zero(on, indices, axis, x.shape()[axis])?))
}

/// Returns a copy of `x` with `values` added at `indices` along one axis. If an index occurs several times, all its
/// values are added.
pub fn scatter_add(on: OpContext<'_>, x: &Tensor, indices: &Tensor, values: &Tensor, axis: isize) -> Result<Tensor> {
    let (axis, indices) = places(on, x, indices, values, axis)?;
    // 16-bit floats are summed in float32. The real and imaginary parts of complex numbers are summed separately
    let via = if on.dtype.kind() == DTypeKind::Real { DtypeStrategy::Float32 } else { DtypeStrategy::Parts };
    let sum = on.call(&ops::INDEX_ADD, args![&on.enter(via, x)?, axis, &indices, &on.enter(via, values)?])?;
    on.leave(via, sum)
}

/// A copy of `x` with the elements at `indices` along one axis multiplied by `values`.
pub fn scatter_mul(on: OpContext<'_>, x: &Tensor, indices: &Tensor, values: &Tensor, axis: isize) -> Result<Tensor> {
    if on.dtype.kind() == DTypeKind::Complex {
        // libtorch has no such op for complex numbers
        return multiplied_by_loops(on, x, indices, values, axis);
    }
    let via = if on.dtype.kind() == DTypeKind::Real { DtypeStrategy::Float32 } else { DtypeStrategy::Wrap };
    combined(on, x, indices, values, axis, "prod", via)
}

/// Computes [`scatter_mul`] for complex numbers with this crate's loops, on the CPU.
fn multiplied_by_loops(
    on: OpContext<'_>,
    x: &Tensor,
    indices: &Tensor,
    values: &Tensor,
    axis: isize,
) -> Result<Tensor> {
    let x = hosted(on, x)?;
    let (indices, values) = (hosted(on.with_dtype(DType::Int64), indices)?, hosted(on, values)?);
    placed(on, scatter_mul_of(x.view(), indices.view(), values.view(), axis))
}

/// Returns a copy of `x` in which each element at `indices` along one axis becomes the maximum of its old value and all
/// values for its index.
pub fn scatter_max(on: OpContext<'_>, x: &Tensor, indices: &Tensor, values: &Tensor, axis: isize) -> Result<Tensor> {
    combined(on, x, indices, values, axis, "amax", DtypeStrategy::Order)
}

/// Returns a copy of `x` in which each element at `indices` along one axis becomes the minimum of its old value and all
/// values for its index.
pub fn scatter_min(on: OpContext<'_>, x: &Tensor, indices: &Tensor, values: &Tensor, axis: isize) -> Result<Tensor> {
    combined(on, x, indices, values, axis, "amin", DtypeStrategy::Order)
}

/// A copy of `x` in which the elements at `indices` are combined with `values` by one of libtorch's reductions.
fn combined(
    on: OpContext<'_>,
    x: &Tensor,
    indices: &Tensor,
    values: &Tensor,
    axis: isize,
    reduction: &'static str,
    via: DtypeStrategy,
) -> Result<Tensor> {
    let (axis, indices) = places(on, x, indices, values, axis)?;
    if on.dtype == DType::Bool {
        // libtorch's op cannot order bools, but it can order their bytes
        let (x, values) = (on.cast(x, DType::UInt8)?, on.cast(values, DType::UInt8)?);
        let bytes = on.call(&ops::INDEX_REDUCE, args![&x, axis, &indices, &values, reduction, true])?;
        return on.cast(&bytes, DType::Bool);
    }
    let (x, values) = (on.enter(via, x)?, on.enter(via, values)?);
    on.leave(via, on.call(&ops::INDEX_REDUCE, args![&x, axis, &indices, &values, reduction, true])?)
}

/// Returns a copy of `x` with the elements at `indices` along one axis replaced by `values`. If an index occurs several
/// times, the last of its values remains.
pub fn scatter(on: OpContext<'_>, x: &Tensor, indices: &Tensor, values: &Tensor, axis: isize) -> Result<Tensor> {
    let (axis, indices) = places(on, x, indices, values, axis)?;
    if indices.size() == 0 {
        return on.call(&ops::CLONE, args![x]);
    }
    // `last` has, for each index of the axis, the position in `values` of the last value for this index, or -1 if no
    // value has this index. So the result does not depend on the order in which libtorch writes
    let len = x.shape()[axis];
    let none = on.full(&[len], RawElement::of(-1_i64))?;
    let last = on.call(&ops::SCATTER_REDUCE, args![&none, 0_i64, &indices, &on.count_up(indices.size())?, "amax"])?;
    let hit = on.call(&ops::GE, args![&last, Number::of(0_i64)])?;
    let (x, values) = (on.enter(DtypeStrategy::Wrap, x)?, on.enter(DtypeStrategy::Wrap, values)?);
    let replacements = on.pick(&values, axis, &on.call(&ops::CLAMP, args![&last, 0_i64, Arg::None])?)?;
    let mut along = vec![1; x.ndim()];
    along[axis] = len;
    on.leave(DtypeStrategy::Wrap, on.select(&on.reshape(&hit, &along)?, &replacements, &x)?)
}

/// Returns the elements of `x` where the mask is true, in C order. If the mask has fewer axes than `x`, it selects
/// subarrays along the remaining axes.
pub fn boolean_mask(on: OpContext<'_>, x: &Tensor, mask: &Tensor) -> Result<Tensor> {
    on.with_dtype(DType::Bool).require(&[mask])?;
    let Masked { cells, cell } = rules::masked(on.op, x.shape(), mask.shape())?;
    if cells == 0 {
        return on.full(&[&[0], &cell[..]].concat(), RawElement::zero(on.dtype));
    }
    if !cell.is_empty() {
        let flags = on.reshape(mask, &[cells])?;
        let chosen = on.call(&ops::NONZERO, args![&flags])?;
        let chosen = on.reshape(&chosen, &[chosen.size()])?;
        let shape = [&[chosen.size()], &cell[..]].concat();
        if rules::count(on.op, &shape, on.dtype.size())? == 0 {
            return on.full(&shape, RawElement::zero(on.dtype));
        }
        let flat = on.reshape(x, &[&[cells], &cell[..]].concat())?;
        return on.pick(&flat, 0, &chosen);
    }
    let chosen = on.call(&ops::MASKED_SELECT, args![&on.enter(DtypeStrategy::Wrap, x)?, mask])?;
    on.leave(DtypeStrategy::Wrap, chosen)
}

/// Returns the indices of the nonzero elements: one 1-D array per axis of `x`.
pub fn nonzero(on: OpContext<'_>, x: &Tensor) -> Result<Vec<Tensor>> {
    rules::require_axes(on.op, x.shape())?;
    let rows = on.call(&ops::NONZERO, args![&on.is_nonzero(x)?])?;
    on.list(&ops::UNBIND, args![&rows, 1_i64])
}

/// Returns the indices of the nonzero elements, as a matrix with one row per nonzero element.
pub fn argwhere(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    on.call(&ops::NONZERO, args![&on.is_nonzero(x)?])
}
