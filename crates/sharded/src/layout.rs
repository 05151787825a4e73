//! The distribution of arrays over ranks. By default, the shape, the split axis and the number of ranks determine the
//! layout, so each rank can compute it without communication. The result of a slice may have other ranges (see
//! [`Split::held`]).

use ndarray::{Dimension, IntoDimension, IxDyn};
use std::{
    fmt,
    ops::{Deref, Range},
    sync::Arc,
};

/// Maximum number of grains of an axis; see [`grain`].
pub const GRAINS: usize = 4096;

/// Number of elements of a grain, the smallest range of an axis that a rank can hold. The number is a power of two, and
/// depends only on the length `n` of the axis. Sums are computed grain by grain, so their bits do not depend on the
/// number of ranks.
pub fn grain(n: usize) -> usize {
    let least = if n < 512 { 1 } else { 8 };
    n.div_ceil(GRAINS).next_power_of_two().max(least)
}

/// The number of grains of an axis, which is at most [`GRAINS`].
fn grains(n: usize, grain: usize) -> usize {
    (n >> grain.trailing_zeros()) + usize::from(!n.is_multiple_of(grain))
}

/// The range of an axis of length `n` that rank `r` of `ranks` holds. It consists of whole grains, except that the last
/// grain of the axis may be shorter.
pub fn range(n: usize, r: usize, ranks: usize) -> Range<usize> {
    if ranks <= 1 {
        return 0..n;
    }
    let grain = grain(n);
    let grains = grains(n, grain);
    let at = |r: usize| (grains * r / ranks).saturating_mul(grain).min(n);
    at(r)..at(r + 1)
}

/// Returns whether an axis of length `n` may be split. It must have at least `least` elements, and every rank must get
/// some of them.
pub fn may_split(n: usize, least: usize, ranks: usize) -> bool {
    n >= least.max(2) && (ranks == 1 || grains(n, grain(n)) >= ranks)
}

/// The split axis of an array, and the range of this axis that each rank holds.
#[derive(Clone, Debug)]
pub struct Split {
    /// The index of the split axis.
    pub axis: usize,
    /// The range of each rank, or `None` for the default ranges. The result of a slice may have other ranges, because
    /// its rows can stay on the ranks that held them before.
    pub held: Option<Arc<[Range<usize>]>>,
}

impl PartialEq for Split {
    fn eq(&self, other: &Split) -> bool {
        self.axis == other.axis
            && match (&self.held, &other.held) {
                (None, None) => true,
                (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
                _ => false,
            }
    }
}

/// Lengths of axes. Short shapes are stored inline, so a new layout is one allocation.
// hidden, because its page would list all methods of slices
#[doc(hidden)]
#[derive(Clone, PartialEq, Eq)]
pub struct Shape(IxDyn);

impl Deref for Shape {
    type Target = [usize];

    #[inline]
    fn deref(&self) -> &[usize] {
        self.0.slice()
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl From<&[usize]> for Shape {
    #[inline]
    fn from(shape: &[usize]) -> Shape {
        Shape(IxDyn(shape))
    }
}

impl From<Vec<usize>> for Shape {
    fn from(shape: Vec<usize>) -> Shape {
        Shape(shape.into_dimension())
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(shape: [usize; N]) -> Shape {
        Shape(IxDyn(&shape))
    }
}

/// The layout of an array: its shape and its split axis. Without a split axis, every rank holds the whole array. Clones
/// share the data.
#[derive(Clone, Debug)]
pub struct Layout(Arc<Place>);

/// The contents of a [`Layout`].
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The shape of the whole array; it dereferences to `[usize]`.
    pub shape: Shape,
    /// The split axis; `None` if every rank holds the whole array.
    pub split: Option<Split>,
}

impl Deref for Layout {
    type Target = Place;

    #[inline]
    fn deref(&self) -> &Place {
        &self.0
    }
}

impl PartialEq for Layout {
    #[inline]
    fn eq(&self, other: &Layout) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Layout {
    /// Makes a layout from a shape and a split.
    pub fn new(shape: impl Into<Shape>, split: Option<Split>) -> Layout {
        Layout(Arc::new(Place { shape: shape.into(), split }))
    }

    /// Makes a layout in which every rank holds the whole array.
    pub fn whole(shape: impl Into<Shape>) -> Layout {
        Layout::new(shape, None)
    }

    /// Makes a layout that is split along an axis in the default ranges.
    pub fn along(shape: impl Into<Shape>, axis: usize) -> Layout {
        Layout::new(shape, Some(Split { axis, held: None }))
    }

    /// The split axis; `None` if every rank holds the whole array.
    pub fn axis(&self) -> Option<usize> {
        self.split.as_ref().map(|split| split.axis)
    }

    /// The range of the split axis that each of the `ranks` ranks holds; an empty list if no axis is split.
    pub fn ranges(&self, ranks: usize) -> Vec<Range<usize>> {
        match &self.split {
            Some(Split { held: Some(held), .. }) => held.to_vec(),
            Some(Split { axis, held: None }) => ranges(self.shape[*axis], ranks),
            None => Vec::new(),
        }
    }

    /// The shape of the part that has this range of the split axis.
    pub fn part(&self, range: &Range<usize>) -> Vec<usize> {
        let mut shape = self.shape.to_vec();
        if let Some(split) = &self.split {
            shape[split.axis] = range.len();
        }
        shape
    }

    /// The number of elements of the whole array.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }
}

/// The default range of each of the `ranks` ranks, for an axis of length `n`.
pub fn ranges(n: usize, ranks: usize) -> Vec<Range<usize>> {
    (0..ranks).map(|r| range(n, r, ranks)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_grains_and_all_of_the_axis() {
        for n in [1_usize, 2, 63, 64, 65, 511, 512, 4096, 4097, 100_000, 1 << 40, usize::MAX / 2] {
            for ranks in [1, 2, 3, 4, 7, 64, 4096] {
                let parts = (0..ranks).map(|r| range(n, r, ranks));
                let mut at = 0;
                for part in parts {
                    assert_eq!(part.start, at);
                    assert!(part.end == n || part.end.is_multiple_of(grain(n)));
                    at = part.end;
                }
                assert_eq!(at, n);
                if may_split(n, 2, ranks) {
                    assert!((0..ranks).all(|r| !range(n, r, ranks).is_empty()), "{n} over {ranks}");
                }
            }
        }
    }

    #[test]
    fn grains_do_not_depend_on_the_ranks_and_are_few() {
        assert_eq!((grain(100), grain(512), grain(1 << 20)), (1, 8, 256));
        for n in [1_usize, 1000, 123_456_789, usize::MAX / 4] {
            assert!(n.div_ceil(grain(n)) <= GRAINS);
        }
    }
}
