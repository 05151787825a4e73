//! Fourier transforms.

use super::{
    Torch, TorchArray,
    call::{On, Schema, args},
    create::narrow,
    ops,
    tensor::{Number, Tensor},
    via::Via,
};
use crate::{Axes, ComplexFloat, DType, Element, Error, Float, Lengths, Norm, Real, Result, shape};

/// The array in a dtype that libtorch transforms.
fn input<T: Float>(on: On<'_>, x: &TorchArray<T>) -> Result<Tensor> {
    on.enter(Via::Float32, x)
}

/// A transform along one axis. `points` is the length of the transform where none is given, from that of the axis.
fn along<T: Float, U: Element>(
    on: On<'_>,
    schema: &Schema,
    points: fn(usize) -> usize,
    (x, n, axis, norm): (&TorchArray<T>, Option<usize>, isize, Norm),
) -> Result<TorchArray<U>> {
    let axis = shape::axis(on.op, axis, x.shape().len())?;
    let n = n.unwrap_or_else(|| points(x.shape()[axis]));
    check_points(on.op, x.shape(), &[(axis, n)])?;
    on.array(on.call(schema, args![&input(on, x)?, n, axis, norm.name()])?)
}

/// Refuses transforms of no points, and results over any memory.
fn check_points(op: &'static str, shape: &[usize], points: &[(usize, usize)]) -> Result<()> {
    let mut result = shape.to_vec();
    for &(axis, n) in points {
        if n == 0 {
            return Err(Error::argument(op, format!("a transform of 0 points along axis {axis} of shape {shape:?}")));
        }
        result[axis] = n;
    }
    shape::count(op, &result, size_of::<crate::Complex<f64>>()).map(drop)
}

/// As many points as there are elements.
fn all(n: usize) -> usize {
    n
}

/// The real points of `m` frequencies.
fn real_points(m: usize) -> usize {
    2 * m.saturating_sub(1)
}

macro_rules! transforms {
    ($($(#[$doc:meta])* $name:ident<$bound:ident> -> $out:ident = $schema:ident, $points:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name<T: $bound>(b: &Torch, x: &TorchArray<T>, n: Option<usize>, axis: isize, norm: Norm) -> Result<TorchArray<T::$out>> {
            along(b.on(stringify!($name)), &ops::$schema, $points, (x, n, axis, norm))
        }
    )*};
}
transforms! {
    /// Discrete Fourier transform along one axis.
    fft<Float> -> Complex = FFT, all;
    /// Inverse of `fft`.
    ifft<Float> -> Complex = IFFT, all;
    /// `fft` of real x: the non-negative frequencies.
    rfft<Real> -> Complex = RFFT, all;
    /// Inverse of `rfft`.
    irfft<ComplexFloat> -> Real = IRFFT, real_points;
    /// `fft` of a signal with Hermitian symmetry.
    hfft<ComplexFloat> -> Real = HFFT, real_points;
    /// Inverse of `hfft`.
    ihfft<Real> -> Complex = IHFFT, all;
}

/// The axes of a transform over several, and how many points each has.
fn lengths(op: &'static str, shape: &[usize], s: Option<Lengths>, axes: Axes) -> Result<Vec<(usize, usize)>> {
    let Some(s) = s else { return Ok(axes.resolve(op, shape.len())?.into_iter().map(|a| (a, shape[a])).collect()) };
    let too_many = |n: usize| Error::argument(op, format!("{n} lengths are more than the axes of {shape:?}"));
    let s = s.as_slice().ok_or_else(|| too_many(15))?;
    let axes = match axes {
        // with lengths and no axes, the last ones
        Axes::All => (shape.len().checked_sub(s.len()).ok_or_else(|| too_many(s.len()))?..shape.len()).collect(),
        list => list.resolve(op, shape.len())?,
    };
    if axes.len() != s.len() {
        return Err(Error::argument(op, format!("{} lengths do not fit {} axes", s.len(), axes.len())));
    }
    Ok(axes.into_iter().zip(s.iter().copied()).collect())
}

/// A transform over several axes.
fn over<T: Float, U: Element>(
    on: On<'_>,
    schema: &Schema,
    x: &TorchArray<T>,
    points: &[(usize, usize)],
    norm: Norm,
) -> Result<TorchArray<U>> {
    check_points(on.op, x.shape(), points)?;
    let (axes, lengths): (Vec<usize>, Vec<usize>) = points.iter().copied().unzip();
    on.array(on.call(schema, args![&input(on, x)?, &lengths, &axes, norm.name()])?)
}

fn complex_over<T: Float>(
    on: On<'_>,
    schema: &Schema,
    x: &TorchArray<T>,
    s: Option<Lengths>,
    axes: Axes,
    norm: Norm,
) -> Result<TorchArray<T::Complex>> {
    let points = lengths(on.op, x.shape(), s, axes)?;
    // over no axis there is nothing to transform
    if points.is_empty() {
        on.array(on.cast(x.tensor(), T::Complex::DTYPE)?)
    } else {
        over(on, schema, x, &points, norm)
    }
}

/// A real transform needs an axis whose frequencies it halves.
fn halved(op: &'static str, shape: &[usize], points: &[(usize, usize)]) -> Result<()> {
    if points.is_empty() { Err(Error::shape(op, shape, "has no axis to transform")) } else { Ok(()) }
}

/// Discrete Fourier transform over several axes.
pub fn fftn<T: Float>(
    b: &Torch,
    x: &TorchArray<T>,
    s: Option<Lengths>,
    axes: Axes,
    norm: Norm,
) -> Result<TorchArray<T::Complex>> {
    complex_over(b.on("fftn"), &ops::FFTN, x, s, axes, norm)
}

/// Inverse of `fftn`.
pub fn ifftn<T: Float>(
    b: &Torch,
    x: &TorchArray<T>,
    s: Option<Lengths>,
    axes: Axes,
    norm: Norm,
) -> Result<TorchArray<T::Complex>> {
    complex_over(b.on("ifftn"), &ops::IFFTN, x, s, axes, norm)
}

/// `fftn` of real x: the last axis keeps its non-negative frequencies.
pub fn rfftn<T: Real>(
    b: &Torch,
    x: &TorchArray<T>,
    s: Option<Lengths>,
    axes: Axes,
    norm: Norm,
) -> Result<TorchArray<T::Complex>> {
    let on = b.on("rfftn");
    let points = lengths(on.op, x.shape(), s, axes)?;
    halved(on.op, x.shape(), &points)?;
    over(on, &ops::RFFTN, x, &points, norm)
}

/// Inverse of `rfftn`.
pub fn irfftn<T: ComplexFloat>(
    b: &Torch,
    x: &TorchArray<T>,
    s: Option<Lengths>,
    axes: Axes,
    norm: Norm,
) -> Result<TorchArray<T::Real>> {
    let on = b.on("irfftn");
    let mut points = lengths(on.op, x.shape(), s, axes)?;
    halved(on.op, x.shape(), &points)?;
    if s.is_none()
        && let Some((_, n)) = points.last_mut()
    {
        *n = real_points(*n);
    }
    over(on, &ops::IRFFTN, x, &points, norm)
}

/// The integers over `n * d`.
fn frequencies<T: Real>(
    on: On<'_>,
    n: usize,
    d: f64,
    integers: impl Fn(On<'_>) -> Result<Tensor>,
) -> Result<TorchArray<T>> {
    if n == 0 {
        return Err(Error::argument(on.op, "a transform of 0 points has no frequencies"));
    }
    shape::count(on.op, &[n], size_of::<f64>())?;
    let integers = on.cast(&integers(on)?, DType::Float64)?;
    let scaled = on.call(&ops::MUL, args![&integers, Number::of(1.0 / (n as f64 * d))])?;
    on.array(narrow(on, &scaled, T::DTYPE)?)
}

/// Sample frequencies of `fft`.
pub fn fftfreq<T: Real>(b: &Torch, n: usize, d: f64) -> Result<TorchArray<T>> {
    let positive = n - n / 2;
    frequencies(b.on("fftfreq"), n, d, |on| {
        let up = on.count_up(n)?;
        let wrapped = on.call(&ops::SUB, args![&up, Number::of(n as i64)])?;
        on.select(&on.call(&ops::LT, args![&up, Number::of(positive as i64)])?, &up, &wrapped)
    })
}

/// Sample frequencies of `rfft`.
pub fn rfftfreq<T: Real>(b: &Torch, n: usize, d: f64) -> Result<TorchArray<T>> {
    frequencies(b.on("rfftfreq"), n, d, |on| on.count_up(n / 2 + 1))
}
