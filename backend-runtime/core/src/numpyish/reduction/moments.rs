//! Means and variances, computed from sums.

use super::{constant, converted, folded, folding, plan, plan::ReductionPlan};
use crate::{
    Axes, Complex, DType, Float, Real, Result, bf16, f16,
    numpyish::{
        buffer::Buffer,
        convert::computed_in,
        copy::Ends,
        parallel::{self, CHEAP},
        raw::{RawArray, View},
        simd::versions,
        source::{Fused, Source},
    },
};

/// Computes means: sums divided by the number of elements.
pub fn mean(op: &'static str, x: Source<'_>, axis: Axes, keepdims: bool) -> Result<RawArray> {
    let plan = plan(op, x, axis, keepdims)?;
    let values = converted(op, means(&plan, x)?, x.dtype)?;
    // SAFETY: every value has been written.
    unsafe { plan.array(values) }
}

/// Computes variances: sums of squared deviations from the mean, divided by `n - correction`. If `root`, returns the
/// square roots of the variances.
pub fn variance(
    op: &'static str,
    x: Source<'_>,
    axis: Axes,
    correction: f64,
    keepdims: bool,
    root: bool,
) -> Result<RawArray> {
    // elements are read twice, for the mean and for the deviations; the values of a costly formula are stored
    let kept = x.formula().map_or(Ok(None), Fused::kept)?;
    let x = kept.as_ref().map_or(x, |kept| View { start: kept.start(), ..x.view() }.into());
    let plan = plan(op, x, axis, keepdims)?;
    let divisor = (plan.inputs() as f64 - correction).max(0.0);
    let of = computed_in(x.dtype);
    let squares = if plan.inputs() == 0 {
        constant(&plan, of.to_real(), 0.0)?
    } else {
        // SAFETY: the folding is for the dtype of computation, and the means have this dtype as well.
        unsafe { folded(&plan, x, of, folding::squared_deviations(of), Some(&means(&plan, x)?))? }
    };
    let result = Buffer::new(op, squares.len(), x.dtype.to_real())?;
    // SAFETY: every square has been written, in the dtype of computation for the result's dtype, and the result has
    // room for as many elements.
    unsafe {
        match result.dtype() {
            DType::Float16 => quotients::<f32, f16>(&squares, divisor, root, &result),
            DType::BFloat16 => quotients::<f32, bf16>(&squares, divisor, root, &result),
            DType::Float32 => quotients::<f32, f32>(&squares, divisor, root, &result),
            _ => quotients::<f64, f64>(&squares, divisor, root, &result),
        }
        plan.array(result)
    }
}

/// Computes the means of all outputs, in the dtype of computation.
fn means(plan: &ReductionPlan, x: Source<'_>) -> Result<Buffer> {
    let of = computed_in(x.dtype);
    if plan.inputs() == 0 {
        return constant(plan, of, f64::NAN);
    }
    // SAFETY: the folding is for the dtype of computation.
    let sums = unsafe { folded(plan, x, of, folding::sums(of), None)? };
    // SAFETY: every sum has been written, and nobody else uses the buffer.
    unsafe {
        match of {
            DType::Float32 => divide::<f32>(&sums, plan.inputs()),
            DType::Float64 => divide::<f64>(&sums, plan.inputs()),
            DType::Complex64 => divide::<Complex<f32>>(&sums, plan.inputs()),
            _ => divide::<Complex<f64>>(&sums, plan.inputs()),
        }
    }
    Ok(sums)
}

/// Divides all sums by `by`, in place.
///
/// # Safety
/// The sums must have dtype `A`, and nobody else may use them.
unsafe fn divide<A: Float>(sums: &Buffer, by: usize) {
    let (ends, by) = (Ends { from: sums.start().cast_const(), to: sums.start() }, A::from_f64(by as f64));
    parallel::parallel(sums.len(), CHEAP, |range| {
        let ends = &ends;
        // SAFETY: the caller guarantees the dtype. The range is within the buffer, and belongs to this task only.
        unsafe { divide_some::<A>(ends.to.cast::<A>().add(range.start), range.len(), by) };
    });
}

/// Divides each number in `x` by a divisor, in double precision, and writes the quotients to `to`. If `root`, writes
/// the square roots of the quotients.
///
/// # Safety
/// The buffers must have these dtypes and the same number of elements.
unsafe fn quotients<A: Real, R: Real>(x: &Buffer, divisor: f64, root: bool, to: &Buffer) {
    let ends = Ends { from: x.start().cast_const(), to: to.start() };
    parallel::parallel(x.len(), CHEAP, |range| {
        let ends = &ends;
        // SAFETY: the caller guarantees the dtypes, and the range is within both buffers.
        unsafe {
            let (from, to) = (ends.from.cast::<A>().add(range.start), ends.to.cast::<R>().add(range.start));
            if root {
                quotients_of_some::<A, R, true>(from, range.len(), divisor, to);
            } else {
                quotients_of_some::<A, R, false>(from, range.len(), divisor, to);
            }
        }
    });
}

versions! {
    unsafe fn divide_some[A: Float][A](sums: *mut A, n: usize, by: A) {
        for i in 0..n {
            // SAFETY: the caller guarantees `n` elements.
            unsafe { *sums.add(i) = Float::div(*sums.add(i), by) };
        }
    }

    unsafe fn quotients_of_some[A: Real, R: Real, const ROOT: bool][A, R, ROOT](
        x: *const A,
        n: usize,
        divisor: f64,
        to: *mut R,
    ) {
        for i in 0..n {
            // SAFETY: `x` has `n` numbers, and `to` has room for `n` results.
            unsafe {
                let quotient = (*x.add(i)).to_f64() / divisor;
                *to.add(i) = R::of(if ROOT { quotient.sqrt() } else { quotient });
            }
        }
    }
}
