//! Reductions (sums, extremes, means) and running sums and products, by kernels whose results do not depend on the
//! device.

mod fold;
mod plan;
mod quantile;
mod scan;

pub(super) use fold::FOLDS;
pub use quantile::quantile;
pub(super) use scan::{DIFFS, SCANS, running_count};
pub use scan::{cumulative_prod, cumulative_sum, diff};

use super::{
    Cuda, CudaArray, OpContext,
    array::RawArray,
    manipulation::reshaped,
    map::{Input, map},
    program::{Expression, Program, ProgramSource},
};
use backend_core::{
    Axes, DType, Element, FoldKernel, FoldSource, Result,
    formula::{Reduction, ReductionKind},
    raw::TypedArray,
    rules,
};
use fold::Fold;
use plan::ReductionPlan;
pub(super) use plan::Values;

/// Sum over axes; integers are summed in 64 bits.
pub fn sum(on: OpContext<'_>, x: &RawArray, axis: Axes, keepdims: bool) -> Result<RawArray> {
    over_axes(on, x, axis, keepdims, Fold::Sum)
}

/// Tests whether any element along the axes is nonzero.
pub fn any(on: OpContext<'_>, x: &RawArray, axis: Axes, keepdims: bool) -> Result<RawArray> {
    over_axes(on, x, axis, keepdims, Fold::Any)
}

/// Tests whether all elements along the axes are nonzero.
pub fn all(on: OpContext<'_>, x: &RawArray, axis: Axes, keepdims: bool) -> Result<RawArray> {
    over_axes(on, x, axis, keepdims, Fold::All)
}

/// Maximum over axes.
pub fn max(on: OpContext<'_>, x: &RawArray, axis: Axes, keepdims: bool) -> Result<RawArray> {
    over_axes(on, x, axis, keepdims, Fold::Maximum)
}

/// Minimum over axes.
pub fn min(on: OpContext<'_>, x: &RawArray, axis: Axes, keepdims: bool) -> Result<RawArray> {
    over_axes(on, x, axis, keepdims, Fold::Minimum)
}

/// Arithmetic mean over axes.
pub fn mean(on: OpContext<'_>, x: &RawArray, axis: Axes, keepdims: bool) -> Result<RawArray> {
    over_axes(on, x, axis, keepdims, Fold::Mean)
}

/// Index of the largest element along one axis; without an axis, the array is flattened first.
pub fn argmax(on: OpContext<'_>, x: &RawArray, axis: Option<isize>, keepdims: bool) -> Result<RawArray> {
    along_axis(on, x, axis, keepdims, Fold::Largest)
}

/// Index of the smallest element along one axis; without an axis, the array is flattened first.
pub fn argmin(on: OpContext<'_>, x: &RawArray, axis: Option<isize>, keepdims: bool) -> Result<RawArray> {
    along_axis(on, x, axis, keepdims, Fold::Smallest)
}

/// Variance over axes.
pub fn var(on: OpContext<'_>, x: &RawArray, axis: Axes, correction: f64, keepdims: bool) -> Result<RawArray> {
    let axes = rules::reduction(on.op, axis, x.shape.len())?;
    spread(on.backend, on.op, x, None, &axes, correction, keepdims, Fold::Variance)
}

/// Standard deviation over axes.
pub fn std(on: OpContext<'_>, x: &RawArray, axis: Axes, correction: f64, keepdims: bool) -> Result<RawArray> {
    let axes = rules::reduction(on.op, axis, x.shape.len())?;
    spread(on.backend, on.op, x, None, &axes, correction, keepdims, Fold::Deviation)
}

fn over_axes(on: OpContext<'_>, x: &RawArray, axis: Axes, keepdims: bool, fold: Fold) -> Result<RawArray> {
    let axes = rules::reduction(on.op, axis, x.shape.len())?;
    reduced(on.backend, on.op, x, None, &axes, keepdims, fold)
}

fn along_axis(on: OpContext<'_>, x: &RawArray, axis: Option<isize>, keepdims: bool, fold: Fold) -> Result<RawArray> {
    let OpContext { backend: b, op, .. } = on;
    let Some(axis) = axis else {
        rules::require_any(op, &x.shape)?;
        let row = reshaped(b, op, x, &[x.size()])?;
        let index = reduced(b, op, &row, None, &[0], false, fold)?;
        return reshaped(b, op, &index, &rules::row_reduced(x.shape.len(), keepdims));
    };
    let axis = rules::reduction_axis(op, axis, x.shape.len())?;
    reduced(b, op, x, None, axis.as_slice(), keepdims, fold)
}

/// Reduces `x` over axes by `fold`. If `values` is given, the values of this formula are reduced instead, and `x` only
/// describes their layout.
fn reduced(
    b: &Cuda,
    op: &'static str,
    x: &RawArray,
    values: Option<&Values<'_>>,
    axes: &[usize],
    keepdims: bool,
    fold: Fold,
) -> Result<RawArray> {
    b.check(op, x)?;
    if fold.needs_elements() {
        rules::require_elements(op, &x.shape, axes)?;
    }
    let plan = ReductionPlan::new(op, x, axes);
    let results = match values {
        None => plan.run(b, fold, None, plan.inputs() as f64)?,
        Some(values) => plan.run_formula(b, fold, None, plan.inputs() as f64, values)?,
    };
    Ok(plan.shaped(results, keepdims))
}

/// Reduces the values of a formula, which have the layout of `x`. Returns `None` if the kernels do not support the
/// reduction, or if its results have another dtype than `result`.
pub(super) fn of_formula(
    b: &Cuda,
    reduction: &Reduction,
    x: &RawArray,
    values: &Values<'_>,
    result: DType,
) -> Option<Result<RawArray>> {
    let Reduction { op, ref kind, axis, keepdims } = *reduction;
    match kind {
        ReductionKind::Function(name, numbers) => {
            let fold = Fold::of_function(name).filter(|fold| fold.result(x.dtype) == result)?;
            let axes = rules::reduction(op, axis, x.shape.len());
            Some(axes.and_then(|axes| match (fold, &numbers[..]) {
                (Fold::Variance | Fold::Deviation, [correction]) => {
                    spread(b, op, x, Some(values), &axes, *correction, keepdims, fold)
                }
                _ => reduced(b, op, x, Some(values), &axes, keepdims, fold),
            }))
        }
        ReductionKind::Fold(kernel, params) => {
            Some(fold_of(b, op, kernel, params, x, Some(values), axis, keepdims, result))
        }
    }
}

/// Evaluates a reduction that the op table defines in a `fold` row, over axes. The result has the dtype `U`.
pub fn fold<U: Element, T: Element, F: FoldSource>(
    b: &Cuda,
    f: &F,
    x: &CudaArray<T>,
    axis: Axes,
    keepdims: bool,
) -> Result<CudaArray<U>> {
    let out = fold_of(b, F::NAME, &F::CUDA, &f.params(), x.raw(), None, axis, keepdims, U::DTYPE)?;
    CudaArray::from_raw(F::NAME, out)
}

#[allow(clippy::too_many_arguments)] // the fields of a reduction, and the arguments of its call
pub(crate) fn fold_of(
    b: &Cuda,
    op: &'static str,
    kernel: &FoldKernel,
    params: &[f64],
    x: &RawArray,
    values: Option<&Values<'_>>,
    axis: Axes,
    keepdims: bool,
    result: DType,
) -> Result<RawArray> {
    let axes = rules::reduction(op, axis, x.shape.len())?;
    b.check(op, x)?;
    let plan = ReductionPlan::new(op, x, &axes);
    let source = match values {
        None => ProgramSource::Fold(*kernel),
        Some(values) => ProgramSource::FormulaFold(values.formula, Some(*kernel)),
    };
    let program = Program { name: op, source };
    let given = match (kernel.params, params) {
        ([], _) => None,
        (_, params) => {
            let given = b.uninit_raw(op, DType::Float64, &[params.len()])?;
            b.upload(op, params, &given)?;
            Some(given)
        }
    };
    let acc = kernel.acc_element.dtype(fold::wide(x.dtype));
    let results = plan.run_kernels(b, &program, fold::OF_ROW, acc, given.as_ref(), 0.0, values)?;
    let results = plan.shaped(results, keepdims);
    let mut last = vec![plan.inputs() as f64];
    last.extend(params);
    let (text, last) = match kernel.finish {
        Some(finish) => (finish, last),
        None if results.dtype == result => return Ok(results),
        None => ("cast<U>(x0)", Vec::new()),
    };
    let names = if last.is_empty() { &[][..] } else { kernel.finish_params };
    let expression = Expression { text, inputs: &["x0"], params: names, input_of_t: 0 };
    let program = Program { name: op, source: ProgramSource::Each(expression) };
    map(b, op, &program, last.as_slice().into(), &[Input::Given(&results)], result)
}

/// Sums `x` over axis 0. Integers are summed in 64 bits.
pub(super) fn sum_of_first_axis(b: &Cuda, op: &'static str, x: &RawArray) -> Result<RawArray> {
    reduced(b, op, x, None, &[0], false, Fold::Sum)
}

/// Computes the variance, or the standard deviation if `fold` is `Fold::Deviation`. The variance is the sum of squared
/// distances from the mean, divided by n - correction. It is computed in two passes, to avoid cancellation. If `values`
/// is given, the values of this formula are used instead of the elements of `x`, and each pass computes them again.
#[allow(clippy::too_many_arguments)] // the parameters of `var` and `std`, and a formula's values
fn spread(
    b: &Cuda,
    op: &'static str,
    x: &RawArray,
    values: Option<&Values<'_>>,
    axes: &[usize],
    correction: f64,
    keepdims: bool,
    fold: Fold,
) -> Result<RawArray> {
    b.check(op, x)?;
    let plan = ReductionPlan::new(op, x, axes);
    let n = plan.inputs() as f64;
    let run = |fold, given: Option<&RawArray>, over| match values {
        None => plan.run(b, fold, given, over),
        Some(values) => plan.run_formula(b, fold, given, over, values),
    };
    let means = run(Fold::WideMean, None, n)?;
    let results = run(fold, Some(&means), (n - correction).max(0.0))?;
    Ok(plan.shaped(results, keepdims))
}

#[cfg(test)]
mod tests;
