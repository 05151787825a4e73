//! Arguments and results of the entries of rows on NVIDIA GPUs.

use super::{Cuda, CudaArray, RawArray, elementwise, kernel::Bytes, map::Input, program::Expression};
use crate::{
    Arrays, Axes, DType, EachSource, Element, Error, FoldSource, Result,
    entry::{Arg, ArrayMut, ArrayRef, Call, Library, Outputs},
    raw::{RawElement, RawOperand, RawTarget, TypedArray},
};

/// Returns the error for an array of another backend.
fn foreign(op: &'static str, x: ArrayRef<'_>) -> Error {
    Error::backend(op, Cuda::NAME, x.backend())
}

impl Library for Cuda {
    type Arg<'a> = &'a RawArray;
    type OperandArg<'a> = RawOperand<'a, RawArray>;
    type TargetRef<'a> = &'a mut RawArray;
    type TargetArg<'a> = RawTarget<'a, RawArray>;
    type Changed = RawArray;

    fn arg<'a>(op: &'static str, x: ArrayRef<'a>) -> Result<&'a RawArray> {
        match x {
            ArrayRef::Cuda(x) => Ok(x),
            other => Err(foreign(op, other)),
        }
    }

    fn operand<'a>(op: &'static str, x: ArrayRef<'a>) -> Result<RawOperand<'a, RawArray>> {
        Self::arg(op, x).map(RawOperand::Array)
    }

    fn number(x: &RawElement) -> RawOperand<'_, RawArray> {
        RawOperand::Scalar(*x)
    }

    fn target<'a>(op: &'static str, x: ArrayMut<'a>) -> Result<&'a mut RawArray> {
        match x {
            ArrayMut::Cuda(x) => Ok(x),
            other => Err(foreign(op, other.by_ref())),
        }
    }

    fn target_arg<'t>(x: &'t mut &mut RawArray) -> RawTarget<'t, RawArray> {
        RawTarget::new(x)
    }

    fn changed(x: &mut &mut RawArray, result: RawArray) {
        **x = result;
    }

    fn is_free(_: &mut ArrayMut<'_>, _: DType) -> bool {
        // kernels look for inputs that they may overwrite themselves
        false
    }

    fn handle<T: Element>(op: &'static str, x: ArrayRef<'_>) -> Result<CudaArray<T>> {
        CudaArray::from_raw(op, Self::arg(op, x)?.clone())
    }
}

/// Applies an elementwise op to the arguments at `places`. The result has the dtype `result`.
pub fn each<F: EachSource>(b: &Cuda, call: &Call<'_, '_>, f: &F, places: &[usize], result: DType) -> Result<Outputs> {
    applied(b, call, F::NAME, Expression::of::<F>(call.dtype), f.params(), F::MOVED, places, result)
}

#[allow(clippy::too_many_arguments)] // the properties of the op, and those of the call
fn applied(
    b: &Cuda,
    call: &Call<'_, '_>,
    name: &'static str,
    expression: Expression,
    params: Vec<f64>,
    moved: &[usize],
    places: &[usize],
    result: DType,
) -> Result<Outputs> {
    let mut inputs = Vec::with_capacity(places.len());
    for &place in places {
        inputs.push(match &call.args()[place] {
            Arg::Element(x) => Input::Value(x.dtype(), Bytes::from(*x)),
            Arg::Given(ArrayMut::Cuda(x)) => Input::Given(x),
            _ => Input::Array(call.array::<Cuda>(place)?),
        });
    }
    Outputs::one(call, elementwise::moving_named(b, name, expression, params, &inputs, moved, result))
}

/// Folds the array at `place` over axes; the result has the dtype `result`.
pub fn fold<F: FoldSource>(
    b: &Cuda,
    call: &Call<'_, '_>,
    f: &F,
    place: usize,
    result: DType,
    axis: Axes,
    keepdims: bool,
) -> Result<Outputs> {
    let x = call.array::<Cuda>(place)?;
    let folded = super::reduction::fold_of(b, F::NAME, &F::CUDA, &f.params(), x, None, axis, keepdims, result);
    Outputs::one(call, folded)
}
