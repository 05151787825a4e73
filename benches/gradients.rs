//! Measures a chain of a hundred products of arrays. The chain runs without recording for differentiation, with
//! recording, and with its gradient; the differences are the costs of recording. Also measures a directional
//! derivative, in forward mode and by two backward passes.

use backends::{
    Result,
    grad::{Diff, grad, jvp, vjp},
    prelude::*,
};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

const OPS: u64 = 100;

fn chain<B: Backend>(b: &B, x: &B::Array<f64>, y: &B::Array<f64>) -> Result<B::Array<f64>> {
    let mut z = b.multiply(x, y)?;
    for _ in 1..OPS {
        z = b.multiply(&z, y)?;
    }
    Ok(z)
}

fn recording(c: &mut Criterion) {
    let b = Numpyish::new();
    let mut group = c.benchmark_group("gradients");
    group.throughput(Throughput::Elements(OPS));
    for n in [10_usize, 1000] {
        let x = b.full([n], 1.0).expect("an array");
        let y = b.full([n], 1.0 + 1e-9).expect("an array");
        group.bench_function(BenchmarkId::new("plain", n), |t| t.iter(|| chain(&b, black_box(&x), &y)));
        group.bench_function(BenchmarkId::new("constants", n), |t| {
            t.iter(|| {
                vjp(&b, |d: &Diff<Numpyish>, _| chain(d, &d.constant(y.clone()), &d.constant(y.clone())), &x)
                    .map(|(z, _)| z)
            });
        });
        group.bench_function(BenchmarkId::new("recorded", n), |t| {
            t.iter(|| vjp(&b, |d, x| chain(d, x, &d.constant(y.clone())), black_box(&x)).map(|(z, _)| z));
        });
        group.bench_function(BenchmarkId::new("there and back, by one", n), |t| {
            t.iter(|| grad(&b, |d, x| d.sum(chain(d, x, &d.constant(y.clone()))?, ..), black_box(&x)));
        });
        group.bench_function(BenchmarkId::new("there and back, by both", n), |t| {
            t.iter(|| grad(&b, |d, (x, y)| d.sum(chain(d, x, y)?, ..), (black_box(&x), &y)));
        });
    }
    group.finish();
}

/// A Gaussian plus `x` times its sine, as one formula.
fn gaussian<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
    expr!(b, 0.5 * exp(-(x - 0.3) * *2 / 1.7) + sin(x) * x)
}

fn along(c: &mut Criterion) {
    let b = Numpyish::new();
    let mut group = c.benchmark_group("along a direction");
    for n in [10_usize, 1_000_000] {
        let (x, v) = (b.full([n], 0.7).expect("an array"), b.full([n], 1.5).expect("an array"));
        let none = b.zeros::<f64>([n]).expect("an array");
        group.bench_function(BenchmarkId::new("plain", n), |t| t.iter(|| gaussian(&b, black_box(&x))));
        group.bench_function(BenchmarkId::new("forward", n), |t| t.iter(|| jvp(&b, gaussian, black_box(&x), &v)));
        group.bench_function(BenchmarkId::new("back twice", n), |t| {
            t.iter(|| {
                // the pullback is linear in the cotangent, so its own pullback is the directional derivative
                let pulled = |d: &Diff<Numpyish>, u: &_| {
                    let x = d.constant(black_box(&x).clone());
                    vjp(d, gaussian, &x)?.1.pull(u)
                };
                vjp(&b, pulled, &none)?.1.pull(&v)
            });
        });
    }
    group.finish();
}

/// A Gaussian times x, op by op.
fn gaussian_by_ops<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
    let square = b.square(b.subtract(x, 0.3)?)?;
    b.multiply(b.exp(b.negative(b.divide(square, 0.5)?)?)?, x)
}

fn gaussian_by_formula<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
    expr!(b, exp(-square(x - 0.3) / 0.5) * x)
}

fn formulas(c: &mut Criterion) {
    let b = Numpyish::new();
    let mut group = c.benchmark_group("value and gradient");
    for n in [10_usize, 1_000_000] {
        let x = b.linspace(-1.0, 1.0, n).expect("an array");
        group.bench_function(BenchmarkId::new("by ops", n), |t| {
            t.iter(|| grad(&b, |d, x| d.sum(gaussian_by_ops(d, x)?, ..), black_box(&x)));
        });
        group.bench_function(BenchmarkId::new("by a formula", n), |t| {
            t.iter(|| grad(&b, |d, x| d.sum(gaussian_by_formula(d, x)?, ..), black_box(&x)));
        });
    }
    group.finish();
}

criterion_group!(benches, formulas, recording, along);
criterion_main!(benches);
