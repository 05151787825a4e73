//! Shapes: reordering, joining, splitting, repeating. The results are views if libtorch can make them.

use super::{
    Torch, TorchArray,
    call::{OpContext, args},
    ops,
    strategy::DtypeStrategy,
    tensor::{Number, Tensor},
};
use crate::{
    Axes, Element, PadMode, Result,
    rules::{self, Repeats, Roll},
};

/// The elements, in C order, in another shape.
pub fn reshape<T: Element>(b: &Torch, x: &TorchArray<T>, shape: &[isize]) -> Result<TorchArray<T>> {
    let on = b.on::<T>("reshape");
    on.array(on.reshape(x.tensor(), &rules::infer(on.op, x.shape(), shape)?)?)
}

/// The elements, in C order, along one axis.
pub fn flatten<T: Element>(b: &Torch, x: &TorchArray<T>) -> Result<TorchArray<T>> {
    let on = b.on::<T>("flatten");
    on.array(on.reshape(x.tensor(), &[x.tensor().size()])?)
}

/// The array with its axes in another order.
pub fn permute_dims<T: Element>(b: &Torch, x: &TorchArray<T>, axes: Axes) -> Result<TorchArray<T>> {
    let on = b.on::<T>("permute_dims");
    on.array(on.permute(x.tensor(), &rules::permutation(on.op, axes, x.shape())?)?)
}

/// The array with its axes in reverse order.
pub fn transpose<T: Element>(b: &Torch, x: &TorchArray<T>) -> Result<TorchArray<T>> {
    let on = b.on::<T>("transpose");
    let order: Vec<usize> = (0..x.shape().len()).rev().collect();
    on.array(on.permute(x.tensor(), &order)?)
}

/// The array with its last two axes swapped.
pub fn matrix_transpose<T: Element>(b: &Torch, x: &TorchArray<T>) -> Result<TorchArray<T>> {
    let on = b.on::<T>("matrix_transpose");
    rules::matrix(on.op, x.shape())?;
    on.array(on.call(&ops::TRANSPOSE, args![x, -2_i64, -1_i64])?)
}

/// The array with axes moved to other positions; the other axes keep their order.
pub fn moveaxis<T: Element>(b: &Torch, x: &TorchArray<T>, source: Axes, destination: Axes) -> Result<TorchArray<T>> {
    let on = b.on::<T>("moveaxis");
    let order = rules::moved(on.op, source, destination, x.shape().len())?;
    on.array(on.permute(x.tensor(), &order)?)
}

/// The array with new axes of length 1.
pub fn expand_dims<T: Element>(b: &Torch, x: &TorchArray<T>, axis: Axes) -> Result<TorchArray<T>> {
    let on = b.on::<T>("expand_dims");
    let mut lengths = x.shape().to_vec();
    rules::new_axes(on.op, axis, lengths.len())?.into_iter().for_each(|a| lengths.insert(a, 1));
    on.array(on.reshape(x.tensor(), &lengths)?)
}

/// The array without these axes, which must have length 1.
pub fn squeeze<T: Element>(b: &Torch, x: &TorchArray<T>, axis: Axes) -> Result<TorchArray<T>> {
    let on = b.on::<T>("squeeze");
    on.array(on.call(&ops::SQUEEZE, args![x, &rules::single_axes(on.op, axis, x.shape())?])?)
}

/// The array repeated along new axes and along axes of length 1, without a copy.
pub fn broadcast_to<T: Element>(b: &Torch, x: &TorchArray<T>, shape: &[usize]) -> Result<TorchArray<T>> {
    let on = b.on::<T>("broadcast_to");
    rules::check_broadcast_to(on.op, x.shape(), shape)?;
    rules::count(on.op, shape, size_of::<T>())?;
    on.array(on.call(&ops::EXPAND, args![x, shape])?)
}

/// All arrays broadcast to a common shape, without copies.
pub fn broadcast_arrays<T: Element>(b: &Torch, xs: &[&TorchArray<T>]) -> Result<Vec<TorchArray<T>>> {
    let on = b.on::<T>("broadcast_arrays");
    let shape = rules::broadcast_all(on.op, xs.iter().map(|x| x.shape()))?;
    rules::count(on.op, &shape, size_of::<T>())?;
    xs.iter().map(|x| on.array(on.call(&ops::EXPAND, args![*x, &shape])?)).collect()
}

/// Joins arrays along one axis; without an axis, flattens them first.
pub fn concat<T: Element>(b: &Torch, xs: &[&TorchArray<T>], axis: Option<isize>) -> Result<TorchArray<T>> {
    let on = b.on::<T>("concat");
    let shapes: Vec<&[usize]> = xs.iter().map(|x| x.shape()).collect();
    let Some(axis) = axis else {
        rules::joined_rows(on.op, &shapes, size_of::<T>())?;
        let rows = xs.iter().map(|x| on.reshape(x.tensor(), &[x.tensor().size()])).collect::<Result<Vec<_>>>()?;
        return on.array(on.call(&ops::CAT, args![&rows[..], 0_i64])?);
    };
    let (axis, _) = rules::joined(on.op, &shapes, axis, size_of::<T>())?;
    on.array(on.call(&ops::CAT, args![xs, axis])?)
}

/// Joins arrays of the same shape along a new axis.
pub fn stack<T: Element>(b: &Torch, xs: &[&TorchArray<T>], axis: isize) -> Result<TorchArray<T>> {
    let on = b.on::<T>("stack");
    let shapes: Vec<&[usize]> = xs.iter().map(|x| x.shape()).collect();
    let (axis, _) = rules::stacked(on.op, &shapes, axis, size_of::<T>())?;
    on.array(on.call(&ops::STACK, args![xs, axis])?)
}

/// The slices along one axis, without the axis.
pub fn unstack<T: Element>(b: &Torch, x: &TorchArray<T>, axis: isize) -> Result<Vec<TorchArray<T>>> {
    let on = b.on::<T>("unstack");
    let axis = rules::axis(on.op, axis, x.shape().len())?;
    // the number of slices is checked first, because libtorch would create every slice
    rules::list::<TorchArray<T>>(on.op, x.shape()[axis])?;
    on.list(&ops::UNBIND, args![x, axis])?.into_iter().map(|t| on.array(t)).collect()
}

/// Repeats the array as a whole along each axis.
pub fn tile<T: Element>(b: &Torch, x: &TorchArray<T>, repetitions: &[usize]) -> Result<TorchArray<T>> {
    let on = b.on::<T>("tile");
    let repeats = rules::tiled(on.op, x.shape(), repetitions, size_of::<T>())?;
    repeated(on, x, &repeats)
}

/// Repeats every element along one axis; without an axis, the array is flattened first.
pub fn repeat<T: Element>(b: &Torch, x: &TorchArray<T>, repeats: usize, axis: Option<isize>) -> Result<TorchArray<T>> {
    let on = b.on::<T>("repeat");
    let row = [x.tensor().size()];
    let shape = if axis.is_some() { x.shape() } else { &row };
    let (_, repeats) = rules::repeated(on.op, shape, repeats, axis.unwrap_or(0), size_of::<T>())?;
    repeated(on, x, &repeats)
}

fn repeated<T: Element>(on: OpContext<'_>, x: &TorchArray<T>, repeats: &Repeats) -> Result<TorchArray<T>> {
    if repeats.shape.contains(&0) {
        return on.array(on.full_typed(&repeats.shape, T::default())?);
    }
    let apart = on.reshape(x.tensor(), &repeats.apart)?;
    on.array(on.reshape(&on.call(&ops::EXPAND, args![&apart, &repeats.target])?, &repeats.shape)?)
}

/// Shifts elements along axes; elements pushed beyond one end reappear at the other end. `Axes::All` rolls the
/// flattened array.
pub fn roll<T: Element>(b: &Torch, x: &TorchArray<T>, shift: &[isize], axis: Axes) -> Result<TorchArray<T>> {
    let on = b.on::<T>("roll");
    match rules::roll(on.op, shift, axis, x.shape())? {
        Roll::Axes(shifts) => on.array(rotate(on, x.tensor(), &shifts)?),
        Roll::Row(shift) => {
            let flat = on.reshape(x.tensor(), &[x.tensor().size()])?;
            on.array(on.reshape(&rotate(on, &flat, &[shift])?, x.shape())?)
        }
    }
}

/// Rolls each axis by its shift.
pub(super) fn rotate(on: OpContext<'_>, x: &Tensor, shifts: &[usize]) -> Result<Tensor> {
    if x.size() == 0 || shifts.iter().all(|&shift| shift == 0) {
        return Ok(x.clone());
    }
    let axes: Vec<usize> = (0..shifts.len()).collect();
    on.on_bits(x, |x| on.call(&ops::ROLL, args![x, shifts, &axes]))
}

/// Reverses the order of elements along axes.
pub fn flip<T: Element>(b: &Torch, x: &TorchArray<T>, axis: Axes) -> Result<TorchArray<T>> {
    let on = b.on::<T>("flip");
    let axes = axis.resolve(on.op, x.shape().len())?;
    on.array(on.reverse(x.tensor(), &axes)?)
}

/// Pads the array with a border.
pub fn pad<T: Element>(
    b: &Torch,
    x: &TorchArray<T>,
    widths: &[usize],
    mode: PadMode,
    value: crate::Number,
) -> Result<TorchArray<T>> {
    let on = b.on::<T>("pad");
    let value = value.element::<T>(on.op)?;
    let lengths = x.shape();
    let (widths, padded) = rules::padded(on.op, lengths, widths, mode, size_of::<T>())?;
    let pairs: Vec<(usize, usize)> = widths.chunks_exact(2).map(|w| (w[0], w[1])).collect();
    if padded.contains(&0) {
        return on.array(on.full_typed(&padded, T::default())?);
    }
    if mode == PadMode::Constant {
        // libtorch expects the widths of the last axis first
        let amounts: Vec<usize> = pairs.iter().rev().flat_map(|&(before, after)| [before, after]).collect();
        let bits = on.enter_typed(DtypeStrategy::Wrap, x)?;
        let value = DtypeStrategy::Wrap.detour(T::DTYPE).enter_number(Number::of(value));
        return on.leave_typed(DtypeStrategy::Wrap, on.call(&ops::CONSTANT_PAD, args![&bits, &amounts, value])?);
    }
    let mut result = x.tensor().clone();
    for (axis, &(before, after)) in pairs.iter().enumerate() {
        if before == 0 && after == 0 {
            continue;
        }
        let sources = border(on, lengths[axis] as i64, before as i64, padded[axis], mode)?;
        result = on.pick(&result, axis, &sources)?;
    }
    on.array(result)
}

/// The index in `0 .. n` of the source element for each position of the padded axis.
fn border(on: OpContext<'_>, n: i64, before: i64, padded: usize, mode: PadMode) -> Result<Tensor> {
    let place = on.call(&ops::SUB, args![&on.count_up(padded)?, Number::of(before)])?;
    let modulo = |period: i64| on.call(&ops::REMAINDER, args![&place, Number::of(period)]);
    // within one period the indices run forth and back: an index `i` beyond the end becomes `last - i`
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
