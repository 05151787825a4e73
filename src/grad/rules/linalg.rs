//! Gradient rules of matrix products, of linear systems and of norms.

use super::{
    number,
    reduction::{extremum, kept, of_unit, wide_where_narrow},
    shapes::signed,
    whole,
};
use crate::{ArrayAttributes, Axes, Backend, Float, Numeric, Result, SolveTriangularOptions, TrilOptions, TriuOptions};

/// Converts a vector to a matrix: a row for a left factor, a column for a right factor. Matrices are unchanged.
fn as_matrix<B: Backend, T: Float>(b: &B, x: &B::Array<T>, is_left: bool) -> Result<B::Array<T>> {
    if x.ndim() > 1 { Ok(x.clone()) } else { b.expand_dims(x, if is_left { 0 } else { 1 }) }
}

/// Inserts into the gradient of a product the axes that `matmul` drops if a factor is a vector. `left` and `right` are
/// the numbers of axes of the factors.
fn as_product<B: Backend, T: Float>(b: &B, g: &B::Array<T>, left: usize, right: usize) -> Result<B::Array<T>> {
    let g = if right == 1 { b.expand_dims(g, -1)? } else { g.clone() };
    if left == 1 { b.expand_dims(g, -2) } else { Ok(g) }
}

/// Gradient of `matmul` with respect to the left factor: the output gradient times the transposed right factor.
pub fn matmul_x1<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    x2: &B::Array<T>,
    shape: &[usize],
) -> Result<B::Array<T>> {
    let g = as_product::<B, T>(b, g, shape.len(), x2.ndim())?;
    let product = b.matmul(g, b.matrix_transpose(as_matrix::<B, T>(b, x2, false)?)?)?;
    // a vector factor is a matrix of one row that multiplies every matrix of a stack, so its gradient is a sum over the
    // stack
    if shape.len() == 1 { b.squeeze(summed::<B, T>(b, product)?, 0) } else { Ok(product) }
}

/// Gradient of `matmul` with respect to the right factor: the transposed left factor times the output gradient.
pub fn matmul_x2<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    x1: &B::Array<T>,
    shape: &[usize],
) -> Result<B::Array<T>> {
    let g = as_product::<B, T>(b, g, x1.ndim(), shape.len())?;
    let product = b.matmul(b.matrix_transpose(as_matrix::<B, T>(b, x1, true)?)?, g)?;
    if shape.len() == 1 { b.squeeze(summed::<B, T>(b, product)?, 1) } else { Ok(product) }
}

/// Adds up the matrices of a stack.
fn summed<B: Backend, T: Float>(b: &B, x: B::Array<T>) -> Result<B::Array<T>> {
    let stacked = x.ndim() - 2;
    if stacked == 0 { Ok(x) } else { b.sum(x, (0..stacked).collect::<Vec<_>>()) }
}

/// Converts the right-hand sides of linear systems to matrices: a vector becomes a single column. `ndim` is the number
/// of axes of the systems' matrices.
pub(super) fn as_columns<B: Backend, T: Float>(b: &B, x: &B::Array<T>, ndim: usize) -> Result<B::Array<T>> {
    if x.ndim() < ndim { b.expand_dims(x, -1) } else { Ok(x.clone()) }
}

/// Gradient of `solve` with respect to the right-hand sides: the solution of the transposed system for the output
/// gradient.
pub fn solve_x2<B: Backend, T: Float + crate::WideFloat>(
    b: &B,
    g: &B::Array<T>,
    x1: &B::Array<T>,
) -> Result<B::Array<T>> {
    let sides = b.solve(b.matrix_transpose(x1)?, as_columns::<B, T>(b, g, x1.ndim())?)?;
    b.reshape(sides, signed(g.shape()))
}

/// Gradient of `solve` with respect to the matrix.
pub fn solve_x1<B: Backend, T: Float + crate::WideFloat>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x1: &B::Array<T>,
) -> Result<B::Array<T>> {
    by_matrix::<B, T>(b, &solve_x2::<B, T>(b, g, x1)?, y, x1.ndim())
}

/// Returns the gradient of the solutions of linear systems with respect to the matrices of the systems. `by_sides` is
/// the gradient with respect to the right-hand sides, `y` has the solutions, and `ndim` is the number of axes of the
/// array of matrices. The result is minus the product of `by_sides` and the transposed `y`.
fn by_matrix<B: Backend, T: Float>(b: &B, by_sides: &B::Array<T>, y: &B::Array<T>, ndim: usize) -> Result<B::Array<T>> {
    let column = |x: &B::Array<T>| as_columns::<B, T>(b, x, ndim);
    let product = b.matmul(column(by_sides)?, b.matrix_transpose(column(y)?)?)?;
    b.negative(product)
}

/// Gradient of `solve_triangular` with respect to the right-hand sides.
pub fn solve_triangular_x2<B: Backend, T: Float + crate::WideFloat>(
    b: &B,
    g: &B::Array<T>,
    x1: &B::Array<T>,
    lower: bool,
    unit_diagonal: bool,
) -> Result<B::Array<T>> {
    let options = SolveTriangularOptions::new().lower(!lower).unit_diagonal(unit_diagonal);
    let sides = b.solve_triangular_with(b.matrix_transpose(x1)?, as_columns::<B, T>(b, g, x1.ndim())?, options)?;
    b.reshape(sides, signed(g.shape()))
}

/// Gradient of `solve_triangular` with respect to the triangle of the matrix that the op reads.
pub fn solve_triangular_x1<B: Backend, T: Float + crate::WideFloat>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x1: &B::Array<T>,
    lower: bool,
    unit_diagonal: bool,
) -> Result<B::Array<T>> {
    let by_sides = solve_triangular_x2::<B, T>(b, g, x1, lower, unit_diagonal)?;
    let all = by_matrix::<B, T>(b, &by_sides, y, x1.ndim())?;
    let beside = isize::from(unit_diagonal);
    if lower { b.tril_with(all, TrilOptions::new().k(-beside)) } else { b.triu_with(all, TriuOptions::new().k(beside)) }
}

/// Gradient of `vector_norm`; 0 for zero elements, at which norms have no unique derivative.
pub fn vector_norm<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T::Real>,
    x: &B::Array<T>,
    axis: Axes,
    ord: f64,
) -> Result<B::Array<T>> {
    if ord == 0.0 {
        return b.zeros_like::<T>(x);
    }
    wide_where_narrow!(b, g, x, vector_norm(axis, ord));
    if ord == 2.0 {
        let (unit, norm) = of_unit::<B, T>(b, x, axis)?;
        let g = b.divide(kept::<B, T::Real>(b, g, x.shape(), axis)?, norm)?;
        return b.multiply(b.conj::<T>(unit)?, whole::<B, T>(b, &g)?);
    }
    let magnitude = b.astype::<T::Real, _>(b.abs::<T>(x)?)?;
    let by_magnitude = if ord.is_infinite() {
        // the norm is computed again, because a library may round its result differently, so that no element would
        // equal the result
        let axes = if x.ndim() == 0 { crate::Axes::from(..) } else { axis };
        let y = if ord > 0.0 { b.max(&magnitude, axes)? } else { b.min(&magnitude, axes)? };
        extremum::<B, T::Real>(b, g, &y, &magnitude, axis)?
    } else {
        let g = kept::<B, T::Real>(b, g, x.shape(), axis)?;
        // the derivative is the ratio of the magnitude to the norm, to the power `ord - 1`; both are first divided by
        // the largest magnitude, because powers may overflow
        let axes = if x.ndim() == 0 { Axes::from(..) } else { axis };
        let most = b.max_with(&magnitude, axes, crate::MaxOptions::new().keepdims(true))?;
        let most = b.r#where(b.equal(&most, T::Real::ZERO)?, T::Real::ONE, most)?;
        let scaled = b.divide(magnitude, most)?;
        let options = crate::VectorNormOptions::new().axis(axes).ord(ord).keepdims(true);
        let norm = b.astype::<T::Real, _>(b.vector_norm_with(&scaled, options)?)?;
        let zero = b.equal(&scaled, T::Real::ZERO)?;
        let part = b.divide(scaled, b.r#where(b.equal(&norm, T::Real::ZERO)?, T::Real::ONE, norm)?)?;
        let part = b.pow(b.r#where(&zero, T::Real::ONE, part)?, number::<T::Real>(ord - 1.0))?;
        b.multiply(b.r#where(zero, T::Real::ZERO, part)?, g)?
    };
    b.multiply(whole::<B, T>(b, &by_magnitude)?, b.conj::<T>(b.sign::<T>(x)?)?)
}

/// Gradient of `csr_matmul` with respect to the dense factor: the product with the transposed sparse factor.
pub fn csr_matmul_x<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    values: &B::Array<T>,
    indices: &B::Array<i64>,
    indptr: &B::Array<i64>,
    shape: &[usize],
) -> Result<B::Array<T>> {
    b.csc_matmul(values, indices, indptr, g, shape[0])
}
