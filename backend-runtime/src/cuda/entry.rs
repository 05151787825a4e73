//! Arguments and results of the entries of rows on NVIDIA GPUs.

use super::{Cuda, RawArray, elementwise, kernel::Bytes, map::Input, program::Expression};
use crate::{
    Axes, DType, EachSource, FoldSource, Result,
    entry::{Arg, ArrayMut, ArrayRef, Call, Outputs, RawLibrary},
};

impl RawLibrary for Cuda {
    type Raw = RawArray;

    fn raw(x: ArrayRef<'_>) -> Option<&RawArray> {
        if let ArrayRef::Cuda(x) = x { Some(x) } else { None }
    }

    fn raw_mut(x: ArrayMut<'_>) -> Option<&mut RawArray> {
        if let ArrayMut::Cuda(x) = x { Some(x) } else { None }
    }

    // `is_free` keeps its default, false, because the code of `Cuda` itself searches for inputs that it may overwrite
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
