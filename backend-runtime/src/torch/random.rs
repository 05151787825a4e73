//! Random numbers: those of the CPU backend, which the recipe of [`crate::random`] makes the same everywhere.
//!
//! On a GPU they are made on the host and moved there once.

use super::{Torch, TorchArray};
use crate::{Arrays, Float, Integer, Result, numpyish::random};

/// Uniform in [low, high).
pub fn uniform<T: Float>(b: &Torch, shape: &[usize], low: f64, high: f64) -> Result<TorchArray<T>> {
    b.from_ndarray(random::uniform(b.host(), shape, low, high)?)
}

/// Normally distributed.
pub fn normal<T: Float>(b: &Torch, shape: &[usize], mean: f64, std: f64) -> Result<TorchArray<T>> {
    b.from_ndarray(random::normal(b.host(), shape, mean, std)?)
}

/// Uniform integers in [low, high).
pub fn integers<T: Integer>(b: &Torch, shape: &[usize], low: T, high: T) -> Result<TorchArray<T>> {
    b.from_ndarray(random::integers(b.host(), shape, low, high)?)
}

/// A random order of 0 .. n - 1.
pub fn permutation<T: Integer>(b: &Torch, n: usize) -> Result<TorchArray<T>> {
    b.from_ndarray(random::permutation(b.host(), n)?)
}
