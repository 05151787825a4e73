//! Filters that take the largest or the smallest element of a window around each element.

use super::{
    Blocks, LANES,
    stencil::{in_blocks, sources},
};
use backend_core::{
    Boundary, Element, RealNumeric, Result, dispatch,
    numpyish::{
        OpContext, copy,
        raw::{RawArray, View},
        simd::versions,
    },
    rules,
};
use std::sync::OnceLock;

/// The largest element of the window around each element.
pub fn maximum_filter(on: OpContext<'_>, x: View<'_>, size: &[usize], mode: Boundary, cval: f64) -> Result<RawArray> {
    extreme_of(on.op, x, size, mode, cval, true)
}

/// The smallest element of the window around each element.
pub fn minimum_filter(on: OpContext<'_>, x: View<'_>, size: &[usize], mode: Boundary, cval: f64) -> Result<RawArray> {
    extreme_of(on.op, x, size, mode, cval, false)
}

/// The largest (or the smallest, if `largest` is false) element of the window around each element, for an array whose
/// dtype is known only at run time.
pub fn extreme_of(
    op: &'static str,
    x: View<'_>,
    size: &[usize],
    mode: Boundary,
    cval: f64,
    largest: bool,
) -> Result<RawArray> {
    let sizes = rules::window_sizes(op, x.shape, size)?;
    for (&len, &size) in x.shape.iter().zip(&sizes) {
        rules::covering_window(op, len, size)?;
    }
    let out = copy::to_buffer(op, x)?;
    if out.len() > 0 {
        for (axis, &size) in sizes.iter().enumerate().filter(|(_, size)| **size > 1) {
            let (blocks, window) = (Blocks::new(x.shape, axis), rules::covering_window(op, x.shape[axis], size)?);
            let sources = sources(op, blocks.len, window, mode)?;
            dispatch!(x.dtype, T: [
                Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, BFloat16, Float32, Float64
            ] => {
                let along = if largest { along::<T, true> } else { along::<T, false> };
                along(op, out.start().cast::<T>(), blocks, window.border + 1, &sources, T::from_f64(cval))
            })?;
        }
    }
    // SAFETY: a copy writes every element.
    unsafe { RawArray::new(op, x.shape.to_vec(), out) }
}

/// Filters the lanes (1-D slices) along an axis in place, with a window of `size` elements.
fn along<T: RealNumeric, const LARGEST: bool>(
    op: &'static str,
    x: *mut T,
    blocks: Blocks,
    size: usize,
    sources: &[usize],
    cval: T,
) -> Result<()> {
    let failed = OnceLock::new();
    let run = |range: std::ops::Range<usize>| {
        let rooms = (blocks.room::<T>(op, size - 1), blocks.room::<T>(op, size - 1));
        match rooms {
            // SAFETY: the caller's array has the lanes, and each task has its own blocks of lanes.
            (Ok(mut rows), Ok(mut tails)) => range.for_each(|block| unsafe {
                extremes::<T, LARGEST>(x, blocks, block, size, &mut rows, &mut tails, sources, cval);
            }),
            (Err(e), _) | (_, Err(e)) => _ = failed.set(e),
        }
    };
    in_blocks(blocks, &run);
    failed.into_inner().map_or(Ok(()), Err)
}

versions! {
    /// Filters the lanes of one block with three comparisons per element, by van Herk's algorithm. Each lane is divided
    /// into segments of the window's length. A window covers the last elements of one segment and the first elements of
    /// the next segment. `tails` has the extreme of the last elements, and `rows` has the extreme of the first
    /// elements. The result is the larger or the smaller of the two extremes.
    ///
    /// # Safety
    /// `x` must have the lanes, and nobody else may use them. `rows`, `tails` and `sources` must be as long as an
    /// extended lane.
    unsafe fn extremes[T: RealNumeric, const LARGEST: bool][T, LARGEST](
        x: *mut T, blocks: Blocks, block: usize, size: usize, rows: &mut [[T; LANES]], tails: &mut [[T; LANES]], sources: &[usize], cval: T,
    ) {
        let (starts, many) = blocks.starts(block);
        for (row, &source) in rows.iter_mut().zip(sources) {
            for k in 0..LANES {
                // SAFETY: `source` is the index of an element of the lane.
                row[k] = if source == usize::MAX { cval } else { unsafe { *x.add(starts[k] + source * blocks.inner) } };
            }
        }
        let better = |a: T, b: T| if LARGEST { a.maximum(b) } else { a.minimum(b) };
        tails.copy_from_slice(rows);
        for piece in rows.chunks_mut(size) {
            for i in 1..piece.len() {
                for k in 0..LANES {
                    piece[i][k] = better(piece[i - 1][k], piece[i][k]);
                }
            }
        }
        for piece in tails.chunks_mut(size) {
            for i in (1..piece.len()).rev() {
                for k in 0..LANES {
                    piece[i - 1][k] = better(piece[i - 1][k], piece[i][k]);
                }
            }
        }
        for i in 0..blocks.len {
            let (head, tail) = (&rows[i + size - 1], &tails[i]);
            for k in 0..many {
                // SAFETY: `i` is the index of an element of a lane of this block.
                unsafe { *x.add(starts[k] + i * blocks.inner) = better(tail[k], head[k]) };
            }
        }
    }
}
