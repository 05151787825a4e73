//! Tests that compare reductions with the CPU backend, on a GPU or the software driver.

use super::*;
use crate::{
    compare::{assert_near, host, layouts, mixed},
    testing::device,
};
use backend_core::{
    Arrays, Complex, Error, Float, Ordered, bf16, f16,
    numpyish::{Numpyish, reduction::typed as cpu},
};
use ndarray::{ArrayD, IxDyn};

const CPU: Numpyish = Numpyish::new();

/// The context of a call of the op named `op`, in the dtype of the given array.
pub(super) fn on<'b, T: Element>(b: &'b Cuda, op: &'static str, _: &CudaArray<T>) -> OpContext<'b> {
    OpContext::new(b, op, T::DTYPE)
}

/// Converts the result of an op to a typed array.
pub(super) fn typed<T: Element>(x: Result<RawArray>) -> Result<CudaArray<T>> {
    CudaArray::from_raw("typed", x?)
}

fn axis_sets(ndim: usize) -> Vec<Vec<isize>> {
    (0..1 << ndim).map(|bits| (0..ndim as isize).filter(|a| bits >> a & 1 == 1).collect()).collect()
}

const SHAPES: [&[usize]; 6] = [&[3, 4, 5], &[2, 300, 3], &[1100, 3], &[3, 1100], &[7], &[]];

/// Calls ops on this backend and on the CPU, and compares the results.
macro_rules! compare {
    ($b:ident, $a:ident, $x:ident, $what:ident, $tolerance:expr; $($f:ident($($arg:expr),*))*) => {$(
        let got = typed($f(on(&$b, stringify!($f), &$a), &$a.raw, $($arg),*)).unwrap();
        let expected = cpu::$f(&CPU, &$x, $($arg),*).unwrap();
        assert_near(&$b, &got, &expected, $tolerance, &format!("{} of {}", stringify!($f), $what));
    )*};
}

fn numbers<T: Ordered>(b: &Cuda, shape: &[usize]) {
    let x = mixed::<T>(shape);
    for a in layouts(b, &x) {
        let (x, b) = (x.clone().into_shared(), b.clone());
        for axes in axis_sets(shape.len()) {
            let by = Axes::from(&axes[..]);
            let what = format!("{} {shape:?} {:?} over {axes:?}", T::DTYPE, a.raw.strides);
            compare!(b, a, x, what, 0.0;
                max(by, false) min(by, true) any(by, false) all(by, true));
            compare!(b, a, x, what, 2e-3; sum(by, false));
        }
        for axis in 0..shape.len() as isize {
            let what = format!("{} {shape:?} {:?} along {axis}", T::DTYPE, a.raw.strides);
            compare!(b, a, x, what, 0.0; argmax(Some(axis), true) argmin(Some(axis), false));
        }
    }
}

fn floats<T: Float>(b: &Cuda, shape: &[usize], tolerance: f64) {
    let x = mixed::<T>(shape).mapv(|v| v.times(T::from_complex(Complex::new(0.03125, 0.0625))));
    for a in layouts(b, &x) {
        let (x, b) = (x.clone().into_shared(), b.clone());
        for axes in axis_sets(shape.len()) {
            let by = Axes::from(&axes[..]);
            let what = format!("{} {shape:?} {:?} over {axes:?}", T::DTYPE, a.raw.strides);
            compare!(b, a, x, what, tolerance;
                sum(by, true) mean(by, false) var(by, 0.5, false) std(by, 0.0, true));
        }
    }
}

#[test]
fn integers_over_all_axes_and_layouts() {
    let Some(b) = device() else { return };
    for shape in SHAPES {
        numbers::<i32>(&b, shape);
    }
    numbers::<bool>(&b, SHAPES[0]);
    numbers::<i8>(&b, SHAPES[0]);
    numbers::<u8>(&b, SHAPES[3]);
    numbers::<i64>(&b, SHAPES[1]);
    numbers::<u64>(&b, SHAPES[0]);
    numbers::<u16>(&b, SHAPES[2]);
}

#[test]
fn floats_over_all_axes_and_layouts() {
    let Some(b) = device() else { return };
    for shape in SHAPES {
        floats::<f64>(&b, shape, 1e-13);
    }
    numbers::<f32>(&b, SHAPES[2]);
    numbers::<f16>(&b, SHAPES[1]);
    floats::<f32>(&b, SHAPES[0], 1e-5);
    floats::<bf16>(&b, SHAPES[1], 1e-2);
    floats::<Complex<f64>>(&b, SHAPES[1], 1e-13);
    floats::<Complex<f32>>(&b, SHAPES[3], 1e-5);
}

/// Tests arrays that are so large that several blocks share the elements of one result.
#[test]
fn large_arrays() {
    let Some(b) = device() else { return };
    for shape in [&[100_001][..], &[3, 40_003], &[40_003, 3]] {
        let x = mixed::<i16>(shape).into_shared();
        let a = b.from_ndarray(x.clone()).unwrap();
        for axes in axis_sets(shape.len()) {
            let by = Axes::from(&axes[..]);
            let what = format!("{shape:?} over {axes:?}");
            compare!(b, a, x, what, 0.0; sum(by, false) min(by, false));
        }
        let what = format!("{shape:?}");
        compare!(b, a, x, what, 0.0; argmax(Some(0), false) argmin(Some(-1), false));
    }
    let half = ArrayD::from_elem(IxDyn(&[60_000]), f16::from_f32(0.1)).into_shared();
    let a = b.from_ndarray(half).unwrap();
    let total = host::<f16>(&b, &typed(sum(on(&b, "sum", &a), &a.raw, Axes::All, false)).unwrap())[[]];
    assert_eq!(total, f16::from_f64(f16::from_f32(0.1).to_f64() * 60_000.0), "summed in f16 it would stay at 256");
}

#[test]
fn nan_and_nothing() {
    let Some(b) = device() else { return };
    let mut x = ArrayD::from_elem(IxDyn(&[600]), 1.0_f32);
    (x[300], x[420], x[421]) = (f32::INFINITY, f32::NAN, f32::NAN);
    let x = x.into_shared();
    let a = b.from_ndarray(x.clone()).unwrap();
    let (by, what) = (Axes::All, "NaN among numbers");
    compare!(b, a, x, what, 0.0; max(by, false) min(by, false) any(by, false) all(by, false) sum(by, false));
    compare!(b, a, x, what, 0.0; argmax(Some(0), false) argmin(Some(0), false) var(by, 0.0, false));
    let x = ArrayD::<f64>::zeros(IxDyn(&[0, 3])).into_shared();
    let a = b.from_ndarray(x.clone()).unwrap();
    for axes in axis_sets(2) {
        let (by, what) = (Axes::from(&axes[..]), "nothing");
        compare!(b, a, x, what, 0.0; sum(by, false) mean(by, false) any(by, false));
        compare!(b, a, x, what, 0.0; all(by, false) var(by, 0.0, false) std(by, 1.0, false));
    }
    compare!(b, a, x, what, 0.0; max(Axes::from(1), false) argmin(Some(1), true));
    let (on, a) = (|op| on(&b, op, &a), &a.raw);
    assert!(matches!(max(on("max"), a, Axes::from(0), false), Err(Error::Shape { op: "max", .. })));
    assert!(matches!(argmin(on("argmin"), a, Some(0), false), Err(Error::Shape { op: "argmin", .. })));
    assert!(matches!(sum(on("sum"), a, Axes::from(2), false), Err(Error::Axis { op: "sum", axis: 2, ndim: 2, .. })));
    let wrong = argmax(on("argmax"), a, Some(1000), false);
    assert!(matches!(wrong, Err(Error::Axis { op: "argmax", axis: 1000, ndim: 2, .. })));
}
