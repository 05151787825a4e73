//! Fourier transforms.

use super::{
    Torch, TorchArray,
    call::{OpContext, args},
    create::narrow,
    ops,
    strategy::DtypeStrategy,
    tensor::{Number, Tensor},
};
use crate::{Axes, Complex, ComplexFloat, DType, Element, Error, Float, Lengths, Norm, Numeric, Real, Result, shape};

/// Whether one side of a transform has the non-negative frequencies only.
#[derive(Clone, Copy, PartialEq)]
enum Half {
    /// Neither: complex to complex.
    Neither,
    /// The result: of real input.
    Result,
    /// The input: of a real result.
    Input,
}

impl Half {
    /// How many points a transform of `n` elements has where nothing else is asked for.
    fn points(self, n: usize) -> usize {
        if self == Half::Input { 2 * n.saturating_sub(1) } else { n }
    }

    /// How many elements come of `n` points.
    fn results(self, n: usize) -> usize {
        if self == Half::Result { n / 2 + 1 } else { n }
    }
}

/// The shape of the result of transforms with so many points along these axes. No points at all are refused, and results
/// over any memory.
fn result_shape(op: &'static str, shape: &[usize], half: Half, points: &[(usize, usize)]) -> Result<Vec<usize>> {
    let mut result = shape.to_vec();
    for &(axis, n) in points {
        if n == 0 {
            return Err(Error::argument(op, format!("a transform of 0 points along axis {axis} of shape {shape:?}")));
        }
        result[axis] = n;
    }
    shape::count(op, &result, size_of::<Complex<f64>>())?;
    if let Some(&(axis, n)) = points.last() {
        result[axis] = half.results(n);
    }
    Ok(result)
}

/// The array in a dtype that libtorch transforms.
fn input<T: Float>(on: OpContext<'_>, x: &TorchArray<T>) -> Result<Tensor> {
    on.enter(DtypeStrategy::Float32, x)
}

macro_rules! along_one_axis {
    ($($(#[$doc:meta])* $name:ident<$bound:ident> -> $out:ident = $schema:ident, half: $half:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name<T: $bound>(b: &Torch, x: &TorchArray<T>, n: Option<usize>, axis: isize, norm: Norm) -> Result<TorchArray<T::$out>> {
            let on = b.on(stringify!($name));
            let axis = shape::axis(on.op, axis, x.shape().len())?;
            let n = n.unwrap_or_else(|| Half::$half.points(x.shape()[axis]));
            let result = result_shape(on.op, x.shape(), Half::$half, &[(axis, n)])?;
            if x.tensor().size() == 0 {
                // libtorch refuses to transform nothing; the zeros that fill it up are their own transform
                return on.array(on.full(&result, <T::$out>::ZERO)?);
            }
            on.array(on.call(&ops::$schema, args![&input(on, x)?, n, axis, norm.name()])?)
        }
    )*};
}
along_one_axis! {
    /// Discrete Fourier transform along one axis.
    fft<Float> -> Complex = FFT, half: Neither;
    /// Inverse of `fft`.
    ifft<Float> -> Complex = IFFT, half: Neither;
    /// `fft` of real x: the non-negative frequencies.
    rfft<Real> -> Complex = RFFT, half: Result;
    /// Inverse of `rfft`.
    irfft<ComplexFloat> -> Real = IRFFT, half: Input;
    /// `fft` of a signal with Hermitian symmetry.
    hfft<ComplexFloat> -> Real = HFFT, half: Input;
    /// Inverse of `hfft`.
    ihfft<Real> -> Complex = IHFFT, half: Result;
}

/// The axes of a transform over several, and how many points each has.
fn points(
    op: &'static str,
    shape: &[usize],
    half: Half,
    s: Option<Lengths>,
    axes: Axes,
) -> Result<Vec<(usize, usize)>> {
    let Some(s) = s else {
        let mut points: Vec<_> = axes.resolve(op, shape.len())?.into_iter().map(|a| (a, shape[a])).collect();
        points.last_mut().into_iter().for_each(|(_, n)| *n = half.points(*n));
        return Ok(points);
    };
    let too_many = || Error::argument(op, format!("more lengths than the {} axes", shape.len()));
    let s = s.as_slice().ok_or_else(too_many)?;
    let axes = match axes {
        // with lengths and no axes, the last ones
        Axes::All => (shape.len().checked_sub(s.len()).ok_or_else(too_many)?..shape.len()).collect(),
        list => list.resolve(op, shape.len())?,
    };
    if axes.len() != s.len() {
        return Err(Error::argument(op, format!("{} lengths do not fit {} axes", s.len(), axes.len())));
    }
    Ok(axes.into_iter().zip(s.iter().copied()).collect())
}

macro_rules! over_several_axes {
    ($($(#[$doc:meta])* $name:ident<$bound:ident> -> $out:ident = $schema:ident, half: $half:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name<T: $bound>(b: &Torch, x: &TorchArray<T>, s: Option<Lengths>, axes: Axes, norm: Norm) -> Result<TorchArray<T::$out>> {
            let on = b.on(stringify!($name));
            let points = points(on.op, x.shape(), Half::$half, s, axes)?;
            let result = result_shape(on.op, x.shape(), Half::$half, &points)?;
            if points.is_empty() {
                // over no axis there is nothing to transform, and none to have half of
                return match Half::$half {
                    Half::Neither => on.array(on.cast(x.tensor(), <T::$out>::DTYPE)?),
                    _ => Err(Error::shape(on.op, x.shape(), "has no axis to transform")),
                };
            }
            if x.tensor().size() == 0 {
                return on.array(on.full(&result, <T::$out>::ZERO)?);
            }
            let (axes, lengths): (Vec<usize>, Vec<usize>) = points.into_iter().unzip();
            on.array(on.call(&ops::$schema, args![&input(on, x)?, &lengths, &axes, norm.name()])?)
        }
    )*};
}
over_several_axes! {
    /// Discrete Fourier transform over several axes.
    fftn<Float> -> Complex = FFTN, half: Neither;
    /// Inverse of `fftn`.
    ifftn<Float> -> Complex = IFFTN, half: Neither;
    /// `fftn` of real x: the last axis keeps its non-negative frequencies.
    rfftn<Real> -> Complex = RFFTN, half: Result;
    /// Inverse of `rfftn`.
    irfftn<ComplexFloat> -> Real = IRFFTN, half: Input;
}

/// The integers over `n * d`.
fn frequencies<T: Real>(
    on: OpContext<'_>,
    n: usize,
    d: f64,
    integers: impl Fn(OpContext<'_>) -> Result<Tensor>,
) -> Result<TorchArray<T>> {
    let step = shape::frequency_step(on.op, n, d)?;
    shape::count(on.op, &[n], size_of::<f64>())?;
    let integers = on.cast(&integers(on)?, DType::Float64)?;
    let scaled = on.call(&ops::MUL, args![&integers, Number::of(step)])?;
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
