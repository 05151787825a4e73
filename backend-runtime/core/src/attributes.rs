//! Attributes of arrays: shape, dtype, size, device.

use crate::{DType, Element, HostArray};

/// The attributes of an array as methods of the array: `x.shape()[0]`, `x.dtype()`. Every
/// [`Arrays::Array`](crate::Arrays::Array) implements this trait, so generic code can use it.
///
/// An ndarray also has inherent methods of these names, which return the same values.
pub trait ArrayAttributes {
    /// The dtype of the elements, as a type.
    type DType: Element;

    /// Returns the lengths of the axes.
    fn shape(&self) -> &[usize];

    /// Returns the number of axes.
    #[inline]
    fn ndim(&self) -> usize {
        self.shape().len()
    }

    /// Returns the number of elements, like `x.size` in NumPy; 1 for an array without axes.
    #[inline]
    fn len(&self) -> usize {
        self.shape().iter().product()
    }

    /// Returns the size of all elements in bytes, like `x.nbytes` in NumPy. A view counts only its own elements, and a
    /// broadcast array counts every repetition.
    #[inline]
    fn nbytes(&self) -> usize {
        self.len().saturating_mul(Self::DType::dtype().size())
    }

    /// Returns whether the array has no elements.
    #[inline]
    fn is_empty(&self) -> bool {
        self.shape().contains(&0)
    }

    /// Returns the dtype as a value.
    #[inline]
    fn dtype(&self) -> DType {
        Self::DType::dtype()
    }

    /// Returns the device of the memory, as named by its library: `"cpu"`, `"cuda:0"`.
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
