//! Convolutions of few channels and convolutions of integers. They are computed tap by tap. A tap is an element of the
//! kernel, which slides over the input; each position of the kernel is a window.

use super::Terms;
use backend_core::{
    Numeric, Result,
    numpyish::{parallel, simd::versions},
    rules::Sliding,
};
use std::ops::Range;

/// Maximum number of results that one task computes. All of them belong to one row, a 1-D slice along the last axis.
const SPAN: usize = 1024;

/// Number of small blocks in a large block. The results of a small block stay in registers during the taps along a
/// line. A large block saves setup, but needs a row of many results.
const LARGE: usize = 8;

/// Computes a convolution: each result is the sum of the products of the kernel's elements and the elements of the
/// input under them. `T` must be the type that `dispatch_bits` chooses for the dtype.
pub fn convolved<T: Numeric>(terms: &Terms<'_>) -> Result<()> {
    // a small block has 256 bytes
    if const { size_of::<T>() <= 4 } {
        convolved_in::<T, 64>(terms);
    } else if const { size_of::<T>() == 8 } {
        convolved_in::<T, 32>(terms);
    } else {
        convolved_in::<T, 16>(terms);
    }
    Ok(())
}

/// Computes a convolution in small blocks of `N` results.
fn convolved_in<T: Numeric, const N: usize>(terms: &Terms<'_>) {
    let plan = terms.plan;
    let [_, _, row] = plan.axes.map(|axis| axis.windows);
    let rows = plan.shape.iter().product::<usize>() / row;
    let spans = row.div_ceil(SPAN);
    let cost = row.min(SPAN).saturating_mul(plan.taps()).saturating_mul(plan.inputs);
    parallel::parallel(rows * spans, grain(cost), |tasks| {
        for task in tasks {
            let start = task % spans * SPAN;
            let windows = start..row.min(start + SPAN);
            // SAFETY: each task writes its own results, of type `T`.
            unsafe {
                match plan.axes[2].stride {
                    1 => span::<T, N, true>(terms, task / spans, windows),
                    _ => span::<T, N, false>(terms, task / spans, windows),
                }
            }
        }
    });
}

/// Minimum number of tasks for one thread, if each task computes `cost` products.
fn grain(cost: usize) -> usize {
    (parallel::CHEAP / cost.max(1)).max(1)
}

/// Splits the index of a row of results into the indices of its batch and its channel, and its indices along the two
/// outer axes. `lengths` are the lengths of the three axes of the result.
fn place(terms: &Terms<'_>, row: usize, lengths: [usize; 3]) -> ([usize; 2], [usize; 2]) {
    let channels = terms.plan.groups * terms.plan.outputs;
    let (plane, at) = (row / (lengths[0] * lengths[1]), row % (lengths[0] * lengths[1]));
    ([plane / channels, plane % channels], [at / lengths[1], at % lengths[1]])
}

/// The values that all blocks of one row of results share.
struct Row<'a, T> {
    terms: &'a Terms<'a>,
    /// Indices of the row along the two outer axes.
    at: [usize; 2],
    /// The bias of the row's channel, or 0.
    first: T,
    /// Index of the first input channel among the channels of all batches.
    input: usize,
    /// Address of the elements of the kernel for the row's channel.
    kernel: *const T,
    /// Address of the first result.
    to: *mut T,
}

versions! {
    /// Computes a range of the results of one row.
    ///
    /// # Safety
    /// The terms must fit the plan and the dtype `T`, and nobody else may write these results. If `UNIT` is true, the
    /// stride of the last axis must be 1.
    unsafe fn span[T: Numeric, const N: usize, const UNIT: bool][T, N, UNIT](terms: &Terms<'_>, row: usize, windows: Range<usize>) {
        let plan = terms.plan;
        let [planes, lines, last] = plan.axes;
        let ([batch, channel], at) = place(terms, row, [planes.windows, lines.windows, last.windows]);
        let row = Row {
            terms,
            at,
            // SAFETY: `channel` is a channel of the result.
            first: unsafe { terms.first::<T>(channel) },
            input: (batch * plan.groups + channel / plan.outputs) * plan.inputs,
            kernel: terms.weight.cast::<T>().wrapping_add(channel * plan.inputs * plan.taps()),
            to: terms.to.cast::<T>().wrapping_add(row * last.windows),
        };
        let (start, end) = (windows.start, windows.end);
        let mut begin = start;
        // SAFETY: the caller guarantees the conditions, and the blocks lie in the range.
        unsafe {
            if UNIT {
                while end - begin >= LARGE * N {
                    block::<T, N, LARGE, UNIT>(&row, begin..begin + LARGE * N);
                    begin += LARGE * N;
                }
            }
            while begin < end {
                // if fewer than `N` windows are left for the last block, it begins earlier and computes some results
                // again; this requires at least `N` windows in total
                if end - begin < N && end - start >= N {
                    begin = end - N;
                }
                block::<T, N, 1, UNIT>(&row, begin..end.min(begin + N));
                begin += N;
            }
        }
    }
}

/// Computes a block of results, which consists of `M` small blocks of `N` results each. A single small block may be
/// shorter.
///
/// # Safety
/// The conditions of `span`.
#[inline(always)]
unsafe fn block<T: Numeric, const N: usize, const M: usize, const UNIT: bool>(row: &Row<'_, T>, windows: Range<usize>) {
    let plan = row.terms.plan;
    let [planes, lines, last] = plan.axes;
    let stride = if UNIT { 1 } else { last.stride };
    let mut sums = [[row.first; N]; M];
    let parts: [WindowBlock; M] = std::array::from_fn(|m| {
        let begin = windows.start + m * N;
        WindowBlock::new(&last, begin..windows.end.min(begin + N), N)
    });
    for inner in 0..plan.inputs {
        for (deep, z) in (0..planes.taps).map(|tap| (tap, planes.start(row.at[0]) + (tap * planes.dilation) as isize)) {
            if z < 0 || z >= planes.len as isize {
                continue;
            }
            for (high, y) in (0..lines.taps).map(|tap| (tap, lines.start(row.at[1]) + (tap * lines.dilation) as isize))
            {
                if y < 0 || y >= lines.len as isize {
                    continue;
                }
                let line = (((row.input + inner) * planes.len + z as usize) * lines.len + y as usize) * last.len;
                let taps = ((inner * planes.taps + deep) * lines.taps + high) * last.taps;
                let (line, taps) = (row.terms.x.cast::<T>().wrapping_add(line), row.kernel.wrapping_add(taps));
                for (part, sums) in parts.iter().zip(&mut sums) {
                    for tap in (part.some.start..part.all.start).chain(part.all.end..part.some.end) {
                        let inside = last.inside(tap, part.windows.clone());
                        let at = part.start + (tap * last.dilation) as isize;
                        if inside.is_empty() {
                            continue;
                        }
                        let sums = &mut sums[inside.start - part.windows.start..inside.end - part.windows.start];
                        let at = at + ((inside.start - part.windows.start) * stride) as isize;
                        // SAFETY: the tap belongs to the kernel, and meets an element of the line in all these windows.
                        unsafe {
                            let (weight, from) = (*taps.add(tap), line.offset(at));
                            for (k, sum) in sums.iter_mut().enumerate() {
                                *sum = sum.plus(weight.times(*from.add(k * stride)));
                            }
                        }
                    }
                    // a copy that no other code refers to stays in registers
                    let mut in_registers = *sums;
                    for tap in part.all.clone() {
                        // SAFETY: the tap belongs to the kernel, and meets an element of the line in each of the `N`
                        // windows.
                        unsafe {
                            let weight = *taps.add(tap);
                            let from = line.offset(part.start + (tap * last.dilation) as isize);
                            for k in 0..N {
                                in_registers[k] = in_registers[k].plus(weight.times(*from.add(k * stride)));
                            }
                        }
                    }
                    *sums = in_registers;
                }
            }
        }
    }
    // SAFETY: the results are in this row.
    unsafe { std::ptr::copy_nonoverlapping(sums.as_ptr().cast::<T>(), row.to.add(windows.start), windows.len()) }
}

/// A small block of windows along the last axis.
struct WindowBlock {
    windows: Range<usize>,
    /// Index of the element under the first tap in the first window; negative if that is in the padding.
    start: isize,
    /// The taps that meet an element of the line in at least one window of the block.
    some: Range<usize>,
    /// The taps that meet an element in every window; empty if the block has fewer than `N` windows.
    all: Range<usize>,
}

impl WindowBlock {
    #[inline(always)]
    fn new(last: &Sliding, windows: Range<usize>, full: usize) -> WindowBlock {
        let (start, end_start) = (last.start(windows.start), last.start(windows.end - 1));
        let (len, dilation) = (last.len as isize, last.dilation as isize);
        let is_full = windows.len() == full;
        // most blocks have no window with a tap in the padding, and so need no division
        if is_full && start >= 0 && end_start + (last.taps as isize - 1) * dilation < len {
            return WindowBlock { windows, start, some: 0..last.taps, all: 0..last.taps };
        }
        let from = |start: isize| {
            if start >= 0 { 0 } else { ((-start) as usize).div_ceil(last.dilation).min(last.taps) }
        };
        let to = |start: isize| {
            if start >= len { 0 } else { (((len - 1 - start) / dilation) as usize + 1).min(last.taps) }
        };
        let some = from(end_start)..to(start);
        let all = if is_full { from(start)..to(end_start) } else { 0..0 };
        let all = if all.start < all.end { all } else { some.start..some.start };
        WindowBlock { windows, start, some, all }
    }
}

/// Computes a transposed convolution: each element of the input is multiplied by the whole kernel, and the products are
/// added to the results that the kernel covers at the position of the element. `T` must be the type that
/// `dispatch_bits` chooses for the dtype.
pub fn transposed<T: Numeric>(terms: &Terms<'_>) -> Result<()> {
    let plan = terms.plan;
    let rows = plan.shape.iter().product::<usize>() / plan.axes[2].len;
    let cost = plan.axes[2].windows.saturating_mul(plan.taps()).saturating_mul(plan.inputs) + plan.axes[2].len;
    parallel::parallel(rows, grain(cost), |rows| {
        for row in rows {
            // SAFETY: each task writes its own rows, of type `T`.
            unsafe { spread(terms, row, std::marker::PhantomData::<T>) };
        }
    });
    Ok(())
}

versions! {
    /// Computes one row of results of a transposed convolution.
    ///
    /// # Safety
    /// The terms must fit the plan and the dtype `T`, and nobody else writes this row.
    unsafe fn spread[T: Numeric][T](terms: &Terms<'_>, row: usize, _of: std::marker::PhantomData<T>) {
        let plan = terms.plan;
        let [planes, lines, last] = plan.axes;
        let ([batch, channel], at) = place(terms, row, [planes.len, lines.len, last.len]);
        let (group, output) = (channel / plan.outputs, channel % plan.outputs);
        // SAFETY: `row` is a row of the result, and `channel` is a channel of the result.
        let (to, first) = unsafe { (terms.to.cast::<T>().add(row * last.len), terms.first::<T>(channel)) };
        for k in 0..last.len {
            // SAFETY: `k` is the index of an element of this row.
            unsafe { *to.add(k) = first };
        }
        // returns the index of the input element whose product with the tap is added to index `at` of the result, if
        // any
        let window = |axis: &backend_core::rules::Sliding, at: usize, tap: usize| {
            let from = (at + axis.padding).checked_sub(tap * axis.dilation)?;
            (from.is_multiple_of(axis.stride) && from / axis.stride < axis.windows).then_some(from / axis.stride)
        };
        for deep in 0..planes.taps {
            let Some(z) = window(&planes, at[0], deep) else { continue };
            for high in 0..lines.taps {
                let Some(y) = window(&lines, at[1], high) else { continue };
                for inner in 0..plan.inputs {
                    let input = group * plan.inputs + inner;
                    let line = ((batch * plan.groups * plan.inputs + input) * planes.windows + z) * lines.windows + y;
                    let taps = (((input * plan.outputs + output) * planes.taps + deep) * lines.taps + high) * last.taps;
                    for tap in 0..last.taps {
                        let inside = last.inside(tap, 0..last.windows);
                        if inside.is_empty() {
                            continue;
                        }
                        let start = last.start(inside.start) + (tap * last.dilation) as isize;
                        // SAFETY: the tap belongs to the kernel, and `inside` has only elements whose products are
                        // added to results in this row.
                        unsafe {
                            let weight = *terms.weight.cast::<T>().add(taps + tap);
                            let from = terms.x.cast::<T>().add(line * last.windows + inside.start);
                            let to = to.offset(start);
                            if last.stride == 1 {
                                for k in 0..inside.len() {
                                    *to.add(k) = (*to.add(k)).plus(weight.times(*from.add(k)));
                                }
                            } else {
                                for k in 0..inside.len() {
                                    let to = to.add(k * last.stride);
                                    *to = (*to).plus(weight.times(*from.add(k)));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
