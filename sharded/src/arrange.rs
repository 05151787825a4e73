//! Arrays from one layout to another.

use crate::{
    Layout, Sharded, ShardedArray, Split,
    array::Part,
    layout::{may_split, range, ranges},
    rows::{Moving, Run},
};
use backends::{
    Backend, Element, Error, Result, Slice,
    runtime::{ArrayAttributes, rules},
};
use std::{borrow::Cow, ops::Range};

impl<B: Backend> Sharded<B> {
    /// The axis along which an array of this shape is split where nothing else decides. An array without elements is whole.
    pub(crate) fn usual_axis(&self, shape: &[usize]) -> Option<usize> {
        shape.iter().position(|&n| self.may_split(n)).filter(|_| !shape.contains(&0))
    }

    pub(crate) fn may_split(&self, n: usize) -> bool {
        may_split(n, self.policy.least, self.ranks())
    }

    /// What this rank has of an axis of length `n` that is split in the usual way.
    pub(crate) fn mine(&self, n: usize) -> Range<usize> {
        range(n, self.rank(), self.ranks())
    }

    pub(crate) fn ranges(&self, n: usize) -> Vec<Range<usize>> {
        ranges(n, self.ranks())
    }

    /// An array of this backend, of the parts that all ranks have.
    #[inline]
    pub(crate) fn array<T: Element>(&self, layout: Layout, part: Part<B, T>) -> ShardedArray<B, T> {
        if layout.split.is_some() && layout.shape.contains(&0) {
            return self.empty_array(layout, part);
        }
        self.filled(layout, part)
    }

    /// The same of an array that has elements, or is not split.
    #[inline(always)]
    fn filled<T: Element>(&self, layout: Layout, part: Part<B, T>) -> ShardedArray<B, T> {
        self.count_part(part.nbytes());
        ShardedArray { layout, part }
    }

    /// Without elements every rank has all of it.
    #[cold]
    fn empty_array<T: Element>(&self, layout: Layout, part: Part<B, T>) -> ShardedArray<B, T> {
        match self.within.zeros(&layout.shape[..]) {
            Ok(part) => ShardedArray { layout: Layout::whole(layout.shape.clone()), part },
            Err(_) => ShardedArray { layout, part },
        }
    }

    /// The rows of an array within, as a view where the backend has views.
    pub(crate) fn cut<T: Element>(&self, x: &Part<B, T>, axis: usize, rows: Range<usize>) -> Result<Part<B, T>> {
        if rows == (0..self.within.shape(x)[axis]) {
            return Ok(x.clone());
        }
        let mut slices = vec![Slice::ALL; axis];
        slices.push(Slice::from(rows));
        self.within.getitem(x, slices)
    }

    /// What every rank has, as an array of this backend: split where the policy says so. Nothing is sent.
    pub(crate) fn settle<T: Element>(&self, x: Part<B, T>) -> Result<ShardedArray<B, T>> {
        match self.usual_axis(self.within.shape(&x)) {
            Some(axis) => self.settle_along(x, axis),
            None => Ok(self.array(Layout::whole(self.within.shape(&x)), x)),
        }
    }

    /// The same, split along the axis named if it may be.
    pub(crate) fn settle_along<T: Element>(&self, x: Part<B, T>, axis: usize) -> Result<ShardedArray<B, T>> {
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

    /// What one rank alone has made of an array that is split along `axis`: split along it as it would be on more of them, else as the policy says.
    #[inline]
    pub(crate) fn alone<T: Element>(&self, x: Part<B, T>, axis: usize) -> Result<ShardedArray<B, T>> {
        let shape = self.within.shape(&x);
        if !self.may_split(shape[axis]) || shape.contains(&0) {
            return self.settle(x);
        }
        Ok(self.filled(Layout::along(shape, axis), x))
    }

    /// An array of the parts that the ranks have made: `part` is this rank's, of the rows that [`Sharded::range`] says.
    ///
    /// Collective in so far as all ranks have to call it with the same shape and axis; nothing is sent.
    ///
    /// # Errors
    /// [`Error::Axis`] where there is no such axis, [`Error::Argument`] where it is too short to be split, [`Error::Shapes`] where the part has another shape.
    pub fn from_parts<T: Element>(&self, shape: &[usize], axis: usize, part: Part<B, T>) -> Result<ShardedArray<B, T>> {
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

    /// What this rank has of an axis of length `n` that is split.
    pub fn range(&self, n: usize) -> Range<usize> {
        self.mine(n)
    }

    /// `x` where each rank has the rows that its shape and axis say, and not those that a slice has left it.
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

    /// All of `x` on every rank, for an op without a better way: as far as the policy lets it, and counted.
    pub(crate) fn whole<T: Element>(&self, op: &'static str, x: Cow<'_, ShardedArray<B, T>>) -> Result<Part<B, T>> {
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

    /// All of `x` on every rank.
    pub(crate) fn gather<T: Element>(&self, op: &'static str, x: Cow<'_, ShardedArray<B, T>>) -> Result<Part<B, T>> {
        let Some(axis) = x.split() else { return Ok(x.into_owned().part) };
        if self.ranks() == 1 {
            return Ok(x.into_owned().part);
        }
        let held = x.layout.ranges(self.ranks());
        let row: usize = x.layout.shape[..axis].iter().chain(&x.layout.shape[axis + 1..]).product();
        let counts: Vec<usize> = held.iter().map(|rows| rows.len() * row).collect();
        let mut all = self.gather_parts(op, &x.part, &counts)?;
        if x.layout.shape[..axis].iter().all(|&n| n == 1) {
            // the parts lie behind each other as they do in the whole
            return all.next(&self.within, &x.layout.shape);
        }
        self.joined(held.iter().map(|rows| all.next(&self.within, &x.layout.part(rows))), axis)
    }

    /// Arrays that have come, behind each other along an axis.
    pub(crate) fn joined<T: Element>(
        &self,
        parts: impl Iterator<Item = Result<Part<B, T>>>,
        axis: usize,
    ) -> Result<Part<B, T>> {
        self.concatenated(parts.collect::<Result<Vec<_>>>()?, axis)
    }

    /// Arrays of the backend within behind each other along an axis.
    pub(crate) fn concatenated<T: Element>(&self, mut parts: Vec<Part<B, T>>, axis: usize) -> Result<Part<B, T>> {
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        self.within.concat_with(&parts, backends::options::ConcatOptions::new().axis(axis as isize))
    }

    /// `x` split along another axis, or along none: then every rank gets all of it, whatever the policy says.
    ///
    /// Collective: each rank sends each other what that will have. An axis too short to be split leaves the array whole.
    ///
    /// # Errors
    /// [`Error::Axis`] where there is no such axis; those of the ranks.
    pub fn resplit<T: Element>(&self, x: &ShardedArray<B, T>, axis: Option<usize>) -> Result<ShardedArray<B, T>> {
        const OP: &str = "resplit";
        if let Some(axis) = axis {
            rules::axis(OP, axis.try_into().unwrap_or(isize::MAX), x.layout.shape.len())?;
        }
        Ok(self.split_along(OP, Cow::Borrowed(x), axis)?.into_owned())
    }

    /// The same in the name of an op.
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

    /// From a split along one axis to one along another: each rank sends each other the block that both name.
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
