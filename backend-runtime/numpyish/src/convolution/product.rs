//! Convolutions of many channels, computed as matrix products. A tap is an element of the kernel, which slides over the
//! input; each position of the kernel is a window.

use super::Terms;
use crate::linalg::{Matrix, SEVERAL_THREADS, product_into, room};
use backend_core::{
    Numeric, Result,
    numpyish::{parallel, simd::versions},
    rules,
};
use std::{ops::Range, sync::OnceLock};

/// Approximate size in bytes of the matrix of a block. In a convolution, the matrix has the elements that the taps
/// meet; in a transposed convolution, it has products. The matrix fits the L2 cache together with the copies of it that
/// the matrix product packs.
const BLOCK: usize = 1 << 18;

/// Maximum number of channels of the result that one task computes, if there are few tasks.
const CHANNELS: usize = 128;

/// If there are fewer tasks than this, the channels of a group are divided among several tasks. The number does not
/// depend on the number of threads, so the results do not depend on the number of threads either.
const TASKS: usize = 32;

/// Number of columns of the matrix of a block, if the matrix has `rows` rows of elements of `size` bytes. A column
/// belongs to a result of a convolution, or to an input element of a transposed convolution. `all` is the number of
/// these results or elements.
fn columns(rows: usize, size: usize, all: usize) -> usize {
    (BLOCK / rows.saturating_mul(size)).clamp(64, 4096).min(all)
}

/// Runs `f` for each of `tasks` tasks, on several threads. `f` gets the index of the task, and scratch memory of `n`
/// elements. `sizes` has the numbers of rows, inner indices and columns of the matrix product of one task.
fn in_tasks<T: Numeric>(
    op: &'static str,
    tasks: usize,
    sizes: [usize; 3],
    n: usize,
    f: impl Fn(usize, &mut [T]) + Sync,
) -> Result<()> {
    let failed = OnceLock::new();
    let work = sizes.iter().fold(1_usize, |n, &size| n.saturating_mul(size));
    parallel::parallel(tasks, SEVERAL_THREADS / work.max(1), |range| {
        let memory = || {
            room(op, sizes, size_of::<T>())?;
            let mut memory = rules::list(op, n)?;
            memory.resize(n, T::ZERO);
            Ok(memory)
        };
        match memory() {
            Ok(mut memory) => range.for_each(|task| f(task, &mut memory)),
            Err(e) => _ = failed.set(e),
        }
    });
    failed.into_inner().map_or(Ok(()), Err)
}

/// Computes a convolution: each result is the sum of the products of the kernel's elements and the elements of the
/// input under them.
pub fn convolved<T: Numeric>(op: &'static str, terms: &Terms<'_>) -> Result<()> {
    let plan = terms.plan;
    let elements: usize = plan.axes.iter().map(|axis| axis.len).product();
    let results: usize = plan.axes.iter().map(|axis| axis.windows).product();
    let inner = plan.inputs * plan.taps();
    let size = columns(inner, size_of::<T>(), results);
    let blocks = results.div_ceil(size);
    let groups = plan.batch * plan.groups;
    let channels = if groups * blocks < TASKS { plan.outputs.min(CHANNELS) } else { plan.outputs };
    let parts = plan.outputs.div_ceil(channels);
    // if the kernel has a single tap and neither stride nor padding, the elements already form the matrix, without a
    // copy
    let plain = plan.axes.iter().all(|axis| axis.taps == 1 && axis.stride == 1 && axis.padding == 0);
    let room = if plain { 0 } else { inner * size };
    in_tasks::<T>(op, groups * blocks * parts, [channels, inner, size], room, |task, memory| {
        let (part, at) = (task % parts, task / parts);
        let (block, group) = (at % blocks, at / blocks);
        let (first, begin) = (part * channels, block * size);
        let (channels, end) = (channels.min(plan.outputs - first), results.min(begin + size));
        let channel = group % plan.groups * plan.outputs + first;
        // SAFETY: operands and results fit the plan and have type `T`, and each task writes its own block.
        unsafe {
            let x = terms.x.cast::<T>().add(group * plan.inputs * elements);
            let to = terms.to.cast::<T>().add((group * plan.outputs + first) * results + begin);
            if !terms.bias.is_null() {
                for k in 0..channels {
                    std::slice::from_raw_parts_mut(to.add(k * results), end - begin)
                        .fill(terms.first::<T>(channel + k));
                }
            }
            let weight = terms.weight.cast::<T>().add(channel * inner);
            let kernel = Matrix { start: weight.cast(), row: inner as isize, column: 1 };
            let (start, row) = if plain {
                (x.add(begin), elements)
            } else {
                lay_out(terms, x, memory.as_mut_ptr(), begin..end);
                (memory.as_ptr(), end - begin)
            };
            let laid = Matrix { start: start.cast(), row: row as isize, column: 1 };
            product_into(to, results, kernel, laid, [channels, inner, end - begin], !terms.bias.is_null());
        }
    })
}

/// Divides a range of windows, counted in C order, into parts, each of which lies in one row. Calls `f` for each part.
/// `f` gets the two outer indices of the row, the range of the part's windows within the row, and the number of windows
/// before the part.
fn in_rows(lengths: [usize; 3], windows: Range<usize>, mut f: impl FnMut([usize; 2], Range<usize>, usize)) {
    let mut at = windows.start;
    while at < windows.end {
        let (row, start) = (at / lengths[2], at % lengths[2]);
        let many = (lengths[2] - start).min(windows.end - at);
        f([row / lengths[1], row % lengths[1]], start..start + many, at - windows.start);
        at += many;
    }
}

versions! {
    /// Copies the elements that the taps meet in a range of windows into a matrix. The matrix has a row for each tap of
    /// each channel, and a column for each window.
    ///
    /// # Safety
    /// `x` must have the channels of a group, and `to` must have room for the rows, both of type `T`.
    unsafe fn lay_out[T: Numeric][T](terms: &Terms<'_>, x: *const T, to: *mut T, windows: Range<usize>) {
        let plan = terms.plan;
        let [planes, lines, last] = plan.axes;
        let many = windows.len();
        let mut to = to;
        for channel in 0..plan.inputs {
            for tap in 0..plan.taps() {
                let (deep, high, wide) = (tap / last.taps / lines.taps, tap / last.taps % lines.taps, tap % last.taps);
                in_rows([planes.windows, lines.windows, last.windows], windows.clone(), |[z, y], row, before| {
                    let z = planes.start(z) + (deep * planes.dilation) as isize;
                    let y = lines.start(y) + (high * lines.dilation) as isize;
                    let outside = z < 0 || z >= planes.len as isize || y < 0 || y >= lines.len as isize;
                    let inside = if outside { row.start..row.start } else { last.inside(wide, row.clone()) };
                    // SAFETY: the row has room for these windows, and `inside` has only windows in which the tap meets
                    // an element of the line.
                    unsafe {
                        let to = std::slice::from_raw_parts_mut(to.add(before), row.len());
                        let (skipped, end) = (inside.start - row.start, inside.end - row.start);
                        to[..skipped].fill(T::ZERO);
                        to[end..].fill(T::ZERO);
                        if !inside.is_empty() {
                            let line = ((channel * planes.len + z as usize) * lines.len + y as usize) * last.len;
                            let first = last.start(inside.start) + (wide * last.dilation) as isize;
                            let from = x.add(line).offset(first);
                            if last.stride == 1 {
                                std::ptr::copy_nonoverlapping(from, to[skipped..].as_mut_ptr(), inside.len());
                            } else {
                                for k in 0..inside.len() {
                                    to[skipped + k] = *from.add(k * last.stride);
                                }
                            }
                        }
                    }
                });
                // SAFETY: the address is the end of a row, at most the end of the last row.
                to = unsafe { to.add(many) };
            }
        }
    }
}

/// Computes a transposed convolution: each element of the input is multiplied by the whole kernel, and the products are
/// added to the results that the kernel covers at the position of the element. A task computes some channels of the
/// result, from one block of input elements after another.
pub fn transposed<T: Numeric>(op: &'static str, terms: &Terms<'_>) -> Result<()> {
    let plan = terms.plan;
    let elements: usize = plan.axes.iter().map(|axis| axis.windows).product();
    let results: usize = plan.axes.iter().map(|axis| axis.len).product();
    let taps = plan.taps();
    let channels = (64 / taps).clamp(1, plan.outputs);
    let rows = channels.checked_mul(taps).ok_or_else(|| backend_core::Error::memory(op, usize::MAX))?;
    let size = columns(rows, size_of::<T>(), elements);
    let parts = plan.outputs.div_ceil(channels);
    let sizes = [rows, plan.inputs, size];
    let room = rows.checked_mul(size).ok_or_else(|| backend_core::Error::memory(op, usize::MAX))?;
    in_tasks::<T>(op, plan.batch * plan.groups * parts, sizes, room, |task, memory| {
        let (part, group) = (task % parts, task / parts);
        let first = part * channels;
        let channels = channels.min(plan.outputs - first);
        let channel = group % plan.groups * plan.outputs + first;
        // SAFETY: operands and results fit the plan and have type `T`, and each task writes its own channels.
        unsafe {
            let x = terms.x.cast::<T>().add(group * plan.inputs * elements);
            let to = terms.to.cast::<T>().add((group * plan.outputs + first) * results);
            for k in 0..channels {
                std::slice::from_raw_parts_mut(to.add(k * results), results).fill(terms.first::<T>(channel + k));
            }
            let row = plan.outputs * taps;
            let weight = terms.weight.cast::<T>().add(group % plan.groups * plan.inputs * row + first * taps);
            let kernel = Matrix { start: weight.cast(), row: 1, column: row as isize };
            for begin in (0..elements).step_by(size) {
                let end = elements.min(begin + size);
                let part = Matrix { start: x.add(begin).cast(), row: elements as isize, column: 1 };
                let sizes = [channels * taps, plan.inputs, end - begin];
                product_into(memory.as_mut_ptr(), end - begin, kernel, part, sizes, false);
                put_in(terms, memory.as_ptr(), to, channels, begin..end);
            }
        }
    })
}

versions! {
    /// Adds a matrix of products to the results. The matrix has a row for each tap of each channel, and a column for
    /// each input element in `elements`.
    ///
    /// # Safety
    /// `from` must have the rows for these elements, and `to` must have the channels, both of type `T`. Nobody else may
    /// write the channels.
    unsafe fn put_in[T: Numeric][T](terms: &Terms<'_>, from: *const T, to: *mut T, channels: usize, elements: Range<usize>) {
        let plan = terms.plan;
        let [planes, lines, last] = plan.axes;
        let many = elements.len();
        let mut from = from;
        for channel in 0..channels {
            for tap in 0..plan.taps() {
                let (deep, high, wide) = (tap / last.taps / lines.taps, tap / last.taps % lines.taps, tap % last.taps);
                in_rows([planes.windows, lines.windows, last.windows], elements.clone(), |[z, y], row, before| {
                    let z = planes.start(z) + (deep * planes.dilation) as isize;
                    let y = lines.start(y) + (high * lines.dilation) as isize;
                    if z < 0 || z >= planes.len as isize || y < 0 || y >= lines.len as isize {
                        return;
                    }
                    let inside = last.inside(wide, row.clone());
                    if inside.is_empty() {
                        return;
                    }
                    let line = ((channel * planes.len + z as usize) * lines.len + y as usize) * last.len;
                    let first = last.start(inside.start) + (wide * last.dilation) as isize;
                    // SAFETY: the products belong to these elements, and `inside` has only elements whose products are
                    // added to results within the line.
                    unsafe {
                        let from = from.add(before + inside.start - row.start);
                        let to = to.add(line).offset(first);
                        if last.stride == 1 {
                            for k in 0..inside.len() {
                                *to.add(k) = (*to.add(k)).plus(*from.add(k));
                            }
                        } else {
                            for k in 0..inside.len() {
                                let to = to.add(k * last.stride);
                                *to = (*to).plus(*from.add(k));
                            }
                        }
                    }
                });
                // SAFETY: the address is the end of a row, at most the end of the last row.
                from = unsafe { from.add(many) };
            }
        }
    }
}
