//! Parses values of command-line options.

use lexopt::Error;
use std::{ffi::OsString, path::PathBuf};

/// Converts the value of an option to a path. An empty value is an error.
pub fn path(option: &str, value: OsString) -> Result<PathBuf, Error> {
    if value.is_empty() {
        return Err(Error::Custom(format!("--{option}: the path is empty").into()));
    }
    Ok(value.into())
}
