//! Arguments and results of the entries of rows on libtorch.

use super::{Arg, Aten, Tensor, Torch, TorchArray, array::is_alone, aten, loops, tensor::Number};
use crate::{
    Arrays, DType, EachSource, Element, Error, Result,
    entry::{self, ArrayMut, ArrayRef, Call, Library, Outputs},
    raw::{RawElement, RawOperand, RawTarget, TypedArray},
};
use std::ptr;

/// Returns the error for an array of another backend.
fn foreign(op: &'static str, x: ArrayRef<'_>) -> Error {
    Error::backend(op, Torch::NAME, x.backend())
}

impl Library for Torch {
    type Arg<'a> = &'a Tensor;
    type OperandArg<'a> = RawOperand<'a, Tensor>;
    type TargetRef<'a> = &'a mut Tensor;
    type TargetArg<'a> = RawTarget<'a, Tensor>;
    type Changed = Tensor;

    fn arg<'a>(op: &'static str, x: ArrayRef<'a>) -> Result<&'a Tensor> {
        match x {
            ArrayRef::Torch(x) => Ok(x),
            other => Err(foreign(op, other)),
        }
    }

    fn operand<'a>(op: &'static str, x: ArrayRef<'a>) -> Result<RawOperand<'a, Tensor>> {
        Self::arg(op, x).map(RawOperand::Array)
    }

    fn number(x: &RawElement) -> RawOperand<'_, Tensor> {
        RawOperand::Scalar(*x)
    }

    fn target<'a>(op: &'static str, x: ArrayMut<'a>) -> Result<&'a mut Tensor> {
        match x {
            ArrayMut::Torch(x) => Ok(x),
            other => Err(foreign(op, other.by_ref())),
        }
    }

    fn target_arg<'t>(x: &'t mut &mut Tensor) -> RawTarget<'t, Tensor> {
        RawTarget::new(x)
    }

    fn changed(x: &mut &mut Tensor, result: Tensor) {
        **x = result;
    }

    fn is_free(x: &mut ArrayMut<'_>, dtype: DType) -> bool {
        matches!(x, ArrayMut::Torch(x) if x.is(dtype) && is_alone(x, dtype))
    }

    fn handle<T: Element>(op: &'static str, x: ArrayRef<'_>) -> Result<TorchArray<T>> {
        TorchArray::from_raw(op, Self::arg(op, x)?.clone())
    }
}

impl<'a> From<RawOperand<'a, Tensor>> for Arg<'a> {
    fn from(x: RawOperand<'a, Tensor>) -> Arg<'a> {
        match x {
            RawOperand::Array(x) => Arg::Tensor(x),
            RawOperand::Scalar(x) => x.into(),
        }
    }
}

impl From<RawElement> for Arg<'_> {
    fn from(x: RawElement) -> Self {
        Arg::Number(Number::from(x))
    }
}

/// Calls libtorch's op. The result has the dtype `result`.
pub fn called(b: &Torch, call: &Call<'_, '_>, mapped: &Aten, args: &[Arg<'_>], result: DType) -> Result<Outputs> {
    Outputs::one(call, aten::aten_of_dtype(b, mapped, call.dtype, args, result))
}

/// Applies an elementwise op, by a loop over host memory, to the arguments at `places`.
///
/// # Panics
/// If the call has no loop of the op `F`, which only a mistake in generated code can cause.
pub fn each<F: EachSource>(b: &Torch, call: &mut Call<'_, '_>, f: &F, places: &[usize]) -> Result<Outputs> {
    let each = call.each.expect("a call of an elementwise op has its loop");
    let kernel = each.kernel_of::<F>();
    if each.is_identity()
        && let entry::Arg::Array(x) = &call.args()[places[0]]
    {
        return Outputs::one(call, <Torch as Library>::arg(call.op, *x).cloned());
    }
    let mut free = [false; 3];
    for (free, &place) in free.iter_mut().zip(places) {
        *free = call.is_free::<Torch>(place, kernel.output());
    }
    let mut operands = Vec::with_capacity(places.len());
    for (i, &place) in places.iter().enumerate() {
        operands.push(match &call.args()[place] {
            entry::Arg::Element(x) if x.dtype() != kernel.input(i) => return Err(Error::dtype(call.op, x.dtype())),
            entry::Arg::Element(x) => loops::OnHostRaw::Scalar(x),
            _ => loops::OnHostRaw::new(b, call.op, call.array::<Torch>(place)?, kernel.input(i), free[i])?,
        });
    }
    // SAFETY: the kernel belongs to ops of the type `F`, and each operand has the dtype that the kernel takes.
    Outputs::one(call, unsafe { loops::run_raw(b, kernel, ptr::from_ref(f).cast(), &operands) })
}
