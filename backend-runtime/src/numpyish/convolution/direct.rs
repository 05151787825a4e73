//! Convolutions of few channels and convolutions of integers. They are computed tap by tap. A tap is an element of the
//! kernel, which slides over the input; each position of the kernel is a window.

use super::Terms;
use crate::{
    Numeric, Result,
    numpyish::{parallel, simd::versions},
};
use std::ops::Range;

/// Maximum number of results that one task computes. All of them belong to one row, a 1-D slice along the last axis.
const SPAN: usize = 1024;

/// Maximum number of products per result for which larger blocks are used. With so few products, the setup of a small
/// block takes longer than its loops. The sums of a larger block stay in the L1 cache instead of in registers.
const FEW: usize = 16;

/// Computes a convolution: each result is the sum of the products of the kernel's elements and the elements of the
/// input under them. `T` must be the type that `dispatch_bits` chooses for the dtype.
pub fn convolved<T: Numeric>(terms: &Terms<'_>) -> Result<()> {
    let plan = terms.plan;
    let [_, _, row] = plan.axes.map(|axis| axis.windows);
    let rows = plan.shape.iter().product::<usize>() / row;
    let spans = row.div_ceil(SPAN);
    let cost = row.min(SPAN).saturating_mul(plan.taps()).saturating_mul(plan.inputs);
    parallel::parallel(rows * spans, grain(cost), |tasks| {
        for task in tasks {
            let start = task % spans * SPAN;
            let windows = start..row.min(start + SPAN);
            let one = plan.axes[2].stride == 1;
            let few = plan.taps().saturating_mul(plan.inputs) <= FEW;
            // SAFETY: each task writes its own results, of type `T`.
            unsafe {
                match (size_of::<T>(), one) {
                    (..=4, true) if few => span::<T, 512, true>(terms, task / spans, windows),
                    (8, true) if few => span::<T, 256, true>(terms, task / spans, windows),
                    (..=4, true) => span::<T, 64, true>(terms, task / spans, windows),
                    (..=4, false) => span::<T, 64, false>(terms, task / spans, windows),
                    (8, true) => span::<T, 32, true>(terms, task / spans, windows),
                    (8, false) => span::<T, 32, false>(terms, task / spans, windows),
                    (_, true) => span::<T, 16, true>(terms, task / spans, windows),
                    (_, false) => span::<T, 16, false>(terms, task / spans, windows),
                }
            }
        }
    });
    Ok(())
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

versions! {
    /// Computes a range of the results of one row, in blocks of `N` results.
    ///
    /// # Safety
    /// The terms must fit the plan and the dtype `T`, and nobody else may write these results. If `UNIT` is true, the
    /// stride of the last axis must be 1.
    unsafe fn span[T: Numeric, const N: usize, const UNIT: bool][T, N, UNIT](terms: &Terms<'_>, row: usize, windows: Range<usize>) {
        let plan = terms.plan;
        let [planes, lines, last] = plan.axes;
        let ([batch, channel], at) = place(terms, row, [planes.windows, lines.windows, last.windows]);
        let stride = if UNIT { 1 } else { last.stride };
        // SAFETY: `channel` is a channel of the result.
        let first = unsafe { terms.first::<T>(channel) };
        let input = (batch * plan.groups + channel / plan.outputs) * plan.inputs;
        let kernel = terms.weight.cast::<T>().wrapping_add(channel * plan.inputs * plan.taps());
        let mut begin = windows.start;
        while begin < windows.end {
            // if fewer than `N` windows are left for the last block, it begins earlier and computes some results again;
            // this requires at least `N` windows in total
            if windows.end - begin < N && windows.end - windows.start >= N {
                begin = windows.end - N;
            }
            let end = windows.end.min(begin + N);
            let full = end - begin == N;
            let mut sums = [first; N];
            // `all` is the range of taps that meet an element of the line in every window of the block; `some` is the
            // range of taps that meet an element in at least one window of the block
            let (start, end_start) = (last.start(begin), last.start(end - 1));
            let (len, dilation) = (last.len as isize, last.dilation as isize);
            let from = |start: isize| if start >= 0 { 0 } else { ((-start) as usize).div_ceil(last.dilation).min(last.taps) };
            let to = |start: isize| {
                if start >= len { 0 } else { (((len - 1 - start) / dilation) as usize + 1).min(last.taps) }
            };
            let some = from(end_start)..to(start);
            let all = if full { from(start)..to(end_start) } else { 0..0 };
            let all = if all.start < all.end { all } else { some.start..some.start };
            for inner in 0..plan.inputs {
                for (deep, z) in (0..planes.taps).map(|tap| (tap, planes.start(at[0]) + (tap * planes.dilation) as isize)) {
                    if z < 0 || z >= planes.len as isize {
                        continue;
                    }
                    for (high, y) in (0..lines.taps).map(|tap| (tap, lines.start(at[1]) + (tap * lines.dilation) as isize)) {
                        if y < 0 || y >= lines.len as isize {
                            continue;
                        }
                        let line = (((input + inner) * planes.len + z as usize) * lines.len + y as usize) * last.len;
                        let taps = ((inner * planes.taps + deep) * lines.taps + high) * last.taps;
                        let (line, taps) = (terms.x.cast::<T>().wrapping_add(line), kernel.wrapping_add(taps));
                        for tap in (some.start..all.start).chain(all.end..some.end) {
                            let inside = last.inside(tap, begin..end);
                            let at = start + (tap * last.dilation) as isize;
                            // SAFETY: the tap belongs to the kernel, and `inside` has only windows in which the tap
                            // meets an element of the line.
                            unsafe {
                                let weight = *taps.add(tap);
                                for k in inside.start - begin..inside.end.max(inside.start) - begin {
                                    let element = *line.offset(at + (k * stride) as isize);
                                    sums[k] = sums[k].plus(weight.times(element));
                                }
                            }
                        }
                        for tap in all.clone() {
                            // SAFETY: the tap belongs to the kernel, and meets an element of the line in each of the
                            // `N` windows.
                            unsafe {
                                let weight = *taps.add(tap);
                                let from = line.offset(start + (tap * last.dilation) as isize);
                                for k in 0..N {
                                    sums[k] = sums[k].plus(weight.times(*from.add(k * stride)));
                                }
                            }
                        }
                    }
                }
            }
            // SAFETY: the results are in this row.
            unsafe {
                let to = terms.to.cast::<T>().add(row * last.windows + begin);
                std::ptr::copy_nonoverlapping(sums.as_ptr(), to, end - begin);
            }
            begin = end;
        }
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
        let window = |axis: &crate::rules::Sliding, at: usize, tap: usize| {
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
