//! Splits, gathers and redistributes arrays by changing their layouts. A layout defines how the elements of an array
//! are distributed over the ranks. In this module, the rows of an array are the indices along its split axis.

use crate::{
    Layout, Sharded, ShardedArray, Split,
    array::LocalPart,
    layout::{may_split, range, ranges},
    rows::{Moving, Run},
};
use backends::{
    Backend, Element, Error, Result, Slice,
    runtime::{ArrayAttributes, rules},
};
use std::{borrow::Cow, ops::Range};

impl<B: Backend> Sharded<B> {
    /// The default split axis of an array of this shape: the first axis that is long enough. Arrays without elements
    /// are not split.
    pub(crate) fn usual_axis(&self, shape: &[usize]) -> Option<usize> {
        shape.iter().position(|&n| self.may_split(n)).filter(|_| !shape.contains(&0))
    }

    pub(crate) fn may_split(&self, n: usize) -> bool {
        may_split(n, self.policy.least, self.ranks())
    }

    /// This rank's range of an axis of length `n` in the default split.
    pub(crate) fn mine(&self, n: usize) -> Range<usize> {
        range(n, self.rank(), self.ranks())
    }

    pub(crate) fn ranges(&self, n: usize) -> Vec<Range<usize>> {
        ranges(n, self.ranks())
    }

    /// Builds an array of this backend from the parts of all ranks. `part` is this rank's part.
    #[inline]
    pub(crate) fn array<T: Element>(&self, layout: Layout, part: LocalPart<B, T>) -> ShardedArray<B, T> {
        if layout.split.is_some() && layout.shape.contains(&0) {
            return self.empty_array(layout, part);
        }
        self.filled(layout, part)
    }

    /// Like `array`, but the caller must ensure that an array without elements is not split.
    #[inline(always)]
    fn filled<T: Element>(&self, layout: Layout, part: LocalPart<B, T>) -> ShardedArray<B, T> {
        self.count_part(part.nbytes());
        ShardedArray { layout, part }
    }

    /// Builds an array without elements, which every rank holds completely.
    #[cold]
    fn empty_array<T: Element>(&self, layout: Layout, part: LocalPart<B, T>) -> ShardedArray<B, T> {
        match self.within.zeros(&layout.shape[..]) {
            Ok(part) => ShardedArray { layout: Layout::whole(layout.shape.clone()), part },
            Err(_) => ShardedArray { layout, part },
        }
    }

    /// Returns the slice `rows` of a part along `axis`. The result is a view if the inner backend has views.
    pub(crate) fn cut<T: Element>(
        &self,
        x: &LocalPart<B, T>,
        axis: usize,
        rows: Range<usize>,
    ) -> Result<LocalPart<B, T>> {
        if rows == (0..self.within.shape(x)[axis]) {
            return Ok(x.clone());
        }
        let mut slices = vec![Slice::ALL; axis];
        slices.push(Slice::from(rows));
        self.within.getitem(x, slices)
    }

    /// Makes an array of this backend from an array that every rank holds completely, and splits it according to the
    /// policy. Nothing is sent.
    pub(crate) fn settle<T: Element>(&self, x: LocalPart<B, T>) -> Result<ShardedArray<B, T>> {
        match self.usual_axis(self.within.shape(&x)) {
            Some(axis) => self.settle_along(x, axis),
            None => Ok(self.array(Layout::whole(self.within.shape(&x)), x)),
        }
    }

    /// Like `settle`, but splits along the given axis if it is long enough.
    pub(crate) fn settle_along<T: Element>(&self, x: LocalPart<B, T>, axis: usize) -> Result<ShardedArray<B, T>> {
        let shape = self.within.shape(&x);
        if !self.may_split(shape[axis]) || shape.contains(&0) {
            return Ok(self.array(Layout::whole(shape), x));
        }
        let layout = Layout::along(shape, axis);
        if self.ranks() == 1 {
            return Ok(self.array(layout, x));
        }
        let part = self.cut(&x, axis, self.mine(shape[axis]))?;
        Ok(self.array(layout, part))
    }

    /// Makes an array of this backend from `x`, the result of an op along `axis`, on a single rank. If the axis is long
    /// enough, the array is split along this axis, as on several ranks; otherwise, it is split according to the policy.
    #[inline]
    pub(crate) fn alone<T: Element>(&self, x: LocalPart<B, T>, axis: usize) -> Result<ShardedArray<B, T>> {
        let shape = self.within.shape(&x);
        if !self.may_split(shape[axis]) || shape.contains(&0) {
            return self.settle(x);
        }
        Ok(self.filled(Layout::along(shape, axis), x))
    }

    /// Builds an array from the parts of all ranks. `part` is this rank's part: the indices of the split axis that
    /// [`Sharded::range`] returns.
    ///
    /// Collective: all ranks must call this with the same shape and axis, although nothing is sent.
    ///
    /// # Errors
    /// [`Error::Axis`] if the axis does not exist, [`Error::Argument`] if the axis is too short to be split,
    /// [`Error::Shapes`] if the part does not have the expected shape.
    pub fn from_parts<T: Element>(
        &self,
        shape: &[usize],
        axis: usize,
        part: LocalPart<B, T>,
    ) -> Result<ShardedArray<B, T>> {
        const OP: &str = "from_parts";
        rules::count(OP, shape, size_of::<T>())?;
        rules::axis(OP, axis.try_into().unwrap_or(isize::MAX), shape.len())?;
        if !self.may_split(shape[axis]) {
            let why = format!("an axis of {} elements is not split over {} ranks", shape[axis], self.ranks());
            return Err(Error::argument(OP, why));
        }
        let layout = Layout::along(shape, axis);
        let own = layout.part(&self.mine(shape[axis]));
        if self.within.shape(&part) != own {
            return Err(Error::shapes(OP, self.within.shape(&part), &own));
        }
        Ok(self.array(layout, part))
    }

    /// This rank's range of a split axis of length `n`.
    pub fn range(&self, n: usize) -> Range<usize> {
        self.mine(n)
    }

    /// Moves `x` to its default layout, in which the shape and the split axis alone determine the rows of each rank. An
    /// array that was sliced may be distributed in another way.
    pub(crate) fn usual_layout<'a, T: Element>(
        &self,
        op: &'static str,
        x: Cow<'a, ShardedArray<B, T>>,
    ) -> Result<Cow<'a, ShardedArray<B, T>>> {
        let Some(Split { axis, held: Some(held) }) = &x.layout.split else { return Ok(x) };
        let axis = *axis;
        let n = x.layout.shape[axis];
        let run = Run { source: 0, from: 0, step: 1, to: 0, len: n };
        let (held, wanted) = ([held.to_vec()], self.ranges(n));
        let moving = Moving { sources: &[&x.part], axis, held: &held, wanted: &wanted, runs: &[run], fill: None };
        let part = self.move_rows(op, moving)?;
        Ok(Cow::Owned(self.array(Layout::along(x.layout.shape.clone(), axis), part)))
    }

    /// Gathers all of `x` on every rank, for an op without a distributed algorithm. An array that exceeds the limit of
    /// the policy is an error. The gathered bytes are counted in the statistics.
    pub(crate) fn whole<T: Element>(
        &self,
        op: &'static str,
        x: Cow<'_, ShardedArray<B, T>>,
    ) -> Result<LocalPart<B, T>> {
        if x.layout.split.is_none() || self.ranks() == 1 {
            return Ok(x.into_owned().part);
        }
        let bytes = x.layout.size().saturating_mul(size_of::<T>());
        if bytes > self.policy.whole {
            let (shape, limit) = (&x.layout.shape, self.policy.whole);
            let why = format!(
                "every rank needs all of an array of shape {shape:?} and {bytes} bytes; the policy lets an op gather {limit}"
            );
            return Err(Error::argument(op, why));
        }
        self.count_gathered(op, bytes);
        self.gather(op, x).map_err(|why| why.within(op))
    }

    /// Gathers all of `x` on every rank.
    pub(crate) fn gather<T: Element>(
        &self,
        op: &'static str,
        x: Cow<'_, ShardedArray<B, T>>,
    ) -> Result<LocalPart<B, T>> {
        let Some(axis) = x.split() else { return Ok(x.into_owned().part) };
        if self.ranks() == 1 {
            return Ok(x.into_owned().part);
        }
        let held = x.layout.ranges(self.ranks());
        let row: usize = x.layout.shape[..axis].iter().chain(&x.layout.shape[axis + 1..]).product();
        let counts: Vec<usize> = held.iter().map(|rows| rows.len() * row).collect();
        let mut all = self.gather_parts(op, &x.part, &counts)?;
        if x.layout.shape[..axis].iter().all(|&n| n == 1) {
            // in memory, the parts follow one another in the order of the whole array
            return all.next(&self.within, &x.layout.shape);
        }
        self.joined(held.iter().map(|rows| all.next(&self.within, &x.layout.part(rows))), axis)
    }

    /// Concatenates received arrays along an axis.
    pub(crate) fn joined<T: Element>(
        &self,
        parts: impl Iterator<Item = Result<LocalPart<B, T>>>,
        axis: usize,
    ) -> Result<LocalPart<B, T>> {
        self.concatenated(parts.collect::<Result<Vec<_>>>()?, axis)
    }

    /// Concatenates arrays of the inner backend along an axis.
    pub(crate) fn concatenated<T: Element>(
        &self,
        mut parts: Vec<LocalPart<B, T>>,
        axis: usize,
    ) -> Result<LocalPart<B, T>> {
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        self.within.concat_with(&parts, backends::options::ConcatOptions::new().axis(axis as isize))
    }

    /// Splits `x` along another axis. If `axis` is `None`, every rank gets the whole array, even if the policy would
    /// split it.
    ///
    /// Collective: each rank sends every other rank a block. If the axis is too short to be split, every rank gets the
    /// whole array.
    ///
    /// # Errors
    /// [`Error::Axis`] if the axis does not exist; errors of the communication between ranks.
    pub fn resplit<T: Element>(&self, x: &ShardedArray<B, T>, axis: Option<usize>) -> Result<ShardedArray<B, T>> {
        const OP: &str = "resplit";
        if let Some(axis) = axis {
            rules::axis(OP, axis.try_into().unwrap_or(isize::MAX), x.layout.shape.len())?;
        }
        Ok(self.split_along(OP, Cow::Borrowed(x), axis)?.into_owned())
    }

    /// Like `resplit`, but errors name the op `op`.
    pub(crate) fn split_along<'a, T: Element>(
        &self,
        op: &'static str,
        x: Cow<'a, ShardedArray<B, T>>,
        to: Option<usize>,
    ) -> Result<Cow<'a, ShardedArray<B, T>>> {
        let to = to.filter(|&axis| self.may_split(x.layout.shape[axis]) && !x.layout.shape.contains(&0));
        match (x.split(), to) {
            (None, None) => Ok(x),
            (None, Some(axis)) => Ok(Cow::Owned(self.settle_along(x.into_owned().part, axis)?)),
            (Some(_), None) => {
                let shape = x.layout.shape.clone();
                Ok(Cow::Owned(self.array(Layout::whole(shape), self.gather(op, x)?)))
            }
            (Some(from), Some(to)) if from == to => self.usual_layout(op, x),
            (Some(from), Some(to)) => Ok(Cow::Owned(self.turned(op, &x, from, to)?)),
        }
    }

    /// Changes the split axis of an array from `from` to `to`. Each rank sends every other rank one block: the
    /// intersection of the sender's old rows with the receiver's new rows.
    fn turned<T: Element>(
        &self,
        op: &'static str,
        x: &ShardedArray<B, T>,
        from: usize,
        to: usize,
    ) -> Result<ShardedArray<B, T>> {
        let shape = &x.layout.shape;
        let layout = Layout::along(shape.clone(), to);
        if self.ranks() == 1 {
            return Ok(self.array(layout, x.part.clone()));
        }
        let wanted = self.ranges(shape[to]);
        let send = wanted.iter().map(|rows| Ok(vec![self.cut(&x.part, to, rows.clone())?]));
        let send = send.collect::<Result<Vec<_>>>()?;
        let mine = layout.part(&wanted[self.rank()]);
        let shapes: Vec<Vec<usize>> = x
            .layout
            .ranges(self.ranks())
            .iter()
            .map(|rows| {
                let mut block = mine.clone();
                block[from] = rows.len();
                block
            })
            .collect();
        let counts: Vec<usize> = shapes.iter().map(|shape| shape.iter().product()).collect();
        let mut all = self.exchange(op, &send, &counts)?;
        let part = if mine[..from].iter().all(|&n| n == 1) {
            all.next(&self.within, &mine)?
        } else {
            self.joined(shapes.iter().map(|shape| all.next(&self.within, shape)), from)?
        };
        Ok(self.array(layout, part))
    }
}
