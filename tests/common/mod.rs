//! What the tests of generic code share: the backends of this machine, the data, and how results are compared.
#![allow(dead_code, reason = "no test uses all of it")]

use backends::prelude::*;
use backends_epr::npz::Npz;
use ndarray::ArrayD;

/// Runs a generic function on every backend that this machine has.
#[macro_export]
macro_rules! on_every_backend {
    ($check:path) => {
        $check(&Numpyish::new()).unwrap_or_else(|e| panic!("numpyish: {e}"));
        if let Some(torch) = backends::runtime::available("torch", Torch::cpu()) {
            $check(&torch).unwrap_or_else(|e| panic!("torch: {e}"));
        }
        if let Some(cuda) = backends::runtime::available("cuda", Cuda::new(0)) {
            $check(&cuda).unwrap_or_else(|e| panic!("cuda: {e}"));
        }
    };
}

/// What a check returns: its own errors, or those of a file.
pub type Checked = std::result::Result<(), Box<dyn std::error::Error>>;

/// A file of `tests/data`.
pub fn data(name: &str) -> Npz {
    Npz::open(format!("{}/tests/data/{name}.npz", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The measurement of the example.
pub fn phalanx() -> Npz {
    Npz::open(format!("{}/examples/data/phalanx.npz", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// An array of the backend from `f64` data, in the dtype asked for.
pub fn array<B: Backend, T: Real>(b: &B, x: &ArrayD<f64>) -> Result<B::Array<T>> {
    b.asarray(x.mapv(T::of))
}

/// An array of the backend as `f64` data.
pub fn host<B: Backend, T: Real>(b: &B, x: &B::Array<T>) -> Result<ArrayD<f64>> {
    Ok(b.to_ndarray(x)?.mapv(|v| v.to_f64()).into_owned())
}

/// max |x - expected| <= tolerance * max |expected|
#[track_caller]
pub fn near(what: &str, x: &ArrayD<f64>, expected: &ArrayD<f64>, tolerance: f64) {
    assert_eq!(x.shape(), expected.shape(), "{what}");
    let largest = |a: &ArrayD<f64>| a.iter().fold(0.0, |m: f64, v| if v.is_nan() { f64::NAN } else { m.max(v.abs()) });
    let error = largest(&(x - expected)) / largest(expected);
    assert!(error <= tolerance, "{what}: relative error {error:.3e}, allowed {tolerance:.0e}");
}

/// |x - expected| <= tolerance * |expected|, in the Euclidean norm.
#[track_caller]
pub fn near_l2(what: &str, x: &ArrayD<f64>, expected: &ArrayD<f64>, tolerance: f64) {
    assert_eq!(x.shape(), expected.shape(), "{what}");
    let norm = |a: &ArrayD<f64>| a.iter().map(|v| v * v).sum::<f64>().sqrt();
    let error = norm(&(x - expected)) / norm(expected);
    assert!(error <= tolerance, "{what}: relative L2 error {error:.3e}, allowed {tolerance:.0e}");
}

/// |x - expected| <= tolerance * |expected|
#[track_caller]
pub fn near_scalar(what: &str, x: f64, expected: f64, tolerance: f64) {
    let error = (x - expected).abs() / expected.abs();
    assert!(error <= tolerance, "{what}: {x} is not {expected}: relative error {error:.3e}, allowed {tolerance:.0e}");
}
