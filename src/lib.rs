//! Array operations for numerical code that is generic over a backend. The code is compiled for the CPU ([`Numpyish`],
//! on ndarray), for NVIDIA GPUs ([`Cuda`]) and for libtorch ([`Torch`]), with static dispatch; or it runs on a backend
//! chosen at run time ([`AnyBackend`]).
//!
//! ```
//! use backends::{Result, prelude::*};
//!
//! /// Gaussian window of `n` points, on any backend, in any real dtype.
//! fn window<B: Backend, T: Real>(b: &B, n: usize, sigma: f64) -> Result<B::Array<T>> {
//!     let x = b.linspace(-T::ONE, T::ONE, n)?;
//!     expr!(b, exp(-sigma * square(x))) // one pass; b.exp(b.multiply(b.square(x)?, -sigma)?) is op by op
//! }
//! # fn main() -> Result<()> {
//! let b = Numpyish::new();
//! let w = window::<_, f32>(&b, 5, 2.0)?;
//! assert_eq!((w.shape(), w.dtype(), w[[2]]), (&[5][..], DType::Float32, 1.0));
//! assert!(b.item(b.max(&w, ..)?)? == 1.0);
//! # Ok(())
//! # }
//! ```
//!
//! Formulas ([`expr!`], [`lazy()`]) run several ops in one pass. Arrays know their shape and dtype
//! ([`ArrayAttributes`]). Backends return the values of arrays ([`Arrays::item`], [`Arrays::to_vec`], [`Show::show`]).
//!
//! The ops are methods of the backends. **[`ops`] is their reference**: it has an index, and a page for each op with
//! its parameters, errors, dtypes, accuracy, implementation on each backend, and an example. Generic code has the bound
//! [`Backend`], or the traits of the op groups that it uses. Optional parameters are set by name, with the structs of
//! [`options`]. [`OPS`] lists the ops as data, and [`call`] calls an op by its name.
//!
//! The features `cuda` and `torch`, both on by default, add the backends on these libraries. A build without both
//! features has only the CPU backend.
//!
//! All ops are rows of one table, `ops.toml`. With [`backend!`], a crate can have its own table, whose ops are used,
//! documented and tested in the same way.

#[doc(hidden)]
pub use backend_runtime as runtime;

pub use runtime::{
    ArrayAttributes, ArrayList, Arrays, Axes, Bits, Boundary, Cause, ComplexFloat, ConvolutionMethod, ConvolutionMode,
    CustomGradient, DType, DTypeKind, DefaultInfo, DeviceInfo, DeviceKind, DynArray, Earlier, Element, ElementInfo,
    Error, Float, Highest, HostArray, Index, IndexMode, Indices, Integer, Interpolation, IntoArray, IntoAxis,
    IntoAxisOrAll, IntoBound, IntoHost, IntoIndex, IntoIndices, IntoOperand, IntoWidths, Lengths, LinearMap,
    LossReduction, Lowest, MatrixNorm, MemoryInfo, MeshIndexing, NewAxis, Norm, Number, Numbers, Numeric, OpInfo,
    Operand, Ordered, PadMode, ParamInfo, ParamKind, PlainInfo, Precision, PrecisionScope, QrMode, Real, RealNumeric,
    Result, ResultInfo, Side, SignedNumbers, Slice, Value, WideFloat, can_cast, dispatch, enter_precision, finfo,
    iinfo,
    numpyish::{Cpu, Numpyish},
    precision, result_type, set_default_precision,
};

#[cfg(feature = "cuda")]
pub use runtime::cuda::Cuda;
#[cfg(feature = "torch")]
pub use runtime::torch::Torch;

#[doc(inline)]
pub use runtime::alloc;

#[cfg(feature = "ndarray-016")]
#[doc(inline)]
pub use runtime::ndarray_016;

#[cfg(feature = "serde")]
#[doc(inline)]
pub use runtime::stored;

#[doc(no_inline)]
pub use runtime::{Complex, bf16, f16, num_complex};

// the call of `table!` comes before the modules, so that the modules can use the macro `expr!`
backend_macros::table! { root = crate, table = "ops.toml" }

/// Items for the macros of this crate.
#[doc(hidden)]
pub mod __private {
    pub use backend_macros::{conformance, expr, table};
}

mod any;
mod choose;
pub use any::AnyBackend;
pub use choose::libraries;
pub use runtime::entry::AnyArray;
#[cfg(feature = "conformance")]
pub mod conformance;

#[doc(hidden)]
pub mod convolution;
#[doc(hidden)]
pub mod creation;
mod current;
pub use current::{
    Captured, InScope, Placed, Scope, capture, check_arrays, choose_backend, current, default_backend, enter, scoped,
    set_default,
};
pub mod dlpack;
#[doc(hidden)]
pub mod elementwise;
#[doc(hidden)]
pub mod fft;
mod help;
#[doc(hidden)]
pub mod images;
mod indexed;
#[doc(hidden)]
pub mod indexing;
mod inspection;
pub use help::{help, search};
pub use inspection::{
    Capabilities, DefaultDTypes, broadcast_shapes, capabilities, default_dtypes, devices, devices_of,
};
pub mod lazy;
#[doc(hidden)]
pub mod linalg;
#[doc(hidden)]
pub mod manipulation;
#[doc(hidden)]
pub mod networks;
pub mod nufft;
mod out;
mod precision;
pub use precision::to_precision;
pub mod grad;
pub mod intercept;
#[doc(hidden)]
pub mod random;
mod record;
#[doc(hidden)]
pub mod reduction;
mod rolled;
mod script;
#[doc(hidden)]
pub mod segments;
mod show;
#[doc(hidden)]
pub mod sorting;
#[doc(hidden)]
pub mod special;
#[doc(hidden)]
pub mod statistics;
pub mod watch;
#[doc(hidden)]
pub mod windows;

pub use lazy::{IntoLazy, Lazy, lazy};
pub use nufft::{NufftPlan, NufftType};
pub use out::{Out, WriteTo};
pub use record::{Recorded, RecordedArray};
pub use script::{Script, Variables};
pub use show::Show;
pub use watch::{Profile, Strict, Watch, Watched};

/// A list of slices, one per axis: `slices![1..3, .., -1, ..;2]`. A single index removes its axis. A step follows a
/// semicolon.
///
/// ```
/// use backends::{Result, prelude::*};
/// # fn main() -> Result<()> {
/// let b = Numpyish::new();
/// let x = b.asarray([[1, 2, 3], [4, 5, 6]])?;
/// assert_eq!(b.getitem(&x, slices![1, 1..])?, b.asarray([5, 6])?);
/// assert_eq!(b.getitem(&x, slices![.., ..;-2])?, b.asarray([[3, 1], [6, 4]])?);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! slices {
    ($($slice:expr $(; $step:expr)?),* $(,)?) => {
        [$({
            // with a negative step, `5..2` is not empty
            #[allow(clippy::reversed_empty_ranges)]
            let slice = $crate::Slice::from($slice);
            $(let slice = slice.step($crate::IntoAxis::axis($step));)?
            slice
        }),*]
    };
}

/// A selection of elements, with one item per axis as in Python's brackets:
/// `ix![1, .., 2..-1;2, ..., NewAxis, &indices, &mask]`.
///
/// | item | meaning |
/// |---|---|
/// | a number of any integer type | one index, which removes the axis; a negative index counts from the end |
/// | a range `..`, `1..`, `..-1`, `1..-1` | a range of the axis; NumPy's `:` may be written in place of `..` |
/// | a range with a step `..;-1`, `1..9;2` | every step-th element, backwards if the step is negative |
/// | `...` | all axes for which no other item is given; implied at the end |
/// | `None`, `NewAxis` | a new axis of length 1 |
/// | an array of `i64`, `&indices` | the elements at these indices |
/// | an array of `bool`, `&mask` | the elements where the mask is true; this item is for as many axes as the mask has |
///
/// An array may be any expression, by reference or by value: `ix![&i, b.greater(&v, 0.0)?]`. [`Indexing::get`],
/// [`Indexing::set`] and [`Indexing::add_at`] take such a list.
///
/// ```
/// use backends::{Result, prelude::*};
/// # fn main() -> Result<()> {
/// let b = Numpyish::new();
/// let mut x = b.asarray([[1, 2, 3], [4, 5, 6]])?;
/// let i = b.asarray([2_i64, 0])?;
/// assert_eq!(b.get(&x, ix![.., &i])?, b.asarray([[3, 1], [6, 4]])?);
/// assert_eq!(b.get(&x, ix![-1, ..;-1])?, b.asarray([6, 5, 4])?);
/// assert_eq!(b.get(&x, ix![:, 0])?, b.asarray([1, 4])?);
/// b.set(&mut x, ix![0, 1..], 0)?;
/// assert_eq!(x, b.asarray([[1, 0, 0], [4, 5, 6]])?);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! ix {
    (@ [$($done:tt)*]) => { &[$($done)*] };
    (@ [$($done:tt)*] ... $(, $($rest:tt)*)?) => { $crate::ix!(@ [$($done)* $crate::Index::Rest,] $($($rest)*)?) };
    (@ [$($done:tt)*] NewAxis $(, $($rest:tt)*)?) => { $crate::ix!(@ [$($done)* $crate::Index::New,] $($($rest)*)?) };
    (@ [$($done:tt)*] None $(, $($rest:tt)*)?) => { $crate::ix!(@ [$($done)* $crate::Index::New,] $($($rest)*)?) };
    // NumPy's `:` and `::2`, which cannot be Rust paths: in a path, neither a number nor a sign follows `::`
    (@ [$($done:tt)*] : $(, $($rest:tt)*)?) => { $crate::ix!(@ [$($done)*] .. $(, $($rest)*)?) };
    (@ [$($done:tt)*] :: - $step:expr $(, $($rest:tt)*)?) => { $crate::ix!(@ [$($done)*] ..; -$step $(, $($rest)*)?) };
    (@ [$($done:tt)*] :: $step:literal $(, $($rest:tt)*)?) => { $crate::ix!(@ [$($done)*] ..; $step $(, $($rest)*)?) };
    (@ [$($done:tt)*] & $array:expr $(, $($rest:tt)*)?) => {
        $crate::ix!(@ [$($done)* $crate::IntoIndex::to_index(&$array),] $($($rest)*)?)
    };
    (@ [$($done:tt)*] $part:expr; $step:expr $(, $($rest:tt)*)?) => {
        $crate::ix!(@ [$($done)* {
            // with a negative step, `5..2` is not empty
            #[allow(clippy::reversed_empty_ranges)]
            let part = $crate::Slice::from($part);
            $crate::Index::Slice(part.step($crate::IntoAxis::axis($step)))
        },] $($($rest)*)?)
    };
    (@ [$($done:tt)*] $item:expr $(, $($rest:tt)*)?) => {
        $crate::ix!(@ [$($done)* $crate::IntoIndex::to_index(&$item),] $($($rest)*)?)
    };
    // without this arm, any other item, such as NumPy's `1:3`, would match the whole list again, in an endless
    // recursion
    (@ $($other:tt)*) => {
        ::core::compile_error!("write a part of an axis as a range of Rust: `1..3` for NumPy's `1:3`, `1..` for `1:`, `1..9;2` for `1:9:2`")
    };
    () => { &[$crate::Index::New; 0] };
    ($($items:tt)+) => { $crate::ix!(@ [] $($items)+) };
}

/// Computes a formula over arrays, in one pass over memory if the backend supports this:
/// `expr!(b, 0.5 * exp(-square(x)) + y)?`.
///
/// `docs/formulas.md` in the repository describes the language.
///
/// # Example
///
/// ```
/// use backends::{Result, prelude::*};
/// # fn main() -> Result<()> {
/// let b = Numpyish::new();
/// let (x, y, mu) = (b.asarray([1.0, 2.0, 4.0])?, b.asarray([0.5, 0.5, 1.0])?, 2.0);
/// let gauss = expr!(b, 0.5 * exp(-square(x - mu) / 2.0) + y)?;
/// assert_eq!(gauss[[1]], 0.5 + 0.5);
/// let mean = expr!(b, let d = x - y; sum(d * d, ..) / 3.0)?;
/// assert_eq!(mean[[]], (0.25 + 2.25 + 9.0) / 3.0);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! expr {
    ($($t:tt)*) => { $crate::__expr! { $($t)* } };
}

pub mod prelude;

/// Runs the examples of the guides as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../docs/devices.md")]
#[doc = include_str!("../docs/formulas.md")]
#[doc = include_str!("../docs/gradients.md")]
#[doc = include_str!("../docs/guide.md")]
#[doc = include_str!("../docs/indexing.md")]
struct Guides;
