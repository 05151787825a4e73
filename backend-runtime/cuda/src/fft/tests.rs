//! Tests that compare transforms with the CPU backend on every layout, if cuFFT is installed.

use super::*;
use crate::{
    CudaArray,
    compare::{assert_near, counting, layouts},
    library::Library,
    testing::device,
};
use backend_core::{Arrays, Complex, Element, f16, numpyish::Numpyish, raw::TypedArray};
use backend_numpyish::fft::typed as cpu;
use ndarray::{ArrayD, IxDyn};

const CPU: Numpyish = Numpyish::new();
const NORMS: [Norm; 3] = [Norm::Backward, Norm::Ortho, Norm::Forward];

/// The context of an op in the dtype of `x`.
fn on<'b, T: Element>(b: &'b Cuda, op: &'static str, _: &CudaArray<T>) -> OpContext<'b> {
    OpContext::new(b, op, T::DTYPE)
}

/// Converts the result of an op to a typed array.
fn typed<T: Element>(x: Result<RawArray>) -> Result<CudaArray<T>> {
    CudaArray::from_raw("typed", x?)
}

fn with_cufft() -> Option<Cuda> {
    let b = device()?;
    match Library::Cufft.load() {
        Ok(()) => Some(b),
        Err(why) => {
            println!("not run: {why}");
            None
        }
    }
}

fn waves<T: Element>(shape: &[usize]) -> ArrayD<T> {
    counting::<f64>(shape).mapv(|i| T::from_complex(Complex::new((i * 1.7).sin() + 0.3, (i * i * 0.3).cos())))
}

#[test]
fn one_axis_of_every_layout() {
    let Some(b) = with_cufft() else { return };
    for shape in [&[6][..], &[3, 7], &[2, 5, 4]] {
        let (z, x) = (waves::<Complex<f64>>(shape), waves::<f64>(shape));
        let (cz, cx) = (z.clone().into_shared(), x.clone().into_shared());
        for axis in 0..shape.len() as isize {
            for (n, norm) in [None, Some(1), Some(3), Some(9)].into_iter().zip(NORMS.into_iter().cycle()) {
                let what = format!("{shape:?} along {axis}, {n:?} points");
                macro_rules! compare {
                    ($a:ident, $c:ident: $($f:ident)*) => {$(
                        let got = $f(on(&b, stringify!($f), &$a), &$a.raw, n, axis, norm);
                        let expected = cpu::$f(&CPU, &$c, n, axis, norm);
                        match expected {
                            Ok(expected) => {
                                let what = format!("{} of {what} {:?}", stringify!($f), $a.raw.strides);
                                assert_near(&b, &typed(got).unwrap(), &expected, 1e-13, &what);
                            }
                            Err(error) => assert_eq!(got.err(), Some(error)),
                        }
                    )*};
                }
                for a in layouts(&b, &z) {
                    compare!(a, cz: fft ifft irfft hfft);
                }
                for a in layouts(&b, &x) {
                    compare!(a, cx: fft ifft rfft ihfft);
                }
            }
        }
    }
}

#[test]
fn several_axes_of_every_layout() {
    let Some(b) = with_cufft() else { return };
    for shape in [&[3, 4][..], &[2, 3, 4], &[2, 3, 2, 4, 3]] {
        let (z, x) = (waves::<Complex<f64>>(shape), waves::<f64>(shape));
        let (cz, cx) = (z.clone().into_shared(), x.clone().into_shared());
        let choices: [(Axes, Option<Lengths>); 6] = [
            (Axes::All, None),
            (Axes::from([0, 1]), None),
            (Axes::from([-1, 0]), None),
            (Axes::from([1, 0]), Some([5, 2].into())),
            (Axes::All, Some([3, 6].into())),
            (Axes::from([0]), None),
        ];
        for ((axes, s), norm) in choices.into_iter().zip(NORMS.into_iter().cycle()) {
            macro_rules! compare {
                ($a:ident, $c:ident: $($f:ident)*) => {$(
                    let expected = cpu::$f(&CPU, &$c, s, axes, norm).unwrap();
                    let what = format!("{} of {shape:?} {:?} over {axes:?}, {s:?}", stringify!($f), $a.raw.strides);
                    let got = $f(on(&b, stringify!($f), &$a), &$a.raw, s, axes, norm);
                    assert_near(&b, &typed(got).unwrap(), &expected, 1e-13, &what);
                )*};
            }
            for a in layouts(&b, &z) {
                compare!(a, cz: fftn ifftn irfftn);
            }
            for a in layouts(&b, &x) {
                compare!(a, cx: fftn ifftn rfftn);
            }
        }
    }
}

#[test]
fn other_dtypes_and_inputs_that_stay() {
    let Some(b) = with_cufft() else { return };
    let half = waves::<f16>(&[4, 9]).into_shared();
    let a = b.from_ndarray(half.clone()).unwrap();
    let expected = cpu::rfft(&CPU, &half, None, -1, Norm::Backward).unwrap();
    let got = rfft(on(&b, "rfft", &a), &a.raw, None, -1, Norm::Backward);
    assert_near(&b, &typed(got).unwrap(), &expected, 1e-5, "float16");
    let single = waves::<Complex<f32>>(&[3, 5]).into_shared();
    let a = b.from_ndarray(single.clone()).unwrap();
    let expected = cpu::irfftn(&CPU, &single, None, Axes::All, Norm::Ortho).unwrap();
    let got = irfftn(on(&b, "irfftn", &a), &a.raw, None, Axes::All, Norm::Ortho);
    assert_near(&b, &typed(got).unwrap(), &expected, 1e-5, "complex64");
    assert_near(&b, &a, &single, 0.0, "the input");
    let none = fftn(on(&b, "fftn", &a), &a.raw, None, Axes::list([]), Norm::Forward);
    assert_near(&b, &typed(none).unwrap(), &single, 0.0, "no axis");
}

/// This test needs no cuFFT, because nothing is transformed.
#[test]
fn what_is_refused_and_what_is_empty() {
    let Some(b) = device() else { return };
    let x = |shape: &[usize]| b.from_ndarray(ArrayD::<f64>::zeros(IxDyn(shape)).into_shared()).unwrap().raw;
    let z = |shape: &[usize]| b.from_ndarray(ArrayD::<Complex<f64>>::zeros(IxDyn(shape)).into_shared()).unwrap().raw;
    let on = |op| OpContext::new(&b, op, DType::Float64);
    let norm = Norm::Backward;
    assert!(matches!(fft(on("fft"), &x(&[3]), Some(0), 0, norm), Err(Error::Shape { op: "fft", .. })));
    let complex = OpContext::new(&b, "irfft", DType::Complex128);
    assert!(matches!(irfft(complex, &z(&[1]), None, 0, norm), Err(Error::Shape { op: "irfft", .. })));
    assert!(matches!(fft(on("fft"), &x(&[]), None, -1, norm), Err(Error::Axis { op: "fft", .. })));
    assert!(matches!(rfftn(on("rfftn"), &x(&[2]), None, Axes::list([]), norm), Err(Error::Shape { op: "rfftn", .. })));
    assert!(fftn(on("fftn"), &x(&[2, 2]), Some([1].into()), Axes::from([0, 1]), norm).is_err());
    assert!(matches!(fft(on("fft"), &x(&[1]), Some(usize::MAX), 0, norm), Err(Error::Memory { .. })));
    assert_eq!(fft(on("fft"), &x(&[0, 3]), None, 1, norm).unwrap().shape, [0, 3]);
    assert_eq!(rfftn(on("rfftn"), &x(&[0, 3]), Some([5].into()), Axes::from(1), norm).unwrap().shape, [0, 3]);
}

#[test]
fn frequencies_are_those_of_the_cpu() {
    let Some(b) = device() else { return };
    for (n, d) in [(1, 2.0), (6, 1.0), (7, 0.5)] {
        let expected = cpu::fftfreq::<f64>(&CPU, n, d).unwrap();
        let got = fftfreq(OpContext::new(&b, "fftfreq", DType::Float64), n, d);
        assert_near(&b, &typed(got).unwrap(), &expected, 0.0, "fftfreq");
        let expected = cpu::rfftfreq::<f16>(&CPU, n, d).unwrap();
        let got = rfftfreq(OpContext::new(&b, "rfftfreq", DType::Float16), n, d);
        assert_near(&b, &typed(got).unwrap(), &expected, 0.0, "rfftfreq");
    }
    let on = |op| OpContext::new(&b, op, DType::Float32);
    assert!(matches!(fftfreq(on("fftfreq"), 0, 1.0), Err(Error::Argument { op: "fftfreq", .. })));
    assert!(matches!(rfftfreq(on("rfftfreq"), 3, 0.0), Err(Error::Argument { op: "rfftfreq", .. })));
}
