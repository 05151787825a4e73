//! Norms of vectors.

use crate::{Axes, Backend, DType, DTypeKind, Float, Real, Result};

/// Norm of order `ord` of the vectors along axes.
pub fn vector_norm<B: Backend, T: Float>(
    b: &B,
    x: &B::Array<T>,
    axis: Axes,
    keepdims: bool,
    ord: f64,
) -> Result<B::Array<T::Real>> {
    if matches!(T::DTYPE, DType::Float16 | DType::BFloat16) {
        // squares of 16-bit floats overflow early
        let wide = norm::<B, f32>(b, &b.astype::<f32, _>(x)?, axis, keepdims, ord)?;
        return b.astype::<T::Real, _>(&wide);
    }
    norm(b, x, axis, keepdims, ord)
}

fn norm<B: Backend, T: Float>(
    b: &B,
    x: &B::Array<T>,
    axis: Axes,
    keepdims: bool,
    ord: f64,
) -> Result<B::Array<T::Real>> {
    if ord == f64::INFINITY {
        return expr!(b, max(abs(x), axis, keepdims = keepdims));
    }
    if ord == f64::NEG_INFINITY {
        return expr!(b, min(abs(x), axis, keepdims = keepdims));
    }
    if ord == 0.0 {
        let count = b.count_nonzero_with(x, axis, crate::CountNonzeroOptions::new().keepdims(keepdims))?;
        return b.astype::<T::Real, _>(&count);
    }
    if ord == 1.0 {
        return expr!(b, sum(abs(x), axis, keepdims = keepdims));
    }
    if ord == 2.0 {
        return match T::DTYPE.kind() {
            DTypeKind::Complex => {
                expr!(b, sqrt(sum(real(x) * real(x) + imag(x) * imag(x), axis, keepdims = keepdims)))
            }
            _ => expr!(b, sqrt(sum(real(x) * real(x), axis, keepdims = keepdims))),
        };
    }
    let (power, root) = (T::Real::of(ord), T::Real::of(1.0 / ord));
    expr!(b, pow(sum(pow(abs(x), power), axis, keepdims = keepdims), root))
}
