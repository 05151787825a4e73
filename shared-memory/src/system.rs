//! What the operating system does: memory without a name, which other processes open by the number that its file has in this one.

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

/// Whose errors these are.
pub const SYSTEM: &str = "shared memory";

/// The error of a call of the system, which may have been for so many bytes.
pub fn failed(op: &'static str, bytes: usize, why: io::Error) -> Error {
    match why.kind() {
        ErrorKind::StorageFull | ErrorKind::OutOfMemory | ErrorKind::FileTooLarge => Error::Memory { op, bytes },
        _ => Error::library(op, SYSTEM, why.to_string()).caused_by(why),
    }
}
