//! Helpers for tests that compare an op on the CPU and on a device, for arrays in every memory layout.

use super::{Cuda, CudaArray};
use backend_core::{Arrays, Element, HostArray};
use ndarray::{ArrayD, Axis, IxDyn, Slice};

/// An array of this shape with the elements 0, 1, 2, ..
pub(crate) fn counting<T: Element>(shape: &[usize]) -> ArrayD<T> {
    let n: usize = shape.iter().product();
    ArrayD::from_shape_vec(IxDyn(shape), (0..n as i64).map(T::from_i64).collect()).unwrap()
}

/// Small numbers in no particular order, of both signs if the dtype is signed, with many duplicates.
pub(crate) fn mixed<T: Element>(shape: &[usize]) -> ArrayD<T> {
    counting::<i64>(shape).mapv(|i| T::from_i64(i.wrapping_mul(2_654_435_761) % 1009 % 50 - 20))
}

/// Copies `x` to the device in four layouts: C order, Fortran order, reversed along every axis, and every second
/// element of a larger array.
pub(crate) fn layouts<T: Element>(b: &Cuda, x: &ArrayD<T>) -> Vec<CudaArray<T>> {
    let upload = |x: ArrayD<T>| b.from_ndarray(x.into_shared()).unwrap();
    let axes: Vec<usize> = (0..x.ndim()).rev().collect();
    let standard =
        |x: ndarray::ArrayViewD<T>| ArrayD::from_shape_vec(x.raw_dim(), x.iter().copied().collect()).unwrap();
    let turned = upload(standard(x.t()));
    let mut all = vec![upload(standard(x.view())), CudaArray::of(turned.raw.permuted(&axes))];
    let mut backwards = x.clone();
    axes.iter().for_each(|&axis| backwards.invert_axis(Axis(axis)));
    let mut view = upload(standard(backwards.view())).raw;
    for (axis, &len) in x.shape().iter().enumerate() {
        view = view.sliced(axis, len.saturating_sub(1), len, -1);
    }
    all.push(CudaArray::of(view));
    if let Some(&last) = x.shape().last() {
        let axis = x.ndim() - 1;
        let mut shape = x.shape().to_vec();
        shape[axis] = 2 * last + 1;
        let mut wide = ArrayD::from_elem(IxDyn(&shape), T::from_i64(77));
        wide.slice_axis_mut(Axis(axis), Slice::new(1, None, 2)).assign(x);
        all.push(CudaArray::of(upload(wide).raw.sliced(axis, 1, last, 2)));
    }
    all
}

/// Copies the array to the host.
pub(crate) fn host<T: Element>(b: &Cuda, x: &CudaArray<T>) -> HostArray<T> {
    b.to_ndarray(x).unwrap()
}

/// Asserts that the shapes are equal and that elements differ by at most `tolerance` times the largest magnitude of the
/// expected elements; NaN equals NaN.
#[track_caller]
pub(crate) fn assert_near<T: Element>(
    b: &Cuda,
    got: &CudaArray<T>,
    expected: &HostArray<T>,
    tolerance: f64,
    what: &str,
) {
    let got = host(b, got);
    assert_eq!(got.shape(), expected.shape(), "{what}");
    let wide = |x: &T| x.cast::<backend_core::Complex<f64>>();
    let scale = expected.iter().map(|e| wide(e).norm()).filter(|n| n.is_finite()).fold(0.0, f64::max);
    for (i, (g, e)) in got.iter().zip(expected).enumerate() {
        let (got, wanted) = (wide(g), wide(e));
        let near = tolerance > 0.0 && (got - wanted).norm() <= tolerance * scale;
        assert!(near || g == e || (got.is_nan() && wanted.is_nan()), "{what}: element {i}: {g} and not {e}");
    }
}
