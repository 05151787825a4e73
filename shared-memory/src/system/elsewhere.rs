//! Systems without such memory: nothing can be made or opened, which every function says.

use super::SYSTEM;
use backend_runtime::{Error, Result};
use std::{convert::Infallible, fs::File, io, ops::Deref};

fn unavailable<R>() -> Result<R> {
    Err(Error::unavailable(SYSTEM, "there is memory that processes share by a descriptor on Linux only"))
}

/// There is room for nothing.
pub fn room(_: &'static str, _: usize) -> Result<()> {
    unavailable()
}

/// No memory.
pub fn create(_: &'static str, _: &str) -> Result<File> {
    unavailable()
}

/// Nothing to give zeros to.
pub fn reserve(_: &File, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Nothing to seal.
pub fn seal(_: &'static str, _: &File, _: bool) -> Result<()> {
    unavailable()
}

/// A number that no file has.
pub fn number(_: &File) -> u32 {
    u32::MAX
}

/// Nothing to open.
pub fn open(_: &'static str, _: u32, _: u32, _: &str, _: bool) -> Result<File> {
    unavailable()
}

/// Nothing to read.
pub fn head(_: &'static str, _: &File, _: usize) -> Result<Vec<u8>> {
    unavailable()
}

/// There is none.
#[derive(Debug)]
pub struct Map(Infallible);

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self.0 {}
    }
}

/// Nothing to show.
pub fn map(_: &'static str, _: &File, _: usize) -> Result<Map> {
    unavailable()
}

/// There is none.
#[derive(Debug)]
pub struct MapMut(Infallible);

impl MapMut {
    /// Where nothing begins.
    pub fn as_mut_ptr(&self) -> *mut u8 {
        match self.0 {}
    }
}

/// Nothing to show.
pub fn map_mut(_: &'static str, _: &File, _: usize) -> Result<MapMut> {
    unavailable()
}
