//! Rules of products of matrices and of factorizations.

use crate::{ArrayAttributes, Backend, Float, Result, WideFloat};

/// A vector as the row (left) or the column (right) that it is in a product.
fn as_matrix<B: Backend, T: Float>(b: &B, x: &B::Array<T>, is_left: bool) -> Result<B::Array<T>> {
    if x.ndim() > 1 { Ok(x.clone()) } else { b.expand_dims(x, if is_left { 0 } else { 1 }) }
}

/// The gradient of a product, with the axes that vectors took from it.
fn as_product<B: Backend, T: Float>(b: &B, g: &B::Array<T>, left: usize, right: usize) -> Result<B::Array<T>> {
    let g = if right == 1 { b.expand_dims(g, -1)? } else { g.clone() };
    if left == 1 { b.expand_dims(g, -2) } else { Ok(g) }
}

/// `matmul`, by the left factor.
pub fn matmul_x1<B: Backend, T: Float>(
    b: &B,
    g: &B::Array<T>,
    x2: &B::Array<T>,
    shape: &[usize],
) -> Result<B::Array<T>> {
    let g = as_product::<B, T>(b, g, shape.len(), x2.ndim())?;
    let product = b.matmul(g, b.matrix_transpose(as_matrix::<B, T>(b, x2, false)?)?)?;
    // a vector was a row of one matrix, or of each of a stack
    if shape.len() == 1 { b.squeeze(summed::<B, T>(b, product)?, 0) } else { Ok(product) }
}

/// `matmul`, by the right factor.
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

/// The sum of a stack of matrices.
fn summed<B: Backend, T: Float>(b: &B, x: B::Array<T>) -> Result<B::Array<T>> {
    let stacked = x.ndim() - 2;
    if stacked == 0 { Ok(x) } else { b.sum(x, (0..stacked).collect::<Vec<_>>()) }
}

/// `det`: of a matrix that is not singular.
pub fn det<B: Backend, T: Float + WideFloat>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x: &B::Array<T>,
) -> Result<B::Array<T>> {
    let scale = b.expand_dims(b.multiply(g, y)?, [-2, -1])?;
    b.multiply(b.matrix_transpose(b.inv(x)?)?, scale)
}

/// The solution for right-hand sides as columns: one vector, of all matrices of a stack, is a column of each.
fn as_columns<B: Backend, T: Float>(b: &B, x: &B::Array<T>, sides: &[usize]) -> Result<B::Array<T>> {
    if sides.len() == 1 { b.expand_dims(x, -1) } else { Ok(x.clone()) }
}

/// `solve`, by the right-hand sides, of which `sides` is the shape.
pub fn solve_x2<B: Backend, T: Float + WideFloat>(
    b: &B,
    g: &B::Array<T>,
    x1: &B::Array<T>,
    sides: &[usize],
) -> Result<B::Array<T>> {
    let solution = b.solve(b.matrix_transpose(x1)?, as_columns::<B, T>(b, g, sides)?)?;
    if sides.len() == 1 { b.squeeze(solution, -1) } else { Ok(solution) }
}

/// `solve`, by the matrix.
pub fn solve_x1<B: Backend, T: Float + WideFloat>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x1: &B::Array<T>,
    sides: &[usize],
) -> Result<B::Array<T>> {
    let by_sides = b.solve(b.matrix_transpose(x1)?, as_columns::<B, T>(b, g, sides)?)?;
    b.negative(b.matmul(by_sides, b.matrix_transpose(as_columns::<B, T>(b, y, sides)?)?)?)
}
