//! Indexing: slices, gathers, scatters and masks.

mod gather;

pub use gather::{add_at, get, set};

use super::{
    Torch, TorchArray,
    call::{OpContext, args},
    hosted::{hosted, placed},
    ops,
    strategy::DtypeStrategy,
    tensor::{Arg, Number, Tensor},
};
use crate::{
    DType, DTypeKind, Element, Error, Numeric, Ordered, Result, Slice,
    numpyish::indexing::scatter_mul_of,
    rules::{self, Along, Masked, Span},
};

/// A slice of the array: a view, unless an axis runs backwards.
pub fn getitem<T: Element>(b: &Torch, x: &TorchArray<T>, slices: &[Slice]) -> Result<TorchArray<T>> {
    let on = b.on::<T>("getitem");
    let spans = rules::spans(on.op, slices, x.shape())?;
    let (part, backwards) = forward_part(on, x.tensor(), &spans)?;
    on.array(on.reverse(&part, &backwards)?)
}

/// A view of these spans in which all axes run forward, and the axes of the view that must be reversed.
fn forward_part(on: OpContext<'_>, x: &Tensor, spans: &[Span]) -> Result<(Tensor, Vec<usize>)> {
    let (mut lengths, mut strides, mut backwards) = (Vec::new(), Vec::new(), Vec::new());
    let mut offset = x.offset();
    let empty = spans.iter().any(|s| s.len == 0);
    for (span, &stride) in spans.iter().zip(x.strides()) {
        let step = span.step.unsigned_abs();
        // the step of a span with at most one element does not matter, and may be longer than the axis
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

/// Checks the bounds of indices, and returns non-negative indices; negative indices count from the end of an axis of
/// length `len`.
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

/// Refuses indices outside 0 to `len` - 1.
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

/// The error for the first index in C order that is smaller than `least` or at least `len`; the caller must know that
/// there is such an index.
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

/// Elements at `indices` along one axis; without an axis, the array is flattened first.
pub fn take<T: Element>(
    b: &Torch,
    x: &TorchArray<T>,
    indices: &TorchArray<i64>,
    axis: Option<isize>,
) -> Result<TorchArray<T>> {
    let on = b.on::<T>("take");
    let x = match axis {
        Some(_) => x.tensor().clone(),
        None => on.reshape(x.tensor(), &[x.tensor().size()])?,
    };
    let (axis, result) = rules::taken(on.op, x.shape(), indices.shape(), axis.unwrap_or(0), size_of::<T>())?;
    let indices = from_zero(on, indices.tensor(), axis, x.shape()[axis])?;
    let picked = on.pick(&x, axis, &on.reshape(&indices, &[indices.size()])?)?;
    on.array(on.reshape(&picked, &result)?)
}

/// Elements at `indices` along one axis, one index per position; the other axes broadcast.
pub fn take_along_axis<T: Element>(
    b: &Torch,
    x: &TorchArray<T>,
    indices: &TorchArray<i64>,
    axis: isize,
) -> Result<TorchArray<T>> {
    let on = b.on::<T>("take_along_axis");
    let Along { axis, x: x_shape, shape } = rules::along(on.op, x.shape(), indices.shape(), axis, size_of::<T>())?;
    let indices = from_zero(on, indices.tensor(), axis, x_shape[axis])?;
    let indices = on.call(&ops::EXPAND, args![&indices, &shape])?;
    let x = on.call(&ops::EXPAND, args![&on.enter_typed(DtypeStrategy::Wrap, x)?, &x_shape])?;
    on.leave_typed(DtypeStrategy::Wrap, on.call(&ops::GATHER, args![&x, axis, &indices])?)
}

/// The axis and the non-negative indices of a scatter. The values must have the shape of `x`, except one value per
/// index along the axis.
fn places<T: Element>(
    on: OpContext<'_>,
    x: &TorchArray<T>,
    indices: &TorchArray<i64>,
    values: &TorchArray<T>,
    axis: isize,
) -> Result<(usize, Tensor)> {
    let axis = rules::scattered(on.op, x.shape(), indices.shape(), values.shape(), axis)?;
    Ok((axis, from_zero(on, indices.tensor(), axis, x.shape()[axis])?))
}

/// A copy of `x` with `values` added at `indices` along one axis; equal indices add up.
pub fn scatter_add<T: Numeric>(
    b: &Torch,
    x: &TorchArray<T>,
    indices: &TorchArray<i64>,
    values: &TorchArray<T>,
    axis: isize,
) -> Result<TorchArray<T>> {
    let on = b.on::<T>("scatter_add");
    let (axis, indices) = places(on, x, indices, values, axis)?;
    // 16-bit floats are summed in float32, and complex numbers by parts
    let via = if T::DTYPE.kind() == DTypeKind::Real { DtypeStrategy::Float32 } else { DtypeStrategy::Parts };
    let sum =
        on.call(&ops::INDEX_ADD, args![&on.enter_typed(via, x)?, axis, &indices, &on.enter_typed(via, values)?])?;
    on.leave_typed(via, sum)
}

/// A copy of `x` with the elements at `indices` along one axis multiplied by `values`.
pub fn scatter_mul<T: Numeric>(
    b: &Torch,
    x: &TorchArray<T>,
    indices: &TorchArray<i64>,
    values: &TorchArray<T>,
    axis: isize,
) -> Result<TorchArray<T>> {
    let op = "scatter_mul";
    if T::DTYPE.kind() == DTypeKind::Complex {
        // libtorch has no such op for complex numbers
        let (x, indices, values) = (hosted(b, op, x)?, hosted(b, op, indices)?, hosted(b, op, values)?);
        return placed(b, scatter_mul_of(x.view(), indices.view(), values.view(), axis));
    }
    let via = if T::DTYPE.kind() == DTypeKind::Real { DtypeStrategy::Float32 } else { DtypeStrategy::Wrap };
    combined(b.on::<T>(op), x, indices, values, axis, "prod", via)
}

/// A copy of `x` where each element at `indices` along one axis is the maximum of itself and the values.
pub fn scatter_max<T: Ordered>(
    b: &Torch,
    x: &TorchArray<T>,
    indices: &TorchArray<i64>,
    values: &TorchArray<T>,
    axis: isize,
) -> Result<TorchArray<T>> {
    combined(b.on::<T>("scatter_max"), x, indices, values, axis, "amax", DtypeStrategy::Order)
}

/// A copy of `x` where each element at `indices` along one axis is the minimum of itself and the values.
pub fn scatter_min<T: Ordered>(
    b: &Torch,
    x: &TorchArray<T>,
    indices: &TorchArray<i64>,
    values: &TorchArray<T>,
    axis: isize,
) -> Result<TorchArray<T>> {
    combined(b.on::<T>("scatter_min"), x, indices, values, axis, "amin", DtypeStrategy::Order)
}

/// A copy of `x` with its elements at `indices` and `values` combined by one of libtorch's reductions.
fn combined<T: Element>(
    on: OpContext<'_>,
    x: &TorchArray<T>,
    indices: &TorchArray<i64>,
    values: &TorchArray<T>,
    axis: isize,
    reduction: &'static str,
    via: DtypeStrategy,
) -> Result<TorchArray<T>> {
    let (axis, indices) = places(on, x, indices, values, axis)?;
    if T::DTYPE == DType::Bool {
        // libtorch's op does not order bools, but it orders their bytes
        let (x, values) = (on.cast(x.tensor(), DType::UInt8)?, on.cast(values.tensor(), DType::UInt8)?);
        let bytes = on.call(&ops::INDEX_REDUCE, args![&x, axis, &indices, &values, reduction, true])?;
        return on.array(on.cast(&bytes, DType::Bool)?);
    }
    let (x, values) = (on.enter_typed(via, x)?, on.enter_typed(via, values)?);
    on.leave_typed(via, on.call(&ops::INDEX_REDUCE, args![&x, axis, &indices, &values, reduction, true])?)
}

/// A copy of `x` with the elements at `indices` along one axis replaced by `values`; for equal indices the last value
/// wins.
pub fn scatter<T: Element>(
    b: &Torch,
    x: &TorchArray<T>,
    indices: &TorchArray<i64>,
    values: &TorchArray<T>,
    axis: isize,
) -> Result<TorchArray<T>> {
    let on = b.on::<T>("scatter");
    let (axis, indices) = places(on, x, indices, values, axis)?;
    if indices.size() == 0 {
        return on.array(on.call(&ops::CLONE, args![x])?);
    }
    // for each index of the axis, the last value written there, or -1, so that libtorch's order of writes does not
    // matter
    let len = x.shape()[axis];
    let none = on.full_typed(&[len], -1_i64)?;
    let last = on.call(&ops::SCATTER_REDUCE, args![&none, 0_i64, &indices, &on.count_up(indices.size())?, "amax"])?;
    let hit = on.call(&ops::GE, args![&last, Number::of(0_i64)])?;
    let (x, values) = (on.enter_typed(DtypeStrategy::Wrap, x)?, on.enter_typed(DtypeStrategy::Wrap, values)?);
    let replacements = on.pick(&values, axis, &on.call(&ops::CLAMP, args![&last, 0_i64, Arg::None])?)?;
    let mut along = vec![1; x.ndim()];
    along[axis] = len;
    on.leave_typed(DtypeStrategy::Wrap, on.select(&on.reshape(&hit, &along)?, &replacements, &x)?)
}

/// The elements where a mask is true, in C order; if the mask has fewer axes than `x`, subarrays of the remaining axes.
pub fn boolean_mask<T: Element>(b: &Torch, x: &TorchArray<T>, mask: &TorchArray<bool>) -> Result<TorchArray<T>> {
    let on = b.on::<T>("boolean_mask");
    let Masked { cells, cell } = rules::masked(on.op, x.shape(), mask.shape())?;
    if cells == 0 {
        return on.array(on.full_typed(&[&[0], &cell[..]].concat(), T::default())?);
    }
    if !cell.is_empty() {
        let flags = on.reshape(mask.tensor(), &[cells])?;
        let chosen = on.call(&ops::NONZERO, args![&flags])?;
        let chosen = on.reshape(&chosen, &[chosen.size()])?;
        let shape = [&[chosen.size()], &cell[..]].concat();
        if rules::count(on.op, &shape, size_of::<T>())? == 0 {
            return on.array(on.full_typed(&shape, T::default())?);
        }
        let flat = on.reshape(x.tensor(), &[&[cells], &cell[..]].concat())?;
        return on.array(on.pick(&flat, 0, &chosen)?);
    }
    on.leave_typed(
        DtypeStrategy::Wrap,
        on.call(&ops::MASKED_SELECT, args![&on.enter_typed(DtypeStrategy::Wrap, x)?, mask])?,
    )
}

/// Indices of the true elements, one array per axis.
pub fn nonzero<T: Element>(b: &Torch, x: &TorchArray<T>) -> Result<Vec<TorchArray<i64>>> {
    let on = b.on::<T>("nonzero");
    rules::require_axes(on.op, x.shape())?;
    let rows = on.call(&ops::NONZERO, args![&on.is_nonzero_typed(x)?])?;
    on.list(&ops::UNBIND, args![&rows, 1_i64])?.into_iter().map(|t| on.array(t)).collect()
}

/// Indices of the true elements, one row each.
pub fn argwhere<T: Element>(b: &Torch, x: &TorchArray<T>) -> Result<TorchArray<i64>> {
    let on = b.on::<T>("argwhere");
    on.array(on.call(&ops::NONZERO, args![&on.is_nonzero_typed(x)?])?)
}
