//! How an array is reduced over some of its axes: which loops, in which order, on which threads.

use super::{
    super::{
        NdArray,
        buffer::{self, CHEAP, Shared},
        convert::{convert, convert_each},
        layout::{self, Dim, Offsets},
    },
    fold::{self, BLOCK, Fold, Pairwise},
};
use crate::{Element, Result, element::same};
use std::ops::Range;

/// The elements of an array, converted to `A` when they are read.
pub trait Source<A>: Sync {
    /// Where they lie, if they are of type `A`.
    fn direct(&self) -> Option<*const A>;

    /// `len` elements of this stride from an offset on: where they lie, or in `scratch`.
    ///
    /// # Safety
    /// They are elements of the array.
    unsafe fn load<'a>(&'a self, offset: isize, stride: isize, len: usize, scratch: &'a mut [A]) -> &'a [A];
}

/// An array whose elements `convert` converts, a slice at a time.
pub struct Converted<T, C> {
    start: *const T,
    convert: C,
    /// Whether elements that are of the right type stay as they are.
    keeps: bool,
}

// SAFETY: it only reads, and what it reads may be shared.
unsafe impl<T: Sync, C: Sync> Sync for Converted<T, C> {}

/// The elements of `x`, which must outlive the source, as another dtype.
pub fn cast<T: Element, A: Element>(x: &NdArray<T>) -> impl Source<A> {
    Converted { start: x.as_ptr(), convert: convert::<T, A>, keeps: true }
}

/// What `f` makes of the elements of `x`, which must outlive the source.
pub fn mapped<T: Element, A: Element>(x: &NdArray<T>, f: impl Fn(T) -> A + Sync) -> impl Source<A> {
    Converted { start: x.as_ptr(), convert: move |from: &[T], to: &mut [A]| convert_each(from, to, &f), keeps: false }
}

impl<T: Element, A: Element, C: Fn(&[T], &mut [A]) + Sync> Source<A> for Converted<T, C> {
    fn direct(&self) -> Option<*const A> {
        // SAFETY: no element is read: the slice is empty.
        let start = unsafe { std::slice::from_raw_parts(self.start, 0) };
        same::<T, A>(start).filter(|_| self.keeps).map(<[A]>::as_ptr)
    }

    unsafe fn load<'a>(&'a self, offset: isize, stride: isize, len: usize, scratch: &'a mut [A]) -> &'a [A] {
        if stride == 1 {
            // SAFETY: the caller's promise.
            let from = unsafe { std::slice::from_raw_parts(self.start.offset(offset), len) };
            if let Some(ready) = same::<T, A>(from).filter(|_| self.keeps) {
                return ready;
            }
            (self.convert)(from, &mut scratch[..len]);
            return &scratch[..len];
        }
        const SOME: usize = 128;
        let mut some = [T::default(); SOME];
        for (k, to) in scratch[..len].chunks_mut(SOME).enumerate() {
            for (i, s) in some[..to.len()].iter_mut().enumerate() {
                // SAFETY: the caller's promise.
                *s = unsafe { *self.start.offset(offset + (k * SOME + i) as isize * stride) };
            }
            (self.convert)(&some[..to.len()], to);
        }
        &scratch[..len]
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
    pub fn new<T: Element>(op: &'static str, x: &NdArray<T>, axes: &[usize], keepdims: bool) -> Plan {
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

    /// How many elements the result has.
    pub fn outputs(&self) -> usize {
        layout::size(&self.kept)
    }

    /// How many elements go into one of them.
    pub fn inputs(&self) -> usize {
        layout::size(&self.reduced)
    }

    /// The result, of its elements in the order of [`Plan::fold`].
    pub fn array<T: Element>(&self, values: Vec<T>) -> Result<NdArray<T>> {
        let mut array = buffer::array(self.op, &self.shape, values)?;
        if !self.places.is_sorted() {
            array = array.permuted_axes(&self.places[..]);
        }
        Ok(self.inserted.iter().fold(array, |a, &axis| a.insert_axis(ndarray::Axis(axis))))
    }

    /// Folds the elements of every output, of which there is at least one. `given` has one entry per output, or none.
    pub fn fold<A: Element, F: Fold<A>>(&self, source: &dyn Source<A>, given: &[F::Given]) -> Result<Vec<F::Acc>> {
        let outputs = self.outputs();
        let inputs = self.inputs();
        let work = outputs.saturating_mul(inputs);
        let longest = (0..self.reduced.len()).max_by_key(|&i| self.reduced[i].len);
        let (Some(longest), true) = (longest, outputs <= FEW && work >= 2 * CHEAP) else {
            let mut out = buffer::zeroed(self.op, outputs)?;
            let shared = Shared::new(&mut out);
            let grain = if self.by_rows { (CHEAP / inputs).max(64) } else { (CHEAP / inputs).max(1) };
            buffer::parallel(outputs, grain, |range| {
                // SAFETY: every output belongs to one task only.
                let acc = unsafe { shared.part(range.clone()) };
                self.run::<A, F>(source, self.start, &self.reduced, range, given, acc);
            });
            return Ok(out);
        };
        // the number of pieces depends on the shape alone, so that the result does not depend on the threads
        let dim = self.reduced[longest];
        let pieces = (work / CHEAP).min(dim.len).min(64);
        let len = dim.len.div_ceil(pieces);
        let pieces = dim.len.div_ceil(len);
        let mut partial = buffer::zeroed::<F::Acc>(self.op, outputs * pieces)?;
        buffer::chunks(&mut partial, outputs, outputs, |first, accs| {
            for (p, acc) in (first / outputs..).zip(accs.chunks_exact_mut(outputs)) {
                let mut reduced = self.reduced.clone();
                reduced[longest].len = len.min(dim.len - p * len);
                let start = self.start + (p * len) as isize * dim.stride;
                self.run::<A, F>(source, start, &reduced, 0..outputs, given, acc);
            }
        });
        let (out, rest) = partial.split_at_mut(outputs);
        for (o, total) in out.iter_mut().enumerate() {
            let mut tree = Pairwise::new();
            tree.push(*total, F::merge);
            rest.iter().skip(o).step_by(outputs).for_each(|&v| tree.push(v, F::merge));
            *total = tree.finish(F::merge).unwrap_or(*total);
        }
        partial.truncate(outputs);
        Ok(partial)
    }

    /// Folds the elements at `start` and these axes of some outputs.
    fn run<A: Element, F: Fold<A>>(
        &self,
        source: &dyn Source<A>,
        start: isize,
        reduced: &[Dim],
        outputs: Range<usize>,
        given: &[F::Given],
        acc: &mut [F::Acc],
    ) {
        if outputs.is_empty() {
            return;
        }
        let (inner, outer) = split_last(reduced);
        let (row, blocks) = split_last(&self.kept);
        let read = if self.by_rows { row.stride } else { inner.stride };
        let ready = read == 1 && source.direct().is_some();
        let mut scratch = vec![A::default(); if ready { 0 } else { BLOCK }];
        if !self.by_rows {
            for ((o, offset), acc) in outputs.clone().zip(Offsets::at(&self.kept, outputs.start)).zip(acc) {
                let given = given.get(o).copied().unwrap_or_default();
                *acc = lane::<A, F>(source, start + offset, inner, outer, given, &mut scratch);
            }
            return;
        }
        let no_given = vec![F::Given::default(); if given.is_empty() { TILE.min(acc.len()) } else { 0 }];
        let several = layout::size(reduced) > ROWS.min(inner.len);
        let mut part = vec![F::Acc::default(); if several { TILE.min(acc.len()) } else { 0 }];
        let mut done = 0;
        while done < acc.len() {
            let o = outputs.start + done;
            let column = o % row.len;
            let width = TILE.min(row.len - column).min(acc.len() - done);
            let offset = Offsets::at(blocks, o / row.len).next().unwrap_or(0) + column as isize * row.stride;
            let given = if given.is_empty() { &no_given[..width] } else { &given[o..o + width] };
            let total = &mut acc[done..done + width];
            tile::<A, F>(source, start + offset, row.stride, inner, outer, given, total, &mut part, &mut scratch);
            done += width;
        }
    }
}

/// One output: blocks of lanes, merged pairwise.
fn lane<A: Element, F: Fold<A>>(
    source: &dyn Source<A>,
    start: isize,
    inner: Dim,
    outer: &[Dim],
    given: F::Given,
    scratch: &mut [A],
) -> F::Acc {
    if outer.is_empty() && inner.len <= BLOCK {
        // SAFETY: the lane is one of the array's.
        return fold::block::<A, F>(unsafe { source.load(start, inner.stride, inner.len, scratch) }, given);
    }
    let mut tree = Pairwise::new();
    for offset in Offsets::at(outer, 0).take(layout::size(outer)) {
        for first in (0..inner.len).step_by(BLOCK) {
            let len = BLOCK.min(inner.len - first);
            // SAFETY: as above.
            let x = unsafe { source.load(start + offset + first as isize * inner.stride, inner.stride, len, scratch) };
            tree.push(fold::block::<A, F>(x, given), F::merge);
        }
    }
    tree.finish(F::merge).unwrap_or_default()
}

/// Neighbouring outputs: rows, added to one another.
#[allow(clippy::too_many_arguments)] // one loop of `run`, apart so that it can be read
fn tile<A: Element, F: Fold<A>>(
    source: &dyn Source<A>,
    start: isize,
    stride: isize,
    inner: Dim,
    outer: &[Dim],
    given: &[F::Given],
    total: &mut [F::Acc],
    part: &mut [F::Acc],
    scratch: &mut [A],
) {
    let direct = if stride == 1 { source.direct() } else { None };
    let width = total.len();
    let mut begun = false;
    for offset in Offsets::at(outer, 0).take(layout::size(outer)) {
        for first in (0..inner.len).step_by(ROWS) {
            let count = ROWS.min(inner.len - first);
            let at = start + offset + first as isize * inner.stride;
            let into: &mut [F::Acc] = if begun { &mut part[..width] } else { total };
            // SAFETY: the rows are those of the array.
            unsafe {
                let row = source.load(at, stride, width, scratch);
                into.iter_mut().zip(row).for_each(|(a, &x)| *a = F::start(x));
                match direct {
                    Some(base) => fold::rows::<A, F>(into, base.offset(at), inner.stride, count, given),
                    None => {
                        for r in 0..count as isize {
                            let row = source.load(at + r * inner.stride, stride, width, scratch);
                            fold::rows::<A, F>(into, row.as_ptr(), 0, 1, given);
                        }
                    }
                }
            }
            if begun {
                fold::merge_rows::<A, F>(total, &part[..width]);
            }
            begun = true;
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
