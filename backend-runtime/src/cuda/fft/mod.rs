//! Fourier transforms by cuFFT, one axis after the other: lanes are gathered along the last axis, transformed, and viewed
//! along the axis they belong to.

mod cufft;

use super::{
    Cuda, CudaArray,
    array::Raw,
    check::Listed,
    copy::{cast, contiguous, copied, copy_into},
    kernel::{Grid, Instance, Program, Source},
};
use crate::{
    Axes, Complex, ComplexFloat, DType, Element, Error, Float, Lengths, Norm, Real, Result,
    numpyish::fft::{Direction, axes_and_lengths, no_axis, of_half, points},
    shape,
};
use cufft::Kind;

static PROGRAM: Program = Program { name: "fft", source: Source::File(include_str!("../kernels/fft.cuh")) };

/// The kernels of this file, listed for the check.
pub(super) const KERNELS: Listed = (&PROGRAM, || {
    let complex = [DType::Complex64, DType::Complex128];
    let reals = [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64];
    let scaled = [DType::Float32, DType::Float64].into_iter().chain(complex);
    let scaled = scaled.map(|dtype| Instance::new("scaled", "", &[dtype]));
    let hermitian = complex.into_iter().map(|dtype| Instance::new("hermitian", "", &[dtype]));
    let frequencies = reals.into_iter().map(|dtype| Instance::new("frequencies", "", &[dtype]));
    scaled.chain(hermitian).chain(frequencies).collect()
});

/// What a transform along one axis makes of what.
#[derive(Clone, Copy)]
enum Shape {
    Complex,
    ToHalf,
    FromHalf,
}

/// A transform along one axis.
struct Pass {
    op: &'static str,
    axis: usize,
    points: usize,
    shape: Shape,
    direction: Direction,
    norm: Norm,
    double: bool,
}

impl Pass {
    fn real(&self) -> DType {
        if self.double { DType::Float64 } else { DType::Float32 }
    }

    /// The array with its lanes transformed; `x` stays as it is.
    fn run(&self, b: &Cuda, x: &Raw) -> Result<Raw> {
        let (op, n) = (self.op, self.points);
        let (complex, half) = (self.real().to_complex(), n / 2 + 1);
        let inverse = self.direction == Direction::Inverse;
        let (kind, from, to, in_len, out_len) = match self.shape {
            Shape::Complex if inverse => (Kind::Inverse, complex, complex, n, n),
            Shape::Complex => (Kind::Forward, complex, complex, n, n),
            Shape::ToHalf => (Kind::ToHalf, self.real(), complex, n, half),
            Shape::FromHalf => (Kind::FromHalf, complex, self.real(), half, n),
        };
        let lanes = self.lanes(b, x, from, in_len)?;
        if let Shape::FromHalf = self.shape {
            // the library knows the inverse: the other direction is that of the conjugate
            hermitian(b, op, &lanes, half, n, !inverse)?;
        }
        let mut shape = lanes.shape.clone();
        *shape.last_mut().ok_or_else(|| no_axis(op))? = out_len;
        let out = b.uninit_raw(op, to, &shape)?;
        cufft::run(b, op, kind, n, &lanes, &out)?;
        let conj = matches!(self.shape, Shape::ToHalf) && inverse;
        let by = self.direction.scale(self.norm, n);
        if conj || by != 1.0 {
            scaled(b, op, &out, by, conj)?;
        }
        Ok(out.permuted(&back(shape.len(), self.axis)))
    }

    /// The lanes along the last axis, of `len` elements: cut, or filled up with zeros. A new array where cuFFT or what
    /// comes before it writes to it.
    fn lanes(&self, b: &Cuda, x: &Raw, dtype: DType, len: usize) -> Result<Raw> {
        let op = self.op;
        let x = if x.dtype == dtype { x.clone() } else { as_dtype(b, op, x, dtype)? };
        let last = x.shape.len() - 1;
        let order: Vec<usize> = (0..=last).filter(|&axis| axis != self.axis).chain([self.axis]).collect();
        let x = x.permuted(&order);
        let kept = x.shape[last].min(len);
        let part = x.sliced(last, 0, kept, 1);
        if kept == len {
            // transforms to real numbers use their input as a work area
            return match self.shape {
                Shape::FromHalf => copied(b, op, &part),
                _ => contiguous(b, op, &part),
            };
        }
        let mut shape = x.shape.clone();
        shape[last] = len;
        let lanes = b.uninit_raw(op, dtype, &shape)?;
        b.set_bytes(op, &lanes, 0)?;
        copy_into(b, op, &part, &lanes.sliced(last, 0, kept, 1))?;
        Ok(lanes)
    }
}

/// The order of axes that brings the last one back to `axis`.
fn back(ndim: usize, axis: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ndim - 1).collect();
    order.insert(axis, ndim - 1);
    order
}

fn as_dtype(b: &Cuda, op: &'static str, x: &Raw, dtype: DType) -> Result<Raw> {
    b.check(op, x)?;
    Ok(match dtype {
        DType::Float32 => cast::<f32>(b, x)?.raw,
        DType::Float64 => cast::<f64>(b, x)?.raw,
        DType::Complex64 => cast::<Complex<f32>>(b, x)?.raw,
        DType::Complex128 => cast::<Complex<f64>>(b, x)?.raw,
        other => return Err(Error::DType { op, dtype: other }),
    })
}

fn scaled(b: &Cuda, op: &'static str, x: &Raw, by: f64, conj: bool) -> Result<()> {
    let n = x.size() as u64;
    if n == 0 {
        return Ok(());
    }
    let kernel = b.kernel(op, &PROGRAM, Instance::new("scaled", "", &[x.dtype]))?;
    // SAFETY: `x` is contiguous and has `n` elements of the kernel's dtype.
    unsafe { b.launch(op, kernel, Grid::over(x.size()), &[&x.pointer(), &n, &by, &u32::from(conj)]) }
}

fn hermitian(b: &Cuda, op: &'static str, x: &Raw, m: usize, points: usize, conj: bool) -> Result<()> {
    let n = x.size() as u64;
    if n == 0 {
        return Ok(());
    }
    let kernel = b.kernel(op, &PROGRAM, Instance::new("hermitian", "", &[x.dtype]))?;
    let (m, points, conj) = (m as u64, points as u64, u32::from(conj));
    // SAFETY: `x` is contiguous and has `n` elements of the kernel's dtype, in lanes of `m`.
    unsafe { b.launch(op, kernel, Grid::over(x.size()), &[&x.pointer(), &n, &m, &points, &conj]) }
}

/// Whether transforms of `T` are those of double precision.
fn is_double<T: Float>() -> bool {
    <T::Complex as Element>::DTYPE == DType::Complex128
}

/// The public functions of one axis.
macro_rules! one_axis {
    ($($(#[$doc:meta])* $op:ident<T: $bound:ident> -> $result:ident = $shape:ident, $direction:ident, $default:expr;)*) => {$(
        $(#[$doc])*
        pub fn $op<T: $bound>(
            b: &Cuda,
            x: &CudaArray<T>,
            n: Option<usize>,
            axis: isize,
            norm: Norm,
        ) -> Result<CudaArray<T::$result>> {
            let op = stringify!($op);
            let axis = shape::axis(op, axis, x.shape().len())?;
            let default: fn(usize) -> usize = $default;
            let points = points(op, x.shape(), n, default(x.shape()[axis]))?;
            let direction = Direction::$direction;
            let pass = Pass { op, axis, points, shape: Shape::$shape, direction, norm, double: is_double::<T>() };
            Ok(CudaArray::of(pass.run(b, &x.raw)?))
        }
    )*};
}

one_axis! {
    /// Discrete Fourier transform along one axis.
    fft<T: Float> -> Complex = Complex, Forward, |n| n;
    /// Inverse of [`fft`].
    ifft<T: Float> -> Complex = Complex, Inverse, |n| n;
    /// Transform of real `x`: the non-negative frequencies.
    rfft<T: Real> -> Complex = ToHalf, Forward, |n| n;
    /// Inverse of [`rfft`].
    irfft<T: ComplexFloat> -> Real = FromHalf, Inverse, of_half;
    /// Transform of a signal with Hermitian symmetry, of which the first half is given.
    hfft<T: ComplexFloat> -> Real = FromHalf, Forward, of_half;
    /// Inverse of [`hfft`].
    ihfft<T: Real> -> Complex = ToHalf, Inverse, |n| n;
}

/// The public functions of several axes.
macro_rules! many_axes {
    ($($(#[$doc:meta])* $op:ident<T: $bound:ident> -> $result:ident = $shape:ident, $direction:ident;)*) => {$(
        $(#[$doc])*
        pub fn $op<T: $bound>(
            b: &Cuda,
            x: &CudaArray<T>,
            s: Option<Lengths>,
            axes: Axes,
            norm: Norm,
        ) -> Result<CudaArray<T::$result>> {
            let double = is_double::<T>();
            let many = Many { op: stringify!($op), shape: Shape::$shape, direction: Direction::$direction, norm, double };
            Ok(CudaArray::of(many.run(b, &x.raw, s, axes)?))
        }
    )*};
}

many_axes! {
    /// Discrete Fourier transform over several axes.
    fftn<T: Float> -> Complex = Complex, Forward;
    /// Inverse of [`fftn`].
    ifftn<T: Float> -> Complex = Complex, Inverse;
    /// [`fftn`] of real `x`: the last of the axes keeps its non-negative frequencies.
    rfftn<T: Real> -> Complex = ToHalf, Forward;
    /// Inverse of [`rfftn`].
    irfftn<T: ComplexFloat> -> Real = FromHalf, Inverse;
}

/// A transform over several axes. The last of them is the one of real numbers.
struct Many {
    op: &'static str,
    shape: Shape,
    direction: Direction,
    norm: Norm,
    double: bool,
}

impl Many {
    fn run(&self, b: &Cuda, x: &Raw, s: Option<Lengths>, axes: Axes) -> Result<Raw> {
        let from_half = matches!(self.shape, Shape::FromHalf);
        let axes = axes_and_lengths(self.op, &x.shape, s, axes, from_half)?;
        let Some((&last, others)) = axes.split_last() else {
            return match self.shape {
                Shape::Complex if self.double => as_dtype(b, self.op, x, DType::Complex128),
                Shape::Complex => as_dtype(b, self.op, x, DType::Complex64),
                _ => Err(no_axis(self.op)),
            };
        };
        let others = others.iter().map(|&at| self.pass(Shape::Complex, at));
        // the axis of real numbers comes first on the way to frequencies, and last on the way back
        if from_half {
            let x = others.rev().try_fold(x.clone(), |x, pass| pass.run(b, &x))?;
            return self.pass(self.shape, last).run(b, &x);
        }
        let x = self.pass(self.shape, last).run(b, x)?;
        others.rev().try_fold(x, |x, pass| pass.run(b, &x))
    }

    fn pass(&self, shape: Shape, (axis, points): (usize, usize)) -> Pass {
        let Many { op, direction, norm, double, .. } = *self;
        Pass { op, axis, points, shape, direction, norm, double }
    }
}

/// Sample frequencies of [`fft`], in cycles per unit of the spacing `d`.
pub fn fftfreq<T: Real>(b: &Cuda, n: usize, d: f64) -> Result<CudaArray<T>> {
    frequencies("fftfreq", b, n, n, n.div_ceil(2), d)
}

/// Sample frequencies of [`rfft`], in cycles per unit of the spacing `d`.
pub fn rfftfreq<T: Real>(b: &Cuda, n: usize, d: f64) -> Result<CudaArray<T>> {
    let count = n / 2 + 1;
    frequencies("rfftfreq", b, n, count, count, d)
}

fn frequencies<T: Real>(
    op: &'static str,
    b: &Cuda,
    n: usize,
    count: usize,
    negative: usize,
    d: f64,
) -> Result<CudaArray<T>> {
    if n == 0 || d == 0.0 {
        return Err(Error::argument(op, format!("n is {n} and d is {d}; neither may be 0")));
    }
    let out = b.uninit_raw(op, T::DTYPE, &[count])?;
    let kernel = b.kernel(op, &PROGRAM, Instance::new("frequencies", "", &[T::DTYPE]))?;
    let step = 1.0 / (n as f64 * d);
    let (elements, negative, points) = (count as u64, negative as u64, n as u64);
    // SAFETY: the array is contiguous and has `count` elements of the kernel's dtype.
    unsafe { b.launch(op, kernel, Grid::over(count), &[&out.pointer(), &elements, &negative, &points, &step]) }?;
    Ok(CudaArray::of(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_go_back_where_they_came_from() {
        for axis in 0..4 {
            let there: Vec<usize> = (0..4).filter(|&a| a != axis).chain([axis]).collect();
            let order = back(4, axis);
            assert!((0..4).all(|k| there[order[k]] == k), "{axis}: {order:?}");
        }
    }
}
