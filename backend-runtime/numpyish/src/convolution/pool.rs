//! Pooling: a window slides over the array, and each result is the largest element or the mean of the window.

use super::{finished, in_dtype};
use backend_core::{
    DType, Error, Lengths, Precision, Result,
    numpyish::{
        OpContext,
        buffer::Buffer,
        convert::computed_in,
        parallel,
        raw::{RawArray, View},
        simd::versions,
    },
    rules::{self, Convolution, WindowSteps},
};
use std::{ops::Range, sync::OnceLock};

/// The largest element of each window.
pub fn max_pool(
    on: OpContext<'_>,
    x: View<'_>,
    kernel: &[usize],
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    dilation: Option<Lengths>,
) -> Result<RawArray> {
    pool(on.op, x, kernel, &WindowSteps { stride, padding, dilation }, Reduce::Largest)
}

/// The mean of each window.
pub fn avg_pool(
    on: OpContext<'_>,
    x: View<'_>,
    kernel: &[usize],
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    count_include_pad: bool,
) -> Result<RawArray> {
    let steps = WindowSteps { stride, padding, dilation: None };
    pool(on.op, x, kernel, &steps, if count_include_pad { Reduce::Mean } else { Reduce::MeanInside })
}

/// The reduction of the elements of a window to a result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reduce {
    Largest,
    /// The mean over all positions in the window. Positions beyond the edges of the array count as zeros.
    Mean,
    /// The mean over the positions in the window that are within the array.
    MeanInside,
}

fn pool(op: &'static str, x: View<'_>, kernel: &[usize], steps: &WindowSteps, reduce: Reduce) -> Result<RawArray> {
    let plan = rules::pool(op, x.shape, kernel, steps, x.dtype.size())?;
    let (n, dtype) = (rules::count(op, &plan.shape, x.dtype.size())?, computed_in(x.dtype));
    let out = Buffer::new(op, n, dtype)?;
    if n > 0 {
        let from = in_dtype(op, x, dtype)?;
        match dtype {
            DType::Float32 => pooled::<f32>(op, &plan, from.start(), out.start(), reduce)?,
            _ => pooled::<f64>(op, &plan, from.start(), out.start(), reduce)?,
        }
    }
    finished(op, plan.shape, out, x.dtype)
}

/// The addresses of the array's elements and of the results.
struct Ends<T> {
    from: *const T,
    to: *mut T,
}

// SAFETY: elements are only read, and each thread writes its own rows.
unsafe impl<T> Sync for Ends<T> {}

/// Pools all planes of an array. `from` must point to the elements, and `to` must have room for the results, both of
/// type `T`.
fn pooled<T: Precision>(
    op: &'static str,
    plan: &Convolution,
    from: *const u8,
    to: *mut u8,
    reduce: Reduce,
) -> Result<()> {
    let last = plan.axes[2];
    let rows = plan.batch * plan.axes[0].windows * plan.axes[1].windows;
    let outer = plan.axes[0].taps * plan.axes[1].taps;
    let cost = outer.saturating_mul(last.len).saturating_add(last.taps.saturating_mul(last.windows));
    let failed: OnceLock<Error> = OnceLock::new();
    let ends = Ends { from: from.cast::<T>(), to: to.cast::<T>() };
    parallel::parallel(rows, (parallel::CHEAP / cost.max(1)).max(1), |rows| {
        let room = || {
            let mut line: Vec<T> = rules::list(op, last.len)?;
            line.resize(last.len, T::ZERO);
            let mut inside: Vec<T> = rules::list(op, last.windows)?;
            inside.resize(last.windows, T::ZERO);
            for tap in 0..last.taps {
                inside[last.inside(tap, 0..last.windows)].iter_mut().for_each(|n| *n = n.plus(T::ONE));
            }
            Ok((line, inside))
        };
        match room() {
            // SAFETY: the elements fit the plan and have type `T`, and the rows of results belong to this task.
            Ok((mut line, inside)) => unsafe {
                match reduce {
                    Reduce::Largest => rows_of::<T, true>(plan, &ends, rows, &mut line, None),
                    Reduce::Mean => rows_of::<T, false>(plan, &ends, rows, &mut line, None),
                    Reduce::MeanInside => rows_of::<T, false>(plan, &ends, rows, &mut line, Some(&inside)),
                }
            },
            Err(e) => _ = failed.set(e),
        }
    });
    failed.into_inner().map_or(Ok(()), Err)
}

versions! {
    /// Computes a range of rows of results. For each row, first reduces the lines of elements under its windows to the
    /// single line `line`, position by position, and then reduces `line` along the last axis. If only positions within
    /// the array count for a mean, `inside` has the number of such positions along the last axis for each window of the
    /// row.
    ///
    /// # Safety
    /// The addresses in `ends` must fit the plan, nobody else may write these rows, and `line` must be as long as a
    /// line of elements.
    unsafe fn rows_of[T: Precision, const LARGEST: bool][T, LARGEST](
        plan: &Convolution, ends: &Ends<T>, rows: Range<usize>, line: &mut [T], inside: Option<&[T]>,
    ) {
        let [planes, lines, last] = plan.axes;
        let better = |a: T, b: T| if LARGEST { a.maximum(b) } else { a.plus(b) };
        for row in rows {
            let (at, y) = (row / lines.windows, lines.start(row % lines.windows));
            let (plane, z) = (at / planes.windows, planes.start(at % planes.windows));
            line.fill(if LARGEST { T::LOWEST } else { T::ZERO });
            let mut covered = 0;
            for z in (0..planes.taps).map(|tap| z + (tap * planes.dilation) as isize) {
                for y in (0..lines.taps).map(|tap| y + (tap * lines.dilation) as isize) {
                    if z < 0 || z >= planes.len as isize || y < 0 || y >= lines.len as isize {
                        continue;
                    }
                    covered += 1;
                    let first = ((plane * planes.len + z as usize) * lines.len + y as usize) * last.len;
                    for (k, value) in line.iter_mut().enumerate() {
                        // SAFETY: the element belongs to a line of this plane.
                        *value = better(*value, unsafe { *ends.from.add(first + k) });
                    }
                }
            }
            // SAFETY: the results are in this row.
            let to = unsafe { std::slice::from_raw_parts_mut(ends.to.add(row * last.windows), last.windows) };
            to.fill(if LARGEST { T::LOWEST } else { T::ZERO });
            for tap in 0..last.taps {
                let windows = last.inside(tap, 0..last.windows);
                if windows.is_empty() {
                    continue;
                }
                let first = (last.start(windows.start) + (tap * last.dilation) as isize) as usize;
                let to = &mut to[windows];
                if last.stride == 1 {
                    for (value, element) in to.iter_mut().zip(&line[first..]) {
                        *value = better(*value, *element);
                    }
                } else {
                    for (value, element) in to.iter_mut().zip(line[first..].iter().step_by(last.stride)) {
                        *value = better(*value, *element);
                    }
                }
            }
            if LARGEST {
                continue;
            }
            match inside {
                None => {
                    let count = T::of(plan.taps() as f64);
                    to.iter_mut().for_each(|sum| *sum = *sum / count);
                }
                Some(inside) => {
                    let covered = T::of(covered as f64);
                    for (sum, inside) in to.iter_mut().zip(inside) {
                        *sum = *sum / covered.times(*inside);
                    }
                }
            }
        }
    }
}
