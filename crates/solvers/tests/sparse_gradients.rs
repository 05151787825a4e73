//! Compares gradients through sparse matrices with gradients through dense matrices and with finite differences.

use backends::{
    Result,
    grad::{Diff, Var, grad, hvp, value_and_grad},
    prelude::*,
};
use backends_solvers::sparse::{Coo, Csr, kron};

type Matrix<T = f64> = Csr<Numpyish, T>;

/// The matrix [[1, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, -4]]. The element of value 2 is given as two elements: 0.5 and
/// 1.5.
fn matrix(b: &Numpyish) -> Matrix {
    let elements = [(2, 1, 3.0), (0, 2, 0.5), (0, 0, 1.0), (2, 3, -4.0), (0, 2, 1.5)];
    Coo::from_triplets(b, elements, [3, 4]).unwrap().to_csr(b).unwrap()
}

/// Selects from `full`, the gradient of the dense matrix, the elements at the positions that the sparse matrix stores.
fn at_places(b: &Numpyish, a: &Matrix, full: &HostArray<f64>) -> HostArray<f64> {
    let places = a.to_coo(b).unwrap();
    b.get(full, ix![places.row_indices(), places.column_indices()]).unwrap()
}

#[track_caller]
fn near(b: &Numpyish, x: &HostArray<f64>, y: &HostArray<f64>) {
    assert_eq!(x.shape(), y.shape());
    assert!(b.allclose(x, y).unwrap(), "{x} {y}");
}

#[test]
fn products_have_the_gradients_of_dense_ones() {
    let b = Numpyish::new();
    let a = matrix(&b);
    let full = a.to_dense(&b).unwrap();
    for x in [
        b.asarray([1.0, -2.0, 0.5, 3.0]).unwrap(),
        b.linspace(-1.0, 2.0, 12).unwrap().into_shape_with_order([4, 3]).unwrap().into_dyn(),
    ] {
        let (by_full, by_x) = grad(&b, |d, (a, x)| expr!(d, sum((a @ x)**3, ..)), (&full, &x)).unwrap();
        let wanted = at_places(&b, &a, &by_full);
        let (by_a, by_dense) = grad(
            &b,
            |d, (a, x)| {
                let y = a.matmul(d, x)?;
                expr!(d, sum(y * *3, ..))
            },
            (&a, &x),
        )
        .unwrap();
        near(&b, by_a.values(), &wanted);
        near(&b, &by_dense, &by_x);
        let (csc, coo, dia) = (a.to_csc(&b).unwrap(), a.to_coo(&b).unwrap(), a.to_dia(&b).unwrap());
        let (by_a, by_dense) = grad(
            &b,
            |d, (a, x)| {
                let y = a.matmul(d, x)?;
                expr!(d, sum(y * *3, ..))
            },
            (&csc, &x),
        )
        .unwrap();
        near(&b, &by_a.to_dense(&b).unwrap(), &a.with_values(wanted.clone()).unwrap().to_dense(&b).unwrap());
        near(&b, &by_dense, &by_x);
        let (by_a, by_dense) = grad(
            &b,
            |d, (a, x)| {
                let y = a.matmul(d, x)?;
                expr!(d, sum(y * *3, ..))
            },
            (&coo, &x),
        )
        .unwrap();
        near(&b, by_a.values(), &wanted);
        near(&b, &by_dense, &by_x);
        let (by_a, by_dense) = grad(
            &b,
            |d, (a, x)| {
                let y = a.matmul(d, x)?;
                expr!(d, sum(y * *3, ..))
            },
            (&dia, &x),
        )
        .unwrap();
        near(&b, &by_dense, &by_x);
        for &offset in dia.offsets() {
            near(
                &b,
                &by_a.diagonal(&b, offset).unwrap(),
                &b.diagonal_with(&by_full, DiagonalOptions::new().offset(offset)).unwrap(),
            );
        }
        // the matrix is a constant, so gradients pass only through the operand `x`
        let by_dense = grad(
            &b,
            |d, x| {
                let y = a.constant_on(d).matmul(d, x)?;
                expr!(d, sum(y * *3, ..))
            },
            &x,
        )
        .unwrap();
        near(&b, &by_dense, &by_x);
        // gradients of products with the transposed matrix
        let y = b.matmul(&full, &x).unwrap();
        let (by_full, by_y) = grad(
            &b,
            |d, (a, y)| {
                let a = d.matrix_transpose(a)?;
                expr!(d, sum((a @ y)**3, ..))
            },
            (&full, &y),
        )
        .unwrap();
        let (by_a, by_dense) = grad(
            &b,
            |d, (a, y)| {
                let x = a.transpose_matmul(d, y)?;
                expr!(d, sum(x * *3, ..))
            },
            (&a, &y),
        )
        .unwrap();
        near(&b, by_a.values(), &at_places(&b, &a, &by_full));
        near(&b, &by_dense, &by_y);
    }
}

/// Checks the gradient with respect to the matrix's values against central differences.
fn held(
    b: &Numpyish,
    a: &Matrix,
    f: impl Fn(&Diff<Numpyish>, &Csr<Diff<Numpyish>, f64>) -> Result<Var<Numpyish, f64>>,
) {
    let value = |a: &Matrix| b.item(value_and_grad(b, &f, a).unwrap().0).unwrap();
    let (_, found) = value_and_grad(b, &f, a).unwrap();
    let step = 1e-6;
    for k in 0..a.nnz() {
        let moved = |by: f64| {
            let mut values = a.values().clone();
            values[k] += by;
            value(&a.with_values(values).unwrap())
        };
        let difference = (moved(step) - moved(-step)) / (2.0 * step);
        let g = found.values()[k];
        assert!((g - difference).abs() < 1e-6 * difference.abs().max(1.0), "element {k}: {g} {difference}");
    }
}

#[test]
fn what_is_made_of_matrices_has_the_gradients_of_differences() {
    let b = Numpyish::new();
    let a = matrix(&b);
    let loss = |d: &Diff<Numpyish>, x: &Var<Numpyish, f64>| expr!(d, sum(x * *3, ..));
    held(&b, &a, |d, a| loss(d, a.add(d, &a.scale(d, 2.0)?)?.values()));
    held(&b, &a, |d, a| loss(d, a.subtract(d, &a.conj(d)?.scale(d, 3.0)?)?.values()));
    held(&b, &a, |d, a| loss(d, a.multiply(d, a)?.values()));
    held(&b, &a, |d, a| loss(d, a.transpose().to_csr(d)?.matmul_sparse(d, a)?.values()));
    held(&b, &a, |d, a| loss(d, kron(d, &a.to_coo(d)?, &a.to_coo(d)?)?.values()));
    held(&b, &a, |d, a| loss(d, &a.to_dense(d)?));
    held(&b, &a, |d, a| loss(d, &a.sum(d, 0)?));
    held(&b, &a, |d, a| loss(d, &a.sum(d, 1)?));
    held(&b, &a, |d, a| loss(d, &a.diagonal(d, 2)?));
    held(&b, &a, |d, a| loss(d, a.block(d, 0..3, 1..4)?.values()));
    held(&b, &a, |d, a| loss(d, a.take_rows(d, &d.asarray([2_i64, 2, 0])?)?.values()));
    held(&b, &a, |d, a| loss(d, &a.get(d, 2, 3)?));
    held(&b, &a, |d, a| loss(d, a.to_dia(d)?.transpose(d)?.values()));
    held(&b, &a, |d, a| loss(d, a.scale_rows(d, &a.sum(d, 1)?)?.values()));
    held(&b, &a, |d, a| loss(d, a.eliminate_zeros(d)?.scale_columns(d, &a.sum(d, 0)?)?.values()));
    held(&b, &a, |d, a| {
        let values = d.stack(&[a.values().clone(), d.multiply(a.values(), 2.0)?])?;
        let x = d.asarray([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])?;
        loss(d, &a.matmul_batched(d, &values, &x)?)
    });
}

#[test]
fn second_derivatives() {
    let b = Numpyish::new();
    let a = matrix(&b);
    let full = a.to_dense(&b).unwrap();
    let (x, v) = (b.asarray([1.0, -2.0, 0.5, 3.0]).unwrap(), b.asarray([0.5, 1.0, -1.0, 2.0]).unwrap());
    let found = hvp(
        &b,
        |d, x| {
            let a = a.constant_on(d.within()).constant_on(d);
            let y = a.matmul(d, x)?;
            expr!(d, sum(y * *3, ..))
        },
        &x,
        &v,
    );
    let wanted = hvp(
        &b,
        |d, x| {
            let a = d.constant(d.within().constant(full.clone()));
            expr!(d, sum((a @ x)**3, ..))
        },
        &x,
        &v,
    );
    near(&b, &found.unwrap(), &wanted.unwrap());
    // second derivatives with respect to the values: the gradient of a gradient
    let g = grad(
        &b,
        |d, values| {
            let a = a.constant_on(d).with_values(values.clone())?;
            let by_a = grad(
                d,
                |e, a: &Csr<_, f64>| {
                    let y = a.matmul(e, &e.constant(d.constant(x.clone())))?;
                    expr!(e, sum(y * *3, ..))
                },
                &a,
            )?;
            let g = by_a.values();
            expr!(d, sum(g * *2, ..))
        },
        a.values(),
    )
    .unwrap();
    let wanted = grad(
        &b,
        |d, a| {
            let by_a = grad(
                d,
                |e, a| {
                    let x = e.constant(d.constant(x.clone()));
                    expr!(e, sum((a @ x)**3, ..))
                },
                a,
            )?;
            // the gradient of a sparse matrix consists of the stored elements only
            let mask = d.not_equal(d.constant(full.clone()), 0.0)?;
            let g = d.r#where(mask, by_a, 0.0)?;
            expr!(d, sum(g * *2, ..))
        },
        &full,
    )
    .unwrap();
    near(&b, &g, &at_places(&b, &a, &wanted));
}

#[test]
fn complex_gradients_are_those_of_dense_matrices() {
    let b = Numpyish::new();
    let c = |re: f64, im: f64| Complex::new(re, im);
    let a = Coo::from_triplets(&b, [(0, 1, c(1.0, 2.0)), (1, 0, c(-1.0, 0.5)), (1, 1, c(0.0, 1.0))], [2, 2]).unwrap();
    let a: Matrix<Complex<f64>> = a.to_csr(&b).unwrap();
    let full = a.to_dense(&b).unwrap();
    let x = b.asarray([c(1.0, -1.0), c(2.0, 0.5)]).unwrap();
    let (by_a, by_x) = grad(
        &b,
        |d, (a, x)| {
            let y = a.matmul(d, x)?;
            d.sum(d.square(d.abs(y)?)?, ..)
        },
        (&a, &x),
    )
    .unwrap();
    let (full, dense) = grad(&b, |d, (a, x)| d.sum(d.square(d.abs(d.matmul(a, x)?)?)?, ..), (&full, &x)).unwrap();
    let places = a.to_coo(&b).unwrap();
    let wanted = b.get(&full, ix![places.row_indices(), places.column_indices()]).unwrap();
    assert!(b.allclose(by_a.values(), wanted).unwrap() && b.allclose(by_x, dense).unwrap());
}

#[test]
fn other_backends_give_the_same() {
    fn check<B: Backend>(b: &B) -> Result<Vec<f64>> {
        let elements = [(2, 1, 3.0), (0, 2, 0.5), (0, 0, 1.0), (2, 3, -4.0)];
        let a = Coo::from_triplets(b, elements, [3, 4])?.to_csr(b)?;
        let x = b.asarray([1.0, -2.0, 0.5, 3.0])?;
        let (by_a, by_x) = grad(
            b,
            |d, (a, x): &(Csr<Diff<B>, f64>, Var<B, f64>)| {
                let y = a.matmul(d, x)?;
                d.sum(d.multiply(&y, d.square(&y)?)?, ..)
            },
            (&a, &x),
        )?;
        Ok([b.to_vec(by_a.values())?, b.to_vec(&by_x)?].concat())
    }
    let wanted = check(&Numpyish::new()).unwrap();
    let torch = backends::runtime::available("torch", Torch::cpu()).map(|b| check(&AnyBackend::from(b)).unwrap());
    let cuda = backends::runtime::available("cuda", Cuda::new(0)).map(|b| check(&AnyBackend::from(b)).unwrap());
    for found in [torch, cuda].into_iter().flatten() {
        assert!(
            found.iter().zip(&wanted).all(|(x, y)| (x - y).abs() < 1e-9 * y.abs().max(1.0)),
            "{found:?} {wanted:?}"
        );
    }
}
