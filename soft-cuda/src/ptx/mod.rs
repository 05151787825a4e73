//! PTX, the text that NVRTC compiles a kernel to: read and decoded into steps that [`crate::exec`] runs.
//!
//! `token` splits the text, `parse` reads a module, `body` the contents of a function, `decode` each instruction.

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
