//! Gradient rules of distances.

use super::in_float32;
use crate::{
    Backend, CdistOptions, Real, Result,
    linalg::{MAX_DIFFERENCES, in_blocks},
    segments::is_16_bit,
};

/// Gradient of `cdist` with respect to the first matrix. `g` and `y` are the output gradient and the distances. Equal
/// rows have gradient 0. For an infinite `p`, coordinates with the same largest difference share the gradient.
pub fn cdist_x1<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    p: f64,
) -> Result<B::Array<T>> {
    if p == 0.0 {
        return b.zeros_like::<T>(x1);
    }
    if is_16_bit::<T>() {
        // computes the distances again, because the rounded distances have too few digits
        return in_float32::<B, T, 3>(b, [g, x1, x2], |[g, x1, x2]| {
            let y = b.cdist_with(x1, x2, CdistOptions::new().p(p))?;
            cdist_x1::<B, T::InFloat32>(b, g, &y, x1, x2, p)
        });
    }
    let [g, y] = [b.expand_dims(g, -1)?, b.expand_dims(y, -1)?];
    let (x1, x2) = (b.expand_dims(x1, -2)?, b.expand_dims(x2, -3)?);
    in_blocks(b, b.shape(&x1), b.shape(&x2), MAX_DIFFERENCES, |rows| {
        let [g, y, x1] = [rows.of(b, &g)?, rows.of(b, &y)?, rows.of(b, &x1)?];
        pulled(b, &g, &y, &x1, &x2, p)
    })
}

/// Gradient of `cdist` with respect to the second matrix.
pub fn cdist_x2<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    p: f64,
) -> Result<B::Array<T>> {
    cdist_x1(b, &b.matrix_transpose(g)?, &b.matrix_transpose(y)?, x2, x1, p)
}

/// The gradients of the distances, summed over the rows of the second matrix, which are the second-to-last axis.
fn pulled<B: Backend, T: Real>(
    b: &B,
    g: &B::Array<T>,
    y: &B::Array<T>,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    p: f64,
) -> Result<B::Array<T>> {
    let (none, one) = (T::ZERO, T::ONE);
    if p == 1.0 {
        return expr!(b, sum(sign(x1 - x2) * g, -2));
    }
    if p == f64::INFINITY {
        let count = expr!(b, count_nonzero(abs(x1 - x2) == y, -1, keepdims = true))?;
        let count = b.astype::<T, _>(count)?;
        return expr!(b, sum(where(abs(x1 - x2) == y, sign(x1 - x2), none) * (g / count), -2));
    }
    // selects before dividing: the slope of a quotient by 0 is not finite
    let safe = expr!(b, where(y == none, one, y))?;
    let g = expr!(b, where(y == none, none, g))?;
    if p == 2.0 {
        let share = b.divide(&g, &safe)?;
        return expr!(b, sum((x1 - x2) * share, -2));
    }
    // the power of a quotient, which is at most 1, does not overflow
    let power = T::of(p - 1.0);
    expr!(b,
        let d = x1 - x2;
        sum(where(d == none, none, sign(d) * pow(where(d == none, one, abs(d)) / safe, power)) * g, -2))
}
