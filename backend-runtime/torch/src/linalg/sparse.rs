//! Products with sparse matrices. For tensors on the host (the CPU), this crate's loops compute them; for tensors on
//! GPUs, libtorch's gathers and scatters compute them.

use crate::{
    call::{OpContext, args},
    hosted::{hosted, placed},
    indexing::check_from_zero,
    ops,
    strategy::DtypeStrategy,
    tensor::{Number, Tensor},
};
use backend_core::{
    DType, DTypeKind, Result,
    numpyish::raw::{RawArray, View},
    raw::RawElement,
    rules::{self, Compressed},
};
use backend_numpyish::linalg::{csc_product, csr_product, sampled_product};

/// The product of a compressed sparse row matrix with a vector or a matrix.
pub fn csr_matmul(on: OpContext<'_>, values: &Tensor, indices: &Tensor, indptr: &Tensor, x: &Tensor) -> Result<Tensor> {
    require(on, [values, x], [indices, indptr])?;
    if is_on_host(values) {
        return of_loops(on, [values, x], [indices, indptr], &|[values, x], [indices, indptr]| {
            csr_product(values, indices, indptr, x)
        });
    }
    csr_of_ops(on, values, indices, indptr, x)
}

fn csr_of_ops(on: OpContext<'_>, values: &Tensor, indices: &Tensor, indptr: &Tensor, x: &Tensor) -> Result<Tensor> {
    let p = rules::csr_product(on.op, values.shape(), indices.shape(), indptr.shape(), x.shape(), on.dtype.size())?;
    let via = computed(on.dtype);
    let rows = rows_of_elements(on, indices, indptr, &p)?;
    let x = on.pick(&on.enter(via, x)?, 0, indices)?;
    summed(on, &weighted(on, &on.enter(via, values)?, &x)?, &rows, &p.shape)
}

/// The product of the transpose of a compressed sparse row matrix with a vector or a matrix.
pub fn csc_matmul(
    on: OpContext<'_>,
    values: &Tensor,
    indices: &Tensor,
    indptr: &Tensor,
    x: &Tensor,
    rows: usize,
) -> Result<Tensor> {
    require(on, [values, x], [indices, indptr])?;
    if is_on_host(values) {
        return of_loops(on, [values, x], [indices, indptr], &|[values, x], [indices, indptr]| {
            csc_product(values, indices, indptr, x, rows)
        });
    }
    csc_of_ops(on, values, indices, indptr, x, rows)
}

fn csc_of_ops(
    on: OpContext<'_>,
    values: &Tensor,
    indices: &Tensor,
    indptr: &Tensor,
    x: &Tensor,
    rows: usize,
) -> Result<Tensor> {
    let [values_shape, indices_shape, indptr_shape] = [values.shape(), indices.shape(), indptr.shape()];
    let p = rules::csc_product(on.op, values_shape, indices_shape, indptr_shape, x.shape(), rows, on.dtype.size())?;
    let via = computed(on.dtype);
    let columns = rows_of_elements(on, indices, indptr, &p)?;
    let x = on.pick(&on.enter(via, x)?, 0, &columns)?;
    summed(on, &weighted(on, &on.enter(via, values)?, &x)?, indices, &p.shape)
}

/// Returns some elements of the product of `x1` and the transpose of `x2`: the elements at the positions that a
/// compressed sparse row matrix with these `indices` and `indptr` stores.
pub fn sampled_matmul(
    on: OpContext<'_>,
    indices: &Tensor,
    indptr: &Tensor,
    x1: &Tensor,
    x2: &Tensor,
) -> Result<Tensor> {
    require(on, [x1, x2], [indices, indptr])?;
    if is_on_host(x1) {
        return of_loops(on, [x1, x2], [indices, indptr], &|[x1, x2], [indices, indptr]| {
            sampled_product(indices, indptr, x1, x2)
        });
    }
    sampled_of_ops(on, indices, indptr, x1, x2)
}

fn sampled_of_ops(on: OpContext<'_>, indices: &Tensor, indptr: &Tensor, x1: &Tensor, x2: &Tensor) -> Result<Tensor> {
    let [x1_shape, x2_shape] = [x1.shape(), x2.shape()];
    let p = rules::sampled_product(on.op, indices.shape(), indptr.shape(), x1_shape, x2_shape, on.dtype.size())?;
    let rows = rows_of_elements(on, indices, indptr, &p)?;
    let via = computed(on.dtype);
    let left = on.pick(&on.enter(via, x1)?, 0, &rows)?;
    let right = on.pick(&on.enter(via, x2)?, 0, indices)?;
    let terms = on.call(&ops::MUL, args![&left, &right])?;
    if x1_shape.len() == 1 {
        return on.leave(via, terms);
    }
    let parts = DtypeStrategy::Parts.detour(carrier(on.dtype));
    let terms = parts.enter(on, &terms)?;
    let dtype = terms.dtype().unwrap_or(on.dtype);
    let sum = on.call(&ops::SUM, args![&terms, &[1_usize][..], false, dtype])?;
    on.leave(via, parts.leave(on, sum)?)
}

/// Returns an error if the call's dtype is bool, if the dtype of a factor differs from the call's dtype, or if the
/// indices or `indptr` are not int64.
fn require(on: OpContext<'_>, factors: [&Tensor; 2], structure: [&Tensor; 2]) -> Result<()> {
    on.require_numbers()?;
    on.require(&factors)?;
    on.with_dtype(DType::Int64).require(&structure)
}

fn is_on_host(x: &Tensor) -> bool {
    x.device() < 0
}

/// A function that computes a product. Its arguments are the two factors, and the indices and `indptr` of the sparse
/// matrix.
type Product<'a> = dyn Fn([View<'_>; 2], [View<'_>; 2]) -> Result<RawArray> + 'a;

/// Applies `product` to tensors in host memory, and returns the result as a tensor. `structure` consists of the indices
/// and `indptr` of the sparse matrix.
fn of_loops(
    on: OpContext<'_>,
    factors: [&Tensor; 2],
    structure: [&Tensor; 2],
    product: &Product<'_>,
) -> Result<Tensor> {
    let integers = on.with_dtype(DType::Int64);
    let x = hosted(on, factors[0])?;
    let (indices, indptr) = (hosted(integers, structure[0])?, hosted(integers, structure[1])?);
    let y = hosted(on, factors[1])?;
    placed(on, product([x.view(), y.view()], [indices.view(), indptr.view()]))
}

/// The strategy for products in this dtype: sums of 16-bit floats are rounded once, at the end, and integers wrap on
/// overflow.
fn computed(dtype: DType) -> DtypeStrategy {
    if dtype.kind() == DTypeKind::Real { DtypeStrategy::Float32 } else { DtypeStrategy::Wrap }
}

/// The dtype in which products are computed.
fn carrier(dtype: DType) -> DType {
    computed(dtype).detour(dtype).carrier(dtype)
}

/// Multiplies each stored value `values[i]` of the sparse matrix by row i of `rows`, which was picked from the dense
/// factor.
fn weighted(on: OpContext<'_>, values: &Tensor, rows: &Tensor) -> Result<Tensor> {
    if rows.shape().len() == 1 {
        return on.call(&ops::MUL, args![values, rows]);
    }
    on.call(&ops::MUL, args![&on.reshape(values, &[values.size(), 1])?, rows])
}

/// Sums the terms that belong to the same row of the result. `rows` has the row of each term.
fn summed(on: OpContext<'_>, terms: &Tensor, rows: &Tensor, shape: &[usize]) -> Result<Tensor> {
    let via = computed(on.dtype);
    let zeros = on.enter(via, &on.full(shape, RawElement::zero(on.dtype))?)?;
    // libtorch's own complex sum turns an infinite part into NaN, so real and imaginary parts are summed separately
    let parts = DtypeStrategy::Parts.detour(carrier(on.dtype));
    let (zeros, terms) = (parts.enter(on, &zeros)?, parts.enter(on, terms)?);
    let sum = on.call(&ops::INDEX_ADD, args![&zeros, 0_usize, rows, &terms])?;
    on.leave(via, parts.leave(on, sum)?)
}

/// Returns the row of each stored element of a compressed sparse row matrix, after a check of `indptr` and of the
/// indices.
fn rows_of_elements(on: OpContext<'_>, indices: &Tensor, indptr: &Tensor, p: &Compressed) -> Result<Tensor> {
    let end = |at: usize| on.item(&on.narrow(indptr, 0, at, 1)?);
    let (before, behind) = (on.narrow(indptr, 0, 0, p.rows)?, on.narrow(indptr, 0, 1, p.rows)?);
    let falls = on.call(&ops::GT, args![&before, &behind])?;
    let falls = on.item(&on.call(&ops::ANY, args![&falls, &[0_usize][..], false])?)? != 0;
    if end(0)? != 0 || end(p.rows)? != p.stored as i64 || falls {
        return Err(rules::bad_pointers(on.op, p.stored));
    }
    check_from_zero(on, indices, 0, p.columns)?;
    let after = on.call(&ops::SEARCHSORTED, args![indptr, &on.count_up(p.stored)?, false, true])?;
    on.call(&ops::SUB, args![&after, Number::of(1_i64)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Torch,
        tests::{array, host, torch},
    };
    use backend_core::{Complex, Error, Numeric, bf16};

    /// Checks that the host's loops and libtorch's ops give the same results for one matrix. The tensors are on the
    /// host, because the tests have no GPU.
    fn compared<T: Numeric>(b: &Torch, values: &[T], x: &[T]) {
        let (indices, indptr) = (array(b, vec![0_i64, 2, 1, 1]), array(b, vec![0_i64, 3, 3, 4]));
        let values = array(b, values.to_vec());
        let (values, indices, indptr) = (values.tensor(), indices.tensor(), indptr.tensor());
        for width in [1, 2] {
            let on = b.on::<T>("test");
            let x = array(b, x[..3 * width].to_vec());
            let x = &on.reshape(x.tensor(), &[3, width][..if width == 1 { 1 } else { 2 }]).unwrap();
            let same = |a: Result<Tensor>, c: Result<Tensor>| {
                let [a, c] = [a, c].map(|x| host(b, &on.array::<T>(x.unwrap()).unwrap()));
                assert_eq!(a, c, "{} {width}", T::DTYPE);
            };
            same(csr_matmul(on, values, indices, indptr, x), csr_of_ops(on, values, indices, indptr, x));
            same(csc_matmul(on, values, indices, indptr, x, 3), csc_of_ops(on, values, indices, indptr, x, 3));
            same(sampled_matmul(on, indices, indptr, x, x), sampled_of_ops(on, indices, indptr, x, x));
        }
    }

    #[test]
    fn ops_give_what_the_loops_give() {
        let Some(b) = torch() else { return };
        compared::<f64>(&b, &[1.0, 2.0, 3.0, -4.0], &[1.0, 10.0, 100.0, 1000.0, -1.0, 7.0]);
        compared::<i32>(&b, &[1, 2, 3, -4], &[1, 10, 100, i32::MAX, -1, 7]);
        compared::<u16>(&b, &[1, 2, 3, 65535], &[1, 10, 100, 65000, 2, 7]);
        compared::<bf16>(
            &b,
            &[1.0, 2.0, 3.0, -4.0].map(bf16::from_f32),
            &[1.5, 3.0, 5.0, 7.0, 2.0, -1.0].map(bf16::from_f32),
        );
        let c = |re: f64| Complex::new(re, 1.0 - re);
        compared(&b, &[1.0, 2.0, 3.0, -4.0].map(c), &[1.0, 3.0, 5.0, 7.0, 2.0, -1.0].map(c));
    }

    #[test]
    fn ops_refuse_what_the_loops_refuse() {
        let Some(b) = torch() else { return };
        let (on, x) = (b.on::<f64>("csr_matmul"), array(&b, vec![1.0, 2.0]));
        let values = array(&b, vec![1.0, 2.0]);
        let (values, x) = (values.tensor(), x.tensor());
        for (indices, indptr) in [
            ([0_i64, 2], [0_i64, 1, 2]),
            ([0, -1], [0, 1, 2]),
            ([0, 1], [0, 3, 2]),
            ([0, 1], [1, 1, 2]),
            ([0, 1], [0, 1, 1]),
        ] {
            let (indices, indptr) = (array(&b, indices.to_vec()), array(&b, indptr.to_vec()));
            let (indices, indptr) = (indices.tensor(), indptr.tensor());
            let of_loops = csr_matmul(on, values, indices, indptr, x).unwrap_err();
            let of_ops: Error = csr_of_ops(on, values, indices, indptr, x).unwrap_err();
            assert_eq!(of_loops, of_ops);
        }
    }
}
