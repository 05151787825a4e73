//! Reads PTX, the text to which NVRTC compiles a kernel, and decodes it into steps that [`crate::exec`] runs.
//!
//! `token` splits the text, `parse` reads a module, `body` reads the body of a function, and `decode` reads each
//! instruction. The state that these modules share is in `parser`.

mod arithmetic;
mod body;
mod cursor;
mod decode;
mod error;
mod memory;
pub(crate) mod module;
mod parse;
mod parser;
pub(crate) mod step;
mod together;
mod token;

pub use error::Error;
pub use module::{KernelInfo, Module, Param};
