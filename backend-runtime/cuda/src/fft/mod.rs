//! Fourier transforms with cuFFT, over up to three axes at once. The input is not copied if cuFFT supports its layout.

mod cufft;
mod layout;
mod nufft;

use super::{
    Cuda, OpContext,
    array::RawArray,
    copy::copy_into,
    kernel::Grid,
    manipulation::rolled,
    program::{Instance, KernelList, Program, ProgramSource},
};
use backend_core::{
    Axes, DType, Error, Lengths, Norm, Result,
    rules::{self, Direction, Half},
};
use cufft::TransformKind;
pub(super) use cufft::forget_plans;
use layout::{Layout, Strided};
pub(super) use nufft::KERNELS as NUFFT_KERNELS;
pub use nufft::{nufft_interpolate, nufft_sort, nufft_spread};
use std::cmp::Reverse;

static PROGRAM: Program = Program { name: "fft", source: ProgramSource::File(include_str!("../kernels/fft.cuh")) };

/// The kernels of this file, listed so that `check` can compile them all.
pub(super) const KERNELS: KernelList = (&PROGRAM, || {
    let complex = [DType::Complex64, DType::Complex128];
    let reals = [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64];
    let scaled = [DType::Float32, DType::Float64].into_iter().chain(complex);
    let scaled = scaled.map(|dtype| Instance::new("scaled", "", &[dtype]));
    let hermitian = complex.into_iter().map(|dtype| Instance::new("hermitian", "", &[dtype]));
    let frequencies = reals.into_iter().map(|dtype| Instance::new("frequencies", "", &[dtype]));
    scaled.chain(hermitian).chain(frequencies).collect()
});

/// The parameters of a transform, except its axes.
struct Transform {
    op: &'static str,
    half: Half,
    direction: Direction,
    norm: Norm,
    double: bool,
}

impl Transform {
    /// Transforms `x` along the planned axes. `x` itself is not changed.
    fn run(&self, b: &Cuda, x: &RawArray, plan: &rules::Transform) -> Result<RawArray> {
        b.check(self.op, x)?;
        if !plan.repeats() {
            return self.together(b, x, &plan.axes);
        }
        let steps = plan.steps(self.half);
        let special = if self.half == Half::Input { steps.len() - 1 } else { 0 };
        steps.into_iter().enumerate().try_fold(x.clone(), |x, (i, (axis, n, _))| {
            let half = if i == special { self.half } else { Half::Neither };
            Transform { half, ..*self }.together(b, &x, &[(axis, n)])
        })
    }

    /// Transforms distinct axes; `axes` has the index and the number of points of each axis. In a transform from or to
    /// real numbers, the complex array has only the non-negative frequencies along the last axis.
    fn together(&self, b: &Cuda, x: &RawArray, axes: &[(usize, usize)]) -> Result<RawArray> {
        let Some((&last, others)) = axes.split_last() else {
            return self.as_complex(b, x);
        };
        // sorts axes by descending stride, so that the axes with the smallest strides are transformed together with the
        // last axis
        let in_memory = |axes: &[(usize, usize)]| {
            let mut axes = axes.to_vec();
            axes.sort_by_key(|&(axis, _)| Reverse(x.strides[axis].unsigned_abs()));
            axes
        };
        let out = match self.half {
            Half::Neither => self.complex(b, x.clone(), &in_memory(axes))?,
            Half::Result => {
                let others = in_memory(others);
                let (far, near) = others.split_at(others.len().saturating_sub(Layout::MAX_AXES - 1));
                let x = self.step(b, x, Half::Result, &[near, &[last]].concat())?;
                self.complex(b, x, far)?
            }
            // transforms the other axes first, and then the last axis alone. In this order, the input of the last
            // transform is the half spectrum of a real signal, as cuFFT requires
            Half::Input => {
                let x = self.complex(b, x.clone(), &in_memory(others))?;
                self.step(b, &x, Half::Input, &[last])?
            }
        };
        let conj = self.half == Half::Result && self.direction == Direction::Inverse;
        let by = axes.iter().map(|&(_, n)| self.direction.scale(self.norm, n)).product();
        if conj || by != 1.0 {
            scaled(b, self.op, &out, by, conj)?;
        }
        Ok(out)
    }

    fn real(&self) -> DType {
        if self.double { DType::Float64 } else { DType::Float32 }
    }

    fn as_complex(&self, b: &Cuda, x: &RawArray) -> Result<RawArray> {
        let out = b.uninit_raw(self.op, self.real().to_complex(), &x.shape)?;
        copy_into(b, self.op, x, &out)?;
        Ok(out)
    }

    fn complex(&self, b: &Cuda, x: RawArray, axes: &[(usize, usize)]) -> Result<RawArray> {
        axes.rchunks(Layout::MAX_AXES).try_fold(x, |x, axes| self.step(b, &x, Half::Neither, axes))
    }

    /// Transforms axes by one call of cuFFT. The result is dense, in an axis order that cuFFT can write.
    fn step(&self, b: &Cuda, x: &RawArray, half: Half, axes: &[(usize, usize)]) -> Result<RawArray> {
        let (op, inverse) = (self.op, self.direction == Direction::Inverse);
        let complex = self.real().to_complex();
        let (kind, from, to) = match half {
            Half::Neither if inverse => (TransformKind::Inverse, complex, complex),
            Half::Neither => (TransformKind::Forward, complex, complex),
            Half::Result => (TransformKind::ToHalf, self.real(), complex),
            Half::Input => (TransformKind::FromHalf, complex, self.real()),
        };
        let mut lengths = [x.shape.clone(), x.shape.clone()];
        for &(axis, n) in axes {
            lengths.iter_mut().for_each(|shape| shape[axis] = n);
        }
        let &(last, n) =
            axes.last().ok_or_else(|| Error::shape(op, &x.shape, "must be transformed along at least one axis"))?;
        match half {
            Half::Neither => {}
            Half::Result => lengths[1][last] = n / 2 + 1,
            Half::Input => lengths[0][last] = n / 2 + 1,
        }
        let [before, after] = lengths;
        let out = b.uninit_raw(op, to, &after)?;
        if out.size() == 0 {
            return Ok(out);
        }
        let (indices, points): (Vec<usize>, Vec<usize>) = axes.iter().copied().unzip();
        let layout = |x: &RawArray, out: &RawArray| Layout::of(&indices, &points, strided(x), strided(out));
        let turned = out.view(after.clone(), moved_strides(&after, &indices), out.offset);
        // lanes (1-D slices along the transformed axes) that are longer than the number of points are truncated
        let part = (0..x.shape.len()).fold(x.clone(), |x, axis| {
            let kept = x.shape[axis].min(before[axis]);
            x.sliced(axis, 0, kept, 1)
        });
        // two kinds of transforms need a copy: transforms to real numbers, which overwrite their input, and transforms
        // of unaligned real numbers, which are read in aligned pairs
        let aligned = x.pointer().is_multiple_of(complex.size() as u64);
        if part.dtype == from && part.shape == before && half != Half::Input && aligned {
            for out in [&out, &turned] {
                if let Some(layout) = layout(&part, out) {
                    cufft::run(b, op, kind, layout, &part, out)?;
                    return Ok(out.clone());
                }
            }
        }
        let lanes = self.gathered(b, &part, from, &before, &indices)?;
        if half == Half::Input {
            // cuFFT transforms half spectra only by the inverse transform; for a forward transform, the half spectra
            // are conjugated first
            hermitian(b, op, &lanes, n / 2 + 1, n, !inverse)?;
        }
        let layout =
            layout(&lanes, &turned).ok_or_else(|| Error::shape(op, &x.shape, "has a layout that cuFFT cannot use"))?;
        cufft::run(b, op, kind, layout, &lanes, &turned)?;
        Ok(turned)
    }

    /// Copies `part` to a new array of shape `shape`, in which the transformed axes are last in memory. Lanes (1-D
    /// slices along these axes) that are shorter in `part` than in `shape` are padded with zeros.
    fn gathered(&self, b: &Cuda, part: &RawArray, dtype: DType, shape: &[usize], axes: &[usize]) -> Result<RawArray> {
        let lanes = b.uninit_raw(self.op, dtype, shape)?;
        if part.shape != shape {
            b.set_bytes(self.op, &lanes, 0)?;
        }
        let lanes = lanes.view(shape.to_vec(), moved_strides(shape, axes), lanes.offset);
        let filled = (0..shape.len()).fold(lanes.clone(), |x, axis| x.sliced(axis, 0, part.shape[axis], 1));
        copy_into(b, self.op, part, &filled)?;
        Ok(lanes)
    }
}

fn strided(x: &RawArray) -> Strided<'_> {
    Strided { shape: &x.shape, strides: &x.strides }
}

/// Returns the strides of a dense array of this shape. In memory, the axes `axes` are the last axes, in the order in
/// which `axes` lists them.
fn moved_strides(shape: &[usize], axes: &[usize]) -> Vec<isize> {
    let order: Vec<usize> = (0..shape.len()).filter(|axis| !axes.contains(axis)).chain(axes.iter().copied()).collect();
    let lengths: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
    let mut strides = vec![0; shape.len()];
    order.iter().zip(rules::c_strides(&lengths)).for_each(|(&axis, stride)| strides[axis] = stride);
    strides
}

fn scaled(b: &Cuda, op: &'static str, x: &RawArray, by: f64, conj: bool) -> Result<()> {
    let n = x.size() as u64;
    if n == 0 {
        return Ok(());
    }
    let kernel = b.kernel(op, &PROGRAM, Instance::new("scaled", "", &[x.dtype]))?;
    // SAFETY: `x` is contiguous and has `n` elements of the kernel's dtype.
    unsafe { b.launch(op, kernel, Grid::over(x.size()), &[&x.pointer(), &n, &by, &u32::from(conj)]) }
}

fn hermitian(b: &Cuda, op: &'static str, x: &RawArray, m: usize, points: usize, conj: bool) -> Result<()> {
    let n = x.size() as u64;
    if n == 0 {
        return Ok(());
    }
    let kernel = b.kernel(op, &PROGRAM, Instance::new("hermitian", "", &[x.dtype]))?;
    let (m, points, conj) = (m as u64, points as u64, u32::from(conj));
    // SAFETY: `x` is contiguous and has `n` elements of the kernel's dtype, in lanes of `m`.
    unsafe { b.launch(op, kernel, Grid::over(x.size()), &[&x.pointer(), &n, &m, &points, &conj]) }
}

/// Returns whether transforms of elements of this dtype use double precision.
fn is_double(dtype: DType) -> bool {
    dtype.to_complex() == DType::Complex128
}

/// Defines the public functions that transform one axis. `$half` says whether the input or the result is half a
/// spectrum.
macro_rules! one_axis {
    ($($(#[$doc:meta])* $op:ident = $half:ident, $direction:ident;)*) => {$(
        $(#[$doc])*
        pub fn $op(
            on: OpContext<'_>,
            x: &RawArray,
            n: Option<usize>,
            axis: isize,
            norm: Norm,
        ) -> Result<RawArray> {
            let OpContext { backend: b, op, dtype, .. } = on;
            let (half, direction, double) = (Half::$half, Direction::$direction, is_double(dtype));
            let plan = rules::transform(op, &x.shape, n, axis, half)?;
            Transform { op, half, direction, norm, double }.run(b, x, &plan)
        }
    )*};
}

one_axis! {
    /// Discrete Fourier transform along one axis.
    fft = Neither, Forward;
    /// Inverse of [`fft`].
    ifft = Neither, Inverse;
    /// Transform of real `x`. The result has only the non-negative frequencies.
    rfft = Result, Forward;
    /// Inverse of [`rfft`].
    irfft = Input, Inverse;
    /// Transform of a signal with Hermitian symmetry, given by its first half.
    hfft = Input, Forward;
    /// Inverse of [`hfft`].
    ihfft = Result, Inverse;
}

/// Defines the public functions that transform several axes.
macro_rules! many_axes {
    ($($(#[$doc:meta])* $op:ident = $half:ident, $direction:ident;)*) => {$(
        $(#[$doc])*
        pub fn $op(
            on: OpContext<'_>,
            x: &RawArray,
            s: Option<Lengths>,
            axes: Axes,
            norm: Norm,
        ) -> Result<RawArray> {
            let OpContext { backend: b, op, dtype, .. } = on;
            let (half, direction, double) = (Half::$half, Direction::$direction, is_double(dtype));
            let plan = rules::transforms(op, &x.shape, s, axes, half)?;
            Transform { op, half, direction, norm, double }.run(b, x, &plan)
        }
    )*};
}

many_axes! {
    /// Discrete Fourier transform over several axes.
    fftn = Neither, Forward;
    /// Inverse of [`fftn`].
    ifftn = Neither, Inverse;
    /// Like [`fftn`], for real `x`: along the last of the axes, the result has only the non-negative frequencies.
    rfftn = Result, Forward;
    /// Inverse of [`rfftn`].
    irfftn = Input, Inverse;
}

/// Moves the zero frequency to the middle of the axes.
pub fn fftshift(on: OpContext<'_>, x: &RawArray, axes: Axes) -> Result<RawArray> {
    rolled(on.backend, on.op, x.clone(), &rules::halves(on.op, axes, &x.shape, |n| n / 2)?)
}

/// Inverse of [`fftshift`].
pub fn ifftshift(on: OpContext<'_>, x: &RawArray, axes: Axes) -> Result<RawArray> {
    rolled(on.backend, on.op, x.clone(), &rules::halves(on.op, axes, &x.shape, |n| n.div_ceil(2))?)
}

/// Sample frequencies of [`fft`], in cycles per unit of the spacing `d`.
pub fn fftfreq(on: OpContext<'_>, n: usize, d: f64) -> Result<RawArray> {
    frequencies(on, n, n, n.div_ceil(2), d)
}

/// Sample frequencies of [`rfft`], in cycles per unit of the spacing `d`.
pub fn rfftfreq(on: OpContext<'_>, n: usize, d: f64) -> Result<RawArray> {
    let count = n / 2 + 1;
    frequencies(on, n, count, count, d)
}

fn frequencies(on: OpContext<'_>, n: usize, count: usize, negative: usize, d: f64) -> Result<RawArray> {
    let OpContext { backend: b, op, dtype, .. } = on;
    let step = rules::frequency_step(op, n, d)?;
    let out = b.uninit_raw(op, dtype, &[count])?;
    let kernel = b.kernel(op, &PROGRAM, Instance::new("frequencies", "", &[dtype]))?;
    let (elements, negative, points) = (count as u64, negative as u64, n as u64);
    // SAFETY: the array is contiguous and has `count` elements of the kernel's dtype.
    unsafe { b.launch(op, kernel, Grid::over(count), &[&out.pointer(), &elements, &negative, &points, &step]) }?;
    Ok(out)
}

#[cfg(test)]
mod tests;
