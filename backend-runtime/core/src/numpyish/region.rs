//! Regions of arrays of any dtype. A region has its own axes and strides, and serves as the source of a copy.

use super::raw::View;
use crate::{DType, Error, Result};

/// A selection of an array's elements with its own shape and strides, for example a slice, or the whole array broadcast
/// to another shape. It refers to the memory of the array; nothing is copied.
#[derive(Clone, Debug)]
pub struct Region {
    start: *const u8,
    dtype: DType,
    shape: Vec<usize>,
    strides: Vec<isize>,
}

impl Region {
    /// A region that consists of the whole array.
    pub fn of(x: View<'_>) -> Region {
        Region { start: x.start, dtype: x.dtype, shape: x.shape.to_vec(), strides: x.strides.to_vec() }
    }

    /// A region without axes, which consists of the element at `start`. The element must outlive the region.
    pub fn scalar(dtype: DType, start: *const u8) -> Region {
        Region { start, dtype, shape: Vec::new(), strides: Vec::new() }
    }

    /// The region as a view. The array that the region refers to must still be alive.
    pub fn view(&self) -> View<'_> {
        View { start: self.start, dtype: self.dtype, shape: &self.shape, strides: &self.strides }
    }

    /// Inserts an axis of length 1.
    pub fn with_axis(mut self, axis: usize) -> Region {
        self.shape.insert(axis, 1);
        self.strides.insert(axis, 0);
        self
    }

    /// Selects `len` indices of an axis, which begin at `first` and are `step` apart.
    ///
    /// # Panics
    /// If an index is outside the axis.
    pub fn sliced(mut self, axis: usize, first: usize, len: usize, step: isize) -> Region {
        let last = first as isize + (len.max(1) as isize - 1) * step;
        let all = self.shape[axis] as isize;
        assert!(len == 0 || ((first as isize) < all && (0..all).contains(&last)), "indices of the axis");
        if len > 0 {
            self.start = self.start.wrapping_offset(first as isize * self.strides[axis] * self.dtype.size() as isize);
        }
        self.strides[axis] *= if len > 1 { step } else { 1 };
        self.shape[axis] = len;
        self
    }

    /// Selects one index of an axis, and removes the axis.
    ///
    /// # Panics
    /// If the index is outside the axis.
    pub fn at(self, axis: usize, index: usize) -> Region {
        let mut one = self.sliced(axis, index, 1, 1);
        one.shape.remove(axis);
        one.strides.remove(axis);
        one
    }

    /// Broadcasts the region to the shape `to`, by repeating it along new axes and along axes of length 1. Returns an
    /// error if the region's shape does not broadcast to `to`.
    pub fn broadcast(&self, op: &'static str, to: &[usize]) -> Result<Region> {
        let refused = || Error::shapes(op, &self.shape, to);
        let new = to.len().checked_sub(self.shape.len()).ok_or_else(refused)?;
        let mut strides = vec![0; new];
        for ((&own, &stride), &len) in self.shape.iter().zip(&self.strides).zip(&to[new..]) {
            match own {
                _ if own == len => strides.push(stride),
                1 => strides.push(0),
                _ => return Err(refused()),
            }
        }
        Ok(Region { shape: to.to_vec(), strides, ..*self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_array() {
        let elements: Vec<u8> = (0..12).collect();
        let x = View { start: elements.as_ptr(), dtype: DType::UInt8, shape: &[3, 4], strides: &[4, 1] };
        let part = Region::of(x).sliced(1, 3, 2, -2).at(0, 1);
        assert_eq!((&part.shape[..], &part.strides[..]), (&[2][..], &[-2][..]));
        // SAFETY: the region begins at an element.
        assert_eq!(unsafe { *part.view().start }, 7);
        assert_eq!(Region::of(x).sliced(0, 3, 0, 1).shape, [0, 4]);
        let wide = Region::of(x).with_axis(1).broadcast("test", &[2, 3, 5, 4]).unwrap();
        assert_eq!(wide.strides, [0, 4, 0, 1]);
        assert_eq!(wide.broadcast("test", &[3]).unwrap_err(), Error::shapes("test", &[2, 3, 5, 4], &[3]));
        assert!(Region::of(x).broadcast("test", &[3, 5]).is_err());
    }

    #[test]
    #[should_panic(expected = "indices of the axis")]
    fn indices_outside() {
        Region::scalar(DType::Bool, std::ptr::null()).with_axis(0).sliced(0, 0, 2, 1);
    }
}
