//! Sorting, searching and sets. The kernels sort integer keys, which have the same order as the elements.

mod rows;
mod unique;

pub(super) use rows::{KERNELS, PROGRAM, Rows, Wanted};
pub use unique::{unique_all, unique_counts, unique_inverse, unique_values};

use super::{
    Cuda, OpContext,
    array::RawArray,
    creation::full,
    indexing::taken,
    kernel::{Argument, Grid},
    program::Instance,
    walk::Merged,
};
use backend_core::{DType, DTypeKind, Result, Side, raw::RawOperand, rules};

/// Sorts along one axis.
pub fn sort(on: OpContext<'_>, x: &RawArray, axis: isize, descending: bool) -> Result<RawArray> {
    let OpContext { backend: b, op, .. } = on;
    let axis = rules::axis(op, axis, x.shape.len())?;
    // floats are moved to their new positions, so that zeros keep their signs and NaN their bits; elements of other
    // dtypes are recovered from their keys
    let wanted = if x.dtype.kind() == DTypeKind::Real { Wanted::Order } else { Wanted::Values };
    along(b, op, x, axis, descending, wanted, |rows| rows.values(b))
}

/// Returns the indices that would sort `x` along one axis.
pub fn argsort(on: OpContext<'_>, x: &RawArray, axis: isize, descending: bool) -> Result<RawArray> {
    let OpContext { backend: b, op, .. } = on;
    let (axis, shape, _) = rules::scan(op, &x.shape, axis, false, DType::Int64.size())?;
    let x = if x.shape == shape { x.clone() } else { x.expanded(0) };
    along(b, op, &x, axis, descending, Wanted::Order, |rows| rows.order_as(b, DType::Int64))
}

/// Returns the indices that would sort a 1-D array. `dtype` is an integer dtype that can hold them.
pub(super) fn order_of(b: &Cuda, op: &'static str, x: &RawArray, dtype: DType) -> Result<RawArray> {
    let rows = Rows::sorted(b, op, x, x.shape[0], false, Wanted::Order)?;
    let order = rows.order_as(b, dtype)?;
    Ok(order.view(vec![order.size()], vec![1], 0))
}

/// Sorts the slices of `x` along an axis, as rows. `result` makes an array of shape (rows, length) from the sorted
/// rows. This array is returned with the axes in the order of `x`.
fn along(
    b: &Cuda,
    op: &'static str,
    x: &RawArray,
    axis: usize,
    descending: bool,
    wanted: Wanted,
    result: impl FnOnce(&Rows) -> Result<RawArray>,
) -> Result<RawArray> {
    let ndim = x.shape.len();
    let order: Vec<usize> = (0..ndim).filter(|&a| a != axis).chain([axis]).collect();
    let moved = x.permuted(&order);
    let rows = Rows::sorted(b, op, &moved, x.shape[axis], descending, wanted)?;
    let out = result(&rows)?;
    let out = out.view(moved.shape.clone(), rules::c_strides(&moved.shape), out.offset);
    let back: Vec<usize> = (0..axis).chain([ndim - 1]).chain(axis..ndim - 1).collect();
    Ok(out.permuted(&back))
}

/// For each element of `x2`, returns an index of the sorted 1-D array `x1`: if the element is inserted there, `x1`
/// stays sorted. If `x1` is not sorted, `sorter` has the indices that sort it.
pub fn searchsorted(
    on: OpContext<'_>,
    x1: &RawArray,
    x2: RawOperand<'_, RawArray>,
    side: Side,
    sorter: Option<&RawArray>,
) -> Result<RawArray> {
    let OpContext { backend: b, op, dtype, .. } = on;
    on.require(&[x1])?;
    b.check(op, x1)?;
    let n = rules::sorted(op, &x1.shape)?;
    let ordered = match sorter {
        None => x1.clone(),
        Some(sorter) => {
            rules::sorter(op, &x1.shape, &sorter.shape)?;
            taken(b, op, x1, sorter, 0)?
        }
    };
    let values = match x2 {
        RawOperand::Array(x) => x.clone(),
        RawOperand::Scalar(x) => full(on, &[], x)?,
    };
    on.require(&[&values])?;
    let (sorted, x) = (&ordered, &values);
    b.check(op, x)?;
    let out = b.uninit_raw(op, DType::Int64, &x.shape)?;
    if out.size() > 0 {
        let kernel = b.kernel(op, &PROGRAM, Instance::new("search", "", &[dtype]))?;
        let walk = Merged::new(&[x]).walk::<1>(op)?;
        let arguments: [&dyn Argument; 7] = [
            &sorted.pointer(),
            &sorted.strides[0],
            &(n as u64),
            &x.pointer(),
            &walk,
            &out.pointer(),
            &((side == Side::Right) as u32),
        ];
        // SAFETY: the arguments match the parameters of `search`; `sorted` has `n` elements, `stride` apart, and the
        // result has an element for each element of `x`.
        unsafe { b.launch(op, kernel, Grid::over(out.size()), &arguments)? };
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
