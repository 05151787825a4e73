//! Rows along the split axis on their way between ranks: the one primitive behind slices, rolls, joins and borders.

use crate::{Sharded, ShardedArray, array::Part, layout::Layout};
use backends::{Backend, Element, Result, Slice};
use std::{borrow::Cow, ops::Range};

/// Rows `to .. to + len` of a result are rows `from, from + step, ..` of source number `source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub source: usize,
    pub from: usize,
    pub step: isize,
    pub to: usize,
    pub len: usize,
}

impl Run {
    /// The row of the source that row number `k` of the run is.
    fn row(&self, k: usize) -> i128 {
        self.from as i128 + self.step as i128 * k as i128
    }

    /// Which `k` of the run have their row in a range of the source.
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

    /// Which `k` have their row in a range of the source, and their place in one of the result.
    fn overlap(&self, source: &Range<usize>, target: &Range<usize>) -> Range<usize> {
        let k = self.within(source);
        let inside = |at: usize| at.clamp(self.to, self.to + self.len) - self.to;
        let k = k.start.max(inside(target.start))..k.end.min(inside(target.end));
        if k.start < k.end { k } else { 0..0 }
    }

    /// The part of an axis that some `k` of the run are, in a source whose rows begin with `start`; a row that repeats stands once.
    fn slice(&self, k: &Range<usize>, start: usize) -> Slice {
        let first = self.row(k.start) - start as i128;
        let count = if self.step == 0 { 1 } else { k.len() };
        let step = if self.step == 0 { 1 } else { self.step };
        let stop = first + step as i128 * count as i128;
        Slice { start: Some(first), stop: (stop >= 0).then_some(stop), step, drop: false }
    }
}

/// Runs of the rows `sources` of an axis, in this order: neighbours that follow each other by one step are one run.
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

impl<B: Backend> Sharded<B> {
    /// This rank's part of the result whose rows along `axis` come from rows of the sources along the same axis, as `runs` say; the rest
    /// is `fill`.
    ///
    /// `held[s][r]` is what rank r has of source s, `wanted[r]` what it is to have of the result. All ranks know all of it, so that a rank sends to
    /// each other what that wants, and nobody asks.
    #[allow(clippy::too_many_arguments)] // what moves from where to where
    pub(crate) fn move_rows<T: Element>(
        &self,
        op: &'static str,
        sources: &[&Part<B, T>],
        axis: usize,
        held: &[Vec<Range<usize>>],
        wanted: &[Range<usize>],
        runs: &[Run],
        fill: Option<T>,
    ) -> Result<Part<B, T>> {
        let (me, ranks) = (self.rank(), self.ranks());
        let overlap = |run: &Run, s: usize, d: usize| run.overlap(&held[run.source][s], &wanted[d]);
        // each piece of the part that this rank is to have, where it begins, and how often its one row repeats
        let mut pieces: Vec<(usize, Option<usize>, Part<B, T>)> = Vec::new();
        let local = |run: &Run, k: &Range<usize>| -> Result<Part<B, T>> {
            let mut slices = vec![Slice::ALL; axis];
            slices.push(run.slice(k, held[run.source][me].start));
            self.within.getitem(sources[run.source], slices)
        };
        let at = |run: &Run, k: &Range<usize>| run.to + k.start - wanted[me].start;
        let repeats = |run: &Run, k: &Range<usize>| (run.step == 0 && k.len() > 1).then_some(k.len());
        for run in runs {
            let k = overlap(run, me, me);
            if !k.is_empty() {
                pieces.push((at(run, &k), repeats(run, &k), local(run, &k)?));
            }
        }
        let moves = |s: usize, d: usize| s != d && runs.iter().any(|run| !overlap(run, s, d).is_empty());
        if (0..ranks).any(|s| (0..ranks).any(|d| moves(s, d))) {
            let mut send = Vec::with_capacity(ranks);
            for d in 0..ranks {
                let to = runs.iter().map(|run| (run, overlap(run, me, d))).filter(|(_, k)| d != me && !k.is_empty());
                send.push(to.map(|(run, k)| local(run, &k)).collect::<Result<Vec<_>>>()?);
            }
            // a source of one rank alone may have no rows here, but all sources have the other axes
            let mut shape = self.within.shape(sources[0]).to_vec();
            let rest: usize = shape.iter().enumerate().filter(|(k, _)| *k != axis).map(|(_, n)| n).product();
            let sent = |run: &Run, k: &Range<usize>| if run.step == 0 { 1 } else { k.len() };
            let come = |s: usize| {
                let of = runs.iter().map(move |run| (run, overlap(run, s, me)));
                of.filter(move |(_, k)| s != me && !k.is_empty())
            };
            let counts: Vec<usize> = (0..ranks).map(|s| come(s).map(|(run, k)| sent(run, &k) * rest).sum()).collect();
            let mut all = self.exchange(op, &send, &counts)?;
            for (run, k) in (0..ranks).flat_map(come) {
                shape[axis] = sent(run, &k);
                let piece = self.within.from_ndarray(all.next(&shape))?;
                pieces.push((at(run, &k), repeats(run, &k), piece));
            }
        }
        self.laid_out(sources[0], axis, wanted[me].len(), pieces, fill)
    }

    /// Pieces at their places along an axis of this length, and `fill` between them.
    fn laid_out<T: Element>(
        &self,
        like: &Part<B, T>,
        axis: usize,
        len: usize,
        mut pieces: Vec<(usize, Option<usize>, Part<B, T>)>,
        fill: Option<T>,
    ) -> Result<Part<B, T>> {
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

    /// The array of `len` rows along `axis`, which come from those of `x` as `runs` say; `x` is split along `axis`.
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
            // every rank has all, and makes all
            let mine = |n: usize| (0..self.ranks()).map(|r| if r == self.rank() { 0..n } else { 0..0 }).collect();
            let (held, wanted): (_, Vec<Range<usize>>) = (mine(x.layout.shape[axis]), mine(len));
            return self.settle(self.move_rows(op, &[&x.part], axis, &[held], &wanted, runs, fill)?);
        }
        let held = x.layout.ranges(self.ranks());
        if self.may_split(len) {
            let part = self.move_rows(op, &[&x.part], axis, &[held], &self.ranges(len), runs, fill)?;
            return Ok(self.array(Layout::along(shape, axis), part));
        }
        // too short to be split: all of it everywhere, and perhaps split along another axis then
        let wanted = vec![0..len; self.ranks()];
        let part = self.move_rows(op, &[&x.part], axis, &[held], &wanted, runs, fill)?;
        self.settle(part)
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
