//! Lists of indices into an array. The items of a list are slices, numbers, new axes, index arrays and masks.

use crate::{Arrays, Result, Slice, kind};

/// A new axis of length 1, in a list of indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewAxis;

/// One item of a list of indices, as made by the macro `ix!`.
#[derive(Debug)]
pub enum Index<'a, B: Arrays> {
    /// A range of an axis, or a single index, which selects one element and drops the axis.
    Slice(Slice),
    /// A new axis of length 1: `NewAxis`.
    New,
    /// `...`, which stands for all axes that no other item indexes. A list without `...` behaves as if it ended with
    /// `...`.
    Rest,
    /// An array of indices along an axis, which selects these elements. Negative indices count from the end.
    Array(&'a B::Array<i64>),
    /// A mask, which selects the elements at which it is true. A mask with n axes indexes n axes of the array.
    Mask(&'a B::Array<bool>),
}

impl<B: Arrays> Clone for Index<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Arrays> Copy for Index<'_, B> {}

/// Types that can be an item of a list of indices: an integer of any type, a range, a [`Slice`], [`NewAxis`], an int64
/// array or a bool mask, by reference or by value.
///
/// `K` is a marker type that distinguishes these types; the compiler always infers it.
#[diagnostic::on_unimplemented(
    message = "an index is an integer, a range, `NewAxis`, `...`, an array of `i64` or a mask of `bool`, and not `{Self}`",
    note = "an array of another integer dtype: write `&b.astype::<i64, _>(&array)?`"
)]
pub trait IntoIndex<B: Arrays, K> {
    /// Returns the item, borrowed from `self`.
    fn to_index(&self) -> Index<'_, B>;
}

impl<B: Arrays> IntoIndex<B, (kind::Borrowed, i64)> for &B::Array<i64> {
    #[inline]
    fn to_index(&self) -> Index<'_, B> {
        Index::Array(*self)
    }
}

impl<B: Arrays> IntoIndex<B, (kind::Owned, i64)> for B::Array<i64> {
    #[inline]
    fn to_index(&self) -> Index<'_, B> {
        Index::Array(self)
    }
}

impl<B: Arrays> IntoIndex<B, (kind::Borrowed, bool)> for &B::Array<bool> {
    #[inline]
    fn to_index(&self) -> Index<'_, B> {
        Index::Mask(*self)
    }
}

impl<B: Arrays> IntoIndex<B, (kind::Owned, bool)> for B::Array<bool> {
    #[inline]
    fn to_index(&self) -> Index<'_, B> {
        Index::Mask(self)
    }
}

#[diagnostic::do_not_recommend]
impl<B: Arrays, S: Clone + Into<Slice>> IntoIndex<B, kind::Scalar> for S {
    #[inline]
    fn to_index(&self) -> Index<'_, B> {
        Index::Slice(self.clone().into())
    }
}

#[diagnostic::do_not_recommend]
impl<B: Arrays> IntoIndex<B, NewAxis> for NewAxis {
    #[inline]
    fn to_index(&self) -> Index<'_, B> {
        Index::New
    }
}

#[diagnostic::do_not_recommend]
impl<B: Arrays> IntoIndex<B, kind::Ready> for Index<'_, B> {
    #[inline]
    fn to_index(&self) -> Index<'_, B> {
        *self
    }
}

/// A list of indices, after its items were converted.
#[derive(Debug)]
pub enum Indices<'a, B: Arrays> {
    /// Items of any kind, such as the result of `ix!`.
    Any(&'a [Index<'a, B>]),
    /// Slices and numbers only, such as the result of `slices!`.
    Slices(&'a [Slice]),
}

impl<B: Arrays> Clone for Indices<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Arrays> Copy for Indices<'_, B> {}

/// A list of indices that owns its arrays, so that it can be stored.
#[derive(Clone, Debug)]
pub struct IndexList<B: Arrays>(Vec<OwnIndex<B>>);

#[derive(Clone, Debug)]
enum OwnIndex<B: Arrays> {
    Plain(Slice),
    New,
    Rest,
    Array(B::Array<i64>),
    Mask(B::Array<bool>),
}

impl<B: Arrays> IndexList<B> {
    /// A list without items.
    pub(crate) fn empty() -> IndexList<B> {
        IndexList(Vec::new())
    }

    /// Appends a clone of the item. The clone of an array shares the memory of the original.
    pub(crate) fn push(&mut self, item: Index<'_, B>) {
        self.0.push(OwnIndex::new(item));
    }

    /// Clones the items. The clones of arrays share the memory of the originals.
    pub fn new(indices: Indices<'_, B>) -> IndexList<B> {
        IndexList(indices.iter().map(OwnIndex::new).collect())
    }

    /// Converts the list for another backend. `array` and `mask` convert the arrays in the list.
    pub fn map<C: Arrays>(
        &self,
        array: impl Fn(&B::Array<i64>) -> C::Array<i64>,
        mask: impl Fn(&B::Array<bool>) -> C::Array<bool>,
    ) -> IndexList<C> {
        let one = |item: &OwnIndex<B>| match item {
            OwnIndex::Plain(slice) => OwnIndex::Plain(*slice),
            OwnIndex::New => OwnIndex::New,
            OwnIndex::Rest => OwnIndex::Rest,
            OwnIndex::Array(x) => OwnIndex::Array(array(x)),
            OwnIndex::Mask(x) => OwnIndex::Mask(mask(x)),
        };
        IndexList(self.0.iter().map(one).collect())
    }

    /// Returns the items for use in `Indices::Any`. They borrow the arrays of this list.
    pub fn items(&self) -> Vec<Index<'_, B>> {
        self.0.iter().map(OwnIndex::borrowed).collect()
    }
}

impl<B: Arrays> OwnIndex<B> {
    fn new(item: Index<'_, B>) -> OwnIndex<B> {
        match item {
            Index::Slice(slice) => OwnIndex::Plain(slice),
            Index::New => OwnIndex::New,
            Index::Rest => OwnIndex::Rest,
            Index::Array(x) => OwnIndex::Array(x.clone()),
            Index::Mask(x) => OwnIndex::Mask(x.clone()),
        }
    }

    fn borrowed(&self) -> Index<'_, B> {
        match self {
            OwnIndex::Plain(slice) => Index::Slice(*slice),
            OwnIndex::New => Index::New,
            OwnIndex::Rest => Index::Rest,
            OwnIndex::Array(x) => Index::Array(x),
            OwnIndex::Mask(x) => Index::Mask(x),
        }
    }
}

impl<'a, B: Arrays> Indices<'a, B> {
    /// Returns the items, in the order of the list.
    pub fn iter(self) -> impl Iterator<Item = Index<'a, B>> + Clone {
        let (any, slices): (&'a [Index<'a, B>], &'a [Slice]) = match self {
            Indices::Any(items) => (items, &[]),
            Indices::Slices(slices) => (&[], slices),
        };
        any.iter().copied().chain(slices.iter().map(|slice| Index::Slice(*slice)))
    }

    /// Converts the list for another backend. `array` and `mask` convert the arrays in the list.
    pub fn on<C: Arrays>(
        self,
        array: impl Fn(&'a B::Array<i64>) -> Result<&'a C::Array<i64>>,
        mask: impl Fn(&'a B::Array<bool>) -> Result<&'a C::Array<bool>>,
    ) -> Result<Vec<Index<'a, C>>> {
        let one = |item| {
            Ok(match item {
                Index::Slice(slice) => Index::Slice(slice),
                Index::New => Index::New,
                Index::Rest => Index::Rest,
                Index::Array(x) => Index::Array(array(x)?),
                Index::Mask(x) => Index::Mask(mask(x)?),
            })
        };
        self.iter().map(one).collect()
    }
}

/// Types of lists of indices: the results of `ix![1, .., &indices]` and `slices![1, ..]`, and slices and `Vec`s of
/// [`Index`] or [`Slice`].
#[diagnostic::on_unimplemented(
    message = "an index of an array of `{B}` is a list `ix![..]`, and not `{Self}`",
    note = "write a list such as `ix![1, .., 2..-1;2, ..., NewAxis, &indices, &mask]`, which has all kinds of items"
)]
pub trait IntoIndices<B: Arrays> {
    /// Returns the list, borrowed from `self`.
    fn indices(&self) -> Indices<'_, B>;
}

impl<B: Arrays> IntoIndices<B> for [Index<'_, B>] {
    #[inline]
    fn indices(&self) -> Indices<'_, B> {
        Indices::Any(self)
    }
}

impl<B: Arrays, const N: usize> IntoIndices<B> for [Index<'_, B>; N] {
    #[inline]
    fn indices(&self) -> Indices<'_, B> {
        Indices::Any(self)
    }
}

impl<B: Arrays> IntoIndices<B> for Vec<Index<'_, B>> {
    #[inline]
    fn indices(&self) -> Indices<'_, B> {
        Indices::Any(self)
    }
}

impl<B: Arrays> IntoIndices<B> for Indices<'_, B> {
    #[inline]
    fn indices(&self) -> Indices<'_, B> {
        *self
    }
}

impl<B: Arrays> IntoIndices<B> for [Slice] {
    #[inline]
    fn indices(&self) -> Indices<'_, B> {
        Indices::Slices(self)
    }
}

impl<B: Arrays, const N: usize> IntoIndices<B> for [Slice; N] {
    #[inline]
    fn indices(&self) -> Indices<'_, B> {
        Indices::Slices(self)
    }
}

impl<B: Arrays> IntoIndices<B> for Vec<Slice> {
    #[inline]
    fn indices(&self) -> Indices<'_, B> {
        Indices::Slices(self)
    }
}

impl<B: Arrays, S: IntoIndices<B> + ?Sized> IntoIndices<B> for &S {
    #[inline]
    fn indices(&self) -> Indices<'_, B> {
        (**self).indices()
    }
}
