//! Reductions, running sums and products, and differences of neighbouring elements. If the split axis is not reduced,
//! the parts are reduced separately. Otherwise, each rank computes a partial result, and the partial results are
//! joined.

use crate::{
    Layout, Sharded, ShardedArray, Split,
    array::LocalPart,
    indexing::getitem,
    layout::grain,
    manipulation::{broadcast_to, concat, flatten},
    tree,
};
use backends::{DTypeKind, Result, Slice, prelude::*, runtime::rules};
use std::borrow::Cow;

/// The axes of a reduction, and the shape and split of its result.
struct Left {
    axes: Vec<usize>,
    shape: Vec<usize>,
    /// The split of the result: the split of the argument, with the axis renumbered. `None` if the split axis is
    /// reduced, or if the argument is not split.
    split: Option<Split>,
    /// True if the split axis is reduced.
    is_across: bool,
}

impl Left {
    fn of(op: &'static str, layout: &Layout, axis: Axes, keepdims: bool) -> Result<Left> {
        let axes = rules::reduction(op, axis, layout.shape.len())?;
        let shape = rules::reduced(&layout.shape, &axes, keepdims);
        let is_across = layout.axis().is_some_and(|axis| axes.contains(&axis));
        let split = layout.split.clone().filter(|_| !is_across).map(|split| Split {
            axis: if keepdims { split.axis } else { split.axis - axes.iter().filter(|&&k| k < split.axis).count() },
            ..split
        });
        Ok(Left { axes, shape, split, is_across })
    }

    /// Builds the result from this rank's reduced part.
    fn placed<B: Backend, T: Element>(self, b: &Sharded<B>, part: LocalPart<B, T>) -> Result<ShardedArray<B, T>> {
        match self.split {
            None => b.settle(part),
            split => Ok(b.array(Layout::new(self.shape, split), part)),
        }
    }
}

/// Arrays of up to this number of elements are gathered and reduced on every rank. This is faster than joining partial
/// results in a tree, and gives the same bits as one rank.
const FEW: usize = 1 << 12;

/// A reduction whose partial results can be joined.
struct Fold<F, J> {
    op: &'static str,
    /// Reduces an array of the inner backend.
    local: F,
    /// Joins two partial results.
    join: J,
    /// True if joining rounds, so that the bits of the result depend on the order of joining.
    rounds: bool,
}

impl<F, J> Fold<F, J> {
    fn of<B: Backend, T: Element, U: Element>(
        &self,
        b: &Sharded<B>,
        x: &ShardedArray<B, T>,
        axis: Axes,
        keepdims: bool,
    ) -> Result<ShardedArray<B, U>>
    where
        F: Fn(&LocalPart<B, T>, Axes, bool) -> Result<LocalPart<B, U>>,
        J: Fn(U, U) -> U + Copy,
    {
        let op = self.op;
        let is_tree = self.rounds && b.policy.exact;
        let is_few = is_tree && x.layout.size() <= FEW;
        // if every rank holds the whole array, the local reduction is the result; a single rank must nevertheless join
        // partial results in a tree if several ranks would, so that the bits are the same
        let has_all = b.ranks() == 1 && (!is_tree || is_few || rounds_often::<T>());
        if x.layout.split.is_none() || has_all && matches!(axis, Axes::All) {
            return b.settle((self.local)(&x.part, axis, keepdims)?);
        }
        if is_few && !rounds_often::<T>() && matches!(axis, Axes::All) {
            return b.settle((self.local)(&b.gather(op, Cow::Borrowed(x))?, axis, keepdims)?);
        }
        let left = Left::of(op, &x.layout, axis, keepdims)?;
        if !left.is_across {
            return left.placed(b, (self.local)(&x.part, axis, keepdims)?);
        }
        if b.ranks() == 1 && !is_tree || is_few || rounds_often::<T>() && self.rounds {
            let whole =
                if rounds_often::<T>() { b.whole(op, Cow::Borrowed(x))? } else { b.gather(op, Cow::Borrowed(x))? };
            return b.settle((self.local)(&whole, axis, keepdims)?);
        }
        let size: usize = left.shape.iter().product();
        let along = x.split().unwrap_or(0);
        let all = if is_tree {
            let x = b.usual_layout(op, Cow::Borrowed(x))?;
            let (own, n) = (self.grains(b, &x, along, &left.axes, size)?, x.layout.shape[along]);
            let held = b.ranges(n);
            let counts: Vec<usize> = held.iter().map(|rows| tree::nodes(tree::grains(n, rows)).len() * size).collect();
            b.agree(op, || format!("sums of the parts of {:?} along {along}", x.layout.shape))?;
            tree::total(b.gather_counted(op, &own, &counts)?, n, &held, size, self.join)
        } else {
            let own = b.within.to_vec((self.local)(&x.part, Axes::from(&left.axes[..]), false)?)?;
            tree::joined(b.gather_elements(op, &own)?, size, self.join)
        };
        b.settle(b.within.from_ndarray(tree::shaped(op, &left.shape, all)?)?)
    }

    /// Reduces each grain (a short range of the split axis, see [`grain`]) of this rank's part. Joins the results of
    /// neighbouring grains that form a pair in the tree.
    fn grains<B: Backend, T: Element, U: Element>(
        &self,
        b: &Sharded<B>,
        x: &ShardedArray<B, T>,
        along: usize,
        axes: &[usize],
        size: usize,
    ) -> Result<Vec<U>>
    where
        F: Fn(&LocalPart<B, T>, Axes, bool) -> Result<LocalPart<B, U>>,
        J: Fn(U, U) -> U + Copy,
    {
        let n = x.layout.shape[along];
        let (grain, rows) = (grain(n), b.mine(n));
        let whole = rows.len() / grain;
        let mut values: Vec<U> = Vec::new();
        if whole > 0 {
            // splits the axis into two axes: the index of the grain, which is not reduced, and the index within the
            // grain
            let full = b.cut(&x.part, along, 0..whole * grain)?;
            let mut shape: Vec<isize> = b.within.shape(&full).iter().map(|&n| n as isize).collect();
            shape.splice(along..=along, [whole as isize, grain as isize]);
            let inner: Vec<usize> = axes.iter().map(|&axis| if axis >= along { axis + 1 } else { axis }).collect();
            let partial = (self.local)(&b.within.reshape(full, shape)?, Axes::from(&inner[..]), false)?;
            // moves the axis of grains to the front, before the other axes that are not reduced
            let before = (0..along).filter(|axis| !axes.contains(axis)).count();
            let partial = if before == 0 { partial } else { b.within.moveaxis(partial, before, 0)? };
            values = b.within.to_vec(partial)?;
        }
        if whole * grain < rows.len() {
            let rest = b.cut(&x.part, along, whole * grain..rows.len())?;
            values.extend(b.within.to_vec((self.local)(&rest, Axes::from(axes), false)?)?);
        }
        Ok(tree::merged(values, tree::grains(n, &rows), size, self.join))
    }
}

/// Returns whether `T` is a 16-bit float. The inner backend sums such floats in a wider dtype, but partial results of
/// dtype `T` would be rounded, or would overflow.
fn rounds_often<T: Element>() -> bool {
    matches!(T::DTYPE.kind(), DTypeKind::Real) && size_of::<T>() < 4
}

macro_rules! folds {
    ($($op:ident($bound:ident -> $out:ty) $with:ident $options:ident, $rounds:literal, $join:expr;)*) => {$(
        pub fn $op<B: Backend, T: $bound>(
            b: &Sharded<B>,
            x: &ShardedArray<B, T>,
            axis: Axes,
            keepdims: bool,
        ) -> Result<ShardedArray<B, $out>> {
            let local = |x: &LocalPart<B, T>, axis: Axes, keepdims: bool| {
                b.within.$with(x, axis, $options::new().keepdims(keepdims))
            };
            Fold { op: stringify!($op), local, join: $join, rounds: $rounds }.of(b, x, axis, keepdims)
        }
    )*};
}
folds! {
    sum(Element -> T::Sum) sum_with SumOptions, true, Numeric::plus;
    prod(Element -> T::Sum) prod_with ProdOptions, true, Numeric::times;
    max(Ordered -> T) max_with MaxOptions, false, Ordered::maximum;
    min(Ordered -> T) min_with MinOptions, false, Ordered::minimum;
    any(Element -> bool) any_with AnyOptions, false, std::ops::BitOr::bitor;
    all(Element -> bool) all_with AllOptions, false, std::ops::BitAnd::bitand;
    count_nonzero(Element -> i64) count_nonzero_with CountNonzeroOptions, false, std::ops::Add::add;
}

/// The sum of floats, in the dtype of the floats. The partial sums are joined in a tree.
fn total<B: Backend, T: Float>(
    b: &Sharded<B>,
    op: &'static str,
    x: &ShardedArray<B, T>,
    axis: Axes,
    keepdims: bool,
) -> Result<ShardedArray<B, T>> {
    // the sum of floats has the dtype of the floats, so this conversion changes nothing
    let local = |x: &LocalPart<B, T>, axis: Axes, keepdims: bool| {
        b.within.astype::<T, _>(b.within.sum_with(x, axis, SumOptions::new().keepdims(keepdims))?)
    };
    Fold { op, local, join: |a: T, v: T| a.plus(v), rounds: true }.of(b, x, axis, keepdims)
}

/// The number of elements that are reduced to each element of the result.
fn count(layout: &Layout, axes: &[usize]) -> f64 {
    axes.iter().map(|&axis| layout.shape[axis]).product::<usize>() as f64
}

/// The mean: the sum divided by the number of elements.
pub fn mean<B: Backend, T: Float>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    axis: Axes,
    keepdims: bool,
) -> Result<ShardedArray<B, T>> {
    let op = "mean";
    let left = Left::of(op, &x.layout, axis, keepdims)?;
    let options = MeanOptions::new().keepdims(keepdims);
    if !left.is_across {
        return left.placed(b, b.within.mean_with(&x.part, axis, options)?);
    }
    if rounds_often::<T>() || x.layout.size() <= FEW {
        let whole = b.whole(op, Cow::Borrowed(x))?;
        return b.settle(b.within.mean_with(&whole, axis, options)?);
    }
    let count = count(&x.layout, &left.axes);
    b.divide(total(b, op, x, axis, keepdims)?, T::from_f64(count))
}

/// The variance: the sum of the squared distances from the mean, divided by the number of elements minus `correction`.
/// `None` if the inner backend must compute the variance, from the parts or from the whole array.
fn variance<B: Backend, T: Float>(
    b: &Sharded<B>,
    op: &'static str,
    x: &ShardedArray<B, T>,
    axis: Axes,
    correction: f64,
    keepdims: bool,
) -> Result<Option<ShardedArray<B, T::Real>>> {
    let left = Left::of(op, &x.layout, axis, keepdims)?;
    if !left.is_across || rounds_often::<T>() || x.layout.size() <= FEW {
        return Ok(None);
    }
    let centre = mean(b, x, axis, true).map_err(|why| why.within(op))?;
    let distances = b.abs(b.subtract(x, centre)?)?;
    let squares = b.square(distances)?;
    // the real dtype of a float dtype is itself a float dtype
    let sum = total_real(b, op, &squares, axis, keepdims)?;
    let over = (count(&x.layout, &left.axes) - correction).max(0.0);
    Ok(Some(b.divide(sum, T::Real::from_f64(over))?))
}

fn total_real<B: Backend, T: Real>(
    b: &Sharded<B>,
    op: &'static str,
    x: &ShardedArray<B, T>,
    axis: Axes,
    keepdims: bool,
) -> Result<ShardedArray<B, T>> {
    total(b, op, x, axis, keepdims)
}

pub fn var<B: Backend, T: Float>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    axis: Axes,
    correction: f64,
    keepdims: bool,
) -> Result<ShardedArray<B, T::Real>> {
    let op = "var";
    match variance(b, op, x, axis, correction, keepdims)? {
        Some(variance) => Ok(variance),
        None => {
            let options = VarOptions::new().correction(correction).keepdims(keepdims);
            unsplit(b, op, x, axis, keepdims, |x| b.within.var_with(x, axis, options))
        }
    }
}

pub fn std<B: Backend, T: Float>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    axis: Axes,
    correction: f64,
    keepdims: bool,
) -> Result<ShardedArray<B, T::Real>> {
    let op = "std";
    match variance(b, op, x, axis, correction, keepdims)? {
        Some(variance) => b.sqrt(variance),
        None => {
            let options = StdOptions::new().correction(correction).keepdims(keepdims);
            unsplit(b, op, x, axis, keepdims, |x| b.within.std_with(x, axis, options))
        }
    }
}

/// Reduces without joining partial results: if the split axis is reduced, every rank reduces the whole array.
fn unsplit<B: Backend, T: Element, U: Element>(
    b: &Sharded<B>,
    op: &'static str,
    x: &ShardedArray<B, T>,
    axis: Axes,
    keepdims: bool,
    local: impl Fn(&LocalPart<B, T>) -> Result<LocalPart<B, U>>,
) -> Result<ShardedArray<B, U>> {
    let left = Left::of(op, &x.layout, axis, keepdims)?;
    if !left.is_across {
        return left.placed(b, local(&x.part)?);
    }
    b.settle(local(&b.whole(op, Cow::Borrowed(x))?)?)
}

macro_rules! extremes {
    ($($op:ident $with:ident $options:ident $best:ident $better:ident;)*) => {$(
        /// The index of the best element, which is the largest or the smallest one, depending on the op. Of equal
        /// elements, the first is taken. NaN is better than any number.
        pub fn $op<B: Backend, T: Ordered>(
            b: &Sharded<B>,
            x: &ShardedArray<B, T>,
            axis: Option<isize>,
            keepdims: bool,
        ) -> Result<ShardedArray<B, i64>> {
            let op = stringify!($op);
            let options = $options::new().keepdims(keepdims);
            let Some(given) = axis else {
                rules::require_any(op, &x.layout.shape)?;
                if x.split().is_none() {
                    return b.settle(b.within.$with(&x.part, .., options)?);
                }
                let row = flatten(b, x).map_err(|why| why.within(op))?;
                let found = $op(b, &row, Some(0), false)?;
                let shape = rules::row_reduced(x.layout.shape.len(), keepdims);
                return b.reshape(found, shape.iter().map(|&n| n as isize).collect::<Vec<_>>());
            };
            let left = Left::of(op, &x.layout, Axes::from(given), keepdims)?;
            rules::require_elements(op, &x.layout.shape, &left.axes)?;
            if !left.is_across || b.ranks() == 1 {
                return left.placed(b, b.within.$with(&x.part, given, options)?);
            }
            let along = left.axes[0];
            let places = b.within.to_vec(b.within.$with(&x.part, along as isize, $options::new())?)?;
            let values = b.within.to_vec(b.within.$best(&x.part, along)?)?;
            let starts: Vec<i64> = x.layout.ranges(b.ranks()).iter().map(|rows| rows.start as i64).collect();
            let (all_places, all) = (b.gather_elements(op, &places)?, b.gather_elements(op, &values)?);
            let found = first_of(&all, &all_places, &starts, values.len(), |a: T, v| a.$better(v));
            b.settle(b.within.from_ndarray(tree::shaped(op, &left.shape, found)?)?)
        }
    )*};
}
extremes! {
    argmax argmax_with ArgmaxOptions max maximum;
    argmin argmin_with ArgminOptions min minimum;
}

/// Returns the index of the best element of each of `size` lanes (1-D slices along the reduced axis). For each rank and
/// lane, `values` has the best element of the rank's part, and `places` its index in the part. `starts` has the index
/// of each rank's first row.
#[allow(clippy::eq_op)] // NaN equals nothing
fn first_of<T: Ordered>(
    values: &[T],
    places: &[i64],
    starts: &[i64],
    size: usize,
    better: impl Fn(T, T) -> T,
) -> Vec<i64> {
    let is_nan = |x: T| x != x;
    let lane = |k: usize| {
        let mut best = (values[k], places[k] + starts[0]);
        for (r, &start) in starts.iter().enumerate().skip(1) {
            let value = values[r * size + k];
            let wins = value != best.0 && (is_nan(value) || better(best.0, value) == value);
            if !is_nan(best.0) && wins {
                best = (value, places[r * size + k] + start);
            }
        }
        best.1
    };
    (0..size).map(lane).collect()
}

macro_rules! scans {
    ($($op:ident $with:ident $options:ident $apply:ident $first:ident $join:ident;)*) => {$(
        /// Computes running sums or products. Each rank scans its part, and combines the result with the total of the
        /// previous ranks' parts.
        pub fn $op<B: Backend, T: Element>(
            b: &Sharded<B>,
            x: &ShardedArray<B, T>,
            axis: Option<isize>,
            include_initial: bool,
        ) -> Result<ShardedArray<B, T::Sum>> {
            let op = stringify!($op);
            let Some(given) = axis else {
                let row = flatten(b, x).map_err(|why| why.within(op))?;
                return $op(b, &row, Some(0), include_initial);
            };
            let (along, _, shape) = rules::scan(op, &x.layout.shape, given, include_initial, size_of::<T::Sum>())?;
            let options = $options::new().include_initial(include_initial);
            let Some(split) = x.layout.split.clone().filter(|_| b.ranks() > 1 || x.split() != Some(along)) else {
                return b.settle(b.within.$with(&x.part, given, options)?);
            };
            if split.axis != along {
                let part = b.within.$with(&x.part, given, options)?;
                return Ok(b.array(Layout::new(shape, Some(split)), part));
            }
            if rounds_often::<T>() {
                return b.settle(b.within.$with(&b.whole(op, Cow::Borrowed(x))?, given, options)?);
            }
            let local = b.within.$op(&x.part, given)?;
            let own = b.within.shape(&local)[along];
            let last = b.within.to_vec(b.cut(&local, along, own - 1..own)?)?;
            let all = b.gather_elements(op, &last)?;
            let part = if b.rank() == 0 {
                local
            } else {
                let before = all[..b.rank() * last.len()].to_vec();
                let before = tree::joined(before, last.len(), |a: T::Sum, v| a.$join(v));
                let mut shape = b.within.shape(&local).to_vec();
                shape[along] = 1;
                b.within.$apply(b.within.from_ndarray(tree::shaped(op, &shape, before)?)?, local)?
            };
            let y = b.array(Layout::new(x.layout.shape.clone(), Some(split)), part);
            if !include_initial {
                return Ok(y);
            }
            let mut first = x.layout.shape.to_vec();
            first[along] = 1;
            let first = b.$first::<T::Sum>(&first[..])?;
            concat(b, &[&first, &y], Some(along as isize)).map_err(|why| why.within(op))
        }
    )*};
}
scans! {
    cumulative_sum cumulative_sum_with CumulativeSumOptions add zeros plus;
    cumulative_prod cumulative_prod_with CumulativeProdOptions multiply ones times;
}

/// The `n`-th differences of neighbouring elements along an axis. First, `x` is concatenated with `prepend` and
/// `append`, if they are given.
pub fn diff<B: Backend, T: Numeric>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    axis: isize,
    n: usize,
    prepend: Option<&ShardedArray<B, T>>,
    append: Option<&ShardedArray<B, T>>,
) -> Result<ShardedArray<B, T>> {
    let op = "diff";
    let along = rules::axis(op, axis, x.layout.shape.len())?;
    let edge = |edge: &ShardedArray<B, T>| {
        broadcast_to(b, edge, &rules::edge(op, &x.layout.shape, &edge.layout.shape, along)?)
    };
    let (before, after) = (prepend.map(edge).transpose()?, append.map(edge).transpose()?);
    let all: Vec<&ShardedArray<B, T>> = before.iter().chain([x]).chain(&after).collect();
    let mut y = match &all[..] {
        [x] => (*x).clone(),
        all => concat(b, all, Some(along as isize)).map_err(|why| why.within(op))?,
    };
    if y.split() != Some(along) {
        let options = DiffOptions::new().axis(along as isize).n(n);
        let part = b.within.diff_with(&y.part, options)?;
        let mut shape = y.layout.shape.to_vec();
        shape[along] = b.within.shape(&part)[along];
        return Ok(b.array(Layout::new(shape, y.layout.split.clone()), part));
    }
    let (left, times) = rules::differences(&y.layout.shape, along, n);
    if left.contains(&0) {
        return b.zeros(&left[..]);
    }
    if b.ranks() == 1 {
        let part = b.within.diff_with(&y.part, DiffOptions::new().axis(along as isize).n(n))?;
        return b.alone(part, along);
    }
    for _ in 0..times {
        let mut rows = vec![Slice::ALL; along];
        rows.push(Slice::from(1..));
        let right = getitem(b, &y, &rows)?;
        rows[along] = Slice { stop: Some(-1), ..Slice::ALL };
        let left = getitem(b, &y, &rows)?;
        y = b.subtract(&right, &left)?;
    }
    Ok(y)
}
