//! An example of a user's crate. It defines a table of ops for every backend, and generic code with these ops and the
//! base ops.

use backends::{Result, prelude::*};

pub mod calls;
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

/// Implements the op `spectral_energy`, whose row in the table names this function. The function is generic over the
/// backend.
pub fn spectral_energy<B: Backend, T: Precision>(b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
    b.square(b.abs(b.fft(x)?)?).and_then(|energy| as_real(b, &energy))
}

/// Converts an array to `T`. The array has the dtype of the magnitudes of complex numbers with parts of type `T`. This
/// dtype always equals `T`, but the compiler does not know that.
fn as_real<B: Backend, T: Precision>(b: &B, x: &B::Array<<T::Complex as Numeric>::Magnitude>) -> Result<B::Array<T>> {
    b.astype::<T, _>(x)
}

/// A layer of a neural network, made of base ops and ops of this crate. It runs on any backend that has these ops.
pub fn layer<B: Backend + MyOps, T: Precision>(b: &B, x: &B::Array<T>, w: &B::Array<T>) -> Result<B::Array<T>> {
    b.normal_gate(b.normalize(b.matmul(x, w)?, -1)?)
}
