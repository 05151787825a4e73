//! `correlate1d`: weighted sums of neighbours along an axis.

use super::{Blocks, LANES, parts};
use backend_core::{
    Boundary, DType, Precision, Result,
    numpyish::{
        OpContext,
        buffer::Buffer,
        copy::{self, Ends},
        parallel,
        raw::{RawArray, View},
        simd::versions,
    },
    rules,
};
use std::sync::OnceLock;

/// Correlates an array with weights along an axis: `y[i]` is the sum over `k` of
/// `weights[k] x[i + k - n / 2 - origin]`, where `n` is the number of weights.
pub fn correlate1d(
    _: OpContext<'_>,
    x: View<'_>,
    weights: View<'_>,
    axis: isize,
    mode: Boundary,
    cval: f64,
    origin: isize,
) -> Result<RawArray> {
    correlate1d_of(x, weights, axis, mode, cval, origin)
}

/// Like `correlate1d`, for arrays whose dtype is known only at run time.
pub fn correlate1d_of(
    x: View<'_>,
    weights: View<'_>,
    axis: isize,
    mode: Boundary,
    cval: f64,
    origin: isize,
) -> Result<RawArray> {
    const OP: &str = "correlate1d";
    let axis = rules::axis(OP, axis, x.shape.len())?;
    let size = rules::weights(OP, weights.shape)?;
    let window = rules::window(OP, x.shape[axis], size, origin)?;
    let packed = copy::pack(OP, weights)?;
    let mut numbers: Vec<f64> = rules::list(OP, size)?;
    match weights.dtype {
        // SAFETY: the packed copy has `size` weights of this dtype.
        DType::Float32 => numbers.extend(unsafe { packed.slice::<f32>(size) }.iter().map(|&w| f64::from(w))),
        // SAFETY: the packed copy has `size` weights of this dtype.
        _ => numbers.extend_from_slice(unsafe { packed.slice::<f64>(size) }),
    }
    let weights = numbers;
    let from = copy::pack(OP, x)?;
    let out = Buffer::new(OP, rules::count(OP, x.shape, x.dtype.size())?, x.dtype)?;
    if out.len() > 0 {
        let (shape, dtype) = parts(x.shape, x.dtype);
        let blocks = Blocks::new(&shape, axis);
        let sources = sources(OP, blocks.len, window, mode)?;
        // the imaginary part of the value beyond the edge is 0
        let cvals = if dtype == x.dtype { [cval; 2] } else { [cval, 0.0] };
        let failed = OnceLock::new();
        let run = |range: std::ops::Range<usize>| {
            let (from, to) = (&from, out.start());
            match blocks.room::<f64>(OP, window.border) {
                // SAFETY: both buffers have the elements, in this dtype, and each block has its own lanes.
                Ok(mut rows) => range.for_each(|block| unsafe {
                    match dtype {
                        DType::Float32 => {
                            let ends = Ends { from: from.start().cast::<f32>(), to: to.cast::<f32>() };
                            correlated(&ends, blocks, block, &mut rows, &sources, &weights, cvals);
                        }
                        _ => {
                            let ends = Ends { from: from.start().cast::<f64>(), to: to.cast::<f64>() };
                            correlated(&ends, blocks, block, &mut rows, &sources, &weights, cvals);
                        }
                    }
                }),
                Err(e) => _ = failed.set(e),
            }
        };
        in_blocks(blocks, &run);
        failed.into_inner().map_or(Ok(()), Err)?;
    }
    // SAFETY: every lane has been written.
    unsafe { RawArray::new(OP, x.shape.to_vec(), out) }
}

/// Runs `f` on ranges of blocks, on several threads. `f` may write only the memory of the blocks in its range.
/// Everything else that it captures is read-only.
pub(super) fn in_blocks(blocks: Blocks, f: &dyn Fn(std::ops::Range<usize>)) {
    struct Run<'a>(&'a dyn Fn(std::ops::Range<usize>));
    // SAFETY: the callers' closures read packed arrays, and write only the lanes of the blocks in their range.
    unsafe impl Sync for Run<'_> {}
    let run = Run(f);
    parallel::parallel(blocks.count(), blocks.grain(), |range| {
        let run = &run;
        (run.0)(range);
    });
}

/// Returns, for each element of an extended lane, the index along the axis from which it is read; `usize::MAX` stands
/// for the constant beyond the edge. An extended lane is a lane (1-D slice along the axis) with a border at both
/// ends.
pub(super) fn sources(op: &'static str, len: usize, window: rules::Window, mode: Boundary) -> Result<Vec<usize>> {
    let mut all = rules::list(op, len + window.border)?;
    let first = -(window.before as isize);
    let index = |i: usize| rules::extended(first + i as isize, len, mode).unwrap_or(usize::MAX);
    all.extend((0..len + window.border).map(index));
    Ok(all)
}

versions! {
    /// Correlates the lanes of one block with the weights.
    ///
    /// # Safety
    /// The arrays at both addresses in `ends` must have the lanes, and nobody else may write them. `rows` and `sources`
    /// must be as long as an extended lane.
    unsafe fn correlated[T: Precision][T](
        ends: &Ends<T>, blocks: Blocks, block: usize, rows: &mut [[f64; LANES]], sources: &[usize], weights: &[f64], cvals: [f64; 2],
    ) {
        let (starts, many) = blocks.starts(block);
        let adjacent = many == LANES && starts[LANES - 1] == starts[0] + LANES - 1;
        for (row, &source) in rows.iter_mut().zip(sources) {
            if source == usize::MAX {
                *row = std::array::from_fn(|k| cvals[starts[k] % 2]);
                continue;
            }
            for k in 0..LANES {
                let start = if adjacent { starts[0] + k } else { starts[k] };
                // SAFETY: `source` is the index of an element of the lane.
                row[k] = unsafe { *ends.from.add(start + source * blocks.inner) }.to_f64();
            }
        }
        for i in 0..blocks.len {
            let mut sum = [0.0; LANES];
            for (row, &weight) in rows[i..].iter().zip(weights) {
                for k in 0..LANES {
                    sum[k] += row[k] * weight;
                }
            }
            for k in 0..many {
                // SAFETY: `i` is the index of an element of a lane of this block.
                unsafe { *ends.to.add(starts[k] + i * blocks.inner) = T::of(sum[k]) };
            }
        }
    }
}
