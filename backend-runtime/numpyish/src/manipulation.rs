//! Ops that reorder, join, split, repeat or pad arrays. Ops that only change the shape or the strides return a view of
//! the same memory.

use super::{
    OpContext,
    buffer::Buffer,
    convert::Value,
    copy,
    raw::{RawArray, View},
    region::Region,
    typed::{Change, ItemOrCopy, Step},
};
use backend_core::{
    Axes, Error, Number, PadMode, Result, dispatch,
    rules::{self, Repeats, Roll},
};

/// Returns the elements, in C order, in another shape. The result is a view if `x` is in C order, else a copy.
pub fn reshape(on: OpContext<'_>, x: View<'_>, to: &[isize]) -> Result<Change> {
    reshaped(on.op, x, rules::infer(on.op, x.shape, to)?)
}

fn reshaped(op: &'static str, x: View<'_>, to: Vec<usize>) -> Result<Change> {
    rules::count(op, &to, x.dtype.size())?;
    if x.is_c_order() {
        return Ok(Change::One(Step::Reshape(to)));
    }
    // SAFETY: `to_buffer` has written every element.
    Ok(Change::Copy(unsafe { RawArray::new(op, to, copy::to_buffer(op, x)?)? }))
}

/// Returns the elements, in C order, as an array of one axis. The result is a view if `x` is in C order, else a copy.
pub fn flatten(on: OpContext<'_>, x: View<'_>) -> Result<Change> {
    reshaped(on.op, x, vec![x.len()])
}

/// Returns a view with the axes in another order.
pub fn permute_dims(on: OpContext<'_>, x: View<'_>, axes: Axes) -> Result<Change> {
    Ok(Change::One(Step::Permute(rules::permutation(on.op, axes, x.shape)?)))
}

/// Returns a view with the axes in reverse order.
pub fn transpose(_: OpContext<'_>, _: View<'_>) -> Result<Change> {
    Ok(Change::One(Step::Reverse))
}

/// Returns a view in which the last two axes are swapped.
pub fn matrix_transpose(on: OpContext<'_>, x: View<'_>) -> Result<Change> {
    rules::matrix(on.op, x.shape)?;
    let n = x.shape.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.swap(n - 2, n - 1);
    Ok(Change::One(Step::Permute(order)))
}

/// Returns a view in which the axes `source` are moved to the positions `destination`. The remaining axes keep their
/// order.
pub fn moveaxis(on: OpContext<'_>, x: View<'_>, source: Axes, destination: Axes) -> Result<Change> {
    Ok(Change::One(Step::Permute(rules::moved(on.op, source, destination, x.shape.len())?)))
}

/// Returns a view with new axes of length 1.
pub fn expand_dims(on: OpContext<'_>, x: View<'_>, axis: Axes) -> Result<Change> {
    Ok(Change::of(rules::new_axes(on.op, axis, x.shape.len())?.into_iter().map(Step::Insert)))
}

/// Returns a view without the axes `axis`, each of which must have length 1.
pub fn squeeze(on: OpContext<'_>, x: View<'_>, axis: Axes) -> Result<Change> {
    let axes = rules::single_axes(on.op, axis, x.shape)?;
    Ok(Change::of(axes.into_iter().rev().map(|axis| Step::Index(axis, 0))))
}

/// Repeats an array along new axes and along axes of length 1, so that the result has the shape `to`.
pub fn broadcast_to(on: OpContext<'_>, x: View<'_>, to: &[usize]) -> Result<Change> {
    rules::check_broadcast_to(on.op, x.shape, to)?;
    if x.shape == to { Ok(Change::View(Vec::new())) } else { widened(on.op, x, to).map(Change::Copy) }
}

/// Repeats an array along new axes and along axes of length 1. Copies the elements, because shared arrays of ndarray
/// cannot have a stride of 0.
fn widened(op: &'static str, x: View<'_>, to: &[usize]) -> Result<RawArray> {
    rules::count(op, to, x.dtype.size())?;
    copy::to_raw(op, Region::of(x).broadcast(op, to)?.view())
}

/// Broadcasts all arrays to one shape.
pub fn broadcast_arrays(on: OpContext<'_>, xs: &[View<'_>]) -> Result<Vec<ItemOrCopy>> {
    let to = rules::broadcast_all(on.op, xs.iter().map(|x| x.shape))?;
    let mut all = rules::list(on.op, xs.len())?;
    for (place, x) in xs.iter().enumerate() {
        // an array that already has the shape is shared instead of copied
        all.push(match x.shape == to {
            true => ItemOrCopy::Item(place),
            false => ItemOrCopy::Copy(widened(on.op, *x, &to)?),
        });
    }
    Ok(all)
}

/// Joins arrays along one axis. If `axis` is `None`, flattens the arrays and joins them.
pub fn concat(on: OpContext<'_>, xs: &[View<'_>], axis: Option<isize>) -> Result<RawArray> {
    let OpContext { op, dtype, .. } = on;
    let shapes: Vec<&[usize]> = xs.iter().map(|x| x.shape).collect();
    let Some(axis) = axis else {
        let n = rules::joined_rows(op, &shapes, dtype.size())?;
        let (mut out, mut at) = (Buffer::new(op, n, dtype)?, 0);
        for x in xs {
            copy::place(&mut out, at, &rules::c_strides(x.shape), *x);
            at += x.len();
        }
        // SAFETY: the arrays were copied one after another and fill the whole result.
        return unsafe { RawArray::new(op, vec![n], out) };
    };
    let (axis, shape) = rules::joined(op, &shapes, axis, dtype.size())?;
    joined(op, shape, axis, xs)
}

/// Joins `parts` along an axis, in their order. `shape` is the shape of the result.
pub fn joined(op: &'static str, shape: Vec<usize>, axis: usize, parts: &[View<'_>]) -> Result<RawArray> {
    let (mut out, strides) = room(op, &shape, parts[0])?;
    let mut at = 0;
    for part in parts {
        copy::place(&mut out, at * strides[axis] as usize, &strides, *part);
        at += part.shape[axis];
    }
    // SAFETY: the parts fill the result along the axis without a gap, and their other axes have the lengths of the
    // result.
    unsafe { RawArray::new(op, shape, out) }
}

/// Allocates room for an array of this shape with the dtype of `x`. Also returns the strides of the array in C order.
fn room(op: &'static str, shape: &[usize], x: View<'_>) -> Result<(Buffer, Vec<isize>)> {
    let n = rules::count(op, shape, x.dtype.size())?;
    Ok((Buffer::new(op, n, x.dtype)?, rules::c_strides(shape)))
}

/// Joins arrays of one shape along a new axis.
pub fn stack(on: OpContext<'_>, xs: &[View<'_>], axis: isize) -> Result<RawArray> {
    let shapes: Vec<&[usize]> = xs.iter().map(|x| x.shape).collect();
    let (axis, shape) = rules::stacked(on.op, &shapes, axis, on.dtype.size())?;
    let (mut out, mut strides) = room(on.op, &shape, xs[0])?;
    let apart = strides.remove(axis) as usize;
    for (i, x) in xs.iter().enumerate() {
        copy::place(&mut out, i * apart, &strides, *x);
    }
    // SAFETY: each array fills one index of the result's new axis.
    unsafe { RawArray::new(on.op, shape, out) }
}

/// Returns one view for each index of an axis, without this axis.
pub fn unstack(on: OpContext<'_>, x: View<'_>, axis: isize) -> Result<Vec<Change>> {
    let axis = rules::axis(on.op, axis, x.shape.len())?;
    let mut parts = rules::list(on.op, x.shape[axis])?;
    parts.extend((0..x.shape[axis]).map(|i| Change::One(Step::Index(axis, i))));
    Ok(parts)
}

/// Repeats the array as a whole along each axis.
pub fn tile(on: OpContext<'_>, x: View<'_>, repetitions: &[usize]) -> Result<RawArray> {
    let repeats = rules::tiled(on.op, x.shape, repetitions, x.dtype.size())?;
    let n = repeats.shape.len();
    let mut region = (0..x.shape.len()).rev().fold(Region::of(x), |region, axis| region.with_axis(axis));
    for _ in 2 * x.shape.len()..2 * n {
        region = region.with_axis(0);
    }
    repeated(on.op, region, repeats)
}

/// Repeats every element along one axis. If `axis` is `None`, flattens the array first.
pub fn repeat(on: OpContext<'_>, x: View<'_>, repeats: usize, axis: Option<isize>) -> Result<RawArray> {
    copy::along_or_row(on.op, x, axis, |x, axis| {
        let (axis, repeats) = rules::repeated(on.op, x.shape, repeats, axis, x.dtype.size())?;
        repeated(on.op, Region::of(x).with_axis(axis + 1), repeats)
    })
}

/// Copies a region with repetitions. Each repetition broadcasts an axis of length 1, so the caller must have inserted
/// these axes into the region (see [`Repeats`]).
fn repeated(op: &'static str, x: Region, repeats: Repeats) -> Result<RawArray> {
    let Repeats { shape, target, .. } = repeats;
    let dtype = x.view().dtype;
    if rules::count(op, &shape, dtype.size())? == 0 {
        return RawArray::empty(op, shape, dtype);
    }
    let elements = copy::to_buffer(op, x.broadcast(op, &target)?.view())?;
    // SAFETY: `to_buffer` has written every element.
    unsafe { RawArray::new(op, shape, elements) }
}

/// Shifts elements along axes; elements shifted beyond the end reappear at the start.
pub fn roll(on: OpContext<'_>, x: View<'_>, shift: &[isize], axis: Axes) -> Result<Change> {
    match rules::roll(on.op, shift, axis, x.shape)? {
        Roll::Axes(shifts) => shifted(on.op, x, &shifts, x.shape),
        Roll::Row(0) => Ok(Change::View(Vec::new())),
        Roll::Row(shift) => {
            let elements = copy::pack(on.op, x)?;
            let row = [x.len()];
            let flat = View { start: elements.start(), dtype: x.dtype, shape: &row, strides: &[1] };
            shifted(on.op, flat, &[shift], x.shape)
        }
    }
}

/// Shifts the elements by `shifts[k]` along each axis k. Each shift must be less than the length of its axis. The
/// result gets the shape `shape`, which must have as many elements as `x`.
pub(super) fn shifted(op: &'static str, x: View<'_>, shifts: &[usize], shape: &[usize]) -> Result<Change> {
    if x.len() == 0 || shifts.iter().all(|&s| s == 0) {
        return Ok(Change::View(Vec::new()));
    }
    let moved: Vec<usize> = (0..x.shape.len()).filter(|&k| shifts[k] > 0).collect();
    let (mut out, strides) = room(op, x.shape, x)?;
    for corner in 0..1_usize << moved.len() {
        let mut part = Region::of(x);
        let mut start = 0;
        for (bit, &axis) in moved.iter().enumerate() {
            let (len, shift) = (x.shape[axis], shifts[axis]);
            let seam = len - shift;
            let (first, end) = if corner >> bit & 1 == 0 { (0, seam) } else { (seam, len) };
            part = part.sliced(axis, first, end - first, 1);
            start += (first + shift) % len * strides[axis] as usize;
        }
        copy::place(&mut out, start, &strides, part.view());
    }
    // SAFETY: along each axis, the parts before and after the seam fill the result, so their combinations fill it too.
    Ok(Change::Copy(unsafe { RawArray::new(op, shape.to_vec(), out)? }))
}

/// Returns a view with the elements in reverse order along the given axes.
pub fn flip(on: OpContext<'_>, x: View<'_>, axis: Axes) -> Result<Change> {
    Ok(Change::View(axis.resolve(on.op, x.shape.len())?.into_iter().map(Step::Invert).collect()))
}

/// Adds a border around the array. As in NumPy, `widths` has one width for all borders, one pair (before, after) for
/// all axes, or one pair per axis. `value` fills a constant border.
pub fn pad(on: OpContext<'_>, x: View<'_>, widths: &[usize], mode: PadMode, value: Number) -> Result<RawArray> {
    let value = dispatch!(x.dtype, T => value.element::<T>(on.op).map(Value::of))?;
    padded(on.op, x, widths, mode, value)
}

/// Like [`pad`], but errors name the op `op`. The array must have real or complex floats.
pub(super) fn padded_by(
    op: &'static str,
    x: View<'_>,
    widths: &[usize],
    mode: PadMode,
    value: f64,
) -> Result<RawArray> {
    padded(op, x, widths, mode, Value::from_f64(x.dtype, value))
}

fn padded(op: &'static str, x: View<'_>, widths: &[usize], mode: PadMode, value: Value) -> Result<RawArray> {
    let (widths, shape) = rules::padded(op, x.shape, widths, mode, x.dtype.size())?;
    let widths = &widths[..];
    let n = rules::count(op, &shape, x.dtype.size())?;
    if mode == PadMode::Constant {
        return bordered(op, x, shape, widths, value);
    }
    if n == 0 {
        return RawArray::empty(op, shape, x.dtype);
    }
    let mut axes = Vec::with_capacity(x.shape.len());
    for (&len, width) in x.shape.iter().zip(widths.chunks_exact(2)) {
        axes.push(match width {
            [0, 0] => vec![Run { to: 0, from: 0, len, step: 1 }],
            _ => runs(op, &rules::pad_sources(op, len, width[0], width[1], mode)?)?,
        });
    }
    let (mut out, strides) = room(op, &shape, x)?;
    combinations(&axes, |cell| place_runs(&mut out, &strides, x, cell));
    // SAFETY: the runs of each axis cover the axis without a gap, so the combinations of runs cover the result.
    unsafe { RawArray::new(op, shape, out) }
}

/// Pads with a constant: writes slabs of the value before and after the array along every axis, and then copies the
/// array.
fn bordered(op: &'static str, x: View<'_>, shape: Vec<usize>, widths: &[usize], value: Value) -> Result<RawArray> {
    let value = Region::scalar(x.dtype, value.start());
    let (mut out, strides) = room(op, &shape, x)?;
    // the region of the result that no slab covers yet: its lengths, and the index of its first element
    let (mut lengths, mut start) = (shape.clone(), 0);
    for (axis, width) in widths.chunks_exact(2).enumerate() {
        let (len, stride) = (x.shape[axis], strides[axis] as usize);
        for (skipped, width) in [(0, width[0]), (width[0] + len, width[1])] {
            lengths[axis] = width;
            copy::place(&mut out, start + skipped * stride, &strides, value.broadcast(op, &lengths)?.view());
        }
        lengths[axis] = len;
        start += width[0] * stride;
    }
    copy::place(&mut out, start, &strides, x);
    // SAFETY: an element that is outside the array along some axis is in a slab of the first such axis. All other
    // elements belong to the array.
    unsafe { RawArray::new(op, shape, out) }
}

/// A run of consecutive indices along an axis of the result. Their elements come from consecutive indices of the
/// source, forward or backward, or all from the same index.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    to: usize,
    from: usize,
    len: usize,
    step: isize,
}

/// Splits a list of source indices into runs.
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
        runs.try_reserve(1).map_err(|_| Error::memory(op, size_of_val(&runs[..])))?;
        runs.push(Run { to, from, len: 1, step: 1 });
    }
    Ok(runs)
}

/// Calls `f` with each combination of runs that has one run of every axis.
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

/// Copies the elements of one combination of runs to the result. `cell` has one run per axis, which has the source and
/// target indices along this axis.
fn place_runs(out: &mut Buffer, strides: &[isize], x: View<'_>, cell: &[Run]) {
    let mut part = Region::of(x);
    let mut start = 0;
    for (axis, run) in cell.iter().enumerate() {
        // a run of step 0 repeats one element
        let read = if run.step == 0 { run.len.min(1) } else { run.len };
        part = part.sliced(axis, run.from, read, if run.step == 0 { 1 } else { run.step });
        start += run.to * strides[axis] as usize;
    }
    let lengths: Vec<usize> = cell.iter().map(|run| run.len).collect();
    let part = part.broadcast("pad", &lengths).expect("a run has its length, or repeats one element");
    copy::place(out, start, strides, part.view());
}

/// The ops over arrays with a static dtype, for tests.
#[cfg(any(test, feature = "testing"))]
#[allow(missing_docs)] // each function is the op of its name
pub mod typed {
    use crate::manipulation;
    use backend_core::{
        Axes, Element, Number, PadMode, Result,
        numpyish::{NdArray, Numpyish, OpContext, raw::view, typed::typed},
        raw::finish_all,
    };

    backend_core::typed_ops! { manipulation:
        reshape<T: Element>(x; to: &[isize]) -> T;
        permute_dims<T: Element>(x; axes: Axes) -> T;
        matrix_transpose<T: Element>(x;) -> T;
        moveaxis<T: Element>(x; source: Axes, destination: Axes) -> T;
        expand_dims<T: Element>(x; axis: Axes) -> T;
        squeeze<T: Element>(x; axis: Axes) -> T;
        broadcast_to<T: Element>(x; to: &[usize]) -> T;
        tile<T: Element>(x; repetitions: &[usize]) -> T;
        repeat<T: Element>(x; repeats: usize, axis: Option<isize>) -> T;
        roll<T: Element>(x; shift: &[isize], axis: Axes) -> T;
        flip<T: Element>(x; axis: Axes) -> T;
        pad<T: Element>(x; widths: &[usize], mode: PadMode, value: Number) -> T;
    }

    pub fn concat<T: Element>(b: &Numpyish, xs: &[&NdArray<T>], axis: Option<isize>) -> Result<NdArray<T>> {
        let xs: Vec<_> = xs.iter().map(|x| view(x)).collect();
        typed(manipulation::concat(OpContext::new(b, "concat", T::DTYPE), &xs, axis))
    }

    pub fn stack<T: Element>(b: &Numpyish, xs: &[&NdArray<T>], axis: isize) -> Result<NdArray<T>> {
        let xs: Vec<_> = xs.iter().map(|x| view(x)).collect();
        typed(manipulation::stack(OpContext::new(b, "stack", T::DTYPE), &xs, axis))
    }

    pub fn unstack<T: Element>(b: &Numpyish, x: &NdArray<T>, axis: isize) -> Result<Vec<NdArray<T>>> {
        let on = OpContext::new(b, "unstack", T::DTYPE);
        finish_all(on.op, manipulation::unstack(on, view(x), axis)?, x)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{testing::Dice, testing::array};
    use super::{
        typed::{
            broadcast_to, concat, expand_dims, flip, matrix_transpose, moveaxis, pad, permute_dims, repeat, reshape,
            roll, squeeze, stack, tile, unstack,
        },
        *,
    };
    use crate::fft::typed::{fftshift, ifftshift};
    use backend_core::Arrays;
    use backend_core::numpyish::{NdArray, Numpyish};
    use ndarray::{Axis, Dimension};

    const B: Numpyish = Numpyish::new();

    fn counting(shape: &[usize]) -> NdArray<i32> {
        let n = shape.iter().product::<usize>() as i32;
        array("test", shape, (0..n).collect()).unwrap()
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
        assert!(concat::<i32>(&B, &[], Some(0)).is_err() && stack::<i32>(&B, &[], 0).is_err());
        assert!(concat(&B, &[&x, &counting(&[3, 2])], Some(0)).is_err());
        assert!(stack(&B, &[&x, &counting(&[3, 2])], 0).is_err());
        assert!(broadcast_to(&B, &x, &[3]).is_err());
        assert!(pad(&B, &x, &[1, 1, 1], PadMode::Constant, Number::Real(0.0)).is_err());
        assert!(pad(&B, &counting(&[0]), &[1, 1], PadMode::Edge, Number::Real(0.0)).is_err());
        assert!(roll(&B, &x, &[1, 2, 3], [0, 1].into()).is_err());
        assert!(expand_dims(&B, &x, Axes::All).is_err());
    }

    #[test]
    fn sizes_over_memory_are_errors() {
        let x = counting(&[2, 3]);
        assert!(tile(&B, &x, &[usize::MAX / 2]).is_err());
        assert!(repeat(&B, &x, usize::MAX, Some(0)).is_err());
        assert!(broadcast_to(&B, &counting(&[1]), &[usize::MAX]).is_err());
        assert!(pad(&B, &x, &[usize::MAX, 0, 0, 0], PadMode::Constant, Number::Real(0.0)).is_err());
        assert!(pad(&B, &counting(&[0, 3]), &[usize::MAX, 1, 0, 0], PadMode::Constant, Number::Real(0.0)).is_err());
    }

    #[test]
    fn shapes_of_nothing() {
        let none = counting(&[0, 3]);
        assert_eq!(pad(&B, &none, &[0, 0, 1, 1], PadMode::Edge, Number::Real(0.0)).unwrap().shape(), [0, 5]);
        assert_eq!(list(&pad(&B, &none, &[1, 0, 0, 0], PadMode::Constant, Number::Real(7.0)).unwrap()), [7, 7, 7]);
        assert_eq!(list(&pad(&B, &counting(&[]), &[], PadMode::Wrap, Number::Real(0.0)).unwrap()), [0]);
        assert_eq!(flip(&B, &none, Axes::All).unwrap().shape(), [0, 3]);
        assert_eq!(fftshift(&B, &none, Axes::All).unwrap().shape(), [0, 3]);
        assert_eq!(tile(&B, &none, &[2, 1, 2]).unwrap().shape(), [2, 0, 6]);
        assert_eq!(concat(&B, &[&none, &counting(&[1, 3])], Some(0)).unwrap(), counting(&[1, 3]));
        assert!(unstack(&B, &none, 0).unwrap().is_empty());
        let wide = array("x", &[1 << 50, 0], vec![0_i32; 0]).unwrap();
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
            let repeats = repeat(&B, &x, n, Some(axis as isize)).unwrap();
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
            let padded = pad(&B, &x, &widths, mode, Number::Real(-3.0)).unwrap();
            for (at, &value) in padded.indexed_iter() {
                let from: Option<Vec<usize>> = (0..shape.len())
                    .map(|k| {
                        let i = at[k].wrapping_sub(widths[2 * k]);
                        if mode == PadMode::Constant {
                            return (i < shape[k]).then_some(i);
                        }
                        let from = rules::pad_sources("pad", shape[k], widths[2 * k], widths[2 * k + 1], mode).unwrap();
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
            let joined = concat(&B, &refs, Some(axis as isize)).unwrap();
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
        let padded = |mode| list(&pad(&B, &x, &[4, 5], mode, Number::Real(0.0)).unwrap());
        assert_eq!(padded(PadMode::Wrap), [2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(padded(PadMode::Reflect), [0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1]);
        assert_eq!(padded(PadMode::Symmetric), [2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1]);
        assert_eq!(padded(PadMode::Edge), [0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2]);
        assert_eq!(padded(PadMode::Constant)[..5], [0; 5]);
    }
}
