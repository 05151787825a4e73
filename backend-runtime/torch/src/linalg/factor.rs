//! Factorizations with libtorch's `linalg`. The functions in this file make the results of stacks of empty matrices
//! themselves: libtorch would loop over all matrices, and there may be 2^45 of them. libtorch's error texts differ from
//! this crate's. So invalid input is refused before libtorch is called, and a failed factorization is detected from
//! libtorch's tensor of error codes, one code per matrix.

use crate::{
    call::{OpContext, args},
    ops,
    tensor::{Arg, Number, Tensor},
};
use backend_core::{
    Axes, QrMode, Result,
    raw::RawElement,
    rules::{self, System},
};

/// Returns whether any element of a tensor is not 0.
fn any(on: OpContext<'_>, x: &Tensor) -> Result<bool> {
    if x.size() == 0 {
        return Ok(false);
    }
    let flat = on.reshape(&on.call(&ops::NE, args![x, Number::of(0_i64)])?, &[x.size()])?;
    Ok(on.item(&on.call(&ops::ANY, args![&flat, Axes::from(0), false])?)? != 0)
}

/// Returns an error if an element is infinite or NaN.
fn require_finite(on: OpContext<'_>, x: &Tensor) -> Result<()> {
    let finite = on.call(&ops::ISFINITE, args![x])?;
    if any(on, &on.call(&ops::LOGICAL_NOT, args![&finite])?)? { Err(rules::not_finite(on.op)) } else { Ok(()) }
}

/// A new tensor of zeros in the call's dtype.
fn zeros(on: OpContext<'_>, shape: &[usize]) -> Result<Tensor> {
    on.full(shape, RawElement::zero(on.dtype))
}

/// A new tensor of zeros in the real counterpart of the call's dtype.
fn real_zeros(on: OpContext<'_>, shape: &[usize]) -> Result<Tensor> {
    on.full(shape, RawElement::zero(on.dtype.to_real()))
}

/// A new tensor of zeros in the complex counterpart of the call's dtype.
fn complex_zeros(on: OpContext<'_>, shape: &[usize]) -> Result<Tensor> {
    on.full(shape, RawElement::zero(on.dtype.to_complex()))
}

/// A new tensor of ones in the call's dtype.
fn ones(on: OpContext<'_>, shape: &[usize]) -> Result<Tensor> {
    on.full(shape, RawElement::of(1_f64).to(on.dtype))
}

/// A new tensor of identity matrices.
fn identities(on: OpContext<'_>, shape: &[usize]) -> Result<Tensor> {
    let ones = ones(on, shape)?;
    on.call(&ops::TRIU, args![&on.call(&ops::TRIL, args![&ones, 0_i64])?, 0_i64])
}

/// Cholesky factors of Hermitian matrices. Reads only one triangle of each matrix: the upper triangle if `upper` is
/// true, else the lower triangle.
pub fn cholesky(on: OpContext<'_>, x: &Tensor, upper: bool) -> Result<Tensor> {
    rules::square(on.op, x.shape())?;
    if x.shape().contains(&0) {
        return zeros(on, x.shape());
    }
    let (factor, codes) = on.pair(&ops::LINALG_CHOLESKY_EX, args![x, upper, false])?;
    // for a matrix that contains NaN, libtorch's error code may be 0, so the factor is also checked
    let unknown = any(on, &codes)? || any(on, &on.call(&ops::ISNAN, args![&factor])?)?;
    if unknown { Err(rules::not_positive_definite(on.op)) } else { Ok(factor) }
}

/// The right-hand sides of a system, as a stack with one matrix for each left-hand matrix. libtorch would treat some
/// other shapes as stacks of vectors.
fn right_sides(on: OpContext<'_>, x: &Tensor, system: &System) -> Result<Tensor> {
    let x = if system.is_vector { on.reshape(x, &[system.rows, 1])? } else { x.clone() };
    let shape = [&system.batches[..], &[system.rows, system.columns]].concat();
    on.call(&ops::EXPAND, args![&x, &shape])
}

/// The left-hand matrices of a system, with their leading axes broadcast to the leading axes of the result.
fn left_sides(on: OpContext<'_>, x: &Tensor, system: &System) -> Result<Tensor> {
    let shape = [&system.batches[..], &[system.rows, system.unknowns]].concat();
    on.call(&ops::EXPAND, args![x, &shape])
}

/// Solutions of square linear systems.
pub fn solve(on: OpContext<'_>, x1: &Tensor, x2: &Tensor) -> Result<Tensor> {
    let system = System::square(on.op, x1.shape(), x2.shape(), on.dtype.size())?;
    if system.shape().contains(&0) {
        return zeros(on, &system.shape());
    }
    let (a, right) = (left_sides(on, x1, &system)?, right_sides(on, x2, &system)?);
    let (x, codes) = on.pair(&ops::LINALG_SOLVE_EX, args![&a, &right, true, false])?;
    if any(on, &codes)? {
        return Err(rules::singular(on.op));
    }
    on.reshape(&x, &system.shape())
}

/// Solutions of triangular linear systems.
pub fn solve_triangular(
    on: OpContext<'_>,
    x1: &Tensor,
    x2: &Tensor,
    lower: bool,
    unit_diagonal: bool,
) -> Result<Tensor> {
    let system = System::square(on.op, x1.shape(), x2.shape(), on.dtype.size())?;
    if system.shape().contains(&0) {
        return zeros(on, &system.shape());
    }
    let (a, right) = (left_sides(on, x1, &system)?, right_sides(on, x2, &system)?);
    if !unit_diagonal {
        let diagonal = on.call(&ops::DIAGONAL, args![&a, 0_i64, -2_i64, -1_i64])?;
        let zero = on.call(&ops::EQ, args![&diagonal, Number::of(0_i64)])?;
        if any(on, &zero)? {
            return Err(rules::singular(on.op));
        }
    }
    let x = on.call(&ops::LINALG_SOLVE_TRIANGULAR, args![&a, &right, !lower, true, unit_diagonal])?;
    on.reshape(&x, &system.shape())
}

/// Determinants of square matrices.
pub fn det(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    rules::square(on.op, x.shape())?;
    if x.shape().contains(&0) {
        return ones(on, &x.shape()[..x.shape().len() - 2]);
    }
    on.call(&ops::LINALG_DET, args![x])
}

/// Signs of the determinants of matrices, and logarithms of the determinants' magnitudes.
pub fn slogdet(on: OpContext<'_>, x: &Tensor) -> Result<[Tensor; 2]> {
    rules::square(on.op, x.shape())?;
    if x.shape().contains(&0) {
        let shape = &x.shape()[..x.shape().len() - 2];
        return Ok([ones(on, shape)?, real_zeros(on, shape)?]);
    }
    let (sign, log) = on.pair(&ops::LINALG_SLOGDET, args![x])?;
    Ok([sign, log])
}

/// QR factorization: factors with orthonormal columns, and upper triangular factors.
pub fn qr(on: OpContext<'_>, x: &Tensor, mode: QrMode) -> Result<[Tensor; 2]> {
    let [of_q, of_r] = rules::qr(on.op, x.shape(), mode == QrMode::Complete, on.dtype.size())?;
    if x.shape().contains(&0) {
        return Ok([identities(on, &of_q)?, zeros(on, &of_r)?]);
    }
    let (q, r) = on.pair(&ops::LINALG_QR, args![x, mode.name()])?;
    Ok([q, r])
}

/// Singular value decomposition: left singular vectors, values, right singular vectors.
pub fn svd(on: OpContext<'_>, x: &Tensor, full_matrices: bool) -> Result<[Tensor; 3]> {
    let shapes = rules::Svd::of(on.op, x.shape(), full_matrices, on.dtype.size())?;
    require_finite(on, x)?;
    if x.size() == 0 {
        let s = real_zeros(on, &shapes.s)?;
        return Ok([identities(on, &shapes.u)?, s, identities(on, &shapes.vh)?]);
    }
    let mut results = on.results(&ops::LINALG_SVD, args![x, full_matrices, Arg::None])?;
    Ok([results.tensor()?, results.tensor()?, results.tensor()?])
}

/// Singular values.
pub fn svdvals(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    let shapes = rules::Svd::of(on.op, x.shape(), false, on.dtype.size())?;
    if x.size() == 0 {
        return real_zeros(on, &shapes.s);
    }
    require_finite(on, x)?;
    on.call(&ops::LINALG_SVDVALS, args![x, Arg::None])
}

/// Eigenvalues and eigenvectors of Hermitian matrices; only the lower triangle is read.
pub fn eigh(on: OpContext<'_>, x: &Tensor) -> Result<[Tensor; 2]> {
    let shape = rules::eigen(on.op, x.shape(), on.dtype.size())?;
    if x.size() == 0 {
        return Ok([real_zeros(on, &shape)?, zeros(on, x.shape())?]);
    }
    require_finite(on, &on.call(&ops::TRIL, args![x, 0_i64])?)?;
    let (w, v) = on.pair(&ops::LINALG_EIGH, args![x, "L"])?;
    Ok([w, v])
}

/// Eigenvalues of Hermitian matrices; only the lower triangle is read.
pub fn eigvalsh(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    let shape = rules::eigen(on.op, x.shape(), on.dtype.size())?;
    if x.size() == 0 {
        return real_zeros(on, &shape);
    }
    require_finite(on, &on.call(&ops::TRIL, args![x, 0_i64])?)?;
    on.call(&ops::LINALG_EIGVALSH, args![x, "L"])
}

/// Eigenvalues and eigenvectors of square matrices.
pub fn eig(on: OpContext<'_>, x: &Tensor) -> Result<[Tensor; 2]> {
    let shape = rules::eigen(on.op, x.shape(), on.dtype.to_complex().size())?;
    if x.size() == 0 {
        return Ok([complex_zeros(on, &shape)?, complex_zeros(on, x.shape())?]);
    }
    require_finite(on, x)?;
    let (w, v) = on.pair(&ops::LINALG_EIG, args![x])?;
    Ok([w, v])
}

/// Eigenvalues of square matrices.
pub fn eigvals(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    let shape = rules::eigen(on.op, x.shape(), on.dtype.to_complex().size())?;
    if x.size() == 0 {
        return complex_zeros(on, &shape);
    }
    require_finite(on, x)?;
    on.call(&ops::LINALG_EIGVALS, args![x])
}
