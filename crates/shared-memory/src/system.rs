//! The operating system's calls for memory without a name. Other processes open this memory by the number of its file
//! descriptor in the process that shares it.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::*;
#[cfg(target_os = "linux")]
pub use linux::*;

use backend_runtime::Error;
use std::io::{self, ErrorKind};

/// The name of shared memory in error messages.
pub const SYSTEM: &str = "shared memory";

/// The error of a failed system call. `bytes` is the number of bytes that the call may have requested.
pub fn failed(op: &'static str, bytes: usize, why: io::Error) -> Error {
    match why.kind() {
        ErrorKind::StorageFull | ErrorKind::OutOfMemory | ErrorKind::FileTooLarge => Error::memory(op, bytes),
        _ => Error::library(op, SYSTEM, why.to_string()).caused_by(why),
    }
}
