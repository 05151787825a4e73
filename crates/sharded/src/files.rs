//! Reads and writes arrays in `.npy` files. Each rank reads and writes only its part, so a file may be larger than the
//! memory of a rank.

use crate::{Layout, Sharded, ShardedArray, array::LocalPart};
use backends::{Backend, Element, Error, Result};
use backends_npz::{MappedMut, NpyReader};
use std::path::Path;

/// Converts a file error to an error of an op.
fn of_file(op: &'static str) -> impl Fn(std::io::Error) -> Error {
    move |why| Error::library(op, "sharded", why.to_string()).caused_by(why)
}

impl<B: Backend> Sharded<B> {
    /// Reads an array from an `.npy` file, of which each rank reads its part. Collective: all ranks need access to the
    /// file.
    ///
    /// # Errors
    /// Errors of `backends_npz::NpyReader`. If one rank fails, all ranks return an error.
    pub fn read_npy<T: Element>(&self, path: impl AsRef<Path>) -> Result<ShardedArray<B, T>> {
        const OP: &str = "read_npy";
        let read = || {
            let mut file = NpyReader::open(&path).map_err(of_file(OP))?;
            let shape = file.shape().to_vec();
            let layout = match self.usual_axis(&shape) {
                Some(axis) => Layout::along(shape, axis),
                None => Layout::whole(shape),
            };
            let range = |(k, &n): (usize, &usize)| if layout.axis() == Some(k) { self.range(n) } else { 0..n };
            let ranges: Vec<_> = layout.shape.iter().enumerate().map(range).collect();
            let part: LocalPart<B, T> = file.array(self.within(), ranges).map_err(of_file(OP))?;
            Ok(self.array(layout, part))
        };
        self.together(OP, read())
    }

    /// Writes an array to an `.npy` file, to which each rank writes its part. An existing file is replaced. Collective:
    /// all ranks need access to the folder of the file.
    ///
    /// # Errors
    /// Errors of `backends_npz::MappedMut`. If one rank fails, all ranks return an error.
    pub fn write_npy<T: Element>(&self, x: &ShardedArray<B, T>, path: impl AsRef<Path>) -> Result<()> {
        const OP: &str = "write_npy";
        let path = path.as_ref();
        let make = || match self.rank() {
            0 => MappedMut::create::<T>(path, &x.layout.shape).map(Some).map_err(of_file(OP)),
            _ => Ok(None),
        };
        let made = self.together(OP, make())?;
        let write = || {
            // if the array is not split, only rank 0 writes it
            if x.split().is_none() && self.rank() > 0 {
                return Ok(());
            }
            let mut file = made.map_or_else(|| MappedMut::open(path), Ok).map_err(of_file(OP))?;
            let mut start = vec![0; x.layout.shape.len()];
            if let Some(axis) = x.split() {
                start[axis] = x.layout.ranges(self.ranks())[self.rank()].start;
            }
            file.write_array(&self.within, &start, &x.part).map_err(of_file(OP))?;
            file.flush().map_err(of_file(OP))
        };
        self.together(OP, write())
    }

    /// Returns an error on all ranks if any rank has failed. Otherwise, returns the value of `done`.
    fn together<R>(&self, op: &'static str, done: Result<R>) -> Result<R> {
        let all = self.all_gather_numbers(op, &[done.is_err() as u64])?;
        let done = done.map_err(|why| why.within(op))?;
        match all.iter().position(|&failed| failed != 0) {
            Some(rank) => Err(Error::library(op, "sharded", format!("rank {rank} has failed"))),
            None => Ok(done),
        }
    }
}
