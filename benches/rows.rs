//! Measures ops of every kind on every backend of the machine. `cargo xtask bench rows` runs this program and prints
//! this library's speed relative to libtorch, on the CPU and on the GPU.
//!
//! A row is an op with its arguments. Each row and size is measured on all backends in succession, so that other load
//! on the machine affects all of them.

use backends::{Result, Slice, prelude::*};
use criterion::{BenchmarkId, Criterion, Throughput};
use std::{
    collections::BTreeMap,
    hint::black_box,
    time::{Duration, Instant},
};

/// A call with prepared arguments.
type Call = Box<dyn Fn() -> Result<()>>;

/// One row (an op with its arguments) on one backend: the backend's name, the call, and a function that waits until the
/// device has finished.
type OnBackend = (String, Call, Call);

/// The prepared calls of each row on the backends of this machine, by the row's name and the number of elements.
#[derive(Default)]
struct Rows(BTreeMap<(&'static str, usize), Vec<OnBackend>>);

impl Rows {
    /// Adds the calls of all rows on one backend, with about `n` elements each.
    fn add<B: Backend>(&mut self, b: &B, n: usize) -> Result<()> {
        let name = format!("{} {}", B::NAME, b.device());
        for (row, call) in calls(b, n)? {
            let wait = b.clone();
            let wait: Call = Box::new(move || wait.synchronize());
            self.0.entry((row, n)).or_default().push((name.clone(), call, wait));
        }
        Ok(())
    }
}

/// Prepares the call of each row, with arguments of about `n` elements. Returns the rows' names and calls.
fn calls<B: Backend>(b: &B, n: usize) -> Result<Vec<(&'static str, Call)>> {
    b.seed(1);
    let side = n.isqrt();
    let x = b.random_uniform::<f64>([n])?;
    let y = b.random_uniform::<f64>([n])?;
    let single = b.astype::<f32, f64>(&x)?;
    let z = b.complex(&x, &y)?;
    let mask = b.less(&x, 0.5)?;
    let order = b.argsort(&y)?;
    let square = b.reshape(&b.getitem(&x, [Slice::from(..(side * side) as isize)])?, [-1, side as isize])?;
    let small = b.random_uniform::<f64>([side.min(1024); 2])?;
    let row = b.random_uniform::<f64>([side])?;

    let mut calls: Vec<(&'static str, Call)> = Vec::new();
    macro_rules! row {
        ($name:literal, |$b:ident $(, $x:ident)*| $call:expr) => {{
            let ($b, $($x),*) = (b.clone(), $($x.clone()),*);
            calls.push(($name, Box::new(move || { black_box($call?); Ok(()) })));
        }};
    }
    row!("add", |b, x, y| b.add(&x, &y));
    row!("add, a row to a matrix", |b, square, row| b.add(&square, &row));
    row!("multiply, float32", |b, single| b.multiply(&single, &single));
    row!("multiply, complex128", |b, z| b.multiply(&z, &z));
    row!("exp", |b, x| b.exp(&x));
    row!("exp, float32", |b, single| b.exp(&single));
    row!("sin", |b, x| b.sin(&x));
    row!("log", |b, x| b.log(&x));
    row!("sqrt", |b, x| b.sqrt(&x));
    row!("pow", |b, x, y| b.pow(&x, &y));
    row!("abs, complex128", |b, z| b.abs(&z));
    row!("less", |b, x, y| b.less(&x, &y));
    row!("where", |b, mask, x, y| b.r#where(&mask, &x, &y));
    row!("astype, float64 to float32", |b, x| b.astype::<f32, f64>(&x));
    row!("sum", |b, x| b.sum(&x, ..));
    row!("sum, columns", |b, square| b.sum(&square, 0));
    row!("sum, rows", |b, square| b.sum(&square, 1));
    row!("max", |b, x| b.max(&x, ..));
    row!("argmax", |b, x| b.argmax(&x, 0));
    row!("var", |b, x| b.var(&x, ..));
    row!("cumulative_sum", |b, x| b.cumulative_sum(&x, 0));
    row!("transpose, copied", |b, square| b.copy(&b.transpose(&square)?));
    row!("concat", |b, x, y| b.concat([&x, &y]));
    row!("roll", |b, x| b.roll(&x, [7], 0));
    row!("take", |b, x, order| b.take(&x, &order, 0));
    row!("scatter_add", |b, x, order, y| b.scatter_add(&x, &order, &y, 0));
    row!("sort", |b, x| b.sort(&x));
    row!("matmul", |b, small| b.matmul(&small, &small));
    row!("fft", |b, z| b.fft(&z));
    row!("rfft2", |b, square| b.rfft2(&square));
    row!("random_uniform", |b, x| b.random_uniform::<f64>(b.shape(&x)));
    row!("random_normal", |b, x| b.random_normal::<f64>(b.shape(&x)));
    Ok(calls)
}

fn main() -> Result<()> {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .configure_from_args();
    let mut rows = Rows::default();
    // the largest size exceeds a GPU's L2 cache, which is up to about 50 MB
    let large = 1 << 24;
    for n in [1_000, 1_000_000, large] {
        if n < large {
            rows.add(&Numpyish::new(), n)?;
            if let Ok(b) = Torch::cpu() {
                rows.add(&b, n)?;
            }
        }
        if let Ok(b) = Cuda::new(0) {
            rows.add(&b, n)?;
        }
        if let Ok(b) = Torch::new("cuda") {
            rows.add(&b, n)?;
        }
    }
    for ((row, n), backends) in rows.0 {
        let mut group = criterion.benchmark_group(format!("{row}, n = {n}"));
        group.throughput(Throughput::Elements(n as u64));
        for (name, call, wait) in backends {
            group.bench_function(BenchmarkId::from_parameter(&name), |bench| {
                bench.iter_custom(|calls| {
                    let run = || (0..calls).try_for_each(|_| call()).and_then(|()| wait());
                    let start = Instant::now();
                    run().unwrap_or_else(|why| panic!("{row} on {name}: {why}"));
                    start.elapsed()
                });
            });
        }
        group.finish();
    }
    criterion.final_summary();
    Ok(())
}
