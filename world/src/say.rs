//! Lines on stderr, which other ranks share.

use std::io::{Write, stderr};

/// Prints a line with a single write. Because stderr is not buffered, parts of a line would otherwise mix with lines of
/// other ranks. A failed write is ignored.
pub(crate) fn say(line: &str) {
    let _ = stderr().write_all(format!("{line}\n").as_bytes());
}
