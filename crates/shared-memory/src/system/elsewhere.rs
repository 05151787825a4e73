//! The calls on systems that do not provide shared memory without a name. Every function returns an error.

use super::SYSTEM;
use backend_runtime::{Error, Result};
use std::{convert::Infallible, fs::File, io, ops::Deref};

fn unavailable<R>() -> Result<R> {
    Err(Error::unavailable(SYSTEM, "processes can share memory by a descriptor only on Linux"))
}

/// Always returns an error.
pub fn room(_: &'static str, _: usize) -> Result<()> {
    unavailable()
}

/// Always returns an error.
pub fn create(_: &'static str, _: &str) -> Result<File> {
    unavailable()
}

/// Always returns an error.
pub fn reserve(_: &File, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Always returns an error.
pub fn seal(_: &'static str, _: &File, _: bool) -> Result<()> {
    unavailable()
}

/// Returns a number that no file descriptor has.
pub fn number(_: &File) -> u32 {
    u32::MAX
}

/// Always returns an error.
pub fn open(_: &'static str, _: u32, _: u32, _: &str, _: bool) -> Result<File> {
    unavailable()
}

/// Always returns an error.
pub fn head(_: &'static str, _: &File, _: usize) -> Result<Vec<u8>> {
    unavailable()
}

/// A type without values.
#[derive(Debug)]
pub struct Map(Infallible);

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self.0 {}
    }
}

/// Always returns an error.
pub fn map(_: &'static str, _: &File, _: usize) -> Result<Map> {
    unavailable()
}

/// A type without values.
#[derive(Debug)]
pub struct MapMut(Infallible);

impl MapMut {
    /// Never called, because the type has no values.
    pub fn as_mut_ptr(&self) -> *mut u8 {
        match self.0 {}
    }
}

/// Always returns an error.
pub fn map_mut(_: &'static str, _: &File, _: usize) -> Result<MapMut> {
    unavailable()
}
