//! In which order the elements of an output are folded.
//!
//! The order depends on the lengths of the axes that go, on how they lie in memory, and on nothing else: not on what else is folded
//! in the same call, nor on the number of threads. So a part of an array, cut along other axes, has the bits of the whole.
//!
//! The elements of an output are a list, the nearest in memory next to each other. It is cut into blocks of [`BLOCK`] elements or
//! fewer. In a block of `n` elements [`sides(n)`](sides) values run side by side, of which each takes every so many-th element; they
//! are merged in halves. The values of the blocks are merged pairwise.
//!
//! Lanes and rows are two ways to go along that order: a lane has its values side by side in a register, and of rows, whose elements belong to
//! different outputs, those are added together that a side of a lane would take.

use super::{
    super::layout::{Dim, Offsets},
    fold::BLOCK,
};
use std::ops::Range;

/// How many values run side by side in a block of `n` elements: as many as hide the latency of additions, and so few that merging
/// them is little beside the elements.
#[inline(always)]
pub const fn sides(n: usize) -> usize {
    match n {
        0..32 => 1,
        32..=96 => 4,
        97..=256 => 8,
        257..=512 => 16,
        _ => MOST_SIDES,
    }
}

/// The most values side by side.
pub const MOST_SIDES: usize = 32;

/// The most elements of one of them.
pub const LONGEST: usize = 32;

/// Elements along an axis from which on a block is of one run of them; shorter runs share blocks.
const ALONE: usize = BLOCK / 2;

/// The elements of an output, in order, and the blocks of them.
#[derive(Debug)]
pub struct Order {
    /// The axes, the nearest in memory last, neighbours merged where memory allows.
    dims: Vec<Dim>,
    /// How many elements there are.
    len: usize,
    /// Elements of the nearest axis, or of several with no axis between them that stays: as a rule they follow each other in memory.
    run: usize,
}

impl Order {
    /// The elements of axes, the nearest last, of which the last `run` elements are one run.
    pub fn new(dims: Vec<Dim>, run: usize) -> Order {
        let len = dims.iter().map(|d| d.len).product();
        Order { dims, len, run }
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The axis of the nearest elements.
    pub fn nearest(&self) -> Option<Dim> {
        self.dims.last().copied()
    }

    /// Whether the elements are one run that follows each other in memory.
    pub fn is_dense(&self) -> bool {
        self.run == self.len && matches!(self.dims[..], [] | [Dim { stride: 1, .. }])
    }

    /// How many blocks there are, of at least one element.
    pub fn blocks(&self) -> usize {
        if self.run < ALONE {
            return self.len.div_ceil(self.shared());
        }
        self.len / self.run * self.run.div_ceil(BLOCK)
    }

    /// The elements of a block.
    pub fn block(&self, number: usize) -> Range<usize> {
        if self.run < ALONE {
            let first = number * self.shared();
            return first..self.len.min(first + self.shared());
        }
        let each = self.run.div_ceil(BLOCK);
        let (run, first) = (number / each * self.run, number % each * BLOCK);
        run + first..run + self.run.min(first + BLOCK)
    }

    /// How many elements each of some blocks has, with one division for all of them.
    pub fn lengths(&self, blocks: Range<usize>) -> impl Iterator<Item = usize> {
        let (run, each, most) = match self.run < ALONE {
            // as if all elements were one run
            true => (self.len, usize::MAX, self.shared()),
            false => (self.run, self.run.div_ceil(BLOCK), BLOCK),
        };
        let mut at = blocks.start % each;
        blocks.map(move |_| {
            let n = most.min(run - at * most);
            at = if at + 1 == each { 0 } else { at + 1 };
            n
        })
    }

    /// Elements of a block of whole runs.
    fn shared(&self) -> usize {
        BLOCK / self.run * self.run
    }

    /// The elements from one on, as stretches of equal steps.
    pub fn stretches(&self, first: usize) -> Stretches<'_> {
        let (inner, outer) =
            self.dims.split_last().map_or((Dim { len: 1, stride: 1 }, &[][..]), |(&d, rest)| (d, rest));
        let mut outer = Offsets::at(outer, first / inner.len);
        let skipped = first % inner.len;
        let at = outer.next().unwrap_or(0) + skipped as isize * inner.stride;
        Stretches { outer, inner, at, left: inner.len - skipped }
    }
}

/// The elements of an output in order, in stretches along the nearest axis. It never ends: it starts again after the last.
pub struct Stretches<'a> {
    outer: Offsets<'a>,
    inner: Dim,
    at: isize,
    left: usize,
}

impl Stretches<'_> {
    /// From one element of a stretch to the next.
    pub fn step(&self) -> isize {
        self.inner.stride
    }

    /// How many elements the next stretch has at most.
    #[inline]
    pub fn at_hand(&self) -> usize {
        self.left
    }

    /// The offset of the next element, and how many follow it, `most` at most.
    #[inline]
    pub fn take(&mut self, most: usize) -> (isize, usize) {
        let (at, n) = (self.at, self.left.min(most));
        self.at += n as isize * self.inner.stride;
        self.left -= n;
        if self.left == 0 {
            self.at = self.outer.next().unwrap_or(0);
            self.left = self.inner.len;
        }
        (at, n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(len: usize, stride: isize) -> Dim {
        Dim { len, stride }
    }

    #[test]
    fn blocks_have_every_element_once_and_keep_to_runs() {
        for (outer, run) in
            [(1, 1), (1, 1000), (1, 1025), (1, 5000), (7, 3), (700, 3), (5, 511), (5, 512), (4, 1024), (3, 2500)]
        {
            let order = Order::new(vec![axis(outer, 10_000), axis(run, 1)], run);
            let mut next = 0;
            for from in [0, order.blocks() / 2] {
                let all = from..order.blocks();
                let lengths: Vec<usize> = all.clone().map(|b| order.block(b).len()).collect();
                assert_eq!(order.lengths(all).collect::<Vec<_>>(), lengths);
            }
            for b in (0..order.blocks()).map(|b| order.block(b)) {
                assert_eq!(b.start, next);
                assert!((1..=BLOCK).contains(&b.len()), "{b:?} of {outer} x {run}");
                let whole = b.start % run == 0 && (b.end % run == 0 || b.end == order.len());
                assert!(whole || b.start / run == (b.end - 1) / run, "{b:?} of {outer} x {run}");
                next = b.end;
            }
            assert_eq!(next, order.len());
        }
    }

    #[test]
    fn no_side_is_empty_or_too_long() {
        for n in 1..=BLOCK {
            assert!(sides(n) <= n && n.div_ceil(sides(n)) <= LONGEST && MOST_SIDES.is_multiple_of(sides(n)), "{n}");
        }
    }

    #[test]
    fn stretches_go_along_memory() {
        let order = Order::new(vec![axis(2, 100), axis(5, 3)], 5);
        let mut all = order.stretches(0);
        assert_eq!([all.take(3), all.take(9), all.take(4), all.take(4)], [(0, 3), (9, 2), (100, 4), (112, 1)]);
        assert_eq!((all.take(1), all.at_hand()), ((0, 1), 4));
        assert_eq!(order.stretches(7).take(2), (106, 2));
        assert_eq!(Order::new(Vec::new(), 1).stretches(0).take(5), (0, 1));
    }
}
