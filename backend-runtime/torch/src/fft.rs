//! Fourier transforms, with libtorch's ops.

use super::{
    call::{OpContext, Schema, args},
    casting::narrow,
    hosted::{Hosted, hosted, placed},
    manipulation::rotate,
    ops,
    strategy::DtypeStrategy,
    tensor::{Number, Tensor},
};
use backend_core::{
    Axes, DType, Lengths, Norm, Result,
    raw::RawElement,
    rules::{self, Half, Transform},
    spreading::KernelOptions,
};
use backend_numpyish::fft::nufft;

/// Converts the array to a dtype that libtorch can transform.
fn input(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    on.enter(DtypeStrategy::Float32, x)
}

macro_rules! along_one_axis {
    ($($(#[$doc:meta])* $name:ident -> $out:ident = $schema:ident, half: $half:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(on: OpContext<'_>, x: &Tensor, n: Option<usize>, axis: isize, norm: Norm) -> Result<Tensor> {
            let Transform { axes, shape } = rules::transform(on.op, x.shape(), n, axis, Half::$half)?;
            if x.size() == 0 {
                // libtorch refuses empty input; NumPy pads empty input with zeros, whose transform is zero
                return on.full(&shape, RawElement::zero(on.dtype.$out()));
            }
            let (axis, n) = axes[0];
            on.call(&ops::$schema, args![&input(on, x)?, n, axis, norm.name()])
        }
    )*};
}
along_one_axis! {
    /// Discrete Fourier transform along one axis.
    fft -> to_complex = FFT, half: Neither;
    /// Inverse of `fft`.
    ifft -> to_complex = IFFT, half: Neither;
    /// `fft` of real `x`: the non-negative frequencies.
    rfft -> to_complex = RFFT, half: Result;
    /// Inverse of `rfft`.
    irfft -> to_real = IRFFT, half: Input;
    /// `fft` of a signal with Hermitian symmetry, given by its first half.
    hfft -> to_real = HFFT, half: Input;
    /// Inverse of `hfft`.
    ihfft -> to_complex = IHFFT, half: Result;
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
    ($($(#[$doc:meta])* $name:ident -> $out:ident = $schema:ident, $along:ident, $complex:ident, half: $half:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(on: OpContext<'_>, x: &Tensor, s: Option<Lengths>, axes: Axes, norm: Norm) -> Result<Tensor> {
            let plan = rules::transforms(on.op, x.shape(), s, axes, Half::$half)?;
            if plan.axes.is_empty() {
                return on.cast(x, on.dtype.$out());
            }
            if x.size() == 0 {
                return on.full(&plan.shape, RawElement::zero(on.dtype.$out()));
            }
            let x = input(on, x)?;
            if plan.repeats() {
                return one_by_one(on, x, &plan, Half::$half, norm, [&ops::$along, &ops::$complex]);
            }
            let (axes, lengths): (Vec<usize>, Vec<usize>) = plan.axes.into_iter().unzip();
            on.call(&ops::$schema, args![&x, &lengths, &axes, norm.name()])
        }
    )*};
}
over_several_axes! {
    /// Discrete Fourier transform over several axes.
    fftn -> to_complex = FFTN, FFT, FFT, half: Neither;
    /// Inverse of `fftn`.
    ifftn -> to_complex = IFFTN, IFFT, IFFT, half: Neither;
    /// `fftn` of real `x`: along the last of the axes, the result has only the non-negative frequencies.
    rfftn -> to_complex = RFFTN, RFFT, FFT, half: Result;
    /// Inverse of `rfftn`.
    irfftn -> to_real = IRFFTN, IRFFT, IFFT, half: Input;
}

/// Moves the zero frequency to the middle of the axes.
pub fn fftshift(on: OpContext<'_>, x: &Tensor, axes: Axes) -> Result<Tensor> {
    centred(on, x, axes, |n| n / 2)
}

/// Inverse of `fftshift`.
pub fn ifftshift(on: OpContext<'_>, x: &Tensor, axes: Axes) -> Result<Tensor> {
    centred(on, x, axes, |n| n - n / 2)
}

fn centred(on: OpContext<'_>, x: &Tensor, axes: Axes, shift: fn(usize) -> usize) -> Result<Tensor> {
    rotate(on, x, &rules::halves(on.op, axes, x.shape(), shift)?)
}

/// Sample frequencies: the `count` numbers that `integers` returns, divided by `n * d`.
fn frequencies(
    on: OpContext<'_>,
    n: usize,
    count: usize,
    d: f64,
    integers: impl Fn(OpContext<'_>) -> Result<Tensor>,
) -> Result<Tensor> {
    let step = rules::frequency_step(on.op, n, d)?;
    rules::count(on.op, &[count], on.dtype.size())?;
    let integers = on.cast(&integers(on)?, DType::Float64)?;
    let scaled = on.call(&ops::MUL, args![&integers, Number::of(step)])?;
    narrow(on, &scaled, on.dtype)
}

/// Sample frequencies of `fft`, for samples `d` apart.
pub fn fftfreq(on: OpContext<'_>, n: usize, d: f64) -> Result<Tensor> {
    let positive = n - n / 2;
    frequencies(on, n, n, d, |on| {
        let up = on.count_up(n)?;
        let wrapped = on.call(&ops::SUB, args![&up, Number::of(n as i64)])?;
        on.select(&on.call(&ops::LT, args![&up, Number::of(positive as i64)])?, &up, &wrapped)
    })
}

/// Sample frequencies of `rfft`, for samples `d` apart.
pub fn rfftfreq(on: OpContext<'_>, n: usize, d: f64) -> Result<Tensor> {
    frequencies(on, n, n / 2 + 1, d, |on| on.count_up(n / 2 + 1))
}

/// Spreads values at non-uniform points over grids. libtorch has no such op, so the loops of
/// [`Numpyish`](backend_core::numpyish::Numpyish) run on host memory.
#[allow(clippy::too_many_arguments)] // the op table fixes the parameters
pub fn nufft_spread(
    on: OpContext<'_>,
    points: &Tensor,
    values: &Tensor,
    grid: &[usize],
    width: usize,
    beta: f64,
    eps: f64,
    axis: isize,
    sorted: Option<&Tensor>,
) -> Result<Tensor> {
    let (reals, integers) = (on.with_dtype(on.dtype.to_real()), on.with_dtype(DType::Int64));
    let (points, values) = (hosted(reals, points)?, hosted(on, values)?);
    let sorted = sorted.map(|sorted| hosted(integers, sorted)).transpose()?;
    let kernel = KernelOptions { width, beta, eps, axis };
    let sorted = sorted.as_ref().map(Hosted::view);
    placed(on, nufft::nufft_spread_of(points.view(), values.view(), grid, kernel, sorted))
}

/// Interpolates grids at non-uniform points, by the loops of [`Numpyish`](backend_core::numpyish::Numpyish).
#[allow(clippy::too_many_arguments)] // the op table fixes the parameters
pub fn nufft_interpolate(
    on: OpContext<'_>,
    points: &Tensor,
    grid: &Tensor,
    width: usize,
    beta: f64,
    eps: f64,
    axis: isize,
    sorted: Option<&Tensor>,
) -> Result<Tensor> {
    let (reals, integers) = (on.with_dtype(on.dtype.to_real()), on.with_dtype(DType::Int64));
    let (points, grid) = (hosted(reals, points)?, hosted(on, grid)?);
    let sorted = sorted.map(|sorted| hosted(integers, sorted)).transpose()?;
    let kernel = KernelOptions { width, beta, eps, axis };
    placed(on, nufft::nufft_interpolate_of(points.view(), grid.view(), kernel, sorted.as_ref().map(Hosted::view)))
}

/// Sorts points into the order in which they are spread. Returns integers that `nufft_spread` and `nufft_interpolate`
/// take as `sorted`.
pub fn nufft_sort(on: OpContext<'_>, points: &Tensor, grid: &[usize], width: usize) -> Result<Tensor> {
    placed(on.with_dtype(DType::Int64), nufft::nufft_sort_of(hosted(on, points)?.view(), grid, width))
}
