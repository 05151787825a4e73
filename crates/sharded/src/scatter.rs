//! Scatter ops, which combine values with rows of an array. A row consists of the elements at one index along an axis;
//! a list of indices selects the row for each value.

use crate::{Sharded, ShardedArray, array::LocalPart, plan::part_of};
use backends::{Axes, Backend, Element, Error, Numeric, Ordered, Result, runtime::rules};
use std::{borrow::Cow, ops::Range};

macro_rules! scatters {
    ($($op:ident $bound:ident;)*) => {$(
        /// Scatters along `axis`. If the array is split along `axis`, it is split along another axis instead. If no
        /// other axis is long enough, each value is sent to the rank that holds its row.
        pub fn $op<B: Backend, T: $bound>(
            b: &Sharded<B>,
            x: &ShardedArray<B, T>,
            indices: &ShardedArray<B, i64>,
            values: &ShardedArray<B, T>,
            axis: isize,
        ) -> Result<ShardedArray<B, T>> {
            let op = stringify!($op);
            let layouts = [&x.layout, &indices.layout, &values.layout];
            let [of_x, of_indices, of_values] = layouts.map(|layout| &layout.shape[..]);
            let along = rules::scattered(op, of_x, of_indices, of_values, axis)?;
            let plan = b.plan_lanes(op, &layouts.map(Some), &[Axes::from(axis)])?;
            if plan.is_whole() && x.split() == Some(along) && b.ranks() > 1 {
                let (indices, values) = routed(b, op, x, indices, values, along)?;
                return Ok(b.array(x.layout.clone(), b.within.$op(&x.part, &indices, &values, axis)?));
            }
            let x = b.arrange(op, &plan, 0, Cow::Borrowed(x))?;
            let indices = b.arrange(op, &plan, 1, Cow::Borrowed(indices))?;
            let values = b.arrange(op, &plan, 2, Cow::Borrowed(values))?;
            b.place(op, &plan, b.within.$op(&*x, &*indices, &*values, axis)?)
        }
    )*};
}
scatters! {
    scatter Element;
    scatter_add Numeric;
    scatter_mul Numeric;
    scatter_max Ordered;
    scatter_min Ordered;
}

/// Returns the indices of rows in this rank's part of `x`, and the values for these rows. `x` is split along `axis`.
/// The values keep their order in the whole array, so each row combines them in the same order as on one rank.
fn routed<B: Backend, T: Element>(
    b: &Sharded<B>,
    op: &'static str,
    x: &ShardedArray<B, T>,
    indices: &ShardedArray<B, i64>,
    values: &ShardedArray<B, T>,
    axis: usize,
) -> Result<(LocalPart<B, i64>, LocalPart<B, T>)> {
    let held = x.layout.ranges(b.ranks());
    let (count, n) = (indices.layout.shape[0], x.layout.shape[axis]);
    if !b.may_split(count) || indices.split().is_none() && values.split().is_none() {
        // if there are few values, every rank gathers all of them, and selects those for its own rows
        let (indices, values) = (b.gather(op, Cow::Borrowed(indices))?, b.gather(op, Cow::Borrowed(values))?);
        let places = named(b.within.to_vec(&indices)?, n).map_err(|index| Error::index(op, index, axis, n))?;
        let Chosen { at, places } = Chosen::by_rank(&places, &held).swap_remove(b.rank());
        return Ok((b.within.asarray(places)?, b.within.take(&values, &b.within.asarray(at)?, axis as isize)?));
    }
    let indices = part_of(b.split_along(op, Cow::Borrowed(indices), Some(0))?);
    let values = b.with_rows(op, Cow::Borrowed(values), axis, None)?;
    let own = b.within.to_vec(&*indices)?;
    let places = b.agreed(op, named(own, n).map_err(|index| Error::index(op, index, axis, n)))?;
    let chosen = Chosen::by_rank(&places, &held);
    let to: Vec<usize> = chosen.iter().map(|chosen| chosen.at.len()).collect();
    let counts: Vec<u64> = to.iter().map(|&n| n as u64).collect();
    let ones = vec![1; b.ranks()];
    let from: Vec<usize> = b.exchange_elements(op, &counts, &ones, &ones)?.into_iter().map(|n| n as usize).collect();
    let places: Vec<i64> = chosen.iter().flat_map(|chosen| chosen.places.iter().copied()).collect();
    let places = b.exchange_elements(op, &places, &to, &from)?;
    let mut send = Vec::with_capacity(b.ranks());
    for chosen in chosen {
        send.push(match chosen.at.len() {
            0 => Vec::new(),
            _ => vec![b.within.take(&*values, &b.within.asarray(chosen.at)?, axis as isize)?],
        });
    }
    let mut shape = b.within.shape(&values).to_vec();
    let rest: usize = shape.iter().enumerate().filter(|(k, _)| *k != axis).map(|(_, n)| n).product();
    let elements: Vec<usize> = from.iter().map(|n| n * rest).collect();
    let mut come = b.exchange(op, &send, &elements)?;
    let mut parts = Vec::new();
    for &n in from.iter().filter(|n| **n > 0) {
        shape[axis] = n;
        parts.push(come.next(&b.within, &shape)?);
    }
    let values = if parts.is_empty() { b.cut(&values, axis, 0..0)? } else { b.concatenated(parts, axis)? };
    Ok((b.within.asarray(places)?, values))
}

/// Converts indices, which may be negative, to non-negative indices along an axis of length `n`. The error is the first
/// index out of range.
fn named(indices: Vec<i64>, n: usize) -> std::result::Result<Vec<usize>, i64> {
    let place = |index: i64| {
        let from_start = if index < 0 { i128::from(index) + n as i128 } else { i128::from(index) };
        usize::try_from(from_start).ok().filter(|&i| i < n).ok_or(index)
    };
    indices.into_iter().map(place).collect()
}

/// The indices that select rows of one rank: their positions in the list of indices, and the rows relative to the
/// rank's first row.
#[derive(Clone, Default)]
struct Chosen {
    at: Vec<i64>,
    places: Vec<i64>,
}

impl Chosen {
    /// Groups indices by the rank that holds their row. `held[r]` is the range of rank r's rows.
    fn by_rank(places: &[usize], held: &[Range<usize>]) -> Vec<Chosen> {
        let mut all = vec![Chosen::default(); held.len()];
        for (k, &place) in places.iter().enumerate() {
            let owner = held.partition_point(|rows| rows.end <= place);
            all[owner].at.push(k as i64);
            all[owner].places.push((place - held[owner].start) as i64);
        }
        all
    }
}
