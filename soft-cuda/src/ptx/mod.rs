//! PTX, the text that NVRTC makes of a kernel: read and decoded into steps that [`crate::exec`] runs.
//!
//! `token` cuts the text, `parse` reads a module, `body` what is within a function, `decode` each instruction.

mod arithmetic;
mod body;
mod cursor;
mod decode;
mod error;
mod memory;
pub(crate) mod module;
mod parse;
pub(crate) mod step;
mod together;
mod token;

pub use error::Error;
pub use module::{KernelInfo, Module, Param};
