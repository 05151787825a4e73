//! Arrays that are split over ranks.

use crate::Layout;
use backends::{Arrays, Backend, Element, runtime::ArrayAttributes};
use std::fmt;

/// An array of which each rank has a part, or all of it. Cheap to clone.
pub struct ShardedArray<B: Arrays, T: Element> {
    pub(crate) layout: Layout,
    pub(crate) part: B::Array<T>,
}

/// The part of an array that a rank has, an array of the backend within.
pub type Part<B, T> = <B as Arrays>::Array<T>;

impl<B: Arrays, T: Element> ShardedArray<B, T> {
    /// Where the elements are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The axis along which the array is split; none where every rank has all of it.
    pub fn split(&self) -> Option<usize> {
        self.layout.axis()
    }

    /// What this rank has: of an array that is not split all of it.
    pub fn part(&self) -> &Part<B, T> {
        &self.part
    }

    /// The same by value.
    pub fn into_part(self) -> Part<B, T> {
        self.part
    }
}

impl<B: Backend, T: Element> ArrayAttributes for ShardedArray<B, T> {
    type DType = T;

    #[inline]
    fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    fn device(&self) -> String {
        self.part.device()
    }
}

impl<B: Arrays, T: Element> Clone for ShardedArray<B, T> {
    #[inline]
    fn clone(&self) -> Self {
        ShardedArray { layout: self.layout.clone(), part: self.part.clone() }
    }
}

impl<B: Arrays, T: Element> fmt::Debug for ShardedArray<B, T> {
    /// What this rank has: it says nothing to other ranks, and so may be printed on one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = &self.layout.shape;
        match self.split() {
            None => write!(f, "ShardedArray {shape:?}, whole: {:?}", self.part),
            Some(axis) => write!(f, "ShardedArray {shape:?}, split along axis {axis}: {:?}", self.part),
        }
    }
}
