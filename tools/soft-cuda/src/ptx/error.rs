//! Errors in the text of a module.

use std::fmt;

/// The error for a text that is not PTX, or that needs a missing feature of the software device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line number, from 1.
    pub line: usize,
    /// The text of the line.
    pub statement: String,
    /// The reason for the error.
    pub what: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PTX line {}: {}: {}", self.line, self.statement, self.what)
    }
}

impl std::error::Error for Error {}
