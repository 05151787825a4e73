//! Comparisons of results by their relative error.
#![allow(dead_code, reason = "no test uses all of it")]

use ndarray::ArrayD;

/// Asserts max |x - expected| <= tolerance * max |expected|.
#[track_caller]
pub fn near(what: &str, x: &ArrayD<f64>, expected: &ArrayD<f64>, tolerance: f64) {
    assert_eq!(x.shape(), expected.shape(), "{what}");
    let largest = |a: &ArrayD<f64>| a.iter().fold(0.0, |m: f64, v| if v.is_nan() { f64::NAN } else { m.max(v.abs()) });
    let error = largest(&(x - expected)) / largest(expected);
    assert!(error <= tolerance, "{what}: relative error {error:.3e}, allowed {tolerance:.0e}");
}

/// Asserts |x - expected| <= tolerance * |expected| in the Euclidean norm.
#[track_caller]
pub fn near_l2(what: &str, x: &ArrayD<f64>, expected: &ArrayD<f64>, tolerance: f64) {
    assert_eq!(x.shape(), expected.shape(), "{what}");
    let norm = |a: &ArrayD<f64>| a.iter().map(|v| v * v).sum::<f64>().sqrt();
    let error = norm(&(x - expected)) / norm(expected);
    assert!(error <= tolerance, "{what}: relative L2 error {error:.3e}, allowed {tolerance:.0e}");
}

/// Asserts |x - expected| <= tolerance * |expected|.
#[track_caller]
pub fn near_scalar(what: &str, x: f64, expected: f64, tolerance: f64) {
    let error = (x - expected).abs() / expected.abs();
    assert!(error <= tolerance, "{what}: {x} is not {expected}: relative error {error:.3e}, allowed {tolerance:.0e}");
}
