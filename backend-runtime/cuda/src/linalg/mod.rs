//! Linear algebra. Matrix products of floats use cuBLAS. Products of integers, which wrap, and products with sparse
//! matrices use kernels of this crate. Factorizations use cuSOLVER, and cuBLAS for many small matrices.

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

use super::{OpContext, array::RawArray, device::Device};
use backend_core::{
    DTypeKind, Result,
    rules::{self, Product},
};
use operands::Operands;
use std::sync::Arc;

/// Destroys the cuBLAS and cuSOLVER handles of a device. They are created again on the next use.
pub(super) fn forget_handles(device: &Arc<Device>, op: &'static str) -> Result<()> {
    blas::forget_handle(device, op).and(solver::forget_handle(device, op))
}

/// Matrix product over the last two axes; the leading axes broadcast.
pub fn matmul(on: OpContext<'_>, x1: &RawArray, x2: &RawArray) -> Result<RawArray> {
    let (b, op) = (on.backend, on.op);
    on.require(&[x1, x2])?;
    b.check(op, x1)?;
    b.check(op, x2)?;
    let product = Product::of(op, &x1.shape, &x2.shape, on.dtype.size())?;
    let out = b.uninit_raw(op, on.dtype, &product.shape)?;
    if out.size() == 0 {
        return Ok(out);
    }
    if product.inner == 0 {
        b.set_bytes(op, &out, 0)?;
        return Ok(out);
    }
    // a one-dimensional operand on the left is a matrix of one row, and on the right a matrix of one column
    let left = if x1.shape.len() == 1 { x1.expanded(0) } else { x1.clone() };
    let right = if x2.shape.len() == 1 { x2.expanded(1) } else { x2.clone() };
    let Product { rows, inner, columns, .. } = product;
    let matrices = [&product.batches[..], &[rows, columns]].concat();
    let to = out.view(matrices.clone(), rules::c_strides(&matrices), out.offset);
    let operands = Operands { op, rows, inner, columns, left, right, out: to };
    match on.dtype.kind() {
        DTypeKind::Real | DTypeKind::Complex => blas::product(b, &operands.storable(b)?.broadcast(&product.batches)?)?,
        _ => integer::product(b, &operands.broadcast(&product.batches)?)?,
    }
    Ok(out)
}

/// Returns a view of the diagonals of the matrices that are formed by two axes of `x`. The diagonals lie along a new
/// last axis.
pub fn diagonal(on: OpContext<'_>, x: &RawArray, offset: isize, axis1: isize, axis2: isize) -> Result<RawArray> {
    on.backend.check(on.op, x)?;
    let diagonal = rules::Diagonal::of(on.op, &x.shape, offset, [axis1, axis2], x.dtype.size())?;
    let (start, strides) = diagonal.strides(&x.strides);
    let offset = x.offset.wrapping_add_signed(start);
    Ok(x.view(diagonal.shape, strides, offset))
}

#[cfg(test)]
mod tests;
