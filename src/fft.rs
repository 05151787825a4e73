//! Discrete cosine and sine transforms, computed by other ops of the backend. `Numpyish` has its own loops for the same
//! algorithms. `backend-runtime/numpyish/src/fft/trigonometric.rs` describes the algorithms.

use crate::{
    Backend, ConcatOptions, DType, Element, FftOptions, IrfftOptions, Norm, Precision, Real, Result, Slice,
    StackOptions,
    runtime::rules::{self, Direction, Trigonometric, Wave},
};
use std::f64::consts::PI;

/// The discrete cosine transform of kind `kind` (1 to 4), with `n` points along `axis`.
pub fn dct<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    kind: usize,
    n: Option<usize>,
    axis: isize,
    norm: Norm,
) -> Result<B::Array<T>> {
    transform("dct", b, x, Wave::Cosine, kind, n, axis, norm, Direction::Forward)
}

/// The inverse of the discrete cosine transform of kind `kind` (1 to 4), with `n` points along `axis`.
pub fn idct<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    kind: usize,
    n: Option<usize>,
    axis: isize,
    norm: Norm,
) -> Result<B::Array<T>> {
    transform("idct", b, x, Wave::Cosine, kind, n, axis, norm, Direction::Inverse)
}

/// The discrete sine transform of kind `kind` (1 to 4), with `n` points along `axis`.
pub fn dst<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    kind: usize,
    n: Option<usize>,
    axis: isize,
    norm: Norm,
) -> Result<B::Array<T>> {
    transform("dst", b, x, Wave::Sine, kind, n, axis, norm, Direction::Forward)
}

/// The inverse of the discrete sine transform of kind `kind` (1 to 4), with `n` points along `axis`.
pub fn idst<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    kind: usize,
    n: Option<usize>,
    axis: isize,
    norm: Norm,
) -> Result<B::Array<T>> {
    transform("idst", b, x, Wave::Sine, kind, n, axis, norm, Direction::Inverse)
}

#[allow(clippy::too_many_arguments)] // the parameters of the ops' rows
fn transform<B: Backend, T: Real>(
    op: &'static str,
    b: &B,
    x: &B::Array<T>,
    wave: Wave,
    kind: usize,
    n: Option<usize>,
    axis: isize,
    norm: Norm,
    direction: Direction,
) -> Result<B::Array<T>> {
    let plan = rules::trigonometric(op, b.shape(x), wave, kind, n, axis, norm, direction)?;
    let mut shape = b.shape(x).to_vec();
    shape[plan.axis] = plan.n;
    let y = match T::dtype() {
        // the other ops could refuse the shape of an intermediate result, although it has no elements
        _ if shape.contains(&0) => b.zeros(shape),
        DType::Float64 => transformed::<B, T, f64>(b, x, plan),
        _ => transformed::<B, T, f32>(b, x, plan),
    };
    y.map_err(|e| e.within(op))
}

/// Computes the transform in the dtype `R`.
fn transformed<B: Backend, T: Real, R: Precision>(b: &B, x: &B::Array<T>, plan: Trigonometric) -> Result<B::Array<T>> {
    let Trigonometric { wave, kind, axis, n, before, after, scale, .. } = plan;
    let x = b.moveaxis(b.astype::<R, _>(x)?, axis as isize, -1)?;
    let given = b.shape(&x)[b.shape(&x).len() - 1];
    let mut x = match given.cmp(&n) {
        std::cmp::Ordering::Less => b.pad_to(&x, n, -1)?,
        std::cmp::Ordering::Equal => x,
        std::cmp::Ordering::Greater => last(b, &x, 0, n, 1)?,
    };
    x = weighted(b, x, n, before)?;
    let mut y = match (kind, wave) {
        (1, Wave::Cosine) => first_cosine(b, &x, n)?,
        (1, Wave::Sine) => first_sine(b, &x, n)?,
        (2, Wave::Cosine) => second(b, &x, n, wave)?,
        (2, Wave::Sine) => b.flip(second(b, &x, n, wave)?, -1)?,
        (3, Wave::Cosine) => third(b, &x, n)?,
        (3, Wave::Sine) => alternating(b, &third(b, &b.flip(&x, -1)?, n)?, n)?,
        (_, Wave::Cosine) => fourth(b, &x, n)?,
        (_, Wave::Sine) => alternating(b, &fourth(b, &b.flip(&x, -1)?, n)?, n)?,
    };
    y = weighted(b, y, n, after)?;
    if scale != 1.0 {
        y = b.multiply(y, R::of(scale))?;
    }
    b.astype::<T, _>(b.moveaxis(&y, -1, axis as isize)?)
}

/// A slice of the last axis.
fn last<B: Backend, T: Element>(b: &B, x: &B::Array<T>, start: usize, stop: usize, step: isize) -> Result<B::Array<T>> {
    let mut slices = vec![Slice::ALL; b.shape(x).len() - 1];
    slices.push(Slice::from(start..stop).step(step));
    b.getitem(x, slices)
}

/// The arrays concatenated along the last axis.
fn joined<B: Backend, T: Element, const N: usize>(b: &B, parts: [B::Array<T>; N]) -> Result<B::Array<T>> {
    b.concat_with(parts, ConcatOptions::new().axis(-1))
}

/// Multiplies the first element along the last axis by `ends[0]`, and the last element by `ends[1]`. A single element
/// is multiplied by both.
fn weighted<B: Backend, R: Precision>(b: &B, x: B::Array<R>, n: usize, ends: [f64; 2]) -> Result<B::Array<R>> {
    if ends == [1.0; 2] {
        return Ok(x);
    }
    if n == 1 {
        return b.multiply(x, R::of(ends[0] * ends[1]));
    }
    let index = b.arange::<i64>(0, n as i64, 1)?;
    let end = |at: i64, weight: f64, other: B::Array<R>| b.r#where(b.equal(&index, at)?, R::of(weight), other);
    let weights = end(0, ends[0], end(n as i64 - 1, ends[1], b.ones::<R>([n])?)?)?;
    b.multiply(x, weights)
}

/// Changes the sign of every second element along the last axis.
fn alternating<B: Backend, R: Precision>(b: &B, x: &B::Array<R>, n: usize) -> Result<B::Array<R>> {
    let (one, two) = (R::of(1.0), R::of(2.0));
    let index = b.arange::<i64>(0, n as i64, 1)?;
    let signs = expr!(b, one - two * astype::<R>(remainder(index, 2)))?;
    b.multiply(x, signs)
}

/// `exp(i (start + k step))` for k from 0 to `n - 1`. Angles are computed in double precision.
fn turns<B: Backend, R: Precision>(b: &B, n: usize, start: f64, step: f64) -> Result<B::Array<R::Complex>> {
    let index = b.arange::<i64>(0, n as i64, 1)?;
    let angle = expr!(b, astype::<f64>(index) * step + start)?;
    expr!(b, complex(astype::<R>(cos(angle)), astype::<R>(sin(angle))))
}

/// Zeros with the shape of `x`, except that the last axis has length 1.
fn zero<B: Backend, R: Precision>(b: &B, x: &B::Array<R>) -> Result<B::Array<R>> {
    let mut shape = b.shape(x).to_vec();
    if let Some(last) = shape.last_mut() {
        *last = 1;
    }
    b.zeros(shape)
}

fn first_cosine<B: Backend, R: Precision>(b: &B, x: &B::Array<R>, n: usize) -> Result<B::Array<R>> {
    let mirrored = b.flip(last(b, x, 1, n - 1, 1)?, -1)?;
    b.real(b.rfft(joined(b, [x.clone(), mirrored])?)?)
}

fn first_sine<B: Backend, R: Precision>(b: &B, x: &B::Array<R>, n: usize) -> Result<B::Array<R>> {
    let zero = zero(b, x)?;
    let mirrored = b.negative(b.flip(x, -1)?)?;
    let spectrum = b.rfft(joined(b, [zero.clone(), x.clone(), zero, mirrored])?)?;
    b.negative(last(b, &b.imag(spectrum)?, 1, n + 1, 1)?)
}

/// The cosine transform of the second kind. For a sine transform, changes the sign of every second element of `x`
/// first.
fn second<B: Backend, R: Precision>(b: &B, x: &B::Array<R>, n: usize, wave: Wave) -> Result<B::Array<R>> {
    let (even, odd) = (last(b, x, 0, n, 2)?, b.flip(last(b, x, 1, n, 2)?, -1)?);
    let odd = if wave == Wave::Sine { b.negative(odd)? } else { odd };
    let spectrum = b.rfft(joined(b, [even, odd])?)?;
    // multiplication by the transform's factor 2 is exact, so `turns` can contain this factor
    let turns = b.multiply(turns::<B, R>(b, n / 2 + 1, 0.0, -PI / (2 * n) as f64)?, R::Complex::from_f64(2.0))?;
    let mirrored = |x: &_| b.flip(last(b, x, 1, n.div_ceil(2), 1)?, -1);
    let (tail, tail_turns) = (mirrored(&spectrum)?, mirrored(&turns)?);
    joined(b, [expr!(b, real(spectrum * turns))?, expr!(b, -imag(tail * tail_turns))?])
}

fn third<B: Backend, R: Precision>(b: &B, x: &B::Array<R>, n: usize) -> Result<B::Array<R>> {
    let count = n / 2 + 1;
    let head = last(b, x, 0, count, 1)?;
    let tail = joined(b, [zero(b, x)?, b.flip(last(b, x, n + 1 - count, n, 1)?, -1)?])?;
    let turns = turns::<B, R>(b, count, 0.0, PI / (2 * n) as f64)?;
    let spectrum = expr!(b, complex(head, -tail) * turns)?;
    let y = b.irfft_with(spectrum, IrfftOptions::new().n(n).norm(Norm::Forward))?;
    let half = n.div_ceil(2);
    interleaved(b, &last(b, &y, 0, half, 1)?, &b.flip(last(b, &y, half, n, 1)?, -1)?, n)
}

/// Interleaves two arrays into `n` elements, beginning with the first element of `even`.
fn interleaved<B: Backend, R: Precision>(
    b: &B,
    even: &B::Array<R>,
    odd: &B::Array<R>,
    n: usize,
) -> Result<B::Array<R>> {
    let pairs = n / 2;
    let stacked = b.stack_with([last(b, even, 0, pairs, 1)?, odd.clone()], StackOptions::new().axis(-1))?;
    let mut shape = b.shape(even).to_vec();
    if let Some(last) = shape.last_mut() {
        *last = 2 * pairs;
    }
    let y = b.reshape(&stacked, shape)?;
    if n.is_multiple_of(2) { Ok(y) } else { joined(b, [y, last(b, even, pairs, pairs + 1, 1)?]) }
}

fn fourth<B: Backend, R: Precision>(b: &B, x: &B::Array<R>, n: usize) -> Result<B::Array<R>> {
    let points = n as f64;
    if n % 2 == 1 {
        // appends as many zeros as there are elements, and uses the first half of the transform
        let turned = b.multiply(b.complex(x, b.zeros_like(x)?)?, turns::<B, R>(b, n, 0.0, -PI / (2.0 * points))?)?;
        let spectrum = last(b, &b.fft_with(turned, FftOptions::new().n(2 * n))?, 0, n, 1)?;
        let turned = b.multiply(spectrum, turns::<B, R>(b, n, -PI / (4.0 * points), -PI / (2.0 * points))?)?;
        return b.multiply(b.real(turned)?, R::of(2.0));
    }
    let (even, odd) = (last(b, x, 0, n, 2)?, b.flip(last(b, x, 1, n, 2)?, -1)?);
    let turned = b.multiply(b.complex(even, odd)?, turns::<B, R>(b, n / 2, 0.0, -PI / points)?)?;
    let turned = b.multiply(b.fft(turned)?, turns::<B, R>(b, n / 2, -PI / (4.0 * points), -PI / points)?)?;
    let (even, odd) = (b.real(&turned)?, b.negative(b.flip(b.imag(&turned)?, -1)?)?);
    b.multiply(interleaved(b, &even, &odd, n)?, R::of(2.0))
}
