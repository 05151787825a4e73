//! Arrays on the host: ndarray's, and what converts to them.

use crate::{
    Element, Result,
    numpyish::{
        copy,
        raw::{View, typed},
    },
    shape,
};
use ndarray::{ArcArray, Array, ArrayRef, ArrayView, CowArray, Dimension, IxDyn};

/// Whose error it is where memory for a copy is refused.
const OP: &str = "asarray";

/// A copy of a view.
fn copied<T: Element, D: Dimension>(x: ArrayView<'_, T, D>) -> Result<HostArray<T>> {
    let x = x.into_dyn();
    packed(View { start: x.as_ptr().cast(), dtype: T::DTYPE, shape: x.shape(), strides: x.strides() })
}

/// A copy of elements that lie one after the other, in a shape with as many.
fn shaped<T: Element>(x: &[T], shape: &[usize]) -> Result<HostArray<T>> {
    packed(View { start: x.as_ptr().cast(), dtype: T::DTYPE, shape, strides: &shape::c_strides(shape) })
}

fn packed<T: Element>(x: View<'_>) -> Result<HostArray<T>> {
    typed(copy::to_raw(OP, x))
}

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
        copied(self.view())
    }
}

impl<T: Element, D: Dimension> IntoHost<T> for ArrayView<'_, T, D> {
    fn into_host(self) -> Result<HostArray<T>> {
        copied(self)
    }
}

impl<T: Element, D: Dimension> IntoHost<T> for CowArray<'_, T, D> {
    fn into_host(self) -> Result<HostArray<T>> {
        if self.is_view() { copied(self.view()) } else { self.into_owned().into_host() }
    }
}

impl<T: Element, D: Dimension> IntoHost<T> for &ArrayRef<T, D> {
    fn into_host(self) -> Result<HostArray<T>> {
        copied(self.view())
    }
}

impl<T: Element> IntoHost<T> for Vec<T> {
    fn into_host(self) -> Result<HostArray<T>> {
        Array::from_vec(self).into_host()
    }
}

impl<T: Element> IntoHost<T> for &[T] {
    fn into_host(self) -> Result<HostArray<T>> {
        shaped(self, &[self.len()])
    }
}

impl<T: Element, const N: usize> IntoHost<T> for [T; N] {
    fn into_host(self) -> Result<HostArray<T>> {
        self.as_slice().into_host()
    }
}

impl<T: Element, const N: usize, const M: usize> IntoHost<T> for [[T; M]; N] {
    fn into_host(self) -> Result<HostArray<T>> {
        shaped(self.as_flattened(), &[N, M])
    }
}

impl<T: Element, const N: usize, const M: usize, const L: usize> IntoHost<T> for [[[T; L]; M]; N] {
    fn into_host(self) -> Result<HostArray<T>> {
        shaped(self.as_flattened().as_flattened(), &[N, M, L])
    }
}

impl<T: Element> IntoHost<T> for T {
    fn into_host(self) -> Result<HostArray<T>> {
        ndarray::arr0(self).into_host()
    }
}
