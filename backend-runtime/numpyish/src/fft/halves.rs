//! Transforms one long real lane (a 1-D slice along the transformed axis) to its frequencies, or frequencies to a
//! real lane, on all threads. Both directions use a complex transform of half as many points.

use super::{
    super::{
        buffer::Buffer,
        copy::Ends,
        layout::Target,
        parallel::{self, COSTLY},
    },
    engine::Engine,
    long,
    symmetry::{Frequencies, Kernel, SpectrumConversion, Symmetry},
};
use backend_core::{Element, Result};
use std::sync::Arc;

/// The plan for one length, shared by all transforms of that length.
pub struct LongRealPlan<R> {
    /// The plan of the complex transform, which has half as many points.
    pub complex: Arc<long::LongPlan<R>>,
    /// Converts between the spectrum of the complex transform and the frequencies of the real lane.
    pub symmetry: Arc<Symmetry<R>>,
}

impl<R: Engine> LongRealPlan<R> {
    /// Allocates the scratch memory that `frequencies` and `points` take as `between`. Transforms that run one after
    /// the other can share it.
    pub fn between(&self, op: &'static str) -> Result<Buffer> {
        Buffer::new(op, self.symmetry.half, R::Complex::DTYPE)
    }

    /// Computes the frequencies of the real points at `x`, and writes them to `to`.
    ///
    /// # Safety
    /// `x` must have all points. `to` must have room for the frequencies, and nobody else may use it.
    pub unsafe fn frequencies(
        &self,
        op: &'static str,
        (x, to): (*const R, *mut R::Complex),
        how: Frequencies<R>,
        between: &Buffer,
    ) -> Result<()> {
        // SAFETY: a pair of real points has the layout of one complex number, and every array has room for all pairs.
        unsafe { self.complex.run(op, [x.cast_mut().cast(), between.start().cast(), to], false, R::ONE)? };
        let (to, kernel) = (Target(to.cast()), Kernel::new());
        parallel::parallel(self.symmetry.pairs(), COSTLY, |range| {
            let Target(to) = &to;
            let to = to.cast();
            // SAFETY: the frequencies of this range, and their mirror images, belong to this task only.
            unsafe { kernel.run(SpectrumConversion::Apart, &self.symmetry, range, (to, to), how) };
        });
        Ok(())
    }

    /// Computes the real points whose frequencies are at `x`, multiplies them by the number of points and by
    /// `how.scale`, and writes them to `to`.
    ///
    /// # Safety
    /// `x` must have the non-negative frequencies. `to` must have room for the points, and nobody else may use it.
    pub unsafe fn points(
        &self,
        op: &'static str,
        (x, to): (*const R::Complex, *mut R),
        how: Frequencies<R>,
        between: &Buffer,
    ) -> Result<()> {
        let (ends, kernel) = (Ends { from: x.cast::<R>(), to }, Kernel::new());
        parallel::parallel(self.symmetry.pairs(), COSTLY, |range| {
            let Ends { from, to } = &ends;
            // SAFETY: the results for the frequencies of this range, and for their mirror images, belong to this task
            // only.
            unsafe { kernel.run(SpectrumConversion::Together, &self.symmetry, range, (*from, *to), how) };
        });
        // SAFETY: a pair of real points has the layout of one complex number, and every array has room for all pairs.
        unsafe { self.complex.run(op, [to.cast(), between.start().cast(), to.cast()], true, how.scale) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        super::Numpyish,
        long::MIN_LONG_LENGTH,
        typed::{fft, hfft, ifft, ihfft, irfft, rfft},
    };
    use backend_core::{Complex, Norm, numpyish::NdArray};
    use ndarray::{Array, ArrayD, Axis, IxDyn, Slice};

    const B: Numpyish = Numpyish::new();
    const N: usize = 2 * MIN_LONG_LENGTH;

    fn off<T: backend_core::Element>(a: &NdArray<T>, b: &NdArray<T>, norm: impl Fn(T, T) -> f64) -> f64 {
        assert_eq!(a.shape(), b.shape());
        a.iter().zip(b).map(|(&a, &b)| norm(a, b)).fold(0.0, f64::max)
    }

    fn complex_off(a: &NdArray<Complex<f64>>, b: &NdArray<Complex<f64>>) -> f64 {
        off(a, b, |a, b| (a - b).norm())
    }

    fn points() -> ArrayD<f64> {
        Array::from_shape_fn(IxDyn(&[2, N]), |i| (i[1] as f64 * 0.7 + i[0] as f64).sin() + (i[1] * i[1] % 5) as f64)
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many points")]
    fn real_lanes_as_complex_ones() {
        let real = points();
        let complex = real.mapv(|x| Complex::new(x, 0.0)).into_shared();
        let real = real.into_shared();
        for norm in [Norm::Backward, Norm::Ortho, Norm::Forward] {
            let of = if matches!(norm, Norm::Backward) { 1e-8 } else { 1e-10 };
            let all = fft(&B, &complex, None, 1, norm).unwrap();
            assert!(complex_off(&fft(&B, &real, None, 1, norm).unwrap(), &all) < of);
            let half = all.clone().slice_axis_move(Axis(1), (..N / 2 + 1).into());
            let got = rfft(&B, &real, None, 1, norm).unwrap();
            assert!(complex_off(&got, &half) < of);
            assert!(off(&irfft(&B, &got, None, 1, norm).unwrap(), &real, |a, b| (a - b).abs()) < 1e-12);
            let inverse = ifft(&B, &complex, None, 1, norm).unwrap();
            assert!(complex_off(&ifft(&B, &real, None, 1, norm).unwrap(), &inverse) < of);
            let half = ihfft(&B, &real, None, 1, norm).unwrap();
            assert!(complex_off(&half, &inverse.slice_axis_move(Axis(1), (..N / 2 + 1).into())) < of);
            assert!(off(&hfft(&B, &half, None, 1, norm).unwrap(), &real, |a, b| (a - b).abs()) < 1e-12);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many points")]
    fn other_dtypes_lengths_and_layouts() {
        let x = points();
        let whole = rfft(&B, &x.clone().into_shared(), None, 1, Norm::Ortho).unwrap();
        // these arrays have the same points, but another order of the axes or a negative stride
        let turned = x.t().to_owned().into_shared().reversed_axes();
        assert_eq!(rfft(&B, &turned, None, 1, Norm::Ortho).unwrap(), whole);
        let mut reversed = x.slice_axis(Axis(1), Slice::new(0, None, -1)).to_owned().into_shared();
        reversed.invert_axis(Axis(1));
        assert_eq!(rfft(&B, &reversed, None, 1, Norm::Ortho).unwrap(), whole);
        let narrow = x.mapv(|x| x as f32).into_shared();
        let single = rfft(&B, &narrow, None, 1, Norm::Ortho).unwrap();
        let wide = single.mapv(|z| Complex::new(z.re.into(), z.im.into())).into_shared();
        assert!(complex_off(&wide, &whole) < 1e-3);
        // missing points are replaced by zeros, and so are missing frequencies
        let few = x.slice_axis(Axis(1), (..N - 9).into()).to_owned().into_shared();
        let mut filled = x.clone();
        filled.slice_axis_mut(Axis(1), (N - 9..).into()).fill(0.0);
        let padded = rfft(&B, &few, Some(N), 1, Norm::Backward).unwrap();
        assert_eq!(padded, rfft(&B, &filled.into_shared(), None, 1, Norm::Backward).unwrap());
        let lower = whole.clone().slice_axis_move(Axis(1), (..N / 4).into());
        let mut filled = whole.clone();
        filled.slice_axis_mut(Axis(1), (N / 4..).into()).fill(Complex::ZERO);
        let (got, expected) = (irfft(&B, &lower, Some(N), 1, Norm::Ortho), irfft(&B, &filled, None, 1, Norm::Ortho));
        assert_eq!(got.unwrap(), expected.unwrap());
    }

    /// The frequencies 0 and `N / 2` have no mirror image. Their imaginary parts are ignored, whatever their value.
    /// The same holds for shorter lanes, which are transformed by other code.
    #[test]
    #[cfg_attr(miri, ignore = "too many points")]
    fn parts_that_are_ignored() {
        let mut half = rfft(&B, &points().into_shared(), None, 1, Norm::Ortho).unwrap();
        half.slice_axis_mut(Axis(1), (0..1).into()).mapv_inplace(|z| Complex::new(z.re, 0.0));
        half.slice_axis_mut(Axis(1), (N / 2..).into()).mapv_inplace(|z| Complex::new(z.re, 0.0));
        let expected = irfft(&B, &half, None, 1, Norm::Ortho).unwrap();
        for odd in [3.0, f64::INFINITY, f64::NAN] {
            let mut other = half.clone();
            (other[[0, 0]].im, other[[1, N / 2]].im) = (odd, odd);
            assert_eq!(irfft(&B, &other, None, 1, Norm::Ortho).unwrap(), expected, "{odd}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many points")]
    fn longer_lanes_are_cut_and_those_of_nothing_are_empty() {
        let x = points().into_shared();
        let cut = x.clone().slice_axis_move(Axis(1), (..3 * N / 4).into());
        let n = 3 * N / 4;
        assert_eq!(n % 32, 0);
        let expected = rfft(&B, &cut.as_standard_layout().into_owned().into_shared(), None, 1, Norm::Forward).unwrap();
        assert_eq!(rfft(&B, &x, Some(n), 1, Norm::Forward).unwrap(), expected);
        let whole = irfft(&B, &expected, Some(2 * MIN_LONG_LENGTH), 1, Norm::Forward).unwrap();
        assert_eq!(whole.shape(), [2, 2 * MIN_LONG_LENGTH]);
        let none = ArrayD::<f64>::zeros(IxDyn(&[0, 3])).into_shared();
        assert_eq!(rfft(&B, &none, Some(1 << 28), 1, Norm::Forward).unwrap().shape(), [0, (1 << 27) + 1]);
        assert_eq!(fft(&B, &none, Some(1 << 28), 1, Norm::Forward).unwrap().shape(), [0, 1 << 28]);
        let one = ArrayD::<f64>::ones(IxDyn(&[1])).into_shared();
        let flat = rfft(&B, &one, Some(N), 0, Norm::Backward).unwrap();
        assert!(flat.iter().all(|z| (z - 1.0).norm() < 1e-12));
    }
}
