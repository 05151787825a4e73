//! Norms of vectors and of matrices.

use crate::{
    Axes, Backend, DType, DTypeKind, Float, MatrixNorm, Real, Result, VectorNormOptions, WideFloat, runtime::rules,
};

/// Norms of order `ord` of the vectors along the given axes.
pub fn vector_norm<B: Backend, T: Float>(
    b: &B,
    x: &B::Array<T>,
    axis: Axes,
    keepdims: bool,
    ord: f64,
) -> Result<B::Array<T::Real>> {
    if matches!(T::dtype(), DType::Float16 | DType::BFloat16) {
        // computed in float32, because squares of 16-bit floats soon overflow
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
        return match T::dtype().kind() {
            DTypeKind::Complex => {
                expr!(b, sqrt(sum(real(x) * real(x) + imag(x) * imag(x), axis, keepdims = keepdims)))
            }
            _ => expr!(b, sqrt(sum(real(x) * real(x), axis, keepdims = keepdims))),
        };
    }
    let (power, root) = (T::Real::of(ord), T::Real::of(1.0 / ord));
    expr!(b, pow(sum(pow(abs(x), power), axis, keepdims = keepdims), root))
}

/// Norms of the matrices in the last two axes.
pub fn matrix_norm<B: Backend, T: WideFloat>(
    b: &B,
    x: &B::Array<T>,
    ord: MatrixNorm,
    keepdims: bool,
) -> Result<B::Array<T::Real>> {
    const OP: &str = "matrix_norm";
    rules::matrix(OP, b.shape(x))?;
    // sums magnitudes along one of the two matrix axes; the other one is axis -1 of these sums
    let sums = |axis: isize| expr!(b, sum(abs(x), axis));
    let norm = match ord {
        MatrixNorm::Fro => b.vector_norm_with(x, VectorNormOptions::new().axis([-2, -1]))?,
        MatrixNorm::Nuc => b.sum(&b.svdvals(x)?, -1)?,
        MatrixNorm::One => b.max(&sums(-2)?, -1)?,
        MatrixNorm::MinusOne => b.min(&sums(-2)?, -1)?,
        MatrixNorm::Two => b.max(&b.svdvals(x)?, -1)?,
        MatrixNorm::MinusTwo => b.min(&b.svdvals(x)?, -1)?,
        MatrixNorm::Infinity => b.max(&sums(-1)?, -1)?,
        MatrixNorm::MinusInfinity => b.min(&sums(-1)?, -1)?,
    };
    if keepdims { b.expand_dims(&norm, [-2, -1]) } else { Ok(norm) }
}
