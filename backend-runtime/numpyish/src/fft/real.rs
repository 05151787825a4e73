//! Transforms one real lane (a 1-D slice along the transformed axis) to its frequencies, or frequencies to a real
//! lane. For an even number of points, a complex transform of half as many points is used; for an odd number, a
//! complex transform of the same length.

use super::{
    contiguous::{Elements, pad},
    engine::Engine,
    lane::{self, Planned},
    symmetry::{Frequencies, Kernel, SpectrumConversion, Symmetry},
};
use backend_core::{ComplexFloat, Element, Float, Numeric, Result, numpyish::buffer, rules::Direction};
use rustfft::Fft;
use std::sync::Arc;

/// The plan for one length, and the memory for one transform at a time.
pub struct Lane<R: Engine> {
    n: usize,
    how: Frequencies<R>,
    complex: Arc<dyn Fft<R>>,
    /// The tables and the kernel that convert between the spectra of the complex and the real lane; `None` if the
    /// number of points is odd.
    symmetry: Option<(Arc<Symmetry<R>>, Kernel<R>)>,
    scratch: Vec<R::Complex>,
    /// Buffer for the spectrum of the complex lane, or for the caller's frequencies, padded with zeros.
    spectrum: Vec<R::Complex>,
}

impl<R: Planned> Lane<R> {
    /// Makes the plan of transforms from `n` points to frequencies.
    pub fn forward(op: &'static str, n: usize, how: Frequencies<R>) -> Result<Lane<R>> {
        Lane::new(op, n, how, Direction::Forward)
    }

    /// Makes the plan of transforms from frequencies to `n` points.
    pub fn inverse(op: &'static str, n: usize, how: Frequencies<R>) -> Result<Lane<R>> {
        Lane::new(op, n, how, Direction::Inverse)
    }

    fn new(op: &'static str, n: usize, how: Frequencies<R>, direction: Direction) -> Result<Lane<R>> {
        let even = n.is_multiple_of(2);
        let complex = lane::complex::<R>(op, if even { n / 2 } else { n }, direction)?;
        let symmetry = if even { Some((lane::symmetry(op, n)?, Kernel::new())) } else { None };
        let scratch = buffer::zeros(op, complex.get_inplace_scratch_len())?;
        let spectrum = buffer::zeros(op, if even { n / 2 + 1 } else { n })?;
        Ok(Lane { n, how, complex, symmetry, scratch, spectrum })
    }
}

impl<R: Engine> Lane<R> {
    /// Computes the frequencies of `points`, and writes them to `to`. If there are fewer than `n` points, the missing
    /// ones count as 0.
    ///
    /// # Safety
    /// The points must exist. `to` must have room for the frequencies, and nobody else may use it.
    pub unsafe fn frequencies(&mut self, points: Elements, to: *mut R::Complex) {
        let &mut Lane { n, how, .. } = self;
        if let Some((symmetry, kernel)) = &self.symmetry {
            let lane = &mut self.spectrum[..symmetry.half];
            // SAFETY: a pair of real points has the layout of one complex number, so the lane has room for all points.
            unsafe { pad(points, R::DTYPE, lane.as_mut_ptr().cast(), n) };
            self.complex.process_with_scratch(R::lane(lane), R::lane(&mut self.scratch));
            // SAFETY: there is room for the frequencies.
            unsafe {
                kernel.run(
                    SpectrumConversion::Apart,
                    symmetry,
                    0..symmetry.pairs(),
                    (lane.as_ptr().cast(), to.cast()),
                    how,
                )
            };
            return;
        }
        let spectrum = &mut self.spectrum[..];
        // SAFETY: the spectrum has room for the points, and `to` has room for the frequencies.
        unsafe { pad(points, R::Complex::DTYPE, spectrum.as_mut_ptr().cast(), n) };
        self.complex.process_with_scratch(R::lane(spectrum), R::lane(&mut self.scratch));
        // frequency 0 is the sum of all points, a real number
        spectrum[0] = R::Complex::from_real(spectrum[0].real());
        for (k, v) in spectrum[..=n / 2].iter().enumerate() {
            let v = R::Complex::from_parts(v.real() * how.scale, v.imag() * how.scale);
            let (v, mirrored) = if how.conjugate { (v.conj(), v) } else { (v, v.conj()) };
            // SAFETY: there is room for both frequencies.
            unsafe {
                to.add(k).write(v);
                if how.all && k > 0 {
                    to.add(n - k).write(mirrored);
                }
            }
        }
    }

    /// Computes the points of a lane from its first frequencies, multiplies the points by `n` and by `how.scale`, and
    /// writes them to `to`. Missing frequencies count as 0.
    ///
    /// # Safety
    /// The frequencies must exist. `to` must have room for the points, and nobody else may use it.
    pub unsafe fn points(&mut self, frequencies: Elements, to: *mut R) {
        let &mut Lane { n, how, .. } = self;
        let half = n / 2 + 1;
        let spectrum = &mut self.spectrum[..];
        if let Some((symmetry, kernel)) = &self.symmetry {
            let here = frequencies.dtype == R::Complex::DTYPE && frequencies.len >= half;
            // SAFETY: the spectrum has room for `half` frequencies. A pair of points has the layout of one complex
            // number, and all points are written before the transform.
            unsafe {
                let from = if here {
                    frequencies.start.cast()
                } else {
                    pad(frequencies, R::Complex::DTYPE, spectrum.as_mut_ptr().cast(), half);
                    spectrum.as_ptr().cast()
                };
                kernel.run(SpectrumConversion::Together, symmetry, 0..symmetry.pairs(), (from, to), how);
                let lane = std::slice::from_raw_parts_mut(to.cast::<R::Complex>(), symmetry.half);
                self.complex.process_with_scratch(R::lane(lane), R::lane(&mut self.scratch));
                if how.scale != R::ONE {
                    std::slice::from_raw_parts_mut(to, n).iter_mut().for_each(|x| *x = x.times(how.scale));
                }
            }
            return;
        }
        // SAFETY: the spectrum has room for all frequencies.
        unsafe { pad(frequencies, R::Complex::DTYPE, spectrum.as_mut_ptr().cast(), half) };
        spectrum[0] = R::Complex::from_real(spectrum[0].real());
        if how.conjugate {
            spectrum[..half].iter_mut().for_each(|v| *v = v.conj());
        }
        (half..n).for_each(|k| spectrum[k] = spectrum[n - k].conj());
        self.complex.process_with_scratch(R::lane(spectrum), R::lane(&mut self.scratch));
        for (k, v) in spectrum.iter().enumerate() {
            // SAFETY: there is room for `n` points.
            unsafe { to.add(k).write(v.real().times(how.scale)) };
        }
    }
}
