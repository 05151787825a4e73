//! Matrix products: cuBLAS for floats, and kernels of this crate for integers, which wrap, and for sparse matrices.
//! Factorizations: cuSOLVER, and cuBLAS for many small matrices.

mod batched;
mod blas;
mod factor;
mod gemm;
mod integer;
mod operands;
mod solver;
mod sparse;
mod spectral;
mod stack;

pub use factor::{cholesky, det, qr, slogdet, solve, solve_triangular};
pub(super) use integer::KERNELS;
pub(super) use sparse::KERNELS as SPARSE_KERNELS;
pub use sparse::{csc_matmul, csr_matmul, sampled_matmul};
pub use spectral::{eig, eigh, eigvals, eigvalsh, svd, svdvals};
pub(super) use stack::KERNELS as FACTOR_KERNELS;

use super::{Cuda, CudaArray, device::Device};
use crate::{
    DTypeKind, Element, Numeric, Result,
    rules::{self, Product},
};
use operands::{OP, Operands};
use std::sync::Arc;

/// Destroys the libraries' handles of a device; they are opened again on the next use.
pub(super) fn forget_handles(device: &Arc<Device>, op: &'static str) -> Result<()> {
    blas::forget_handle(device, op).and(solver::forget_handle(device, op))
}

/// Matrix product over the last two axes; the leading axes broadcast.
pub fn matmul<T: Numeric>(b: &Cuda, x1: &CudaArray<T>, x2: &CudaArray<T>) -> Result<CudaArray<T>> {
    b.check(OP, &x1.raw)?;
    b.check(OP, &x2.raw)?;
    let product = Product::of(OP, &x1.raw.shape, &x2.raw.shape, size_of::<T>())?;
    let out = b.uninit_raw(OP, T::DTYPE, &product.shape)?;
    if out.size() == 0 {
        return Ok(CudaArray::of(out));
    }
    if product.inner == 0 {
        b.set_bytes(OP, &out, 0)?;
        return Ok(CudaArray::of(out));
    }
    // a one-dimensional operand is a row on the left and a column on the right
    let left = if x1.raw.shape.len() == 1 { x1.raw.expanded(0) } else { x1.raw.clone() };
    let right = if x2.raw.shape.len() == 1 { x2.raw.expanded(1) } else { x2.raw.clone() };
    let Product { rows, inner, columns, .. } = product;
    let matrices = [&product.batches[..], &[rows, columns]].concat();
    let to = out.view(matrices.clone(), rules::c_strides(&matrices), out.offset);
    let operands = Operands { rows, inner, columns, left, right, out: to };
    match T::DTYPE.kind() {
        DTypeKind::Real | DTypeKind::Complex => blas::product(b, &operands.storable(b)?.broadcast(&product.batches)?)?,
        _ => integer::product(b, &operands.broadcast(&product.batches)?)?,
    }
    Ok(CudaArray::of(out))
}

/// A view of the diagonals of the matrices that two axes form; it has the diagonals along a new last axis.
pub fn diagonal<T: Element>(
    b: &Cuda,
    x: &CudaArray<T>,
    offset: isize,
    axis1: isize,
    axis2: isize,
) -> Result<CudaArray<T>> {
    const OP: &str = "diagonal";
    b.check(OP, &x.raw)?;
    let diagonal = rules::Diagonal::of(OP, &x.raw.shape, offset, [axis1, axis2], size_of::<T>())?;
    let (start, strides) = diagonal.strides(&x.raw.strides);
    let offset = x.raw.offset.wrapping_add_signed(start);
    Ok(CudaArray::of(x.raw.view(diagonal.shape, strides, offset)))
}

#[cfg(test)]
mod tests;
