//! Lines on stderr, among those of other ranks.

use std::io::{Write, stderr};

/// Prints a line at once: in parts it would be mixed with those of other ranks, as stderr keeps nothing back. Nobody may be there to read it.
pub(crate) fn say(line: &str) {
    let _ = stderr().write_all(format!("{line}\n").as_bytes());
}
