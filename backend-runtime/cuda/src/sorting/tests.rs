//! Tests that compare sorting and searching with the CPU backend, on a GPU or the software driver.

use super::*;
use crate::{
    CudaArray,
    compare::{assert_near, counting, host, layouts, mixed},
    testing::{device, on, typed},
};
use backend_core::{Arrays, Element, Error, Ordered, bf16, f16, numpyish::Numpyish};
use backend_numpyish::sorting::typed as cpu;
use ndarray::{ArrayD, IxDyn, arr1};

const CPU: Numpyish = Numpyish::new();

/// Calls [`super::sort`] with a typed array.
fn sort<T: Ordered>(b: &Cuda, x: &CudaArray<T>, axis: isize, descending: bool) -> Result<RawArray> {
    super::sort(on::<T>(b, "sort"), &x.raw, axis, descending)
}

/// Calls [`super::argsort`] with a typed array.
fn argsort<T: Ordered>(b: &Cuda, x: &CudaArray<T>, axis: isize, descending: bool) -> Result<RawArray> {
    super::argsort(on::<T>(b, "argsort"), &x.raw, axis, descending)
}

/// Calls [`super::searchsorted`] with typed arrays.
fn searchsorted<T: Ordered>(b: &Cuda, x1: &CudaArray<T>, x2: &CudaArray<T>, side: Side) -> Result<RawArray> {
    super::searchsorted(on::<T>(b, "searchsorted"), &x1.raw, RawOperand::Array(&x2.raw), side, None)
}

fn check<T: Ordered>(b: &Cuda, shape: &[usize]) {
    let x = mixed::<T>(shape);
    let here = x.clone().into_shared();
    for a in layouts(b, &x) {
        for axis in 0..shape.len() as isize {
            for down in [false, true] {
                let what = format!("{} {shape:?} {:?} along {axis}, {down}", T::DTYPE, a.raw.strides);
                let sorted = sort(b, &a, axis, down);
                assert_near(b, &typed(sorted), &cpu::sort(&CPU, &here, axis, down).unwrap(), 0.0, &what);
                let order = argsort(b, &a, axis, down);
                assert_near(b, &typed(order), &cpu::argsort(&CPU, &here, axis, down).unwrap(), 0.0, &what);
            }
        }
    }
}

#[test]
fn short_rows_of_every_dtype() {
    let Some(b) = device() else { return };
    check::<bool>(&b, &[3, 40]);
    check::<i8>(&b, &[5, 40]);
    check::<u8>(&b, &[600]);
    check::<i16>(&b, &[2, 3, 40]);
    check::<u16>(&b, &[600, 2]);
    check::<i32>(&b, &[5, 1, 0]);
    check::<u32>(&b, &[5, 7]);
    check::<i64>(&b, &[5, 7]);
    check::<u64>(&b, &[2, 2000]);
    check::<f16>(&b, &[5, 7]);
    check::<bf16>(&b, &[5, 7]);
    check::<f32>(&b, &[3, 7, 5]);
    check::<f64>(&b, &[1]);
}

#[test]
fn long_rows() {
    let Some(b) = device() else { return };
    check::<i8>(&b, &[2, 5000]);
    check::<f32>(&b, &[9001]);
    check::<i64>(&b, &[2100]);
    let x = counting::<i64>(&[6000]).mapv(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64)).into_shared();
    let a = b.from_ndarray(x.clone()).unwrap();
    assert_near(&b, &typed(argsort(&b, &a, 0, false)), &cpu::argsort(&CPU, &x, 0, false).unwrap(), 0.0, "all digits");
    let x = x.mapv(|i| f32::from_bits(i as u32)).into_shared();
    let a = b.from_ndarray(x.clone()).unwrap();
    assert_near(&b, &typed(argsort(&b, &a, 0, true)), &cpu::argsort(&CPU, &x, 0, true).unwrap(), 0.0, "all floats");
}

fn special() -> [f64; 8] {
    [0.0, f64::NAN, -0.0, f64::NEG_INFINITY, 1.0, -0.0, 0.0, f64::INFINITY]
}

#[test]
fn nan_last_and_zeros_in_their_order() {
    let Some(b) = device() else { return };
    let x = b.from_ndarray(arr1(&special()).into_dyn().into_shared()).unwrap();
    let text = |x: &CudaArray<f64>| host(&b, x).iter().map(|v| format!("{v:?}")).collect::<Vec<_>>();
    let up = typed(sort(&b, &x, 0, false));
    assert_eq!(text(&up), ["-inf", "0.0", "-0.0", "-0.0", "0.0", "1.0", "inf", "NaN"]);
    let down = typed(sort(&b, &x, 0, true));
    assert_eq!(text(&down), ["inf", "1.0", "0.0", "-0.0", "-0.0", "0.0", "-inf", "NaN"]);
    let order = |x: Result<RawArray>| host(&b, &typed::<i64>(x)).iter().copied().collect::<Vec<_>>();
    assert_eq!(order(argsort(&b, &x, -1, true)), [7, 4, 0, 2, 5, 6, 3, 1]);
    let half = arr1(&special()).mapv(f16::from_f64).into_dyn().into_shared();
    let a = b.from_ndarray(half).unwrap();
    assert_eq!(order(argsort(&b, &a, -1, true)), [7, 4, 0, 2, 5, 6, 3, 1]);
}

#[test]
fn wrong_axes() {
    let Some(b) = device() else { return };
    let scalar = b.from_ndarray(ArrayD::<f64>::zeros(IxDyn(&[])).into_shared()).unwrap();
    assert!(matches!(sort(&b, &scalar, -1, false), Err(Error::Axis { op: "sort", .. })));
    assert_eq!(argsort(&b, &scalar, 0, false).unwrap().shape, [1]);
    assert!(matches!(argsort(&b, &scalar, 1, false), Err(Error::Axis { op: "argsort", .. })));
    assert!(matches!(searchsorted(&b, &scalar, &scalar, Side::Left), Err(Error::Shape { op: "searchsorted", .. })));
}

#[test]
fn searching() {
    let Some(b) = device() else { return };
    let sorted = arr1(&[-1.0_f32, 0.0, 0.0, 2.0, f32::NAN, f32::NAN]).into_dyn();
    let x = ArrayD::from_shape_vec(IxDyn(&[2, 3]), vec![-0.0, f32::NAN, 3.0, -5.0, 2.0, f32::INFINITY]).unwrap();
    for s in layouts(&b, &sorted) {
        for a in layouts(&b, &x) {
            for side in [Side::Left, Side::Right] {
                let expected = cpu::searchsorted(
                    &CPU,
                    &sorted.clone().into_shared(),
                    backend_core::numpyish::Operand::array(&x.clone().into_shared()),
                    side,
                    None,
                )
                .unwrap();
                assert_near(&b, &typed(searchsorted(&b, &s, &a, side)), &expected, 0.0, &format!("{side}"));
            }
        }
    }
    let whole = mixed::<i16>(&[30]);
    let none = ArrayD::<i16>::zeros(IxDyn(&[0]));
    let (a, e) = (b.from_ndarray(whole.clone().into()).unwrap(), b.from_ndarray(none.into()).unwrap());
    assert_eq!(host(&b, &typed::<i64>(searchsorted(&b, &e, &a, Side::Right))), ArrayD::<i64>::zeros(IxDyn(&[30])));
    assert_eq!(searchsorted(&b, &a, &e, Side::Right).unwrap().shape, [0]);
}

fn distinct<T: Element + Ordered>(b: &Cuda, x: &ArrayD<T>) {
    let here = x.clone().into_shared();
    let (values, firsts, inverse, counts) = cpu::unique_all(&CPU, &here).unwrap();
    for a in layouts(b, x) {
        let what = format!("{} {:?} {:?}", T::DTYPE, x.shape(), a.raw.strides);
        let got = unique_all(on::<T>(b, "unique_all"), &a.raw).unwrap().map(Ok);
        let [got_values, got_firsts, got_inverse, got_counts] = got;
        assert_near(b, &typed(got_values), &values, 0.0, &what);
        assert_near(b, &typed(got_firsts), &firsts, 0.0, &what);
        assert_near(b, &typed(got_inverse), &inverse, 0.0, &what);
        assert_near(b, &typed(got_counts), &counts, 0.0, &what);
        assert_near(b, &typed(unique_values(on::<T>(b, "unique_values"), &a.raw)), &values, 0.0, &what);
        let second = |[_, second]: [RawArray; 2]| second;
        let got = unique_counts(on::<T>(b, "unique_counts"), &a.raw).map(second);
        assert_near(b, &typed(got), &counts, 0.0, &what);
        let got = unique_inverse(on::<T>(b, "unique_inverse"), &a.raw).map(second);
        assert_near(b, &typed(got), &inverse, 0.0, &what);
    }
}

#[test]
fn distinct_elements() {
    let Some(b) = device() else { return };
    for shape in [&[3, 4, 5][..], &[700], &[2, 2500], &[0, 3], &[]] {
        distinct(&b, &mixed::<i16>(shape));
    }
    distinct(&b, &mixed::<bool>(&[5]));
    distinct(&b, &arr1(&special()).into_dyn());
    distinct(&b, &arr1(&special()).mapv(bf16::from_f64).into_dyn());
}
