//! Tests a backend that wraps other backends: compares every op of the base table with NumPy, and checks the counts.

use backends::{Error, Result, prelude::*, runtime::available};
use demo_ops::{counted::Counted, naive::Naive, *};

backends::conformance! { backend = Counted::new(Numpyish::new()), type = Counted<Numpyish>, dtypes = ["float64", "int64"] }

fn window<B: Backend>(b: &B) -> Result<B::Array<f64>> {
    let x = b.linspace(-1.0, 1.0, 5)?;
    b.exp(&b.multiply(b.square(&x)?, -2.0)?)
}

/// Checks the counted calls of ops that the base table defines.
fn counts_rows<B: Backend>(b: &Counted<B>) {
    let result = window(b).unwrap();
    assert_eq!(b.shape(&result), [5]);
    let unique = b.unique_counts(&b.asarray([3, 1, 3]).unwrap()).unwrap();
    assert_eq!(b.to_ndarray(&unique.counts).unwrap().iter().copied().collect::<Vec<_>>(), [1, 2]);
    let calls = b.clone().calls();
    for op in ["linspace", "exp", "multiply", "square", "unique_counts", "asarray"] {
        assert_eq!(calls.get(op), Some(&1), "{op}: {calls:?}");
    }
    // a composed op runs on the wrapping backend, so its inner ops are counted
    b.outer(&result, &result).unwrap();
    assert!(!b.calls().contains_key("outer") && b.calls()["multiply"] == 2, "{:?}", b.calls());
}

/// Checks that ops of `my_ops.toml` run on the inner backend, and that their calls are counted.
fn counts_our_rows<B: Backend + MyOps>(b: &Counted<B>) {
    let x = b.asarray([1.0_f32, -4.0]).unwrap();
    let y = b.between_with(&x, &x, BetweenOptions::new().t(0.25)).unwrap();
    assert_eq!(b.to_vec(&b.leaky(&y).unwrap()).unwrap(), [1.0, -0.04]);
    // the table defines `power_mean` as a reduction, by scalar expressions
    let mean: f32 = b.item(b.power_mean(&x, ..).unwrap()).unwrap();
    assert!((mean - 8.5_f32.sqrt()).abs() < 1e-6, "{mean}");
    let ExtremaResult { low, .. } = b.extrema(&x).unwrap();
    assert_eq!(b.item(&low).unwrap(), -4.0);
    let calls = b.calls();
    for op in ["between", "leaky", "power_mean"] {
        assert_eq!(calls.get(op), Some(&1), "{op}: {calls:?}");
    }
    // ops defined by `compose`, or by a function over any backend, run on the wrapping backend
    assert!(!calls.contains_key("extrema") && calls["min"] == 1, "{calls:?}");
}

/// Checks that methods that are not ops are forwarded to the inner backend.
fn is_the_device_within<B: Backend>(within: &B) {
    let b = Counted::new(within.clone());
    assert_eq!(b.device_info().unwrap(), within.device_info().unwrap());
    assert_eq!(b.memory().map(|memory| memory.total), within.memory().map(|memory| memory.total));
    b.free_cache().unwrap();
    assert!(b.calls().is_empty());
}

fn counts<B: Backend + MyOps>(within: B) {
    is_the_device_within(&within);
    counts_rows(&Counted::new(within.clone()));
    counts_our_rows(&Counted::new(within));
}

#[test]
fn calls_are_counted_over_any_backend() {
    counts(Numpyish::new());
    counts(AnyBackend::from(Numpyish::new()));
    counts(Counted::new(Numpyish::new()));
    if let Some(b) = available("torch", Torch::cpu()) {
        counts(b);
    }
    if let Some(b) = available("cuda", Cuda::new(0)) {
        counts(b);
    }
}

#[test]
fn the_random_stream_is_that_of_the_backend_within() {
    let b = Numpyish::seeded(1);
    let counted = Counted::new(b.clone());
    counted.seed_at(3, 4).unwrap();
    let numbers = counted.random_uniform::<f64>([4]).unwrap();
    b.seed_at(3, 4).unwrap();
    assert_eq!(numbers, b.random_uniform::<f64>([4]).unwrap());
}

#[test]
fn errors_are_those_of_the_backend_within() {
    let b = Counted::new(Naive);
    let x = b.asarray([1.0, 2.0]).unwrap();
    assert!(matches!(b.fft(&x), Err(Error::Unsupported { op: "fft", backend: "naive", .. })));
    assert_eq!(b.calls()["fft"], 1);
    // the error of a composed op names the inner op that the backend lacks
    assert!(matches!(b.spectral_energy(&x), Err(Error::Unsupported { op: "fft", backend: "naive", .. })));
    assert_eq!(b.calls()["fft"], 2);
}

/// Compares the ops of `my_ops.toml` with NumPy.
mod of_ours {
    use super::*;

    backends::conformance! {
        table = "my_ops.toml", trait = MyOps, golden = "tests/golden/my_ops.golden",
        backend = Counted::new(Numpyish::new()), type = Counted<Numpyish>, dtypes = ["float32", "int64"]
    }
}
