//! Gradient rules of determinants.

use super::{factorizations::length, i, number, shapes::part, whole};
use crate::{
    ArrayAttributes, Backend, DTypeKind, Element, Float, Numeric, Result, SvdResult, VectorNormOptions, WideFloat,
};

/// Gradient of `det`: the transposed adjugate. For well-conditioned matrices, the adjugate is the product of the
/// determinant and the inverse.
pub fn det<B: Backend, T: WideFloat>(b: &B, g: &B::Array<T>, y: &B::Array<T>, x: &B::Array<T>) -> Result<B::Array<T>> {
    if x.is_empty() {
        return b.zeros_like::<T>(x);
    }
    let inverse = b.inv(x);
    let is_ordinary = match &inverse {
        Ok(inverse) => is_ordinary::<B, T>(b, y, x, inverse)?,
        Err(_) => false,
    };
    let adjugate = match (is_ordinary, inverse) {
        (true, Ok(inverse)) => b.multiply(inverse, b.expand_dims(y, [-2, -1])?)?,
        // if the adjugate cannot be computed, for example for infinite or NaN elements, the inverse is used
        (_, inverse) => match adjugate::<B, T>(b, x) {
            Ok(adjugate) => adjugate,
            Err(_) => b.multiply(inverse?, b.expand_dims(y, [-2, -1])?)?,
        },
    };
    b.multiply(b.matrix_transpose(adjugate)?, b.expand_dims(g, [-2, -1])?)
}

/// Returns whether all matrices are far from singular, with determinants far from the limits of the dtype's range.
fn is_ordinary<B: Backend, T: WideFloat>(
    b: &B,
    y: &B::Array<T>,
    x: &B::Array<T>,
    inverse: &B::Array<T>,
) -> Result<bool> {
    let largest = |x: &B::Array<T>| b.vector_norm_with(x, VectorNormOptions::new().axis([-2, -1]).ord(f64::INFINITY));
    let (of_x, of_inverse) = (largest(x)?, largest(inverse)?);
    let size = b.astype::<T::Real, _>(b.abs::<T>(y)?)?;
    let [least, most, limit] = match <T::Real as Element>::dtype().size() {
        4 => [1e-30, 1e30, 1e3],
        _ => [1e-280, 1e280, 1e7],
    };
    let [least, most, limit] = [least, most, limit].map(number::<T::Real>);
    let is_far = b.less(b.multiply(of_x, of_inverse)?, limit)?;
    let is_within = b.logical_and(b.greater(&size, least)?, b.less(&size, most)?)?;
    b.item(b.all(b.logical_and(is_far, is_within)?, ..)?)
}

/// The adjugates of matrices that may be singular, computed by ops whose derivatives are correct as well.
///
/// Each matrix is written as `r - u w`. The two columns of `u` and the two rows of `w` are made from the singular
/// vectors of the two smallest singular values, so that `r` is invertible. The determinant of the matrix is the product
/// of the determinants of `r` and of the 2x2 matrix `c = 1 - w inv(r) u`. The adjugate is the derivative of this
/// product with `u` and `w` fixed. If three singular values are 0, the adjugate and its derivative are 0.
fn adjugate<B: Backend, T: WideFloat>(b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
    let n = length(x, 1);
    if n == 1 {
        return b.ones_like::<T>(x);
    }
    let (zero, one) = (<T::Real as Numeric>::ZERO, <T::Real as Numeric>::ONE);
    let real = |x: &B::Array<T::Real>| whole::<B, T>(b, x);
    let largest = b.vector_norm_with(x, VectorNormOptions::new().axis([-2, -1]).ord(f64::INFINITY))?;
    let largest = b.r#where(b.equal(&largest, zero)?, one, largest)?;
    // the rounding to integers has no gradient, so `scale` counts as a constant, and so does `fixed`, the matrix whose
    // singular vectors are computed
    let whole_numbers =
        |x: B::Array<T::Real>| b.astype::<T::Real, i64>(b.astype::<i64, T::Real>(b.round::<T::Real>(x)?)?);
    let scale = b.exp2::<T::Real>(whole_numbers(b.log2::<T::Real>(largest)?)?)?;
    let x = b.divide(x, real(&b.expand_dims(&scale, [-2, -1])?)?)?;
    let digits = if <T::Real as Element>::dtype().size() == 4 { 20 } else { 48 };
    let places = number::<T::Real>((1_u64 << digits) as f64);
    let rounded = |x: B::Array<T::Real>| b.divide(whole_numbers(b.multiply(x, places)?)?, places);
    let mut fixed = real(&rounded(b.astype::<T::Real, _>(b.real::<T>(&x)?)?)?)?;
    if T::dtype().kind() == DTypeKind::Complex {
        let imag = real(&rounded(b.astype::<T::Real, _>(b.imag::<T>(&x)?)?)?)?;
        fixed = b.add(fixed, b.multiply(imag, i::<T>())?)?;
    }
    let SvdResult { u, s, vh } = b.svd(fixed)?;
    let first = part::<B, T::Real>(b, &s, s.ndim() - 1, 0, 1)?;
    let shift = b.expand_dims(b.r#where(b.equal(&first, zero)?, one, &first)?, -1)?;
    let columns = b.multiply(part::<B, T>(b, &u, u.ndim() - 1, n - 2, 2)?, real(&shift)?)?;
    let rows = part::<B, T>(b, &vh, vh.ndim() - 2, n - 2, 2)?;

    let mut regular = b.add(&x, b.matmul(&columns, &rows)?)?;
    let mut is_flat = None;
    if n > 2 {
        let third = part::<B, T::Real>(b, &s, s.ndim() - 1, n - 3, 1)?;
        let tiny = number::<T::Real>(n as f64 * 0.5_f64.powi(digits));
        let flat = b.less_equal(third, b.multiply(&first, tiny)?)?;
        let flat = b.expand_dims(flat, -1)?;
        regular = b.r#where(&flat, b.eye::<T>(n)?, regular)?;
        is_flat = Some(flat);
    }
    let inverse = b.inv(&regular)?;
    let after = b.matmul(&inverse, &columns)?;
    let before = b.matmul(&rows, &inverse)?;
    let identity = b.eye::<T>(2)?;
    let c = b.subtract(&identity, b.matmul(&rows, &after)?)?;
    // for 2x2 matrices, the adjugate is `trace(c) - c`, and the determinant is half the trace of their product
    let trace = |x: &B::Array<T>| b.expand_dims(b.trace::<T>(x)?, [-2, -1]);
    let of_c = b.subtract(b.multiply(trace(&c)?, identity)?, &c)?;
    let det_c = b.multiply(trace(&b.matmul(&of_c, &c)?)?, number::<T>(0.5))?;
    let sum = b.add(b.multiply(det_c, inverse)?, b.matmul(b.matmul(after, of_c)?, before)?)?;
    let powers = b.pow(scale, number::<T::Real>(n as f64 - 1.0))?;
    let factor = b.multiply(b.det(&regular)?, real(&powers)?)?;
    let adjugate = b.multiply(sum, b.expand_dims(factor, [-2, -1])?)?;
    match is_flat {
        Some(flat) => b.r#where(flat, T::ZERO, adjugate),
        None => Ok(adjugate),
    }
}

/// Gradient of `slogdet` for invertible matrices. Let `t` be `trace(inv(x) dx)`: the logarithm changes by the real
/// part of `t`, and the sign by i times the imaginary part of `t` times the sign.
pub fn slogdet<B: Backend, T: Float + crate::WideFloat>(
    b: &B,
    g_sign: &B::Array<T>,
    g_log: &B::Array<T::Real>,
    sign: &B::Array<T>,
    x: &B::Array<T>,
) -> Result<B::Array<T>> {
    // i times the imaginary part of `g_sign * sign`
    let turn = b.multiply(g_sign, sign)?;
    let turn = b.multiply(b.subtract(&turn, b.conj::<T>(&turn)?)?, number::<T>(0.5))?;
    let scale = b.expand_dims(b.add(whole::<B, T>(b, g_log)?, turn)?, [-2, -1])?;
    b.multiply(b.matrix_transpose(b.inv(x)?)?, scale)
}
