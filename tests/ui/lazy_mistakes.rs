//! Compiler errors for lazy formulas: mixed dtypes, a scalar of another type, and an op that does not exist for the
//! dtype.

use backends::{Result, lazy, prelude::*};

fn mixed<B: Backend>(b: &B, x: &B::Array<f64>, y: &B::Array<f32>) -> Result<B::Array<f64>> {
    (lazy(x) + lazy(y)).eval(b)
}

fn narrow<B: Backend>(b: &B, x: &B::Array<f64>, s: f32) -> Result<B::Array<f64>> {
    (lazy(x) * s).eval(b)
}

fn whole<B: Backend>(b: &B, n: &B::Array<i64>) -> Result<B::Array<i64>> {
    (lazy(n) * 0.5).eval(b)
}

fn of_another_dtype<B: Backend>(b: &B, n: &B::Array<i64>) -> Result<B::Array<i64>> {
    lazy(n).exp().eval(b)
}

fn main() {}
