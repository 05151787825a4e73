//! Sorts a 1-D array along its split axis by sample sort: splitters are chosen from samples of all ranks, and each rank
//! sorts the elements between two splitters.

use crate::{Layout, Sharded, ShardedArray, Split, array::LocalPart, rows::Run};
use backends::{Axes, Backend, Element, Ordered, Result, options::*};
use std::{borrow::Cow, cmp::Ordering, ops::Range};

pub fn sort<B: Backend, T: Ordered>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    axis: isize,
    descending: bool,
) -> Result<ShardedArray<B, T>> {
    let op = "sort";
    let local = |x: &LocalPart<B, T>| b.within.sort_with(x, SortOptions::new().axis(axis).descending(descending));
    if x.layout.shape.len() != 1 || x.split().is_none() || b.ranks() == 1 {
        let plan = b.plan_lanes(op, &[Some(&x.layout)], &[Axes::from(axis)])?;
        let part = b.arrange(op, &plan, 0, Cow::Borrowed(x))?;
        return b.place(op, &plan, local(&part)?);
    }
    backends::runtime::rules::axis(op, axis, 1)?;
    let own = b.within.to_vec(&x.part)?;
    let buckets = Buckets::of(b, op, &own, descending)?;
    let sorted = local(&b.within.from_iter(buckets.sent(b, op, &own)?)?)?;
    buckets.placed(b, op, sorted)
}

pub fn argsort<B: Backend, T: Ordered>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    axis: isize,
    descending: bool,
) -> Result<ShardedArray<B, i64>> {
    let op = "argsort";
    let local = |x: &LocalPart<B, T>| b.within.argsort_with(x, ArgsortOptions::new().axis(axis).descending(descending));
    if x.layout.shape.len() != 1 || x.split().is_none() || b.ranks() == 1 {
        let plan = b.plan_lanes(op, &[Some(&x.layout)], &[Axes::from(axis)])?;
        let part = b.arrange(op, &plan, 0, Cow::Borrowed(x))?;
        return b.place(op, &plan, local(&part)?);
    }
    backends::runtime::rules::axis(op, axis, 1)?;
    let own = b.within.to_vec(&x.part)?;
    let buckets = Buckets::of(b, op, &own, descending)?;
    // equal keys go to the same bucket, and arrive in the order of the ranks, which is the order of their indices
    let keys = b.within.from_iter(buckets.sent(b, op, &own)?)?;
    let first = x.layout.ranges(b.ranks())[b.rank()].start as i64;
    let indices: Vec<i64> = (first..first + own.len() as i64).collect();
    let indices = b.within.from_iter(buckets.sent(b, op, &indices)?)?;
    let order = b.within.take(&indices, &local(&keys)?, 0)?;
    buckets.placed(b, op, order)
}

/// The assignment of elements to ranks. The bucket of rank r has the elements that rank r sorts.
struct Buckets {
    /// The bucket of each of this rank's elements.
    of: Vec<usize>,
    /// Number of elements that rank `s` sends to rank `d`, at index `s * ranks + d`.
    counts: Vec<usize>,
}

/// Number of elements that each rank contributes as samples, from which the splitters are chosen.
const SAMPLES: usize = 64;

impl Buckets {
    fn of<B: Backend, T: Ordered>(b: &Sharded<B>, op: &'static str, own: &[T], descending: bool) -> Result<Buckets> {
        // `own` is not empty, because no rank has an empty part
        let samples: Vec<T> = (0..SAMPLES).map(|k| own[own.len() * k / SAMPLES]).collect();
        let mut all = b.gather_elements(op, &samples)?;
        all.sort_by(|x, y| order(x, y, descending));
        let splitters: Vec<T> = (1..b.ranks()).map(|r| all[r * SAMPLES]).collect();
        let bucket = |x: &T| splitters.partition_point(|splitter| order(splitter, x, descending) != Ordering::Greater);
        let of: Vec<usize> = own.iter().map(bucket).collect();
        let mut mine = vec![0_u64; b.ranks()];
        of.iter().for_each(|&bucket| mine[bucket] += 1);
        let counts = b.all_gather_numbers(op, &mine)?.into_iter().map(|n| n as usize).collect();
        Ok(Buckets { of, counts })
    }

    /// Sends element `k` of `own` to the rank whose bucket contains this rank's key number `k`, for every `k`. Returns
    /// the elements that this rank receives, in the order of the ranks that sent them.
    fn sent<B: Backend, T: Element>(&self, b: &Sharded<B>, op: &'static str, own: &[T]) -> Result<Vec<T>> {
        let (ranks, me) = (b.ranks(), b.rank());
        let to = &self.counts[me * ranks..][..ranks];
        let from: Vec<usize> = (0..ranks).map(|s| self.counts[s * ranks + me]).collect();
        let mut next: Vec<usize> = to.iter().scan(0, |at, &n| Some(std::mem::replace(at, *at + n))).collect();
        let mut ordered = own.to_vec();
        for (x, &bucket) in own.iter().zip(&self.of) {
            ordered[next[bucket]] = *x;
            next[bucket] += 1;
        }
        b.exchange_elements(op, &ordered, to, &from)
    }

    /// Makes an array in the default layout from the sorted buckets.
    fn placed<B: Backend, T: Element>(
        &self,
        b: &Sharded<B>,
        op: &'static str,
        bucket: LocalPart<B, T>,
    ) -> Result<ShardedArray<B, T>> {
        let ranks = b.ranks();
        let sizes = (0..ranks).map(|d| (0..ranks).map(|s| self.counts[s * ranks + d]).sum::<usize>());
        let held: Vec<Range<usize>> = sizes.scan(0, |at, n| Some(std::mem::replace(at, *at + n)..*at)).collect();
        let n = held.last().map_or(0, |rows| rows.end);
        let split = Some(Split { axis: 0, held: Some(held.into()) });
        let run = Run { source: 0, from: 0, step: 1, to: 0, len: n };
        b.moved(op, Cow::Owned(b.array(Layout::new([n], split), bucket)), 0, n, &[run], None)
    }
}

/// The order in which the op sorts. NaN is the last element, even in descending order.
#[allow(clippy::eq_op)] // NaN equals nothing
fn order<T: Ordered>(x: &T, y: &T, descending: bool) -> Ordering {
    let is_nan = |x: &T| x != x;
    match (is_nan(x), is_nan(y)) {
        (false, false) => {
            let order = x.partial_cmp(y).unwrap_or(Ordering::Equal);
            if descending { order.reverse() } else { order }
        }
        (x, y) => x.cmp(&y),
    }
}
