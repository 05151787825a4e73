//! Rules for selection by a list of indices, as in NumPy. A selection has three parts: the axes that slices view, the
//! axes from which arrays of indices gather, and the position of the index arrays' axes in the result.

use super::{Span, broadcast_all, count, span};
use crate::{Arrays, Error, Index, Result, Slice};

/// An item of a list of indices. Arrays of indices and masks are represented by their shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// A range of an axis, or a single index.
    Slice(Slice),
    /// A new axis.
    New,
    /// All axes that no other item indexes.
    Rest,
    /// An array of indices, of this shape.
    Array(&'a [usize]),
    /// A mask of this shape.
    Mask(&'a [usize]),
}

/// An axis of the result that does not come from an index array or a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// A range of this axis of the array.
    Axis(usize),
    /// A new axis.
    New,
}

/// The axes from which an array of indices or a mask selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// Position of the item in the list.
    pub item: usize,
    /// First axis from which the item selects.
    pub axis: usize,
    /// Number of axes from which the item selects. It is 1 for an array of indices, and the mask's number of axes for a
    /// mask.
    pub axes: usize,
    /// True if the item is a mask.
    pub is_mask: bool,
}

/// Selection by a list of indices. A mask counts as one index array for each of its axes. The length of these arrays is
/// the mask's number of true elements, which the caller passes to [`Selection::shape`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Span of each axis of the array. If an index array or a mask selects from an axis, the span is the whole axis.
    pub spans: Vec<Span>,
    /// Axes of the result that do not come from index arrays, in order.
    pub kept: Vec<Kept>,
    /// Number of kept axes before the axes of the index arrays.
    pub before: usize,
    /// The index arrays and masks, in the order of the list.
    pub picks: Vec<Pick>,
}

/// Returns whether a mask of this shape selects from axes of these lengths. Each length of the mask must equal the
/// length of its axis or be 0; a mask with a length of 0 selects nothing.
pub fn fits(axes: &[usize], mask: &[usize]) -> bool {
    axes.len() == mask.len() && axes.iter().zip(mask).all(|(axis, len)| axis == len || *len == 0)
}

impl Selection {
    /// Resolves the items for an array of this shape.
    ///
    /// If the index arrays are adjacent in the list, their axes have the same position in the result; otherwise their
    /// axes come first. If the list has an array or a mask, a single index counts as an array in this rule.
    pub fn new<'a>(
        op: &'static str,
        shape: &[usize],
        items: impl Iterator<Item = Item<'a>> + Clone,
    ) -> Result<Selection> {
        let used = items.clone().map(|item| match item {
            Item::Slice(_) | Item::Array(_) => 1,
            Item::Mask(mask) => mask.len(),
            Item::New | Item::Rest => 0,
        });
        let used = used.sum::<usize>();
        if items.clone().filter(|item| *item == Item::Rest).count() > 1 {
            return Err(Error::argument(op, "`...` must occur at most once in a list of indices"));
        }
        let Some(rest) = shape.len().checked_sub(used) else {
            return Err(Error::shape(op, shape, format!("has fewer axes than the {used} that are indexed")));
        };
        let has_picks = items.clone().any(|item| matches!(item, Item::Array(_) | Item::Mask(_)));
        let whole = |axis: usize| Span { start: 0, len: shape[axis], step: 1, drop: false };
        let (mut spans, mut kept, mut picks) = (Vec::with_capacity(shape.len()), Vec::new(), Vec::new());
        let mut place = Place::default();
        for (item, index) in items.clone().enumerate() {
            let axis = spans.len();
            let advanced = match index {
                Item::Slice(slice) => {
                    let span = span(op, slice, axis, shape[axis])?;
                    spans.push(span);
                    if !span.drop {
                        kept.push(Kept::Axis(axis));
                    }
                    span.drop && has_picks
                }
                Item::New => {
                    kept.push(Kept::New);
                    false
                }
                Item::Rest => {
                    kept.extend((axis..axis + rest).map(Kept::Axis));
                    spans.extend((axis..axis + rest).map(whole));
                    false
                }
                Item::Array(_) => {
                    spans.push(whole(axis));
                    picks.push(Pick { item, axis, axes: 1, is_mask: false });
                    true
                }
                Item::Mask(mask) => {
                    let axes = axis..axis + mask.len();
                    if !fits(&shape[axes.clone()], mask) {
                        let why = format!("must match the mask of shape {mask:?} from axis {axis} on");
                        return Err(Error::shape(op, shape, why));
                    }
                    spans.extend(axes.map(whole));
                    picks.push(Pick { item, axis, axes: mask.len(), is_mask: true });
                    true
                }
            };
            place.next(advanced, kept.len());
        }
        let axis = spans.len();
        kept.extend((axis..shape.len()).map(Kept::Axis));
        spans.extend((axis..shape.len()).map(whole));
        Ok(Selection { spans, kept, before: place.before, picks })
    }

    /// Resolves a list of indices for an array of this shape.
    pub fn of<'a, B: Arrays>(
        op: &'static str,
        b: &B,
        shape: &[usize],
        index: impl Iterator<Item = Index<'a, B>> + Clone,
    ) -> Result<Selection> {
        let items = index.map(|item| match item {
            Index::Slice(slice) => Item::Slice(slice),
            Index::New => Item::New,
            Index::Rest => Item::Rest,
            Index::Array(x) => Item::Array(b.shape(x)),
            Index::Mask(x) => Item::Mask(b.shape(x)),
        });
        Selection::new(op, shape, items)
    }

    /// Returns whether the selection is a view of the same memory.
    pub fn is_view(&self) -> bool {
        self.picks.is_empty()
    }

    /// Returns the lengths, in order, of the kept axes: the axes of the result that do not come from index arrays.
    pub fn lengths(&self) -> Vec<usize> {
        let length = |kept: &Kept| match *kept {
            Kept::Axis(axis) => self.spans[axis].len,
            Kept::New => 1,
        };
        self.kept.iter().map(length).collect()
    }

    /// Returns the shape of the result, and the broadcast shape of the index arrays. `picked` has the shape of each
    /// pick's index array, which is `[n]` for a mask with `n` true elements. `size` is the size of an element in bytes.
    pub fn shape<'a>(
        &self,
        op: &'static str,
        picked: impl IntoIterator<Item = &'a [usize]>,
        size: usize,
    ) -> Result<(Vec<usize>, Vec<usize>)> {
        let arrays = broadcast_all(op, picked)?;
        let kept = self.lengths();
        let shape = [&kept[..self.before], &arrays, &kept[self.before..]].concat();
        count(op, &arrays, size_of::<i64>())?;
        count(op, &shape, size)?;
        Ok((shape, arrays))
    }

    /// Returns the offset of the first element, and the stride of each kept axis, in an array with these strides. The
    /// offset is 0 if a length is 0.
    pub fn begin(&self, strides: &[isize]) -> (isize, Vec<isize>) {
        let empty = self.spans.iter().any(|span| span.len == 0);
        let start = self.spans.iter().zip(strides).map(|(span, &stride)| span.start as isize * stride);
        let start = if empty { 0 } else { start.sum() };
        let distance = |kept: &Kept| match *kept {
            Kept::Axis(axis) if self.spans[axis].len > 1 => self.spans[axis].step * strides[axis],
            _ => 0,
        };
        (start, self.kept.iter().map(distance).collect())
    }
}

/// The position of the index arrays' axes in the result, determined item by item.
#[derive(Default)]
struct Place {
    /// Number of kept axes before the axes of the arrays.
    before: usize,
    seen: bool,
    /// True if another item came after the arrays.
    ended: bool,
}

impl Place {
    /// Processes the next item. `is_array` is true if the item counts as an array, and `kept` is the number of kept
    /// axes before the item.
    fn next(&mut self, is_array: bool, kept: usize) {
        match (is_array, self.seen) {
            (true, false) => (self.before, self.seen) = (kept, true),
            (true, true) if self.ended => self.before = 0,
            (false, true) => self.ended = true,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(shape: &[usize], items: &[Item<'_>]) -> Result<Selection> {
        Selection::new("get", shape, items.iter().copied())
    }

    fn shape(shape: &[usize], items: &[Item<'_>], masks: &[usize]) -> Result<Vec<usize>> {
        let selection = select(shape, items)?;
        let mut masks = masks.iter();
        let picked: Vec<Vec<usize>> = selection
            .picks
            .iter()
            .map(|pick| match items[pick.item] {
                Item::Array(shape) => shape.to_vec(),
                _ => vec![*masks.next().unwrap()],
            })
            .collect();
        Ok(selection.shape("get", picked.iter().map(|shape| &shape[..]), 8)?.0)
    }

    const ALL: Item<'_> = Item::Slice(Slice::ALL);
    const I: Item<'_> = Item::Array(&[5]);

    fn at(index: isize) -> Item<'static> {
        Item::Slice(Slice::at(index))
    }

    #[test]
    fn axes_of_arrays_stand_where_the_arrays_were_if_these_are_neighbours() {
        let x = [2, 3, 4];
        for (items, result) in [
            (&[ALL, I, I][..], &[2, 5][..]),
            (&[I, ALL, I], &[5, 3]),
            (&[at(0), ALL, I], &[5, 3]),
            (&[ALL, at(0), I], &[2, 5]),
            (&[ALL, I, at(0)], &[2, 5]),
            (&[ALL, I], &[2, 5, 4]),
            (&[Item::Rest, Item::Array(&[2, 2])], &[2, 3, 2, 2]),
            (&[I, Item::New, I], &[5, 1, 4]),
            (&[ALL, I, Item::Rest, I], &[5, 2]),
            (&[I, ALL, Item::New, I], &[5, 3, 1]),
            (&[ALL, I, I, Item::New], &[2, 5, 1]),
            (&[Item::Array(&[2, 1]), Item::Array(&[5])], &[2, 5, 4]),
            (&[Item::New, ALL, Item::Array(&[])], &[1, 2, 4]),
            (&[], &[2, 3, 4]),
            (&[at(1), Item::New, at(-1)], &[1, 4]),
        ] {
            assert_eq!(shape(&x, items, &[]).unwrap(), result, "{items:?}");
        }
    }

    #[test]
    fn a_mask_is_an_array_for_each_of_its_axes() {
        let x = [2, 3, 4];
        assert_eq!(shape(&x, &[Item::Mask(&[2, 3])], &[4]).unwrap(), [4, 4]);
        assert_eq!(shape(&x, &[ALL, Item::Mask(&[3, 4])], &[7]).unwrap(), [2, 7]);
        assert_eq!(shape(&x, &[Item::Mask(&[2, 3]), at(2)], &[4]).unwrap(), [4]);
        assert_eq!(shape(&x, &[Item::Mask(&[])], &[1]).unwrap(), [1, 2, 3, 4]);
        assert_eq!(shape(&x, &[ALL, Item::Mask(&[])], &[0]).unwrap(), [2, 0, 3, 4]);
        assert_eq!(shape(&x, &[ALL, Item::Mask(&[]), ALL, I], &[1]).unwrap(), [5, 2, 3]);
        assert_eq!(shape(&[], &[Item::Mask(&[])], &[1]).unwrap(), [1]);
        // a mask without elements selects nothing, whatever the lengths of the axes are
        assert_eq!(shape(&[1, 3], &[Item::Mask(&[0, 0])], &[0]).unwrap(), [0]);
        assert_eq!(shape(&[2, 3, 4], &[ALL, Item::Mask(&[3, 0])], &[0]).unwrap(), [2, 0]);
        assert_eq!(shape(&[2, 3], &[Item::Mask(&[0])], &[0]).unwrap(), [0, 3]);
        for mask in [&[0, 1][..], &[5, 0], &[1, 0], &[1], &[0, 0, 0]] {
            assert!(select(&[2, 3], &[Item::Mask(mask)]).is_err(), "{mask:?}");
        }
        assert!(select(&[0, 3], &[Item::Mask(&[1, 0])]).is_err());
    }

    #[test]
    fn mistakes() {
        let refused = |x: &[usize], items: &[Item<'_>]| shape(x, items, &[3, 3]).unwrap_err().to_string();
        assert_eq!(refused(&[2], &[Item::Rest, Item::Rest]), "get: `...` must occur at most once in a list of indices");
        assert_eq!(refused(&[2], &[ALL, at(0)]), "get: shape [2] has fewer axes than the 2 that are indexed");
        assert_eq!(
            refused(&[2, 3], &[ALL, Item::Mask(&[2])]),
            "get: shape [2, 3] must match the mask of shape [2] from axis 1 on"
        );
        assert_eq!(refused(&[2, 3], &[ALL, at(3)]), "get: index 3 is out of range for axis 1 of length 3");
        assert_eq!(select(&[2, 3], &[I, Item::Array(&[4])]).map(|s| s.picks.len()), Ok(2));
        assert!(matches!(shape(&[2, 3], &[I, Item::Array(&[4])], &[]), Err(Error::Shapes { op: "get", .. })));
        assert!(matches!(
            shape(&[3, 1 << 40, 0], &[Item::Array(&[1 << 40, 0]), Item::New], &[]),
            Err(Error::Memory { .. })
        ));
    }

    #[test]
    fn where_a_selection_begins() {
        let s = select(&[3, 4, 5], &[at(-1), Item::New, I, Item::Slice(Slice::ALL.step(-2))]).unwrap();
        assert_eq!(s.begin(&[20, 5, 1]), (44, vec![0, -2]));
        assert_eq!((s.before, s.lengths()), (0, vec![1, 3]));
        let none = select(&[3, 4], &[at(2), Item::Slice(Slice::from(4..))]).unwrap();
        assert_eq!(none.begin(&[isize::MAX, 1]), (0, vec![0]));
    }
}
