//! Products with sparse matrices. For tensors on the host they are computed by the host's loops, and on GPUs by
//! libtorch's gathers and scatters.

use crate::{
    DType, DTypeKind, Numeric, Result,
    numpyish::linalg::{csc_product, csr_product, sampled_product},
    rules::{self, Compressed},
    torch::{
        Torch, TorchArray,
        call::{OpContext, args},
        hosted::{hosted, placed},
        indexing::check_from_zero,
        ops,
        strategy::DtypeStrategy,
        tensor::{Number, Tensor},
    },
};

/// The product of a compressed sparse row matrix with a vector or a matrix.
pub fn csr_matmul<T: Numeric>(
    b: &Torch,
    values: &TorchArray<T>,
    indices: &TorchArray<i64>,
    indptr: &TorchArray<i64>,
    x: &TorchArray<T>,
) -> Result<TorchArray<T>> {
    let on = b.on::<T>("csr_matmul");
    if is_on_host(values) {
        let (values, indices) = (hosted(b, on.op, values)?, hosted(b, on.op, indices)?);
        let (indptr, x) = (hosted(b, on.op, indptr)?, hosted(b, on.op, x)?);
        return placed(b, csr_product(values.view(), indices.view(), indptr.view(), x.view()));
    }
    csr_of_ops(on, values, indices, indptr, x)
}

fn csr_of_ops<T: Numeric>(
    on: OpContext<'_>,
    values: &TorchArray<T>,
    indices: &TorchArray<i64>,
    indptr: &TorchArray<i64>,
    x: &TorchArray<T>,
) -> Result<TorchArray<T>> {
    let p = rules::csr_product(on.op, values.shape(), indices.shape(), indptr.shape(), x.shape(), size_of::<T>())?;
    let rows = rows_of_elements(on, indices.tensor(), indptr.tensor(), &p)?;
    let x = on.pick(&on.enter_typed(computed::<T>(), x)?, 0, indices.tensor())?;
    summed::<T>(on, &weighted(on, &on.enter_typed(computed::<T>(), values)?, &x)?, &rows, &p.shape)
}

/// The product of the transpose of a compressed sparse row matrix with a vector or a matrix.
pub fn csc_matmul<T: Numeric>(
    b: &Torch,
    values: &TorchArray<T>,
    indices: &TorchArray<i64>,
    indptr: &TorchArray<i64>,
    x: &TorchArray<T>,
    rows: usize,
) -> Result<TorchArray<T>> {
    let on = b.on::<T>("csc_matmul");
    if is_on_host(values) {
        let (values, indices) = (hosted(b, on.op, values)?, hosted(b, on.op, indices)?);
        let (indptr, x) = (hosted(b, on.op, indptr)?, hosted(b, on.op, x)?);
        return placed(b, csc_product(values.view(), indices.view(), indptr.view(), x.view(), rows));
    }
    csc_of_ops(on, values, indices, indptr, x, rows)
}

fn csc_of_ops<T: Numeric>(
    on: OpContext<'_>,
    values: &TorchArray<T>,
    indices: &TorchArray<i64>,
    indptr: &TorchArray<i64>,
    x: &TorchArray<T>,
    rows: usize,
) -> Result<TorchArray<T>> {
    let [values_shape, indices_shape, indptr_shape] = [values.shape(), indices.shape(), indptr.shape()];
    let p = rules::csc_product(on.op, values_shape, indices_shape, indptr_shape, x.shape(), rows, size_of::<T>())?;
    let columns = rows_of_elements(on, indices.tensor(), indptr.tensor(), &p)?;
    let x = on.pick(&on.enter_typed(computed::<T>(), x)?, 0, &columns)?;
    summed::<T>(on, &weighted(on, &on.enter_typed(computed::<T>(), values)?, &x)?, indices.tensor(), &p.shape)
}

/// Selected elements of a product of dense matrices.
pub fn sampled_matmul<T: Numeric>(
    b: &Torch,
    indices: &TorchArray<i64>,
    indptr: &TorchArray<i64>,
    x1: &TorchArray<T>,
    x2: &TorchArray<T>,
) -> Result<TorchArray<T>> {
    let on = b.on::<T>("sampled_matmul");
    if is_on_host(x1) {
        let (indices, indptr) = (hosted(b, on.op, indices)?, hosted(b, on.op, indptr)?);
        let (x1, x2) = (hosted(b, on.op, x1)?, hosted(b, on.op, x2)?);
        return placed(b, sampled_product(indices.view(), indptr.view(), x1.view(), x2.view()));
    }
    sampled_of_ops(on, indices, indptr, x1, x2)
}

fn sampled_of_ops<T: Numeric>(
    on: OpContext<'_>,
    indices: &TorchArray<i64>,
    indptr: &TorchArray<i64>,
    x1: &TorchArray<T>,
    x2: &TorchArray<T>,
) -> Result<TorchArray<T>> {
    let [x1_shape, x2_shape] = [x1.shape(), x2.shape()];
    let p = rules::sampled_product(on.op, indices.shape(), indptr.shape(), x1_shape, x2_shape, size_of::<T>())?;
    let rows = rows_of_elements(on, indices.tensor(), indptr.tensor(), &p)?;
    let via = computed::<T>();
    let left = on.pick(&on.enter_typed(via, x1)?, 0, &rows)?;
    let right = on.pick(&on.enter_typed(via, x2)?, 0, indices.tensor())?;
    let terms = on.call(&ops::MUL, args![&left, &right])?;
    if x1_shape.len() == 1 {
        return on.leave_typed(via, terms);
    }
    let parts = DtypeStrategy::Parts.detour(carrier::<T>());
    let terms = parts.enter(on, &terms)?;
    let dtype = DType::ALL.into_iter().find(|&dtype| terms.is(dtype)).unwrap_or(T::DTYPE);
    let sum = on.call(&ops::SUM, args![&terms, &[1_usize][..], false, dtype])?;
    on.leave_typed(via, parts.leave(on, sum)?)
}

fn is_on_host<T: Numeric>(x: &TorchArray<T>) -> bool {
    x.host_view().is_some()
}

/// The strategy for products of a dtype: 16-bit floats are rounded once, and integers wrap.
fn computed<T: Numeric>() -> DtypeStrategy {
    if T::DTYPE.kind() == DTypeKind::Real { DtypeStrategy::Float32 } else { DtypeStrategy::Wrap }
}

/// The dtype in which products are computed.
fn carrier<T: Numeric>() -> DType {
    computed::<T>().detour(T::DTYPE).carrier(T::DTYPE)
}

/// Each stored value times its row of the dense factor.
fn weighted(on: OpContext<'_>, values: &Tensor, rows: &Tensor) -> Result<Tensor> {
    if rows.shape().len() == 1 {
        return on.call(&ops::MUL, args![values, rows]);
    }
    on.call(&ops::MUL, args![&on.reshape(values, &[values.size(), 1])?, rows])
}

/// Sums the terms for each row of the result.
fn summed<T: Numeric>(on: OpContext<'_>, terms: &Tensor, rows: &Tensor, shape: &[usize]) -> Result<TorchArray<T>> {
    let via = computed::<T>();
    let zeros = via.detour(T::DTYPE).enter(on, &on.full_typed::<T>(shape, T::ZERO)?)?;
    // libtorch's own complex sum turns an infinite part into NaN
    let parts = DtypeStrategy::Parts.detour(carrier::<T>());
    let (zeros, terms) = (parts.enter(on, &zeros)?, parts.enter(on, terms)?);
    let sum = on.call(&ops::INDEX_ADD, args![&zeros, 0_usize, rows, &terms])?;
    on.leave_typed(via, parts.leave(on, sum)?)
}

/// The row of each stored element; checks the pointers and indices.
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
        Complex, Error, bf16,
        torch::tests::{array, host, torch},
    };

    /// Compares the results of the loops and of the ops for one matrix; the tensors are on the host, because the tests
    /// have no GPU.
    fn compared<T: Numeric>(b: &Torch, values: &[T], x: &[T]) {
        let (indices, indptr) = (array(b, vec![0_i64, 2, 1, 1]), array(b, vec![0_i64, 3, 3, 4]));
        let values = array(b, values.to_vec());
        for width in [1, 2] {
            let on = b.on::<T>("test");
            let shaped = |x: &TorchArray<T>| {
                let tensor = on.reshape(x.tensor(), &[3, width][..if width == 1 { 1 } else { 2 }]).unwrap();
                on.array::<T>(tensor).unwrap()
            };
            let x = shaped(&array(b, x[..3 * width].to_vec()));
            let same = |a: Result<TorchArray<T>>, c: Result<TorchArray<T>>| {
                assert_eq!(host(b, &a.unwrap()), host(b, &c.unwrap()), "{} {width}", T::DTYPE);
            };
            same(csr_matmul(b, &values, &indices, &indptr, &x), csr_of_ops(on, &values, &indices, &indptr, &x));
            same(csc_matmul(b, &values, &indices, &indptr, &x, 3), csc_of_ops(on, &values, &indices, &indptr, &x, 3));
            same(sampled_matmul(b, &indices, &indptr, &x, &x), sampled_of_ops(on, &indices, &indptr, &x, &x));
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
        let (on, x) = (b.on::<T>("csr_matmul"), array(&b, vec![1.0, 2.0]));
        let values = array(&b, vec![1.0, 2.0]);
        for (indices, indptr) in [
            ([0_i64, 2], [0_i64, 1, 2]),
            ([0, -1], [0, 1, 2]),
            ([0, 1], [0, 3, 2]),
            ([0, 1], [1, 1, 2]),
            ([0, 1], [0, 1, 1]),
        ] {
            let (indices, indptr) = (array(&b, indices.to_vec()), array(&b, indptr.to_vec()));
            let of_loops = csr_matmul(&b, &values, &indices, &indptr, &x).unwrap_err();
            let of_ops: Error = csr_of_ops(on, &values, &indices, &indptr, &x).unwrap_err();
            assert_eq!(of_loops, of_ops);
        }
    }
}
