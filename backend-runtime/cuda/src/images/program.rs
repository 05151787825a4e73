//! The CUDA program that contains the kernels for images.

use crate::{
    OpContext, RawArray,
    program::{Program, ProgramSource},
};
use backend_core::{DType, Result};

pub static PROGRAM: Program = Program {
    name: "images",
    source: ProgramSource::File(concat!(include_str!("../kernels/lanes.cuh"), include_str!("../kernels/images.cuh"))),
};

/// The dtypes that interpolation supports.
pub const FLOATS: [DType; 4] = [DType::Float32, DType::Float64, DType::Complex64, DType::Complex128];

/// Returns an error unless `x` has the dtype of the call, and all `numbers` have the corresponding real dtype.
pub(super) fn require(on: OpContext<'_>, x: &RawArray, numbers: &[&RawArray]) -> Result<()> {
    on.require(&[x])?;
    on.with_dtype(on.dtype.to_real()).require(numbers)
}
