//! The program of the image kernels.

use crate::{
    DType, Result,
    cuda::{
        OpContext, RawArray,
        program::{Program, ProgramSource},
    },
};

pub static PROGRAM: Program = Program {
    name: "images",
    source: ProgramSource::File(concat!(include_str!("../kernels/lanes.cuh"), include_str!("../kernels/images.cuh"))),
};

/// The dtypes that interpolation supports.
pub const FLOATS: [DType; 4] = [DType::Float32, DType::Float64, DType::Complex64, DType::Complex128];

/// Refuses an image of another dtype than that of the call, and numbers of another dtype than that of its real part.
pub(super) fn require(on: OpContext<'_>, x: &RawArray, numbers: &[&RawArray]) -> Result<()> {
    on.require(&[x])?;
    on.with_dtype(on.dtype.to_real()).require(numbers)
}
