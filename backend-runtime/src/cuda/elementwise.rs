//! The elementwise functions, which every `each` row calls.

use super::{
    Cuda, CudaArray, Operand,
    array::RawArray,
    copy as copying,
    map::{Input, Members, map},
    program::{Expression, Program, ProgramSource, mover},
};
use crate::{DType, Each, EachOf, EachSource, Element, Result};

/// Any `each` row with one operand.
pub fn each1<T: Element, F: Each<1, T> + EachSource>(b: &Cuda, f: &F, x: Operand<'_, T>) -> Result<CudaArray<F::Out>> {
    each::<F, T, F::Out>(b, f, &[(&x).into()])
}

/// Any `each` row with two operands.
pub fn each2<T: Element, F: Each<2, T> + EachSource>(
    b: &Cuda,
    f: &F,
    x1: Operand<'_, T>,
    x2: Operand<'_, T>,
) -> Result<CudaArray<F::Out>> {
    each::<F, T, F::Out>(b, f, &[(&x1).into(), (&x2).into()])
}

/// Any `each` row with three operands.
pub fn each3<T: Element, F: Each<3, T> + EachSource>(
    b: &Cuda,
    f: &F,
    x1: Operand<'_, T>,
    x2: Operand<'_, T>,
    x3: Operand<'_, T>,
) -> Result<CudaArray<F::Out>> {
    each::<F, T, F::Out>(b, f, &[(&x1).into(), (&x2).into(), (&x3).into()])
}

/// Any `each` row with one operand, as a tuple.
pub fn each_of1<A: Element, F: EachOf<(A,)> + EachSource>(
    b: &Cuda,
    f: &F,
    x: Operand<'_, A>,
) -> Result<CudaArray<F::Out>> {
    each::<F, A, F::Out>(b, f, &[(&x).into()])
}

/// Any `each` row with two operands of any dtypes.
pub fn each_of2<A: Element, B: Element, F: EachOf<(A, B)> + EachSource>(
    b: &Cuda,
    f: &F,
    x1: Operand<'_, A>,
    x2: Operand<'_, B>,
) -> Result<CudaArray<F::Out>> {
    each::<F, A, F::Out>(b, f, &[(&x1).into(), (&x2).into()])
}

/// Any `each` row with three operands of any dtypes.
pub fn each_of3<A: Element, B: Element, C: Element, F: EachOf<(A, B, C)> + EachSource>(
    b: &Cuda,
    f: &F,
    x1: Operand<'_, A>,
    x2: Operand<'_, B>,
    x3: Operand<'_, C>,
) -> Result<CudaArray<F::Out>> {
    each::<F, A, F::Out>(b, f, &[(&x1).into(), (&x2).into(), (&x3).into()])
}

fn each<F: EachSource, T: Element, U: Element>(b: &Cuda, f: &F, inputs: &[Input]) -> Result<CudaArray<U>> {
    let program = Program { name: F::NAME, source: ProgramSource::Each(Expression::of::<F>(T::DTYPE)) };
    let params = f.params();
    Ok(CudaArray::of(moving(b, &program, params.as_slice().into(), inputs, F::MOVED, U::DTYPE)?))
}

/// The result of an expression; where elements are only moved, by the kernel that serves all dtypes of their size.
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
    let arrays: Vec<Option<RawArray>> = inputs.iter().map(|x| x.array().map(copying::moved)).collect();
    let mut inputs = inputs.to_vec();
    for &at in moved {
        inputs[at] = match (&arrays[at], inputs[at]) {
            (Some(array), _) => Input::Array(array),
            (None, value) => value.as_mover(),
        };
    }
    let out = map(b, program.name, program, params, &inputs, mover(dtype))?;
    Ok(RawArray { dtype, ..out })
}
