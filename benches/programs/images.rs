//! Programs on images: filters, histogram equalization, and Fourier transforms.

use backends::{Result, prelude::*};

/// The boundary mode that PyTorch's convolutions call `reflect`.
const BORDER: Boundary = Boundary::Mirror;

fn blurred<B: Backend>(b: &B, x: &B::Array<f32>, sigma: f64) -> Result<B::Array<f32>> {
    b.gaussian_filter_with(x, sigma, GaussianFilterOptions::new().mode(BORDER))
}

/// Sobel derivatives of the blurred image, along both axes.
fn slopes<B: Backend>(b: &B, x: &B::Array<f32>) -> Result<[B::Array<f32>; 2]> {
    let x = blurred(b, x, 1.0)?;
    let (difference, mean) = (b.asarray([-1.0, 0.0, 1.0])?, b.asarray([1.0, 2.0, 1.0])?);
    let along =
        |x: &_, weights: &_, axis| b.correlate1d_with(x, weights, Correlate1dOptions::new().axis(axis).mode(BORDER));
    let down = along(&along(&x, &mean, 1)?, &difference, 0)?;
    Ok([down, along(&along(&x, &mean, 0)?, &difference, 1)?])
}

/// Gradient magnitude of the blurred image.
pub fn edges<B: Backend>(b: &B, x: &B::Array<f32>) -> Result<B::Array<f32>> {
    let [down, right] = slopes(b, x)?;
    b.sqrt(b.add(b.square(down)?, b.square(right)?)?)
}

pub fn edges_formulas<B: Backend>(b: &B, x: &B::Array<f32>) -> Result<B::Array<f32>> {
    let [down, right] = slopes(b, x)?;
    expr!(b, sqrt(square(down) + square(right)))
}

/// Unsharp masking: adds 1.5 times the difference between the image and its blur.
pub fn unsharp<B: Backend>(b: &B, x: &B::Array<f32>) -> Result<B::Array<f32>> {
    let details = b.subtract(x, blurred(b, x, 2.0)?)?;
    b.clip(b.add(x, b.multiply(1.5, details)?)?, 0.0, 1.0)
}

pub fn unsharp_formulas<B: Backend>(b: &B, x: &B::Array<f32>) -> Result<B::Array<f32>> {
    let blurred = blurred(b, x, 2.0)?;
    expr!(b, clip(x + 1.5 * (x - blurred), 0, 1))
}

/// Histogram equalization of 8-bit brightness levels.
pub fn equalised<B: Backend>(b: &B, x: &B::Array<u8>) -> Result<B::Array<u8>> {
    let levels = b.astype::<i64, u8>(x)?;
    let counts = b.bincount_with::<i64>(b.flatten(&levels)?, BincountOptions::new().minlength(256))?;
    let ranks = b.astype::<f64, i64>(b.cumulative_sum(counts, 0)?)?;
    let table = b.astype::<u8, f64>(b.round(b.multiply(ranks, 255.0 / x.len() as f64)?)?)?;
    b.take(table, levels, 0)
}

pub fn equalised_formulas<B: Backend>(b: &B, x: &B::Array<u8>) -> Result<B::Array<u8>> {
    let (levels, scale) = (b.astype::<i64, u8>(x)?, 255.0 / x.len() as f64);
    let counts = b.bincount_with::<i64>(b.flatten(&levels)?, BincountOptions::new().minlength(256))?;
    let table = expr!(b, astype::<u8>(round(scale * astype::<f64>(cumulative_sum(counts, 0)))))?;
    b.take(table, levels, 0)
}

/// Width of the low-pass filter in cycles per pixel; the possible frequencies are 0 to 0.5.
const PASS: f64 = 0.1;

/// Frequencies along both axes, shaped as a column and a row.
fn frequencies<B: Backend>(b: &B, n: usize) -> Result<[B::Array<f64>; 2]> {
    Ok([b.expand_dims(b.fftfreq::<f64>(n)?, 1)?, b.rfftfreq::<f64>(n)?])
}

/// A Gaussian low-pass filter, by Fourier transform.
pub fn low_pass<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
    let [down, right] = frequencies(b, x.shape()[0])?;
    let squares = b.add(b.square(down)?, b.square(right)?)?;
    let gain = b.exp(b.multiply(squares, -0.5 / (PASS * PASS))?)?;
    b.irfft2(b.multiply(b.rfft2(x)?, b.complex(gain, 0.0)?)?)
}

pub fn low_pass_formulas<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
    let [down, right] = frequencies(b, x.shape()[0])?;
    let sharp = -0.5 / (PASS * PASS);
    expr!(b, irfft2(rfft2(x) * complex(exp(sharp * (square(down) + square(right))), 0)))
}

/// Row, column and value of the maximum of a correlation.
fn peak<B: Backend>(b: &B, correlation: &B::Array<f32>) -> Result<B::Array<f32>> {
    let places = b.unravel_index(b.argmax(correlation, ..)?, correlation.shape())?;
    let [row, column] = [b.astype::<f32, i64>(&places[0])?, b.astype::<f32, i64>(&places[1])?];
    b.stack([&row, &column, &b.max(correlation, ..)?])
}

/// The shift between two images, by phase correlation.
pub fn shift<B: Backend>(b: &B, (x, y): &(B::Array<f32>, B::Array<f32>)) -> Result<B::Array<f32>> {
    let product = b.multiply(b.rfft2(x)?, b.conj(b.rfft2(y)?)?)?;
    let size = b.maximum(b.abs(&product)?, 1e-6)?;
    peak(b, &b.irfft2(b.divide(product, b.complex(size, 0.0)?)?)?)
}

pub fn shift_formulas<B: Backend>(b: &B, (x, y): &(B::Array<f32>, B::Array<f32>)) -> Result<B::Array<f32>> {
    let product = expr!(b, rfft2(x) * conj(rfft2(y)))?;
    peak(b, &expr!(b, irfft2(product / complex(maximum(abs(product), 1e-6), 0)))?)
}
