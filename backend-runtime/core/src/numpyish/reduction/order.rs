//! The order in which a reduction folds its input elements. Each element of the result is called an output, and the
//! elements of an output are the input elements that are folded into it.
//!
//! The order depends only on the lengths of the reduced axes and on their layout in memory. It does not depend on the
//! other outputs of the call or on the number of threads. So an output has the same bits if the array is first cut
//! along axes that are not reduced.
//!
//! The elements of an output are a list, in which neighbours in memory are next to each other. The list is divided into
//! blocks of at most [`BLOCK`] elements. A block of `n` elements has [`sides(n)`](sides) accumulators ("sides"), each
//! of which folds every `sides(n)`-th element; then half of the accumulators are merged into the other half, until one
//! is left. The values of the blocks are merged pairwise.
//!
//! There are two algorithms with that order. To fold a lane (the elements of one output), the accumulators of this
//! output are kept next to each other in a register. To fold rows, whose elements belong to different outputs, all
//! rows of the same side are added to one row of accumulators.

use super::super::layout::{Dim, Offsets};
use std::ops::Range;

/// Number of elements of a block. A block stays in the L1 cache, and sums of blocks are added pairwise.
pub const BLOCK: usize = 1024;

/// Number of accumulators of a block of `n` elements. It is large enough to hide the latency of additions, and so small
/// that merging takes little time compared to the folding.
#[inline(always)]
pub const fn sides(n: usize) -> usize {
    match n {
        0..32 => 1,
        32..=96 => 4,
        97..=256 => 8,
        257..=512 => 16,
        _ => MAX_ACCUMULATORS,
    }
}

/// The maximum number of accumulators.
pub const MAX_ACCUMULATORS: usize = 32;

/// The maximum number of elements of a block that one accumulator folds.
pub const LONGEST: usize = 32;

/// Minimum length of a run (see [`Order`]) that is divided into blocks of its own. Several shorter runs share a
/// block.
const ALONE: usize = BLOCK / 2;

/// The order in which the input elements of one output are folded, and their division into blocks.
#[derive(Debug)]
pub struct Order {
    /// The reduced axes, from the largest stride to the smallest. Neighbouring axes are merged if their strides allow
    /// it.
    dims: Vec<Dim>,
    /// Number of elements.
    len: usize,
    /// Number of elements of a run. A run consists of the elements along the axis of smallest stride, or along
    /// several axes if no axis between them is kept (not reduced). A run is usually contiguous.
    run: usize,
}

impl Order {
    /// The order of the elements along the axes `dims`, the last of which has the smallest stride. Each group of `run`
    /// consecutive elements is read as one run.
    pub fn new(dims: Vec<Dim>, run: usize) -> Order {
        let len = dims.iter().map(|d| d.len).product();
        Order { dims, len, run }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The axis of the smallest stride.
    pub fn nearest(&self) -> Option<Dim> {
        self.dims.last().copied()
    }

    /// Returns whether the elements are one contiguous run.
    pub fn is_dense(&self) -> bool {
        self.run == self.len && matches!(self.dims[..], [] | [Dim { stride: 1, .. }])
    }

    /// Number of blocks, each of at least one element.
    pub fn blocks(&self) -> usize {
        if self.run < ALONE {
            return self.len.div_ceil(self.shared());
        }
        self.len / self.run * self.run.div_ceil(BLOCK)
    }

    /// Returns the range of the elements of block `number`.
    pub fn block(&self, number: usize) -> Range<usize> {
        if self.run < ALONE {
            let first = number * self.shared();
            return first..self.len.min(first + self.shared());
        }
        let each = self.run.div_ceil(BLOCK);
        let (run, first) = (number / each * self.run, number % each * BLOCK);
        run + first..run + self.run.min(first + BLOCK)
    }

    /// Returns the number of elements of each block in a range. Makes its integer divisions once, not for each block.
    pub fn lengths(&self, blocks: Range<usize>) -> impl Iterator<Item = usize> {
        let (run, each, most) = match self.run < ALONE {
            // all elements are treated as one run
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

    /// Number of elements of a block that several whole runs share.
    fn shared(&self) -> usize {
        BLOCK / self.run * self.run
    }

    /// The elements from index `first` on, as stretches. The elements of a stretch are at equal distances in memory.
    pub fn stretches(&self, first: usize) -> Stretches<'_> {
        let (inner, outer) =
            self.dims.split_last().map_or((Dim { len: 1, stride: 1 }, &[][..]), |(&d, rest)| (d, rest));
        let mut outer = Offsets::at(outer, first / inner.len);
        let skipped = first % inner.len;
        let at = outer.next().unwrap_or(0) + skipped as isize * inner.stride;
        Stretches { outer, inner, at, left: inner.len - skipped }
    }
}

/// The input elements that are folded into one output, in the order of folding, as stretches along the axis of smallest
/// stride. The iteration never ends: after the last element, it starts again with the first.
pub struct Stretches<'a> {
    outer: Offsets<'a>,
    inner: Dim,
    at: isize,
    left: usize,
}

impl Stretches<'_> {
    /// Distance between neighbouring elements of a stretch.
    pub fn step(&self) -> isize {
        self.inner.stride
    }

    /// Number of elements left in the current stretch.
    #[inline]
    pub fn at_hand(&self) -> usize {
        self.left
    }

    /// Takes at most `most` elements of the current stretch. Returns the offset of the first element and the number
    /// taken.
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
            assert!(
                sides(n) <= n && n.div_ceil(sides(n)) <= LONGEST && MAX_ACCUMULATORS.is_multiple_of(sides(n)),
                "{n}"
            );
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
