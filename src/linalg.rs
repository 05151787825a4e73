//! Ops of the group `linalg` that are written once over any backend.

use crate::{Axes, Backend, Error, Numeric, Result};

/// Sum of products over the axes `axes1` of `x1` and `axes2` of `x2`. The remaining axes of `x1` come first in the result.
pub fn tensordot<B: Backend, T: Numeric>(
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    axes1: Axes,
    axes2: Axes,
) -> Result<B::Array<T>> {
    const OP: &str = "tensordot";
    let (left, right) = (b.shape(x1), b.shape(x2));
    let summed1 = axes1.resolve(OP, left.len())?;
    let summed2 = axes2.resolve(OP, right.len())?;
    let lengths = |shape: &[usize], axes: &[usize]| axes.iter().map(|&a| shape[a]).collect::<Vec<_>>();
    if lengths(left, &summed1) != lengths(right, &summed2) {
        return Err(Error::shapes(OP, left, right));
    }
    let kept1: Vec<usize> = (0..left.len()).filter(|a| !summed1.contains(a)).collect();
    let kept2: Vec<usize> = (0..right.len()).filter(|a| !summed2.contains(a)).collect();
    let shape = [lengths(left, &kept1), lengths(right, &kept2)].concat();

    let large = || Error::Memory { op: OP, bytes: usize::MAX };
    let length = |n: usize| isize::try_from(n).map_err(|_| large());
    let product = |axes: &[usize], shape: &[usize]| {
        let n = axes.iter().try_fold(1_usize, |n, &axis| n.checked_mul(shape[axis]));
        n.map_or_else(|| Err(large()), length)
    };
    let rows = b.permute_dims(x1, [&kept1[..], &summed1].concat())?;
    let rows = b.reshape(&rows, [product(&kept1, left)?, product(&summed1, left)?])?;
    let columns = b.permute_dims(x2, [&summed2[..], &kept2].concat())?;
    let columns = b.reshape(&columns, [product(&summed2, right)?, product(&kept2, right)?])?;
    let shape = shape.into_iter().map(length).collect::<Result<Vec<isize>>>()?;
    b.reshape(&b.matmul(&rows, &columns)?, shape)
}
