//! Numerical code written once, generic over a backend, run by static dispatch on the CPU ([`Numpyish`], on ndarray), on
//! NVIDIA GPUs ([`Cuda`]) and on libtorch ([`Torch`]); or on the one chosen at run time ([`AnyBackend`]).
//!
//! ```
//! use backends::prelude::*;
//!
//! /// Gaussian window of `n` points, on any backend, in any real dtype.
//! fn window<B: Backend, T: Real>(b: &B, n: usize, sigma: T) -> Result<B::Array<T>> {
//!     let x = b.linspace(-T::ONE, T::ONE, n)?;
//!     b.exp(&b.multiply(b.square(&x)?, -sigma)?)
//! }
//! # fn main() -> Result<()> {
//! let w = window(&Numpyish::new(), 5, 2.0_f32)?;
//! assert_eq!(w[[2]], 1.0);
//! # Ok(())
//! # }
//! ```
//!
//! The ops are methods of the backends. **[`ops`] is their reference**: an index, and a page for each with its parameters,
//! errors, dtypes, accuracy, what runs on each backend, and an example. Generic code asks for [`Backend`], or for the traits
//! of the groups that it uses. Parameters with defaults are set by name, with the structs of [`options`]. [`OPS`] lists the
//! ops as data, and [`call`] calls them by name.
//!
//! All are rows of one table, `ops.toml`; with [`backend!`] a crate has a table of its own, whose ops are used, documented and
//! tested like these.

#[doc(hidden)]
pub use backend_runtime as runtime;

pub use runtime::{
    ArrayAttributes, ArrayList, Arrays, Axes, Bits, Cause, ComplexFloat, DType, DTypeKind, DefaultInfo, DynArray,
    Element, ElementInfo, Error, Float, HostArray, Integer, Interpolation, IntoArray, IntoAxis, IntoHost, IntoOperand,
    Lengths, MeshIndexing, Norm, Numbers, Numeric, OpInfo, Operand, Ordered, PadMode, ParamInfo, ParamKind, PlainInfo,
    Precision, Real, RealNumeric, Result, ResultInfo, Side, Slice, Value, can_cast, cuda::Cuda, dispatch, finfo, iinfo,
    numpyish::Numpyish, result_type, torch::Torch,
};

#[doc(no_inline)]
pub use runtime::{Complex, bf16, f16, num_complex};

/// For the macros of this crate.
#[doc(hidden)]
pub mod __private {
    pub use backend_macros::{conformance, expr, table};
}

#[cfg(feature = "conformance")]
pub mod conformance;

#[doc(hidden)]
pub mod linalg;
#[doc(hidden)]
pub mod manipulation;
pub mod nufft;
#[doc(hidden)]
pub mod reduction;
mod show;

pub use nufft::{NufftPlan, NufftType};
pub use show::Show;

backend_macros::table! { root = crate, table = "ops.toml" }

/// The slices of an array, one per axis: `slices![1..3, .., -1]`; a lone index drops its axis.
///
/// ```
/// use backends::{prelude::*, slices};
/// # fn main() -> Result<()> {
/// let b = Numpyish::new();
/// let x = b.asarray([[1, 2, 3], [4, 5, 6]])?;
/// assert_eq!(b.getitem(&x, slices![1, 1..])?, b.asarray([5, 6])?);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! slices {
    ($($slice:expr),* $(,)?) => { [$($crate::Slice::from($slice)),*] };
}

/// Everything that generic code needs in scope: the traits of ops, the bounds of dtypes, the backends, the options.
pub mod prelude {
    pub use crate::*;
}

/// The examples of the guides are tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/formulas.md")]
struct Guides;
