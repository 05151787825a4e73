//! Loops over several operands, which may have any layouts and are broadcast to one shape.
//!
//! A walk divides the result into boxes. A box consists of rows, and each row is a contiguous range of the result. In a
//! row, each operand is a contiguous slice, a scalar, or packed into a small buffer. The loops of an op therefore get
//! only slices and scalars, and the code in this file is not compiled for each op.

use super::{
    buffer::Buffer,
    copy::{self, Axis},
    parallel::{self},
    raw::{RawArray, View},
};
use crate::{DType, Result, formula, rules};
use std::{
    mem::MaybeUninit,
    ops::{Deref, Range},
};

/// Strides of an operand along the `ndim` axes of the result. A stride is 0 if the operand is repeated along the axis.
fn repeated(operand: &View<'_>, ndim: usize) -> Vec<isize> {
    let new = ndim - operand.shape.len();
    let own = operand.shape.iter().zip(operand.strides).map(|(&d, &s)| if d == 1 { 0 } else { s });
    std::iter::repeat_n(0, new).chain(own).collect()
}

/// The elements of an operand for one row of a box, that is, for a contiguous range of the result: one element per
/// element of the result, or a single element for the whole row.
#[derive(Clone, Copy)]
pub struct OperandRow {
    /// Address of the first element.
    pub start: *const u8,
    /// True if the element at `start` is used for the whole row.
    pub scalar: bool,
}

impl OperandRow {
    /// An empty part, which initializes arrays of parts.
    const NONE: OperandRow = OperandRow { start: std::ptr::dangling(), scalar: false };
}

/// A function that computes `n` elements of a result from one part per operand, and writes them to an address.
pub type Run<'r> = dyn Fn(&[OperandRow], *mut u8, usize) + Sync + 'r;

/// Maximum number of operands of a walk.
const MAX_OPERANDS: usize = formula::MAX_ARRAYS;

/// Size in bytes of each packed operand's buffer, if there are at most three operands.
const SCRATCH: usize = 1 << 14;

/// Total size in bytes of the buffers of all operands, which are on the stack.
const ALL_SCRATCH: usize = 3 * SCRATCH;

/// Size in bytes of each packed operand's buffer, if there are `n` operands.
fn scratch_each(n: usize) -> usize {
    (ALL_SCRATCH / n.max(1)).min(SCRATCH) / 16 * 16
}

/// Minimum length of a row that gets its own call of the loop. For shorter rows, packing the operands of several rows
/// into buffers is faster. The index is the number of operands that need packing, because they have gaps between their
/// rows. Index 3 is for three or more operands. The lengths were measured with sums, exponentials and stencils of
/// float64 and float32.
const LONG_ROW: [usize; 4] = [128, 48, 24, 8];

/// Minimum number of elements, in the two innermost axes together, for which all entries of `LONG_ROW` apply. With
/// fewer elements, the first entry applies, whatever the number of operands with gaps.
const ENOUGH: usize = 256;

/// Maximum number of elements of a box in which no operand is packed.
const SEGMENT: usize = 1 << 14;

/// Number of rows of a box if the stride of an operand is smaller from row to row than within a row. A cache line of
/// this operand then has elements of several rows, and a box of this many rows uses whole cache lines.
const TALL: usize = 32;

/// Creates an array. Calls `run` for each row of each box of the result; a row is a contiguous range. The layout of the
/// result follows the layouts of the operands, as in NumPy.
///
/// # Safety
/// Each call of `run` writes all `n` elements at its address, with the dtype `out`.
pub unsafe fn walk(op: &'static str, operands: &[View<'_>], out: DType, run: &Run<'_>) -> Result<RawArray> {
    let plan = WalkPlan::new(op, operands)?;
    let shape: Vec<usize> = plan.order.iter().map(|&k| plan.shape[k]).collect();
    let n = rules::count(op, &shape, out.size())?;
    let buffer = Buffer::new(op, n, out)?;
    if n > 0 {
        plan.boxes(operands, &|parts, range| {
            // SAFETY: the range lies in the result.
            let to = unsafe { buffer.start().add(range.start * out.size()) };
            run(parts, to, range.len());
        });
    }
    // SAFETY: the boxes cover the result, and `run` writes all elements of each box.
    Ok(unsafe { RawArray::new(op, shape, buffer)? }.permuted(&inverse(&plan.order)))
}

/// Like [`walk`], but writes the result to `out`. Returns false, and does nothing, unless `out` has the shape of the
/// broadcast operands and the layout that a new result would have.
///
/// # Safety
/// Each call of `run` writes only the `n` elements at its address. The memory of `out` is used only by `out` and by
/// operands with the same address, shape and strides.
pub unsafe fn walk_over(op: &'static str, operands: &[View<'_>], out: View<'_>, run: &Run<'_>) -> bool {
    let Ok(plan) = WalkPlan::new(op, operands) else { return false };
    let in_order: Vec<usize> = plan.order.iter().map(|&k| plan.shape[k]).collect();
    let strides = rules::c_strides(&in_order);
    let mut axes = plan.order.iter().zip(&strides);
    if plan.shape != out.shape || !axes.all(|(&k, &stride)| out.shape[k] == 1 || out.strides[k] == stride) {
        return false;
    }
    if out.len() > 0 {
        let to = Target(out.start.cast_mut());
        plan.boxes(operands, &|parts, range| {
            let to = &to;
            // SAFETY: the range lies in the result, whose memory order is the order of the walk.
            run(parts, unsafe { to.0.add(range.start * out.dtype.size()) }, range.len());
        });
    }
    true
}

/// The address of a result. Each task writes a different range of the result.
struct Target(*mut u8);

// SAFETY: tasks write different parts of the result.
unsafe impl Sync for Target {}

/// The permutation that undoes `order`.
fn inverse(order: &[usize]) -> Vec<usize> {
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(i, &k)| back[k] = i);
    back
}

/// The form in which the loop gets the elements of an operand in one row of a box.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    /// The elements are contiguous in the operand, and are passed as a slice of it.
    Whole,
    /// The operand has a single element in the row, which is passed as a scalar.
    One,
    /// The elements are packed into a buffer, which is passed as a slice.
    Pack,
}

/// The order in which a walk visits the elements.
pub struct Geometry {
    /// Shape of the result.
    pub shape: Vec<usize>,
    /// The result's axes in the order of the walk, the innermost last.
    pub order: Vec<usize>,
    /// Lengths of the walk's axes. They are the result's axes in the order `order`, but neighbouring axes are joined if
    /// all operands allow it.
    pub dims: Vec<usize>,
    /// Strides of each operand along the walk's axes.
    pub strides: Vec<Vec<isize>>,
}

impl Geometry {
    /// Determines the order of a walk over the broadcast operands.
    pub fn new(op: &'static str, operands: &[View<'_>]) -> Result<Geometry> {
        let shape = match operands {
            [a, b] => rules::broadcast(op, a.shape, b.shape)?,
            _ => rules::broadcast_all(op, operands.iter().map(|s| s.shape))?,
        };
        // limits the size of the result: then no sum or product of indices and lengths in this file overflows
        rules::count(op, &shape, 1)?;
        let full: Vec<Vec<isize>> = operands.iter().map(|o| repeated(o, shape.len())).collect();
        let order = memory_order(&shape, &full);
        let (dims, strides) = joined(&shape, &order, &full);
        Ok(Geometry { shape, order, dims, strides })
    }
}

/// The order of a walk, and its division into boxes.
struct WalkPlan {
    geometry: Geometry,
    boxes: Boxes,
    modes: Vec<Mode>,
}

impl Deref for WalkPlan {
    type Target = Geometry;

    fn deref(&self) -> &Geometry {
        &self.geometry
    }
}

/// The division of a walk into boxes. Each row of a box is contiguous in the result.
struct Boxes {
    /// A row consists of `step` indices of this axis, and of all indices of the axes after it.
    axis: usize,
    step: usize,
    /// The axis along which the rows of a box follow each other, and the number of rows of a box. If no operand is
    /// packed, it is the axis just before `axis`. Otherwise it is an axis before `axis` along which an operand has a
    /// small stride. `None` if a box has one row.
    tall: Option<(usize, usize)>,
}

impl WalkPlan {
    fn new(op: &'static str, operands: &[View<'_>]) -> Result<WalkPlan> {
        let geometry = Geometry::new(op, operands)?;
        let Geometry { dims, strides, .. } = &geometry;
        let widest = operands.iter().map(|o| o.dtype.size()).max().unwrap_or(1);
        let boxes = Boxes::new(dims, strides, scratch_each(operands.len()) / widest);
        let modes = strides.iter().map(|s| mode(&dims[boxes.axis..], &s[boxes.axis..])).collect();
        Ok(WalkPlan { geometry, boxes, modes })
    }

    /// Calls `run` for every row of every box, on several threads if this is faster. `run` gets the elements of each
    /// operand, and the range of the result that the row fills.
    fn boxes(&self, operands: &[View<'_>], run: &(dyn Fn(&[OperandRow], Range<usize>) + Sync)) {
        let Boxes { axis, step, tall } = self.boxes;
        let rest: usize = self.dims[axis + 1..].iter().product();
        let segments = self.dims[axis].div_ceil(step);
        let outer = Outer::new(self);
        let height = tall.map_or(1, |(_, height)| height);
        parallel::parallel_timed(outer.lens.iter().product::<usize>() * segments, height * step * rest, |range| {
            let mut scratch = [const { MaybeUninit::<[u64; 2]>::uninit() }; ALL_SCRATCH / 16];
            let mut at = Position::new(&outer, range.start / segments);
            let mut packed = [None; MAX_OPERANDS];
            for i in range {
                at.advance_to(i / segments);
                let first = i % segments * step;
                let n = step.min(self.dims[axis] - first) * rest;
                let rows = tall.map_or(1, |(k, height)| height.min(self.dims[k] - at.index[k] * height));
                let mut parts = [OperandRow::NONE; MAX_OPERANDS];
                let mut next_row = [0; MAX_OPERANDS];
                let each = scratch_each(operands.len()) / 16;
                for (k, scratch) in scratch.chunks_exact_mut(each).enumerate().take(operands.len()) {
                    let offset = at.offsets[k] + first as isize * self.strides[k][axis];
                    // SAFETY: the offset belongs to an index of the walk, the box lies in the result, and an operand
                    // gets the same part of `scratch` in every call.
                    (parts[k], next_row[k]) =
                        unsafe { self.part(&operands[k], k, Taken { offset, n, rows }, &mut packed[k], scratch) };
                }
                let begin = at.offsets[MAX_OPERANDS] as usize + first * rest;
                let row_length = outer.row_length(self);
                for row in 0..rows {
                    run(&parts[..operands.len()], begin + row * row_length..begin + row * row_length + n);
                    // after the last row, an address may be outside its operand, but nothing reads it
                    parts.iter_mut().zip(next_row).for_each(|(p, bytes)| p.start = p.start.wrapping_offset(bytes));
                }
            }
        });
    }

    /// Returns the elements of operand `k` in the first row of a box, and the distance in bytes to its elements in the
    /// next row. `packed` describes the elements that an earlier call has packed into the buffer `scratch`. If the box
    /// needs the same elements again, they are not packed again.
    ///
    /// # Safety
    /// The offset belongs to an index of the walk, and the box lies in the result. `scratch` is the same in every call.
    unsafe fn part(
        &self,
        operand: &View<'_>,
        k: usize,
        taken: Taken,
        packed: &mut Option<Taken>,
        scratch: &mut [MaybeUninit<[u64; 2]>],
    ) -> (OperandRow, isize) {
        let Taken { offset, n, rows } = taken;
        let size = operand.dtype.size() as isize;
        // SAFETY: the caller guarantees an element at this offset.
        let start = unsafe { operand.at(offset) };
        let part = OperandRow { start, scalar: self.modes[k] == Mode::One };
        let strides = &self.strides[k];
        let row_stride = self.boxes.tall.map_or(0, |(axis, _)| strides[axis]);
        if self.modes[k] != Mode::Pack {
            return (part, row_stride * size);
        }
        let buffer: *mut u8 = scratch.as_mut_ptr().cast();
        if packed.is_some_and(|packed| packed.begins_with(taken)) {
            return (OperandRow { start: buffer, ..part }, n as isize * size);
        }
        assert!(rows * n * size as usize <= size_of_val(scratch), "a box fits its buffer");
        let mut axes = vec![Axis { len: rows, from: row_stride, to: n as isize }];
        let mut row = n;
        for (i, &from) in strides.iter().enumerate().skip(self.boxes.axis) {
            let inner: usize = self.dims[i + 1..].iter().product();
            axes.push(Axis { len: row / inner, from, to: inner as isize });
            row = inner;
        }
        // SAFETY: the elements of the box may be read, and the buffer has room for them, as just checked.
        unsafe { copy::bits(operand.dtype, axes, start, buffer) };
        *packed = Some(taken);
        (OperandRow { start: buffer, ..part }, n as isize * size)
    }
}

/// The elements of an operand in a box: `rows` rows of `n` elements. The first row begins `offset` elements after the
/// operand's first element.
#[derive(Clone, Copy)]
struct Taken {
    offset: isize,
    n: usize,
    rows: usize,
}

impl Taken {
    /// Returns whether the first elements of `self` are the elements of `other`.
    fn begins_with(self, other: Taken) -> bool {
        self.offset == other.offset
            && (self.n == other.n && self.rows >= other.rows || self.n >= other.n && other.rows == 1)
    }
}

impl Boxes {
    /// Chooses the boxes. If operands are packed, a box has at most `room` elements.
    fn new(dims: &[usize], strides: &[Vec<isize>], room: usize) -> Boxes {
        let inner = dims.len() - 1;
        let has_gaps = |s: &&Vec<isize>| s[inner] != 0 && s[inner - 1] != 0 && s[inner - 1] != dims[inner] as isize;
        let with_gaps = if inner == 0 { 0 } else { strides.iter().filter(has_gaps).count().min(LONG_ROW.len() - 1) };
        let long_rows = inner == 0
            || dims[inner] >= LONG_ROW[0]
            || dims[inner] >= LONG_ROW[with_gaps] && dims[inner] * dims[inner - 1] >= ENOUGH;
        if long_rows && strides.iter().all(|s| matches!(s[inner], 0 | 1)) {
            let step = dims[inner].clamp(1, SEGMENT);
            // short rows are combined into boxes, because another row of a box costs only one addition per operand
            let rows = if inner > 0 && step == dims[inner] { (SEGMENT / step).min(dims[inner - 1]) } else { 1 };
            return Boxes { axis: inner, step, tall: (inner > 0 && rows > 1).then(|| (inner - 1, rows)) };
        }
        // finds an axis along which an operand has a smaller stride than along the innermost axis; a box of few long
        // rows would use only a part of each cache line of this operand
        let across = |s: &Vec<isize>| {
            let nearest = (0..inner).filter(|&k| s[k] != 0).min_by_key(|&k| s[k].unsigned_abs())?;
            (s[nearest].unsigned_abs() < s[inner].unsigned_abs()).then_some(nearest)
        };
        let across = strides.iter().find_map(across);
        // uses only half of the room, so that all buffers fit in the first-level cache; but uses all of the room if a
        // box needs many rows to use whole cache lines
        let room = if across.is_some() { room } else { (room / 2).max(1) };
        let (mut axis, mut rest) = (inner, 1);
        while axis > 0 && rest * dims[axis] <= room {
            rest *= dims[axis];
            axis -= 1;
        }
        let step = (room / rest.max(1)).clamp(1, dims[axis].max(1));
        match across {
            Some(k) if long_rows && (axis > k || step < TALL) => {
                Boxes { axis: inner, step: (room / TALL).clamp(1, dims[inner]), tall: Some((k, TALL)) }
            }
            _ => Boxes { axis, step, tall: None },
        }
    }
}

/// Sorts the axes by descending stride, so that the walk follows the memory of the operands. The stride of an axis is
/// taken from the first operand whose stride along this axis is not 0. The operands with the fewest strides of 0 are
/// tried first. If all strides are 0, the axes are in C order.
fn memory_order(shape: &[usize], strides: &[Vec<isize>]) -> Vec<usize> {
    let mut fullest: Vec<&Vec<isize>> = strides.iter().collect();
    fullest.sort_by_key(|s| std::cmp::Reverse(s.iter().filter(|&&s| s != 0).count()));
    let key = |k: usize| fullest.iter().map(|s| s[k].unsigned_abs()).find(|&s| s != 0).unwrap_or(usize::MAX);
    let mut order: Vec<usize> = (0..shape.len()).collect();
    order.sort_by_key(|&k| std::cmp::Reverse(key(k)));
    if order.iter().filter(|&&k| shape[k] != 1).is_sorted() {
        order.sort_unstable();
    }
    order
}

/// Returns the lengths and strides of the axes in `order`. Axes of length 1 are dropped, and neighbouring axes that
/// form a single axis in every operand are joined. At least one axis remains.
fn joined(shape: &[usize], order: &[usize], full: &[Vec<isize>]) -> (Vec<usize>, Vec<Vec<isize>>) {
    let mut dims: Vec<usize> = Vec::with_capacity(order.len());
    let mut strides: Vec<Vec<isize>> = vec![Vec::with_capacity(order.len()); full.len()];
    for &k in order.iter().filter(|&&k| shape[k] != 1) {
        let joins = |(s, full): (&Vec<isize>, &Vec<isize>)| s.last() == Some(&(full[k] * shape[k] as isize));
        if !dims.is_empty() && strides.iter().zip(full).all(joins) {
            *dims.last_mut().expect("just checked") *= shape[k];
            strides.iter_mut().zip(full).for_each(|(s, full)| *s.last_mut().expect("as many as dims") = full[k]);
        } else {
            dims.push(shape[k]);
            strides.iter_mut().zip(full).for_each(|(s, full)| s.push(full[k]));
        }
    }
    if dims.is_empty() {
        dims.push(1);
        strides.iter_mut().for_each(|s| s.push(0));
    }
    (dims, strides)
}

/// The mode of an operand in a row, given the lengths and strides of the row's axes.
fn mode(dims: &[usize], strides: &[isize]) -> Mode {
    let mut expected = 1;
    let dense = dims.iter().zip(strides).rev().all(|(&d, &s)| std::mem::replace(&mut expected, s * d as isize) == s);
    match () {
        () if strides.iter().all(|&s| s == 0) => Mode::One,
        () if dense => Mode::Whole,
        () => Mode::Pack,
    }
}

/// The axes over which the loop over boxes runs: all axes before the axes of a row. Along the axis of `Boxes::tall`,
/// one index stands for all rows of a box.
struct Outer {
    /// Lengths of these axes.
    lens: Vec<usize>,
    /// For each operand, its strides along the axes of `lens`. The last entry has the strides of the result along the
    /// same axes.
    steps: [Vec<isize>; MAX_OPERANDS + 1],
}

impl Outer {
    fn new(plan: &WalkPlan) -> Outer {
        let Boxes { axis, tall, .. } = plan.boxes;
        let mut lens = plan.dims[..axis].to_vec();
        let mut steps: [Vec<isize>; MAX_OPERANDS + 1] = std::array::from_fn(|_| vec![0; axis]);
        steps.iter_mut().zip(&plan.strides).for_each(|(to, from)| to.copy_from_slice(&from[..axis]));
        steps[MAX_OPERANDS].copy_from_slice(&rules::c_strides(&plan.dims)[..axis]);
        if let Some((k, height)) = tall {
            lens[k] = lens[k].div_ceil(height);
            steps.iter_mut().for_each(|s| s[k] *= height as isize);
        }
        Outer { lens, steps }
    }

    /// Distance in the result between neighbouring rows of a box, in elements.
    fn row_length(&self, plan: &WalkPlan) -> usize {
        plan.boxes.tall.map_or(0, |(k, height)| self.steps[MAX_OPERANDS][k] as usize / height)
    }
}

/// Position of a walk: the index along each axis of `Outer`, the same position as a single number `row`, and the
/// offsets of the operands and of the result at this position.
struct Position<'a> {
    outer: &'a Outer,
    row: usize,
    index: Vec<usize>,
    offsets: [isize; MAX_OPERANDS + 1],
}

impl<'a> Position<'a> {
    fn new(outer: &'a Outer, row: usize) -> Position<'a> {
        let mut index = vec![0; outer.lens.len()];
        let mut left = row;
        for (i, &d) in index.iter_mut().zip(&outer.lens).rev() {
            *i = left % d;
            left /= d;
        }
        let offsets = outer.steps.each_ref().map(|s| index.iter().zip(s).map(|(&i, &s)| i as isize * s).sum());
        Position { outer, row, index, offsets }
    }

    /// Moves to position `row`, which must be the current position or the next one.
    fn advance_to(&mut self, row: usize) {
        if self.row == row {
            return;
        }
        self.row = row;
        for k in (0..self.index.len()).rev() {
            self.index[k] += 1;
            let wraps = self.index[k] == self.outer.lens[k];
            let steps = if wraps { 1 - self.outer.lens[k] as isize } else { 1 };
            self.offsets.iter_mut().zip(&self.outer.steps).for_each(|(o, s)| *o += steps * s[k]);
            if !wraps {
                return;
            }
            self.index[k] = 0;
        }
    }
}
