//! The operands of a matrix product, as arrays of matrices.

use super::gemm::Matrix;
use crate::{Cuda, array::RawArray, copy::copied, walk::Merged};
use backend_core::Result;

/// The operands and the result of a matrix product. Their last two axes have lengths (rows, inner), (inner, columns)
/// and (rows, columns). The result is in C order.
pub(super) struct Operands {
    /// The op named in errors.
    pub(super) op: &'static str,
    pub(super) rows: usize,
    pub(super) inner: usize,
    pub(super) columns: usize,
    pub(super) left: RawArray,
    pub(super) right: RawArray,
    pub(super) out: RawArray,
}

impl Operands {
    /// Copies those operands whose matrices cuBLAS cannot read in place.
    pub(super) fn storable(self, b: &Cuda) -> Result<Operands> {
        let readable = |x: RawArray| match matrix(&x).stored(x.shape[x.shape.len() - 2], x.shape[x.shape.len() - 1]) {
            Some(_) => Ok(x),
            None => copied(b, self.op, &x),
        };
        Ok(Operands { left: readable(self.left)?, right: readable(self.right)?, ..self })
    }

    /// Broadcasts the leading axes of `left` and `right` to `batches`.
    pub(super) fn broadcast(self, batches: &[usize]) -> Result<Operands> {
        let left = self.left.broadcast(self.op, &[batches, &[self.rows, self.inner]].concat())?;
        let right = self.right.broadcast(self.op, &[batches, &[self.inner, self.columns]].concat())?;
        Ok(Operands { left, right, ..self })
    }

    /// Merges all batches into one large product. Returns `None` unless all batches share the right matrix, and the
    /// rows of all left matrices are evenly spaced, like the rows of one matrix.
    pub(super) fn as_one(&self) -> Option<Operands> {
        let [left, right, _] = self.leading();
        if left.size() <= 1 || !Merged::new(&[&right]).is_one(0) {
            return None;
        }
        let tall = |x: &RawArray| {
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

    /// Strides of the matrices of `left`, `right` and `out`.
    pub(super) fn matrices(&self) -> [Matrix; 3] {
        [matrix(&self.left), matrix(&self.right), matrix(&self.out)]
    }

    /// Views of `left`, `right` and `out` with only their leading axes.
    pub(super) fn leading(&self) -> [RawArray; 3] {
        [&self.left, &self.right, &self.out].map(|x| {
            let leading = x.shape.len() - 2;
            x.view(x.shape[..leading].to_vec(), x.strides[..leading].to_vec(), x.offset)
        })
    }
}

/// The strides of the last two axes.
fn matrix(x: &RawArray) -> Matrix {
    let (row, column) = (x.strides[x.strides.len() - 2], x.strides[x.strides.len() - 1]);
    Matrix { row, column }
}
