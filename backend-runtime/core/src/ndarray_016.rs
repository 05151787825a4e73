//! Conversions of arrays from and to ndarray 0.16, for programs in which another crate still uses that version.
//! Requires the feature `ndarray-016`.

use crate::{Element, Error, HostArray, IntoHost, Result, host::collected};
use ndarray::Array;
use ndarray_016::{
    ArcArray as ArcArray016, Array as Array016, ArrayD as ArrayD016, ArrayView as ArrayView016, Dimension, IxDyn,
};

impl<T: Element, D: Dimension> IntoHost<T> for Array016<T, D> {
    /// Converts the array. The elements are not copied if they are in C order.
    fn into_host(self) -> Result<HostArray<T>> {
        if !self.is_standard_layout() {
            return self.view().into_host();
        }
        let (shape, n) = (self.shape().to_vec(), self.len());
        let (mut elements, start) = self.into_raw_vec_and_offset();
        // the array may be only a part of the vector that owns its memory
        let start = start.unwrap_or(0);
        elements.truncate(start + n);
        elements.drain(..start);
        let array = Array::from_shape_vec(shape.as_slice(), elements);
        Ok(array.map_err(|why| Error::shape("asarray", &shape, why.to_string()))?.into_shared())
    }
}

impl<T: Element, D: Dimension> IntoHost<T> for &Array016<T, D> {
    fn into_host(self) -> Result<HostArray<T>> {
        self.view().into_host()
    }
}

impl<T: Element, D: Dimension> IntoHost<T> for &ArcArray016<T, D> {
    fn into_host(self) -> Result<HostArray<T>> {
        self.view().into_host()
    }
}

impl<T: Element, D: Dimension> IntoHost<T> for ArrayView016<'_, T, D> {
    fn into_host(self) -> Result<HostArray<T>> {
        let flat = collected("asarray", self.iter().copied())?;
        let array = flat.into_shape_with_order(self.shape());
        array.map_err(|why| Error::shape("asarray", self.shape(), why.to_string()))
    }
}

/// Converts an array in the host's memory to an array of ndarray 0.16, in C order. The elements are copied.
///
/// # Errors
///
/// [`Error::Memory`] if memory for the copy cannot be allocated.
pub fn to_ndarray<T: Element>(x: &HostArray<T>) -> Result<ArrayD016<T>> {
    let elements = crate::host::into_vec("to_ndarray", x.clone())?;
    let array = ArrayD016::from_shape_vec(IxDyn(x.shape()), elements);
    array.map_err(|why| Error::shape("to_ndarray", x.shape(), why.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray_016::{Array2, Axis, arr0, arr2, s};

    #[test]
    fn arrays_of_any_layout_keep_their_elements() {
        let x: Array2<f64> = arr2(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        let expected = ndarray::arr2(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).into_dyn().into_shared();
        assert_eq!((&x).into_host().unwrap(), expected);
        assert_eq!((&x.clone().into_shared()).into_host().unwrap(), expected);
        assert_eq!(x.clone().into_host().unwrap(), expected);
        let turned = x.view().reversed_axes();
        assert_eq!(turned.into_host().unwrap(), expected.t().to_shared());
        assert_eq!(x.clone().reversed_axes().into_host().unwrap(), expected.t().to_shared());
        let backwards = ndarray::arr2(&[[6.0, 4.0]]).into_dyn().into_shared();
        assert_eq!(x.slice(s![1..;-1, ..;-2]).into_host().unwrap(), backwards);
        // an array that is only the end of its allocation
        let mut last = x.clone();
        last.slice_axis_inplace(Axis(0), ndarray_016::Slice::from(1..));
        assert_eq!(last.into_host().unwrap(), ndarray::arr2(&[[4.0, 5.0, 6.0]]).into_dyn().into_shared());
        assert_eq!(arr0(7_i32).into_host().unwrap(), ndarray::arr0(7).into_dyn().into_shared());
        let empty: HostArray<f32> = Array2::<f32>::zeros((0, 3)).into_host().unwrap();
        assert_eq!(empty.shape(), [0, 3]);
    }

    #[test]
    fn an_owned_array_is_not_copied_and_comes_back() {
        let x = Array2::<f64>::ones((300, 200));
        let address = x.as_ptr();
        let moved: HostArray<f64> = x.clone().into_host().unwrap();
        assert_eq!(to_ndarray(&moved).unwrap(), x.clone().into_dyn());
        let moved: HostArray<f64> = x.into_host().unwrap();
        assert_eq!(moved.as_ptr(), address);
        let turned = moved.t().to_shared();
        assert_eq!(to_ndarray(&turned).unwrap().shape(), [200, 300]);
    }
}
