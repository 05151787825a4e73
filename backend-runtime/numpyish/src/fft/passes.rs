//! Transforms along one axis of an array: complex, real to complex, and complex to real.

use super::{
    super::{
        buffer::{self, Buffer},
        convert::convert,
        copy,
        layout::{self, LaneFn, LaneFormat},
        parallel::COSTLY,
        raw::{RawArray, View},
    },
    columns::{Columns, LINE},
    contiguous::{Contiguous, Elements, pad},
    engine::Engine,
    halves,
    lane::{self, Planned},
    long, real,
    stockham::StockhamPlan,
    symmetry::Frequencies,
};
use backend_core::{
    ComplexFloat, DTypeKind, Element, Norm, Numeric, Result,
    rules::{self, Direction},
};
use std::sync::Arc;

/// A transform of `n` points along an axis. It transforms all lanes (1-D slices along the axis). Longer lanes are
/// cut, and shorter lanes are padded with zeros.
#[derive(Clone, Copy)]
pub struct Pass {
    /// The name of the op, for error messages.
    pub op: &'static str,
    /// The axis along which lanes are transformed.
    pub axis: usize,
    /// Number of points of the transform.
    pub n: usize,
    /// The direction, which gives the sign of the exponent.
    pub direction: Direction,
    /// The normalization, which gives the factor of the results.
    pub norm: Norm,
}

/// Returns the lane that begins at `start` as a mutable slice.
///
/// # Safety
/// The lane must have `n` elements of type `T`, which nobody else uses.
unsafe fn lane_mut<'a, T>(start: *mut u8, n: usize) -> &'a mut [T] {
    // SAFETY: the caller guarantees the elements.
    unsafe { std::slice::from_raw_parts_mut(start.cast(), n) }
}

impl Pass {
    /// Transforms the lanes of a complex or real array to complex lanes.
    pub fn complex<R: Planned>(&self, x: View<'_>) -> Result<RawArray> {
        if x.dtype.kind() != DTypeKind::Complex {
            return self.real_lanes::<R>(x, self.n);
        }
        let mut shape = x.shape.to_vec();
        shape[self.axis] = self.n;
        if let Some(plan) = self.side_by_side::<R>(&shape)? {
            let out = Buffer::new(self.op, rules::count(self.op, &shape, x.dtype.size())?, x.dtype)?;
            // SAFETY: `x` has these elements, and `out` has room for the result, all of which is written.
            return unsafe {
                self.columns(plan).run(layout::dims(x), x.start.cast(), &shape, out.start().cast())?;
                RawArray::new(self.op, shape, out)
            };
        }
        if let Some(plan) = self.long::<R>(&shape)? {
            let between = Buffer::new(self.op, self.n, x.dtype)?;
            let lanes = LaneFormat { dtype: x.dtype, len: self.n };
            // SAFETY: each lane has `n` points, and `between` and the result have room for as many, all of which are
            // written.
            return unsafe {
                self.lane_by_lane(x, lanes, lanes, |from, to| {
                    let all = [from.cast_mut().cast(), between.start().cast(), to.cast()];
                    plan.run(self.op, all, self.is_inverse(), self.factor())
                })
            };
        }
        let (dtype, len, n) = (x.dtype, x.shape[self.axis], self.n);
        let new = || -> Result<LaneFn<'_>> {
            let mut transform = self.transform::<R>()?;
            Ok(Box::new(move |start, to| {
                // SAFETY: `start` has `len` points, and `to` has room for `n` points.
                unsafe {
                    pad(Elements { dtype, start, len }, R::Complex::DTYPE, to, n);
                    transform(lane_mut(to, n));
                }
                Ok(())
            }))
        };
        // SAFETY: the function reads a lane of `x` and writes `n` elements.
        unsafe {
            layout::map_lanes(self.op, x, self.axis, LaneFormat { dtype: R::Complex::DTYPE, len: n }, COSTLY, &new)
        }
    }

    /// Like [`Pass::complex`], for an array `x` that an earlier pass has computed. If `x` is in C order and the pass
    /// does not change the length of the axis, the result overwrites `x`.
    pub fn again<R: Planned>(&self, x: RawArray) -> Result<RawArray> {
        let strides = x.strides();
        let view = x.view(&strides);
        if view.shape[self.axis] != self.n || !view.is_c_order() {
            return self.complex::<R>(view);
        }
        if let Some(plan) = self.side_by_side::<R>(view.shape)? {
            let columns = self.columns(plan);
            // SAFETY: nobody else uses the elements, which are in C order.
            unsafe { columns.run(layout::dims(view), view.start.cast(), view.shape, x.start_mut().cast())? };
            return Ok(x);
        }
        if let Some(plan) = self.long::<R>(view.shape)? {
            let between = Buffer::new(self.op, self.n, view.dtype)?;
            for lane in 0..view.len() / self.n {
                // SAFETY: the points are a contiguous lane of an array that nobody else uses.
                unsafe {
                    let lane = x.start_mut().cast::<R::Complex>().add(lane * self.n);
                    plan.run(self.op, [lane, between.start().cast(), lane], self.is_inverse(), self.factor())?;
                }
            }
            return Ok(x);
        }
        let new = || -> Result<LaneFn<'_>> {
            let mut transform = self.transform::<R>()?;
            Ok(Box::new(move |_, lane| {
                // SAFETY: the lane has `n` points.
                transform(unsafe { lane_mut(lane, self.n) });
                Ok(())
            }))
        };
        // SAFETY: nobody else uses the elements, which are in C order.
        unsafe { layout::lanes_in_place(self.op, x.start_mut(), view.dtype, view.shape, self.axis, COSTLY, &new)? };
        Ok(x)
    }

    /// The plan that transforms several lanes of the result at a time. `None` if the length is unsuitable, or if
    /// neighbouring lanes do not fill a cache line.
    fn side_by_side<R: Planned>(&self, shape: &[usize]) -> Result<Option<Arc<StockhamPlan<R>>>> {
        let inner: usize = shape[self.axis + 1..].iter().product();
        if inner * size_of::<R::Complex>() < LINE { Ok(None) } else { lane::side_by_side(self.op, self.n) }
    }

    fn columns<R: Engine>(&self, plan: Arc<StockhamPlan<R>>) -> Columns<R> {
        let (inverse, scale) = (self.is_inverse(), self.factor());
        Columns { op: self.op, axis: self.axis, plan, inverse, scale }
    }

    /// The plan that transforms the lanes one after another, each on all threads. `None` if the lanes are not
    /// contiguous or not long, or if their length is unsuitable.
    fn long<R: Planned>(&self, shape: &[usize]) -> Result<Option<Arc<long::LongPlan<R>>>> {
        if self.is_lane_by_lane(shape) { lane::long(self.op, self.n) } else { Ok(None) }
    }

    /// The plan that transforms real lanes one after another, each on all threads. `None` if the lanes are not
    /// contiguous or not long, or if their length is unsuitable.
    fn long_real<R: Planned>(&self, x: View<'_>) -> Result<Option<halves::LongRealPlan<R>>> {
        if self.is_lane_by_lane(x.shape) { lane::halves(self.op, self.n) } else { Ok(None) }
    }

    /// Returns whether the lanes of the result are contiguous and there is at least one lane.
    fn is_lane_by_lane(&self, shape: &[usize]) -> bool {
        let (before, after) = (&shape[..self.axis], &shape[self.axis + 1..]);
        !before.contains(&0) && after.iter().all(|&len| len == 1)
    }

    /// Applies `f` to all lanes, one after another. `f` reads a lane with the dtype and length of `points`, and writes
    /// a lane with the dtype and length of `result`.
    ///
    /// # Safety
    /// `f` must write the whole of its result lane.
    unsafe fn lane_by_lane(
        &self,
        x: View<'_>,
        points: LaneFormat,
        result: LaneFormat,
        mut f: impl FnMut(*const u8, *mut u8) -> Result<()>,
    ) -> Result<RawArray> {
        let mut shape = x.shape.to_vec();
        shape[self.axis] = result.len;
        let size = result.dtype.size();
        let out = Buffer::new(self.op, rules::count(self.op, &shape, size)?, result.dtype)?;
        Contiguous::new(self.op, x, self.axis, points.dtype, points.len)?
            .each(|k, lane| f(lane, out.start().wrapping_add(k * result.len * size)))?;
        // SAFETY: the caller guarantees that `f` has written every element.
        unsafe { RawArray::new(self.op, shape, out) }
    }

    fn is_inverse(&self) -> bool {
        self.direction == Direction::Inverse
    }

    /// Factor that multiplies the results.
    fn factor<R: Engine>(&self) -> R {
        R::of(self.direction.scale(self.norm, self.n))
    }

    /// Returns a function that transforms a complex lane in place.
    fn transform<R: Planned>(&self) -> Result<impl FnMut(&mut [R::Complex])> {
        let plan = lane::complex::<R>(self.op, self.n, self.direction)?;
        let mut scratch = buffer::zeros::<R::Complex>(self.op, plan.get_inplace_scratch_len())?;
        let pass = *self;
        Ok(move |lane: &mut [R::Complex]| {
            plan.process_with_scratch(R::lane(lane), R::lane(&mut scratch));
            pass.scale::<R>(lane);
        })
    }

    /// Transforms the lanes of a real array to their non-negative frequencies.
    pub fn real_to_half<R: Planned>(&self, x: View<'_>) -> Result<RawArray> {
        self.real_lanes::<R>(x, self.n / 2 + 1)
    }

    /// Transforms real lanes to their first `out_len` frequencies, which include at least the non-negative ones.
    fn real_lanes<R: Planned>(&self, x: View<'_>, out_len: usize) -> Result<RawArray> {
        let out = LaneFormat { dtype: R::Complex::DTYPE, len: out_len };
        let how = self.frequencies::<R>(out_len > self.n / 2 + 1, self.is_inverse());
        if let Some(plan) = self.long_real::<R>(x)? {
            let (between, points) = (plan.between(self.op)?, LaneFormat { dtype: R::DTYPE, len: self.n });
            // SAFETY: each lane has its points, and there is room for its frequencies, all of which are written.
            return unsafe {
                self.lane_by_lane(x, points, out, |from, to| {
                    plan.frequencies(self.op, (from.cast(), to.cast()), how, &between)
                })
            };
        }
        let (dtype, len) = (x.dtype, x.shape[self.axis]);
        let new = || -> Result<LaneFn<'_>> {
            let mut lane = real::Lane::<R>::forward(self.op, self.n, how)?;
            Ok(Box::new(move |start, to| {
                // SAFETY: the lane has `len` points, and there is room for its frequencies.
                unsafe { lane.frequencies(Elements { dtype, start, len }, to.cast()) };
                Ok(())
            }))
        };
        // SAFETY: the function reads a lane of `x` and writes `out_len` elements.
        unsafe { layout::map_lanes(self.op, x, self.axis, out, COSTLY, &new) }
    }

    /// Computes real lanes from their non-negative frequencies. Imaginary parts of frequencies without a mirror image
    /// (0 and `n / 2`) are ignored.
    pub fn half_to_real<R: Planned>(&self, x: View<'_>) -> Result<RawArray> {
        let out = LaneFormat { dtype: R::DTYPE, len: self.n };
        let how = self.frequencies::<R>(false, !self.is_inverse());
        if let Some(plan) = self.long_real::<R>(x)? {
            let between = plan.between(self.op)?;
            let half = LaneFormat { dtype: R::Complex::DTYPE, len: self.n / 2 + 1 };
            // SAFETY: each lane has its non-negative frequencies, and there is room for its points, all of which are
            // written.
            return unsafe {
                self.lane_by_lane(x, half, out, |from, to| {
                    plan.points(self.op, (from.cast(), to.cast()), how, &between)
                })
            };
        }
        let (dtype, len) = (x.dtype, x.shape[self.axis]);
        let new = || -> Result<LaneFn<'_>> {
            let mut lane = real::Lane::<R>::inverse(self.op, self.n, how)?;
            Ok(Box::new(move |start, to| {
                // SAFETY: `start` has `len` frequencies, and `to` has room for `n` points.
                unsafe { lane.points(Elements { dtype, start, len }, to.cast()) };
                Ok(())
            }))
        };
        // SAFETY: the function reads a lane of `x` and writes `n` elements.
        unsafe { layout::map_lanes(self.op, x, self.axis, out, COSTLY, &new) }
    }

    fn frequencies<R: Engine>(&self, all: bool, conjugate: bool) -> Frequencies<R> {
        Frequencies { all, conjugate, scale: self.factor() }
    }

    fn scale<R: Engine>(&self, lane: &mut [R::Complex]) {
        let factor = self.factor::<R>();
        if factor != R::ONE {
            lane.iter_mut().for_each(|v| *v = R::Complex::from_parts(v.real() * factor, v.imag() * factor));
        }
    }
}

/// Converts an array to complex without any transform.
pub fn as_complex<R: Engine>(op: &'static str, x: View<'_>) -> Result<RawArray> {
    let from = copy::pack(op, x)?;
    let out = Buffer::new(op, x.len(), R::Complex::DTYPE)?;
    // SAFETY: both buffers have the same number of elements, all of which are written.
    unsafe {
        convert(x.dtype, out.dtype(), from.start(), out.start(), out.len());
        RawArray::new(op, x.shape.to_vec(), out)
    }
}
