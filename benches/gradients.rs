//! What recording costs: a chain of a hundred products of ten elements, plainly, recorded, and there and back.

use backends::{
    grad::{Diff, grad, vjp},
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

criterion_group!(benches, recording);
criterion_main!(benches);
