//! Tests complex functions and gradients at zeros, infinities and NaN, on every backend. The test cases of the op table
//! check neither the signs of zeros nor the real and imaginary parts of results that are not finite.

mod slopes;

use crate::common::*;
use backends::{ComplexFloat, Result, prelude::*};
use std::f64::consts::PI;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// An argument and the expected result, each as (real, imaginary).
type Case = ((f64, f64), (f64, f64));

/// Converts a pair (real, imaginary) to a complex number of either precision.
fn number<T: ComplexFloat>(x: (f64, f64)) -> T {
    T::from_parts(T::Real::of(x.0), T::Real::of(x.1))
}

/// Returns whether a real or imaginary part is as expected: NaN for NaN, zeros with the same sign, and other numbers
/// within 1e-6.
fn is_part(got: f64, want: f64) -> bool {
    match want {
        w if w.is_nan() => got.is_nan(),
        w if w == 0.0 || w.is_infinite() => got == w && got.is_sign_negative() == w.is_sign_negative(),
        w => (got - w).abs() <= 1e-6 * w.abs(),
    }
}

/// Compares the results of an op with the expected results of `cases`. If one part of a result is NaN, the sign of the
/// other part is not compared.
fn check<B: Backend, T: ComplexFloat>(b: &B, op: &str, cases: &[Case], got: &B::Array<T>) -> Result<()> {
    let parts = |x: &B::Array<T>| -> Result<Vec<(f64, f64)>> {
        let (re, im) = (b.to_ndarray(&b.real(x)?)?, b.to_ndarray(&b.imag(x)?)?);
        Ok(re.iter().zip(&im).map(|(re, im)| (re.to_f64(), im.to_f64())).collect())
    };
    let got = parts(got)?;
    let mut wrong = Vec::new();
    for (&(x, want), got) in cases.iter().zip(got) {
        let re = if want.1.is_nan() { is_part(got.0.abs(), want.0.abs()) } else { is_part(got.0, want.0) };
        let im = if want.0.is_nan() { is_part(got.1.abs(), want.1.abs()) } else { is_part(got.1, want.1) };
        if !(re && im) {
            wrong.push(format!("{op}{x:?} is {want:?}, not {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}, {}:\n{}", B::NAME, T::DTYPE, wrong.join("\n"));
    Ok(())
}

fn arguments<B: Backend, T: ComplexFloat>(b: &B, cases: &[Case]) -> Result<B::Array<T>> {
    b.asarray(cases.iter().map(|&(x, _)| number(x)).collect::<Vec<T>>())
}

/// Expected results of `reciprocal`: the conjugate divided by the squared magnitude, with NumPy's signs of zeros. The
/// reciprocal of infinity is 0, as in C99.
const RECIPROCAL: &[Case] = &[
    ((0.0, 0.0), (NAN, NAN)),
    ((2.0, 0.0), (0.5, -0.0)),
    ((2.0, -0.0), (0.5, 0.0)),
    ((-2.0, 0.0), (-0.5, -0.0)),
    ((-2.0, -0.0), (-0.5, 0.0)),
    ((0.0, 2.0), (0.0, -0.5)),
    ((-0.0, 2.0), (-0.0, -0.5)),
    ((0.0, -2.0), (0.0, 0.5)),
    ((-0.0, -2.0), (-0.0, 0.5)),
    ((4.0, 3.0), (0.16, -0.12)),
    ((INF, 1.0), (0.0, -0.0)),
    ((-INF, 1.0), (-0.0, -0.0)),
    ((1.0, INF), (0.0, -0.0)),
    ((-1.0, -INF), (-0.0, 0.0)),
    ((INF, INF), (0.0, -0.0)),
    ((NAN, 1.0), (NAN, NAN)),
    ((1.0, NAN), (NAN, NAN)),
];

/// Expected results of `expm1`, from the table of the Array API standard.
const EXPM1: &[Case] = &[
    ((0.0, 0.0), (0.0, 0.0)),
    ((0.0, -0.0), (0.0, -0.0)),
    ((-0.0, 0.0), (-0.0, 0.0)),
    ((-INF, 0.0), (-1.0, 0.0)),
    ((-INF, -0.0), (-1.0, -0.0)),
    ((-INF, 1.0), (-1.0, 0.0)),
    ((-INF, -2.0), (-1.0, -0.0)),
    ((-INF, INF), (-1.0, 0.0)),
    ((-INF, -INF), (-1.0, -0.0)),
    ((-INF, NAN), (-1.0, 0.0)),
    ((INF, 0.0), (INF, 0.0)),
    ((INF, -0.0), (INF, -0.0)),
    ((INF, 1.0), (INF, INF)),
    ((INF, 3.0), (-INF, INF)),
    ((INF, -1.0), (INF, -INF)),
    ((INF, INF), (INF, NAN)),
    ((INF, NAN), (INF, NAN)),
    ((1.0, INF), (NAN, NAN)),
    ((1.0, NAN), (NAN, NAN)),
    ((0.0, INF), (NAN, NAN)),
    ((NAN, 0.0), (NAN, 0.0)),
    ((NAN, 1.0), (NAN, NAN)),
    ((NAN, INF), (NAN, NAN)),
    ((NAN, NAN), (NAN, NAN)),
];

/// Expected results of `acos`, from the table of C99, which NumPy follows.
const ACOS: &[Case] = &[
    ((0.0, 0.0), (PI / 2.0, -0.0)),
    ((0.0, -0.0), (PI / 2.0, 0.0)),
    ((-0.0, 0.0), (PI / 2.0, -0.0)),
    ((-0.0, -0.0), (PI / 2.0, 0.0)),
    ((1.0, 0.0), (0.0, -0.0)),
    ((1.0, -0.0), (0.0, 0.0)),
    ((-1.0, 0.0), (PI, -0.0)),
    ((-1.0, -0.0), (PI, 0.0)),
    ((0.5, 0.0), (PI / 3.0, -0.0)),
    ((0.5, -0.0), (PI / 3.0, 0.0)),
    ((2.0, 0.0), (0.0, -1.3169578969248166)),
    ((2.0, -0.0), (0.0, 1.3169578969248166)),
    ((-2.0, 0.0), (PI, -1.3169578969248166)),
    ((-2.0, -0.0), (PI, 1.3169578969248166)),
    ((0.0, 1.0), (PI / 2.0, -0.881373587019543)),
];

macro_rules! of_one_argument {
    ($($op:ident $cases:ident)*) => {$(
        #[test]
        fn $op() {
            fn in_one<B: Backend, T: ComplexFloat>(b: &B) -> Result<()> {
                check(b, stringify!($op), $cases, &b.$op(&arguments::<B, T>(b, $cases)?)?)
            }
            fn in_both<B: Backend>(b: &B) -> Checked {
                in_one::<B, Complex<f64>>(b)?;
                Ok(in_one::<B, Complex<f32>>(b)?)
            }
            on_every_backend!(in_both);
        }
    )*};
}
of_one_argument! { reciprocal RECIPROCAL expm1 EXPM1 acos ACOS }

/// Reciprocals of the smallest and largest numbers, in double precision.
fn of_the_smallest_and_largest<B: Backend>(b: &B) -> Checked {
    let small = &[
        ((0.0, 5e-324), (0.0, -INF)),
        ((5e-324, 0.0), (INF, -0.0)),
        ((0.0, -5e-324), (0.0, INF)),
        ((1e308, 1e308), (5e-309, -5e-309)),
        ((3e-308, 4e-308), (1.2e307, -1.6e307)),
    ];
    check(b, "reciprocal", small, &b.reciprocal(&arguments::<B, Complex<f64>>(b, small)?)?)?;
    Ok(())
}

#[test]
fn reciprocals_neither_overflow_nor_vanish_between() {
    on_every_backend!(of_the_smallest_and_largest);
}

/// Expected values of 0 to a complex power, as in NumPy: 1 for the power 0; 0 if the real part of the power is
/// positive; otherwise NaN.
const POWERS_OF_ZERO: &[Case] = &[
    ((0.0, 0.0), (1.0, 0.0)),
    ((-0.0, -0.0), (1.0, 0.0)),
    ((1.0, 0.0), (0.0, 0.0)),
    ((0.5, -0.0), (0.0, 0.0)),
    ((1.0, 1.0), (0.0, 0.0)),
    ((2.0, -3.0), (0.0, 0.0)),
    ((0.0, 1.0), (NAN, NAN)),
    ((-1.0, 0.0), (NAN, NAN)),
    ((-1.0, 1.0), (NAN, NAN)),
    ((NAN, 0.0), (NAN, NAN)),
];

fn powers<B: Backend, T: ComplexFloat>(b: &B) -> Checked {
    let exponents = arguments::<B, T>(b, POWERS_OF_ZERO)?;
    for zero in [(0.0, 0.0), (-0.0, 0.0), (-0.0, -0.0)] {
        check(b, &format!("{zero:?} to the power of "), POWERS_OF_ZERO, &b.pow(number::<T>(zero), &exponents)?)?;
    }
    Ok(())
}

fn powers_in_both_precisions<B: Backend>(b: &B) -> Checked {
    powers::<B, Complex<f64>>(b)?;
    powers::<B, Complex<f32>>(b)
}

#[test]
fn powers_of_zero() {
    on_every_backend!(powers_in_both_precisions);
}

/// The parameter `beta` of `softplus` is not rounded to the 16-bit dtype of the array, in which 1e-9 would become 0.
fn softplus_with_a_tiny_beta<B: Backend>(b: &B) -> Checked {
    fn of<B: Backend, T: Real>(b: &B, beta: f64, cases: [(f64, f64); 4]) -> Checked {
        for (x, want) in cases {
            let y = b.softplus_with(&b.asarray([T::of(x)])?, SoftplusOptions::new().beta(beta))?;
            let (got, want) = (b.to_vec(&y)?[0].to_f64(), T::of(want).to_f64());
            let near = got == want || got.is_nan() && want.is_nan() || (got - want).abs() <= 1e-2 * want.abs();
            assert!(near, "softplus({x}, beta = {beta}) in {}: {got}, not {want}", T::DTYPE);
        }
        Ok(())
    }
    // the results are log(2) / beta at 0, and the limits of `softplus` at the infinities
    let log2 = std::f64::consts::LN_2;
    of::<B, f16>(b, 1e-9, [(INF, INF), (-INF, 0.0), (0.0, INF), (-1.0, INF)])?;
    of::<B, f16>(b, 2e-5, [(INF, INF), (-INF, 0.0), (0.0, log2 / 2e-5), (1.0, log2 / 2e-5)])?;
    of::<B, bf16>(b, 1e-9, [(INF, INF), (-INF, 0.0), (0.0, log2 / 1e-9), (100.0, log2 / 1e-9)])?;
    of::<B, f32>(b, 1e-9, [(INF, INF), (-INF, 0.0), (0.0, log2 / 1e-9), (-3e9, 0.048587e9)])?;
    of::<B, f16>(b, -INF, [(-1.0, NAN), (1.0, -0.0), (-INF, NAN), (0.0, NAN)])?;
    of::<B, f32>(b, 1e30, [(1e30, INF), (-1e30, 0.0), (0.0, 6.9314718e-31), (1.0, 1.0)])?;
    of::<B, f64>(b, -2.0, [(INF, 0.0), (-INF, -INF), (1.0, -0.0634640), (-30.0, -30.0)])
}

#[test]
fn softplus_beyond_the_range_of_16_bits() {
    on_every_backend!(softplus_with_a_tiny_beta);
}
