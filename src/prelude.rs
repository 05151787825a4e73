//! The names that most programs need: `use backends::prelude::*;`.
//!
//! The prelude has the traits of the ops and of arrays, the dtype bounds, the backends, the macros for formulas and
//! indexing, and the types of options and results. It leaves common names alone: `Result`, `Error`, `Index`, `Slice`
//! and `Value` are not in it, and neither are modules and functions, such as [`lazy`](crate::lazy()) and
//! [`call`](crate::call). It can therefore be used beside `std`, `ndarray::prelude` and `num_traits`.

// formulas and indexing
#[doc(no_inline)]
pub use crate::{expr, ix, slices};

// backends
#[cfg(feature = "cuda")]
#[doc(no_inline)]
pub use crate::Cuda;
#[cfg(feature = "torch")]
#[doc(no_inline)]
pub use crate::Torch;
#[doc(no_inline)]
pub use crate::{AnyArray, AnyBackend, Backend, Cpu, Numpyish};

// traits whose methods belong to arrays and backends
#[doc(no_inline)]
pub use crate::{ArrayAttributes, Arrays, IntoLazy, Show, Watch, WriteTo};

// the ops, a trait for each group
#[doc(no_inline)]
pub use crate::{
    Casting, Convolution, Creation, Elementwise, Fft, Images, Indexing, Linalg, Manipulation, Networks, Random,
    Reduction, Sorting, Special, Statistics,
};

// dtypes
#[doc(no_inline)]
pub use crate::{
    Bits, Complex, DType, Element, Float, Integer, Numeric, Ordered, Precision, Real, RealNumeric, WideFloat, bf16, f16,
};

// arrays whose dtype or backend is known only at run time, and arrays in host memory
#[doc(no_inline)]
pub use crate::{DynArray, HostArray};

// values and structs of options, and structs of results
#[doc(no_inline)]
pub use crate::{
    Axes, Boundary, ConvolutionMethod, ConvolutionMode, IndexMode, Interpolation, LossReduction, MatrixNorm,
    MeshIndexing, Norm, PadMode, QrMode, Side, options::*, results::*,
};
