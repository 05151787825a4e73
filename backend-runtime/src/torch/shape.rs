//! Shapes: reordering, joining, splitting, repeating. Views where libtorch has them.

use super::{
    Torch, TorchArray,
    call::{OpContext, args},
    ops,
    strategy::DtypeStrategy,
    tensor::{Number, Tensor},
};
use crate::{Axes, Element, Error, PadMode, Result, shape};

/// The elements, in C order, in another shape.
pub fn reshape<T: Element>(b: &Torch, x: &TorchArray<T>, shape: &[isize]) -> Result<TorchArray<T>> {
    let on = b.on("reshape");
    on.array(on.reshape(x.tensor(), &shape::infer(on.op, x.shape(), shape)?)?)
}

/// The elements, in C order, along one axis.
pub fn flatten<T: Element>(b: &Torch, x: &TorchArray<T>) -> Result<TorchArray<T>> {
    let on = b.on("flatten");
    on.array(on.reshape(x.tensor(), &[x.tensor().size()])?)
}

/// The axes in another order.
pub fn permute_dims<T: Element>(b: &Torch, x: &TorchArray<T>, axes: Axes) -> Result<TorchArray<T>> {
    let on = b.on("permute_dims");
    let ndim = x.shape().len();
    let order = match axes {
        Axes::All => (0..ndim).rev().collect(),
        list => list.resolve(on.op, ndim)?,
    };
    if order.len() != ndim {
        return Err(Error::argument(
            on.op,
            format!("{} axes do not order the {ndim} of shape {:?}", order.len(), x.shape()),
        ));
    }
    on.array(on.permute(x.tensor(), &order)?)
}

/// The axes in reverse order.
pub fn transpose<T: Element>(b: &Torch, x: &TorchArray<T>) -> Result<TorchArray<T>> {
    let on = b.on("transpose");
    let order: Vec<usize> = (0..x.shape().len()).rev().collect();
    on.array(on.permute(x.tensor(), &order)?)
}

/// The last two axes swapped.
pub fn matrix_transpose<T: Element>(b: &Torch, x: &TorchArray<T>) -> Result<TorchArray<T>> {
    let on = b.on("matrix_transpose");
    if x.shape().len() < 2 {
        return Err(Error::shape(on.op, x.shape(), "has no two axes to swap"));
    }
    on.array(on.call(&ops::TRANSPOSE, args![x, -2_i64, -1_i64])?)
}

/// Axes moved to other places.
pub fn moveaxis<T: Element>(b: &Torch, x: &TorchArray<T>, source: Axes, destination: Axes) -> Result<TorchArray<T>> {
    let on = b.on("moveaxis");
    let ndim = x.shape().len();
    let (from, to) = (source.resolve(on.op, ndim)?, destination.resolve(on.op, ndim)?);
    if from.len() != to.len() {
        return Err(Error::argument(on.op, format!("{} axes do not go to {} places", from.len(), to.len())));
    }
    let mut rest = (0..ndim).filter(|a| !from.contains(a));
    let at = |place| to.iter().position(|&t| t == place).map(|i| from[i]);
    let order: Vec<usize> = (0..ndim).filter_map(|place| at(place).or_else(|| rest.next())).collect();
    on.array(on.permute(x.tensor(), &order)?)
}

/// New axes of length 1.
pub fn expand_dims<T: Element>(b: &Torch, x: &TorchArray<T>, axis: Axes) -> Result<TorchArray<T>> {
    let on = b.on("expand_dims");
    let ndim = x.shape().len();
    let count = axis.as_list().map_or(0, <[i8]>::len);
    let mut axes = match axis {
        Axes::All => Vec::new(),
        list => list.resolve(on.op, ndim + count)?,
    };
    axes.sort_unstable();
    let mut lengths = x.shape().to_vec();
    axes.into_iter().for_each(|a| lengths.insert(a, 1));
    on.array(on.reshape(x.tensor(), &lengths)?)
}

/// Without these axes of length 1.
pub fn squeeze<T: Element>(b: &Torch, x: &TorchArray<T>, axis: Axes) -> Result<TorchArray<T>> {
    let on = b.on("squeeze");
    let axes = match axis {
        Axes::All => (0..x.shape().len()).filter(|&a| x.shape()[a] == 1).collect(),
        list => list.resolve(on.op, x.shape().len())?,
    };
    if axes.iter().any(|&a| x.shape()[a] != 1) {
        return Err(Error::shape(on.op, x.shape(), format!("has axes of {axes:?} that are not of length 1")));
    }
    on.array(on.call(&ops::SQUEEZE, args![x, &axes])?)
}

/// Repeated along new and length-1 axes, without copies.
pub fn broadcast_to<T: Element>(b: &Torch, x: &TorchArray<T>, shape: &[usize]) -> Result<TorchArray<T>> {
    let on = b.on("broadcast_to");
    shape::check_broadcast_to(on.op, x.shape(), shape)?;
    shape::count(on.op, shape, size_of::<T>())?;
    on.array(on.call(&ops::EXPAND, args![x, shape])?)
}

/// All arrays in one shape.
pub fn broadcast_arrays<T: Element>(b: &Torch, xs: &[&TorchArray<T>]) -> Result<Vec<TorchArray<T>>> {
    let on = b.on("broadcast_arrays");
    let shape = shape::broadcast_all(on.op, xs.iter().map(|x| x.shape()))?;
    shape::count(on.op, &shape, size_of::<T>())?;
    xs.iter().map(|x| on.array(on.call(&ops::EXPAND, args![*x, &shape])?)).collect()
}

/// The shape of the first array, or an error where there is none.
fn first_shape<'a, T: Element>(on: OpContext<'_>, xs: &[&'a TorchArray<T>]) -> Result<&'a [usize]> {
    xs.first().map(|x| x.shape()).ok_or_else(|| Error::argument(on.op, "needs an array or more"))
}

/// Arrays joined along one axis.
pub fn concat<T: Element>(b: &Torch, xs: &[&TorchArray<T>], axis: isize) -> Result<TorchArray<T>> {
    let on = b.on("concat");
    let first = first_shape(on, xs)?;
    let axis = shape::axis(on.op, axis, first.len())?;
    let mut joined = first.to_vec();
    joined[axis] = 0;
    for x in xs {
        let same = |(i, d): (usize, &usize)| i == axis || first.get(i) == Some(d);
        if x.shape().len() != first.len() || !x.shape().iter().enumerate().all(same) {
            return Err(Error::shapes(on.op, first, x.shape()));
        }
        joined[axis] = joined[axis].saturating_add(x.shape()[axis]);
    }
    shape::count(on.op, &joined, size_of::<T>())?;
    on.array(on.call(&ops::CAT, args![xs, axis])?)
}

/// Arrays of one shape joined along a new axis.
pub fn stack<T: Element>(b: &Torch, xs: &[&TorchArray<T>], axis: isize) -> Result<TorchArray<T>> {
    let on = b.on("stack");
    let first = first_shape(on, xs)?;
    let axis = shape::axis(on.op, axis, first.len() + 1)?;
    if let Some(other) = xs.iter().find(|x| x.shape() != first) {
        return Err(Error::shapes(on.op, first, other.shape()));
    }
    let stacked: Vec<usize> = first.iter().copied().chain([xs.len()]).collect();
    shape::count(on.op, &stacked, size_of::<T>())?;
    on.array(on.call(&ops::STACK, args![xs, axis])?)
}

/// The slices along one axis.
pub fn unstack<T: Element>(b: &Torch, x: &TorchArray<T>, axis: isize) -> Result<Vec<TorchArray<T>>> {
    let on = b.on("unstack");
    let axis = shape::axis(on.op, axis, x.shape().len())?;
    // libtorch makes every slice before it says how many there are
    let n = x.shape()[axis];
    let bytes = n.saturating_mul(size_of::<TorchArray<T>>());
    Vec::<TorchArray<T>>::new().try_reserve_exact(n).map_err(|_| Error::Memory { op: on.op, bytes })?;
    on.list(&ops::UNBIND, args![x, axis])?.into_iter().map(|t| on.array(t)).collect()
}

/// Repeated as a whole along each axis.
pub fn tile<T: Element>(b: &Torch, x: &TorchArray<T>, repetitions: &[usize]) -> Result<TorchArray<T>> {
    let on = b.on("tile");
    let ndim = x.shape().len().max(repetitions.len());
    let aligned = |list: &[usize]| [vec![1; ndim - list.len()], list.to_vec()].concat();
    let (lengths, times) = (aligned(x.shape()), aligned(repetitions));
    let tiled: Vec<usize> = lengths.iter().zip(&times).map(|(d, n)| d.saturating_mul(*n)).collect();
    shape::count(on.op, &tiled, size_of::<T>())?;
    // an axis for the repetitions before each axis, then both as one
    let each = |outer: &[usize]| lengths.iter().zip(outer).flat_map(|(&d, &n)| [n, d]).collect::<Vec<_>>();
    let apart = on.reshape(x.tensor(), &each(&vec![1; ndim]))?;
    on.array(on.reshape(&on.call(&ops::EXPAND, args![&apart, &each(&times)])?, &tiled)?)
}

/// Every element repeated along one axis.
pub fn repeat<T: Element>(b: &Torch, x: &TorchArray<T>, repeats: usize, axis: isize) -> Result<TorchArray<T>> {
    let on = b.on("repeat");
    let axis = shape::axis(on.op, axis, x.shape().len())?;
    let mut repeated = x.shape().to_vec();
    repeated[axis] = repeated[axis].saturating_mul(repeats);
    shape::count(on.op, &repeated, size_of::<T>())?;
    let mut apart = x.shape().to_vec();
    apart.insert(axis + 1, repeats);
    let apart = on.call(&ops::EXPAND, args![&on.call(&ops::UNSQUEEZE, args![x, axis + 1])?, &apart])?;
    on.array(on.reshape(&apart, &repeated)?)
}

/// Elements shifted along axes, around the ends. All axes are those of the flattened array.
pub fn roll<T: Element>(b: &Torch, x: &TorchArray<T>, shift: &[isize], axis: Axes) -> Result<TorchArray<T>> {
    let on = b.on("roll");
    if axis == Axes::All {
        let flat = on.reshape(x.tensor(), &[x.tensor().size()])?;
        let total: i128 = shift.iter().map(|&s| s as i128).sum();
        let rolled = rotate(on, &flat, &[total], &[0])?;
        return on.array(on.reshape(&rolled, x.shape())?);
    }
    let axes = axis.resolve(on.op, x.shape().len())?;
    let shifts: Vec<i128> = match shift {
        [one] => vec![*one as i128; axes.len()],
        many if many.len() == axes.len() => many.iter().map(|&s| s as i128).collect(),
        // one axis takes all shifts, one after the other
        many if axes.len() == 1 => vec![many.iter().map(|&s| s as i128).sum()],
        many => {
            return Err(Error::argument(on.op, format!("{} shifts do not fit {} axes", many.len(), axes.len())));
        }
    };
    on.array(rotate(on, x.tensor(), &shifts, &axes)?)
}

/// Rolls by shifts of any size.
fn rotate(on: OpContext<'_>, x: &Tensor, shifts: &[i128], axes: &[usize]) -> Result<Tensor> {
    let (mut small, mut moved) = (Vec::new(), Vec::new());
    for (&shift, &axis) in shifts.iter().zip(axes) {
        let len = x.shape()[axis].max(1) as i128;
        small.push(shift.rem_euclid(len) as isize);
        moved.push(axis);
    }
    if small.iter().all(|&s| s == 0) || x.size() == 0 {
        return Ok(x.clone());
    }
    on.on_bits(x, |x| on.call(&ops::ROLL, args![x, &small[..], &moved]))
}

/// The order reversed along axes.
pub fn flip<T: Element>(b: &Torch, x: &TorchArray<T>, axis: Axes) -> Result<TorchArray<T>> {
    let on = b.on("flip");
    let axes = axis.resolve(on.op, x.shape().len())?;
    on.array(on.reverse(x.tensor(), &axes)?)
}

/// The zero frequency moved to the middle.
pub fn fftshift<T: Element>(b: &Torch, x: &TorchArray<T>, axes: Axes) -> Result<TorchArray<T>> {
    shift_by(b.on("fftshift"), x, axes, |n| n / 2)
}

/// Inverse of `fftshift`.
pub fn ifftshift<T: Element>(b: &Torch, x: &TorchArray<T>, axes: Axes) -> Result<TorchArray<T>> {
    shift_by(b.on("ifftshift"), x, axes, |n| n - n / 2)
}

fn shift_by<T: Element>(
    on: OpContext<'_>,
    x: &TorchArray<T>,
    axes: Axes,
    shift: fn(usize) -> usize,
) -> Result<TorchArray<T>> {
    let axes = axes.resolve(on.op, x.shape().len())?;
    let shifts: Vec<i128> = axes.iter().map(|&a| shift(x.shape()[a]) as i128).collect();
    on.array(rotate(on, x.tensor(), &shifts, &axes)?)
}

/// A border around the array.
pub fn pad<T: Element>(
    b: &Torch,
    x: &TorchArray<T>,
    widths: &[usize],
    mode: PadMode,
    value: f64,
) -> Result<TorchArray<T>> {
    let on = b.on("pad");
    let lengths = x.shape();
    let pairs: Vec<(usize, usize)> = widths.chunks_exact(2).map(|w| (w[0], w[1])).collect();
    let padded = shape::padded(on.op, lengths, widths)?;
    let n = shape::count(on.op, &padded, size_of::<T>())?;
    shape::check_borders(on.op, lengths, widths, mode)?;
    if n == 0 {
        return on.array(on.full(&padded, T::default())?);
    }
    if mode == PadMode::Constant {
        // libtorch begins with the last axis
        let amounts: Vec<usize> = pairs.iter().rev().flat_map(|&(before, after)| [before, after]).collect();
        let bits = on.enter(DtypeStrategy::Wrap, x)?;
        let value = DtypeStrategy::Wrap.detour(T::DTYPE).enter_number(Number::of(T::from_f64(value)));
        return on.leave(DtypeStrategy::Wrap, on.call(&ops::CONSTANT_PAD, args![&bits, &amounts, value])?);
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

/// Which of `n` elements is at each place of the padded axis.
fn border(on: OpContext<'_>, n: i64, before: i64, padded: usize, mode: PadMode) -> Result<Tensor> {
    let place = on.call(&ops::SUB, args![&on.count_up(padded)?, Number::of(before)])?;
    let modulo = |period: i64| on.call(&ops::REMAINDER, args![&place, Number::of(period)]);
    // the way back of a period that runs there and back: `last - i` where i is beyond the end
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
