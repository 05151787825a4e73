//! Gradient rules of matrix factorizations.
//!
//! The formulas in the literature are for the conjugate of the gradient that this library uses, so each rule conjugates
//! its arguments and its result. Each rule is linear in the output gradients.
//!
//! The vectors of [`eigh`], [`eig`] and [`svd`] and the columns of [`qr`] are unique only up to a sign or, for complex
//! matrices, up to a factor of magnitude 1. The gradients are correct for functions that do not depend on this choice,
//! nor on the choice of vectors for a multiple eigenvalue or singular value.

use super::{number, shapes::part, whole};
use crate::{
    ArrayAttributes, Backend, Complex, ComplexFloat, DType, EigResult, EighResult, Element, EyeOptions, Float, Real,
    Result, SvdOptions, SvdResult, WideFloat,
};

/// The conjugate transpose.
pub(super) fn adjoint<B: Backend, T: Float>(b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
    b.conj::<T>(b.matrix_transpose(x)?)
}

/// Length of an axis, counted from the end: 1 for the last axis, 2 for the axis before it. It is 0 if the axis does not
/// exist.
pub(super) fn length<A: ArrayAttributes>(x: &A, from_end: usize) -> usize {
    x.ndim().checked_sub(from_end).map_or(0, |axis| x.shape()[axis])
}

/// The first `rows` rows and `columns` columns of the matrices.
fn corner<B: Backend, T: Element>(b: &B, x: &B::Array<T>, rows: usize, columns: usize) -> Result<B::Array<T>> {
    part::<B, T>(b, &part::<B, T>(b, x, x.ndim() - 2, 0, rows)?, x.ndim() - 1, 0, columns)
}

/// The lower triangle, with half of the diagonal.
fn lower_half<B: Backend, T: Float>(b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
    let n = length(x, 1);
    let weights = b.subtract(b.tril(b.ones::<T>([n, n])?)?, b.multiply(b.eye::<T>(n)?, number::<T>(0.5))?)?;
    b.multiply(x, weights)
}

/// Gradient with respect to the lower triangle of Hermitian matrices, given the gradient `x` with respect to the whole
/// matrix. Each element of the triangle also determines its mirror image across the diagonal.
fn of_lower<B: Backend, T: Float>(b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
    lower_half::<B, T>(b, &b.add(x, adjoint::<B, T>(b, x)?)?)
}

/// `x / y`, and 0 if both are 0. With this value, functions that do not depend on the choice of vectors have a gradient
/// at equal singular values or eigenvalues.
fn quotient<B: Backend, T: Float>(b: &B, x: &B::Array<T>, y: &B::Array<T>) -> Result<B::Array<T>> {
    let neither = b.logical_and(b.equal(x, T::ZERO)?, b.equal(y, T::ZERO)?)?;
    b.divide(x, b.r#where(neither, T::ONE, y)?)
}

/// Replaces the diagonals of matrices by zeros.
fn off_diagonal<B: Backend, T: Float>(b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
    b.r#where(diagonal_of::<B, T>(b, x)?, T::ZERO, x)
}

/// A mask that is true on the diagonal of the matrices, which need not be square.
fn diagonal_of<B: Backend, T: Element>(b: &B, x: &B::Array<T>) -> Result<B::Array<bool>> {
    b.eye_with::<bool>(length(x, 2), EyeOptions::new().n_cols(length(x, 1)))
}

/// `x` times the inverse of the conjugate transpose of an upper triangular `r`.
fn by_inverse_adjoint<B: Backend, T: WideFloat>(b: &B, x: &B::Array<T>, r: &B::Array<T>) -> Result<B::Array<T>> {
    adjoint::<B, T>(b, &b.solve_triangular(r, adjoint::<B, T>(b, x)?)?)
}

/// Gradient of `cholesky` with respect to the triangle that the op reads (Murray 2016, "Differentiation of the Cholesky
/// decomposition").
pub fn cholesky<B: Backend, T: WideFloat>(b: &B, g: &B::Array<T>, y: &B::Array<T>, upper: bool) -> Result<B::Array<T>> {
    // the conjugate transpose of the lower factor, and the gradient with respect to the lower factor
    let (factor, g) =
        if upper { (y.clone(), b.matrix_transpose(g)?) } else { (adjoint::<B, T>(b, y)?, b.conj::<T>(g)?) };
    let inner = lower_half::<B, T>(b, &b.matmul(&factor, g)?)?;
    let whole = by_inverse_adjoint::<B, T>(b, &b.solve_triangular(&factor, inner)?, &factor)?;
    let of_triangle = of_lower::<B, T>(b, &whole)?;
    if upper { b.matrix_transpose(of_triangle) } else { b.conj::<T>(of_triangle) }
}

/// Gradient of `qr` for matrices of any shape whose first columns are linearly independent (Walter and Lehmann 2010,
/// "Algorithmic differentiation of linear algebra functions with application in optimum experimental design"; for
/// complex matrices and for more columns than rows Roberts and Roberts 2020, "QR and LQ decomposition matrix
/// backpropagation algorithms for square, wide, and deep matrices").
///
/// The last columns of a complete `q`, which are orthogonal to the matrix, are unique only up to a rotation of these
/// columns. The differentiated function must not depend on this rotation.
pub fn qr<B: Backend, T: WideFloat>(
    b: &B,
    g_q: &B::Array<T>,
    g_r: &B::Array<T>,
    q: &B::Array<T>,
    r: &B::Array<T>,
) -> Result<B::Array<T>> {
    let (m, n, inner) = (length(q, 2), length(r, 1), length(q, 1));
    let k = m.min(n);
    let (g_q, g_r) = (b.conj::<T>(g_q)?, b.triu(b.conj::<T>(g_r)?)?);
    let along = b.matmul(adjoint::<B, T>(b, q)?, &g_q)?;
    let turn = b.subtract(&along, b.matmul(&g_r, adjoint::<B, T>(b, r)?)?)?;
    let turn = lower_half::<B, T>(b, &b.subtract(&turn, adjoint::<B, T>(b, &turn)?)?)?;
    let turn = corner::<B, T>(b, &turn, inner, k)?;
    let mut first = if inner < m {
        // adds the component that is orthogonal to all columns of `q`
        b.add(b.matmul(q, b.subtract(turn, along)?)?, g_q)?
    } else {
        b.matmul(q, turn)?
    };
    first = by_inverse_adjoint::<B, T>(b, &first, &corner::<B, T>(b, r, k, k)?)?;
    b.conj::<T>(b.add(b.matmul(q, g_r)?, b.pad_to(first, n, -1)?)?)
}

/// Gradient of `svd` for matrices with distinct singular values (Giles 2008, "Collected matrix derivative results for
/// forward and reverse mode algorithmic differentiation"; Townsend 2016, "Differentiating the singular value
/// decomposition"; for complex matrices Wan and Zhang 2019, "Automatic differentiation for complex valued SVD").
///
/// In full matrices of singular vectors, a vector without a singular value is treated like a vector whose singular
/// value is zero. Such vectors are unique only up to a rotation. The differentiated function must not depend on this
/// rotation.
pub fn svd<B: Backend, T: WideFloat>(
    b: &B,
    g_u: &B::Array<T>,
    g_s: &B::Array<T::Real>,
    g_vh: &B::Array<T>,
    u: &B::Array<T>,
    s: &B::Array<T::Real>,
    vh: &B::Array<T>,
) -> Result<B::Array<T>> {
    let (m, n, k) = (length(u, 2), length(vh, 1), length(s, 1));
    let (rows, columns) = (length(u, 1), length(vh, 2));
    let s = whole::<B, T>(b, s)?;
    let (down, across) = (b.expand_dims(&s, -1)?, b.expand_dims(&s, -2)?);
    let skew = |x: B::Array<T>| b.subtract(&x, adjoint::<B, T>(b, &x)?);
    let (g_u, g_vh) = (b.conj::<T>(g_u)?, b.conj::<T>(g_vh)?);
    let of_u = corner::<B, T>(b, &skew(b.matmul(adjoint::<B, T>(b, u)?, &g_u)?)?, rows, k)?;
    let of_v = corner::<B, T>(b, &skew(b.matmul(vh, adjoint::<B, T>(b, &g_vh)?)?)?, k, columns)?;
    // the squared singular value of the column minus the squared singular value of the row
    let squares =
        |down: &B::Array<T>, across: &B::Array<T>| b.multiply(b.subtract(across, down)?, b.add(across, down)?);
    let more_rows = b.expand_dims(b.pad_to(&s, rows, -1)?, -1)?;
    let by_u = b.multiply(off_diagonal::<B, T>(b, &of_u)?, &across)?;
    let by_u = quotient::<B, T>(b, &by_u, &squares(&more_rows, &across)?)?;
    let more_columns = b.expand_dims(b.pad_to(&s, columns, -1)?, -2)?;
    let by_v = b.multiply(off_diagonal::<B, T>(b, &of_v)?, &down)?;
    let by_v = quotient::<B, T>(b, &by_v, &squares(&down, &more_columns)?)?;
    let inner = b.add(b.pad_to(by_u, columns, -1)?, b.pad_to(by_v, rows, -2)?)?;
    // a pair of singular vectors may be multiplied by any complex factor of magnitude 1, which changes the imaginary
    // parts of the diagonals; `phases` is the gradient with respect to these imaginary parts
    let phases = b.subtract(b.diagonal(&of_u)?, b.diagonal(&of_v)?)?;
    let phases = quotient::<B, T>(b, &phases, &b.multiply(&s, number::<T>(4.0))?)?;
    let diagonal = b.expand_dims(b.pad_to(b.add(whole::<B, T>(b, g_s)?, phases)?, rows, -1)?, -1)?;
    let inner = b.r#where(diagonal_of::<B, T>(b, &inner)?, diagonal, inner)?;
    let mut x = b.matmul(b.matmul(u, inner)?, vh)?;
    if rows < m {
        let others = quotient::<B, T>(b, &g_u, &across)?;
        let others = b.subtract(&others, b.matmul(u, b.matmul(adjoint::<B, T>(b, u)?, &others)?)?)?;
        x = b.add(x, b.matmul(others, corner::<B, T>(b, vh, k, n)?)?)?;
    }
    if columns < n {
        let others = quotient::<B, T>(b, &g_vh, &down)?;
        let others = b.subtract(&others, b.matmul(b.matmul(&others, adjoint::<B, T>(b, vh)?)?, vh)?)?;
        x = b.add(x, b.matmul(corner::<B, T>(b, u, m, k)?, others)?)?;
    }
    b.conj::<T>(x)
}

/// Gradient of `svdvals` (Giles 2008, as for [`svd`]).
pub fn svdvals<B: Backend, T: WideFloat>(b: &B, g: &B::Array<T::Real>, x: &B::Array<T>) -> Result<B::Array<T>> {
    let SvdResult { u, vh, .. } = b.svd_with(x, SvdOptions::new().full_matrices(false))?;
    let scaled = b.multiply(u, b.expand_dims(whole::<B, T>(b, g)?, -2)?)?;
    b.conj::<T>(b.matmul(scaled, vh)?)
}

/// Gradient of `eigh` with respect to the triangle that the op reads, for matrices with distinct eigenvalues (Giles
/// 2008, as for [`svd`]; Seeger et al. 2017, "Auto-differentiating linear algebra").
pub fn eigh<B: Backend, T: WideFloat>(
    b: &B,
    g_w: &B::Array<T::Real>,
    g_v: &B::Array<T>,
    w: &B::Array<T::Real>,
    v: &B::Array<T>,
) -> Result<B::Array<T>> {
    let adjoint_v = adjoint::<B, T>(b, v)?;
    let turn = off_diagonal::<B, T>(b, &b.matmul(&adjoint_v, b.conj::<T>(g_v)?)?)?;
    let gaps = b.subtract(b.expand_dims(w, -2)?, b.expand_dims(w, -1)?)?;
    let turn = quotient::<B, T>(b, &turn, &whole::<B, T>(b, &gaps)?)?;
    let values = b.expand_dims(whole::<B, T>(b, g_w)?, -1)?;
    let inner = b.r#where(diagonal_of::<B, T>(b, &turn)?, values, turn)?;
    let x = b.matmul(b.matmul(v, inner)?, adjoint_v)?;
    b.conj::<T>(of_lower::<B, T>(b, &x)?)
}

/// Gradient of `eigvalsh` with respect to the triangle that the op reads (Giles 2008, as for [`svd`]).
pub fn eigvalsh<B: Backend, T: WideFloat>(b: &B, g: &B::Array<T::Real>, x: &B::Array<T>) -> Result<B::Array<T>> {
    let EighResult { eigenvectors: v, .. } = b.eigh(x)?;
    let scaled = b.multiply(&v, b.expand_dims(whole::<B, T>(b, g)?, -2)?)?;
    let x = b.matmul(scaled, adjoint::<B, T>(b, &v)?)?;
    b.conj::<T>(of_lower::<B, T>(b, &x)?)
}

/// Gradient of `eig` for matrices with distinct eigenvalues (Giles 2008, as for [`svd`]; for vectors of length 1
/// Boeddeker et al. 2017, "On the computation of complex-valued gradients with application to statistically optimum
/// beamforming").
pub fn eig<B: Backend, T: WideFloat>(
    b: &B,
    g_w: &B::Array<T::Complex>,
    g_v: &B::Array<T::Complex>,
    w: &B::Array<T::Complex>,
    v: &B::Array<T::Complex>,
) -> Result<B::Array<T>> {
    match T::dtype() {
        DType::Float64 | DType::Complex128 => eig_in::<B, T, Complex<f64>>(b, g_w, g_v, w, v),
        _ => eig_in::<B, T, Complex<f32>>(b, g_w, g_v, w, v),
    }
}

/// Gradient of `eig`, computed in the complex dtype `C` of the results.
fn eig_in<B: Backend, T: WideFloat, C: WideFloat + ComplexFloat>(
    b: &B,
    g_w: &B::Array<T::Complex>,
    g_v: &B::Array<T::Complex>,
    w: &B::Array<T::Complex>,
    v: &B::Array<T::Complex>,
) -> Result<B::Array<T>> {
    let (g_w, g_v) = (b.astype::<C, T::Complex>(g_w)?, b.astype::<C, T::Complex>(g_v)?);
    let (w, v) = (b.astype::<C, T::Complex>(w)?, b.astype::<C, T::Complex>(v)?);
    let adjoint_v = adjoint::<B, C>(b, &v)?;
    let along = b.matmul(&adjoint_v, b.conj::<C>(g_v)?)?;
    // subtracts the changes of the vectors' lengths, because the lengths are always 1
    let lengths = b.astype::<C, _>(b.real(b.diagonal(&along)?)?)?;
    let turn = b.subtract(along, b.multiply(b.matmul(&adjoint_v, &v)?, b.expand_dims(lengths, -2)?)?)?;
    let gaps = b.conj::<C>(b.subtract(b.expand_dims(&w, -2)?, b.expand_dims(&w, -1)?)?)?;
    let turn = quotient::<B, C>(b, &off_diagonal::<B, C>(b, &turn)?, &gaps)?;
    let values = b.expand_dims(b.conj::<C>(g_w)?, -1)?;
    let inner = b.r#where(diagonal_of::<B, C>(b, &turn)?, values, turn)?;
    let x = b.solve(&adjoint_v, b.matmul(inner, &adjoint_v)?)?;
    b.astype::<T, C>(b.conj::<C>(x)?)
}

/// Gradient of `eigvals` (Giles 2008, as for [`svd`]).
pub fn eigvals<B: Backend, T: WideFloat>(
    b: &B,
    g: &B::Array<T::Complex>,
    y: &B::Array<T::Complex>,
    x: &B::Array<T>,
) -> Result<B::Array<T>> {
    match T::dtype() {
        DType::Float64 | DType::Complex128 => eigvals_in::<B, T, Complex<f64>>(b, g, y, x, f64::EPSILON),
        _ => eigvals_in::<B, T, Complex<f32>>(b, g, y, x, f32::EPSILON.into()),
    }
}

/// Gradient of `eigvals`, computed in the complex dtype `C` of the results. `precision` is the relative rounding error
/// of `C`.
fn eigvals_in<B: Backend, T: WideFloat, C: WideFloat + ComplexFloat>(
    b: &B,
    g: &B::Array<T::Complex>,
    y: &B::Array<T::Complex>,
    x: &B::Array<T>,
    precision: f64,
) -> Result<B::Array<T>> {
    if x.is_empty() {
        return b.zeros_like::<T>(x);
    }
    let (g, y) = (b.astype::<C, T::Complex>(g)?, b.expand_dims(b.astype::<C, T::Complex>(y)?, -1)?);
    let EigResult { eigenvalues, eigenvectors } = b.eig(x)?;
    let (w, v) = (b.astype::<C, T::Complex>(eigenvalues)?, b.astype::<C, T::Complex>(eigenvectors)?);
    // the order of eigenvalues may differ between calls, so each eigenvalue is matched with the vector of the nearest
    // eigenvalue; among equally near eigenvalues, the one at the same index is preferred
    let distance = b.abs(b.subtract(&y, b.expand_dims(w, -2)?)?)?;
    let own = b.multiply(b.eye::<C::Real>(length(x, 1))?, C::Real::of(precision.sqrt()))?;
    let distance = b.subtract(distance, b.multiply(b.abs(y)?, own)?)?;
    let order = b.one_hot::<C>(b.argmin(distance, -1)?, length(x, 1))?;
    let v = b.matmul(order, b.matrix_transpose(v)?)?;
    let x = b.solve(&v, b.multiply(b.expand_dims(g, -1)?, &v)?)?;
    b.astype::<T, C>(x)
}
