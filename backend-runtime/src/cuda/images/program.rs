//! The program of the image kernels.

use crate::{
    DType,
    cuda::program::{Program, ProgramSource},
};

pub static PROGRAM: Program = Program {
    name: "images",
    source: ProgramSource::File(concat!(include_str!("../kernels/lanes.cuh"), include_str!("../kernels/images.cuh"))),
};

/// The dtypes that interpolation supports.
pub const FLOATS: [DType; 4] = [DType::Float32, DType::Float64, DType::Complex64, DType::Complex128];
