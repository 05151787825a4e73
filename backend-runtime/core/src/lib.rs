//! The code that all backends of the `backends` crate share: dtypes, errors, the rules of calls, scalar functions,
//! formulas, entries of rows, the trait [`Arrays`], and the loops over host memory.
//!
//! This crate knows the arrays and ops of other libraries only by traits, so it does not depend on a library. Nothing in
//! this crate depends on the op table.

pub mod alloc;
pub mod arrays;
pub mod attributes;
pub mod available;
pub mod by_name;
pub mod bytes;
pub mod caches;
pub mod choice;
pub mod device;
pub mod dlpack;
pub mod dtype;
pub mod each;
pub mod element;
pub mod encoded;
pub mod entry;
pub mod error;
pub mod foreign;
pub mod formula;
pub mod host;
pub mod index;
pub mod info;
pub mod link;
#[cfg(feature = "ndarray-016")]
pub mod ndarray_016;
pub mod number;
pub mod operand;
pub mod pairing;
pub mod params;
pub mod parts;
mod precision;
pub mod promotion;
pub mod random;
pub mod raw;
pub mod rules;
mod same_type;
pub mod scalar;
pub mod scope;
pub mod spreading;
#[cfg(feature = "serde")]
pub mod stored;
pub mod threads;
mod unoptimized;
pub mod wrap;

pub mod numpyish;

pub use arrays::{Arrays, CustomGradient, LinearMap};
pub use attributes::ArrayAttributes;
pub use available::available;
pub use by_name::{DynArray, Value};
pub use choice::{
    Boundary, ConvolutionMethod, ConvolutionMode, IndexMode, Interpolation, LossReduction, MatrixNorm, MeshIndexing,
    Norm, PadMode, QrMode, Side, same_names,
};
pub use device::{DeviceInfo, DeviceKind, MemoryInfo};
#[doc(hidden)]
pub use dtype::function_around;
pub use dtype::{DType, DTypeKind};
pub use each::{Each, EachFold, EachOf, EachSource, Elements, FloatOp, FloatToRealOp, FoldKernel, FoldSource};
#[doc(hidden)]
pub use element::dynamic;
pub use element::{
    Bits, ComplexFloat, Element, Float, FloatVisitor, Integer, Numeric, Ordered, Precision, Real, RealNumeric,
    RealVisitor, WideFloat,
};
pub use error::{At, Cause, Earlier, Error, Result, locate, located};
#[doc(no_inline)]
pub use half::{bf16, f16};
pub use host::{HostArray, IntoHost};
pub use index::{Index, IndexList, Indices, IntoIndex, IntoIndices, NewAxis};
pub use info::{DefaultInfo, ElementInfo, KernelInfo, OpInfo, ParamInfo, ParamKind, PlainInfo, ResultInfo};
#[doc(no_inline)]
pub use num_complex::{self, Complex};
pub use number::Number;
pub use operand::{
    ArrayList, Highest, IntoArray, IntoBound, IntoOperand, Lowest, Operand, OperandBeside, Scalar, kind,
};
pub use pairing::{Pair, WithScalar};
pub use params::*;
pub use precision::{PrecisionScope, enter_precision, precision, set_default_precision};
pub use promotion::{can_cast, finfo, iinfo, result_type};
#[doc(hidden)]
pub use wrap::rarely;
pub use wrap::{AnyTyped, Arg, Call, IndexArg, Wrap};
