//! Why a text is no module of this device.

use std::fmt;

/// A text that is not PTX, or asks for what this device does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line, from 1.
    pub line: usize,
    /// The statement at fault.
    pub statement: String,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PTX line {}: {}: {}", self.line, self.statement, self.what)
    }
}

impl std::error::Error for Error {}
