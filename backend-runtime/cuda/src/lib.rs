//! The backend for NVIDIA GPUs, through cudarc. It generates kernels from the rows of the op table, compiles them at
//! run time, and calls cuBLAS, cuFFT, cuSOLVER and NCCL.
//!
//! Each group of the op table has its own file. The other files are listed here; each uses only the files listed before
//! it. `library` finds NVIDIA's libraries, [`nvrtc`] calls the compiler, and [`program`] has the sources of the
//! kernels. `pool` keeps freed memory of a device, and `loaded` keeps its loaded kernels. `device` has a GPU and its
//! stream, `info` has the driver's description of the GPU, `outside` has the notes of out-of-range indices, and
//! `memory` has the allocations. `backend` has the type [`Cuda`], `array` has the arrays, `context` has the context of
//! a call, and `exchange` shares arrays with other libraries. `nccl`, `communicator` and `link` connect the GPUs of
//! several ranks; `pinned`, `buffer` and `staging` transfer through the host. [`kernel`] loads and launches kernels,
//! `map` evaluates scalar expressions, `text` translates formulas to C++, and `copy` copies between layouts. [`check`]
//! lists all kernels, so that they can be compiled on a machine without a GPU. No part of CUDA is needed to build this
//! backend.
//!
//! Libraries are located at run time: the driver on the system's search path; NVRTC, cuBLAS, cuFFT, cuSOLVER and NCCL
//! in `$CUDA_HOME`, in the folder `cuda` of the program's cargo project, in Python's packages, or in the toolkit's
//! usual folder. Files that another user may have put there are refused. Compiled kernels are kept in the folder
//! `$BACKENDS_CACHE` if it is set, else in the user's cache folder, if there is one. `BACKENDS_CUDA_CACHE=0` turns off
//! the reuse of freed memory. With `BACKENDS_CUDA_SYNC=1` each op waits for its work on the stream, so a fault is
//! reported by the op that launched the kernel, and not by a later op. With `BACKENDS_CUDA_KERNELS=FOLDER`, the
//! requested kernels are recorded in this folder ([`asked`]).

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
mod context;
mod copy;
pub mod creation;
mod device;
pub mod elementwise;
pub mod entry;
mod error;
mod exchange;
pub mod fft;
mod formula;
pub mod images;
pub mod indexing;
pub mod info;
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

pub use array::{CudaArray, RawArray};
pub use backend::Cuda;
pub use context::OpContext;

/// An operand of an op of this backend, with its dtype `T` in the type.
pub type Operand<'a, T> = backend_core::Operand<'a, Cuda, T>;

#[cfg(test)]
mod compare;
pub mod convolution;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
