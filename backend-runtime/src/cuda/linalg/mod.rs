//! Matrix products: cuBLAS for floats, our own kernel for integers, which wrap.

mod blas;
mod gemm;
mod integer;

pub(super) use integer::KERNELS;

use super::{Cuda, CudaArray, array::Raw, copy::copied, walk::Merged};
use crate::{
    Kind, Numeric, Result,
    shape::{self, Product},
};
use gemm::Matrix;

const OP: &str = "matmul";

/// Matrix product over the last two axes; the leading ones broadcast.
pub fn matmul<T: Numeric>(b: &Cuda, x1: &CudaArray<T>, x2: &CudaArray<T>) -> Result<CudaArray<T>> {
    b.check(OP, &x1.raw)?;
    b.check(OP, &x2.raw)?;
    let product = Product::of(OP, &x1.raw.shape, &x2.raw.shape)?;
    let out = b.uninit_raw(OP, T::DTYPE, &product.shape)?;
    if out.size() == 0 {
        return Ok(CudaArray::of(out));
    }
    if product.inner == 0 {
        b.set_bytes(OP, &out, 0)?;
        return Ok(CudaArray::of(out));
    }
    // a lone axis is a row before, a column after
    let left = if x1.raw.shape.len() == 1 { x1.raw.expanded(0) } else { x1.raw.clone() };
    let right = if x2.raw.shape.len() == 1 { x2.raw.expanded(1) } else { x2.raw.clone() };
    let Product { rows, inner, columns, .. } = product;
    let matrices = [&product.batches[..], &[rows, columns]].concat();
    let to = out.view(matrices.clone(), shape::c_strides(&matrices), out.offset);
    let operands = Operands { rows, inner, columns, left, right, out: to };
    match T::DTYPE.kind() {
        Kind::Real | Kind::Complex => blas::product(b, &operands.storable(b)?.broadcast(&product.batches)?)?,
        _ => integer::product(b, &operands.broadcast(&product.batches)?)?,
    }
    Ok(CudaArray::of(out))
}

/// Arrays of matrices: (rows, inner), (inner, columns) and (rows, columns), the last in C order.
struct Operands {
    rows: usize,
    inner: usize,
    columns: usize,
    left: Raw,
    right: Raw,
    out: Raw,
}

impl Operands {
    /// With copies of the matrices that cuBLAS cannot read where they are.
    fn storable(self, b: &Cuda) -> Result<Operands> {
        let readable = |x: Raw| match matrix(&x).stored(x.shape[x.shape.len() - 2], x.shape[x.shape.len() - 1]) {
            Some(_) => Ok(x),
            None => copied(b, OP, &x),
        };
        Ok(Operands { left: readable(self.left)?, right: readable(self.right)?, ..self })
    }

    /// With the same leading axes for all.
    fn broadcast(self, batches: &[usize]) -> Result<Operands> {
        let left = self.left.broadcast(OP, &[batches, &[self.rows, self.inner]].concat())?;
        let right = self.right.broadcast(OP, &[batches, &[self.inner, self.columns]].concat())?;
        Ok(Operands { left, right, ..self })
    }

    /// Where all batches share the right matrix, and the rows of all left ones are evenly apart, these are rows of one
    /// matrix: one large product in place of many.
    fn as_one(&self) -> Option<Operands> {
        let [left, right, _] = self.leading();
        if left.size() <= 1 || !Merged::new(&[&right]).is_one(0) {
            return None;
        }
        let tall = |x: &Raw| {
            let (shape, strides) = (x.shape.split_last()?, x.strides.split_last()?);
            let rows = Merged::new(&[&x.view(shape.1.to_vec(), strides.1.to_vec(), x.offset)]);
            match rows.strides(0) {
                [apart] => Some(x.view(vec![rows.n(), *shape.0], vec![*apart, *strides.0], x.offset)),
                _ => None,
            }
        };
        let (left, out) = (tall(&self.left)?, tall(&self.out)?);
        let rows = left.shape[0];
        matrix(&left).stored(rows, self.inner)?;
        let axes = self.right.shape.len() - 2;
        let right = &self.right;
        let right = right.view(right.shape[axes..].to_vec(), right.strides[axes..].to_vec(), right.offset);
        Some(Operands { rows, left, right, out, ..*self })
    }

    /// Strides of the matrices: left, right and out.
    fn matrices(&self) -> [Matrix; 3] {
        [matrix(&self.left), matrix(&self.right), matrix(&self.out)]
    }

    /// The operands with their leading axes alone.
    fn leading(&self) -> [Raw; 3] {
        [&self.left, &self.right, &self.out].map(|x| {
            let leading = x.shape.len() - 2;
            x.view(x.shape[..leading].to_vec(), x.strides[..leading].to_vec(), x.offset)
        })
    }
}

/// The strides of the last two axes.
fn matrix(x: &Raw) -> Matrix {
    let (row, column) = (x.strides[x.strides.len() - 2], x.strides[x.strides.len() - 1]);
    Matrix { row, column }
}

#[cfg(test)]
mod tests;
