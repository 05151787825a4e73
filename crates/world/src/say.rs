//! Prints lines on stderr, which all ranks share.

use std::io::{Write, stderr};

/// Prints a line with a single write. Stderr is not buffered, so several writes could mix with lines of other ranks. A
/// failed write is ignored.
pub(crate) fn say(line: &str) {
    let _ = stderr().write_all(format!("{line}\n").as_bytes());
}
