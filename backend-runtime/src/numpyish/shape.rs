//! Reordering, joining, splitting, repeating. What only changes how memory is read is a view of the same memory.

use super::{NdArray, Numpyish, buffer, copy};
use crate::{Axes, Element, Error, PadMode, Result, shape};
use ndarray::{ArrayView, Axis, IxDyn, Slice};
use std::mem::MaybeUninit;

/// An array written by `fill`, in C order.
///
/// # Safety
/// `fill` writes every element.
unsafe fn written<T: Element>(
    op: &'static str,
    shape: &[usize],
    fill: impl FnOnce(&mut [MaybeUninit<T>], &[isize]),
) -> Result<NdArray<T>> {
    let strides = shape::c_strides(shape);
    // SAFETY: as the caller promises.
    unsafe { buffer::build(op, shape, |out| fill(out, &strides)) }
}

/// The elements, in C order, in another shape: a view where memory allows it.
pub fn reshape<T: Element>(_: &Numpyish, x: &NdArray<T>, to: &[isize]) -> Result<NdArray<T>> {
    reshaped("reshape", x, &shape::infer("reshape", x.shape(), to)?)
}

fn reshaped<T: Element>(op: &'static str, x: &NdArray<T>, to: &[usize]) -> Result<NdArray<T>> {
    shape::count(op, to, size_of::<T>())?;
    if x.is_standard_layout()
        && let Ok(view) = x.clone().into_shape_with_order(IxDyn(to))
    {
        return Ok(view);
    }
    buffer::array(op, to, copy::to_vec(op, x.view())?)
}

/// The elements, in C order, along one axis.
pub fn flatten<T: Element>(_: &Numpyish, x: &NdArray<T>) -> Result<NdArray<T>> {
    reshaped("flatten", x, &[x.len()])
}

/// The axes in another order.
pub fn permute_dims<T: Element>(_: &Numpyish, x: &NdArray<T>, axes: Axes) -> Result<NdArray<T>> {
    const OP: &str = "permute_dims";
    let axes = axes.resolve(OP, x.ndim())?;
    if axes.len() != x.ndim() {
        return Err(Error::shape(OP, x.shape(), format!("{axes:?} does not name every axis")));
    }
    Ok(x.clone().permuted_axes(axes))
}

/// The axes in reverse order.
pub fn transpose<T: Element>(_: &Numpyish, x: &NdArray<T>) -> Result<NdArray<T>> {
    Ok(x.clone().reversed_axes())
}

/// The last two axes swapped.
pub fn matrix_transpose<T: Element>(_: &Numpyish, x: &NdArray<T>) -> Result<NdArray<T>> {
    let n = x.ndim();
    if n < 2 {
        return Err(Error::shape("matrix_transpose", x.shape(), "a matrix has two axes"));
    }
    let mut view = x.clone();
    view.swap_axes(n - 2, n - 1);
    Ok(view)
}

/// Axes moved to other places; the rest keep their order.
pub fn moveaxis<T: Element>(_: &Numpyish, x: &NdArray<T>, source: Axes, destination: Axes) -> Result<NdArray<T>> {
    let order = shape::moved("moveaxis", source, destination, x.ndim())?;
    Ok(x.clone().permuted_axes(order))
}

/// New axes of length 1.
pub fn expand_dims<T: Element>(_: &Numpyish, x: &NdArray<T>, axis: Axes) -> Result<NdArray<T>> {
    let axes = shape::new_axes("expand_dims", axis, x.ndim())?;
    Ok(axes.into_iter().fold(x.clone(), |x, axis| x.insert_axis(Axis(axis))))
}

/// Without these axes, which have length 1.
pub fn squeeze<T: Element>(_: &Numpyish, x: &NdArray<T>, axis: Axes) -> Result<NdArray<T>> {
    let axes = shape::single_axes("squeeze", axis, x.shape())?;
    Ok(axes.into_iter().rev().fold(x.clone(), |x, axis| x.index_axis_move(Axis(axis), 0)))
}

/// Repeated along new and length-1 axes, as a view.
pub fn broadcast_to<T: Element>(_: &Numpyish, x: &NdArray<T>, to: &[usize]) -> Result<NdArray<T>> {
    const OP: &str = "broadcast_to";
    shape::check_broadcast_to(OP, x.shape(), to)?;
    widened(OP, x, to)
}

/// A view with axes of stride 0. Writing to it would be a copy first: its memory is shared.
fn widened<T: Element>(op: &'static str, x: &NdArray<T>, to: &[usize]) -> Result<NdArray<T>> {
    shape::count(op, to, size_of::<T>())?;
    let view = x.broadcast(IxDyn(to)).ok_or_else(|| Error::shapes(op, x.shape(), to))?;
    if view.shape() == x.shape() {
        return Ok(x.clone());
    }
    // ndarray has no shared array with axes of stride 0: the repeated elements are written out
    buffer::array(op, to, copy::to_vec(op, view)?)
}

/// All arrays broadcast to one shape.
pub fn broadcast_arrays<T: Element>(_: &Numpyish, xs: &[&NdArray<T>]) -> Result<Vec<NdArray<T>>> {
    const OP: &str = "broadcast_arrays";
    let to = shape::broadcast_all(OP, xs.iter().map(|x| x.shape()))?;
    xs.iter().map(|x| widened(OP, x, &to)).collect()
}

/// Arrays joined along one axis.
pub fn concat<T: Element>(_: &Numpyish, xs: &[&NdArray<T>], axis: isize) -> Result<NdArray<T>> {
    const OP: &str = "concat";
    let shapes: Vec<&[usize]> = xs.iter().map(|x| x.shape()).collect();
    let (axis, shape) = shape::joined(OP, &shapes, axis)?;
    joined(OP, &shape, axis, xs.iter().map(|x| x.view()))
}

fn joined<'a, T: Element>(
    op: &'static str,
    shape: &[usize],
    axis: usize,
    parts: impl Iterator<Item = ArrayView<'a, T, IxDyn>>,
) -> Result<NdArray<T>> {
    // SAFETY: along the axis the parts fill the result without a gap; their other axes have its lengths.
    unsafe {
        written(op, shape, |out, strides| {
            let mut at = 0;
            for part in parts {
                let len = part.len_of(Axis(axis));
                copy::place(out, at * strides[axis] as usize, strides, part);
                at += len;
            }
        })
    }
}

/// Arrays of one shape joined along a new axis.
pub fn stack<T: Element>(_: &Numpyish, xs: &[&NdArray<T>], axis: isize) -> Result<NdArray<T>> {
    const OP: &str = "stack";
    let shapes: Vec<&[usize]> = xs.iter().map(|x| x.shape()).collect();
    let (axis, shape) = shape::stacked(OP, &shapes, axis)?;
    joined(OP, &shape, axis, xs.iter().map(|x| x.view().insert_axis(Axis(axis))))
}

/// The slices along one axis, as views.
pub fn unstack<T: Element>(_: &Numpyish, x: &NdArray<T>, axis: isize) -> Result<Vec<NdArray<T>>> {
    let axis = shape::axis("unstack", axis, x.ndim())?;
    let mut parts = buffer::vec("unstack", x.shape()[axis])?;
    parts.extend((0..x.shape()[axis]).map(|i| x.clone().index_axis_move(Axis(axis), i)));
    Ok(parts)
}

/// The array repeated along each axis.
pub fn tile<T: Element>(_: &Numpyish, x: &NdArray<T>, repetitions: &[usize]) -> Result<NdArray<T>> {
    const OP: &str = "tile";
    let n = x.ndim().max(repetitions.len());
    let front = |list: &[usize]| [vec![1; n - list.len()], list.to_vec()].concat();
    let (lengths, times) = (front(x.shape()), front(repetitions));
    let shape = shape::products(OP, &lengths, &times)?;
    // an axis of `times` times `length` elements is two: one repeats, one runs
    let pairs: Vec<usize> = times.iter().zip(&lengths).flat_map(|(&t, &l)| [t, l]).collect();
    let mut view = (0..x.ndim()).rev().fold(x.view(), |view, axis| view.insert_axis(Axis(axis)));
    for _ in 2 * x.ndim()..2 * n {
        view = view.insert_axis(Axis(0));
    }
    repeated(OP, view, &pairs, &shape)
}

/// Every element repeated along one axis.
pub fn repeat<T: Element>(_: &Numpyish, x: &NdArray<T>, repeats: usize, axis: isize) -> Result<NdArray<T>> {
    const OP: &str = "repeat";
    let axis = shape::axis(OP, axis, x.ndim())?;
    let mut times = vec![1; x.ndim()];
    times[axis] = repeats;
    let shape = shape::products(OP, x.shape(), &times)?;
    let mut pairs = x.shape().to_vec();
    pairs.insert(axis + 1, repeats);
    repeated(OP, x.view().insert_axis(Axis(axis + 1)), &pairs, &shape)
}

/// A view broadcast to `target`, and read as `shape`.
fn repeated<T: Element>(
    op: &'static str,
    x: ArrayView<'_, T, IxDyn>,
    target: &[usize],
    shape: &[usize],
) -> Result<NdArray<T>> {
    if shape::count(op, shape, size_of::<T>())? == 0 {
        return buffer::array(op, shape, Vec::new());
    }
    let view = x.broadcast(IxDyn(target)).ok_or_else(|| Error::shapes(op, x.shape(), target))?;
    buffer::array(op, shape, copy::to_vec(op, view)?)
}

/// Elements shifted along axes, round the end.
pub fn roll<T: Element>(_: &Numpyish, x: &NdArray<T>, shift: &[isize], axis: Axes) -> Result<NdArray<T>> {
    const OP: &str = "roll";
    if axis == Axes::All && x.ndim() != 1 {
        // without axes the elements are shifted as one row, as NumPy does
        let row = rolled(OP, &reshaped(OP, x, &[x.len()])?, &shape::shifts(OP, shift, Axes::All, &[x.len()])?)?;
        return reshaped(OP, &row, x.shape());
    }
    rolled(OP, x, &shape::shifts(OP, shift, axis, x.shape())?)
}

/// By `shifts[k]`, in 0..length, along axis k.
fn rolled<T: Element>(op: &'static str, x: &NdArray<T>, shifts: &[usize]) -> Result<NdArray<T>> {
    if x.is_empty() || shifts.iter().all(|&s| s == 0) {
        return Ok(x.clone());
    }
    let moved: Vec<usize> = (0..x.ndim()).filter(|&k| shifts[k] > 0).collect();
    // SAFETY: along each axis the two parts, behind and before the seam, fill the result; so do their combinations.
    unsafe {
        written(op, x.shape(), |out, strides| {
            for corner in 0..1_usize << moved.len() {
                let mut part = x.view();
                let mut start = 0;
                for (bit, &axis) in moved.iter().enumerate() {
                    let (len, shift) = (x.shape()[axis], shifts[axis]);
                    let seam = (len - shift) as isize;
                    let range = if corner >> bit & 1 == 0 { (0, seam) } else { (seam, len as isize) };
                    part.slice_axis_inplace(Axis(axis), Slice::new(range.0, Some(range.1), 1));
                    start += (range.0 as usize + shift) % len * strides[axis] as usize;
                }
                copy::place(out, start, strides, part);
            }
        })
    }
}

/// The zero frequency moved to the middle of the axes.
pub fn fftshift<T: Element>(_: &Numpyish, x: &NdArray<T>, axes: Axes) -> Result<NdArray<T>> {
    const OP: &str = "fftshift";
    rolled(OP, x, &shape::halves(OP, axes, x.shape(), |n| n / 2)?)
}

/// Inverse of fftshift.
pub fn ifftshift<T: Element>(_: &Numpyish, x: &NdArray<T>, axes: Axes) -> Result<NdArray<T>> {
    const OP: &str = "ifftshift";
    rolled(OP, x, &shape::halves(OP, axes, x.shape(), |n| n.div_ceil(2))?)
}

/// The order of elements reversed along axes, as a view.
pub fn flip<T: Element>(_: &Numpyish, x: &NdArray<T>, axis: Axes) -> Result<NdArray<T>> {
    let mut view = x.clone();
    for axis in axis.resolve("flip", x.ndim())? {
        view.invert_axis(Axis(axis));
    }
    Ok(view)
}

/// The array with a border.
pub fn pad<T: Element>(
    _: &Numpyish,
    x: &NdArray<T>,
    widths: &[usize],
    mode: PadMode,
    value: f64,
) -> Result<NdArray<T>> {
    const OP: &str = "pad";
    let shape = shape::padded(OP, x.shape(), widths)?;
    let n = shape::count(OP, &shape, size_of::<T>())?;
    if mode == PadMode::Constant {
        return bordered(OP, x, &shape, widths, T::from_f64(value));
    }
    shape::check_borders(OP, x.shape(), widths, mode)?;
    if n == 0 {
        return buffer::array(OP, &shape, Vec::new());
    }
    let mut axes = Vec::with_capacity(x.ndim());
    for (&len, width) in x.shape().iter().zip(widths.chunks_exact(2)) {
        axes.push(match width {
            [0, 0] => vec![Run { to: 0, from: 0, len, step: 1 }],
            _ => runs(OP, &shape::pad_sources(OP, len, width[0], width[1], mode)?)?,
        });
    }
    // SAFETY: the runs of an axis cover it without a gap, so their combinations cover the result.
    unsafe {
        written(OP, &shape, |out, strides| {
            combinations(&axes, |cell| place_runs(out, strides, x, cell));
        })
    }
}

/// [`pad`] with one value: slabs before and after every axis, then the array.
fn bordered<T: Element>(
    op: &'static str,
    x: &NdArray<T>,
    shape: &[usize],
    widths: &[usize],
    value: T,
) -> Result<NdArray<T>> {
    let value = ndarray::aview0(&value).into_dyn();
    // SAFETY: what is before or behind the array along some axis is in the slab of the first such axis, and the rest is
    // the array.
    unsafe {
        written(op, shape, |out, strides| {
            // the part of the result that the slabs of the axes so far leave
            let (mut lengths, mut start) = (shape.to_vec(), 0);
            for (axis, width) in widths.chunks_exact(2).enumerate() {
                let (len, stride) = (x.shape()[axis], strides[axis] as usize);
                for (skipped, width) in [(0, width[0]), (width[0] + len, width[1])] {
                    lengths[axis] = width;
                    if let Some(slab) = value.broadcast(IxDyn(&lengths)) {
                        copy::place(out, start + skipped * stride, strides, slab);
                    }
                }
                lengths[axis] = len;
                start += width[0] * stride;
            }
            copy::place(out, start, strides, x.view());
        })
    }
}

/// Neighbours along an axis of a result that are neighbours in its source: forward, backward, or one element repeated.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    to: usize,
    from: usize,
    len: usize,
    step: isize,
}

/// The runs of a list of indices.
fn runs(op: &'static str, sources: &[usize]) -> Result<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    for (to, &from) in sources.iter().enumerate() {
        if let Some(run) = runs.last_mut() {
            let step = from as isize - (run.from as isize + (run.len as isize - 1) * run.step);
            if step == run.step || (run.len == 1 && step.abs() <= 1) {
                (run.step, run.len) = (step, run.len + 1);
                continue;
            }
        }
        runs.try_reserve(1).map_err(|_| Error::Memory { op, bytes: size_of_val(&runs[..]) })?;
        runs.push(Run { to, from, len: 1, step: 1 });
    }
    Ok(runs)
}

/// Calls `f` with every combination of one run per axis.
fn combinations(axes: &[Vec<Run>], mut f: impl FnMut(&[Run])) {
    let mut at = vec![0; axes.len()];
    loop {
        let cell: Vec<Run> = axes.iter().zip(&at).map(|(runs, &i)| runs[i]).collect();
        f(&cell);
        let Some(k) = (0..axes.len()).rev().find(|&k| at[k] + 1 < axes[k].len()) else {
            return;
        };
        at[k] += 1;
        at[k + 1..].fill(0);
    }
}

/// Places the part of the array that one run of every axis reads.
fn place_runs<T: Element>(out: &mut [MaybeUninit<T>], strides: &[isize], x: &NdArray<T>, cell: &[Run]) {
    let mut part = x.view();
    let mut start = 0;
    for (axis, run) in cell.iter().enumerate() {
        let last = (run.from as isize + (run.len as isize - 1) * run.step) as usize;
        let range = (run.from.min(last) as isize, run.from.max(last) as isize + 1);
        let step = if run.step < 0 { -1 } else { 1 };
        part.slice_axis_inplace(Axis(axis), Slice::new(range.0, Some(range.1), step));
        start += run.to * strides[axis] as usize;
    }
    let lengths: Vec<usize> = cell.iter().map(|run| run.len).collect();
    let part = part.broadcast(IxDyn(&lengths)).expect("a run has its length, or repeats one element");
    copy::place(out, start, strides, part);
}

#[cfg(test)]
mod tests {
    use super::super::copy::tests::Dice;
    use super::*;
    use crate::Arrays;
    use ndarray::Dimension;

    const B: Numpyish = Numpyish::new();

    fn counting(shape: &[usize]) -> NdArray<i32> {
        let n = shape.iter().product::<usize>() as i32;
        buffer::array("test", shape, (0..n).collect()).unwrap()
    }

    fn list(x: &NdArray<i32>) -> Vec<i32> {
        x.iter().copied().collect()
    }

    #[test]
    fn views_share_memory() {
        let x = counting(&[2, 3, 4]);
        let same = |y: NdArray<i32>| y.as_ptr() == x.as_ptr();
        assert!(same(reshape(&B, &x, &[-1, 4]).unwrap()));
        assert!(same(permute_dims(&B, &x, [2, 0, 1].into()).unwrap()));
        assert!(same(expand_dims(&B, &x, [0, -1].into()).unwrap()));
        assert!(same(unstack(&B, &x, 1).unwrap().remove(0)));
        assert_eq!(flip(&B, &x, Axes::All).unwrap().as_ptr(), x.as_ptr().wrapping_add(23));
        assert_eq!(B.shape(&moveaxis(&B, &x, 0.into(), (-1).into()).unwrap()), [3, 4, 2]);
    }

    #[test]
    fn wrong_axes_and_lengths_are_errors() {
        let x = counting(&[2, 3]);
        assert!(permute_dims(&B, &x, 0.into()).is_err());
        assert!(permute_dims(&B, &x, [0, 0].into()).is_err());
        assert!(squeeze(&B, &x, 0.into()).is_err());
        assert!(expand_dims(&B, &x, 4.into()).is_err());
        assert!(reshape(&B, &x, &[4, 2]).is_err());
        assert!(matrix_transpose(&B, &counting(&[3])).is_err());
        assert!(concat::<i32>(&B, &[], 0).is_err() && stack::<i32>(&B, &[], 0).is_err());
        assert!(concat(&B, &[&x, &counting(&[3, 2])], 0).is_err());
        assert!(stack(&B, &[&x, &counting(&[3, 2])], 0).is_err());
        assert!(broadcast_to(&B, &x, &[3]).is_err());
        assert!(pad(&B, &x, &[1, 1], PadMode::Constant, 0.0).is_err());
        assert!(pad(&B, &counting(&[0]), &[1, 1], PadMode::Edge, 0.0).is_err());
        assert!(roll(&B, &x, &[1, 2], 0.into()).is_err());
    }

    #[test]
    fn sizes_over_memory_are_errors() {
        let x = counting(&[2, 3]);
        assert!(tile(&B, &x, &[usize::MAX / 2]).is_err());
        assert!(repeat(&B, &x, usize::MAX, 0).is_err());
        assert!(broadcast_to(&B, &counting(&[1]), &[usize::MAX]).is_err());
        assert!(pad(&B, &x, &[usize::MAX, 0, 0, 0], PadMode::Constant, 0.0).is_err());
        assert!(pad(&B, &counting(&[0, 3]), &[usize::MAX, 1, 0, 0], PadMode::Constant, 0.0).is_err());
    }

    #[test]
    fn shapes_of_nothing() {
        let none = counting(&[0, 3]);
        assert_eq!(pad(&B, &none, &[0, 0, 1, 1], PadMode::Edge, 0.0).unwrap().shape(), [0, 5]);
        assert_eq!(list(&pad(&B, &none, &[1, 0, 0, 0], PadMode::Constant, 7.0).unwrap()), [7, 7, 7]);
        assert_eq!(list(&pad(&B, &counting(&[]), &[], PadMode::Wrap, 0.0).unwrap()), [0]);
        assert_eq!(flip(&B, &none, Axes::All).unwrap().shape(), [0, 3]);
        assert_eq!(fftshift(&B, &none, Axes::All).unwrap().shape(), [0, 3]);
        assert_eq!(tile(&B, &none, &[2, 1, 2]).unwrap().shape(), [2, 0, 6]);
        assert_eq!(concat(&B, &[&none, &counting(&[1, 3])], 0).unwrap(), counting(&[1, 3]));
        assert!(unstack(&B, &none, 0).unwrap().is_empty());
        let wide = buffer::array("x", &[1 << 50, 0], vec![0_i32; 0]).unwrap();
        assert!(matches!(unstack(&B, &wide, 0), Err(Error::Memory { op: "unstack", .. })));
        assert_eq!(reshape(&B, &wide, &[0, -1]).map(|_| ()).unwrap_err().op(), Some("reshape"));
    }

    #[test]
    fn repeating_any_layout() {
        let mut dice = Dice(11);
        for _ in 0..100 {
            let x: NdArray<i32> = dice.layout(5);
            let times: Vec<usize> = (0..dice.below(5)).map(|_| dice.below(4)).collect();
            let tiled = tile(&B, &x, &times).unwrap();
            for (at, &value) in tiled.indexed_iter() {
                let from: Vec<usize> =
                    x.shape().iter().rev().zip(at.slice().iter().rev()).map(|(&d, &i)| i % d).collect();
                assert_eq!(value, x[&from.into_iter().rev().collect::<Vec<_>>()[..]]);
            }
            if x.ndim() == 0 {
                continue;
            }
            let (axis, n) = (dice.below(x.ndim()), dice.below(4));
            let repeats = repeat(&B, &x, n, axis as isize).unwrap();
            assert_eq!(repeats.len(), x.len() * n);
            for (mut at, &value) in repeats.indexed_iter() {
                at[axis] /= n;
                assert_eq!(value, x[&at]);
            }
        }
    }

    #[test]
    fn borders_of_any_layout() {
        let mut dice = Dice(13);
        for round in 0..200 {
            let shape: Vec<usize> = (0..dice.below(4)).map(|_| 1 + dice.below(4)).collect();
            let x: NdArray<i32> = dice.layout_of(&shape);
            let widths: Vec<usize> = (0..2 * shape.len()).map(|_| dice.below(7) / 2).collect();
            let mode =
                [PadMode::Constant, PadMode::Edge, PadMode::Reflect, PadMode::Symmetric, PadMode::Wrap][round % 5];
            let padded = pad(&B, &x, &widths, mode, -3.0).unwrap();
            for (at, &value) in padded.indexed_iter() {
                let from: Option<Vec<usize>> = (0..shape.len())
                    .map(|k| {
                        let i = at[k].wrapping_sub(widths[2 * k]);
                        if mode == PadMode::Constant {
                            return (i < shape[k]).then_some(i);
                        }
                        let from = shape::pad_sources("pad", shape[k], widths[2 * k], widths[2 * k + 1], mode).unwrap();
                        Some(from[at[k]])
                    })
                    .collect();
                assert_eq!(value, from.map_or(-3, |from| x[&from[..]]), "{mode} {shape:?} {widths:?}");
            }
        }
    }

    #[test]
    fn joining_and_rolling_any_layout() {
        let mut dice = Dice(17);
        for _ in 0..100 {
            let shape: Vec<usize> = (0..1 + dice.below(3)).map(|_| 1 + dice.below(5)).collect();
            let axis = dice.below(shape.len());
            let parts: Vec<NdArray<i32>> = (0..1 + dice.below(3))
                .map(|k| {
                    let mut own = shape.clone();
                    own[axis] = k + dice.below(3);
                    dice.layout_of(&own)
                })
                .collect();
            let views: Vec<_> = parts.iter().map(|p| p.view()).collect();
            let refs: Vec<_> = parts.iter().collect();
            let joined = concat(&B, &refs, axis as isize).unwrap();
            assert_eq!(joined, ndarray::concatenate(Axis(axis), &views).unwrap());

            let x = &parts[0];
            let same: Vec<_> = (0..3).map(|_| dice.layout_of::<i32>(&shape)).collect();
            let stacked = stack(&B, &same.iter().collect::<Vec<_>>(), -1).unwrap();
            let views: Vec<_> = same.iter().map(|p| p.view()).collect();
            assert_eq!(stacked, ndarray::stack(Axis(shape.len()), &views).unwrap());

            let shifts: Vec<isize> = shape.iter().map(|_| dice.below(15) as isize - 7).collect();
            let rolled = roll(&B, x, &shifts, Axes::list(0..x.ndim() as isize)).unwrap();
            for (at, &value) in x.indexed_iter() {
                let mut to = at.clone();
                (0..x.ndim()).for_each(|k| {
                    to[k] = (at[k] as isize + shifts[k]).rem_euclid(x.shape()[k] as isize) as usize;
                });
                assert_eq!(rolled[&to], value);
            }
        }
    }

    #[test]
    fn rolling_and_shifting() {
        let x = counting(&[5]);
        assert_eq!(list(&roll(&B, &x, &[isize::MIN], 0.into()).unwrap()).len(), 5);
        assert_eq!(list(&roll(&B, &x, &[-1], 0.into()).unwrap()), [1, 2, 3, 4, 0]);
        assert_eq!(list(&fftshift(&B, &x, Axes::All).unwrap()), [3, 4, 0, 1, 2]);
        assert_eq!(list(&ifftshift(&B, &x, Axes::All).unwrap()), [2, 3, 4, 0, 1]);
        let rows = roll(&B, &counting(&[2, 2]), &[1], Axes::All).unwrap();
        assert_eq!(list(&rows), [3, 0, 1, 2]);
    }

    #[test]
    fn borders_of_any_width() {
        let x = counting(&[3]);
        let padded = |mode| list(&pad(&B, &x, &[4, 5], mode, 0.0).unwrap());
        assert_eq!(padded(PadMode::Wrap), [2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(padded(PadMode::Reflect), [0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1]);
        assert_eq!(padded(PadMode::Symmetric), [2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1]);
        assert_eq!(padded(PadMode::Edge), [0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2]);
        assert_eq!(padded(PadMode::Constant)[..5], [0; 5]);
    }
}
