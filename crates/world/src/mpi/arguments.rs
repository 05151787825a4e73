//! Converts Rust values to arguments of MPI functions: buffers to addresses, and the lengths of parts to counts and
//! offsets.

use super::functions::{Aint, Count, Ptr};
use crate::{DType, Error, Result};
use std::ffi::c_int;

/// The address of a buffer. An empty buffer gets a special address, because the address of an empty vector of bytes is
/// 1, which means `MPI_IN_PLACE` in two of the binary interfaces.
pub(super) fn start(buf: &[u8]) -> Ptr {
    static SOMEWHERE: u64 = 0;
    if buf.is_empty() { (&raw const SOMEWHERE).cast_mut().cast() } else { buf.as_ptr().cast_mut().cast() }
}

/// The number of elements in a buffer.
pub(super) fn count(buf: &[u8], dtype: DType) -> Count {
    (buf.len() / dtype.size()) as Count
}

/// Converts the numbers of elements of the parts to the 64-bit types of MPI functions whose names end in `_c`. Also
/// returns the offset of each part, in elements.
pub(super) fn longs(counts: &[usize]) -> (Vec<Count>, Vec<Aint>) {
    (counts.iter().map(|count| *count as Count).collect(), starts(counts).map(|at| at as Aint).collect())
}

/// Converts the numbers of elements of the parts to C ints. Also returns the offset of each part, in elements. Returns
/// an error if the sum of the counts exceeds `most`.
pub(super) fn ints(call: &'static str, counts: &[usize], most: usize) -> Result<(Vec<c_int>, Vec<c_int>)> {
    let sum = counts.iter().sum::<usize>();
    if sum > most {
        return Err(Error::Count { call, count: sum });
    }
    Ok((counts.iter().map(|count| *count as c_int).collect(), starts(counts).map(|at| at as c_int).collect()))
}

fn starts(counts: &[usize]) -> impl Iterator<Item = usize> {
    counts.iter().scan(0, |sum, count| {
        let at = *sum;
        *sum += count;
        Some(at)
    })
}
