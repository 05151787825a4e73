//! An example of a user's crate: it defines ops in a table, which run on every backend, and generic code that uses
//! these and the base ops.

use backends::prelude::*;

pub mod counted;
pub mod kernels;
pub mod naive;
pub mod points;

backends::backend! { table = "my_ops.toml", trait = MyOps }

// the ops also run on the backends of this crate
backend_my_ops! { overlay = "naive_my_ops.toml" }
backend_my_ops! { overlay = "counted.toml" }
// the ops also run on arrays that are split over ranks
backend_my_ops! { sharded = backends_sharded::Sharded }

/// The function that the row `spectral_energy` names: an op may be a function over any backend.
pub fn spectral_energy<B: Backend, T: Precision>(b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
    b.square(b.abs(b.fft(x)?)?).and_then(|energy| as_real(b, &energy))
}

/// Converts to `T`. The real dtype of the complex dtype of `T` is `T`, but the compiler does not know that.
fn as_real<B: Backend, T: Precision>(b: &B, x: &B::Array<<T::Complex as Numeric>::Magnitude>) -> Result<B::Array<T>> {
    b.astype::<T, _>(x)
}

/// A layer of a network, from base ops and ops of this crate, on any backend that has both.
pub fn layer<B: Backend + MyOps, T: Precision>(b: &B, x: &B::Array<T>, w: &B::Array<T>) -> Result<B::Array<T>> {
    b.normal_gate(b.normalize(b.matmul(x, w)?, -1)?)
}
