//! Normalizations: elements minus a mean, divided by a standard deviation.

use super::signed;
use crate::{Axes, Backend, MeanOptions, Real, Result, finfo, runtime::rules, segments::is_16_bit};

/// Normalizes the elements over the given axes: mean 0 and variance 1.
pub fn layer_norm<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    axis: Axes,
    weight: Option<&B::Array<T>>,
    bias: Option<&B::Array<T>>,
    eps: f64,
) -> Result<B::Array<T>> {
    let shapes = [weight, bias].map(|array| array.map(|array| b.shape(array)));
    let (axes, shape) = rules::normalized("layer_norm", b.shape(x), axis, shapes)?;
    if is_16_bit::<T>() {
        let [weight, bias] = [weight, bias].map(|array| array.map(|array| b.astype::<f32, _>(array)).transpose());
        let x = b.astype::<f32, _>(x)?;
        return b.astype::<T, _>(layer_norm(b, &x, axis, weight?.as_ref(), bias?.as_ref(), eps)?);
    }
    let normal = normalized(b, x, &axes, eps)?;
    scaled(b, normal, weight, bias, &shape)
}

/// Divides the elements by their root mean square over the given axes.
pub fn rms_norm<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    axis: Axes,
    weight: Option<&B::Array<T>>,
    eps: Option<f64>,
) -> Result<B::Array<T>> {
    let (axes, shape) = rules::normalized("rms_norm", b.shape(x), axis, [weight.map(|weight| b.shape(weight)), None])?;
    if is_16_bit::<T>() {
        let (x, weight) = (b.astype::<f32, _>(x)?, weight.map(|weight| b.astype::<f32, _>(weight)).transpose()?);
        return b.astype::<T, _>(rms_norm(b, &x, axis, weight.as_ref(), eps)?);
    }
    let eps = T::of(match eps {
        Some(eps) => eps,
        None => finfo(T::dtype())?.eps,
    });
    let scale = expr!(b, 1.0 / sqrt(mean(square(x), axes.as_slice(), keepdims = true) + eps))?;
    scaled(b, b.multiply(x, scale)?, weight, None, &shape)
}

/// Normalizes each channel by the given mean and variance.
pub fn batch_norm<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    mean: &B::Array<T>,
    var: &B::Array<T>,
    weight: Option<&B::Array<T>>,
    bias: Option<&B::Array<T>>,
    eps: f64,
) -> Result<B::Array<T>> {
    let of_channels = [Some(mean), Some(var), weight, bias].into_iter().flatten().map(|array| b.shape(array));
    let shape = rules::channels("batch_norm", b.shape(x), of_channels)?;
    if is_16_bit::<T>() {
        let [weight, bias] = [weight, bias].map(|array| array.map(|array| b.astype::<f32, _>(array)).transpose());
        let [x, mean, var] = [x, mean, var].map(|array| b.astype::<f32, _>(array));
        let y = batch_norm(b, &x?, &mean?, &var?, weight?.as_ref(), bias?.as_ref(), eps)?;
        return b.astype::<T, _>(y);
    }
    let eps = T::of(eps);
    let (mean, var) = (b.reshape(mean, signed(&shape))?, b.reshape(var, signed(&shape))?);
    let scale = expr!(b, 1.0 / sqrt(var + eps))?;
    let normal = expr!(b, (x - mean) * scale)?;
    scaled(b, normal, weight, bias, &shape)
}

/// Normalizes each group of channels over its channels and lengths.
pub fn group_norm<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    groups: usize,
    weight: Option<&B::Array<T>>,
    bias: Option<&B::Array<T>>,
    eps: f64,
) -> Result<B::Array<T>> {
    const OP: &str = "group_norm";
    let shape = rules::channels(OP, b.shape(x), [weight, bias].into_iter().flatten().map(|array| b.shape(array)))?;
    let parts = rules::channel_groups(OP, b.shape(x), groups)?;
    if is_16_bit::<T>() {
        let [weight, bias] = [weight, bias].map(|array| array.map(|array| b.astype::<f32, _>(array)).transpose());
        let x = b.astype::<f32, _>(x)?;
        return b.astype::<T, _>(group_norm(b, &x, groups, weight?.as_ref(), bias?.as_ref(), eps)?);
    }
    let normal = normalized(b, &b.reshape(x, signed(&parts))?, &[2], eps)?;
    scaled(b, b.reshape(normal, signed(b.shape(x)))?, weight, bias, &shape)
}

/// Subtracts the mean over the axes, and divides by the root of the variance plus `eps`.
fn normalized<B: Backend, T: Real>(b: &B, x: &B::Array<T>, axes: &[isize], eps: f64) -> Result<B::Array<T>> {
    let eps = T::of(eps);
    let mean = b.mean_with(x, axes, MeanOptions::new().keepdims(true))?;
    let scale = expr!(b, 1.0 / sqrt(mean(square(x - mean), axes, keepdims = true) + eps))?;
    expr!(b, (x - mean) * scale)
}

/// Multiplies by the weight and adds the bias, both reshaped to `shape`.
fn scaled<B: Backend, T: Real>(
    b: &B,
    x: B::Array<T>,
    weight: Option<&B::Array<T>>,
    bias: Option<&B::Array<T>>,
    shape: &[usize],
) -> Result<B::Array<T>> {
    let reshaped = |array: &B::Array<T>| b.reshape(array, signed(shape));
    match (weight, bias) {
        (None, None) => Ok(x),
        (Some(weight), None) => b.multiply(x, reshaped(weight)?),
        (None, Some(bias)) => b.add(x, reshaped(bias)?),
        (Some(weight), Some(bias)) => {
            let (weight, bias) = (reshaped(weight)?, reshaped(bias)?);
            let mut x = x;
            expr!(b, x = x * weight + bias)?;
            Ok(x)
        }
    }
}
