//! Linear algebra. This file has the matrix products, `factor` has the factorizations, and `sparse` has the sparse
//! products.

mod factor;
mod sparse;

pub use factor::{cholesky, det, eig, eigh, eigvals, eigvalsh, qr, slogdet, solve, solve_triangular, svd, svdvals};
pub use sparse::{csc_matmul, csr_matmul, sampled_matmul};

use super::{
    call::{OpContext, args},
    ops,
    strategy::DtypeStrategy,
    tensor::{Number, Tensor},
};
use backend_core::{
    DType, DTypeKind, Error, Result,
    raw::RawElement,
    rules::{self, Product},
};

/// Returns the diagonals of the matrices that `axis1` and `axis2` form. The elements of each diagonal lie along a new
/// last axis.
pub fn diagonal(on: OpContext<'_>, x: &Tensor, offset: isize, axis1: isize, axis2: isize) -> Result<Tensor> {
    let diagonal = rules::Diagonal::of(on.op, x.shape(), offset, [axis1, axis2], on.dtype.size())?;
    let [rows, columns] = diagonal.axes;
    // a diagonal beyond the matrix is empty. The offset is clamped, because libtorch refuses larger offsets
    let most = (x.shape()[rows] + x.shape()[columns]).min(isize::MAX as usize) as isize;
    on.call(&ops::DIAGONAL, args![x, offset.clamp(-most, most), rows, columns])
}

/// Matrix product over the last two axes; the leading axes broadcast.
pub fn matmul(on: OpContext<'_>, x1: &Tensor, x2: &Tensor) -> Result<Tensor> {
    on.require(&[x1, x2])?;
    let product = Product::of(on.op, x1.shape(), x2.shape(), on.dtype.size())?;
    if product.shape.contains(&0) {
        return on.full(&product.shape, RawElement::zero(on.dtype));
    }
    let (x, y) = (on.enter(DtypeStrategy::Wrap, x1)?, on.enter(DtypeStrategy::Wrap, x2)?);
    let exact = matches!(on.dtype.kind(), DTypeKind::Signed | DTypeKind::Unsigned);
    let needs_limbs = exact && on.backend.index() >= 0;
    let product = if needs_limbs { by_limbs(on, &x, &y)? } else { on.call(&ops::MATMUL, args![&x, &y])? };
    on.leave(DtypeStrategy::Wrap, product)
}

/// The number of bits in a limb. Wider integers are cut into limbs, which are like digits. Sums of up to [`MAX_TERMS`]
/// products of two limbs are exact in float64.
const LIMB: i64 = 16;

/// The maximum number of products of two limbs whose sum always fits in the 53 bits of a float64 significand.
const MAX_TERMS: usize = 1 << (53 - 2 * LIMB);

/// Computes the matrix product of integers for devices on which libtorch multiplies only matrices of floats. The result
/// wraps on overflow. It is the sum of exact products of 16-bit limbs.
fn by_limbs(on: OpContext<'_>, x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let dtype = x.dtype().unwrap_or(DType::Int64);
    let bits = 8 * dtype.size() as i64;
    let (x, y) = (on.cast(x, DType::Int64)?, on.cast(y, DType::Int64)?);
    let (x_axis, y_axis) = (x.ndim() - 1, y.ndim().saturating_sub(2));
    let terms = x.shape()[x_axis];
    let limb = |x: &Tensor, i: i64| {
        let shifted = on.call(&ops::SHIFT_RIGHT, args![x, Number::of(i * LIMB)])?;
        on.cast(&on.call(&ops::BITWISE_AND, args![&shifted, Number::of((1_i64 << LIMB) - 1)])?, DType::Float64)
    };
    let mut sum: Option<Tensor> = None;
    for start in (0..terms.max(1)).step_by(MAX_TERMS) {
        let count = (terms - start).min(MAX_TERMS);
        let (x, y) = (on.narrow(&x, x_axis, start, count)?, on.narrow(&y, y_axis, start, count)?);
        // products of limbs that begin beyond the dtype's bits do not contribute
        for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))).filter(|(i, j)| (i + j) * LIMB < bits) {
            let product = on.call(&ops::MATMUL, args![&limb(&x, i)?, &limb(&y, j)?])?;
            let placed =
                on.call(&ops::SHIFT_LEFT, args![&on.cast(&product, DType::Int64)?, Number::of((i + j) * LIMB)])?;
            sum = Some(match sum {
                Some(sum) => on.call(&ops::ADD, args![&sum, &placed])?,
                None => placed,
            });
        }
    }
    let sum = sum.ok_or_else(|| Error::shape(on.op, x.shape(), "has no terms to add"))?;
    on.cast(&sum, dtype)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{array, host, torch};
    use backend_core::Arrays;

    #[test]
    fn integer_products_by_limbs_wrap_as_integers_do() {
        let Some(b) = torch() else { return };
        let x: Vec<i64> = (0..12).map(|i: i64| i.wrapping_mul(0x1234_5678_9ABC_DEF1).wrapping_sub(5)).collect();
        let on = b.on::<i64>("matmul");
        let m = on.reshape(array(&b, x.clone()).tensor(), &[3, 4]).unwrap();
        let n = on.reshape(array(&b, x).tensor(), &[4, 3]).unwrap();
        for dtype in [DType::Int64, DType::Int32, DType::Int16, DType::Int8, DType::UInt8] {
            let (m, n) = (on.cast(&m, dtype).unwrap(), on.cast(&n, dtype).unwrap());
            let [got, want] = [by_limbs(on, &m, &n), on.call(&ops::MATMUL, args![&m, &n])]
                .map(|t| host(&b, &on.array::<i64>(on.cast(&t.unwrap(), DType::Int64).unwrap()).unwrap()));
            assert_eq!(got, want, "{dtype}");
        }
        let none = on.narrow(&m, 1, 0, 0).unwrap();
        assert_eq!(
            b.shape(&on.array::<i64>(by_limbs(on, &none, &on.narrow(&n, 0, 0, 0).unwrap()).unwrap()).unwrap()),
            [3, 3]
        );
    }
}
