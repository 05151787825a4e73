//! The program that `cargo xtask build-cost --speeds` builds and runs. It measures calls, formulas, gradients,
//! factorizations, transforms and solvers. For each it prints a line with the name and the time in milliseconds.

use backends::{
    Result,
    grad::{Diff, Var, grad},
    prelude::*,
};
use backends_solvers::{
    linear::{GridBoundary::Zero, Laplacian, Method, Solve},
    sparse::{Coo, Csr},
};
use std::{hint::black_box, time::Instant};

type R<T = f64> = HostArray<T>;

/// Prints the minimum time of several runs of a call.
fn time<X>(name: &str, call: impl Fn() -> Result<X>) -> Result<()> {
    let (begin, mut best) = (Instant::now(), f64::INFINITY);
    for n in 0..30 {
        let start = Instant::now();
        black_box(call()?);
        best = best.min(start.elapsed().as_secs_f64());
        if n > 1 && begin.elapsed().as_secs_f64() > 1.0 {
            break;
        }
    }
    println!("{name}\t{:.3}", best * 1e3);
    Ok(())
}

/// The five-point Laplacian of a grid of `n` by `n` points.
fn laplacian(b: &Numpyish, n: usize) -> Result<Csr<Numpyish, f64>> {
    let mut triplets = Vec::new();
    for i in 0..n * n {
        triplets.push((i, i, 4.0));
        if i % n > 0 {
            triplets.extend([(i, i - 1, -1.0), (i - 1, i, -1.0)]);
        }
        if i >= n {
            triplets.extend([(i, i - n, -1.0), (i - n, i, -1.0)]);
        }
    }
    Coo::from_triplets(b, triplets, [n * n, n * n])?.to_csr(b)
}

/// The loss of a network with one hidden layer.
fn loss<B: Backend>(b: &B, x: &B::Array<f64>, w: &B::Array<f64>, v: &B::Array<f64>) -> Result<B::Array<f64>> {
    let hidden = b.matmul(x, w)?;
    let scores = b.matmul(expr!(b, hidden / (1.0 + exp(-hidden)))?, v)?;
    let norm = b.logsumexp_with(&scores, 1, LogsumexpOptions::new().keepdims(true))?;
    expr!(b, mean(square(scores - norm), ..))
}

fn step(b: &Numpyish, x: &R, w: &R, v: &R) -> Result<(R, R)> {
    let of =
        |d: &Diff<Numpyish>, (w, v): &(Var<Numpyish, f64>, Var<Numpyish, f64>)| loss(d, &d.constant(x.clone()), w, v);
    let (gw, gv) = grad(b, of, (w, v))?;
    Ok((expr!(b, w - 0.1 * gw)?, expr!(b, v - 0.1 * gv)?))
}

fn main() -> Result<()> {
    let b = Numpyish::seeded(1);
    let x: R = b.random_uniform([1_000_000])?;
    let single: R<f32> = b.astype(&x)?;
    let short: R<i16> = b.astype(&x)?;
    let complex: R<Complex<f64>> = b.astype(&x)?;
    time("exp of 1e6, float64", || b.exp(&x))?;
    time("exp of 1e6, float32", || b.exp(&single))?;
    time("exp of 1e6, complex128", || b.exp(&complex))?;
    time("add of 1e6, float64", || b.add(&x, &x))?;
    time("add of 1e6, int16", || b.add(&short, &short))?;
    time("sort of 1e6", || b.sort(&x))?;
    time("sum of 1e6", || b.sum(&x, ..))?;
    time("`exp(-x * x)` of 1e6", || expr!(b, exp(-x * x)))?;
    time("`sum(exp(-x * x) * sin(x), ..)` of 1e6", || expr!(b, sum(exp(-x * x) * sin(x), ..)))?;
    time("its gradient", || grad(&b, |b, x| expr!(b, sum(exp(-x * x) * sin(x), ..)), &x))?;
    let (data, w, v): (R, R, R) =
        (b.random_normal([256, 64])?, b.random_normal([64, 128])?, b.random_normal([128, 10])?);
    time("a step of training, 256 x 64-128-10", || step(&b, &data, &w, &v))?;
    let m: R = b.random_normal([512, 512])?;
    let right: R = b.random_normal([512])?;
    time("matmul of 512 x 512", || b.matmul(&m, &m))?;
    time("solve of 512 x 512", || b.solve(&m, &right))?;
    time("svd of 512 x 512", || b.svd(&m))?;
    time("rfft2 of 512 x 512", || b.rfft2(&m))?;
    let (sparse, y): (_, R) = (laplacian(&b, 200)?, b.random_normal([40_000])?);
    let direct = Solve::new().method(Method::Direct);
    time("sparse LU of 200 x 200 points", || direct.solve(&b, &sparse, &y))?;
    time("sparse matrix times vector", || sparse.matmul(&b, &y))?;
    let (grid, cg) = (Laplacian::new([Zero, Zero]), Solve::new().method(Method::Cg).rtol(1e-6));
    let charges: R = b.random_normal([128, 128])?;
    time("CG of 128 x 128 points", || cg.solve(&b, &grid, &charges))?;
    Ok(())
}
