//! Spline coefficients of arrays, computed by a recursive filter along each axis.

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
    rules::{self, SplineEnds},
};
use std::{ops::Range, sync::OnceLock};

/// Computes the coefficients of the spline of order `order` that interpolates the elements of `x`.
pub fn spline_filter(_: OpContext<'_>, x: View<'_>, order: usize, mode: Boundary) -> Result<RawArray> {
    spline_filter_of(x, order, mode)
}

/// Like `spline_filter`, for an array whose dtype is known only at run time.
pub fn spline_filter_of(x: View<'_>, order: usize, mode: Boundary) -> Result<RawArray> {
    spline_filter_along("spline_filter", x, 0..x.shape.len(), order, mode)
}

/// Like `spline_filter`, but filters only along `axes`.
pub(super) fn spline_filter_along(
    op: &'static str,
    x: View<'_>,
    axes: Range<usize>,
    order: usize,
    mode: Boundary,
) -> Result<RawArray> {
    let order = rules::spline_order(op, order)?;
    let out = copy::to_buffer(op, x)?;
    let (shape, dtype) = parts(x.shape, x.dtype);
    let poles = rules::spline_poles(order);
    if !poles.is_empty() && out.len() > 0 {
        for axis in axes {
            let blocks = Blocks::new(&shape, axis);
            match dtype {
                DType::Float32 => along::<f32>(op, &out, blocks, poles, rules::spline_ends(mode))?,
                _ => along::<f64>(op, &out, blocks, poles, rules::spline_ends(mode))?,
            }
        }
    }
    // SAFETY: a copy writes every element.
    unsafe { RawArray::new(op, x.shape.to_vec(), out) }
}

/// Filters the lanes (1-D slices) along an axis in place.
fn along<T: Precision>(op: &'static str, out: &Buffer, blocks: Blocks, poles: &[f64], ends: SplineEnds) -> Result<()> {
    if blocks.len < 2 {
        return Ok(());
    }
    let failed = OnceLock::new();
    let target = Ends { from: out.start().cast::<T>().cast_const(), to: out.start().cast::<T>() };
    parallel::parallel(blocks.count(), blocks.grain(), |range| {
        let target = &target;
        match blocks.room::<f64>(op, 0) {
            Ok(mut rows) => range.for_each(|block| {
                // SAFETY: each block has its own lanes, in memory that only the caller uses.
                unsafe { filtered::<T>(target.to, blocks, block, &mut rows, poles, ends) }
            }),
            Err(e) => _ = failed.set(e),
        }
    });
    failed.into_inner().map_or(Ok(()), Err)
}

versions! {
    /// Filters the lanes of one block, once for each pole of the filter.
    ///
    /// # Safety
    /// `x` must have the lanes, and nobody else may use them; `rows` must be as long as a lane.
    unsafe fn filtered[T: Precision][T](x: *mut T, blocks: Blocks, block: usize, rows: &mut [[f64; LANES]], poles: &[f64], ends: SplineEnds) {
        let (starts, many) = blocks.starts(block);
        let adjacent = starts[many - 1] == starts[0] + many - 1 && many == LANES;
        let gain: f64 = poles.iter().map(|z| (1.0 - z) * (1.0 - 1.0 / z)).product();
        for (i, row) in rows.iter_mut().enumerate() {
            for k in 0..LANES {
                let start = if adjacent { starts[0] + k } else { starts[k] };
                // SAFETY: `i` is the index of an element of the lane.
                row[k] = unsafe { *x.add(start + i * blocks.inner) }.to_f64() * gain;
            }
        }
        for &z in poles {
            one_pole(rows, z, ends);
        }
        for (i, row) in rows.iter().enumerate() {
            for k in 0..many {
                // SAFETY: `i` is the index of an element of the lane, and a repeated lane is not written again.
                unsafe { *x.add(starts[k] + i * blocks.inner) = T::of(row[k]) };
            }
        }
    }
}

/// Applies the filter of one pole, forward and backward. The first filtered value is a sum over infinitely many
/// samples, and `ends` says how the samples continue beyond the edge. The sum omits terms whose power of the pole is
/// smaller than the precision.
#[inline(always)]
fn one_pole(x: &mut [[f64; LANES]], z: f64, ends: SplineEnds) {
    let n = x.len();
    let all = z.powi(i32::try_from(n).unwrap_or(i32::MAX));
    // |z|^60 < 1e-20 for every pole
    let few = n.min(60);
    let mut first = [0.0; LANES];
    let mut add = |row: &[f64; LANES], by: f64| (0..LANES).for_each(|k| first[k] += row[k] * by);
    let mut power = 1.0;
    match ends {
        SplineEnds::Mirror => {
            let end = all / z;
            add(&x[0], 1.0);
            add(&x[n - 1], end);
            for i in 1..few.max(2).min(n) {
                power *= z;
                if i + 1 < n {
                    add(&x[i], power);
                    add(&x[n - 1 - i], power * end);
                }
            }
            let scale = 1.0 / (1.0 - end * end);
            (0..LANES).for_each(|k| x[0][k] = first[k] * scale);
        }
        SplineEnds::Reflect => {
            for i in 0..few {
                add(&x[i], power);
                add(&x[n - 1 - i], power * all);
                power *= z;
            }
            let scale = z / (1.0 - all * all);
            (0..LANES).for_each(|k| x[0][k] += first[k] * scale);
        }
        SplineEnds::Wrap => {
            add(&x[0], 1.0);
            for i in 1..few {
                power *= z;
                add(&x[n - i], power);
            }
            let scale = 1.0 / (1.0 - all);
            (0..LANES).for_each(|k| x[0][k] = first[k] * scale);
        }
    }
    for i in 1..n {
        for k in 0..LANES {
            x[i][k] += z * x[i - 1][k];
        }
    }
    match ends {
        SplineEnds::Mirror => {
            let scale = z / (z * z - 1.0);
            (0..LANES).for_each(|k| x[n - 1][k] = (z * x[n - 2][k] + x[n - 1][k]) * scale);
        }
        SplineEnds::Reflect => (0..LANES).for_each(|k| x[n - 1][k] *= z / (z - 1.0)),
        SplineEnds::Wrap => {
            let mut last = x[n - 1];
            let mut power = 1.0;
            for row in &x[..few.min(n - 1)] {
                power *= z;
                (0..LANES).for_each(|k| last[k] += row[k] * power);
            }
            let scale = z / (all - 1.0);
            (0..LANES).for_each(|k| x[n - 1][k] = last[k] * scale);
        }
    }
    for i in (0..n - 1).rev() {
        for k in 0..LANES {
            x[i][k] = z * (x[i + 1][k] - x[i][k]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::typed::spline_filter, *};
    use backend_core::numpyish::{Numpyish, testing::layouts};
    use ndarray::{ArrayD, IxDyn};

    /// Each sample is the sum of the coefficients, weighted by the values of the cubic spline at integers.
    #[test]
    fn cubic_coefficients_give_the_samples() {
        let n = 45;
        let x = ArrayD::from_shape_fn(IxDyn(&[n, 37]), |i| ((i[0] * 17 + i[1] * 31) % 23) as f64 - 11.0);
        for x in layouts(&x) {
            let c = spline_filter(&Numpyish::new(), &x, 3, Boundary::Mirror).unwrap();
            let at = |i: isize, j: isize| {
                let fold = |i: isize, n: usize| if i < 0 { -i } else { i.min(2 * (n as isize - 1) - i) } as usize;
                c[[fold(i, n), fold(j, 37)]]
            };
            let weights = [1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0];
            for i in 0..n as isize {
                for j in 0..37 {
                    let mut sum = 0.0;
                    for (a, wa) in (-1..).zip(weights) {
                        for (b, wb) in (-1..).zip(weights) {
                            sum += wa * wb * at(i + a, j + b);
                        }
                    }
                    assert!((sum - x[[i as usize, j as usize]]).abs() < 1e-12);
                }
            }
        }
    }
}
