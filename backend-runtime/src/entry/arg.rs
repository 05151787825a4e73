//! Arguments of entries.

use crate::{Axes, Lengths, Number, Slice, numpyish, raw::RawElement};

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
    /// An array of an NVIDIA GPU.
    #[cfg(feature = "cuda")]
    Cuda(&'a crate::cuda::RawArray),
    /// A tensor of libtorch.
    #[cfg(feature = "torch")]
    Torch(&'a crate::torch::Tensor),
}

/// An exclusive reference to an array of any library and dtype.
#[non_exhaustive]
pub enum ArrayMut<'a> {
    /// An array of the CPU.
    Numpyish(&'a mut dyn numpyish::entry::AnyNdArray),
    /// An array of an NVIDIA GPU.
    #[cfg(feature = "cuda")]
    Cuda(&'a mut crate::cuda::RawArray),
    /// A tensor of libtorch.
    #[cfg(feature = "torch")]
    Torch(&'a mut crate::torch::Tensor),
}

impl<'a> ArrayMut<'a> {
    /// Borrows the array.
    pub fn by_ref(&self) -> ArrayRef<'_> {
        match self {
            ArrayMut::Numpyish(x) => ArrayRef::Numpyish(&**x),
            #[cfg(feature = "cuda")]
            ArrayMut::Cuda(x) => ArrayRef::Cuda(x),
            #[cfg(feature = "torch")]
            ArrayMut::Torch(x) => ArrayRef::Torch(x),
        }
    }

    /// Borrows the array exclusively.
    pub fn by_mut(&mut self) -> ArrayMut<'_> {
        match self {
            ArrayMut::Numpyish(x) => ArrayMut::Numpyish(&mut **x),
            #[cfg(feature = "cuda")]
            ArrayMut::Cuda(x) => ArrayMut::Cuda(x),
            #[cfg(feature = "torch")]
            ArrayMut::Torch(x) => ArrayMut::Torch(x),
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
        use crate::Arrays;
        match self {
            ArrayRef::Numpyish(_) => numpyish::Numpyish::NAME,
            #[cfg(feature = "cuda")]
            ArrayRef::Cuda(_) => crate::cuda::Cuda::NAME,
            #[cfg(feature = "torch")]
            ArrayRef::Torch(_) => crate::torch::Torch::NAME,
        }
    }

    /// Lengths of the axes.
    pub fn shape(self) -> &'a [usize] {
        match self {
            ArrayRef::Numpyish(x) => x.view().shape,
            #[cfg(feature = "cuda")]
            ArrayRef::Cuda(x) => x.shape(),
            #[cfg(feature = "torch")]
            ArrayRef::Torch(x) => x.shape(),
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
