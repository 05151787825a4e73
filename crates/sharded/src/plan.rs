//! Plans: the layouts that a call needs for its arrays. A plan follows only from the layouts of the arguments, so all
//! ranks make the same plan without communication. The row of an op in the op table names a class, which selects the
//! kind of plan. The generated methods move each array to the planned layout, run the op on the parts, and build arrays
//! from the resulting parts.

use crate::{
    Layout, Sharded, ShardedArray, Split,
    array::LocalPart,
    rows::{Moving, Run},
};
use backends::{Axes, Backend, Element, Error, Operand, Result, runtime::rules};
use std::{borrow::Cow, ops::Range, sync::Arc};

/// The layouts that one call needs for its arrays.
#[derive(Debug)]
pub struct LayoutPlan(Kind);

#[derive(Debug)]
enum Kind {
    /// All arrays have the same layout, and their parts are used without a change.
    Same(Layout),
    /// The arrays are split along an axis of the result. Boxed to keep plans small, because every call moves a plan,
    /// and this kind is rare.
    Along(Box<Along>),
    /// Every rank holds all arrays completely.
    Whole,
}

#[derive(Debug)]
struct Along {
    /// The split axis of an array with `ndim` axes. The axes of an array with fewer axes correspond to the last axes,
    /// as in broadcasting.
    axis: usize,
    ndim: usize,
    /// Length of the split axis.
    len: usize,
    /// The range of each rank; `None` for the default ranges.
    held: Option<Arc<[Range<usize>]>>,
    /// The arrays that are split; every rank holds all other arrays completely.
    which: Which,
    /// The axes along which the op computes. A result may lack these axes.
    taken: Vec<usize>,
    /// The layouts of the call's arrays. Error texts contain their shapes.
    arrays: Vec<Layout>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    /// All arrays, except those that are broadcast along the split axis.
    All,
    /// The arrays with the same number of axes as the first array.
    Alike,
    /// Only the first array.
    First,
}

impl Along {
    /// The axis along which array number `k` is split; `None` if every rank holds the whole array.
    fn axis_of(&self, k: usize, shape: &[usize]) -> Option<usize> {
        let is_split = match self.which {
            Which::All => true,
            Which::Alike => shape.len() == self.ndim,
            Which::First => k == 0,
        };
        let own = (self.axis + shape.len()).checked_sub(self.ndim).filter(|_| is_split)?;
        // an array that is broadcast along the axis is not split
        (shape[own] == self.len).then_some(own)
    }
}

impl Along {
    /// The split axis of a result with `ndim` axes. A result with fewer axes than the arguments does not have the axes
    /// along which the op computes.
    fn axis_of_result(&self, ndim: usize) -> usize {
        let has_gone = |axis: &usize| ndim < self.ndim && self.taken.contains(axis);
        self.axis - (0..self.axis).filter(has_gone).count()
    }
}

impl LayoutPlan {
    /// Returns whether every rank needs all arrays completely.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.0, Kind::Whole)
    }

    /// Returns whether a rank has only its own part of some array.
    pub(crate) fn splits(&self) -> bool {
        match &self.0 {
            Kind::Same(layout) => layout.split.is_some(),
            Kind::Along(_) => true,
            Kind::Whole => false,
        }
    }
}

impl<B: Backend> Sharded<B> {
    /// The plan for an elementwise op: a common layout for all its arrays, after broadcasting. The largest split array,
    /// or the first of equally large ones, determines the split axis. The first array that is split along this axis,
    /// and not broadcast along it, determines the range of each rank.
    #[doc(hidden)]
    #[inline]
    pub fn plan_each(&self, op: &'static str, arrays: &[Option<&Layout>]) -> Result<LayoutPlan> {
        let mut all = arrays.iter().flatten();
        let Some(first) = all.next() else { return Ok(LayoutPlan(Kind::Whole)) };
        if all.all(|layout| *layout == *first) {
            return Ok(LayoutPlan(Kind::Same((*first).clone())));
        }
        self.plan_broadcast(op, arrays)
    }

    #[inline(never)]
    fn plan_broadcast(&self, op: &'static str, arrays: &[Option<&Layout>]) -> Result<LayoutPlan> {
        let shape = rules::broadcast_all(op, arrays.iter().flatten().map(|layout| &layout.shape[..]))?;
        let along = self.common(&shape, arrays.iter().flatten().copied());
        Ok(LayoutPlan(along.map_or(Kind::Whole, |along| Kind::Along(Box::new(along)))))
    }

    /// Returns the axis along which a result of the shape `shape` is split: the split axis of the largest split array.
    pub(crate) fn common_axis(&self, shape: &[usize], arrays: &[&Layout]) -> Option<usize> {
        self.common(shape, arrays.iter().copied()).map(|along| along.axis)
    }

    /// Like `common_axis`, but also returns the range of each rank: the ranges of the first array that is split along
    /// this axis and not broadcast along it.
    fn common<'l>(&self, shape: &[usize], arrays: impl Iterator<Item = &'l Layout> + Clone) -> Option<Along> {
        let mut best: Option<(usize, usize)> = None;
        for layout in arrays.clone() {
            let Some(axis) = layout.axis().map(|axis| axis + shape.len() - layout.shape.len()) else { continue };
            if best.is_none_or(|(most, _)| layout.size() > most) && self.may_split(shape[axis]) {
                best = Some((layout.size(), axis));
            }
        }
        let (_, axis) = best?;
        let (ndim, len) = (shape.len(), shape[axis]);
        let has_all = |layout: &&Layout| {
            let own = (axis + layout.shape.len()).checked_sub(ndim);
            own.is_some() && layout.axis() == own && own.is_some_and(|own| layout.shape[own] == len)
        };
        let held = arrays.clone().find(has_all).and_then(|layout| layout.split.as_ref()?.held.clone());
        Some(Along { axis, ndim, len, held, which: Which::All, taken: Vec::new(), arrays: Vec::new() })
    }

    /// The plan for an op that computes along `axes`: a split along an axis that is not in `axes`. If possible, the
    /// present split is kept; otherwise, the longest such axis is split.
    #[doc(hidden)]
    pub fn plan_lanes(&self, op: &'static str, arrays: &[Option<&Layout>], axes: &[Axes]) -> Result<LayoutPlan> {
        let Some(Some(first)) = arrays.first() else { return Ok(LayoutPlan(Kind::Whole)) };
        if arrays.iter().flatten().all(|layout| layout.split.is_none()) {
            return Ok(LayoutPlan(Kind::Whole));
        }
        let ndim = first.shape.len();
        let mut taken = Vec::new();
        for axes in axes {
            match axes {
                Axes::All => taken.extend(0..ndim),
                // the op itself reports an axis that occurs twice
                Axes::List(list) => taken.extend(list.resolve(op, ndim)?),
            }
        }
        Ok(self.plan_free(arrays, &taken))
    }

    /// The plan for an op on matrices: a split along an axis other than the last two.
    #[doc(hidden)]
    pub fn plan_matrices(&self, _op: &'static str, arrays: &[Option<&Layout>]) -> Result<LayoutPlan> {
        let Some(Some(first)) = arrays.first() else { return Ok(LayoutPlan(Kind::Whole)) };
        let ndim = first.shape.len();
        let taken: Vec<usize> = (ndim.saturating_sub(2)..ndim).collect();
        Ok(self.plan_free(arrays, &taken))
    }

    /// A plan with a split along an axis that is not in `taken`. Arrays with fewer axes than the first array are not
    /// split.
    fn plan_free(&self, arrays: &[Option<&Layout>], taken: &[usize]) -> LayoutPlan {
        let arrays = || arrays.iter().flatten().copied();
        let ndim = arrays().next().map_or(0, |first| first.shape.len());
        if arrays().all(|layout| layout.split.is_none()) || arrays().any(|layout| layout.shape.len() > ndim) {
            return LayoutPlan(Kind::Whole);
        }
        let alike = || arrays().filter(|layout| layout.shape.len() == ndim);
        let length = |axis: usize| alike().map(|layout| layout.shape[axis]).max().unwrap_or(0);
        let is_free = |axis: usize| !taken.contains(&axis) && self.may_split(length(axis));
        let as_it_is = alike().filter_map(Layout::axis).find(|&axis| is_free(axis));
        let longest = || (0..ndim).rev().filter(|&axis| is_free(axis)).max_by_key(|&axis| length(axis));
        let Some(axis) = as_it_is.or_else(longest) else { return LayoutPlan(Kind::Whole) };
        let len = length(axis);
        if alike().any(|layout| ![1, len].contains(&layout.shape[axis])) {
            // the shapes do not match, which the op reports when it receives the whole arrays
            return LayoutPlan(Kind::Whole);
        }
        let has_all = |layout: &&Layout| layout.axis() == Some(axis) && layout.shape[axis] == len;
        let held = alike().find(has_all).and_then(|layout| layout.split.as_ref()?.held.clone());
        let all = arrays().cloned().collect();
        let along = Along { axis, ndim, len, held, which: Which::Alike, taken: taken.to_vec(), arrays: all };
        LayoutPlan(Kind::Along(Box::new(along)))
    }

    /// The plan for an op on a batch: the first array is split along its first axis, and no other array is split.
    #[doc(hidden)]
    pub fn plan_batch(&self, _op: &'static str, arrays: &[Option<&Layout>]) -> Result<LayoutPlan> {
        let Some(Some(first)) = arrays.first() else { return Ok(LayoutPlan(Kind::Whole)) };
        let len = first.shape.first().copied().unwrap_or(0);
        if first.split.is_none() || !self.may_split(len) {
            return Ok(LayoutPlan(Kind::Whole));
        }
        let held = first.split.as_ref().filter(|split| split.axis == 0).and_then(|split| split.held.clone());
        let (ndim, all) = (first.shape.len(), arrays.iter().flatten().copied().cloned().collect());
        let along = Along { axis: 0, ndim, len, held, which: Which::First, taken: Vec::new(), arrays: all };
        Ok(LayoutPlan(Kind::Along(Box::new(along))))
    }

    /// The plan for an op that needs all arrays completely on every rank.
    #[doc(hidden)]
    pub fn plan_whole(&self, _op: &'static str) -> Result<LayoutPlan> {
        Ok(LayoutPlan(Kind::Whole))
    }

    /// The layout of an operand; `None` if the operand is a scalar.
    #[doc(hidden)]
    #[inline]
    pub fn layout_of<'x, T: Element>(x: &'x Operand<'_, Sharded<B>, T>) -> Option<&'x Layout> {
        match x {
            Operand::Array(x) => Some(&x.layout),
            Operand::Scalar(_) => None,
        }
    }

    /// Moves array number `k` of a call to the layout of the plan, and returns this rank's part.
    #[doc(hidden)]
    #[inline]
    pub fn arrange<'a, T: Element>(
        &self,
        op: &'static str,
        plan: &LayoutPlan,
        k: usize,
        x: Cow<'a, ShardedArray<B, T>>,
    ) -> Result<Cow<'a, LocalPart<B, T>>> {
        match &plan.0 {
            Kind::Same(_) => Ok(part_of(x)),
            Kind::Whole if x.layout.split.is_none() => Ok(part_of(x)),
            Kind::Whole => self.whole(op, x).map(Cow::Owned),
            Kind::Along(along) => self.arrange_along(op, along, k, x).map_err(|why| why.within(op)),
        }
    }

    /// Like `arrange`, for an operand. Scalars are returned unchanged.
    #[doc(hidden)]
    #[inline]
    pub fn arrange_operand<'a, T: Element>(
        &self,
        op: &'static str,
        plan: &LayoutPlan,
        k: usize,
        x: Operand<'a, Sharded<B>, T>,
    ) -> Result<Operand<'a, B, T>> {
        Ok(match x {
            Operand::Array(x) => Operand::Array(self.arrange(op, plan, k, x)?),
            Operand::Scalar(x) => Operand::Scalar(x),
        })
    }

    #[inline(never)]
    fn arrange_along<'a, T: Element>(
        &self,
        op: &'static str,
        along: &Along,
        k: usize,
        x: Cow<'a, ShardedArray<B, T>>,
    ) -> Result<Cow<'a, LocalPart<B, T>>> {
        match along.axis_of(k, &x.layout.shape) {
            Some(axis) => self.with_rows(op, x, axis, along.held.as_ref()),
            // an elementwise op broadcasts this array along the split axis; the array is gathered, but not counted in
            // the statistics
            None if along.which == Which::All => self.gather(op, x).map(Cow::Owned),
            None => self.whole(op, x).map(Cow::Owned),
        }
    }

    /// Splits `x` along `axis`, and returns this rank's part. Rank r gets the rows `held[r]`, or the default rows if
    /// `held` is `None`.
    pub(crate) fn with_rows<'a, T: Element>(
        &self,
        op: &'static str,
        x: Cow<'a, ShardedArray<B, T>>,
        axis: usize,
        held: Option<&Arc<[Range<usize>]>>,
    ) -> Result<Cow<'a, LocalPart<B, T>>> {
        let n = x.layout.shape[axis];
        // changes the split if the array is split along another axis; if this axis is too short, every rank gets the
        // whole array
        let x = match x.split() {
            Some(own) if own != axis => self.split_along(op, x, Some(axis))?,
            _ => x,
        };
        if x.split().is_none() {
            // every rank holds the whole array, and keeps only its own rows
            let rows = held.map_or_else(|| self.mine(n), |held| held[self.rank()].clone());
            return self.cut(&x.part, axis, rows).map(Cow::Owned);
        }
        let Some(wanted) = self.other_rows(&x.layout, axis, held) else { return Ok(part_of(x)) };
        let (run, own) = (Run { source: 0, from: 0, step: 1, to: 0, len: n }, [x.layout.ranges(self.ranks())]);
        let moving = Moving { sources: &[&x.part], axis, held: &own, wanted: &wanted, runs: &[run], fill: None };
        self.move_rows(op, moving).map(Cow::Owned)
    }

    /// Returns the rows that each rank must hold of an array that is split along `axis`: `held`, or the default rows if
    /// `held` is `None`. Returns `None` if the ranks already hold these rows.
    fn other_rows(&self, x: &Layout, axis: usize, held: Option<&Arc<[Range<usize>]>>) -> Option<Vec<Range<usize>>> {
        let own = x.split.as_ref().and_then(|split| split.held.as_ref());
        (own != held).then(|| held.map_or_else(|| self.ranges(x.shape[axis]), |held| held.to_vec()))
    }

    /// The split axis of array number `k`, and the rows that each rank must hold, if rows must move along this axis.
    /// `None` if nothing moves, or if the array is split along another axis.
    pub(crate) fn moved_by(&self, plan: &LayoutPlan, k: usize, x: &Layout) -> Option<(usize, Vec<Range<usize>>)> {
        let Kind::Along(along) = &plan.0 else { return None };
        let axis = along.axis_of(k, &x.shape).filter(|&axis| x.axis() == Some(axis))?;
        Some((axis, self.other_rows(x, axis, along.held.as_ref())?))
    }

    /// Number of rows of the split axis that this rank holds.
    fn own_rows(&self, along: &Along) -> usize {
        match &along.held {
            Some(held) => held[self.rank()].len(),
            None => self.mine(along.len).len(),
        }
    }

    /// Changes the shapes in an error of the inner backend: replaces the shape of a part by the shape of the whole
    /// array.
    #[doc(hidden)]
    #[cold]
    #[inline(never)]
    pub fn explained(&self, plan: &LayoutPlan, why: Error) -> Error {
        let Kind::Along(along) = &plan.0 else { return why };
        let own = self.own_rows(along);
        let whole = |shape: Vec<usize>| {
            let of = |(k, layout): (usize, &Layout)| {
                let axis = along.axis_of(k, &layout.shape)?;
                let mut part = layout.shape.to_vec();
                part[axis] = own;
                (part == shape).then(|| layout.shape.to_vec())
            };
            // an array that is not split may have the same shape as the part of another array
            let is_whole =
                |(k, layout): (usize, &Layout)| along.axis_of(k, &layout.shape).is_none() && *layout.shape == *shape;
            if along.which != Which::First && along.arrays.iter().enumerate().any(is_whole) {
                return shape;
            }
            along.arrays.iter().enumerate().find_map(of).unwrap_or(shape)
        };
        match why {
            Error::Shape { op, shape, why, .. } => Error::shape(op, &whole(shape), why),
            Error::Shapes { op, left, right, .. } => Error::shapes(op, &whole(left), &whole(right)),
            other => other,
        }
    }

    /// Like [`place`](Sharded::place), for the only result of a call, which takes the layout out of the plan.
    #[doc(hidden)]
    #[inline]
    pub fn place_last<T: Element>(
        &self,
        op: &'static str,
        plan: LayoutPlan,
        part: LocalPart<B, T>,
    ) -> Result<ShardedArray<B, T>> {
        match plan.0 {
            Kind::Same(layout) => Ok(self.array(layout, part)),
            kind => self.place(op, &LayoutPlan(kind), part),
        }
    }

    /// Builds an array from this rank's part of a call's result.
    #[doc(hidden)]
    #[inline]
    pub fn place<T: Element>(
        &self,
        op: &'static str,
        plan: &LayoutPlan,
        part: LocalPart<B, T>,
    ) -> Result<ShardedArray<B, T>> {
        match &plan.0 {
            Kind::Whole => self.settle(part).map_err(|why| why.within(op)),
            Kind::Same(layout) => Ok(self.array(layout.clone(), part)),
            Kind::Along(along) => {
                let mut shape = self.within.shape(&part).to_vec();
                let axis = along.axis_of_result(shape.len());
                let (own, held) = (self.own_rows(along), along.held.clone());
                match shape.get_mut(axis).filter(|n| **n == own) {
                    Some(n) => *n = along.len,
                    None => {
                        let why = format!(
                            "of a part must have {own} elements along axis {axis}, as the `split` of the row says"
                        );
                        return Err(Error::shape(op, &shape, why));
                    }
                }
                Ok(self.array(Layout::new(shape, Some(Split { axis, held })), part))
            }
        }
    }
}

/// The part of an array: borrowed from a borrowed array, owned otherwise.
#[inline]
pub fn part_of<B: Backend, T: Element>(x: Cow<'_, ShardedArray<B, T>>) -> Cow<'_, LocalPart<B, T>> {
    match x {
        Cow::Borrowed(x) => Cow::Borrowed(&x.part),
        Cow::Owned(x) => Cow::Owned(x.part),
    }
}
