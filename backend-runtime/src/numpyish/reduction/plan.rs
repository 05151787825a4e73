//! How an array is reduced over some of its axes: which loops, in which order, on which threads.

use super::{
    super::{
        buffer::Buffer,
        layout::{self, Dim, Offsets},
        parallel::{self, CHEAP},
        raw::RawArray,
        source::Source,
    },
    fold::Folding,
    order::Order,
    reading::{NO_BLOCK, Reading},
    tile::{Folded, Outputs, pairwise},
};
use crate::Result;
use std::ops::Range;

/// A reduction of an array of known layout.
pub struct Plan {
    op: &'static str,
    /// Axes that stay, the one of the smallest stride last, neighbours merged where memory allows.
    kept: Vec<Dim>,
    /// The elements of an output.
    order: Order,
    /// Offset of the element all loops start from.
    start: isize,
    /// Lengths of the axes that stay, in the order of memory.
    shape: Vec<usize>,
    /// For each axis of the result, where it is in `shape`.
    places: Vec<usize>,
    /// Axes of length 1 to insert.
    inserted: Vec<usize>,
    by_rows: bool,
}

/// Up to this many outputs, the elements of one output are shared by several threads.
const FEW: usize = 256;

impl Plan {
    /// The reduction of `x` over these axes.
    pub fn new(op: &'static str, x: Source<'_>, axes: &[usize], keepdims: bool) -> Plan {
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
        let by_rows = by_rows(&kept, &order);
        let shape = stay.iter().map(|&a| dims[a].len).collect();
        Plan { op, kept, order, start, shape, places, inserted, by_rows }
    }

    /// The op, for errors.
    pub fn op(&self) -> &'static str {
        self.op
    }

    /// Number of elements of the result.
    pub fn outputs(&self) -> usize {
        layout::size(&self.kept)
    }

    /// Number of elements that each of them is computed from.
    pub fn inputs(&self) -> usize {
        self.order.len()
    }

    /// Where the elements of each output begin that go along an axis, from output number `first` on. It never ends.
    pub fn starts(&self, first: usize) -> impl Iterator<Item = isize> {
        Offsets::at(&self.kept, first).map(|offset| self.start + offset)
    }

    /// The result, of its elements in the order of [`Plan::fold`].
    ///
    /// # Safety
    /// All elements of the result have been written.
    pub unsafe fn array(&self, values: Buffer) -> Result<RawArray> {
        // SAFETY: the caller's promise.
        let array = unsafe { RawArray::new(self.op, self.shape.clone(), values)? };
        Ok(self.inserted.iter().fold(array.permuted(&self.places), |a, &axis| a.with_axis(axis)))
    }

    /// Folds the elements of every output, of which there is at least one. `given` has one entry per output, or is none.
    ///
    /// # Safety
    /// The reading and the given values belong to the array of this plan, and have the dtypes of the folding.
    pub unsafe fn fold(&self, from: &Reading<'_>, folding: &Folding, given: Option<&Buffer>) -> Result<Buffer> {
        let given = given.map_or(std::ptr::null(), |g| g.start().cast_const());
        // SAFETY: the caller's promise.
        unsafe { self.fold_given(from, folding, given) }
    }

    /// As [`Plan::fold`], with what is given at an address: an entry for each output, or one that the folding shares.
    ///
    /// # Safety
    /// As for [`Plan::fold`].
    pub unsafe fn fold_given(&self, from: &Reading<'_>, folding: &Folding, given: *const u8) -> Result<Buffer> {
        let outputs = self.outputs();
        let inputs = self.inputs();
        let given = Given { start: given, size: folding.given };
        let size = folding.acc.size();
        let out = Buffer::new(self.op, outputs, folding.acc)?;
        let split = Split::new(outputs, inputs, self.order.blocks(), self.by_rows);
        let Some(Split { each, pieces, groups }) = split else {
            let grain = if self.by_rows { (CHEAP / inputs).max(NARROW) } else { (CHEAP / inputs).max(1) };
            parallel::parallel(outputs, grain, |range| {
                // SAFETY: every output belongs to one task only.
                unsafe {
                    let acc = out.start().add(range.start * size);
                    self.run(from, folding, 0..self.order.blocks(), range, &given, acc);
                }
            });
            return Ok(out);
        };
        let partial = Buffer::new(self.op, outputs * pieces, folding.acc)?;
        parallel::parallel(pieces * groups, 1, |range| {
            for (piece, group) in range.map(|task| (task / groups, task % groups)) {
                let blocks = piece * each..self.order.blocks().min((piece + 1) * each);
                let range = outputs * group / groups..outputs * (group + 1) / groups;
                // SAFETY: a task has outputs of its own.
                unsafe {
                    let acc = partial.start().add((piece * outputs + range.start) * size);
                    self.run(from, folding, blocks, range, &given, acc);
                }
            }
        });
        let mut piece = 0;
        // SAFETY: the pieces have written a value for each output.
        unsafe {
            pairwise(folding, outputs, pieces, out.start(), |to| {
                to.copy_from_nonoverlapping(partial.start().add(piece * outputs * size), outputs * size);
                piece += 1;
            });
        }
        Ok(out)
    }

    /// Folds some blocks of the elements of some outputs.
    ///
    /// # Safety
    /// As for [`Plan::fold`]; `acc` has room for the values of the outputs.
    unsafe fn run(
        &self,
        from: &Reading<'_>,
        folding: &Folding,
        blocks: Range<usize>,
        outputs: Range<usize>,
        given: &Given,
        acc: *mut u8,
    ) {
        if outputs.is_empty() {
            return;
        }
        let folded = Folded { from, folding, order: &self.order, blocks };
        let mut scratch = NO_BLOCK;
        let size = folding.acc.size();
        if !self.by_rows {
            for (o, offset) in outputs.clone().zip(Offsets::at(&self.kept, outputs.start)) {
                // SAFETY: the lane is one of the array's, the output one of the task's.
                unsafe {
                    let to = acc.add((o - outputs.start) * size);
                    folded.lane(self.start + offset, given.of(o), to, &mut scratch);
                }
            }
            return;
        }
        let (row, rest) =
            self.kept.split_last().map_or((Dim { len: 1, stride: 1 }, &[][..]), |(&row, rest)| (row, rest));
        let widest = folded.widest();
        let mut rows = Offsets::at(rest, outputs.start / row.len);
        let mut o = outputs.start;
        while o < outputs.end {
            let first = o % row.len;
            let end = row.len.min(first + outputs.end - o);
            let start = self.start + rows.next().unwrap_or(0);
            for column in (first..end).step_by(widest) {
                let width = widest.min(end - column);
                let row = Outputs { start: start + column as isize * row.stride, stride: row.stride, width };
                let o = o + column - first;
                // SAFETY: the rows are those of the array, the outputs those of the task.
                unsafe { folded.rows(row, given.of(o), acc.add((o - outputs.start) * size), &mut scratch) };
            }
            o += end - first;
        }
    }
}

/// How few outputs of many elements are shared by several threads.
struct Split {
    /// Blocks of a piece: a power of two, so that the pairs of its blocks are those of all blocks.
    each: usize,
    /// Parts of the elements.
    pieces: usize,
    /// Parts of the outputs.
    groups: usize,
}

/// Fewer neighbouring outputs are not worth a task.
const NARROW: usize = 64;

impl Split {
    /// None where outputs are not shared.
    fn new(outputs: usize, inputs: usize, blocks: usize, by_rows: bool) -> Option<Split> {
        const MOST: usize = 64;
        let work = outputs.saturating_mul(inputs);
        if outputs > FEW || work < 2 * CHEAP {
            return None;
        }
        let tasks = (work / CHEAP).min(MOST);
        let each = 1 << (blocks / tasks).max(1).ilog2();
        let pieces = blocks.div_ceil(each);
        let narrow = if by_rows { NARROW } else { 1 };
        (pieces > 1).then(|| Split { each, pieces, groups: (tasks / pieces).clamp(1, outputs.div_ceil(narrow)) })
    }
}

/// The values that the fold needs for each output, if it needs any.
struct Given {
    start: *const u8,
    size: usize,
}

// SAFETY: it is only read.
unsafe impl Sync for Given {}

impl Given {
    /// Address of the value for one output.
    fn of(&self, output: usize) -> *const u8 {
        self.start.wrapping_add(output * self.size)
    }
}

/// Where an axis comes when axes are sorted, outermost first; one of stride 0 is not near anything.
fn nearness(d: Dim) -> usize {
    if d.stride == 0 { usize::MAX } else { d.stride.unsigned_abs() }
}

/// Axes without those of length 1, neighbours as one where the outer continues the inner.
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

/// The length of the nearest axes as one, as far as no axis that stays is between them. Strides are not asked: a formula has none, and
/// those of a part may be others than those of the whole.
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

/// Whether rows are added to one another, in place of every output on its own: what reads memory in its order, with
/// long inner loops.
fn by_rows(kept: &[Dim], order: &Order) -> bool {
    const LONG: usize = 16;
    match (kept.last(), order.nearest()) {
        (None, _) => false,
        (_, None) => true,
        (Some(&k), Some(r)) => nearness(k) < nearness(r) || (r.len < LONG && r.len < k.len),
    }
}
