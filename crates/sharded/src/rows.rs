//! Moves rows, which are the indices along the split axis of an array, between ranks. Slices, rolls, concatenations and
//! padding are built from these moves.

use crate::{Sharded, ShardedArray, array::LocalPart, layout::Layout};
use backends::{Arrays, Backend, Element, Result, Slice};
use std::{borrow::Cow, ops::Range};

/// A run of rows: rows `to .. to + len` of a result are rows `from, from + step, ..` of source number `source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub source: usize,
    pub from: usize,
    pub step: isize,
    pub to: usize,
    pub len: usize,
}

impl Run {
    /// The index, in the source, of row number `k` of the run.
    fn row(&self, k: usize) -> i128 {
        self.from as i128 + self.step as i128 * k as i128
    }

    /// The range of `k` for which the source row of row number `k` of the run is in `rows`.
    pub fn within(&self, rows: &Range<usize>) -> Range<usize> {
        let (start, end) = (rows.start as i128, rows.end as i128);
        let first = |is_past: &dyn Fn(i128) -> bool| {
            let (mut low, mut high) = (0, self.len);
            while low < high {
                let middle = low + (high - low) / 2;
                if is_past(self.row(middle)) {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            low
        };
        let range = if self.step >= 0 {
            first(&|row| row >= start)..first(&|row| row >= end)
        } else {
            first(&|row| row < end)..first(&|row| row < start)
        };
        if range.start < range.end { range } else { 0..0 }
    }

    /// The range of `k` for which the source row of row number `k` of the run is in `source`, and the result row is in
    /// `target`.
    fn overlap(&self, source: &Range<usize>, target: &Range<usize>) -> Range<usize> {
        let k = self.within(source);
        let inside = |at: usize| at.clamp(self.to, self.to + self.len) - self.to;
        let k = k.start.max(inside(target.start))..k.end.min(inside(target.end));
        if k.start < k.end { k } else { 0..0 }
    }

    /// The slice of a source that contains rows `k` of the run. `start` is the index of the first source row that this
    /// rank holds. If all rows of the run are the same source row, the slice contains it once.
    fn slice(&self, k: &Range<usize>, start: usize) -> Slice {
        let first = self.row(k.start) - start as i128;
        let count = if self.step == 0 { 1 } else { k.len() };
        let step = if self.step == 0 { 1 } else { self.step };
        let stop = first + step as i128 * count as i128;
        Slice { start: Some(first), stop: (stop >= 0).then_some(stop), step, drop: false }
    }
}

/// Groups the row indices `sources` of one source into runs, in this order. In a run, each index differs from the
/// previous index by the same step, which is -1, 0 or 1.
pub fn runs_of(sources: &[usize]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (to, &from) in sources.iter().enumerate() {
        let from_signed = from as i128;
        match runs.last_mut() {
            Some(run) if run.len == 1 && (from_signed - run.from as i128).abs() <= 1 => {
                run.step = (from_signed - run.from as i128) as isize;
                run.len = 2;
            }
            Some(run) if run.len > 1 && run.row(run.len) == from_signed => run.len += 1,
            _ => runs.push(Run { source: 0, from, step: 1, to, len: 1 }),
        }
    }
    runs
}

/// A move of rows. The result is an array whose rows along `axis` are rows of the sources along the same axis, as given
/// by `runs`; all other rows are `fill`.
///
/// `held[s][r]` is the range of source s that rank r holds, and `wanted[r]` is the range of the result that rank r
/// needs. Every rank has all ranges, so it can determine the rows to be sent.
pub struct Moving<'a, B: Arrays, T: Element> {
    pub sources: &'a [&'a LocalPart<B, T>],
    pub axis: usize,
    pub held: &'a [Vec<Range<usize>>],
    pub wanted: &'a [Range<usize>],
    pub runs: &'a [Run],
    pub fill: Option<T>,
}

/// A block of rows of this rank's part of the result: the index of the first row in the part, the number of repetitions
/// if one row is repeated, and the rows.
type Piece<B, T> = (usize, Option<usize>, LocalPart<B, T>);

impl<B: Backend, T: Element> Moving<'_, B, T> {
    /// Returns the runs with rows that rank `s` holds and rank `d` needs, each with the range of these rows in the run.
    fn between(&self, s: usize, d: usize) -> impl Iterator<Item = (&Run, Range<usize>)> {
        let of = self.runs.iter().map(move |run| (run, run.overlap(&self.held[run.source][s], &self.wanted[d])));
        of.filter(|(_, k)| !k.is_empty())
    }

    /// Returns whether any rank needs rows that another rank holds.
    fn is_sent(&self) -> bool {
        let has_all = |d: usize, run: &Run| {
            let wanted = run.overlap(&(0..usize::MAX), &self.wanted[d]);
            wanted == run.overlap(&self.held[run.source][d], &self.wanted[d])
        };
        (0..self.wanted.len()).any(|d| !self.runs.iter().all(|run| has_all(d, run)))
    }

    /// Returns the source rows for the rows `k` of a run. Rank `me`, which calls this, must hold them.
    fn local(&self, b: &B, me: usize, run: &Run, k: &Range<usize>) -> Result<LocalPart<B, T>> {
        let mut slices = vec![Slice::ALL; self.axis];
        slices.push(run.slice(k, self.held[run.source][me].start));
        b.getitem(self.sources[run.source], slices)
    }

    /// Makes one block of the part of the result that rank `me` gets. The block is for the range `k` of a run, and
    /// `rows` are the rows that [`Moving::local`] or a message of another rank gives for this range.
    fn piece(&self, me: usize, run: &Run, k: &Range<usize>, rows: LocalPart<B, T>) -> Piece<B, T> {
        let repeats = (run.step == 0 && k.len() > 1).then_some(k.len());
        (run.to + k.start - self.wanted[me].start, repeats, rows)
    }

    /// The shape of the array that is sent for the rows `k` of a run. The lengths of the other axes come from the first
    /// source, because they are equal in all sources.
    fn shape(&self, b: &B, run: &Run, k: &Range<usize>) -> Vec<usize> {
        let mut shape = b.shape(self.sources[0]).to_vec();
        shape[self.axis] = if run.step == 0 { 1 } else { k.len() };
        shape
    }
}

impl<B: Backend> Sharded<B> {
    /// Moves rows between ranks, and returns this rank's part of the result.
    pub(crate) fn move_rows<T: Element>(&self, op: &'static str, moving: Moving<'_, B, T>) -> Result<LocalPart<B, T>> {
        let mut parts = self.move_all(op, std::slice::from_ref(&moving))?;
        Ok(parts.remove(0))
    }

    /// Like `move_rows`, but for several arrays. Each rank sends every other rank one message for all arrays.
    pub(crate) fn move_all<T: Element>(
        &self,
        op: &'static str,
        all: &[Moving<'_, B, T>],
    ) -> Result<Vec<LocalPart<B, T>>> {
        let (me, ranks, within) = (self.rank(), self.ranks(), &self.within);
        let own = |moving: &Moving<'_, B, T>| -> Result<Vec<Piece<B, T>>> {
            moving
                .between(me, me)
                .map(|(run, k)| Ok(moving.piece(me, run, &k, moving.local(within, me, run, &k)?)))
                .collect()
        };
        let mut pieces = all.iter().map(own).collect::<Result<Vec<_>>>()?;
        if all.iter().any(Moving::is_sent) {
            let to = |d: usize| {
                all.iter().flat_map(move |moving| moving.between(me, d).map(move |(run, k)| (moving, run, k)))
            };
            let send = (0..ranks).map(|d| match d == me {
                true => Ok(Vec::new()),
                false => to(d).map(|(moving, run, k)| moving.local(within, me, run, &k)).collect(),
            });
            let send = send.collect::<Result<Vec<Vec<_>>>>()?;
            let others = || (0..ranks).filter(|&s| s != me);
            let mut counts = vec![0; ranks];
            for s in others() {
                let sizes = all.iter().flat_map(|moving| {
                    moving.between(s, me).map(|(run, k)| moving.shape(within, run, &k).iter().product::<usize>())
                });
                counts[s] = sizes.sum();
            }
            let mut come = self.exchange(op, &send, &counts)?;
            for s in others() {
                for (moving, pieces) in all.iter().zip(&mut pieces) {
                    for (run, k) in moving.between(s, me) {
                        let rows = come.next(within, &moving.shape(within, run, &k))?;
                        pieces.push(moving.piece(me, run, &k, rows));
                    }
                }
            }
        }
        let laid_out = |(moving, pieces): (&Moving<'_, B, T>, Vec<Piece<B, T>>)| {
            self.laid_out(moving.sources[0], moving.axis, moving.wanted[me].len(), pieces, moving.fill)
        };
        all.iter().zip(pieces).map(laid_out).collect()
    }

    /// Places blocks at their indices along an axis of length `len`, and fills the gaps with `fill`.
    fn laid_out<T: Element>(
        &self,
        like: &LocalPart<B, T>,
        axis: usize,
        len: usize,
        mut pieces: Vec<Piece<B, T>>,
        fill: Option<T>,
    ) -> Result<LocalPart<B, T>> {
        pieces.sort_by_key(|(at, ..)| *at);
        let mut shape = self.within.shape(like).to_vec();
        let mut filled = |n: usize| {
            shape[axis] = n;
            self.within.full(&shape[..], fill.unwrap_or_default())
        };
        let (mut parts, mut end) = (Vec::new(), 0);
        for (at, repeats, piece) in pieces {
            if at > end {
                parts.push(filled(at - end)?);
            }
            let piece = match repeats {
                None => piece,
                Some(n) => {
                    let mut wide = self.within.shape(&piece).to_vec();
                    wide[axis] = n;
                    self.within.broadcast_to(&piece, wide)?
                }
            };
            end = at + self.within.shape(&piece)[axis];
            parts.push(piece);
        }
        if end < len || parts.is_empty() {
            parts.push(filled(len - end)?);
        }
        self.concatenated(parts, axis)
    }

    /// Makes an array with `len` rows along `axis`. `runs` names the row of `x` for each of these rows. `x` must be
    /// split along `axis`, or not split at all.
    pub(crate) fn moved<T: Element>(
        &self,
        op: &'static str,
        x: Cow<'_, ShardedArray<B, T>>,
        axis: usize,
        len: usize,
        runs: &[Run],
        fill: Option<T>,
    ) -> Result<ShardedArray<B, T>> {
        let mut shape = x.layout.shape.to_vec();
        shape[axis] = len;
        if x.layout.split.is_none() {
            // every rank holds the whole source, and computes the whole result
            let mine = |n: usize| (0..self.ranks()).map(|r| if r == self.rank() { 0..n } else { 0..0 }).collect();
            let (held, wanted): (_, Vec<Range<usize>>) = (mine(x.layout.shape[axis]), mine(len));
            let moving = Moving { sources: &[&x.part], axis, held: &[held], wanted: &wanted, runs, fill };
            return self.settle(self.move_rows(op, moving)?);
        }
        let held = x.layout.ranges(self.ranks());
        // if the result is too short to be split along this axis, every rank gets the whole result, which may then be
        // split along another axis
        let is_split = self.may_split(len);
        let wanted = if is_split { self.ranges(len) } else { vec![0..len; self.ranks()] };
        let moving = Moving { sources: &[&x.part], axis, held: &[held], wanted: &wanted, runs, fill };
        let part = self.move_rows(op, moving)?;
        if is_split { Ok(self.array(Layout::along(shape, axis), part)) } else { self.settle(part) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_run_in_a_range() {
        let run = |from, step, len| Run { source: 0, from, step, to: 0, len };
        assert_eq!(run(2, 1, 10).within(&(4..6)), 2..4);
        assert_eq!(run(0, 3, 4).within(&(4..9)), 2..3);
        assert_eq!(run(9, -1, 10).within(&(0..4)), 6..10);
        assert_eq!(run(9, -2, 5).within(&(2..6)), 2..4);
        assert_eq!(run(5, 0, 3).within(&(5..6)), 0..3);
        assert_eq!(run(5, 0, 3).within(&(6..9)), 0..0);
        assert_eq!(run(0, 1, 0).within(&(0..9)), 0..0);
    }

    #[test]
    fn runs_follow_the_sources() {
        for sources in [vec![], vec![3], vec![0, 0, 0, 1, 2, 3, 3, 3], vec![2, 1, 0, 1, 2, 3, 2, 1], vec![5, 1, 4, 4]] {
            let runs = runs_of(&sources);
            let mut back = vec![usize::MAX; sources.len()];
            for run in &runs {
                (0..run.len).for_each(|k| back[run.to + k] = run.row(k) as usize);
            }
            assert_eq!(back, sources);
        }
        assert_eq!(runs_of(&[1, 1, 1, 1, 2, 3]).len(), 2);
    }
}
