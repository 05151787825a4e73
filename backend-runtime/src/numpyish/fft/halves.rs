//! Transforms between long real lanes and their frequencies, by complex ones of half as many points: neighbours are taken as the parts of a
//! complex number, and the frequencies of the even and of the odd points are told apart by their symmetry. H. Sorensen and others, "Real-valued
//! fast Fourier transform algorithms", IEEE Transactions on Acoustics, Speech, and Signal Processing 35 (1987).

use super::{
    super::{
        buffer::{self, Buffer},
        copy::Ends,
        layout::Target,
        parallel::{self, COSTLY},
        simd::versions,
    },
    lane::Engine,
    long,
    stockham::root,
};
use crate::{Element, Result};
use std::{ops::Range, sync::Arc};

/// What transforms of one length have in common.
pub struct Plan<R> {
    /// Half the number of real points.
    half: usize,
    /// The transform of as many complex ones.
    complex: Arc<long::Plan<R>>,
    /// The powers of e^(-2 pi i / n) up to a quarter of a turn: complex numbers.
    turns: Vec<[R; 2]>,
}

impl<R: Engine> Plan<R> {
    /// Of `n` real points, given the transform of half as many complex ones.
    pub fn new(op: &'static str, n: usize, complex: Arc<long::Plan<R>>) -> Result<Plan<R>> {
        let half = n / 2;
        let mut turns = buffer::vec(op, half / 2 + 1)?;
        turns.extend((0..=half / 2).map(|k| root::<R>(k, n)));
        Ok(Plan { half, complex, turns })
    }

    /// Room for `between` of transforms that run one after the other.
    pub fn between(&self, op: &'static str) -> Result<Buffer> {
        Buffer::new(op, self.half, R::Complex::DTYPE)
    }

    /// Writes the non-negative frequencies, or `all`, times `scale`; their conjugates if `conjugate`.
    ///
    /// # Safety
    /// There are `n` points, and room for the frequencies, which nobody else uses.
    pub unsafe fn frequencies(
        &self,
        op: &'static str,
        (x, to): (*const R, *mut R::Complex),
        all: bool,
        conjugate: bool,
        scale: R,
        between: &Buffer,
    ) -> Result<()> {
        // SAFETY: a pair of points is a complex number; there is room for as many.
        unsafe { self.complex.run(op, [x.cast_mut().cast(), between.start().cast(), to], false, scale * R::of(0.5))? };
        let to = Target(to.cast());
        parallel::parallel(self.turns.len(), COSTLY, |range| {
            let to = &to;
            // SAFETY: frequencies of a number in the range, and those that mirror them, are of this task.
            unsafe { tell_apart(&self.turns, range, self.half, to.0.cast(), all, conjugate) };
        });
        Ok(())
    }

    /// Writes the points of which these are the non-negative frequencies, or their conjugates if `conjugate`, times `n` and `scale`.
    ///
    /// # Safety
    /// There are `n / 2 + 1` frequencies, and room for `n` points, which nobody else uses.
    pub unsafe fn points(
        &self,
        op: &'static str,
        (x, to): (*const R::Complex, *mut R),
        conjugate: bool,
        scale: R,
        between: &Buffer,
    ) -> Result<()> {
        let ends = Ends { from: x.cast(), to: to.cast() };
        parallel::parallel(self.turns.len(), COSTLY, |range| {
            let Ends { from, to } = &ends;
            // SAFETY: what is made of frequencies with a number in the range, and those that mirror them, is of this task.
            unsafe { join(&self.turns, range, self.half, *from, *to, conjugate) };
        });
        // SAFETY: a pair of points is a complex number; there is room for as many.
        unsafe { self.complex.run(op, [to.cast(), between.start().cast(), to.cast()], true, scale) }
    }
}

versions! {
    /// The frequencies with the numbers of a range, and those that mirror them in the non-negative ones, where the spectrum of the pairs is.
    ///
    /// # Safety
    /// The spectrum has `half` numbers, and there is room for one more, or for twice as many if `all` are written.
    unsafe fn tell_apart[R: Engine][R](
        turns: &[[R; 2]],
        range: Range<usize>,
        half: usize,
        to: *mut [R; 2],
        all: bool,
        conjugate: bool,
    ) {
        let sign = if conjugate { -R::ONE } else { R::ONE };
        for k in range {
            let mirrored = half - k;
            // SAFETY: the caller's promise.
            unsafe {
                let ([a, a_im], [b, b_im]) = (*to.add(k), *to.add(if k == 0 { 0 } else { mirrored }));
                let (even, even_im) = (a + b, a_im - b_im);
                let (odd, odd_im) = (a_im + b_im, b - a);
                let [re, im] = turns[k];
                let (turned, turned_im) = (odd * re - odd_im * im, odd * im + odd_im * re);
                let low = [even + turned, sign * (even_im + turned_im)];
                let high = [even - turned, sign * (turned_im - even_im)];
                *to.add(k) = low;
                *to.add(mirrored) = high;
                if all && k > 0 {
                    *to.add(2 * half - k) = [low[0], -low[1]];
                    *to.add(half + k) = [high[0], -high[1]];
                }
            }
        }
    }

    /// The spectrum of the pairs, twice, from the frequencies with the numbers of a range and those that mirror them.
    ///
    /// # Safety
    /// There is room for `half` numbers, and one frequency more.
    unsafe fn join[R: Engine][R](
        turns: &[[R; 2]],
        range: Range<usize>,
        half: usize,
        from: *const [R; 2],
        to: *mut [R; 2],
        conjugate: bool,
    ) {
        let sign = if conjugate { -R::ONE } else { R::ONE };
        for k in range {
            let mirrored = half - k;
            // SAFETY: the caller's promise.
            unsafe {
                let ([a, a_im], [b, b_im]) = (*from.add(k), *from.add(mirrored));
                // the imaginary parts of those that stand alone are not looked at
                let (a_im, b_im) = if k == 0 { (R::ZERO, R::ZERO) } else { (sign * a_im, sign * b_im) };
                let (even, even_im) = (a + b, a_im - b_im);
                let (other, other_im) = (a - b, a_im + b_im);
                let [re, im] = turns[k];
                let (odd, odd_im) = (other * re + other_im * im, other_im * re - other * im);
                *to.add(k) = [even - odd_im, even_im + odd];
                if k > 0 {
                    *to.add(mirrored) = [even + odd_im, odd - even_im];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{super::Numpyish, fft, hfft, ifft, ihfft, irfft, long::LEAST, rfft};
    use crate::{Complex, Norm, numpyish::NdArray};
    use ndarray::{Array, ArrayD, Axis, IxDyn, Slice};

    const B: Numpyish = Numpyish::new();
    const N: usize = 2 * LEAST;

    fn off<T: crate::Element>(a: &NdArray<T>, b: &NdArray<T>, norm: impl Fn(T, T) -> f64) -> f64 {
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
        // in another order of the axes, and in reverse: the same points
        let turned = x.t().to_owned().into_shared().reversed_axes();
        assert_eq!(rfft(&B, &turned, None, 1, Norm::Ortho).unwrap(), whole);
        let mut reversed = x.slice_axis(Axis(1), Slice::new(0, None, -1)).to_owned().into_shared();
        reversed.invert_axis(Axis(1));
        assert_eq!(rfft(&B, &reversed, None, 1, Norm::Ortho).unwrap(), whole);
        let narrow = x.mapv(|x| x as f32).into_shared();
        let single = rfft(&B, &narrow, None, 1, Norm::Ortho).unwrap();
        let wide = single.mapv(|z| Complex::new(z.re.into(), z.im.into())).into_shared();
        assert!(complex_off(&wide, &whole) < 1e-3);
        // fewer points are continued by zeros, fewer frequencies as well
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

    /// The imaginary parts of the frequencies that stand alone are ignored, whatever they are, as they are in shorter lanes.
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
        let whole = irfft(&B, &expected, Some(2 * LEAST), 1, Norm::Forward).unwrap();
        assert_eq!(whole.shape(), [2, 2 * LEAST]);
        let none = ArrayD::<f64>::zeros(IxDyn(&[0, 3])).into_shared();
        assert_eq!(rfft(&B, &none, Some(1 << 28), 1, Norm::Forward).unwrap().shape(), [0, (1 << 27) + 1]);
        assert_eq!(fft(&B, &none, Some(1 << 28), 1, Norm::Forward).unwrap().shape(), [0, 1 << 28]);
        let one = ArrayD::<f64>::ones(IxDyn(&[1])).into_shared();
        let flat = rfft(&B, &one, Some(N), 0, Norm::Backward).unwrap();
        assert!(flat.iter().all(|z| (z - 1.0).norm() < 1e-12));
    }
}
