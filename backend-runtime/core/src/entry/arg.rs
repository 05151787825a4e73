//! Arguments of entries.

use super::LibraryArray;
use crate::{Arrays, Axes, Lengths, Number, Slice, numpyish, raw::RawElement};
use std::any::Any;

/// An argument of a call of an entry.
#[derive(Debug)]
pub enum Arg<'a> {
    /// An omitted argument of a parameter whose default is `none`.
    Absent,
    /// An array.
    Array(ArrayRef<'a>),
    /// An array that its owner does not use again. The result may overwrite it, if there is no other handle of it.
    Given(ArrayMut<'a>),
    /// An array that the op changes in place.
    Target(ArrayMut<'a>),
    /// A number of the dtype of the call.
    Element(RawElement),
    /// A list of arrays.
    Arrays(Vec<ArrayRef<'a>>),
    /// A list of indices.
    Index(Vec<IndexItem<'a>>),
    /// Several axes, or all axes.
    Axes(&'a Axes),
    /// Lengths of axes.
    Lengths(&'a Lengths),
    /// A list of lengths or widths.
    Usizes(&'a [usize]),
    /// A list of integers.
    Isizes(&'a [isize]),
    /// A number that is converted to the dtype of an array.
    Number(&'a Number),
    /// A slice for each axis.
    Slices(&'a [Slice]),
    /// Bytes.
    Bytes(&'a [u8]),
    /// A text.
    Text(&'a str),
    /// A bool.
    Bool(bool),
    /// An integer, a length or an axis. A signed integer is stored as its 64-bit two's complement.
    Integer(u64),
    /// A real number.
    Real(f64),
    /// The position of a name in the list of a choice's names.
    Choice(usize),
}

/// A reference to an array of any library and dtype.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum ArrayRef<'a> {
    /// An array of the CPU.
    Numpyish(&'a dyn numpyish::entry::AnyNdArray),
    /// An array of another library.
    Library(&'a dyn LibraryArray),
}

/// An exclusive reference to an array of any library and dtype.
#[non_exhaustive]
pub enum ArrayMut<'a> {
    /// An array of the CPU.
    Numpyish(&'a mut dyn numpyish::entry::AnyNdArray),
    /// An array of another library.
    Library(&'a mut dyn LibraryArray),
}

impl<'a> ArrayMut<'a> {
    /// Borrows the array.
    pub fn by_ref(&self) -> ArrayRef<'_> {
        match self {
            ArrayMut::Numpyish(x) => ArrayRef::Numpyish(&**x),
            ArrayMut::Library(x) => ArrayRef::Library(&**x),
        }
    }

    /// Borrows the array exclusively.
    pub fn by_mut(&mut self) -> ArrayMut<'_> {
        match self {
            ArrayMut::Numpyish(x) => ArrayMut::Numpyish(&mut **x),
            ArrayMut::Library(x) => ArrayMut::Library(&mut **x),
        }
    }

    /// Returns the array if its type is `A`, and otherwise `None`.
    pub fn into_mut<A: LibraryArray>(self) -> Option<&'a mut A> {
        match self {
            ArrayMut::Numpyish(_) => None,
            ArrayMut::Library(x) => (x as &mut dyn Any).downcast_mut(),
        }
    }
}

/// An item of a list of indices.
#[derive(Clone, Copy, Debug)]
pub enum IndexItem<'a> {
    /// A range or an index of an axis.
    Slice(Slice),
    /// A new axis of length 1.
    New,
    /// All axes that no other item indexes.
    Rest,
    /// An array of int64 indices.
    Array(ArrayRef<'a>),
    /// A mask of bools.
    Mask(ArrayRef<'a>),
}

impl<'a> ArrayRef<'a> {
    /// Name of the backend that the array belongs to.
    pub fn backend(&self) -> &'static str {
        match self {
            ArrayRef::Numpyish(_) => numpyish::Numpyish::NAME,
            ArrayRef::Library(x) => x.backend(),
        }
    }

    /// Lengths of the axes.
    pub fn shape(self) -> &'a [usize] {
        match self {
            ArrayRef::Numpyish(x) => x.view().shape,
            ArrayRef::Library(x) => x.shape(),
        }
    }

    /// Returns the array if its type is `A`, and otherwise `None`.
    #[inline]
    pub fn get<A: LibraryArray>(self) -> Option<&'a A> {
        match self {
            ArrayRef::Numpyish(_) => None,
            ArrayRef::Library(x) => (x as &dyn Any).downcast_ref(),
        }
    }
}

impl std::fmt::Debug for ArrayRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "an array of {} of shape {:?}", self.backend(), self.shape())
    }
}

impl std::fmt::Debug for ArrayMut<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.by_ref().fmt(f)
    }
}
