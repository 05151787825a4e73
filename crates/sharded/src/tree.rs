//! Sums whose bits do not depend on the number of ranks. An axis consists of short ranges, the grains, and each grain
//! has a partial result. These results are joined in one balanced tree, regardless of the ranks that hold the grains.

use crate::layout::grain;
use backends::{Element, Error, HostArray, Result};
use ndarray::{ArrayD, IxDyn};
use std::ops::Range;

/// Makes a host array from elements in C order.
pub fn shaped<T: Element>(op: &'static str, shape: &[usize], elements: Vec<T>) -> Result<HostArray<T>> {
    let array = ArrayD::from_shape_vec(IxDyn(shape), elements);
    Ok(array.map_err(|_| Error::shape(op, shape, "does not match the elements that the ranks gave"))?.into_shared())
}

/// Joins several results of `size` elements each, from the first to the last. `all` contains the results one after
/// another.
pub fn joined<T: Copy>(mut all: Vec<T>, size: usize, join: impl Fn(T, T) -> T) -> Vec<T> {
    if size > 0 {
        let (total, others) = all.split_at_mut(size);
        for other in others.chunks(size) {
            total.iter_mut().zip(other).for_each(|(total, &value)| *total = join(*total, value));
        }
    }
    all.truncate(size);
    all
}

/// A node of the tree. It covers `2^level` grains, beginning with grain `index * 2^level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    level: u32,
    index: usize,
}

/// The grains that overlap a range of an axis of length `n`.
pub fn grains(n: usize, rows: &Range<usize>) -> Range<usize> {
    rows.start / grain(n)..rows.end.div_ceil(grain(n))
}

/// Joins pairs `(2i, 2i + 1)` on each level of a range of grains, and returns the nodes that remain.
pub fn nodes(grains: Range<usize>) -> Vec<Node> {
    let Range { mut start, end } = grains;
    let mut found = Vec::new();
    while start < end {
        // the largest node that begins at this grain and ends within the range
        let level = start.trailing_zeros().min((end - start).ilog2());
        found.push(Node { level, index: start >> level });
        start += 1 << level;
    }
    found
}

/// Joins the values of consecutive grains, which are the leaves of the tree. `values` contains the values of `grains`,
/// one after another, with `size` elements each. Returns the values of the [`nodes`] of `grains`, in the same form.
pub fn merged<T: Copy>(mut values: Vec<T>, grains: Range<usize>, size: usize, join: impl Fn(T, T) -> T) -> Vec<T> {
    let Range { mut start, mut end } = grains;
    let (mut first, mut last) = (Vec::new(), Vec::new());
    // joins one level of the tree after another, in place; a value without a partner at the start of the range goes to
    // `first`, one at the end of the range goes to `last`
    while end - start > 1 {
        let alone = if start.is_multiple_of(2) { 0 } else { size };
        first.extend_from_slice(&values[..alone]);
        if !end.is_multiple_of(2) {
            last.push(values.split_off((end - start - 1) * size));
        }
        (start, end) = (start.div_ceil(2), end / 2);
        for pair in 0..end - start {
            let from = alone + 2 * pair * size;
            for k in from..from + size {
                values[pair * size + k - from] = join(values[k], values[k + size]);
            }
        }
        values.truncate((end - start) * size);
    }
    first.append(&mut values);
    first.extend(last.into_iter().rev().flatten());
    first
}

fn pair(left: &Node, right: &Node) -> bool {
    left.level == right.level && left.index.is_multiple_of(2) && left.index + 1 == right.index
}

/// Joins the values of neighbouring nodes, of `size` elements each, where the nodes form pairs. Moves the remaining
/// values to the front, and returns their number.
fn merge<T: Copy>(values: &mut [T], places: &[Node], size: usize, join: impl Fn(T, T) -> T) -> usize {
    let mut found: Vec<Node> = Vec::new();
    for (k, &place) in places.iter().enumerate() {
        let (mut node, mut at) = (place, found.len());
        if at != k {
            values.copy_within(k * size..(k + 1) * size, at * size);
        }
        while let Some(&before) = found.last().filter(|before| pair(before, &node)) {
            found.pop();
            at -= 1;
            let (left, right) = values[at * size..(at + 2) * size].split_at_mut(size);
            left.iter_mut().zip(right).for_each(|(left, right)| *left = join(*left, *right));
            node = Node { level: before.level + 1, index: before.index / 2 };
        }
        found.push(node);
    }
    found.len()
}

/// The total of an axis of length `n`. `held[r]` is the range of rank `r`. `values` contains, rank after rank, the
/// values of the [`nodes`] of each rank's grains, with `size` elements each.
///
/// After all pairs of nodes are joined, the nodes without a partner remain. They are joined beginning with the last one,
/// as on one rank that has all grains.
pub fn total<T: Copy>(
    mut values: Vec<T>,
    n: usize,
    held: &[Range<usize>],
    size: usize,
    join: impl Fn(T, T) -> T + Copy,
) -> Vec<T> {
    let places: Vec<Node> = held.iter().flat_map(|rows| nodes(grains(n, rows))).collect();
    let left = merge(&mut values, &places, size, join);
    for k in (1..left).rev() {
        let (early, late) = values.split_at_mut(k * size);
        early[(k - 1) * size..].iter_mut().zip(&late[..size]).for_each(|(early, &late)| *early = join(*early, late));
    }
    values.truncate(size);
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::ranges;

    /// Joins by a function for which the order matters, so that a different order changes the result.
    #[test]
    fn the_tree_does_not_depend_on_the_ranks() {
        for n in [5_usize, 64, 100, 511, 700, 5000] {
            // a join that is neither commutative nor associative
            let join = |a: u64, b: u64| a.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(b.rotate_left(17) ^ a);
            let of = |ranks: usize| {
                let held = ranges(n, ranks);
                let mut all = Vec::new();
                for rows in &held {
                    let own = grains(n, rows);
                    let values: Vec<u64> = own.clone().map(|index| index as u64 + 1).collect();
                    let values = merged(values, own.clone(), 1, join);
                    assert_eq!(values.len(), nodes(own).len());
                    all.extend(values);
                }
                total(all, n, &held, 1, join)
            };
            let alone = of(1);
            assert_eq!(alone.len(), 1);
            for ranks in [2, 3, 4, 5, 7, 16] {
                if n.div_ceil(grain(n)) >= ranks {
                    assert_eq!(of(ranks), alone, "{n} over {ranks}");
                }
            }
        }
    }

    #[test]
    fn levels_leave_what_pairs_of_neighbours_do() {
        let join = |a: u64, b: u64| a.wrapping_mul(31) ^ b.rotate_left(7);
        for start in 0..20 {
            for end in start..start + 70 {
                for size in [1, 3] {
                    let values: Vec<u64> = (start * size..end * size).map(|k| k as u64 * 7919).collect();
                    let places: Vec<Node> = (start..end).map(|index| Node { level: 0, index }).collect();
                    let mut expected = values.clone();
                    let left = merge(&mut expected, &places, size, join);
                    expected.truncate(left * size);
                    assert_eq!(nodes(start..end).len(), left);
                    assert_eq!(merged(values, start..end, size, join), expected, "{start}..{end} of {size}");
                }
            }
        }
    }

    #[test]
    fn what_is_joined_in_order() {
        assert_eq!(joined(vec![1, 2, 10, 20, 100, 200], 2, |a, b| a + b), [111, 222]);
        assert_eq!(joined(Vec::<i32>::new(), 0, |a, b| a + b), []);
    }
}
