//! Products with sparse matrices, computed by gathers and scatters, for backends without kernels for these products.

use crate::{
    ArrayAttributes, Backend, Error, Numeric, Result, SearchsortedOptions, Side, lazy,
    manipulation::part,
    runtime::rules::{self, Compressed},
};

/// Product of a matrix in compressed sparse row format with a vector or a matrix.
pub fn csr_matmul<B: Backend, T: Numeric>(
    b: &B,
    values: &B::Array<T>,
    indices: &B::Array<i64>,
    indptr: &B::Array<i64>,
    x: &B::Array<T>,
) -> Result<B::Array<T>> {
    const OP: &str = "csr_matmul";
    let p = rules::csr_product(OP, values.shape(), indices.shape(), indptr.shape(), x.shape(), T::dtype().size())?;
    let rows = rows_of_elements(OP, b, indices, indptr, &p)?;
    let taken = b.take(x, indices, 0).map_err(|e| e.within(OP))?;
    b.segment_sum(weighted(b, values, &taken)?, rows, p.rows)
}

/// Product of a matrix in compressed sparse column format with a vector or a matrix. `rows` is the number of rows of
/// the sparse matrix.
pub fn csc_matmul<B: Backend, T: Numeric>(
    b: &B,
    values: &B::Array<T>,
    indices: &B::Array<i64>,
    indptr: &B::Array<i64>,
    x: &B::Array<T>,
    rows: usize,
) -> Result<B::Array<T>> {
    const OP: &str = "csc_matmul";
    let p =
        rules::csc_product(OP, values.shape(), indices.shape(), indptr.shape(), x.shape(), rows, T::dtype().size())?;
    let columns = rows_of_elements(OP, b, indices, indptr, &p)?;
    let taken = b.take(x, columns, 0)?;
    b.segment_sum(weighted(b, values, &taken)?, indices, rows).map_err(|e| e.within(OP))
}

/// Computes only some elements of the product of `x1` and the transpose of `x2`: the elements at the positions of a
/// sparse matrix, which `indices` and `indptr` describe in compressed sparse row format.
pub fn sampled_matmul<B: Backend, T: Numeric>(
    b: &B,
    indices: &B::Array<i64>,
    indptr: &B::Array<i64>,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
) -> Result<B::Array<T>> {
    const OP: &str = "sampled_matmul";
    let p = rules::sampled_product(OP, indices.shape(), indptr.shape(), x1.shape(), x2.shape(), T::dtype().size())?;
    let rows = rows_of_elements(OP, b, indices, indptr, &p)?;
    let (x1, x2) = (b.take(x1, rows, 0)?, b.take(x2, indices, 0).map_err(|e| e.within(OP))?);
    let terms = b.multiply(&x1, x2)?;
    if terms.ndim() == 1 { Ok(terms) } else { b.sum_as::<T, T>(terms, 1) }
}

/// Multiplies each row of `x` by the element of `values` with the same index.
fn weighted<B: Backend, T: Numeric>(b: &B, values: &B::Array<T>, x: &B::Array<T>) -> Result<B::Array<T>> {
    if x.ndim() == 1 { b.multiply(values, x) } else { b.multiply(b.expand_dims(values, -1)?, x) }
}

/// The row index of each stored element. First checks `indptr` and `indices`; these checks wait for the device.
fn rows_of_elements<B: Backend>(
    op: &'static str,
    b: &B,
    indices: &B::Array<i64>,
    indptr: &B::Array<i64>,
    p: &Compressed,
) -> Result<B::Array<i64>> {
    let last = p.rows as i128;
    let first = b.item(part(b, indptr, 0, 0..1)?)?;
    let end = b.item(part(b, indptr, 0, last..last + 1)?)?;
    let (before, behind) = (part(b, indptr, 0, 0..last)?, part(b, indptr, 0, 1..last + 1)?);
    let ascend = b.item(b.all(lazy(&before).less_equal(&behind).eval(b)?, ..)?)?;
    if first != 0 || end != p.stored as i64 || !ascend {
        return Err(rules::bad_pointers(op, p.stored));
    }
    let outside = (lazy(indices).less(0) | lazy(indices).greater_equal(p.columns as i64)).eval(b)?;
    if b.item(b.any(&outside, ..)?)? {
        let place = b.argmax(b.astype::<i64, _>(&outside)?, 0)?;
        return Err(Error::index(op, b.item(b.take(indices, place, 0)?)?, 0, p.columns));
    }
    let places = b.arange(0, p.stored as i64, 1)?;
    let after = b.searchsorted_with(indptr, places, SearchsortedOptions::new().side(Side::Right))?;
    b.subtract(after, 1)
}
