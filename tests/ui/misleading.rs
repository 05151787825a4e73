//! Mistakes that new users who know NumPy are likely to make.

use backends::{Result, lazy, prelude::*};

fn counts<B: Backend>(b: &B, x: &B::Array<i64>, n: usize) -> Result<B::Array<i64>> {
    b.multiply(x, n)
}

fn lazy_counts<B: Backend>(b: &B, x: &B::Array<i64>, n: usize) -> Result<B::Array<i64>> {
    (lazy(x) * n).eval(b)
}

fn formula_counts<B: Backend>(b: &B, x: &B::Array<i64>, n: usize) -> Result<B::Array<i64>> {
    expr!(b, x * n)
}

fn ranges_of_vectors<B: Backend>(b: &B, x: &Vec<f64>, y: &B::Array<f64>) -> Result<B::Array<f64>> {
    expr!(b, x[1..] * y)
}

fn complex_and_another_precision<B: Backend>(
    b: &B,
    x: &B::Array<f32>,
    z: &B::Array<Complex<f64>>,
) -> Result<B::Array<Complex<f64>>> {
    b.multiply(z, x)?;
    expr!(b, z * x)
}

fn main() -> Result<()> {
    let b = Numpyish::new();
    let (x, n) = (b.zeros::<f64>([2, 3, 4])?, 3_usize);
    let _ = b.get(&x, ix![1.., :, 0])?;
    let _ = b.get(&x, ix![:, 0, ::2])?;
    let _ = expr!(b, x[1.., :] + 1)?;
    let _ = expr!(b, sum(x, 0) as f64)?;
    let _ = expr!(b, sum(x, axes = 0))?;
    let _ = expr!(b, sum(x))?;
    let _ = expr!(b, x + n as)?;
    Ok(())
}
