//! Shapes, and comparison with the CPU on a device or the software driver.

use super::*;
use crate::{
    Arrays, Complex, Error, bf16,
    cuda::{
        compare::{assert_near, layouts, mixed},
        testing::device,
    },
    f16,
    numpyish::{Numpyish, linalg as cpu},
};
use ndarray::{ArrayD, IxDyn};

const CPU: Numpyish = Numpyish::new();

/// Every layout of one operand against every layout of the other; large operands have each layout once.
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

/// Where cuBLAS is.
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
