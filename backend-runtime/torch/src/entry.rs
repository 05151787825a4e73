//! Arguments and results of the entries of rows on libtorch.

use super::{
    Arg, Aten, OpContext, Tensor, Torch, TorchArray,
    array::{is_alone, write_tensor},
    aten,
    hosted::{Hosted, hosted},
    loops,
    tensor::Number,
};
use backend_core::{
    Arrays, DType, EachSource, Element, Error, Result,
    entry::{self, AnyArray, AnyLibrary, ArrayValue, Call, Library, LibraryArray, Outputs, RawLibrary},
    numpyish::raw::View,
    raw::{RawElement, RawOperand},
};
use std::{fmt, ptr};

impl LibraryArray for Tensor {
    fn backend(&self) -> &'static str {
        Torch::NAME
    }

    fn dtype(&self, op: &'static str) -> Result<DType> {
        self.dtype().ok_or_else(|| Error::library(op, "torch", "a tensor of a dtype that this library lacks"))
    }

    fn shape(&self) -> &[usize] {
        self.shape()
    }

    fn device(&self) -> String {
        self.device_name()
    }

    fn handle(&self) -> Box<dyn LibraryArray> {
        Box::new(self.clone())
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_tensor(self, f)
    }
}

impl RawLibrary for Torch {
    type Raw = Tensor;

    fn is_free(x: &Tensor, dtype: DType) -> bool {
        x.is(dtype) && is_alone(x, dtype)
    }
}

impl AnyLibrary for Torch {
    #[inline]
    fn value_ref<T: Element>(x: &ArrayValue) -> Option<&TorchArray<T>> {
        TorchArray::of_raw_ref(x.get()?)
    }

    #[inline]
    fn value_mut<T: Element>(x: &mut ArrayValue) -> Option<&mut TorchArray<T>> {
        TorchArray::of_raw_mut(x.get_mut()?)
    }

    #[inline]
    fn into_value<T: Element>(x: TorchArray<T>) -> ArrayValue {
        ArrayValue::of_library(x.into_raw())
    }
}

impl<T: Element> From<TorchArray<T>> for AnyArray<T> {
    fn from(x: TorchArray<T>) -> AnyArray<T> {
        AnyArray::of::<Torch>(x)
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
    let each = call.each_loop();
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
        let of = OpContext::new(b, call.op, kernel.input(i));
        operands.push(match &call.args()[place] {
            entry::Arg::Element(x) if x.dtype() != of.dtype => return Err(Error::dtype(call.op, x.dtype())),
            entry::Arg::Element(x) => (Hosted::Here(View::element(x)), None),
            _ => {
                let x = call.array::<Torch>(place)?;
                (hosted(of, x)?, free[i].then_some(x))
            }
        });
    }
    // SAFETY: the kernel belongs to ops of the type `F`, and each operand has the dtype that the kernel takes.
    Outputs::one(call, unsafe { loops::run_raw(b, kernel, ptr::from_ref(f).cast(), &operands) })
}
