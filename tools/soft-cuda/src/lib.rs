//! A software CUDA device for tests: `libcuda.so.1`, `libcublas.so.13`, `libcufft.so.12`, `libcusolver.so.12` and
//! `libnccl.so.2` in one library.
//!
//! Layers: `driver` (the exported functions, streams and events) -> `exec` (runs a launch, thread by thread) ->
//! `memory` (device memory, every access checked). `ptx` reads the modules that NVRTC compiled. `cublas`, `cufft`,
//! `cusolver` and `nccl` enqueue their work on the driver's streams, and `nccl` also opens sockets between processes.
//! `dense` has the factorizations of cuBLAS and cuSOLVER. README.md lists the mistakes that the device detects, and the
//! mistakes that it cannot detect.

pub mod cublas;
pub mod cufft;
pub mod cusolver;
mod dense;
pub mod driver;
pub mod exec;
pub mod fault;
pub mod memory;
#[cfg(target_os = "linux")]
pub mod nccl;
pub mod ptx;
mod stored;
