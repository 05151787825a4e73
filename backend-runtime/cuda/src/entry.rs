//! Arguments and results of the entries of rows on NVIDIA GPUs.

use super::{Cuda, CudaArray, RawArray, elementwise, kernel::Bytes, map::Input, program::Expression};
use backend_core::{
    Arrays, Axes, DType, EachSource, Element, FoldSource, Result,
    entry::{AnyArray, AnyLibrary, Arg, ArrayValue, Call, LibraryArray, Outputs, RawLibrary},
};
use std::fmt;

impl LibraryArray for RawArray {
    fn backend(&self) -> &'static str {
        Cuda::NAME
    }

    fn dtype(&self, _op: &'static str) -> Result<DType> {
        Ok(self.dtype)
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn device(&self) -> String {
        self.memory.device().name()
    }

    fn handle(&self) -> Box<dyn LibraryArray> {
        Box::new(self.clone())
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CudaArray({:?}, {}, {})", self.shape, self.dtype, self.memory.device().name())
    }
}

impl RawLibrary for Cuda {
    type Raw = RawArray;

    // `is_free` keeps its default, false, because the code of `Cuda` itself searches for inputs that it may overwrite
}

impl AnyLibrary for Cuda {
    #[inline]
    fn value_ref<T: Element>(x: &ArrayValue) -> Option<&CudaArray<T>> {
        CudaArray::of_raw_ref(x.get()?)
    }

    #[inline]
    fn value_mut<T: Element>(x: &mut ArrayValue) -> Option<&mut CudaArray<T>> {
        CudaArray::of_raw_mut(x.get_mut()?)
    }

    #[inline]
    fn into_value<T: Element>(x: CudaArray<T>) -> ArrayValue {
        ArrayValue::of_library(x.into_raw())
    }
}

impl<T: Element> From<CudaArray<T>> for AnyArray<T> {
    fn from(x: CudaArray<T>) -> AnyArray<T> {
        AnyArray::of::<Cuda>(x)
    }
}

/// Applies an elementwise op to the arguments at `places`.
///
/// # Panics
/// If the call has no loop of the op `F`, which only a mistake in generated code can cause.
pub fn each<F: EachSource>(b: &Cuda, call: &Call<'_, '_>, f: &F, places: &[usize]) -> Result<Outputs> {
    let result = call.each_loop().kernel_of::<F>().output();
    applied(b, call, F::NAME, Expression::of::<F>(call.dtype), f.params(), F::MOVED, places, result)
}

#[allow(clippy::too_many_arguments)] // the properties of the op and of the call
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
            Arg::Given(x) => match x.by_ref().get() {
                Some(x) => Input::Given(x),
                None => Input::Array(call.array::<Cuda>(place)?),
            },
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
