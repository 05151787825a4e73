//! Factorizations, which are work of cuSOLVER: it is not called yet, and every op answers so.

use crate::{
    Arrays, Error, Float, QrMode, Result, WideFloat,
    cuda::{Cuda, CudaArray},
};

/// The error of an op that this backend lacks.
fn missing<V>(op: &'static str) -> Result<V> {
    Err(Error::unsupported(op, Cuda::NAME))
}

/// Cholesky factors.
pub fn cholesky<T: WideFloat>(_: &Cuda, _: &CudaArray<T>, _: bool) -> Result<CudaArray<T>> {
    missing("cholesky")
}

/// Solutions.
pub fn solve<T: WideFloat>(_: &Cuda, _: &CudaArray<T>, _: &CudaArray<T>) -> Result<CudaArray<T>> {
    missing("solve")
}

/// Solutions.
pub fn solve_triangular<T: WideFloat>(
    _: &Cuda,
    _: &CudaArray<T>,
    _: &CudaArray<T>,
    _: bool,
    _: bool,
) -> Result<CudaArray<T>> {
    missing("solve_triangular")
}

/// Determinants.
pub fn det<T: WideFloat>(_: &Cuda, _: &CudaArray<T>) -> Result<CudaArray<T>> {
    missing("det")
}

/// Determinants.
pub fn slogdet<T: WideFloat>(_: &Cuda, _: &CudaArray<T>) -> Result<(CudaArray<T>, CudaArray<T::Real>)> {
    missing("slogdet")
}

/// Factors.
pub fn qr<T: WideFloat>(_: &Cuda, _: &CudaArray<T>, _: QrMode) -> Result<(CudaArray<T>, CudaArray<T>)> {
    missing("qr")
}

/// What [`svd`] gives.
type Svd<T> = (CudaArray<T>, CudaArray<<T as Float>::Real>, CudaArray<T>);
/// Singular values.
pub fn svd<T: WideFloat>(_: &Cuda, _: &CudaArray<T>, _: bool) -> Result<Svd<T>> {
    missing("svd")
}

/// Singular values.
pub fn svdvals<T: WideFloat>(_: &Cuda, _: &CudaArray<T>) -> Result<CudaArray<T::Real>> {
    missing("svdvals")
}

/// Eigenvalues.
pub fn eigh<T: WideFloat>(_: &Cuda, _: &CudaArray<T>) -> Result<(CudaArray<T::Real>, CudaArray<T>)> {
    missing("eigh")
}

/// Eigenvalues.
pub fn eigvalsh<T: WideFloat>(_: &Cuda, _: &CudaArray<T>) -> Result<CudaArray<T::Real>> {
    missing("eigvalsh")
}

/// What [`eig`] gives: values, vectors.
type Eig<T> = (CudaArray<<T as Float>::Complex>, CudaArray<<T as Float>::Complex>);

/// Eigenvalues.
pub fn eig<T: WideFloat>(_: &Cuda, _: &CudaArray<T>) -> Result<Eig<T>> {
    missing("eig")
}

/// Eigenvalues.
pub fn eigvals<T: WideFloat>(_: &Cuda, _: &CudaArray<T>) -> Result<CudaArray<T::Complex>> {
    missing("eigvals")
}
