//! The functions that evaluate elementwise ops, which are the `each` rows of the op table. The digit in a function's
//! name is the number of operands.

use super::{
    Cuda, CudaArray, Operand,
    array::RawArray,
    copy as copying,
    kernel::Bytes,
    map::{Input, Members, given, map, map_into},
    program::{Expression, Program, ProgramSource, mover},
};
use backend_core::{DType, Each, EachOf, EachSource, Element, Result, formula};
use std::any::Any;

/// Evaluates an elementwise op with one operand.
pub fn each1<T: Element, F: Each<1, T> + EachSource>(b: &Cuda, f: &F, x: Operand<'_, T>) -> Result<CudaArray<F::Out>> {
    each::<F, T, F::Out>(b, f, &[(&x).into()])
}

/// Evaluates an elementwise op with two operands.
pub fn each2<T: Element, F: Each<2, T> + EachSource>(
    b: &Cuda,
    f: &F,
    x1: Operand<'_, T>,
    x2: Operand<'_, T>,
) -> Result<CudaArray<F::Out>> {
    each::<F, T, F::Out>(b, f, &[(&x1).into(), (&x2).into()])
}

/// Evaluates an elementwise op with three operands.
pub fn each3<T: Element, F: Each<3, T> + EachSource>(
    b: &Cuda,
    f: &F,
    x1: Operand<'_, T>,
    x2: Operand<'_, T>,
    x3: Operand<'_, T>,
) -> Result<CudaArray<F::Out>> {
    each::<F, T, F::Out>(b, f, &[(&x1).into(), (&x2).into(), (&x3).into()])
}

/// Evaluates an elementwise op with one operand. The op takes its operands as a tuple.
pub fn each_of1<A: Element, F: EachOf<(A,)> + EachSource>(
    b: &Cuda,
    f: &F,
    x: Operand<'_, A>,
) -> Result<CudaArray<F::Out>> {
    each::<F, A, F::Out>(b, f, &[(&x).into()])
}

/// Evaluates an elementwise op with two operands, whose dtypes may differ. The op takes its operands as a tuple.
pub fn each_of2<A: Element, B: Element, F: EachOf<(A, B)> + EachSource>(
    b: &Cuda,
    f: &F,
    x1: Operand<'_, A>,
    x2: Operand<'_, B>,
) -> Result<CudaArray<F::Out>> {
    each::<F, A, F::Out>(b, f, &[(&x1).into(), (&x2).into()])
}

/// Evaluates an elementwise op with three operands, whose dtypes may differ. The op takes its operands as a tuple.
pub fn each_of3<A: Element, B: Element, C: Element, F: EachOf<(A, B, C)> + EachSource>(
    b: &Cuda,
    f: &F,
    x1: Operand<'_, A>,
    x2: Operand<'_, B>,
    x3: Operand<'_, C>,
) -> Result<CudaArray<F::Out>> {
    each::<F, A, F::Out>(b, f, &[(&x1).into(), (&x2).into(), (&x3).into()])
}

#[inline]
fn each<F: EachSource, T: Element, U: Element>(b: &Cuda, f: &F, inputs: &[Input]) -> Result<CudaArray<U>> {
    let expression = const { Expression::of::<F>(T::DTYPE) };
    moving_named(b, F::NAME, expression, f.params(), inputs, F::MOVED, U::DTYPE).map(CudaArray::of)
}

pub(super) fn moving_named(
    b: &Cuda,
    name: &'static str,
    expression: Expression,
    params: Vec<f64>,
    inputs: &[Input],
    moved: &[usize],
    dtype: DType,
) -> Result<RawArray> {
    let program = Program { name, source: ProgramSource::Each(expression) };
    moving(b, &program, params.as_slice().into(), inputs, moved, dtype)
}

/// Overwrites the array `out` with an op's result, which has the same shape. Returns `None` if `out` or an input is
/// not an array of this backend.
pub(super) fn over<F: EachSource>(
    b: &Cuda,
    f: &F,
    of: DType,
    inputs: &[formula::Input<'_>],
    out: &dyn Any,
) -> Option<Result<()>> {
    let out: &RawArray = out.downcast_ref()?;
    let inputs = inputs.iter().map(|input| match *input {
        formula::Input::Array(x) => x.downcast_ref().map(Input::Array),
        formula::Input::Scalar(dtype, bytes) => Some(Input::Value(dtype, Bytes::from(bytes))),
    });
    let inputs = inputs.collect::<Option<Vec<_>>>()?;
    let program = Program { name: F::NAME, source: ProgramSource::Each(Expression::of::<F>(of)) };
    Some(moving_into(b, &program, f.params().as_slice().into(), &inputs, F::MOVED, out))
}

/// Evaluates the expression of `program`. `moved` lists the indices of the inputs whose elements are only copied; for
/// these inputs, one kernel serves all dtypes of the same size.
fn moving(
    b: &Cuda,
    program: &Program,
    params: Members<'_>,
    inputs: &[Input],
    moved: &[usize],
    dtype: DType,
) -> Result<RawArray> {
    if moved.is_empty() {
        return map(b, program.name, program, params, inputs, dtype);
    }
    // `given` looks for an input that the result may overwrite. It must be called before `moved_arrays` makes further
    // handles of the inputs, because an array with several handles cannot be overwritten
    if let Some(given) = given(program.name, inputs, dtype)? {
        moving_into(b, program, params, inputs, moved, &given)?;
        return Ok(given);
    }
    let (arrays, out) = (moved_arrays(inputs), mover(dtype));
    let out = map(b, program.name, program, params, &moved_inputs(inputs, &arrays, moved), out)?;
    Ok(RawArray { dtype, ..out })
}

/// Like [`moving`], but writes into an existing array, which has the result's shape.
fn moving_into(
    b: &Cuda,
    program: &Program,
    params: Members<'_>,
    inputs: &[Input],
    moved: &[usize],
    out: &RawArray,
) -> Result<()> {
    if moved.is_empty() {
        return map_into(b, program.name, program, params, inputs, out);
    }
    let arrays = moved_arrays(inputs);
    map_into(b, program.name, program, params, &moved_inputs(inputs, &arrays, moved), &copying::moved(out))
}

/// Returns for each input a view of its array; the view's dtype is the dtype that kernels use to move elements of this
/// size. For an input that is no array, the entry is `None`.
fn moved_arrays(inputs: &[Input]) -> Vec<Option<RawArray>> {
    inputs.iter().map(|x| x.array().map(copying::moved)).collect()
}

/// Returns the inputs; the dtypes of the inputs with indices in `moved` are replaced by the dtypes that kernels use to
/// move elements. `arrays` is the result of [`moved_arrays`].
fn moved_inputs<'a>(inputs: &[Input<'a>], arrays: &'a [Option<RawArray>], moved: &[usize]) -> Vec<Input<'a>> {
    let mut all = inputs.to_vec();
    for &at in moved {
        all[at] = match (&arrays[at], all[at]) {
            (Some(array), _) => Input::Array(array),
            (None, value) => value.as_mover(),
        };
    }
    all
}
