//! Parses values of command-line options.

use lexopt::Error;
use std::{ffi::OsString, path::PathBuf};

/// The path given to an option.
pub fn path(option: &str, value: OsString) -> Result<PathBuf, Error> {
    if value.is_empty() {
        return Err(Error::Custom(format!("--{option}: the path is empty").into()));
    }
    Ok(value.into())
}
