//! Fourier transforms along the axes of arrays. A lane is a 1-D slice along the transformed axis. The crate `rustfft`
//! transforms one lane at a time, along any axis. The module `stockham` transforms several neighbouring complex lanes
//! at once. The modules `long` and `halves` divide one long lane among all threads.

mod angles;
mod columns;
mod contiguous;
mod engine;
mod halves;
mod lane;
mod long;
pub mod nufft;
mod passes;
mod real;
mod stockham;
mod symmetry;
mod trigonometric;
mod vector;

use super::{
    OpContext,
    buffer::Buffer,
    convert::reals_from_f64,
    manipulation::shifted,
    raw::{RawArray, View},
    typed::Change,
};
use backend_core::{
    Axes, DType, Lengths, Norm, Result,
    rules::{self, Direction, Half},
};
use lane::Planned;
pub use lane::plan_bytes;
pub use nufft::{nufft_interpolate, nufft_sort, nufft_spread};
pub use trigonometric::{dct, dst, idct, idst};

use passes::Pass;

/// Defines the public functions that transform one axis.
macro_rules! along_one_axis {
    ($($(#[$doc:meta])* $op:ident = half: $half:ident, $direction:ident;)*) => {$(
        $(#[$doc])*
        pub fn $op(on: OpContext<'_>, x: View<'_>, n: Option<usize>, axis: isize, norm: Norm) -> Result<RawArray> {
            let transform = Transform { op: on.op, half: Half::$half, direction: Direction::$direction, norm };
            transform.along(x, n, axis)
        }
    )*};
}
along_one_axis! {
    /// Discrete Fourier transform along one axis.
    fft = half: Neither, Forward;
    /// Inverse of [`fft`].
    ifft = half: Neither, Inverse;
    /// Discrete Fourier transform of real `x` along one axis. The result has only the non-negative frequencies.
    rfft = half: Result, Forward;
    /// Inverse of [`rfft`].
    irfft = half: Input, Inverse;
    /// Discrete Fourier transform of a signal with Hermitian symmetry along one axis. `x` has the first half of the
    /// signal, and the result is real.
    hfft = half: Input, Forward;
    /// Inverse of [`hfft`].
    ihfft = half: Result, Inverse;
}

/// Defines the public functions that transform several axes.
macro_rules! over_several_axes {
    ($($(#[$doc:meta])* $op:ident = half: $half:ident, $direction:ident;)*) => {$(
        $(#[$doc])*
        pub fn $op(on: OpContext<'_>, x: View<'_>, s: Option<Lengths>, axes: Axes, norm: Norm) -> Result<RawArray> {
            let transform = Transform { op: on.op, half: Half::$half, direction: Direction::$direction, norm };
            transform.over(x, s, axes)
        }
    )*};
}
over_several_axes! {
    /// Discrete Fourier transform over several axes.
    fftn = half: Neither, Forward;
    /// Inverse of [`fftn`].
    ifftn = half: Neither, Inverse;
    /// [`fftn`] of real `x`, with only the non-negative frequencies along the last of the axes.
    rfftn = half: Result, Forward;
    /// Inverse of [`rfftn`].
    irfftn = half: Input, Inverse;
}

/// A transform over any number of axes.
struct Transform {
    op: &'static str,
    half: Half,
    direction: Direction,
    norm: Norm,
}

impl Transform {
    fn along(&self, x: View<'_>, n: Option<usize>, axis: isize) -> Result<RawArray> {
        self.run(x, &rules::transform(self.op, x.shape, n, axis, self.half)?.axes)
    }

    fn over(&self, x: View<'_>, s: Option<Lengths>, axes: Axes) -> Result<RawArray> {
        self.run(x, &rules::transforms(self.op, x.shape, s, axes, self.half)?.axes)
    }

    /// Runs the transform in the precision of the dtype of `x`. `axes` has pairs of an axis and the number of points
    /// along this axis. The function is not generic, so that no transform is compiled again in a user's crate.
    fn run(&self, x: View<'_>, axes: &[(usize, usize)]) -> Result<RawArray> {
        match x.dtype {
            DType::Float64 | DType::Complex128 => self.run_in::<f64>(x, axes),
            _ => self.run_in::<f32>(x, axes),
        }
    }

    /// Runs one pass for each pair of an axis and its number of points, from the last pair to the first. If `x` has
    /// only the non-negative frequencies, the passes run from the first pair to the last instead, and the last pass
    /// makes the result real.
    fn run_in<R: Planned>(&self, x: View<'_>, axes: &[(usize, usize)]) -> Result<RawArray> {
        let &Transform { op, direction, norm, .. } = self;
        let pass = |&(axis, n): &(usize, usize)| Pass { op, axis, n, direction, norm };
        let Some((last, others)) = axes.split_last() else {
            return passes::as_complex::<R>(op, x);
        };
        match (self.half, others.split_first()) {
            (Half::Neither, _) => {
                others.iter().rev().try_fold(pass(last).complex::<R>(x)?, |x, p| pass(p).again::<R>(x))
            }
            (Half::Result, _) => {
                others.iter().rev().try_fold(pass(last).real_to_half::<R>(x)?, |x, p| pass(p).again::<R>(x))
            }
            (Half::Input, None) => pass(last).half_to_real::<R>(x),
            (Half::Input, Some((first, rest))) => {
                let x = rest.iter().try_fold(pass(first).complex::<R>(x)?, |x, p| pass(p).again::<R>(x))?;
                pass(last).half_to_real::<R>(x.view(&x.strides()))
            }
        }
    }
}

/// Shifts the elements cyclically along the axes, so that the zero frequency moves to the middle of each axis.
pub fn fftshift(on: OpContext<'_>, x: View<'_>, axes: Axes) -> Result<Change> {
    centred(on.op, x, axes, |n| n / 2)
}

/// Inverse of [`fftshift`].
pub fn ifftshift(on: OpContext<'_>, x: View<'_>, axes: Axes) -> Result<Change> {
    centred(on.op, x, axes, |n| n.div_ceil(2))
}

fn centred(op: &'static str, x: View<'_>, axes: Axes, half: fn(usize) -> usize) -> Result<Change> {
    shifted(op, x, &rules::halves(op, axes, x.shape, half)?, x.shape)
}

/// Sample frequencies of [`fft`], in cycles per unit of the spacing `d`.
pub fn fftfreq(on: OpContext<'_>, n: usize, d: f64) -> Result<RawArray> {
    let cycle = |i: usize, n: usize| if i < n.div_ceil(2) { i as f64 } else { -((n - i) as f64) };
    frequencies(on.op, on.dtype, n, n, d, cycle)
}

/// Sample frequencies of [`rfft`], in cycles per unit of the spacing `d`.
pub fn rfftfreq(on: OpContext<'_>, n: usize, d: f64) -> Result<RawArray> {
    frequencies(on.op, on.dtype, n, n / 2 + 1, d, |i, _| i as f64)
}

/// Returns the frequencies `cycle(i, n) / (n d)` for `i < count`. `cycle` gives the number of cycles within `n`
/// samples.
fn frequencies(
    op: &'static str,
    dtype: DType,
    n: usize,
    count: usize,
    d: f64,
    cycle: fn(usize, usize) -> f64,
) -> Result<RawArray> {
    let step = rules::frequency_step(op, n, d)?;
    let out = Buffer::new(op, rules::count(op, &[count], dtype.size())?, dtype)?;
    // SAFETY: there is room for `count` elements, all of which are written.
    unsafe {
        reals_from_f64(dtype, (0..count).map(|i| cycle(i, n) * step), out.start());
        RawArray::new(op, vec![count], out)
    }
}

/// The ops over arrays with a static dtype, for tests.
#[cfg(any(test, feature = "testing"))]
#[allow(missing_docs)] // each function is the op of its name
pub mod typed {
    use crate::fft;
    use backend_core::{
        Axes, Lengths, Norm, Real, Result,
        numpyish::{NdArray, Numpyish, OpContext, typed::typed},
    };

    backend_core::typed_ops! { fft:
        fft<T: Float>(x; n: Option<usize>, axis: isize, norm: Norm) -> T::Complex;
        ifft<T: Float>(x; n: Option<usize>, axis: isize, norm: Norm) -> T::Complex;
        rfft<T: Real>(x; n: Option<usize>, axis: isize, norm: Norm) -> T::Complex;
        irfft<T: ComplexFloat>(x; n: Option<usize>, axis: isize, norm: Norm) -> T::Real;
        hfft<T: ComplexFloat>(x; n: Option<usize>, axis: isize, norm: Norm) -> T::Real;
        ihfft<T: Real>(x; n: Option<usize>, axis: isize, norm: Norm) -> T::Complex;
        fftn<T: Float>(x; s: Option<Lengths>, axes: Axes, norm: Norm) -> T::Complex;
        ifftn<T: Float>(x; s: Option<Lengths>, axes: Axes, norm: Norm) -> T::Complex;
        rfftn<T: Real>(x; s: Option<Lengths>, axes: Axes, norm: Norm) -> T::Complex;
        irfftn<T: ComplexFloat>(x; s: Option<Lengths>, axes: Axes, norm: Norm) -> T::Real;
        dct<T: Real>(x; kind: usize, n: Option<usize>, axis: isize, norm: Norm) -> T;
        idct<T: Real>(x; kind: usize, n: Option<usize>, axis: isize, norm: Norm) -> T;
        dst<T: Real>(x; kind: usize, n: Option<usize>, axis: isize, norm: Norm) -> T;
        idst<T: Real>(x; kind: usize, n: Option<usize>, axis: isize, norm: Norm) -> T;
        fftshift<T: Element>(x; axes: Axes) -> T;
        ifftshift<T: Element>(x; axes: Axes) -> T;
    }

    pub fn fftfreq<T: Real>(b: &Numpyish, n: usize, d: f64) -> Result<NdArray<T>> {
        typed(fft::fftfreq(OpContext::new(b, "fftfreq", T::DTYPE), n, d))
    }

    pub fn rfftfreq<T: Real>(b: &Numpyish, n: usize, d: f64) -> Result<NdArray<T>> {
        typed(fft::rfftfreq(OpContext::new(b, "rfftfreq", T::DTYPE), n, d))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        typed::{fft, fftfreq, fftn, hfft, ifft, ifftn, ihfft, irfft, irfftn, rfft, rfftfreq, rfftn},
        *,
    };
    use backend_core::{
        Complex, Element, Error, bf16, f16,
        numpyish::{
            NdArray, Numpyish,
            testing::{counting, layouts},
        },
    };
    use ndarray::{ArrayD, Axis, IxDyn, arr1};

    const B: Numpyish = Numpyish::new();
    const NORMS: [Norm; 3] = [Norm::Backward, Norm::Ortho, Norm::Forward];
    type C = Complex<f64>;

    fn waves(shape: &[usize]) -> ArrayD<C> {
        counting::<f64>(shape).mapv(|i| C::new((i * 1.7).sin() + 0.3, (i * i * 0.3).cos()))
    }

    /// Computes a reference result by the definition: a sum of n terms for each of n points.
    fn naive(x: &[C], n: usize, sign: f64) -> Vec<C> {
        let turn = |j: usize| C::from_polar(1.0, sign * std::f64::consts::TAU * j as f64 / n as f64);
        let turns: Vec<C> = (0..n).map(turn).collect();
        (0..n).map(|k| x.iter().take(n).enumerate().map(|(j, v)| v * turns[j * k % n]).sum()).collect()
    }

    /// Transforms each lane along one axis by `naive`, and multiplies the results by the scale of `norm`.
    fn expected(x: &ArrayD<C>, axis: usize, n: usize, direction: Direction, norm: Norm) -> ArrayD<C> {
        let mut shape = x.shape().to_vec();
        shape[axis] = n;
        let mut out = ArrayD::zeros(IxDyn(&shape));
        let sign = if direction == Direction::Forward { -1.0 } else { 1.0 };
        for (from, mut to) in x.lanes(Axis(axis)).into_iter().zip(out.lanes_mut(Axis(axis))) {
            let scaled = naive(&from.to_vec(), n, sign).into_iter().map(|v| v * direction.scale(norm, n));
            to.iter_mut().zip(scaled).for_each(|(t, v)| *t = v);
        }
        out
    }

    fn near<T: Element>(got: &NdArray<T>, expected: &ArrayD<C>, tolerance: f64) {
        assert_eq!(got.shape(), expected.shape());
        let most = expected.iter().map(|e| e.norm()).fold(1.0, f64::max);
        for (g, e) in got.iter().zip(expected) {
            assert!((g.cast::<C>() - e).norm() <= tolerance * most, "{g} {e}");
        }
    }

    fn real_part(x: &ArrayD<C>) -> ArrayD<f64> {
        x.mapv(|v| v.re)
    }

    #[test]
    fn complex_transforms_of_any_layout_and_length() {
        for shape in [&[5][..], &[3, 8], &[2, 9, 7], &[12, 2, 3]] {
            let z = waves(shape);
            let x = real_part(&z);
            for (axis, &len) in shape.iter().enumerate() {
                for n in [None, Some(1), Some(2), Some(len + 3), Some(len - 1)] {
                    let points = n.unwrap_or(len);
                    for norm in NORMS {
                        let axis_given = axis as isize - shape.len() as isize;
                        let forward = expected(&z, axis, points, Direction::Forward, norm);
                        let inverse = expected(&z, axis, points, Direction::Inverse, norm);
                        for a in layouts(&z) {
                            near(&fft(&B, &a, n, axis_given, norm).unwrap(), &forward, 1e-13);
                            near(&ifft(&B, &a, n, axis_given, norm).unwrap(), &inverse, 1e-13);
                        }
                        let real = x.mapv(|v| C::new(v, 0.0));
                        let forward = expected(&real, axis, points, Direction::Forward, norm);
                        let inverse = expected(&real, axis, points, Direction::Inverse, norm);
                        let half = |full: &ArrayD<C>| full.slice_axis(Axis(axis), (..points / 2 + 1).into()).to_owned();
                        for a in layouts(&x) {
                            near(&fft(&B, &a, n, axis_given, norm).unwrap(), &forward, 1e-13);
                            near(&ifft(&B, &a, n, axis_given, norm).unwrap(), &inverse, 1e-13);
                            near(&rfft(&B, &a, n, axis_given, norm).unwrap(), &half(&forward), 1e-13);
                            near(&ihfft(&B, &a, n, axis_given, norm).unwrap(), &half(&inverse), 1e-13);
                        }
                    }
                }
            }
        }
    }

    /// Completes a half spectrum (the non-negative frequencies) to the full spectrum of `n` points. Imaginary parts
    /// that must be zero are set to zero.
    fn full(half: &ArrayD<C>, axis: usize, n: usize) -> ArrayD<C> {
        let mut shape = half.shape().to_vec();
        shape[axis] = n;
        let mut out = ArrayD::zeros(IxDyn(&shape));
        for (from, mut to) in half.lanes(Axis(axis)).into_iter().zip(out.lanes_mut(Axis(axis))) {
            for k in 0..=n / 2 {
                let v = from.get(k).copied().unwrap_or_default();
                let v = if k == 0 || 2 * k == n { C::new(v.re, 0.0) } else { v };
                to[k] = v;
                if k > 0 {
                    to[n - k] = v.conj();
                }
            }
        }
        out
    }

    #[test]
    fn half_spectra_to_real() {
        for shape in [&[5][..], &[3, 8], &[2, 9, 7]] {
            let z = waves(shape);
            for (axis, &len) in shape.iter().enumerate() {
                for n in [None, Some(1), Some(2), Some(7), Some(2 * len), Some(2 * len - 1), Some(3 * len)] {
                    let points = n.unwrap_or(2 * len - 2);
                    for norm in NORMS {
                        let spectrum = full(&z, axis, points);
                        for a in layouts(&z) {
                            let inverse = expected(&spectrum, axis, points, Direction::Inverse, norm);
                            near(&irfft(&B, &a, n, axis as isize, norm).unwrap(), &inverse, 1e-13);
                            let forward = expected(&spectrum, axis, points, Direction::Forward, norm);
                            near(&hfft(&B, &a, n, axis as isize, norm).unwrap(), &forward, 1e-13);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn several_axes() {
        let z = waves(&[3, 4, 5]);
        let x = real_part(&z).into_shared();
        let all = |z: &ArrayD<C>, passes: &[(usize, usize)], direction, norm| {
            passes.iter().fold(z.clone(), |z, &(axis, n)| expected(&z, axis, n, direction, norm))
        };
        for norm in NORMS {
            let plain = z.clone().into_shared();
            let every = [(0, 3), (1, 4), (2, 5)];
            near(&fftn(&B, &plain, None, Axes::All, norm).unwrap(), &all(&z, &every, Direction::Forward, norm), 1e-13);
            near(&ifftn(&B, &plain, None, Axes::All, norm).unwrap(), &all(&z, &every, Direction::Inverse, norm), 1e-13);
            let other = [(2, 6), (0, 2)];
            let s = Some(Lengths::from([6, 2]));
            let axes = Axes::from([2, 0]);
            near(&fftn(&B, &plain, s, axes, norm).unwrap(), &all(&z, &other, Direction::Forward, norm), 1e-13);
            // if no axes are given, the lengths apply to the last axes
            let last = [(1, 6), (2, 2)];
            near(&fftn(&B, &plain, s, Axes::All, norm).unwrap(), &all(&z, &last, Direction::Forward, norm), 1e-13);

            let real = x.mapv(|v| C::new(v, 0.0));
            let half = all(&real, &other, Direction::Forward, norm).slice_axis(Axis(0), (..2).into()).to_owned();
            let got = rfftn(&B, &x, s, axes, norm).unwrap();
            near(&got, &half, 1e-13);
            let back = irfftn(&B, &got, s, axes, norm).unwrap();
            let trimmed = rfftn(&B, &x, s, axes, norm).and_then(|h| irfftn(&B, &h, None, axes, norm)).unwrap();
            assert_eq!(back.shape(), [2, 4, 6]);
            assert_eq!(trimmed.shape(), [2, 4, 6]);
            let mut padded = ArrayD::zeros(IxDyn(&[2, 4, 6]));
            padded.slice_axis_mut(Axis(2), (..5).into()).assign(&real.slice_axis(Axis(0), (..2).into()));
            near(&back, &padded, 1e-13);
        }
        near(&fftn(&B, &x, None, Axes::list([]), Norm::Backward).unwrap(), &x.mapv(|v| C::new(v, 0.0)), 0.0);
    }

    #[test]
    fn axes_of_one_point_change_nothing() {
        for shape in [&[1, 3][..], &[3, 1], &[2, 1, 5], &[1, 6, 7], &[1, 1], &[20, 1, 2]] {
            let z = waves(shape);
            let every = shape.iter().enumerate();
            let all = every.fold(z.clone(), |z, (k, &n)| expected(&z, k, n, Direction::Forward, Norm::Ortho));
            for a in layouts(&z) {
                near(&fftn(&B, &a, None, Axes::All, Norm::Ortho).unwrap(), &all, 1e-13);
                let back = fftn(&B, &a, None, Axes::All, Norm::Ortho)
                    .and_then(|f| ifftn(&B, &f, None, Axes::All, Norm::Ortho));
                near(&back.unwrap(), &z, 1e-13);
            }
        }
    }

    #[test]
    fn other_dtypes_and_long_lanes() {
        let x = counting::<f32>(&[600]).mapv(|i| (i * 0.01).sin());
        let wide = x.mapv(|v| C::new(v.into(), 0.0));
        let spectrum = expected(&wide, 0, 600, Direction::Forward, Norm::Backward);
        near(&fft(&B, &x.clone().into_shared(), None, 0, Norm::Backward).unwrap(), &spectrum, 1e-6);
        let half = x.mapv(f16::from_f32);
        let wide = half.mapv(|v| C::new(v.to_f64(), 0.0));
        let spectrum = expected(&wide, 0, 600, Direction::Forward, Norm::Backward);
        let got: NdArray<Complex<f32>> = fft(&B, &half.into_shared(), None, 0, Norm::Backward).unwrap();
        near(&got, &spectrum, 1e-6);
        let brain = ArrayD::from_elem(IxDyn(&[2, 64]), bf16::ONE).into_shared();
        assert_eq!(rfft(&B, &brain, None, -1, Norm::Backward).unwrap()[[1, 0]], Complex::new(64.0, 0.0));
        // an array with enough lanes for several threads
        let z = waves(&[70, 33, 9]).into_shared();
        let there = fftn(&B, &z, None, Axes::All, Norm::Ortho).unwrap();
        near(&ifftn(&B, &there, None, Axes::All, Norm::Ortho).unwrap(), &z.to_owned(), 1e-13);
    }

    /// As in NumPy, the transforms run one after another, from the last axis in the list to the first.
    #[test]
    fn an_axis_named_twice_is_transformed_twice() {
        let z = waves(&[4, 3]).into_shared();
        let once = fft(&B, &z, None, 0, Norm::Backward).unwrap();
        let twice = fft(&B, &once, Some(5), 0, Norm::Backward).unwrap();
        let both = fft(&B, &twice, None, 1, Norm::Backward).unwrap();
        let got = fftn(&B, &z, Some([3, 5, 4].into()), Axes::from([1, 0, -2]), Norm::Backward).unwrap();
        near(&got, &both.to_owned(), 1e-14);
        let x = z.mapv(|z| z.re).into_shared();
        let half = rfft(&B, &x, None, 0, Norm::Ortho).unwrap();
        let expected = fft(&B, &half, Some(4), 0, Norm::Ortho).unwrap();
        near(&rfftn(&B, &x, None, Axes::from([0, 0]), Norm::Ortho).unwrap(), &expected.to_owned(), 1e-14);
        let first = ifft(&B, &z, None, 0, Norm::Backward).unwrap();
        let expected = irfft(&B, &first, Some(6), 0, Norm::Backward).unwrap();
        let got = irfftn(&B, &z, None, Axes::from([0, 0]), Norm::Backward).unwrap();
        assert_eq!((got.clone() - expected).iter().filter(|d| d.abs() > 1e-14).count(), 0, "{got}");
    }

    #[test]
    fn what_is_refused() {
        let x = |shape: &[usize]| ArrayD::<f64>::zeros(IxDyn(shape)).into_shared();
        let z = |shape: &[usize]| ArrayD::<C>::zeros(IxDyn(shape)).into_shared();
        let norm = Norm::Backward;
        assert!(matches!(fft(&B, &x(&[3]), Some(0), 0, norm), Err(Error::Shape { op: "fft", .. })));
        assert!(matches!(fft(&B, &x(&[0, 3]), None, 0, norm), Err(Error::Shape { op: "fft", .. })));
        assert!(matches!(fft(&B, &x(&[]), None, -1, norm), Err(Error::Axis { op: "fft", .. })));
        assert!(matches!(irfft(&B, &z(&[1]), None, 0, norm), Err(Error::Shape { op: "irfft", .. })));
        assert!(matches!(hfft(&B, &z(&[1]), None, 0, norm), Err(Error::Shape { op: "hfft", .. })));
        assert!(matches!(rfftn(&B, &x(&[2]), None, Axes::list([]), norm), Err(Error::Shape { op: "rfftn", .. })));
        assert!(matches!(irfftn(&B, &z(&[]), None, Axes::All, norm), Err(Error::Shape { op: "irfftn", .. })));
        assert!(fftn(&B, &x(&[2, 2]), Some([1, 1, 1].into()), Axes::All, norm).is_err());
        assert!(fftn(&B, &x(&[2, 2]), Some([1].into()), Axes::from([0, 1]), norm).is_err());
        assert!(fftn(&B, &x(&[2, 2]), Some(vec![1; 15].into()), Axes::All, norm).is_err());
        assert!(matches!(fft(&B, &x(&[1]), Some(usize::MAX), 0, norm), Err(Error::Memory { .. })));
        assert_eq!(fft(&B, &x(&[0, 3]), None, 1, norm).unwrap().shape(), [0, 3]);
        assert_eq!(fft(&B, &x(&[0]), Some(2), 0, norm).unwrap(), ArrayD::zeros(IxDyn(&[2])));
        assert_eq!(fft(&B, &x(&[0, 3]), Some(1 << 40), 1, norm).unwrap().shape(), [0, 1 << 40]);
    }

    #[test]
    fn frequencies_of_both_kinds() {
        let f = |n, d| fftfreq::<f64>(&B, n, d).unwrap().iter().copied().collect::<Vec<_>>();
        assert_eq!(f(4, 1.0), [0.0, 0.25, -0.5, -0.25]);
        assert_eq!(f(5, 0.5), [0.0, 0.4, 0.8, -0.8, -0.4]);
        assert_eq!(f(1, 2.0), [0.0]);
        assert_eq!(rfftfreq::<f32>(&B, 5, 1.0).unwrap(), arr1(&[0.0, 0.2, 0.4]).into_dyn());
        assert!(matches!(fftfreq::<f32>(&B, 0, 1.0), Err(Error::Argument { op: "fftfreq", .. })));
        assert!(matches!(rfftfreq::<f32>(&B, 3, 0.0), Err(Error::Argument { op: "rfftfreq", .. })));
        assert!(matches!(fftfreq::<f32>(&B, usize::MAX, 1.0), Err(Error::Memory { .. })));
    }
}
