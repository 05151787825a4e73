//! An example of a user's crate: ops of its own from a table of its own, on every backend, and generic code
//! over both.

use backends::prelude::*;

pub mod counted;
pub mod kernels;
pub mod naive;
pub mod points;

backends::backend! { table = "my_ops.toml", trait = MyOps }

// ... and on the backends of this crate
backend_my_ops! { overlay = "naive_my_ops.toml" }
backend_my_ops! { overlay = "counted.toml" }
// ... and on arrays that are split over ranks
backend_my_ops! { sharded = backends_sharded::Sharded }

/// The function that the row `spectral_energy` names: an op can also be a function over any backend.
pub fn spectral_energy<B: Backend, T: Precision>(b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
    b.square(b.abs(b.fft(x)?)?).and_then(|energy| as_real(b, &energy))
}

/// The real dtype of the complex dtype of `T` is `T`; this says it to the compiler.
fn as_real<B: Backend, T: Precision>(b: &B, x: &B::Array<<T::Complex as Numeric>::Magnitude>) -> Result<B::Array<T>> {
    b.astype::<T, _>(x)
}

/// A layer of a network over base ops and our own, on any backend with both.
pub fn layer<B: Backend + MyOps, T: Precision>(b: &B, x: &B::Array<T>, w: &B::Array<T>) -> Result<B::Array<T>> {
    b.normal_gate(b.normalize(b.matmul(x, w)?, -1)?)
}
