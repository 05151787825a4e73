//! Reordering, joining, splitting and repeating of arrays. An op returns a view if shape and strides can express its
//! result; other ops copy.

use super::{
    Cuda, OpContext,
    array::RawArray,
    copy::{contiguous, copy_into, fill},
    kernel::{Argument, Grid},
    program::{Instance, KernelList, MOVERS, Program, ProgramSource, mover},
    walk::{Divisor, MAX_AXES},
};
use backend_core::{
    Axes, Error, Number, PadMode, Result, dispatch,
    raw::RawElement,
    rules::{self, Repeats, Roll},
};

/// Returns the elements in C order in another shape, as a view if the strides allow it.
pub fn reshape(on: OpContext<'_>, x: &RawArray, to: &[isize]) -> Result<RawArray> {
    let to = rules::infer(on.op, &x.shape, to)?;
    reshaped(on.backend, on.op, x, &to)
}

/// Returns `x` itself if an axis is given. Otherwise returns the elements of `x` in C order, as a one-dimensional
/// array.
pub(super) fn along_or_row(b: &Cuda, op: &'static str, x: &RawArray, axis: Option<isize>) -> Result<RawArray> {
    if axis.is_some() { Ok(x.clone()) } else { reshaped(b, op, x, &[x.size()]) }
}

/// Reshapes `x` to `to`, which must have the same number of elements.
pub(super) fn reshaped(b: &Cuda, op: &'static str, x: &RawArray, to: &[usize]) -> Result<RawArray> {
    b.check(op, x)?;
    rules::count(op, to, x.dtype.size())?;
    if let Some(strides) = strides_as(x, to) {
        return Ok(x.view(to.to_vec(), strides, x.offset));
    }
    let x = contiguous(b, op, x)?;
    Ok(x.view(to.to_vec(), rules::c_strides(to), x.offset))
}

/// Returns the strides with which a view of `x` has the shape `to` and the same elements in C order; `None` if there
/// are no such strides, so that `x` must be copied.
fn strides_as(x: &RawArray, to: &[usize]) -> Option<Vec<isize>> {
    if x.size() == 0 {
        return Some(rules::c_strides(to));
    }
    let mut strides = vec![0; to.len()];
    let mut from = x.shape.iter().zip(&x.strides).filter(|&(&len, _)| len != 1).rev().peekable();
    // in the current run of mergeable axes of `x`: the number of elements not yet divided among axes of `to`, and the
    // stride of the next axis of `to`
    let (mut left, mut stride) = (1, 1);
    for (place, &len) in to.iter().enumerate().rev() {
        if len == 1 {
            continue;
        }
        if left == 1 {
            let (&n, &s) = from.next()?;
            (left, stride) = (n, s);
            while let Some(&(&n, &s)) = from.peek()
                && s == stride * left as isize
            {
                left *= n;
                from.next();
            }
        }
        if left % len != 0 {
            return None;
        }
        strides[place] = stride;
        left /= len;
        stride *= len as isize;
    }
    Some(strides)
}

/// The elements in C order, as a one-dimensional array.
pub fn flatten(on: OpContext<'_>, x: &RawArray) -> Result<RawArray> {
    reshaped(on.backend, on.op, x, &[x.size()])
}

/// A view with the axes in another order.
pub fn permute_dims(on: OpContext<'_>, x: &RawArray, axes: Axes) -> Result<RawArray> {
    Ok(x.permuted(&rules::permutation(on.op, axes, &x.shape)?))
}

/// A view with the axes in reverse order.
pub fn transpose(_: OpContext<'_>, x: &RawArray) -> Result<RawArray> {
    let order: Vec<usize> = (0..x.shape.len()).rev().collect();
    Ok(x.permuted(&order))
}

/// A view with the last two axes swapped.
pub fn matrix_transpose(on: OpContext<'_>, x: &RawArray) -> Result<RawArray> {
    rules::matrix(on.op, &x.shape)?;
    let n = x.shape.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.swap(n - 2, n - 1);
    Ok(x.permuted(&order))
}

/// A view with axes moved to other positions; the other axes keep their order.
pub fn moveaxis(on: OpContext<'_>, x: &RawArray, source: Axes, destination: Axes) -> Result<RawArray> {
    let order = rules::moved(on.op, source, destination, x.shape.len())?;
    Ok(x.permuted(&order))
}

/// A view with new axes of length 1.
pub fn expand_dims(on: OpContext<'_>, x: &RawArray, axis: Axes) -> Result<RawArray> {
    let axes = rules::new_axes(on.op, axis, x.shape.len())?;
    Ok(axes.into_iter().fold(x.clone(), |x, axis| x.expanded(axis)))
}

/// A view without the given axes, which must have length 1.
pub fn squeeze(on: OpContext<'_>, x: &RawArray, axis: Axes) -> Result<RawArray> {
    let axes = rules::single_axes(on.op, axis, &x.shape)?;
    Ok(axes.into_iter().rev().fold(x.clone(), |x, axis| x.without(axis)))
}

/// Returns a view of shape `to`, in which `x` is repeated along new axes and along its axes of length 1.
pub fn broadcast_to(on: OpContext<'_>, x: &RawArray, to: &[usize]) -> Result<RawArray> {
    x.broadcast(on.op, to)
}

/// Broadcasts all arrays to a common shape, and returns the views.
pub fn broadcast_arrays(on: OpContext<'_>, xs: &[&RawArray]) -> Result<Vec<RawArray>> {
    on.require(xs)?;
    let to = rules::broadcast_all(on.op, xs.iter().map(|x| &x.shape[..]))?;
    xs.iter().map(|x| x.broadcast(on.op, &to)).collect()
}

/// Joins arrays along one axis; without an axis, flattens them first.
pub fn concat(on: OpContext<'_>, xs: &[&RawArray], axis: Option<isize>) -> Result<RawArray> {
    on.require(xs)?;
    let OpContext { backend: b, op, dtype, .. } = on;
    let shapes: Vec<&[usize]> = xs.iter().map(|x| &x.shape[..]).collect();
    let Some(axis) = axis else {
        let out = b.uninit_raw(op, dtype, &[rules::joined_rows(op, &shapes, dtype.size())?])?;
        let mut at = 0;
        for x in xs {
            let part = out.sliced(0, at, x.size(), 1);
            copy_into(b, op, x, &part.view(x.shape.clone(), rules::c_strides(&x.shape), part.offset))?;
            at += x.size();
        }
        return Ok(out);
    };
    let (axis, shape) = rules::joined(op, &shapes, axis, dtype.size())?;
    joined(on, &shape, axis, xs.iter().map(|&x| x.clone()))
}

/// Joins `parts` along `axis`. `shape` is the shape of the result; along the other axes, all parts have the same
/// lengths.
fn joined(on: OpContext<'_>, shape: &[usize], axis: usize, parts: impl Iterator<Item = RawArray>) -> Result<RawArray> {
    let OpContext { backend: b, op, dtype, .. } = on;
    let out = b.uninit_raw(op, dtype, shape)?;
    let mut at = 0;
    for part in parts {
        let len = part.shape[axis];
        copy_into(b, op, &part, &out.sliced(axis, at, len, 1))?;
        at += len;
    }
    Ok(out)
}

/// Joins arrays of the same shape along a new axis.
pub fn stack(on: OpContext<'_>, xs: &[&RawArray], axis: isize) -> Result<RawArray> {
    on.require(xs)?;
    let shapes: Vec<&[usize]> = xs.iter().map(|x| &x.shape[..]).collect();
    let (axis, shape) = rules::stacked(on.op, &shapes, axis, on.dtype.size())?;
    joined(on, &shape, axis, xs.iter().map(|x| x.expanded(axis)))
}

/// The slices along one axis, as views without the axis.
pub fn unstack(on: OpContext<'_>, x: &RawArray, axis: isize) -> Result<Vec<RawArray>> {
    let axis = rules::axis(on.op, axis, x.shape.len())?;
    let slice = |i| x.sliced(axis, i, 1, 1).without(axis);
    let n = x.shape[axis];
    let mut slices = rules::list(on.op, n)?;
    slices.extend((0..n).map(slice));
    Ok(slices)
}

/// Repeats the array along each axis.
pub fn tile(on: OpContext<'_>, x: &RawArray, repetitions: &[usize]) -> Result<RawArray> {
    let OpContext { backend: b, op, .. } = on;
    let Repeats { shape, target, .. } = rules::tiled(op, &x.shape, repetitions, x.dtype.size())?;
    let (ndim, out) = (shape.len(), b.uninit_raw(op, x.dtype, &shape)?);
    // each axis of the result is viewed as two axes: the first counts the repetitions of the array, and the second is
    // an axis of the array
    let mut part = (0..ndim - x.shape.len()).fold(x.clone(), |x, _| x.expanded(0));
    for axis in (0..ndim).rev() {
        part = part.expanded(axis);
    }
    repeated(b, op, &part, &target, out)
}

/// Repeats every element along one axis; without an axis, the array is flattened first.
pub fn repeat(on: OpContext<'_>, x: &RawArray, repeats: usize, axis: Option<isize>) -> Result<RawArray> {
    let OpContext { backend: b, op, .. } = on;
    let x = along_or_row(b, op, x, axis)?;
    let (axis, Repeats { shape, target, .. }) =
        rules::repeated(op, &x.shape, repeats, axis.unwrap_or(0), x.dtype.size())?;
    let out = b.uninit_raw(op, x.dtype, &shape)?;
    let part = x.expanded(axis + 1);
    repeated(b, op, &part, &target, out)
}

/// Broadcasts `x` to the shape `target`, and copies the elements into `out` in C order. `out` has as many elements as
/// `target`.
fn repeated(b: &Cuda, op: &'static str, x: &RawArray, target: &[usize], out: RawArray) -> Result<RawArray> {
    if out.size() > 0 {
        copy_into(b, op, x, &out.view(target.to_vec(), rules::c_strides(target), 0))?;
    }
    Ok(out)
}

/// Shifts elements along axes; elements pushed beyond one end reappear at the other end.
pub fn roll(on: OpContext<'_>, x: &RawArray, shift: &[isize], axis: Axes) -> Result<RawArray> {
    let OpContext { backend: b, op, .. } = on;
    match rules::roll(op, shift, axis, &x.shape)? {
        Roll::Axes(shifts) => rolled(b, op, x.clone(), &shifts),
        Roll::Row(shift) => {
            let row = rolled(b, op, reshaped(b, op, x, &[x.size()])?, &[shift])?;
            reshaped(b, op, &row, &x.shape)
        }
    }
}

/// Rolls (cyclically shifts) each axis k of `x` by `shifts[k]`, which must be less than the length of the axis.
pub(super) fn rolled(b: &Cuda, op: &'static str, x: RawArray, shifts: &[usize]) -> Result<RawArray> {
    let moved: Vec<usize> = (0..shifts.len()).filter(|&axis| shifts[axis] > 0).collect();
    let mut x = x;
    // a roll splits an axis into two parts, and each combination of parts of the rolled axes needs one copy, so at most
    // three axes are rolled at a time
    for some in moved.chunks(3) {
        let out = b.uninit_raw(op, x.dtype, &x.shape)?;
        for corner in 0..1_usize << some.len() {
            let (mut from, mut to) = (x.clone(), out.clone());
            for (bit, &axis) in some.iter().enumerate() {
                let (len, shift) = (x.shape[axis], shifts[axis]);
                let (start, place, n) =
                    if corner >> bit & 1 == 0 { (0, shift, len - shift) } else { (len - shift, 0, shift) };
                from = from.sliced(axis, start, n, 1);
                to = to.sliced(axis, place, n, 1);
            }
            copy_into(b, op, &from, &to)?;
        }
        x = out;
    }
    Ok(x)
}

/// A view with the elements in reverse order along axes.
pub fn flip(on: OpContext<'_>, x: &RawArray, axis: Axes) -> Result<RawArray> {
    let axes = axis.resolve(on.op, x.shape.len())?;
    let flipped = |x: RawArray, axis: usize| {
        let len = x.shape[axis];
        x.sliced(axis, len.saturating_sub(1), len, -1)
    };
    Ok(axes.into_iter().fold(x.clone(), flipped))
}

/// Pads the array with a border, of the constant `value` or of elements of the array.
pub fn pad(on: OpContext<'_>, x: &RawArray, widths: &[usize], mode: PadMode, value: Number) -> Result<RawArray> {
    let OpContext { backend: b, op, .. } = on;
    let value: Result<RawElement> = dispatch!(x.dtype, T => value.element::<T>(op).map(RawElement::of));
    let value = value?;
    b.check(op, x)?;
    let (widths, shape) = rules::padded(op, &x.shape, widths, mode, x.dtype.size())?;
    let widths = &widths[..];
    let out = b.uninit_raw(op, x.dtype, &shape)?;
    if mode != PadMode::Constant {
        bordered(b, op, x, widths, mode, &out)?;
        return Ok(out);
    }
    fill(b, op, value, &out)?;
    let inner = (0..shape.len()).fold(out.clone(), |out, axis| out.sliced(axis, widths[2 * axis], x.shape[axis], 1));
    copy_into(b, op, x, &inner)?;
    Ok(out)
}

static BORDERED: Program = Program { name: "shape", source: ProgramSource::File(include_str!("kernels/shape.cuh")) };

/// The kernels of this file, for the list of all kernels in [`check`](crate::check).
pub(super) const KERNELS: KernelList = (&BORDERED, || {
    let of = |index| MOVERS.map(|dtype| Instance::new("bordered", index, &[dtype]));
    ["u32", "u64"].into_iter().flat_map(of).collect()
});

/// Counterpart of the C++ struct `Border` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Border {
    n: u64,
    ndim: u32,
    mode: u32,
    shape: [u64; MAX_AXES],
    divisors: [Divisor; MAX_AXES],
    before: [u64; MAX_AXES],
    lengths: [u64; MAX_AXES],
    strides: [i64; MAX_AXES],
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for Border {}

/// Fills `out` with `x` and around it a border of repeated elements of `x`. `widths` has two widths per axis: before
/// and behind `x`.
fn bordered(b: &Cuda, op: &'static str, x: &RawArray, widths: &[usize], mode: PadMode, out: &RawArray) -> Result<()> {
    let ndim = x.shape.len();
    if ndim > MAX_AXES {
        return Err(Error::shape(op, &x.shape, format!("must have at most {MAX_AXES} axes")));
    }
    let n = out.size();
    if n == 0 {
        return Ok(());
    }
    let mut border = Border {
        n: n as u64,
        ndim: ndim as u32,
        mode: mode as u32,
        shape: [1; MAX_AXES],
        divisors: [Divisor::ONE; MAX_AXES],
        before: [0; MAX_AXES],
        lengths: [1; MAX_AXES],
        strides: [0; MAX_AXES],
    };
    let small = n < 1 << 31;
    for (place, axis) in (0..ndim).rev().enumerate() {
        border.shape[place] = out.shape[axis] as u64;
        if small {
            border.divisors[place] = Divisor::new(out.shape[axis] as u32);
        }
        border.before[place] = widths[2 * axis] as u64;
        border.lengths[place] = x.shape[axis] as u64;
        border.strides[place] = x.strides[axis] as i64;
    }
    let instance = Instance::new("bordered", if small { "u32" } else { "u64" }, &[mover(x.dtype)]);
    let kernel = b.kernel(op, &BORDERED, instance)?;
    // SAFETY: the arguments match the parameters of `bordered`; every index that the kernel computes is within `x`, and
    // `out` has `n` elements.
    unsafe { b.launch(op, kernel, Grid::over(n), &[&out.pointer(), &x.pointer(), &border]) }
}
