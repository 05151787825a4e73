//! Tests of linear algebra: result shapes, and comparisons with the CPU backend, on a GPU or the software driver.

use super::*;
use crate::{
    Cuda, CudaArray,
    compare::{assert_near, layouts, mixed},
    creation, manipulation,
    testing::{device, on, typed},
};
use backend_core::{Arrays, Complex, DType, Element, Error, Numeric, bf16, f16, numpyish::Numpyish, raw::TypedArray};
use backend_numpyish::linalg::typed as cpu;
use ndarray::{ArrayD, IxDyn};

const CPU: Numpyish = Numpyish::new();

/// Defines wrappers of this module's ops that take and return typed arrays instead of raw arrays.
macro_rules! functions {
    ($($f:ident($($x:ident),*; $($n:ident: $other:ty),*);)*) => {$(
        fn $f<T: Element>(b: &Cuda, $($x: &CudaArray<T>,)* $($n: $other),*) -> Result<CudaArray<T>> {
            let on = OpContext::new(b, stringify!($f), T::DTYPE);
            CudaArray::from_raw(on.op, super::$f(on, $($x.raw(),)* $($n),*)?)
        }
    )*};
}
functions! {
    matmul(x1, x2;);
    cholesky(x; upper: bool);
    solve(x1, x2;);
    solve_triangular(x1, x2; lower: bool, unit_diagonal: bool);
    det(x;);
    svdvals(x;);
    eigvalsh(x;);
}

/// Multiplies every layout of one operand by every layout of the other. If the operands are large, each layout is used
/// only once.
fn products<T: Numeric>(b: &Cuda, first: &[usize], second: &[usize], tolerance: f64) {
    let (x, y) = (mixed::<T>(first), mixed::<T>(second));
    let expected = cpu::matmul(&CPU, &x.clone().into_shared(), &y.clone().into_shared()).unwrap();
    let large = x.len() > 1000;
    for (i, a) in layouts(b, &x).into_iter().enumerate() {
        for (j, c) in layouts(b, &y).into_iter().rev().enumerate() {
            if large && i != j {
                continue;
            }
            let what = format!("{} {first:?} {:?} times {second:?} {:?}", T::DTYPE, a.raw.strides, c.raw.strides);
            assert_near(b, &matmul(b, &a, &c).unwrap(), &expected, tolerance, &what);
        }
    }
}

const CASES: [(&[usize], &[usize]); 9] = [
    (&[3, 4], &[4, 5]),
    (&[4], &[4]),
    (&[4], &[4, 5]),
    (&[3, 4], &[4]),
    (&[2, 3, 4], &[4, 5]),
    (&[2, 3, 4], &[2, 4, 5]),
    (&[2, 1, 3, 4], &[6, 4, 5]),
    (&[70, 100], &[100, 65]),
    (&[2, 0, 4], &[4, 5]),
];

#[test]
fn integers_of_every_layout() {
    let Some(b) = device() else { return };
    for (first, second) in CASES {
        products::<i32>(&b, first, second, 0.0);
    }
    products::<i8>(&b, CASES[7].0, CASES[7].1, 0.0);
    products::<u16>(&b, CASES[5].0, CASES[5].1, 0.0);
    products::<i64>(&b, CASES[6].0, CASES[6].1, 0.0);
    products::<u64>(&b, &[5000], &[5000], 0.0);
    products::<u8>(&b, &[2, 3, 3000], &[3000, 2], 0.0);
}

#[test]
fn nothing_between_is_zeros() {
    let Some(b) = device() else { return };
    let x = b.from_ndarray(ArrayD::<f32>::ones(IxDyn(&[3, 0])).into_shared()).unwrap();
    let y = b.from_ndarray(ArrayD::<f32>::ones(IxDyn(&[0, 2])).into_shared()).unwrap();
    assert_near(&b, &matmul(&b, &x, &y).unwrap(), &ArrayD::zeros(IxDyn(&[3, 2])).into_shared(), 0.0, "no terms");
    assert!(matches!(matmul(&b, &x, &x), Err(Error::Shapes { op: "matmul", .. })));
}

/// This test needs cuBLAS.
#[test]
fn floats_of_every_layout() {
    let Some(b) = device() else { return };
    if let Err(why) = super::super::library::Library::Cublas.load() {
        return println!("not run: {why}");
    }
    for (first, second) in CASES {
        products::<f64>(&b, first, second, 1e-13);
        products::<Complex<f32>>(&b, first, second, 1e-5);
    }
    products::<f32>(&b, CASES[7].0, CASES[7].1, 1e-5);
    products::<f16>(&b, CASES[6].0, CASES[6].1, 1e-2);
    products::<bf16>(&b, CASES[4].0, CASES[4].1, 1e-2);
    products::<Complex<f64>>(&b, CASES[5].0, CASES[5].1, 1e-13);
}

/// Returns a backend for tests that need cuSOLVER; `None` if there is no GPU or cuSOLVER cannot be loaded.
fn solver() -> Option<Cuda> {
    let b = device()?;
    match super::super::library::Library::Cusolver.load() {
        Ok(()) => Some(b),
        Err(why) => {
            println!("not run: {why}");
            None
        }
    }
}

/// Returns distinct matrices whose diagonals are much larger than their other elements.
fn dominant(shape: &[usize]) -> ArrayD<f32> {
    let n = shape[shape.len() - 1];
    let mut x = mixed::<f32>(shape).mapv(|x| x / 50.0);
    for (place, x) in x.iter_mut().enumerate() {
        if (place % (n * n)).is_multiple_of(n + 1) {
            *x = n as f32;
        }
    }
    x
}

/// Tests a stack of matrices that are too large for batched calls, and a stack with more matrices than one batched call
/// takes.
#[test]
fn many_large_matrices_and_very_many_small_ones() {
    let Some(b) = solver() else { return };
    for shape in [[2, batched::SMALL, batched::SMALL], [20_000, 2, 2]] {
        let host = dominant(&shape).into_shared();
        let x = b.from_ndarray(host.clone()).unwrap();
        let vector = b.from_ndarray(mixed::<f32>(&shape[..2]).insert_axis(ndarray::Axis(2)).into_shared()).unwrap();
        let solved = solve(&b, &x, &vector).unwrap();
        assert_near(&b, &matmul(&b, &x, &solved).unwrap(), &b.to_ndarray(&vector).unwrap(), 1e-5, "solve");
        let solved = solve_triangular(&b, &x, &vector, true, false).unwrap();
        let lower = typed(creation::tril(on::<f32>(&b, "tril"), &x.raw, 0));
        assert_near(&b, &matmul(&b, &lower, &solved).unwrap(), &b.to_ndarray(&vector).unwrap(), 1e-5, "triangle");
        let factor = cholesky(&b, &x, false).unwrap();
        let turned = manipulation::matrix_transpose(on::<f32>(&b, "matrix_transpose"), &factor.raw);
        let product = matmul(&b, &factor, &typed(turned)).unwrap();
        let lower_of_product = typed(creation::tril(on::<f32>(&b, "tril"), &product.raw, 0));
        assert_near(&b, &lower_of_product, &b.to_ndarray(&lower).unwrap(), 1e-5, "cholesky");
        let [_, logs] = slogdet(OpContext::new(&b, "slogdet", DType::Float32), x.raw()).unwrap();
        // the determinant is close to the product of the diagonal
        let near = (shape[1] as f32) * (shape[1] as f32).ln();
        let logs = b.to_ndarray(&CudaArray::<f32>::from_raw("slogdet", logs).unwrap()).unwrap();
        assert!(logs.len() == shape[0] && logs.iter().all(|log| (log - near).abs() < 0.5), "{shape:?}");
    }
    let x = b.from_ndarray(dominant(&[20_000, 2, 2]).into_shared()).unwrap();
    let traces = |values: ArrayD<f32>| values.sum_axis(ndarray::Axis(1));
    let sums = traces(b.to_ndarray(&eigvalsh(&b, &x).unwrap()).unwrap().into_owned());
    assert!(sums.iter().all(|sum| (sum - 4.0).abs() < 1e-5), "the sum of eigenvalues is that of the diagonal");
    let squares = b.to_ndarray(&svdvals(&b, &x).unwrap()).unwrap().mapv(|s| s * s).sum_axis(ndarray::Axis(1));
    let norms = dominant(&[20_000, 2, 2]).mapv(|x| x * x).sum_axis(ndarray::Axis(1)).sum_axis(ndarray::Axis(1));
    assert!(squares.iter().zip(&norms).all(|(s, n)| (s - n).abs() < 1e-4), "squares of values are those of elements");
}

/// Tests arrays of every layout. The library reads column-major matrices in place, so views of other layouts must be
/// copied first.
#[test]
fn factors_of_every_layout() {
    let Some(b) = solver() else { return };
    for shape in [&[3, 3][..], &[2, 4, 4]] {
        let x = dominant(shape);
        let expected = b.to_ndarray(&det(&b, &layouts(&b, &x)[0]).unwrap()).unwrap().into_owned().into_shared();
        for x in layouts(&b, &x) {
            assert_near(&b, &det(&b, &x).unwrap(), &expected, 1e-5, &format!("{shape:?} {:?}", x.raw.strides));
        }
    }
}

#[test]
fn determinants_beyond_all_floats_on_the_way() {
    let Some(b) = solver() else { return };
    // the product of the first half of the diagonal overflows, and the product of the second half underflows to 0
    let n = 400;
    let large = |i: usize| if i < n / 2 { 1e3_f64 } else { 1e-3 };
    let x = ArrayD::from_shape_fn(IxDyn(&[n, n]), |at| if at[0] == at[1] { large(at[0]) } else { 0.0 });
    let value = det(&b, &b.from_ndarray(x.into_shared()).unwrap()).unwrap();
    let value = b.to_ndarray(&value).unwrap()[[]];
    assert!((value - 1.0).abs() < 1e-10, "{value}");
}
