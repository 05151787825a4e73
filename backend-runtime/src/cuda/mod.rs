//! NVIDIA GPUs, through cudarc: kernels generated from the rows and compiled at run time, cuBLAS and cuFFT.
//!
//! One file per group of the table, and below them, each using only those before it: `library` finds NVIDIA's libraries,
//! [`nvrtc`] is the compiler, [`program`] what it is given, `pool` and `loaded` what a device keeps, `device` a GPU and its
//! stream, `info` what the driver says of it, `outside` what it notes of bad indices, `memory` its allocations, `backend` the backend, `array` the arrays, `exchange` those of other libraries, `nccl`, `communicator` and `link` are between the GPUs of several ranks, `pinned`, `buffer` and `staging` the way through the host, [`kernel`] loads and launches, `map` has the
//! kernels around scalar expressions, `text` what formulas are in C++, `copy` those between layouts. [`check`] lists all kernels, to be compiled on a machine
//! without a GPU. Nothing of CUDA is needed to build this.
//!
//! What is looked for at run time: the driver on the system's search path; NVRTC, cuBLAS, cuFFT, cuSOLVER and NCCL in `$CUDA_HOME`, in the
//! folder `cuda` of the program's cargo project, in Python's packages, in the toolkit's usual folder; never where another user
//! may have put them. Compiled kernels are kept in `$BACKENDS_CACHE`, else in the user's cache folder, if there is one.
//! `BACKENDS_CUDA_CACHE=0` turns the reuse of freed memory off. With
//! `BACKENDS_CUDA_SYNC=1` each op waits for what it has put on the stream, so that a fault of a kernel is the error of the op that made
//! it, and not of a later one. `BACKENDS_CUDA_KERNELS=FOLDER` notes which kernels are asked for ([`asked`]).

pub mod ahead;
mod array;
mod arrays;
pub mod asked;
mod backend;
mod buffer;
mod cache;
pub mod casting;
pub mod check;
mod communicator;
mod compact;
mod copy;
pub mod creation;
mod device;
pub mod elementwise;
mod error;
mod exchange;
pub mod fft;
mod formula;
pub mod images;
pub mod indexing;
pub(crate) mod info;
pub mod kernel;
mod library;
pub mod linalg;
mod link;
mod loaded;
pub mod manipulation;
mod map;
mod memory;
mod nccl;
pub mod nvrtc;
mod outside;
mod pinned;
mod pool;
pub mod program;
pub mod random;
pub mod reduction;
mod scratch;
pub mod sorting;
pub mod special;
mod staging;
pub mod statistics;
mod text;
mod walk;

pub use array::CudaArray;
pub use backend::Cuda;

/// What a function of this backend gets for an `operand` parameter.
pub type Operand<'a, T> = crate::Operand<'a, Cuda, T>;

#[cfg(test)]
mod compare;
pub mod convolution;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
