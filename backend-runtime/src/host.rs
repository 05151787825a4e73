//! Arrays on the host: ndarray's, and what converts to them.

use crate::{Element, Result};
use ndarray::{ArcArray, Array, ArrayRef, ArrayView, CowArray, Dimension, IxDyn};

/// A reference-counted ndarray of any rank. It is also what [`Numpyish`](crate::numpyish::Numpyish) computes on.
pub type HostArray<T> = ArcArray<T, IxDyn>;

/// What can become an array: any ndarray, a scalar of 0 dimensions, a `Vec`, a slice, or nested Rust arrays.
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
        Ok(self.to_owned().into_dyn().into_shared())
    }
}

impl<T: Element, D: Dimension> IntoHost<T> for ArrayView<'_, T, D> {
    fn into_host(self) -> Result<HostArray<T>> {
        Ok(self.to_owned().into_dyn().into_shared())
    }
}

impl<T: Element, D: Dimension> IntoHost<T> for CowArray<'_, T, D> {
    fn into_host(self) -> Result<HostArray<T>> {
        Ok(self.into_owned().into_dyn().into_shared())
    }
}

impl<T: Element, D: Dimension> IntoHost<T> for &ArrayRef<T, D> {
    fn into_host(self) -> Result<HostArray<T>> {
        Ok(self.to_owned().into_dyn().into_shared())
    }
}

impl<T: Element> IntoHost<T> for Vec<T> {
    fn into_host(self) -> Result<HostArray<T>> {
        Array::from_vec(self).into_host()
    }
}

impl<T: Element> IntoHost<T> for &[T] {
    fn into_host(self) -> Result<HostArray<T>> {
        self.to_vec().into_host()
    }
}

impl<T: Element, const N: usize> IntoHost<T> for [T; N] {
    fn into_host(self) -> Result<HostArray<T>> {
        self.to_vec().into_host()
    }
}

impl<T: Element, const N: usize, const M: usize> IntoHost<T> for [[T; M]; N] {
    fn into_host(self) -> Result<HostArray<T>> {
        Array::from_iter(self.into_iter().flatten()).into_shape_with_order((N, M)).expect("N * M elements").into_host()
    }
}

impl<T: Element, const N: usize, const M: usize, const L: usize> IntoHost<T> for [[[T; L]; M]; N] {
    fn into_host(self) -> Result<HostArray<T>> {
        let flat = Array::from_iter(self.into_iter().flatten().flatten());
        flat.into_shape_with_order((N, M, L)).expect("N * M * L elements").into_host()
    }
}

impl<T: Element> IntoHost<T> for T {
    fn into_host(self) -> Result<HostArray<T>> {
        ndarray::arr0(self).into_host()
    }
}
