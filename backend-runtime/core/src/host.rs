//! Arrays in host memory, which are ndarrays, and conversions of other Rust values to them.

use crate::{Element, Error, Result, numpyish::typed::copied};
use ndarray::{ArcArray, Array, ArrayRef, ArrayView, CowArray, Dimension, IxDyn};

/// Name of the op in the errors of these conversions.
const OP: &str = "asarray";

/// Copies a slice to an array of this shape.
fn of_slice<T: Element>(shape: &[usize], x: &[T]) -> Result<HostArray<T>> {
    let view = ArrayView::from_shape(shape, x);
    copied(OP, view.map_err(|_| Error::shape(OP, shape, format!("does not match {} elements", x.len())))?)
}

/// Collects the elements of an iterator into a one-dimensional array.
pub(crate) fn collected<T: Element>(op: &'static str, mut elements: impl Iterator<Item = T>) -> Result<HostArray<T>> {
    let mut all = Vec::new();
    let refused = |n: usize| Error::memory(op, n.saturating_mul(size_of::<T>()));
    let least = elements.size_hint().0;
    all.try_reserve_exact(least).map_err(|_| refused(least))?;
    while let Some(element) = elements.next() {
        if all.len() == all.capacity() {
            // this also refuses more than `isize::MAX` bytes, which neither vectors nor ndarrays can hold
            let more = elements.size_hint().0.saturating_add(1);
            all.try_reserve(more).map_err(|_| refused(all.len().saturating_add(more)))?;
        }
        all.push(element);
    }
    all.into_host()
}

/// Returns the elements in C order. They are not copied if `x` is the only handle and they are already in C order.
pub(crate) fn into_vec<T: Element>(op: &'static str, x: HostArray<T>) -> Result<Vec<T>> {
    let (n, in_order) = (x.len(), x.is_standard_layout());
    let owned = match x.try_into_owned_nocopy() {
        Ok(only) if in_order => only,
        Ok(other) => copied(op, other.view())?.into_owned(),
        Err(shared) => copied(op, shared.view())?.into_owned(),
    };
    // the array may be only a part of the vector that owns its memory
    let (mut elements, start) = owned.into_raw_vec_and_offset();
    let start = start.unwrap_or(0);
    elements.truncate(start + n);
    elements.drain(..start);
    Ok(elements)
}

/// A reference-counted ndarray of any rank. It is also the array type of [`Numpyish`](crate::numpyish::Numpyish).
pub type HostArray<T> = ArcArray<T, IxDyn>;

/// Types that convert to an array in host memory: any ndarray, a scalar (an array without axes), a `Vec`, a slice, or
/// nested Rust arrays.
pub trait IntoHost<T: Element> {
    /// Converts to an array. Owned ndarrays and vectors are converted without a copy.
    fn into_host(self) -> Result<HostArray<T>>;
}

impl<T: Element, D: Dimension> IntoHost<T> for Array<T, D> {
    fn into_host(self) -> Result<HostArray<T>> {
        Ok(self.into_dyn().into_shared())
    }
}

impl<T: Element, D: Dimension> IntoHost<T> for ArcArray<T, D> {
    fn into_host(self) -> Result<HostArray<T>> {
        Ok(self.into_dyn())
    }
}

impl<T: Element, D: Dimension> IntoHost<T> for &ArcArray<T, D> {
    fn into_host(self) -> Result<HostArray<T>> {
        Ok(self.clone().into_dyn())
    }
}

impl<T: Element, D: Dimension> IntoHost<T> for &Array<T, D> {
    fn into_host(self) -> Result<HostArray<T>> {
        copied(OP, self.view().into_dyn())
    }
}

impl<T: Element, D: Dimension> IntoHost<T> for ArrayView<'_, T, D> {
    fn into_host(self) -> Result<HostArray<T>> {
        copied(OP, self.into_dyn())
    }
}

impl<T: Element, D: Dimension> IntoHost<T> for CowArray<'_, T, D> {
    fn into_host(self) -> Result<HostArray<T>> {
        if self.is_view() { copied(OP, self.view().into_dyn()) } else { self.into_owned().into_host() }
    }
}

impl<T: Element, D: Dimension> IntoHost<T> for &ArrayRef<T, D> {
    fn into_host(self) -> Result<HostArray<T>> {
        copied(OP, self.view().into_dyn())
    }
}

impl<T: Element> IntoHost<T> for Vec<T> {
    fn into_host(self) -> Result<HostArray<T>> {
        Array::from_vec(self).into_host()
    }
}

impl<T: Element> IntoHost<T> for &[T] {
    fn into_host(self) -> Result<HostArray<T>> {
        of_slice(&[self.len()], self)
    }
}

impl<T: Element, const N: usize> IntoHost<T> for [T; N] {
    fn into_host(self) -> Result<HostArray<T>> {
        self.as_slice().into_host()
    }
}

impl<T: Element, const N: usize, const M: usize> IntoHost<T> for [[T; M]; N] {
    fn into_host(self) -> Result<HostArray<T>> {
        of_slice(&[N, M], self.as_flattened())
    }
}

impl<T: Element, const N: usize, const M: usize, const L: usize> IntoHost<T> for [[[T; L]; M]; N] {
    fn into_host(self) -> Result<HostArray<T>> {
        of_slice(&[N, M, L], self.as_flattened().as_flattened())
    }
}

impl<T: Element> IntoHost<T> for T {
    fn into_host(self) -> Result<HostArray<T>> {
        ndarray::arr0(self).into_host()
    }
}
