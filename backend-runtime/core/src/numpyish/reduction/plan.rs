//! Plans for reductions over some axes: the choice of loops, of the order of the elements, and of threads.

use super::{
    super::{
        buffer::Buffer,
        layout::{self, Dim, Offsets},
        parallel::{self, CHEAP},
        raw::RawArray,
        source::Source,
    },
    folding::Folding,
    order::{BLOCK, Order},
    reading::{NO_BLOCK, Reading},
    tile::{Folded, Outputs, pairwise},
};
use crate::{Result, threads};
use std::{
    ops::Range,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

/// The plan of a reduction: the layout of the array and the algorithm, without the elements and the operation.
pub struct ReductionPlan {
    op: &'static str,
    /// The axes that are not reduced; the last one has the smallest stride. Neighbouring axes are merged if their
    /// strides allow it.
    kept: Vec<Dim>,
    /// The order in which the input elements of one output are folded.
    order: Order,
    /// Offset of the first element of the first output.
    start: isize,
    /// Lengths of the axes that are not reduced, from the axis with the largest stride to the axis with the smallest.
    shape: Vec<usize>,
    /// For each axis of the result, its index in `shape`.
    places: Vec<usize>,
    /// Axes of length 1 to insert, for `keepdims`.
    inserted: Vec<usize>,
    algorithm: FoldAlgorithm,
}

/// The algorithm that folds the outputs.
#[derive(Clone, Copy, PartialEq)]
enum FoldAlgorithm {
    /// Folds the lanes one after another. A lane consists of the input elements of one output.
    Lanes,
    /// Folds the lanes one after another if they are dense (contiguous). Otherwise adds rows, because the lanes are
    /// short.
    ShortRows,
    /// Adds rows to one another. A row has one element of each of many outputs, so the inner loops are long, and read
    /// memory in order.
    Rows,
}

/// If there are at most this many outputs, the input elements of each output may be divided among several threads. This
/// limit is for outputs that are not folded by rows; for rows, [`Split::new`] computes another limit.
const FEW: usize = 256;

impl ReductionPlan {
    /// A plan for the reduction of `x` over `axes`.
    pub fn new(op: &'static str, x: Source<'_>, axes: &[usize], keepdims: bool) -> ReductionPlan {
        let dims = layout::dims(x.view());
        let mut start = 0;
        let mut reduced = Vec::with_capacity(axes.len());
        for &axis in axes {
            let Dim { len, stride } = dims[axis];
            if stride < 0 && len > 0 {
                start += (len - 1) as isize * stride;
            }
            if len != 1 {
                reduced.push((axis, Dim { len, stride: stride.abs() }));
            }
        }
        let mut stay: Vec<usize> = (0..dims.len()).filter(|a| !axes.contains(a)).collect();
        let positions = stay.clone();
        stay.sort_by_key(|&a| std::cmp::Reverse(nearness(dims[a])));
        reduced.sort_by_key(|&(_, d)| std::cmp::Reverse(nearness(d)));
        let places = positions.iter().map(|p| stay.iter().position(|s| s == p).unwrap_or(0)).collect();
        let kept = merged(stay.iter().map(|&a| dims[a]));
        let order = Order::new(merged(reduced.iter().map(|&(_, d)| d)), run(&reduced, axes));
        let mut inserted = if keepdims { axes.to_vec() } else { Vec::new() };
        inserted.sort_unstable();
        let algorithm = fastest_algorithm(&kept, &order);
        let shape = stay.iter().map(|&a| dims[a].len).collect();
        ReductionPlan { op, kept, order, start, shape, places, inserted, algorithm }
    }

    /// The name of the op, for error messages.
    pub fn op(&self) -> &'static str {
        self.op
    }

    /// Number of elements of the result.
    pub fn outputs(&self) -> usize {
        layout::size(&self.kept)
    }

    /// Number of elements that are folded into each output.
    pub fn inputs(&self) -> usize {
        self.order.len()
    }

    /// Offset of the first element of each output, from output `first` on, for a reduction along at most one axis. The
    /// iterator never ends.
    pub fn starts(&self, first: usize) -> impl Iterator<Item = isize> {
        Offsets::at(&self.kept, first).map(|offset| self.start + offset)
    }

    /// Makes the result array from its elements, which must have the order of [`ReductionPlan::fold`].
    ///
    /// # Safety
    /// All elements of the result have been written.
    pub unsafe fn array(&self, values: Buffer) -> Result<RawArray> {
        // SAFETY: the caller guarantees that all elements have been written.
        let array = unsafe { RawArray::new(self.op, self.shape.clone(), values)? };
        Ok(self.inserted.iter().fold(array.permuted(&self.places), |a, &axis| a.with_axis(axis)))
    }

    /// Folds the elements of each output; there must be at least one element per output. `given` has one operand for
    /// each output.
    ///
    /// # Safety
    /// `from` and `given` must belong to the array of this plan, and have the dtypes of the folding.
    pub unsafe fn fold(&self, from: &Reading<'_>, folding: &Folding, given: Option<&Buffer>) -> Result<Buffer> {
        let given = given.map_or(std::ptr::null(), |g| g.start().cast_const());
        // SAFETY: the caller guarantees the elements, the operands and the dtypes.
        unsafe { self.fold_given(from, folding, given) }
    }

    /// Like [`ReductionPlan::fold`], with operands at the address `given`: one operand for each output, or one that all
    /// outputs share.
    ///
    /// # Safety
    /// The conditions of [`ReductionPlan::fold`] hold.
    pub unsafe fn fold_given(&self, from: &Reading<'_>, folding: &Folding, given: *const u8) -> Result<Buffer> {
        let outputs = self.outputs();
        let inputs = self.inputs();
        let given = FoldOperands { start: given, size: folding.given };
        let size = folding.acc.size();
        let out = Buffer::new(self.op, outputs, folding.acc)?;
        let folded = |blocks: Range<usize>| Folded { from, folding, order: &self.order, blocks };
        let dense = folded(0..self.order.blocks()).has_dense_lanes();
        let by_rows = self.algorithm == FoldAlgorithm::Rows || (self.algorithm == FoldAlgorithm::ShortRows && !dense);
        let run = match (by_rows, dense) {
            (true, _) => ReductionPlan::rows,
            (_, true) => ReductionPlan::dense_lanes,
            _ => ReductionPlan::lanes,
        };
        let narrow = if by_rows { (NARROW / from.wide().max(size)).max(1) } else { 1 };
        let split = Split::new(outputs, inputs, self.order.blocks(), by_rows.then_some(narrow));
        let Some(Split { each, pieces, groups }) = split else {
            parallel::parallel(outputs.div_ceil(narrow), CHEAP / inputs / narrow, |range| {
                let range = range.start * narrow..outputs.min(range.end * narrow);
                // SAFETY: each output belongs to one task only.
                unsafe {
                    let acc = out.start().add(range.start * size);
                    run(self, folded(0..self.order.blocks()), range, &given, acc);
                }
            });
            return Ok(out);
        };
        let partial = Buffer::new(self.op, outputs * pieces, folding.acc)?;
        parallel::parallel(pieces * groups, 1, |range| {
            for (piece, group) in range.map(|task| (task / groups, task % groups)) {
                let blocks = piece * each..self.order.blocks().min((piece + 1) * each);
                let range = outputs * group / groups..outputs * (group + 1) / groups;
                // SAFETY: each task writes its own values of its own piece.
                unsafe {
                    let acc = partial.start().add((piece * outputs + range.start) * size);
                    run(self, folded(blocks), range, &given, acc);
                }
            }
        });
        let mut piece = 0;
        // SAFETY: each piece has written a value for each output.
        unsafe {
            pairwise(folding, outputs, pieces, out.start(), |to| {
                to.copy_from_nonoverlapping(partial.start().add(piece * outputs * size), outputs * size);
                piece += 1;
            });
        }
        Ok(out)
    }

    /// Like [`ReductionPlan::fold`], for bytes that are 0 or 1, and for a fold whose result is `last` if any element is
    /// `last`. If there is a single output, the elements after such an element need not be read.
    ///
    /// # Safety
    /// The conditions of [`ReductionPlan::fold`] hold, and the fold takes no operand `given`.
    pub unsafe fn fold_until(&self, from: &Reading<'_>, folding: &Folding, last: u8) -> Result<Buffer> {
        /// Number of blocks that a task folds before it checks again whether any task has found `last`.
        const SOME: usize = 8;
        if self.outputs() != 1 {
            // SAFETY: the caller guarantees the elements and the dtypes.
            return unsafe { self.fold(from, folding, None) };
        }
        let blocks = self.order.blocks();
        let found = AtomicBool::new(false);
        parallel::parallel(blocks.div_ceil(SOME), CHEAP / (SOME * BLOCK), |range| {
            let mut scratch = NO_BLOCK;
            for some in range {
                if found.load(Relaxed) {
                    return;
                }
                let blocks = some * SOME..blocks.min((some + 1) * SOME);
                let folded = Folded { from, folding, order: &self.order, blocks };
                let mut value = 0_u8;
                // SAFETY: the elements belong to the output, and `value` has room for its result.
                unsafe {
                    if folded.has_dense_lanes() {
                        let one = Outputs { start: self.start, stride: 0, width: 1 };
                        folded.lanes(one, std::ptr::null(), &mut value, &mut scratch);
                    } else {
                        folded.lane(self.start, std::ptr::null(), &mut value, &mut scratch);
                    }
                }
                if value == last {
                    found.store(true, Relaxed);
                }
            }
        });
        let out = Buffer::new(self.op, 1, folding.acc)?;
        // SAFETY: the buffer has room for a byte.
        unsafe { out.start().write(if found.into_inner() { last } else { 1 - last }) };
        Ok(out)
    }

    /// Folds a range of outputs, one after another.
    ///
    /// # Safety
    /// The conditions of [`ReductionPlan::fold`] hold, and `acc` must have room for the values of the outputs.
    unsafe fn lanes(&self, folded: Folded<'_>, outputs: Range<usize>, given: &FoldOperands, acc: *mut u8) {
        let mut scratch = NO_BLOCK;
        let size = folded.folding.acc.size();
        for (o, offset) in outputs.clone().zip(Offsets::at(&self.kept, outputs.start)) {
            // SAFETY: the lane belongs to the array, and the output belongs to this task.
            unsafe {
                let to = acc.add((o - outputs.start) * size);
                folded.lane(self.start + offset, given.of(o), to, &mut scratch);
            }
        }
    }

    /// Like `lanes`, for contiguous elements. All outputs along an axis are folded in one call.
    ///
    /// # Safety
    /// The conditions of [`ReductionPlan::lanes`] hold, and the lanes must be dense.
    unsafe fn dense_lanes(&self, folded: Folded<'_>, outputs: Range<usize>, given: &FoldOperands, acc: *mut u8) {
        let mut scratch = NO_BLOCK;
        let (begin, size) = (outputs.start, folded.folding.acc.size());
        self.along_an_axis(outputs, usize::MAX, |row, o| {
            // SAFETY: the caller guarantees the lanes, the operands and enough room.
            unsafe { folded.lanes(row, given.of(o), acc.add((o - begin) * size), &mut scratch) };
        });
    }

    /// Folds a range of outputs, by adding rows with one element of each output.
    ///
    /// # Safety
    /// The conditions of [`ReductionPlan::lanes`] hold.
    unsafe fn rows(&self, folded: Folded<'_>, outputs: Range<usize>, given: &FoldOperands, acc: *mut u8) {
        let mut scratch = NO_BLOCK;
        let (begin, size) = (outputs.start, folded.folding.acc.size());
        self.along_an_axis(outputs, folded.widest(), |row, o| {
            // SAFETY: the caller guarantees the outputs, the operands and enough room.
            unsafe { folded.rows(row, given.of(o), acc.add((o - begin) * size), &mut scratch) };
        });
    }

    /// Calls `f` for at most `widest` outputs at a time, which are neighbours along the last axis that is not
    /// reduced. The second argument of `f` is the index of the first of these outputs.
    pub fn along_an_axis(&self, outputs: Range<usize>, widest: usize, mut f: impl FnMut(Outputs, usize)) {
        if outputs.is_empty() {
            return; // an axis may have length 0, by which the code below would divide
        }
        let (row, rest) =
            self.kept.split_last().map_or((Dim { len: 1, stride: 1 }, &[][..]), |(&row, rest)| (row, rest));
        let mut rows = Offsets::at(rest, outputs.start / row.len);
        let mut o = outputs.start;
        while o < outputs.end {
            let first = o % row.len;
            let end = row.len.min(first + outputs.end - o);
            let start = self.start + rows.next().unwrap_or(0);
            for column in (first..end).step_by(widest) {
                let width = widest.min(end - column);
                f(
                    Outputs { start: start + column as isize * row.stride, stride: row.stride, width },
                    o + column - first,
                );
            }
            o += end - first;
        }
    }
}

/// The division of few outputs, each with many elements, among several threads.
struct Split {
    /// Number of blocks of a piece (a range of the elements of each output). It is a power of two, so that the same
    /// pairs of blocks are merged as without pieces.
    each: usize,
    /// Number of pieces into which the elements of each output are divided.
    pieces: usize,
    /// Number of ranges into which the outputs are divided.
    groups: usize,
}

/// Minimum size in bytes of the neighbouring outputs of a task, if they are folded by rows. With fewer bytes, a task
/// reads such short ranges of each row that it waits for memory at every row.
const NARROW: usize = 1 << 11;

impl Split {
    /// Divides the work, or returns `None` if threads do not share outputs. `narrow` is the minimum number of outputs
    /// of a task, if outputs are folded by rows.
    fn new(outputs: usize, inputs: usize, blocks: usize, narrow: Option<usize>) -> Option<Split> {
        const MAX_TASKS: usize = 64;
        let work = outputs.saturating_mul(inputs);
        if work < 2 * CHEAP {
            return None;
        }
        let (few, most) = match narrow {
            None => (FEW, MAX_TASKS),
            // with more outputs, each task folds a range of columns over all rows, which reads these columns in memory
            // order
            Some(narrow) => (4 * narrow * threads::count(), MAX_TASKS.min(4 * threads::count())),
        };
        if outputs > few {
            return None;
        }
        let tasks = (work / CHEAP).min(most);
        let each = 1 << (blocks / tasks).max(1).ilog2();
        let pieces = blocks.div_ceil(each);
        // groups are at least twice as wide as `narrow`, because each group is also divided into pieces
        let groups = (tasks / pieces).clamp(1, outputs.div_ceil(narrow.map_or(1, |narrow| 2 * narrow)));
        (pieces > 1).then_some(Split { each, pieces, groups })
    }
}

/// The operands of the outputs, if the fold needs any.
struct FoldOperands {
    start: *const u8,
    size: usize,
}

// SAFETY: the operands are only read.
unsafe impl Sync for FoldOperands {}

impl FoldOperands {
    /// Address of the operand of one output.
    fn of(&self, output: usize) -> *const u8 {
        self.start.wrapping_add(output * self.size)
    }
}

/// Sort key of an axis: the outermost axis has the largest key. Stride 0 counts as outermost.
fn nearness(d: Dim) -> usize {
    if d.stride == 0 { usize::MAX } else { d.stride.unsigned_abs() }
}

/// Removes axes of length 1. Merges neighbouring axes if all their elements are at equal distances in memory.
fn merged(dims: impl IntoIterator<Item = Dim>) -> Vec<Dim> {
    let mut all: Vec<Dim> = Vec::new();
    for d in dims.into_iter().filter(|d| d.len != 1) {
        match all.last_mut() {
            Some(outer) if d.len as isize * d.stride == outer.stride => {
                *outer = Dim { len: outer.len * d.len, stride: d.stride };
            }
            _ => all.push(d),
        }
    }
    all
}

/// Number of elements along the last axes that form one run, because no kept axis lies between these axes. Strides are
/// ignored: a formula has no strides, and the strides of a slice may differ from the strides of the whole array.
fn run(reduced: &[(usize, Dim)], axes: &[usize]) -> usize {
    let Some((&(mut axis, Dim { len: mut run, .. }), outer)) = reduced.split_last() else { return 1 };
    for &(next, d) in outer.iter().rev() {
        if (next.min(axis)..next.max(axis)).any(|between| !axes.contains(&between)) {
            break;
        }
        run *= d.len;
        axis = next;
    }
    run
}

/// Chooses the fastest algorithm to fold the outputs.
fn fastest_algorithm(kept: &[Dim], order: &Order) -> FoldAlgorithm {
    const LONG: usize = 16;
    match (kept.last(), order.nearest()) {
        (None, _) => FoldAlgorithm::Lanes,
        (_, None) => FoldAlgorithm::Rows,
        (Some(&k), Some(r)) if nearness(k) < nearness(r) => FoldAlgorithm::Rows,
        (Some(&k), Some(r)) if r.len < LONG && r.len < k.len => FoldAlgorithm::ShortRows,
        _ => FoldAlgorithm::Lanes,
    }
}
