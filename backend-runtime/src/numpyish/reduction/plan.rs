//! How an array is reduced over some of its axes: which loops, in which order, on which threads.

use super::{
    super::{
        buffer::Buffer,
        convert::{Convert, Value},
        copy::by_bits,
        layout::{self, Dim, Offsets},
        parallel::{self, CHEAP},
        raw::{RawArray, View},
        source::{Fused, Source, gather},
    },
    fold::{BLOCK, Folding, Pairwise},
};
use crate::Result;
use std::{mem::MaybeUninit, ops::Range};

/// The elements of an array, converted to those of a fold when they are read.
pub struct Reading<'a> {
    formula: Option<&'a Fused<'a>>,
    start: *const u8,
    /// Bytes of an element of the array, and of one of the fold.
    size: usize,
    wide: usize,
    /// Copies elements of any stride together.
    gather: unsafe fn(from: *const u8, stride: isize, n: usize, to: *mut u8),
    convert: Option<Convert>,
}

// SAFETY: it only reads, and what it reads may be shared.
unsafe impl Sync for Reading<'_> {}

/// Elements that are converted together.
const SOME: usize = 128;

/// Room for a block of any dtype.
pub type Block = [MaybeUninit<Value>; BLOCK];

/// Such room, not written yet.
pub const NO_BLOCK: Block = [const { MaybeUninit::uninit() }; BLOCK];

impl<'a> Reading<'a> {
    /// The elements of `x`, as `convert` makes them, `wide` bytes each.
    pub fn new(x: Source<'a>, convert: Option<Convert>, wide: usize) -> Reading<'a> {
        let gather = by_bits!(x.dtype, U => gather::<U>);
        Reading { formula: x.formula(), start: x.start, size: x.dtype.size(), wide, gather, convert }
    }

    /// `n` elements of this stride, [`BLOCK`] at most, from an offset on: where they lie, or in `scratch`.
    ///
    /// # Safety
    /// The offsets are those of elements of the array.
    pub unsafe fn load(&self, offset: isize, stride: isize, n: usize, scratch: &mut Block) -> *const u8 {
        if let Some(formula) = self.formula {
            // SAFETY: the caller's promise.
            return unsafe { self.compute(formula, offset, stride, n, scratch) };
        }
        let from = self.start.wrapping_offset(offset * self.size as isize);
        if self.convert.is_none() && stride == 1 {
            return from;
        }
        // SAFETY: the caller's promise.
        unsafe { self.copy(from, stride, n, scratch) }
    }

    #[inline(never)]
    unsafe fn compute(
        &self,
        formula: &Fused<'_>,
        offset: isize,
        stride: isize,
        n: usize,
        scratch: &mut Block,
    ) -> *const u8 {
        assert!(n <= BLOCK, "elements fit a block");
        let to = scratch.as_mut_ptr().cast::<u8>();
        // SAFETY: the caller's offsets, and room for as many elements.
        unsafe {
            let Some(convert) = self.convert else {
                formula.compute(offset, stride, n, to);
                return to;
            };
            let mut some = [const { MaybeUninit::<Value>::uninit() }; SOME];
            let here = some.as_mut_ptr().cast::<u8>();
            for first in (0..n).step_by(SOME) {
                let many = SOME.min(n - first);
                formula.compute(offset + first as isize * stride, stride, many, here);
                convert(here, to.add(first * self.wide), many);
            }
        }
        to
    }

    #[inline(never)]
    unsafe fn copy(&self, from: *const u8, stride: isize, n: usize, scratch: &mut Block) -> *const u8 {
        assert!(n <= BLOCK, "elements fit a block");
        let to = scratch.as_mut_ptr().cast::<u8>();
        // SAFETY: the caller's elements, and room for as many.
        unsafe {
            match self.convert {
                None => (self.gather)(from, stride, n, to),
                Some(convert) if stride == 1 => convert(from, to, n),
                Some(convert) => {
                    let mut some = [const { MaybeUninit::<Value>::uninit() }; SOME];
                    let here = some.as_mut_ptr().cast::<u8>();
                    for first in (0..n).step_by(SOME) {
                        let many = SOME.min(n - first);
                        (self.gather)(from.offset(first as isize * stride * self.size as isize), stride, many, here);
                        convert(here, to.add(first * self.wide), many);
                    }
                }
            }
        }
        to
    }

    /// Where elements lie that need no copy if their stride is 1.
    fn direct(&self) -> bool {
        self.convert.is_none() && self.formula.is_none()
    }
}

/// A reduction of an array of known layout. The order of elements within an output is not kept.
pub struct Plan {
    op: &'static str,
    /// Axes that stay, the one of the smallest stride last, neighbours merged where memory allows.
    kept: Vec<Dim>,
    /// Axes that go, likewise.
    reduced: Vec<Dim>,
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

/// Outputs of one tile of rows: their values stay in the first-level cache.
const TILE: usize = BLOCK;

/// Rows added up before their sum is added to the total, so that errors grow slowly.
const ROWS: usize = 256;

/// Up to this many outputs, the elements of one output are shared by several threads.
const FEW: usize = 256;

impl Plan {
    /// The reduction of `x` over these axes.
    pub fn new(op: &'static str, x: View<'_>, axes: &[usize], keepdims: bool) -> Plan {
        let dims = layout::dims(x);
        let mut start = 0;
        let mut reduced = Vec::with_capacity(axes.len());
        for &axis in axes {
            let Dim { len, stride } = dims[axis];
            if stride < 0 && len > 0 {
                start += (len - 1) as isize * stride;
            }
            reduced.push(Dim { len, stride: stride.abs() });
        }
        let mut stay: Vec<usize> = (0..dims.len()).filter(|a| !axes.contains(a)).collect();
        let positions = stay.clone();
        stay.sort_by_key(|&a| std::cmp::Reverse(nearness(dims[a])));
        reduced.sort_by_key(|&d| std::cmp::Reverse(nearness(d)));
        let places = positions.iter().map(|p| stay.iter().position(|s| s == p).unwrap_or(0)).collect();
        let kept = merged(stay.iter().map(|&a| dims[a]));
        let reduced = merged(reduced);
        let mut inserted = if keepdims { axes.to_vec() } else { Vec::new() };
        inserted.sort_unstable();
        let by_rows = by_rows(&kept, &reduced);
        let shape = stay.iter().map(|&a| dims[a].len).collect();
        Plan { op, kept, reduced, start, shape, places, inserted, by_rows }
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
        layout::size(&self.reduced)
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
        let work = outputs.saturating_mul(inputs);
        let longest = (0..self.reduced.len()).max_by_key(|&i| self.reduced[i].len);
        let given = Given { start: given, size: folding.given };
        let size = folding.acc.size();
        let (Some(longest), true) = (longest, outputs <= FEW && work >= 2 * CHEAP) else {
            let out = Buffer::new(self.op, outputs, folding.acc)?;
            let grain = if self.by_rows { (CHEAP / inputs).max(64) } else { (CHEAP / inputs).max(1) };
            parallel::parallel(outputs, grain, |range| {
                // SAFETY: every output belongs to one task only.
                unsafe {
                    let acc = out.start().add(range.start * size);
                    self.run(from, folding, self.start, &self.reduced, range, &given, acc);
                }
            });
            return Ok(out);
        };
        // the number of pieces depends on the shape alone, so that the result does not depend on the threads
        let dim = self.reduced[longest];
        let pieces = (work / CHEAP).min(dim.len).min(64);
        let len = dim.len.div_ceil(pieces);
        let pieces = dim.len.div_ceil(len);
        let partial = Buffer::new(self.op, outputs * pieces, folding.acc)?;
        parallel::parallel(pieces, 1, |range| {
            for p in range {
                let mut reduced = self.reduced.clone();
                reduced[longest].len = len.min(dim.len - p * len);
                let start = self.start + (p * len) as isize * dim.stride;
                // SAFETY: a piece has outputs of its own.
                unsafe {
                    let acc = partial.start().add(p * outputs * size);
                    self.run(from, folding, start, &reduced, 0..outputs, &given, acc);
                }
            }
        });
        let out = Buffer::new(self.op, outputs, folding.acc)?;
        for o in 0..outputs {
            let mut tree = Pairwise::new(folding);
            for p in 0..pieces {
                // SAFETY: the pieces have written a value each; there is at least one.
                unsafe { tree.push(Value::read(folding.acc, partial.start().add((p * outputs + o) * size))) };
            }
            let total = tree.finish().unwrap_or(Value::ZERO);
            // SAFETY: an output has room for a value.
            unsafe { total.fill(folding.acc, out.start().add(o * size), 1) };
        }
        Ok(out)
    }

    /// Folds the elements at `start` and these axes of some outputs.
    ///
    /// # Safety
    /// As for [`Plan::fold`]; `acc` has room for the values of the outputs.
    #[allow(clippy::too_many_arguments)] // what a task gets, named
    unsafe fn run(
        &self,
        from: &Reading<'_>,
        folding: &Folding,
        start: isize,
        reduced: &[Dim],
        outputs: Range<usize>,
        given: &Given,
        acc: *mut u8,
    ) {
        if outputs.is_empty() {
            return;
        }
        let (inner, outer) = split_last(reduced);
        let (row, blocks) = split_last(&self.kept);
        let mut scratch = NO_BLOCK;
        let size = folding.acc.size();
        if !self.by_rows {
            for (o, offset) in outputs.clone().zip(Offsets::at(&self.kept, outputs.start)) {
                // SAFETY: the lane is one of the array's, the output one of the task's.
                unsafe {
                    let to = acc.add((o - outputs.start) * size);
                    lane(from, folding, start + offset, inner, outer, given.of(o), to, &mut scratch);
                }
            }
            return;
        }
        let mut part = NO_BLOCK;
        let many = outputs.len();
        let mut done = 0;
        while done < many {
            let o = outputs.start + done;
            let column = o % row.len;
            let width = TILE.min(row.len - column).min(many - done);
            let offset = Offsets::at(blocks, o / row.len).next().unwrap_or(0) + column as isize * row.stride;
            let tile = Tile { start: start + offset, stride: row.stride, inner, outer, width, given: given.of(o) };
            // SAFETY: the rows are those of the array, the outputs those of the task.
            unsafe { tile.fold(from, folding, acc.add(done * size), part.as_mut_ptr().cast(), &mut scratch) };
            done += width;
        }
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

/// One output: blocks of lanes, merged pairwise.
///
/// # Safety
/// The lane is one of the array's; `acc` has room for a value.
#[allow(clippy::too_many_arguments)] // one loop of `run`, apart so that it can be read
unsafe fn lane(
    from: &Reading<'_>,
    folding: &Folding,
    start: isize,
    inner: Dim,
    outer: &[Dim],
    given: *const u8,
    acc: *mut u8,
    scratch: &mut Block,
) {
    if outer.is_empty() && inner.len <= BLOCK {
        // SAFETY: the caller's promise.
        return unsafe {
            let x = from.load(start, inner.stride, inner.len, scratch);
            (folding.block)(x, inner.len, given, acc)
        };
    }
    let mut tree = Pairwise::new(folding);
    for offset in Offsets::at(outer, 0).take(layout::size(outer)) {
        for first in (0..inner.len).step_by(BLOCK) {
            let len = BLOCK.min(inner.len - first);
            let mut value = Value::ZERO;
            // SAFETY: as above.
            unsafe {
                let x = from.load(start + offset + first as isize * inner.stride, inner.stride, len, scratch);
                (folding.block)(x, len, given, value.start_mut());
                tree.push(value);
            }
        }
    }
    // SAFETY: as above.
    unsafe { tree.finish().unwrap_or(Value::ZERO).fill(folding.acc, acc, 1) };
}

/// Neighbouring outputs: rows, added to one another.
struct Tile<'a> {
    start: isize,
    stride: isize,
    inner: Dim,
    outer: &'a [Dim],
    width: usize,
    given: *const u8,
}

impl Tile<'_> {
    /// Folds the rows into `total`; `part` has room for as many values.
    ///
    /// # Safety
    /// The rows are those of the array.
    unsafe fn fold(&self, from: &Reading<'_>, folding: &Folding, total: *mut u8, part: *mut u8, scratch: &mut Block) {
        let Tile { start, stride, inner, outer, width, given } = *self;
        let mut begun = false;
        for offset in Offsets::at(outer, 0).take(layout::size(outer)) {
            for first in (0..inner.len).step_by(ROWS) {
                let count = ROWS.min(inner.len - first);
                let at = start + offset + first as isize * inner.stride;
                let into = if begun { part } else { total };
                // SAFETY: the caller's promise.
                unsafe {
                    let row = from.load(at, stride, width, scratch);
                    (folding.start)(into, row, width);
                    if from.direct() && stride == 1 {
                        (folding.rows)(into, row, inner.stride, count, width, given);
                    } else {
                        for r in 0..count as isize {
                            let row = from.load(at + r * inner.stride, stride, width, scratch);
                            (folding.rows)(into, row, 0, 1, width, given);
                        }
                    }
                    if begun {
                        (folding.merge)(total, part, width);
                    }
                }
                begun = true;
            }
        }
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

fn split_last(dims: &[Dim]) -> (Dim, &[Dim]) {
    dims.split_last().map_or((Dim { len: 1, stride: 1 }, dims), |(&last, rest)| (last, rest))
}

/// Whether rows are added to one another, in place of every output on its own: what reads memory in its order, with
/// long inner loops.
fn by_rows(kept: &[Dim], reduced: &[Dim]) -> bool {
    const LONG: usize = 16;
    match (kept.last(), reduced.last()) {
        (None, _) => false,
        (_, None) => true,
        (Some(&k), Some(&r)) => nearness(k) < nearness(r) || (r.len < LONG && r.len < k.len),
    }
}
