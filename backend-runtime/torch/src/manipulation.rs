//! Reordering, joining, splitting and repeating. The results are views if libtorch can make them.

use super::{
    call::{OpContext, args},
    ops,
    strategy::DtypeStrategy,
    tensor::{Arg, Number, Tensor, Tensors},
};
use backend_core::{
    Axes, PadMode, Result, dispatch,
    raw::RawElement,
    rules::{self, Repeats, Roll},
};

/// The elements in another shape. They keep their C order.
pub fn reshape(on: OpContext<'_>, x: &Tensor, shape: &[isize]) -> Result<Tensor> {
    on.reshape(x, &rules::infer(on.op, x.shape(), shape)?)
}

/// The elements in C order, as a one-dimensional array.
pub fn flatten(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    on.reshape(x, &[x.size()])
}

/// The array with its axes in another order.
pub fn permute_dims(on: OpContext<'_>, x: &Tensor, axes: Axes) -> Result<Tensor> {
    on.permute(x, &rules::permutation(on.op, axes, x.shape())?)
}

/// The array with its axes in reverse order.
pub fn transpose(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    let order: Vec<usize> = (0..x.ndim()).rev().collect();
    on.permute(x, &order)
}

/// The array with its last two axes swapped.
pub fn matrix_transpose(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    rules::matrix(on.op, x.shape())?;
    on.call(&ops::TRANSPOSE, args![x, -2_i64, -1_i64])
}

/// The array with axes moved to other positions; the other axes keep their order.
pub fn moveaxis(on: OpContext<'_>, x: &Tensor, source: Axes, destination: Axes) -> Result<Tensor> {
    let order = rules::moved(on.op, source, destination, x.ndim())?;
    on.permute(x, &order)
}

/// The array with new axes of length 1.
pub fn expand_dims(on: OpContext<'_>, x: &Tensor, axis: Axes) -> Result<Tensor> {
    let mut lengths = x.shape().to_vec();
    rules::new_axes(on.op, axis, lengths.len())?.into_iter().for_each(|a| lengths.insert(a, 1));
    on.reshape(x, &lengths)
}

/// The array without the given axes, which must have length 1.
pub fn squeeze(on: OpContext<'_>, x: &Tensor, axis: Axes) -> Result<Tensor> {
    on.call(&ops::SQUEEZE, args![x, &rules::single_axes(on.op, axis, x.shape())?])
}

/// The array repeated along new axes and along axes of length 1, without a copy.
pub fn broadcast_to(on: OpContext<'_>, x: &Tensor, shape: &[usize]) -> Result<Tensor> {
    rules::check_broadcast_to(on.op, x.shape(), shape)?;
    rules::count(on.op, shape, on.dtype.size())?;
    on.call(&ops::EXPAND, args![x, shape])
}

/// All arrays broadcast to a common shape, without copies.
pub fn broadcast_arrays(on: OpContext<'_>, xs: &[&Tensor]) -> Result<Vec<Tensor>> {
    let shape = rules::broadcast_all(on.op, xs.iter().map(|x| x.shape()))?;
    rules::count(on.op, &shape, on.dtype.size())?;
    xs.iter().map(|x| on.call(&ops::EXPAND, args![*x, &shape])).collect()
}

/// Converts a list of arrays to an argument for a libtorch op.
fn list<'a>(xs: &[&'a Tensor]) -> Arg<'a> {
    Arg::Tensors(Tensors::of(xs.iter().copied().map(Some)))
}

/// Joins arrays along one axis; without an axis, flattens them first.
pub fn concat(on: OpContext<'_>, xs: &[&Tensor], axis: Option<isize>) -> Result<Tensor> {
    on.require(xs)?;
    let shapes: Vec<&[usize]> = xs.iter().map(|x| x.shape()).collect();
    let Some(axis) = axis else {
        rules::joined_rows(on.op, &shapes, on.dtype.size())?;
        let rows = xs.iter().map(|x| on.reshape(x, &[x.size()])).collect::<Result<Vec<_>>>()?;
        return on.call(&ops::CAT, args![&rows[..], 0_i64]);
    };
    let (axis, _) = rules::joined(on.op, &shapes, axis, on.dtype.size())?;
    on.call(&ops::CAT, args![list(xs), axis])
}

/// Joins arrays of the same shape along a new axis.
pub fn stack(on: OpContext<'_>, xs: &[&Tensor], axis: isize) -> Result<Tensor> {
    on.require(xs)?;
    let shapes: Vec<&[usize]> = xs.iter().map(|x| x.shape()).collect();
    let (axis, _) = rules::stacked(on.op, &shapes, axis, on.dtype.size())?;
    on.call(&ops::STACK, args![list(xs), axis])
}

/// Returns the slices along one axis. The slices do not have this axis.
pub fn unstack(on: OpContext<'_>, x: &Tensor, axis: isize) -> Result<Vec<Tensor>> {
    let axis = rules::axis(on.op, axis, x.ndim())?;
    // the number of slices is checked first, because libtorch would create every slice
    rules::list::<Tensor>(on.op, x.shape()[axis])?;
    on.list(&ops::UNBIND, args![x, axis])
}

/// Repeats the array as a whole along each axis.
pub fn tile(on: OpContext<'_>, x: &Tensor, repetitions: &[usize]) -> Result<Tensor> {
    let repeats = rules::tiled(on.op, x.shape(), repetitions, on.dtype.size())?;
    repeated(on, x, &repeats)
}

/// Repeats every element along one axis; without an axis, the array is flattened first.
pub fn repeat(on: OpContext<'_>, x: &Tensor, repeats: usize, axis: Option<isize>) -> Result<Tensor> {
    let row = [x.size()];
    let shape = if axis.is_some() { x.shape() } else { &row };
    let (_, repeats) = rules::repeated(on.op, shape, repeats, axis.unwrap_or(0), on.dtype.size())?;
    repeated(on, x, &repeats)
}

fn repeated(on: OpContext<'_>, x: &Tensor, repeats: &Repeats) -> Result<Tensor> {
    if repeats.shape.contains(&0) {
        return on.full(&repeats.shape, RawElement::zero(on.dtype));
    }
    let apart = on.reshape(x, &repeats.apart)?;
    on.reshape(&on.call(&ops::EXPAND, args![&apart, &repeats.target])?, &repeats.shape)
}

/// Shifts elements along axes; elements pushed beyond one end reappear at the other end. `Axes::All` rolls the
/// flattened array.
pub fn roll(on: OpContext<'_>, x: &Tensor, shift: &[isize], axis: Axes) -> Result<Tensor> {
    match rules::roll(on.op, shift, axis, x.shape())? {
        Roll::Axes(shifts) => rotate(on, x, &shifts),
        Roll::Row(shift) => {
            let flat = on.reshape(x, &[x.size()])?;
            on.reshape(&rotate(on, &flat, &[shift])?, x.shape())
        }
    }
}

/// Rolls (cyclically shifts) each axis k of `x` by `shifts[k]`.
pub(super) fn rotate(on: OpContext<'_>, x: &Tensor, shifts: &[usize]) -> Result<Tensor> {
    if x.size() == 0 || shifts.iter().all(|&shift| shift == 0) {
        return Ok(x.clone());
    }
    let axes: Vec<usize> = (0..shifts.len()).collect();
    on.on_bits(x, |x| on.call(&ops::ROLL, args![x, shifts, &axes]))
}

/// Reverses the order of elements along axes.
pub fn flip(on: OpContext<'_>, x: &Tensor, axis: Axes) -> Result<Tensor> {
    let axes = axis.resolve(on.op, x.ndim())?;
    on.reverse(x, &axes)
}

/// Pads the array with a border, of the constant `value` or of elements of the array.
pub fn pad(
    on: OpContext<'_>,
    x: &Tensor,
    widths: &[usize],
    mode: PadMode,
    value: backend_core::Number,
) -> Result<Tensor> {
    let value = dispatch!(on.dtype, T => value.element::<T>(on.op).map(RawElement::of))?;
    let lengths = x.shape();
    let (widths, padded) = rules::padded(on.op, lengths, widths, mode, on.dtype.size())?;
    let pairs: Vec<(usize, usize)> = widths.chunks_exact(2).map(|w| (w[0], w[1])).collect();
    if padded.contains(&0) {
        return on.full(&padded, RawElement::zero(on.dtype));
    }
    if mode == PadMode::Constant {
        // libtorch expects the widths of the last axis first
        let amounts: Vec<usize> = pairs.iter().rev().flat_map(|&(before, after)| [before, after]).collect();
        let bits = on.enter(DtypeStrategy::Wrap, x)?;
        let value = DtypeStrategy::Wrap.detour(on.dtype).enter_number(value.into());
        return on.leave(DtypeStrategy::Wrap, on.call(&ops::CONSTANT_PAD, args![&bits, &amounts, value])?);
    }
    let mut result = x.clone();
    for (axis, &(before, after)) in pairs.iter().enumerate() {
        if before == 0 && after == 0 {
            continue;
        }
        let sources = border(on, lengths[axis] as i64, before as i64, padded[axis], mode)?;
        result = on.pick(&result, axis, &sources)?;
    }
    Ok(result)
}

/// Returns, for each position of the padded axis, the index in `0 .. n` of the element that is copied there.
fn border(on: OpContext<'_>, n: i64, before: i64, padded: usize, mode: PadMode) -> Result<Tensor> {
    let place = on.call(&ops::SUB, args![&on.count_up(padded)?, Number::of(before)])?;
    let modulo = |period: i64| on.call(&ops::REMAINDER, args![&place, Number::of(period)]);
    // within one period the indices run forward and back: an index `i` beyond the end becomes `last - i`
    let mirrored = |period: i64, last: i64| {
        let there = modulo(period)?;
        let back = on.call(&ops::SUB, args![&on.number(Number::of(last))?, &there])?;
        on.select(&on.call(&ops::GE, args![&there, Number::of(n)])?, &back, &there)
    };
    match mode {
        PadMode::Wrap => modulo(n),
        PadMode::Reflect if n > 1 => mirrored(2 * (n - 1), 2 * (n - 1)),
        PadMode::Symmetric => mirrored(2 * n, 2 * n - 1),
        _ => on.call(&ops::CLAMP, args![&place, 0_i64, n - 1]),
    }
}
