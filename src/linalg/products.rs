//! Products of arrays, by `matmul` and `multiply`.

use super::signed;
use crate::{
    Axes, Backend, CrossOptions, Error, Numeric, Result,
    runtime::{numpyish::linalg::cross_of_rows, rules},
    segments::is_16_bit,
};

/// Sums products over the axes `axes1` of `x1` and the axes `axes2` of `x2`. The result has the remaining axes of `x1`,
/// followed by the remaining axes of `x2`.
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

    let large = || Error::memory(OP, usize::MAX);
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

/// Sums the products `conj(x1) * x2` over an axis; the other axes broadcast.
pub fn vecdot<B: Backend, T: Numeric>(b: &B, x1: &B::Array<T>, x2: &B::Array<T>, axis: isize) -> Result<B::Array<T>> {
    const OP: &str = "vecdot";
    let [axis1, axis2] = rules::vectors(OP, b.shape(x1), b.shape(x2), axis)?;
    rules::broadcast_around(OP, b.shape(x1), axis1, b.shape(x2), axis2)?;
    let x1 = b.moveaxis(x1, axis1, -1)?;
    let x2 = b.moveaxis(x2, axis2, -1)?;
    // integer sums have a wider dtype; the low bits of such a sum equal the sum in the original dtype, with wrapping
    let sum = expr!(b, sum(conj(x1) * x2, -1))?;
    b.astype::<T, _>(&sum)
}

/// Cross products of vectors that have three elements along an axis; the other axes broadcast.
pub fn cross<B: Backend, T: Numeric>(b: &B, x1: &B::Array<T>, x2: &B::Array<T>, axis: isize) -> Result<B::Array<T>> {
    const OP: &str = "cross";
    let (left, right) = (b.shape(x1), b.shape(x2));
    let [axis1, axis2] = rules::vectors(OP, left, right, axis)?;
    if left[axis1] != 3 {
        return Err(Error::shape(OP, left, format!("must have length 3 along axis {axis1}")));
    }
    let around = rules::broadcast_around(OP, left, axis1, right, axis2)?;
    // fast path for contiguous vectors in host memory, which needs only one pass
    if [axis1 + 1, axis2 + 1] == [left.len(), right.len()]
        && let (Some(x1), Some(x2)) = (b.host_view(x1), b.host_view(x2))
        && let Some(products) = cross_of_rows(x1, x2)?
    {
        return b.of_raw(products);
    }
    if is_16_bit::<T>() {
        // products of 16-bit floats may overflow although their difference does not
        let (x1, x2) = (b.astype::<f32, T>(x1)?, b.astype::<f32, T>(x2)?);
        return b.astype::<T, f32>(b.cross_with(&x1, &x2, CrossOptions::new().axis(axis))?);
    }
    // in the result, the vectors lie along the same axis as in the operand with more axes
    let place = if left.len() >= right.len() { axis1 } else { axis2 };
    let parts = |x: &B::Array<T>, axis: usize| b.unstack_with(x, crate::UnstackOptions::new().axis(axis));
    let (u, v) = (parts(x1, axis1)?, parts(x2, axis2)?);
    let mut rows = Vec::with_capacity(3);
    for (i, j) in [(1, 2), (2, 0), (0, 1)] {
        let (a, b1, c, d) = (&u[i], &v[j], &u[j], &v[i]);
        rows.push(expr!(b, a * b1 - c * d)?);
    }
    debug_assert!(rows.iter().all(|row| b.shape(row) == around));
    b.stack_with(&rows, crate::StackOptions::new().axis(place))
}

/// Sums the products of two 1-D arrays of equal length. A formula computes them, because a matrix product would copy
/// arrays that are not in C order.
fn of_vectors<B: Backend, T: Numeric>(b: &B, x1: &B::Array<T>, x2: &B::Array<T>) -> Result<B::Array<T>> {
    // integer sums have a wider dtype, as in `vecdot`
    b.astype::<T, _>(&expr!(b, sum(x1 * x2, -1))?)
}

/// Returns whether both shapes are 1-D and of equal length.
fn are_vectors(x1: &[usize], x2: &[usize]) -> bool {
    x1.len() == 1 && x1 == x2
}

/// NumPy's dot product. For two 1-D arrays, the sum of the products of their elements. For arrays with more axes, sums
/// of products over the last axis of `x1` and the second-to-last axis of `x2` (the only axis of a 1-D `x2`).
pub fn dot<B: Backend, T: Numeric>(b: &B, x1: &B::Array<T>, x2: &B::Array<T>) -> Result<B::Array<T>> {
    if b.shape(x1).is_empty() || b.shape(x2).is_empty() {
        return b.multiply(x1, x2);
    }
    if are_vectors(b.shape(x1), b.shape(x2)) {
        return of_vectors(b, x1, x2);
    }
    let last_but_one = if b.shape(x2).len() == 1 { -1 } else { -2 };
    b.tensordot(x1, x2, -1, last_but_one)
}

/// Sums products over the last axes of both arrays.
pub fn inner<B: Backend, T: Numeric>(b: &B, x1: &B::Array<T>, x2: &B::Array<T>) -> Result<B::Array<T>> {
    match (b.shape(x1), b.shape(x2)) {
        ([], _) | (_, []) => b.multiply(x1, x2),
        (left, right) if are_vectors(left, right) => of_vectors(b, x1, x2),
        _ => b.tensordot(x1, x2, -1, -1),
    }
}

/// Kronecker product: for each element of `x1`, a copy of `x2` multiplied by the element.
pub fn kron<B: Backend, T: Numeric>(b: &B, x1: &B::Array<T>, x2: &B::Array<T>) -> Result<B::Array<T>> {
    const OP: &str = "kron";
    let rank = b.shape(x1).len().max(b.shape(x2).len());
    let filled = |shape: &[usize]| [vec![1; rank - shape.len()], shape.to_vec()].concat();
    let (left, right) = (filled(b.shape(x1)), filled(b.shape(x2)));
    let large = || Error::memory(OP, usize::MAX);
    let lengths = left.iter().zip(&right).map(|(&m, &n)| m.checked_mul(n).ok_or_else(large));
    let shape = lengths.collect::<Result<Vec<usize>>>()?;
    // checks the lengths of the intermediate array: if one length is 0, the other lengths may be too large for this
    // array although they are not too large for the result
    rules::count(OP, &[&left[..], &right].concat(), T::dtype().size())?;
    // splits every axis into two: the first is the index of the copy of `x2`, the second is the index within the copy
    let pairs = |lengths: &[usize], first: bool| -> Vec<isize> {
        let pair = |&n: &usize| if first { [n as isize, 1] } else { [1, n as isize] };
        lengths.iter().flat_map(pair).collect()
    };
    let (x1, x2) = (b.reshape(x1, pairs(&left, true))?, b.reshape(x2, pairs(&right, false))?);
    b.reshape(&b.multiply(&x1, &x2)?, signed(&shape))
}
