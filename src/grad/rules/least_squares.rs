//! Gradient rules of the pseudo-inverse (`pinv`) and of least squares (`lstsq`).
//!
//! The rules do not use the gradient rule of the singular value decomposition, which requires distinct singular values.
//! The results do not depend on single singular vectors, so they have gradients at equal singular values too, for
//! example for a matrix with orthonormal columns.

use super::{
    factorizations::{adjoint, length, svdvals},
    linalg::as_columns,
    number, whole,
};
use crate::{
    ArrayAttributes, Backend, Float, Numeric, Result, SvdOptions, SvdResult, WideFloat,
    linalg::{Relative, kept_values},
};

/// Gradient of `pinv`. The pseudo-inverse is a function of the singular values, so its gradient contains divided
/// differences of their inverses (Noferini 2017, "A formula for the Frechet derivative of a generalized matrix
/// function"). In place of the inverse of a singular value that counts as 0, the rule uses 0. If only exact zeros count
/// as 0, this is the formula of Golub and Pereyra (1973).
pub fn pinv<B: Backend, T: WideFloat>(
    b: &B,
    g: &B::Array<T>,
    x: &B::Array<T>,
    rtol: Option<f64>,
    rtols: Option<&B::Array<T::Real>>,
) -> Result<B::Array<T>> {
    if x.is_empty() {
        return b.zeros_like::<T>(x);
    }
    let rtol = Relative::<B, T>::of("pinv", b, x.shape(), rtol, rtols)?;
    let SvdResult { u, s, vh } = b.svd_with(x, SvdOptions::new().full_matrices(false))?;
    let is_kept = kept_values::<B, T>(b, &s, x.shape(), &rtol)?;
    let one = <T::Real as Numeric>::ONE;
    let zero = <T::Real as Numeric>::ZERO;
    let inverse = b.r#where(&is_kept, b.reciprocal(b.r#where(&is_kept, &s, one)?)?, zero)?;
    let (row, column) = (b.expand_dims(&inverse, -2)?, b.expand_dims(&inverse, -1)?);
    let (across, down) = (b.expand_dims(&s, -2)?, b.expand_dims(&s, -1)?);
    // for two kept singular values (those that do not count as 0), the product of their inverses; if only one of the
    // two is kept, the inverse of the difference of their squares
    let is_one = b.not_equal(
        b.astype::<i64, bool>(b.expand_dims(&is_kept, -2)?)?,
        b.astype::<i64, bool>(b.expand_dims(&is_kept, -1)?)?,
    )?;
    let distance = b.abs(b.multiply(b.subtract(&across, &down)?, b.add(&across, &down)?)?)?;
    let beside = b.reciprocal(b.r#where(&is_one, distance, one)?)?;
    let beside = b.r#where(&is_one, beside, zero)?;
    let squares = b.add(b.square(&row)?, b.square(&column)?)?;
    let along = b.multiply(b.multiply(b.multiply(across, down)?, squares)?, &beside)?;
    let along = b.subtract(along, b.multiply(&row, &column)?)?;
    let (along, beside) = (whole::<B, T>(b, &along)?, whole::<B, T>(b, &beside)?);

    let (v, adjoint_u) = (adjoint::<B, T>(b, &vh)?, adjoint::<B, T>(b, &u)?);
    let g = b.conj::<T>(g)?;
    let of_columns = b.matmul(&g, &u)?;
    let inner = b.matmul(&vh, &of_columns)?;
    let middle = b.add(b.multiply(along, &inner)?, adjoint::<B, T>(b, &b.multiply(beside, &inner)?)?)?;
    let mut x = b.matmul(b.matmul(&u, middle)?, &vh)?;
    let squares = whole::<B, T>(b, &b.square(inverse)?)?;
    let k = length(&s, 1);
    if k < length(&vh, 1) {
        // the component of the gradient that is orthogonal to all rows of the matrix
        let rest = b.subtract(&of_columns, b.matmul(&v, &inner)?)?;
        let scaled = b.multiply(&u, b.expand_dims(&squares, -2)?)?;
        x = b.add(x, b.matmul(scaled, adjoint::<B, T>(b, &rest)?)?)?;
    }
    if k < length(&u, 2) {
        // the component of the gradient that is orthogonal to all columns of the matrix
        let of_rows = b.matmul(&vh, &g)?;
        let rest = adjoint::<B, T>(b, &b.subtract(&of_rows, b.matmul(inner, adjoint_u)?)?)?;
        let scaled = b.multiply(&vh, b.expand_dims(squares, -1)?)?;
        x = b.add(x, b.matmul(rest, scaled)?)?;
    }
    b.conj::<T>(x)
}

/// The systems of `lstsq`, with all vectors as columns: the gradients with respect to the solution (`by_solution`) and
/// to the residual vectors (`by_rest`), the solution, and the right-hand sides (`right`).
struct System<B: Backend, T: WideFloat> {
    by_solution: B::Array<T>,
    by_rest: B::Array<T>,
    solution: B::Array<T>,
    right: B::Array<T>,
}

impl<B: Backend, T: WideFloat> System<B, T> {
    fn of(
        b: &B,
        g_solution: &B::Array<T>,
        g_residuals: &B::Array<T::Real>,
        solution: &B::Array<T>,
        x1: &B::Array<T>,
        x2: &B::Array<T>,
    ) -> Result<Self> {
        let column = |x: &B::Array<T>| as_columns::<B, T>(b, x, x1.ndim());
        let is_vector = solution.ndim() < x1.ndim();
        let (by_solution, solution) = (column(g_solution)?, column(solution)?);
        let right = if is_vector { b.expand_dims(x2, -1)? } else { x2.clone() };
        let rest = b.subtract(b.matmul(x1, &solution)?, &right)?;
        if g_residuals.is_empty() {
            return Ok(System { by_solution, by_rest: b.zeros_like::<T>(&rest)?, solution, right });
        }
        let residuals = b.expand_dims(whole::<B, T>(b, g_residuals)?, -2)?;
        let by_rest = b.multiply(b.multiply(b.conj::<T>(rest)?, residuals)?, number::<T>(2.0))?;
        let by_solution = b.add(by_solution, b.matmul(b.matrix_transpose(x1)?, &by_rest)?)?;
        Ok(System { by_solution, by_rest, solution, right })
    }
}

/// Gradient of `lstsq` with respect to the matrix. The solution is the product of the pseudo-inverse and the right-hand
/// sides, so the rule uses [`pinv`].
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn lstsq_x1<B: Backend, T: WideFloat>(
    b: &B,
    g_solution: &B::Array<T>,
    g_residuals: &B::Array<T::Real>,
    g_singular_values: &B::Array<T::Real>,
    solution: &B::Array<T>,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    rtol: Option<f64>,
) -> Result<B::Array<T>> {
    let system = System::<B, T>::of(b, g_solution, g_residuals, solution, x1, x2)?;
    let by_inverse = b.matmul(&system.by_solution, b.matrix_transpose(&system.right)?)?;
    // sums over the systems that share a matrix
    let by_inverse = summed::<B, T>(b, by_inverse, &transposed(x1.shape()))?;
    let direct = b.matmul(&system.by_rest, b.matrix_transpose(&system.solution)?)?;
    let direct = summed::<B, T>(b, direct, x1.shape())?;
    let by_values = svdvals::<B, T>(b, g_singular_values, x1)?;
    b.add(b.add(pinv::<B, T>(b, &by_inverse, x1, rtol, None)?, direct)?, by_values)
}

/// Gradient of `lstsq` with respect to the right-hand sides.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn lstsq_x2<B: Backend, T: WideFloat>(
    b: &B,
    g_solution: &B::Array<T>,
    g_residuals: &B::Array<T::Real>,
    solution: &B::Array<T>,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    rtol: Option<f64>,
) -> Result<B::Array<T>> {
    let system = System::<B, T>::of(b, g_solution, g_residuals, solution, x1, x2)?;
    let inverse = match rtol {
        Some(rtol) => b.pinv_with(x1, crate::PinvOptions::new().rtol(rtol))?,
        None => b.pinv(x1)?,
    };
    let g = b.subtract(b.matmul(b.matrix_transpose(inverse)?, &system.by_solution)?, &system.by_rest)?;
    if solution.ndim() < x1.ndim() { b.squeeze(g, -1) } else { Ok(g) }
}

/// Swaps the last two lengths of a shape.
fn transposed(shape: &[usize]) -> Vec<usize> {
    let mut shape = shape.to_vec();
    if let [.., rows, columns] = &mut shape[..] {
        std::mem::swap(rows, columns);
    }
    shape
}

/// Sums over the axes along which matrices of `shape` were broadcast.
fn summed<B: Backend, T: Float>(b: &B, x: B::Array<T>, shape: &[usize]) -> Result<B::Array<T>> {
    let new = x.ndim().saturating_sub(shape.len());
    let is_repeated = |&axis: &usize| axis < new || (shape[axis - new] == 1 && x.shape()[axis] != 1);
    let axes: Vec<usize> = (0..x.ndim()).filter(is_repeated).collect();
    let x = if axes.is_empty() { x } else { b.sum(x, axes)? };
    b.reshape(x, shape)
}
