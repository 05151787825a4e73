//! One transform along one axis of an array.

use super::{
    super::{
        NdArray,
        buffer::{self, COSTLY},
        convert::convert,
        layout,
    },
    lane::{self, Direction, Engine},
};
use crate::{ComplexFloat, Element, Error, Float, Kind, Norm, Numeric, Result};

/// A transform of `n` points along an axis. Lanes that are longer are cut, shorter ones are continued by zeros.
#[derive(Clone, Copy)]
pub struct Pass {
    /// The op, for errors.
    pub op: &'static str,
    /// The axis.
    pub axis: usize,
    /// How many points are transformed.
    pub n: usize,
    /// The sign of the exponent.
    pub direction: Direction,
    /// How results are scaled.
    pub norm: Norm,
}

impl Pass {
    /// Complex results of a complex or real array.
    pub fn complex<T: Element, R: Engine>(&self, x: &NdArray<T>) -> Result<NdArray<R::Complex>> {
        if T::DTYPE.kind() != Kind::Complex {
            return self.real_to_complex::<T, R>(x);
        }
        let state = || self.complex_state::<R>();
        layout::map_lanes(self.op, x, self.axis, self.n, COSTLY, state, |(plan, scratch), from, to| {
            pad(from, to);
            plan.process_with_scratch(R::lane(to), R::lane(scratch));
            self.scale::<R>(to);
            Ok(())
        })
    }

    /// As [`Pass::complex`], of the result of another pass: in place where the length stays.
    pub fn again<R: Engine>(&self, mut x: NdArray<R::Complex>) -> Result<NdArray<R::Complex>> {
        let shape = x.shape().to_vec();
        let Some(elements) = x.as_slice_mut().filter(|_| shape[self.axis] == self.n) else {
            return self.complex::<R::Complex, R>(&x);
        };
        let state = || self.complex_state::<R>();
        layout::lanes_in_place(self.op, elements, &shape, self.axis, COSTLY, state, |(plan, scratch), lane| {
            plan.process_with_scratch(R::lane(lane), R::lane(scratch));
            self.scale::<R>(lane);
            Ok(())
        })?;
        Ok(x)
    }

    #[allow(clippy::type_complexity)] // a plan and its scratch memory, named where they are used
    fn complex_state<R: Engine>(&self) -> Result<(std::sync::Arc<dyn rustfft::Fft<R>>, Vec<R::Complex>)> {
        let plan = lane::complex::<R>(self.op, self.n, self.direction)?;
        let scratch = buffer::zeroed(self.op, plan.get_inplace_scratch_len())?;
        Ok((plan, scratch))
    }

    /// All frequencies of a real array: half of them are computed, the others are their conjugates.
    fn real_to_complex<T: Element, R: Engine>(&self, x: &NdArray<T>) -> Result<NdArray<R::Complex>> {
        self.real_lanes::<T, R>(x, self.n, |half, to| {
            let m = half.len();
            to[..m].copy_from_slice(half);
            for k in m..to.len() {
                to[k] = to[to.len() - k].conj();
            }
        })
    }

    /// The non-negative frequencies of a real array.
    pub fn real_to_half<T: Element, R: Engine>(&self, x: &NdArray<T>) -> Result<NdArray<R::Complex>> {
        self.real_lanes::<T, R>(x, self.n / 2 + 1, |half, to| to.copy_from_slice(half))
    }

    /// Transforms real lanes; `finish` makes a lane of the result of its non-negative frequencies.
    fn real_lanes<T: Element, R: Engine>(
        &self,
        x: &NdArray<T>,
        out_len: usize,
        finish: impl Fn(&[R::Complex], &mut [R::Complex]) + Sync,
    ) -> Result<NdArray<R::Complex>> {
        let state = || {
            let plan = lane::real_to_half::<R>(self.op, self.n)?;
            let scratch = buffer::zeroed::<R::Complex>(self.op, plan.get_scratch_len())?;
            let real = buffer::zeroed::<R>(self.op, self.n)?;
            let half = buffer::zeroed::<R::Complex>(self.op, self.n / 2 + 1)?;
            Ok((plan, scratch, real, half))
        };
        layout::map_lanes(self.op, x, self.axis, out_len, COSTLY, state, |(plan, scratch, real, half), from, to| {
            pad(from, real);
            plan.process_with_scratch(real, R::lane(half), R::lane(scratch)).map_err(|e| self.refused(e))?;
            if self.direction == Direction::Inverse {
                half.iter_mut().for_each(|v| *v = v.conj());
            }
            self.scale::<R>(half);
            finish(half, to);
            Ok(())
        })
    }

    /// Real results of non-negative frequencies. The imaginary parts of those that stand alone are ignored.
    pub fn half_to_real<T: Element, R: Engine>(&self, x: &NdArray<T>) -> Result<NdArray<R>> {
        let state = || {
            let plan = lane::half_to_real::<R>(self.op, self.n)?;
            let scratch = buffer::zeroed::<R::Complex>(self.op, plan.get_scratch_len())?;
            let half = buffer::zeroed::<R::Complex>(self.op, self.n / 2 + 1)?;
            Ok((plan, scratch, half))
        };
        layout::map_lanes(self.op, x, self.axis, self.n, COSTLY, state, |(plan, scratch, half), from, to| {
            pad(from, half);
            half[0] = R::Complex::from_real(half[0].real());
            if self.n.is_multiple_of(2) {
                half[self.n / 2] = R::Complex::from_real(half[self.n / 2].real());
            }
            if self.direction == Direction::Forward {
                half.iter_mut().for_each(|v| *v = v.conj());
            }
            plan.process_with_scratch(R::lane(half), to, R::lane(scratch)).map_err(|e| self.refused(e))?;
            let factor = R::of(self.direction.scale(self.norm, self.n));
            if factor != R::ONE {
                to.iter_mut().for_each(|v| *v = v.times(factor));
            }
            Ok(())
        })
    }

    fn scale<R: Engine>(&self, lane: &mut [R::Complex]) {
        let factor = R::of(self.direction.scale(self.norm, self.n));
        if factor != R::ONE {
            lane.iter_mut().for_each(|v| *v = R::Complex::from_parts(v.real() * factor, v.imag() * factor));
        }
    }

    #[cold]
    fn refused(&self, e: realfft::FftError) -> Error {
        Error::Library { op: self.op, backend: "numpyish", message: e.to_string() }
    }
}

/// The beginning of a lane, continued by zeros.
fn pad<T: Element, A: Element>(from: &[T], to: &mut [A]) {
    let n = from.len().min(to.len());
    convert(&from[..n], &mut to[..n]);
    to[n..].fill(A::default());
}

/// An array without any transform.
pub fn as_complex<T: Element, R: Engine>(op: &'static str, x: &NdArray<T>) -> Result<NdArray<R::Complex>> {
    let from = buffer::packed(op, x)?;
    let mut out = buffer::zeroed(op, from.len())?;
    convert(&from, &mut out);
    buffer::array(op, x.shape(), out)
}
