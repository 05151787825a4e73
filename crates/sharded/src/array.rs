//! The type of arrays that are split over ranks.

use crate::Layout;
use backends::{Arrays, Backend, Element, runtime::ArrayAttributes};
use std::fmt;

/// An array of which each rank holds a part or the whole. Cloning is cheap.
pub struct ShardedArray<B: Arrays, T: Element> {
    pub(crate) layout: Layout,
    pub(crate) part: B::Array<T>,
}

/// The part of an array that one rank holds. It is an array of the inner backend, which computes on each rank.
pub type LocalPart<B, T> = <B as Arrays>::Array<T>;

impl<B: Arrays, T: Element> ShardedArray<B, T> {
    /// The layout, which describes how the elements are distributed over the ranks.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The axis along which the array is split; `None` if every rank holds the whole array.
    pub fn split(&self) -> Option<usize> {
        self.layout.axis()
    }

    /// This rank's part, or the whole array if the array is not split.
    pub fn part(&self) -> &LocalPart<B, T> {
        &self.part
    }

    /// Like `part`, but consumes the array.
    pub fn into_part(self) -> LocalPart<B, T> {
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
    /// Formats this rank's part. This needs no communication, so a single rank may print the array.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = &self.layout.shape;
        match self.split() {
            None => write!(f, "ShardedArray {shape:?}, whole: {:?}", self.part),
            Some(axis) => write!(f, "ShardedArray {shape:?}, split along axis {axis}: {:?}", self.part),
        }
    }
}
