//! Ops of the group `sorting` that are composed of other ops, for any backend.

use crate::{
    ArgsortOptions, Backend, ConcatOptions, Element, Error, Operand, Ordered, Result, SearchsortedOptions, Side,
    SortOptions, ix, lazy,
    manipulation::part,
    runtime::{numpyish::sorting::is_in, rules},
};
use std::borrow::Cow;

/// The `k` largest elements along an axis, or the `k` smallest elements if `largest` is false, and their indices.
pub fn topk<B: Backend, T: Ordered>(
    b: &B,
    x: &B::Array<T>,
    k: usize,
    axis: isize,
    largest: bool,
) -> Result<(B::Array<T>, B::Array<i64>)> {
    let axis = rules::chosen("topk", b.shape(x), k, axis)?;
    let order = b.argsort_with(x, ArgsortOptions::new().axis(axis).descending(largest))?;
    let indices = part(b, &order, axis, 0..k as i128)?;
    Ok((b.take_along_axis(x, &indices, axis)?, indices))
}

/// Reorders the elements so that no element before index `kth` is larger than the element at `kth`, and no element
/// after it is smaller. This implementation sorts all elements.
pub fn partition<B: Backend, T: Ordered>(b: &B, x: &B::Array<T>, kth: isize, axis: isize) -> Result<B::Array<T>> {
    let (axis, _) = rules::partitioned("partition", b.shape(x), kth, axis)?;
    b.sort_with(x, SortOptions::new().axis(axis))
}

/// The indices that put the elements in the order of `partition`.
pub fn argpartition<B: Backend, T: Ordered>(b: &B, x: &B::Array<T>, kth: isize, axis: isize) -> Result<B::Array<i64>> {
    let (axis, _) = rules::partitioned("argpartition", b.shape(x), kth, axis)?;
    b.argsort_with(x, ArgsortOptions::new().axis(axis))
}

/// The indices that sort by several keys. The last key is the primary key.
pub fn lexsort<B: Backend, T: Ordered>(b: &B, keys: &[&B::Array<T>], axis: isize) -> Result<B::Array<i64>> {
    const OP: &str = "lexsort";
    let [first, others @ ..] = keys else {
        return Err(Error::argument(OP, "there must be at least one key to sort by"));
    };
    let axis = rules::axis(OP, axis, b.shape(first).len())? as isize;
    if let Some(other) = others.iter().find(|key| b.shape(key) != b.shape(first)) {
        return Err(Error::shapes(OP, b.shape(first), b.shape(other)));
    }
    let along = ArgsortOptions::new().axis(axis);
    let mut order = b.argsort_with(first, along)?;
    for key in others {
        // the sort is stable, so elements that are equal in this key keep the order of the previous keys
        let next = b.argsort_with(b.take_along_axis(key, &order, axis)?, along)?;
        order = b.take_along_axis(order, next, axis)?;
    }
    Ok(order)
}

/// The distinct elements of both arrays, sorted.
pub fn union1d<B: Backend, T: Element>(b: &B, x1: &B::Array<T>, x2: &B::Array<T>) -> Result<B::Array<T>> {
    b.unique_values(both(b, x1, x2)?)
}

/// The distinct elements that occur in both arrays, sorted.
pub fn intersect1d<B: Backend, T: Ordered>(b: &B, x1: &B::Array<T>, x2: &B::Array<T>) -> Result<B::Array<T>> {
    let all = sorted_sets(b, x1, x2)?;
    let n = b.shape(&all)[0] as i128;
    let (before, behind) = (part(b, &all, 0, 0..n.max(1) - 1)?, part(b, &all, 0, 1..n)?);
    b.boolean_mask(&before, b.equal(&before, &behind)?)
}

/// The distinct elements that occur in only one of the two arrays, sorted.
pub fn setxor1d<B: Backend, T: Ordered>(b: &B, x1: &B::Array<T>, x2: &B::Array<T>) -> Result<B::Array<T>> {
    let all = sorted_sets(b, x1, x2)?;
    let n = b.shape(&all)[0] as i128;
    if n == 0 {
        return Ok(all);
    }
    let differ = b.not_equal(part(b, &all, 0, 0..n - 1)?, part(b, &all, 0, 1..n)?)?;
    let end = b.ones::<bool>([1])?;
    // selects the elements that differ from both neighbours
    let alone = b.bitwise_and(b.concat([&end, &differ])?, b.concat([&differ, &end])?)?;
    b.boolean_mask(&all, alone)
}

/// The distinct elements of `x1` that do not occur in `x2`, sorted.
pub fn setdiff1d<B: Backend, T: Ordered>(b: &B, x1: &B::Array<T>, x2: &B::Array<T>) -> Result<B::Array<T>> {
    let (x1, x2) = (b.unique_values(x1)?, b.sort(b.flatten(x2)?)?);
    // an element is missing in `x2` if its left and right insertion points are equal
    let before = b.searchsorted(&x2, &x1)?;
    let among = b.searchsorted_with(&x2, &x1, SearchsortedOptions::new().side(Side::Right))?;
    // the search finds NaN among NaN elements, but NaN differs from every element, so it counts as missing
    let missing = (lazy(&before).equal(&among) | lazy(&x1).not_equal(&x1)).eval(b)?;
    b.boolean_mask(&x1, missing)
}

/// Concatenates the elements of both arrays.
fn both<B: Backend, T: Element>(b: &B, x1: &B::Array<T>, x2: &B::Array<T>) -> Result<B::Array<T>> {
    b.concat([b.flatten(x1)?, b.flatten(x2)?])
}

/// Sorts the distinct elements of both arrays together. An element that is in both arrays occurs twice.
fn sorted_sets<B: Backend, T: Ordered>(b: &B, x1: &B::Array<T>, x2: &B::Array<T>) -> Result<B::Array<T>> {
    b.sort(both(b, &b.unique_values(x1)?, &b.unique_values(x2)?)?)
}

/// Returns for each element of `x1` whether it equals an element of `x2`; with `invert`, whether it equals none.
pub fn isin<B: Backend, T: Element>(
    b: &B,
    x1: Operand<'_, B, T>,
    x2: Operand<'_, B, T>,
    invert: bool,
) -> Result<B::Array<bool>> {
    let (x, others) = (array(b, x1)?, array(b, x2)?);
    if let (Some(x), Some(others)) = (b.host_view(&*x), b.host_view(&*others))
        && let Some(found) = is_in(x, others, invert)?
    {
        return b.of_raw(found);
    }
    let (n, count) = (b.size(&x), b.size(&others));
    // sorting takes about log(n) passes, so a small number of elements is compared one by one instead
    let found = if n == 0 {
        b.zeros(b.shape(&x))?
    } else if (count as f64) < 10.0 * (n as f64).powf(0.145) {
        one_by_one(b, &x, &b.flatten(&*others)?, count)?
    } else {
        by_classes(b, &x, &others, n)?
    };
    if invert { b.logical_not(found) } else { Ok(found) }
}

/// Converts an operand to an array.
fn array<'a, B: Backend, T: Element>(b: &B, x: Operand<'a, B, T>) -> Result<Cow<'a, B::Array<T>>> {
    match x {
        Operand::Array(x) => Ok(x),
        Operand::Scalar(x) => b.full([0_usize; 0], x).map(Cow::Owned),
    }
}

fn one_by_one<B: Backend, T: Element>(
    b: &B,
    x: &B::Array<T>,
    others: &B::Array<T>,
    count: usize,
) -> Result<B::Array<bool>> {
    let mut found = b.zeros::<bool>(b.shape(x))?;
    for i in 0..count {
        let other = b.get(others, ix![i])?;
        found = (lazy(&found) | lazy(x).equal(&other)).eval(b)?;
    }
    Ok(found)
}

/// Numbers the distinct elements of both arrays and marks the numbers that occur in the second array. Each NaN counts
/// as a separate element.
fn by_classes<B: Backend, T: Element>(
    b: &B,
    x: &B::Array<T>,
    others: &B::Array<T>,
    n: usize,
) -> Result<B::Array<bool>> {
    let rows = ConcatOptions::new().axis(..);
    let all = b.unique_inverse(&b.concat_with([x, others], rows)?)?;
    let classes = all.inverse_indices;
    let (own, marked) = (b.get(&classes, ix![..n])?, b.get(&classes, ix![n..])?);
    let marks = b.zeros::<bool>([b.size(&all.values)])?;
    let marks = b.scatter(marks, &marked, b.ones::<bool>([b.size(&marked)])?, 0)?;
    let shape: Vec<isize> = b.shape(x).iter().map(|&length| length as isize).collect();
    b.reshape(b.take(&marks, &own, 0)?, shape)
}
