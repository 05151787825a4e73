//! Fourier transforms.

use super::{
    Torch, TorchArray,
    call::{OpContext, Schema, args},
    casting::narrow,
    manipulation::rotate,
    ops,
    strategy::DtypeStrategy,
    tensor::{Number, Tensor},
};
use crate::{
    Axes, ComplexFloat, DType, Element, Float, Lengths, Norm, Numeric, Real, Result,
    rules::{self, Half, Transform},
};

/// Converts the array to a dtype that libtorch can transform.
fn input<T: Float>(on: OpContext<'_>, x: &TorchArray<T>) -> Result<Tensor> {
    on.enter_typed(DtypeStrategy::Float32, x)
}

macro_rules! along_one_axis {
    ($($(#[$doc:meta])* $name:ident<$bound:ident> -> $out:ident = $schema:ident, half: $half:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name<T: $bound>(b: &Torch, x: &TorchArray<T>, n: Option<usize>, axis: isize, norm: Norm) -> Result<TorchArray<T::$out>> {
            let on = b.on::<T>(stringify!($name));
            let Transform { axes, shape } = rules::transform(on.op, x.shape(), n, axis, Half::$half)?;
            if x.tensor().size() == 0 {
                // libtorch refuses empty input; NumPy pads empty input with zeros, whose transform is zero
                return on.array(on.full_typed(&shape, <T::$out>::ZERO)?);
            }
            let (axis, n) = axes[0];
            on.array(on.call(&ops::$schema, args![&input(on, x)?, n, axis, norm.name()])?)
        }
    )*};
}
along_one_axis! {
    /// Discrete Fourier transform along one axis.
    fft<Float> -> Complex = FFT, half: Neither;
    /// Inverse of `fft`.
    ifft<Float> -> Complex = IFFT, half: Neither;
    /// `fft` of real `x`: the non-negative frequencies.
    rfft<Real> -> Complex = RFFT, half: Result;
    /// Inverse of `rfft`.
    irfft<ComplexFloat> -> Real = IRFFT, half: Input;
    /// `fft` of a signal with Hermitian symmetry, given by its first half.
    hfft<ComplexFloat> -> Real = HFFT, half: Input;
    /// Inverse of `hfft`.
    ihfft<Real> -> Complex = IHFFT, half: Result;
}

/// Transforms along one axis after another, with the op `along` for the axis with the half spectrum, and the op
/// `complex` for the other axes.
fn one_by_one(
    on: OpContext<'_>,
    x: Tensor,
    plan: &Transform,
    half: Half,
    norm: Norm,
    [along, complex]: [&Schema; 2],
) -> Result<Tensor> {
    let steps = plan.steps(half);
    let special = if half == Half::Input { steps.len() - 1 } else { 0 };
    steps.into_iter().enumerate().try_fold(x, |x, (i, (axis, n, _))| {
        on.call(if i == special { along } else { complex }, args![&x, n, axis, norm.name()])
    })
}

macro_rules! over_several_axes {
    ($($(#[$doc:meta])* $name:ident<$bound:ident> -> $out:ident = $schema:ident, $along:ident, $complex:ident, half: $half:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name<T: $bound>(b: &Torch, x: &TorchArray<T>, s: Option<Lengths>, axes: Axes, norm: Norm) -> Result<TorchArray<T::$out>> {
            let on = b.on::<T>(stringify!($name));
            let plan = rules::transforms(on.op, x.shape(), s, axes, Half::$half)?;
            if plan.axes.is_empty() {
                return on.array(on.cast(x.tensor(), <T::$out>::DTYPE)?);
            }
            if x.tensor().size() == 0 {
                return on.array(on.full_typed(&plan.shape, <T::$out>::ZERO)?);
            }
            let x = input(on, x)?;
            if plan.repeats() {
                return on.array(one_by_one(on, x, &plan, Half::$half, norm, [&ops::$along, &ops::$complex])?);
            }
            let (axes, lengths): (Vec<usize>, Vec<usize>) = plan.axes.into_iter().unzip();
            on.array(on.call(&ops::$schema, args![&x, &lengths, &axes, norm.name()])?)
        }
    )*};
}
over_several_axes! {
    /// Discrete Fourier transform over several axes.
    fftn<Float> -> Complex = FFTN, FFT, FFT, half: Neither;
    /// Inverse of `fftn`.
    ifftn<Float> -> Complex = IFFTN, IFFT, IFFT, half: Neither;
    /// `fftn` of real `x`: the last axis keeps its non-negative frequencies.
    rfftn<Real> -> Complex = RFFTN, RFFT, FFT, half: Result;
    /// Inverse of `rfftn`.
    irfftn<ComplexFloat> -> Real = IRFFTN, IRFFT, IFFT, half: Input;
}

/// Moves the zero frequency to the middle of the axes.
pub fn fftshift<T: Element>(b: &Torch, x: &TorchArray<T>, axes: Axes) -> Result<TorchArray<T>> {
    centred(b.on::<T>("fftshift"), x, axes, |n| n / 2)
}

/// Inverse of `fftshift`.
pub fn ifftshift<T: Element>(b: &Torch, x: &TorchArray<T>, axes: Axes) -> Result<TorchArray<T>> {
    centred(b.on::<T>("ifftshift"), x, axes, |n| n - n / 2)
}

fn centred<T: Element>(
    on: OpContext<'_>,
    x: &TorchArray<T>,
    axes: Axes,
    shift: fn(usize) -> usize,
) -> Result<TorchArray<T>> {
    on.array(rotate(on, x.tensor(), &rules::halves(on.op, axes, x.shape(), shift)?)?)
}

/// Sample frequencies: `count` integers divided by `n * d`.
fn frequencies<T: Real>(
    on: OpContext<'_>,
    n: usize,
    count: usize,
    d: f64,
    integers: impl Fn(OpContext<'_>) -> Result<Tensor>,
) -> Result<TorchArray<T>> {
    let step = rules::frequency_step(on.op, n, d)?;
    rules::count(on.op, &[count], size_of::<T>())?;
    let integers = on.cast(&integers(on)?, DType::Float64)?;
    let scaled = on.call(&ops::MUL, args![&integers, Number::of(step)])?;
    on.array(narrow(on, &scaled, T::DTYPE)?)
}

/// Sample frequencies of `fft`, for samples `d` apart.
pub fn fftfreq<T: Real>(b: &Torch, n: usize, d: f64) -> Result<TorchArray<T>> {
    let positive = n - n / 2;
    frequencies(b.on::<T>("fftfreq"), n, n, d, |on| {
        let up = on.count_up(n)?;
        let wrapped = on.call(&ops::SUB, args![&up, Number::of(n as i64)])?;
        on.select(&on.call(&ops::LT, args![&up, Number::of(positive as i64)])?, &up, &wrapped)
    })
}

/// Sample frequencies of `rfft`, for samples `d` apart.
pub fn rfftfreq<T: Real>(b: &Torch, n: usize, d: f64) -> Result<TorchArray<T>> {
    frequencies(b.on::<T>("rfftfreq"), n, n / 2 + 1, d, |on| on.count_up(n / 2 + 1))
}
