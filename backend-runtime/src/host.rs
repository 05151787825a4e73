//! Arrays on the host: ndarray's, and conversions to them.

use crate::{Element, Error, Result, numpyish::typed::copied};
use ndarray::{ArcArray, Array, ArrayRef, ArrayView, CowArray, Dimension, IxDyn};

/// Whose error it is where memory for a copy is refused.
const OP: &str = "asarray";

/// A copy of a slice with this shape.
fn of_slice<T: Element>(shape: &[usize], x: &[T]) -> Result<HostArray<T>> {
    let view = ArrayView::from_shape(shape, x);
    copied(OP, view.map_err(|_| Error::shape(OP, shape, format!("is not the shape of {} elements", x.len())))?)
}

/// A reference-counted ndarray of any rank; also the array type of [`Numpyish`](crate::numpyish::Numpyish).
pub type HostArray<T> = ArcArray<T, IxDyn>;

/// Types that convert to an array: any ndarray, a scalar (0 dimensions), a `Vec`, a slice, nested Rust arrays.
pub trait IntoHost<T: Element> {
    /// The array; owned ndarrays and vectors are taken over without a copy.
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
