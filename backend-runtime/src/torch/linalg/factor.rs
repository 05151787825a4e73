//! Factorizations with libtorch's `linalg`. libtorch loops over all matrices of a stack even if they have no elements,
//! and there may be 2^45 such matrices, so the results for such stacks are made here. libtorch's error texts differ
//! from those of this crate, so invalid input is refused before a call, and failed factorizations are read from a
//! tensor with one code per matrix.

use crate::{
    Axes, Float, Numeric, QrMode, Result, WideFloat,
    rules::{self, System},
    torch::{
        Torch, TorchArray,
        call::{OpContext, args},
        ops,
        tensor::{Arg, Number, Tensor},
    },
};

/// Whether any element of a tensor is not 0.
fn any(on: OpContext<'_>, x: &Tensor) -> Result<bool> {
    if x.size() == 0 {
        return Ok(false);
    }
    let flat = on.reshape(&on.call(&ops::NE, args![x, Number::of(0_i64)])?, &[x.size()])?;
    Ok(on.item(&on.call(&ops::ANY, args![&flat, Axes::from(0), false])?)? != 0)
}

/// Refuses elements that are infinite or NaN.
fn require_finite(on: OpContext<'_>, x: &Tensor) -> Result<()> {
    let finite = on.call(&ops::ISFINITE, args![x])?;
    if any(on, &on.call(&ops::LOGICAL_NOT, args![&finite])?)? { Err(rules::not_finite(on.op)) } else { Ok(()) }
}

/// A new tensor of identity matrices.
fn identities<T: WideFloat>(on: OpContext<'_>, shape: &[usize]) -> Result<Tensor> {
    let ones = on.full_typed(shape, T::ONE)?;
    on.call(&ops::TRIU, args![&on.call(&ops::TRIL, args![&ones, 0_i64])?, 0_i64])
}

/// Cholesky factors of Hermitian matrices; only one triangle is read.
pub fn cholesky<T: WideFloat>(b: &Torch, x: &TorchArray<T>, upper: bool) -> Result<TorchArray<T>> {
    let on = b.on::<T>("cholesky");
    rules::square(on.op, x.shape())?;
    if x.shape().contains(&0) {
        return on.array(on.full_typed(x.shape(), T::ZERO)?);
    }
    let (factor, codes) = on.pair(&ops::LINALG_CHOLESKY_EX, args![x, upper, false])?;
    // libtorch does not always report a matrix that contains NaN
    let unknown = any(on, &codes)? || any(on, &on.call(&ops::ISNAN, args![&factor])?)?;
    if unknown { Err(rules::not_positive_definite(on.op)) } else { on.array(factor) }
}

/// The right-hand sides of a system, as one matrix for each left-hand matrix, because libtorch would treat some shapes
/// as stacks of vectors.
fn right_sides(on: OpContext<'_>, x: &Tensor, system: &System) -> Result<Tensor> {
    let x = if system.is_vector { on.reshape(x, &[system.rows, 1])? } else { x.clone() };
    let shape = [&system.batches[..], &[system.rows, system.columns]].concat();
    on.call(&ops::EXPAND, args![&x, &shape])
}

/// The matrices of a system, broadcast to the right-hand sides.
fn left_sides(on: OpContext<'_>, x: &Tensor, system: &System) -> Result<Tensor> {
    let shape = [&system.batches[..], &[system.rows, system.unknowns]].concat();
    on.call(&ops::EXPAND, args![x, &shape])
}

/// Solutions of square linear systems.
pub fn solve<T: WideFloat>(b: &Torch, x1: &TorchArray<T>, x2: &TorchArray<T>) -> Result<TorchArray<T>> {
    let on = b.on::<T>("solve");
    let system = System::square(on.op, x1.shape(), x2.shape(), size_of::<T>())?;
    if system.shape().contains(&0) {
        return on.array(on.full_typed(&system.shape(), T::ZERO)?);
    }
    let (a, right) = (left_sides(on, x1.tensor(), &system)?, right_sides(on, x2.tensor(), &system)?);
    let (x, codes) = on.pair(&ops::LINALG_SOLVE_EX, args![&a, &right, true, false])?;
    if any(on, &codes)? {
        return Err(rules::singular(on.op));
    }
    on.array(on.reshape(&x, &system.shape())?)
}

/// Solutions of triangular linear systems.
pub fn solve_triangular<T: WideFloat>(
    b: &Torch,
    x1: &TorchArray<T>,
    x2: &TorchArray<T>,
    lower: bool,
    unit_diagonal: bool,
) -> Result<TorchArray<T>> {
    let on = b.on::<T>("solve_triangular");
    let system = System::square(on.op, x1.shape(), x2.shape(), size_of::<T>())?;
    if system.shape().contains(&0) {
        return on.array(on.full_typed(&system.shape(), T::ZERO)?);
    }
    let (a, right) = (left_sides(on, x1.tensor(), &system)?, right_sides(on, x2.tensor(), &system)?);
    if !unit_diagonal {
        let diagonal = on.call(&ops::DIAGONAL, args![&a, 0_i64, -2_i64, -1_i64])?;
        let zero = on.call(&ops::EQ, args![&diagonal, Number::of(0_i64)])?;
        if any(on, &zero)? {
            return Err(rules::singular(on.op));
        }
    }
    let x = on.call(&ops::LINALG_SOLVE_TRIANGULAR, args![&a, &right, !lower, true, unit_diagonal])?;
    on.array(on.reshape(&x, &system.shape())?)
}

/// Determinants of square matrices.
pub fn det<T: WideFloat>(b: &Torch, x: &TorchArray<T>) -> Result<TorchArray<T>> {
    let on = b.on::<T>("det");
    rules::square(on.op, x.shape())?;
    if x.shape().contains(&0) {
        return on.array(on.full_typed(&x.shape()[..x.shape().len() - 2], T::ONE)?);
    }
    on.array(on.call(&ops::LINALG_DET, args![x])?)
}

/// Signs of determinants, and logarithms of their magnitudes.
pub fn slogdet<T: WideFloat>(b: &Torch, x: &TorchArray<T>) -> Result<(TorchArray<T>, TorchArray<T::Real>)> {
    let on = b.on::<T>("slogdet");
    rules::square(on.op, x.shape())?;
    if x.shape().contains(&0) {
        let shape = &x.shape()[..x.shape().len() - 2];
        return Ok((on.array(on.full_typed(shape, T::ONE)?)?, on.array(on.full_typed(shape, T::Real::ZERO)?)?));
    }
    let (sign, log) = on.pair(&ops::LINALG_SLOGDET, args![x])?;
    Ok((on.array(sign)?, on.array(log)?))
}

/// QR factorization: factors with orthonormal columns, and upper triangular factors.
pub fn qr<T: WideFloat>(b: &Torch, x: &TorchArray<T>, mode: QrMode) -> Result<(TorchArray<T>, TorchArray<T>)> {
    let on = b.on::<T>("qr");
    let [of_q, of_r] = rules::qr(on.op, x.shape(), mode == QrMode::Complete, size_of::<T>())?;
    if x.shape().contains(&0) {
        return Ok((on.array(identities::<T>(on, &of_q)?)?, on.array(on.full_typed(&of_r, T::ZERO)?)?));
    }
    let (q, r) = on.pair(&ops::LINALG_QR, args![x, mode.name()])?;
    Ok((on.array(q)?, on.array(r)?))
}

/// The result of [`svd`]: left singular vectors, values, right singular vectors.
type Svd<T> = (TorchArray<T>, TorchArray<<T as Float>::Real>, TorchArray<T>);

/// Singular value decomposition: singular vectors and values.
pub fn svd<T: WideFloat>(b: &Torch, x: &TorchArray<T>, full_matrices: bool) -> Result<Svd<T>> {
    let on = b.on::<T>("svd");
    let shapes = rules::Svd::of(on.op, x.shape(), full_matrices, size_of::<T>())?;
    require_finite(on, x.tensor())?;
    if x.tensor().size() == 0 {
        let s = on.full_typed(&shapes.s, T::Real::ZERO)?;
        return Ok((
            on.array(identities::<T>(on, &shapes.u)?)?,
            on.array(s)?,
            on.array(identities::<T>(on, &shapes.vh)?)?,
        ));
    }
    let mut results = on.results(&ops::LINALG_SVD, args![x, full_matrices, Arg::None])?;
    Ok((on.array(results.tensor()?)?, on.array(results.tensor()?)?, on.array(results.tensor()?)?))
}

/// Singular values.
pub fn svdvals<T: WideFloat>(b: &Torch, x: &TorchArray<T>) -> Result<TorchArray<T::Real>> {
    let on = b.on::<T>("svdvals");
    let shapes = rules::Svd::of(on.op, x.shape(), false, size_of::<T>())?;
    if x.tensor().size() == 0 {
        return on.array(on.full_typed(&shapes.s, T::Real::ZERO)?);
    }
    require_finite(on, x.tensor())?;
    on.array(on.call(&ops::LINALG_SVDVALS, args![x, Arg::None])?)
}

/// Eigenvalues and eigenvectors of Hermitian matrices; only the lower triangle is read.
pub fn eigh<T: WideFloat>(b: &Torch, x: &TorchArray<T>) -> Result<(TorchArray<T::Real>, TorchArray<T>)> {
    let on = b.on::<T>("eigh");
    let shape = rules::eigen(on.op, x.shape(), size_of::<T>())?;
    if x.tensor().size() == 0 {
        return Ok((on.array(on.full_typed(&shape, T::Real::ZERO)?)?, on.array(on.full_typed(x.shape(), T::ZERO)?)?));
    }
    require_finite(on, &on.call(&ops::TRIL, args![x, 0_i64])?)?;
    let (w, v) = on.pair(&ops::LINALG_EIGH, args![x, "L"])?;
    Ok((on.array(w)?, on.array(v)?))
}

/// Eigenvalues of Hermitian matrices; only the lower triangle is read.
pub fn eigvalsh<T: WideFloat>(b: &Torch, x: &TorchArray<T>) -> Result<TorchArray<T::Real>> {
    let on = b.on::<T>("eigvalsh");
    let shape = rules::eigen(on.op, x.shape(), size_of::<T>())?;
    if x.tensor().size() == 0 {
        return on.array(on.full_typed(&shape, T::Real::ZERO)?);
    }
    require_finite(on, &on.call(&ops::TRIL, args![x, 0_i64])?)?;
    on.array(on.call(&ops::LINALG_EIGVALSH, args![x, "L"])?)
}

/// The result of [`eig`]: eigenvalues, eigenvectors.
type Eig<T> = (TorchArray<<T as Float>::Complex>, TorchArray<<T as Float>::Complex>);

/// Eigenvalues and eigenvectors of square matrices.
pub fn eig<T: WideFloat>(b: &Torch, x: &TorchArray<T>) -> Result<Eig<T>> {
    let on = b.on::<T>("eig");
    let shape = rules::eigen(on.op, x.shape(), size_of::<T::Complex>())?;
    if x.tensor().size() == 0 {
        let zeros = |shape: &[usize]| on.array(on.full_typed(shape, T::Complex::ZERO)?);
        return Ok((zeros(&shape)?, zeros(x.shape())?));
    }
    require_finite(on, x.tensor())?;
    let (w, v) = on.pair(&ops::LINALG_EIG, args![x])?;
    Ok((on.array(w)?, on.array(v)?))
}

/// Eigenvalues of square matrices.
pub fn eigvals<T: WideFloat>(b: &Torch, x: &TorchArray<T>) -> Result<TorchArray<T::Complex>> {
    let on = b.on::<T>("eigvals");
    let shape = rules::eigen(on.op, x.shape(), size_of::<T::Complex>())?;
    if x.tensor().size() == 0 {
        return on.array(on.full_typed(&shape, T::Complex::ZERO)?);
    }
    require_finite(on, x.tensor())?;
    on.array(on.call(&ops::LINALG_EIGVALS, args![x])?)
}
