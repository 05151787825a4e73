//! PTX, the text that NVRTC makes of a kernel: read and decoded into steps that [`crate::exec`] runs.

mod error;
mod module;

pub use error::Error;
pub use module::{KernelInfo, Module, Param};
