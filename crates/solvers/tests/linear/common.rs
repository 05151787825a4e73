//! Shared helpers of the linear solver tests.

use backends::{Result, prelude::*};
use backends_npz::Npz;
use ndarray::{ArrayD, IxDyn};

/// Calls a generic function with each CPU backend. Libtorch is used through `AnyBackend`, as CUDA is below, so that the
/// function is compiled twice and not three times.
#[macro_export]
macro_rules! on_every_backend {
    ($check:path) => {
        $check(&Numpyish::new()).unwrap_or_else(|e| panic!("numpyish: {e}"));
        if let Some(torch) = backends::runtime::available("torch", Torch::cpu()) {
            $check(&AnyBackend::from(torch)).unwrap_or_else(|e| panic!("torch: {e}"));
        }
    };
}

/// Like `on_every_backend`, but also calls the function with the CUDA backend. Without a GPU, CUDA runs on the slow
/// software device, so this macro is only used for small cases.
#[macro_export]
macro_rules! on_every_backend_and_cuda {
    ($check:path) => {
        $crate::on_every_backend!($check);
        if let Some(cuda) = backends::runtime::available("cuda", Cuda::new(0)) {
            $check(&AnyBackend::from(cuda)).unwrap_or_else(|e| panic!("cuda: {e}"));
        }
    };
}

pub type Checked = std::result::Result<(), Box<dyn std::error::Error>>;

/// Opens a file of the workspace's `tests/data`.
pub fn data(name: &str) -> Npz {
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").into());
    Npz::open(format!("{root}/../../tests/data/{name}.npz")).unwrap()
}

/// Pseudorandom numbers from -1 to 1.
pub fn numbers(shape: &[usize], seed: u64) -> ArrayD<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let n = shape.iter().product();
    ArrayD::from_shape_vec(IxDyn(shape), std::iter::repeat_with(next).take(n).collect()).unwrap()
}

pub fn host<B: Backend>(b: &B, x: &B::Array<f64>) -> ArrayD<f64> {
    b.to_ndarray(x).unwrap().to_owned()
}

/// The largest absolute difference of two arrays, divided by the largest magnitude in `expected`.
pub fn error<B: Backend, T: WideFloat>(b: &B, x: &B::Array<T>, expected: &B::Array<T>) -> f64 {
    assert_eq!(x.shape(), expected.shape());
    let largest = |x: &B::Array<T>| {
        b.to_vec(x)
            .unwrap()
            .into_iter()
            .map(|x| x.abs().to_f64())
            .fold(0.0, |m: f64, x| if x.is_nan() { x } else { m.max(x) })
    };
    largest(&b.subtract(x, expected).unwrap()) / largest(expected)
}

#[track_caller]
pub fn near<B: Backend, T: WideFloat>(b: &B, what: &str, x: &B::Array<T>, expected: &B::Array<T>, tolerance: f64) {
    let error = error(b, x, expected);
    assert!(error <= tolerance, "{what}: relative error {error:.3e}, allowed {tolerance:.0e}");
}

/// A dense, real or complex matrix with a dominant diagonal.
pub fn matrix<B: Backend, T: WideFloat>(b: &B, n: usize, seed: u64) -> Result<B::Array<T>> {
    let [re, im] = [numbers(&[n, n], seed), numbers(&[n, n], seed + 7)];
    let elements = re.iter().zip(&im).enumerate().map(|(k, (&re, &im))| {
        let diagonal = if k % (n + 1) == 0 { 0.8 * n as f64 } else { 0.0 };
        T::from_complex(Complex::new(re + diagonal, im))
    });
    b.reshape(b.from_iter(elements.collect::<Vec<_>>())?, [n, n])
}

/// The matrix `A A^H`, which is Hermitian and positive definite, where `A` is the matrix of [`matrix`].
pub fn definite<B: Backend, T: WideFloat>(b: &B, n: usize, seed: u64) -> Result<B::Array<T>> {
    let a = matrix::<B, T>(b, n, seed)?;
    b.matmul(&a, b.matrix_transpose(b.conj(&a)?)?)
}

pub fn vector<B: Backend, T: WideFloat>(b: &B, shape: &[usize], seed: u64) -> Result<B::Array<T>> {
    let [re, im] = [numbers(shape, seed), numbers(shape, seed + 3)];
    let elements: Vec<T> = re.iter().zip(&im).map(|(&re, &im)| T::from_complex(Complex::new(re, im))).collect();
    b.reshape(b.from_iter(elements)?, shape)
}
