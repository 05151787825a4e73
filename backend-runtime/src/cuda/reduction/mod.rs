//! Sums, extremes, means, scans: kernels whose results do not depend on the device they run on.

mod fold;
mod plan;
mod quantile;
mod scan;

pub(super) use fold::FOLDS;
pub use quantile::quantile;
pub(super) use scan::{DIFFS, SCANS, running_count};
pub use scan::{cumulative_prod, cumulative_sum, diff};

use super::{
    Cuda, CudaArray,
    array::RawArray,
    map::{Input, map},
    program::{Expression, Program, ProgramSource},
};
use crate::{Axes, DType, Element, Float, FoldKernel, FoldSource, Ordered, Result, rules};
use fold::Fold;
use plan::Plan;

/// Sum over axes.
pub fn sum<T: Element>(b: &Cuda, x: &CudaArray<T>, axis: Axes, keepdims: bool) -> Result<CudaArray<T::Sum>> {
    over_axes(b, "sum", x, axis, keepdims, Fold::Sum)
}

/// Whether any element over axes is nonzero.
pub fn any<T: Element>(b: &Cuda, x: &CudaArray<T>, axis: Axes, keepdims: bool) -> Result<CudaArray<bool>> {
    over_axes(b, "any", x, axis, keepdims, Fold::Any)
}

/// Whether all elements over axes are nonzero.
pub fn all<T: Element>(b: &Cuda, x: &CudaArray<T>, axis: Axes, keepdims: bool) -> Result<CudaArray<bool>> {
    over_axes(b, "all", x, axis, keepdims, Fold::All)
}

/// The largest element, over axes.
pub fn max<T: Ordered>(b: &Cuda, x: &CudaArray<T>, axis: Axes, keepdims: bool) -> Result<CudaArray<T>> {
    over_axes(b, "max", x, axis, keepdims, Fold::Maximum)
}

/// The smallest element, over axes.
pub fn min<T: Ordered>(b: &Cuda, x: &CudaArray<T>, axis: Axes, keepdims: bool) -> Result<CudaArray<T>> {
    over_axes(b, "min", x, axis, keepdims, Fold::Minimum)
}

/// Arithmetic mean over axes.
pub fn mean<T: Float>(b: &Cuda, x: &CudaArray<T>, axis: Axes, keepdims: bool) -> Result<CudaArray<T>> {
    over_axes(b, "mean", x, axis, keepdims, Fold::Mean)
}

/// Index of the largest element along one axis.
pub fn argmax<T: Ordered>(b: &Cuda, x: &CudaArray<T>, axis: isize, keepdims: bool) -> Result<CudaArray<i64>> {
    along_axis(b, "argmax", x, axis, keepdims, Fold::Largest)
}

/// Index of the smallest element along one axis.
pub fn argmin<T: Ordered>(b: &Cuda, x: &CudaArray<T>, axis: isize, keepdims: bool) -> Result<CudaArray<i64>> {
    along_axis(b, "argmin", x, axis, keepdims, Fold::Smallest)
}

/// Variance over axes.
pub fn var<T: Float>(
    b: &Cuda,
    x: &CudaArray<T>,
    axis: Axes,
    correction: f64,
    keepdims: bool,
) -> Result<CudaArray<T::Real>> {
    spread(b, "var", x, axis, correction, keepdims, Fold::Variance)
}

/// Standard deviation over axes.
pub fn std<T: Float>(
    b: &Cuda,
    x: &CudaArray<T>,
    axis: Axes,
    correction: f64,
    keepdims: bool,
) -> Result<CudaArray<T::Real>> {
    spread(b, "std", x, axis, correction, keepdims, Fold::Deviation)
}

fn over_axes<T: Element, U: Element>(
    b: &Cuda,
    op: &'static str,
    x: &CudaArray<T>,
    axis: Axes,
    keepdims: bool,
    fold: Fold,
) -> Result<CudaArray<U>> {
    let axes = rules::reduction(op, axis, x.raw.shape.len())?;
    reduced(b, op, &x.raw, &axes, keepdims, fold).map(CudaArray::of)
}

fn along_axis<T: Element, U: Element>(
    b: &Cuda,
    op: &'static str,
    x: &CudaArray<T>,
    axis: isize,
    keepdims: bool,
    fold: Fold,
) -> Result<CudaArray<U>> {
    let axis = rules::reduction_axis(op, axis, x.raw.shape.len())?;
    let axes = axis.as_slice();
    reduced(b, op, &x.raw, axes, keepdims, fold).map(CudaArray::of)
}

/// `fold` of `x` over axes.
fn reduced(b: &Cuda, op: &'static str, x: &RawArray, axes: &[usize], keepdims: bool, fold: Fold) -> Result<RawArray> {
    b.check(op, x)?;
    if fold.needs_elements() {
        rules::require_elements(op, &x.shape, axes)?;
    }
    let plan = Plan::new(op, x, axes);
    let values = plan.run(b, fold, None, plan.inputs() as f64)?;
    Ok(plan.shaped(values, keepdims))
}

/// The reduction of a `fold` row over axes; its result is of the dtype `U`.
pub fn fold<U: Element, T: Element, F: FoldSource>(
    b: &Cuda,
    f: &F,
    x: &CudaArray<T>,
    axis: Axes,
    keepdims: bool,
) -> Result<CudaArray<U>> {
    fold_of(b, F::NAME, &F::CUDA, &f.params(), &x.raw, axis, keepdims, U::DTYPE).map(CudaArray::of)
}

#[allow(clippy::too_many_arguments)] // what a row is, and what it is called with
fn fold_of(
    b: &Cuda,
    op: &'static str,
    kernel: &FoldKernel,
    params: &[f64],
    x: &RawArray,
    axis: Axes,
    keepdims: bool,
    result: DType,
) -> Result<RawArray> {
    let axes = rules::reduction(op, axis, x.shape.len())?;
    b.check(op, x)?;
    let plan = Plan::new(op, x, &axes);
    let program = Program { name: op, source: ProgramSource::Fold(*kernel) };
    let given = match (kernel.params, params) {
        ([], _) => None,
        (_, params) => {
            let given = b.uninit_raw(op, DType::Float64, &[params.len()])?;
            b.upload(op, params, &given)?;
            Some(given)
        }
    };
    let computed = fold::wide(x.dtype);
    let values = plan.run_kernels(b, &program, "k_fold", kernel.acc_element.dtype(computed), given.as_ref(), 0.0)?;
    let values = plan.shaped(values, keepdims);
    let mut last = vec![plan.inputs() as f64];
    last.extend(params);
    let (text, last) = match kernel.finish {
        Some(finish) => (finish, last),
        None if values.dtype == result => return Ok(values),
        None => ("cast<U>(x0)", Vec::new()),
    };
    let names = if last.is_empty() { &[][..] } else { kernel.finish_params };
    let expression = Expression { text, inputs: &["x0"], params: names, input_of_t: 0 };
    let program = Program { name: op, source: ProgramSource::Each(expression) };
    map(b, op, &program, last.as_slice().into(), &[Input::Array(&values)], result)
}

/// The sum over axis 0, integers in 64 bits.
pub(super) fn sum_of_first_axis(b: &Cuda, op: &'static str, x: &RawArray) -> Result<RawArray> {
    reduced(b, op, x, &[0], false, Fold::Sum)
}

/// Sums of squared distances from the mean, divided by n - correction: in two passes, which loses no digits.
fn spread<T: Float>(
    b: &Cuda,
    op: &'static str,
    x: &CudaArray<T>,
    axis: Axes,
    correction: f64,
    keepdims: bool,
    fold: Fold,
) -> Result<CudaArray<T::Real>> {
    b.check(op, &x.raw)?;
    let axes = rules::reduction(op, axis, x.raw.shape.len())?;
    let plan = Plan::new(op, &x.raw, &axes);
    let n = plan.inputs() as f64;
    let means = plan.run(b, Fold::WideMean, None, n)?;
    let values = plan.run(b, fold, Some(&means), (n - correction).max(0.0))?;
    Ok(CudaArray::of(plan.shaped(values, keepdims)))
}

#[cfg(test)]
mod tests;
