//! Sums whose bits do not depend on how many ranks there are: the partial results of grains are joined in one balanced tree, whoever has them.

use crate::layout::grain;
use backends::{Element, Error, HostArray, Result};
use ndarray::{ArrayD, IxDyn};
use std::ops::Range;

/// An array of the host, of elements in C order.
pub fn shaped<T: Element>(op: &'static str, shape: &[usize], elements: Vec<T>) -> Result<HostArray<T>> {
    let array = ArrayD::from_shape_vec(IxDyn(shape), elements);
    Ok(array.map_err(|_| Error::shape(op, shape, "is not that of what the ranks gave"))?.into_shared())
}

/// Results of `size` elements, one after the other, joined from the first to the last.
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

/// A node of the tree: `2^level` grains from grain `index * 2^level` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    level: u32,
    index: usize,
}

impl Node {
    /// One grain.
    pub fn grain(index: usize) -> Node {
        Node { level: 0, index }
    }
}

/// The grains that a range of an axis of length `n` touches.
pub fn grains(n: usize, rows: &Range<usize>) -> Range<usize> {
    rows.start / grain(n)..rows.end.div_ceil(grain(n))
}

/// The nodes that grains are merged to where each pair `(2i, 2i + 1)` is: those of one rank, or what is left of all.
pub fn nodes(grains: Range<usize>) -> Vec<Node> {
    let mut found: Vec<Node> = Vec::new();
    for index in grains {
        let mut node = Node { level: 0, index };
        while let Some(&before) = found.last().filter(|before| pair(before, &node)) {
            found.pop();
            node = Node { level: before.level + 1, index: before.index / 2 };
        }
        found.push(node);
    }
    found
}

fn pair(left: &Node, right: &Node) -> bool {
    left.level == right.level && left.index.is_multiple_of(2) && left.index + 1 == right.index
}

/// Joins the values of neighbouring nodes, `size` each, as far as they are pairs. What is left stands first; their number is the result.
pub fn merge<T: Copy>(values: &mut [T], places: &[Node], size: usize, join: impl Fn(T, T) -> T) -> usize {
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

/// The one value of what all ranks have of an axis of length `n`: `held[r]` is the range of rank r, `values` those of its nodes.
///
/// What has no pair is joined from the end, as it would be of all grains on one rank.
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

    /// Joins as text, so that the order of every join can be read.
    #[test]
    fn the_tree_does_not_depend_on_the_ranks() {
        for n in [5_usize, 64, 100, 511, 700, 5000] {
            // a join that neither commutes nor associates
            let join = |a: u64, b: u64| a.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(b.rotate_left(17) ^ a);
            let of = |ranks: usize| {
                let held = ranges(n, ranks);
                let mut all = Vec::new();
                for rows in &held {
                    let own = grains(n, rows);
                    let mut values: Vec<u64> = own.clone().map(|index| index as u64 + 1).collect();
                    let places: Vec<Node> = own.clone().map(Node::grain).collect();
                    let left = merge(&mut values, &places, 1, join);
                    assert_eq!(left, nodes(own).len());
                    all.extend_from_slice(&values[..left]);
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
    fn what_is_joined_in_order() {
        assert_eq!(joined(vec![1, 2, 10, 20, 100, 200], 2, |a, b| a + b), [111, 222]);
        assert_eq!(joined(Vec::<i32>::new(), 0, |a, b| a + b), []);
    }
}
