//! What an array says of itself.

use crate::{DType, Element, HostArray};

/// The attributes of an array, on the array: `x.shape()[0]`, `x.dtype()`. Every [`Arrays::Array`](crate::Arrays::Array) has them, so
/// that generic code does, too.
///
/// An ndarray keeps its own methods of these names, which say the same.
pub trait ArrayAttributes {
    /// The dtype, as a type.
    type DType: Element;

    /// Lengths of the axes.
    fn shape(&self) -> &[usize];

    /// Number of axes.
    #[inline]
    fn ndim(&self) -> usize {
        self.shape().len()
    }

    /// Number of elements, as ndarray counts them (`x.size` in NumPy); 1 where there are no axes.
    #[inline]
    fn len(&self) -> usize {
        self.shape().iter().product()
    }

    /// Bytes of the elements, as `x.nbytes` in NumPy: of a view those that it shows, of memory that is repeated each repetition.
    #[inline]
    fn nbytes(&self) -> usize {
        self.len().saturating_mul(Self::DType::DTYPE.size())
    }

    /// Whether there are no elements.
    #[inline]
    fn is_empty(&self) -> bool {
        self.shape().contains(&0)
    }

    /// The dtype, as a value.
    #[inline]
    fn dtype(&self) -> DType {
        Self::DType::DTYPE
    }

    /// The device that the memory is on, in the library's words: `"cpu"`, `"cuda:0"`.
    fn device(&self) -> String;
}

impl<T: Element> ArrayAttributes for HostArray<T> {
    type DType = T;

    #[inline]
    fn shape(&self) -> &[usize] {
        ndarray::LayoutRef::shape(self)
    }

    fn device(&self) -> String {
        "cpu".into()
    }
}
