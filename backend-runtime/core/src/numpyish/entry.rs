//! Arguments and results of the entries of rows on the CPU.

use super::{
    NdArray, Numpyish,
    casting::Cast,
    kernel::Kernel,
    raw::{RawArray, View},
    run::run_over,
    typed::{Change, Changeable, ItemOrCopy, Typed},
};
use crate::{
    At, Axes, DType, DynArray, EachSource, Element, Error, FoldSource, Result, dispatch,
    entry::{Arg, ArrayMut, ArrayRef, ArrayValue, Call, Library, Outputs, ToValue},
    raw::RawElement,
};
use std::ptr;

/// An array whose dtype is known only at run time.
pub trait AnyNdArray: Changeable {
    /// Returns a handle of the array.
    fn handle(&self) -> DynArray<Numpyish>;

    /// Applies a change to the array.
    fn changed(&self, change: Change) -> DynArray<Numpyish>;

    /// Returns whether this is the only handle of the memory, and the memory is so large that reusing it saves time.
    fn is_alone(&mut self) -> bool;
}

impl<T: Element> AnyNdArray for NdArray<T> {
    fn handle(&self) -> DynArray<Numpyish> {
        T::numpyish_dynamic(self.clone())
    }

    fn changed(&self, change: Change) -> DynArray<Numpyish> {
        T::numpyish_dynamic(T::numpyish_changed(self, change))
    }

    fn is_alone(&mut self) -> bool {
        T::numpyish_is_alone(self)
    }
}

/// Returns the error for an array of another backend.
fn foreign(op: &'static str, x: ArrayRef<'_>) -> Error {
    Error::backend(op, <Numpyish as crate::Arrays>::NAME, x.backend())
}

impl Library for Numpyish {
    type Arg<'a> = View<'a>;
    type OperandArg<'a> = View<'a>;
    type TargetRef<'a> = &'a mut dyn AnyNdArray;
    type TargetArg<'a> = &'a mut dyn Changeable;
    type Changed = ();

    fn arg<'a>(op: &'static str, x: ArrayRef<'a>) -> Result<View<'a>> {
        match x {
            ArrayRef::Numpyish(x) => Ok(x.view()),
            other => Err(foreign(op, other)),
        }
    }

    fn operand<'a>(op: &'static str, x: ArrayRef<'a>) -> Result<View<'a>> {
        Self::arg(op, x)
    }

    fn number(x: &RawElement) -> View<'_> {
        View::element(x)
    }

    fn target<'a>(op: &'static str, x: ArrayMut<'a>) -> Result<&'a mut dyn AnyNdArray> {
        match x {
            ArrayMut::Numpyish(x) => Ok(x),
            other => Err(foreign(op, other.by_ref())),
        }
    }

    fn target_arg<'t>(x: &'t mut &mut dyn AnyNdArray) -> &'t mut dyn Changeable {
        &mut **x
    }

    fn changed(_: &mut &mut dyn AnyNdArray, (): ()) {}

    fn is_free(x: &mut ArrayMut<'_>, dtype: DType) -> bool {
        match x {
            ArrayMut::Numpyish(x) => x.view().dtype == dtype && x.is_alone(),
            _ => false,
        }
    }
}

impl ToValue for RawArray {
    fn to_value(self, _: &Call<'_, '_>) -> Result<ArrayValue> {
        let dtype = self.dtype();
        dispatch!(dtype, T => Ok(ArrayValue::Numpyish(T::numpyish_dynamic(T::numpyish_typed(self)))))
    }
}

impl ToValue for Change {
    fn to_value(self, call: &Call<'_, '_>) -> Result<ArrayValue> {
        match call.first_array() {
            Some(ArrayRef::Numpyish(x)) => Ok(ArrayValue::Numpyish(x.changed(self))),
            Some(other) => Err(foreign(call.op, other)),
            None => Err(Error::argument(call.op, "an array is needed")),
        }
    }
}

impl ToValue for ItemOrCopy {
    fn to_value(self, call: &Call<'_, '_>) -> Result<ArrayValue> {
        match self {
            ItemOrCopy::Copy(array) => array.to_value(call),
            ItemOrCopy::Item(place) => match call.list_item(place) {
                Some(ArrayRef::Numpyish(x)) => Ok(ArrayValue::Numpyish(x.handle())),
                _ => Err(Error::argument(call.op, "a list of arrays is needed")),
            },
        }
    }
}

/// Applies an elementwise op to the arguments at `places`.
///
/// # Panics
/// If the call has no loop of the op `F`, which only a mistake in generated code can cause.
pub fn each<F: EachSource>(_: &Numpyish, call: &mut Call<'_, '_>, f: &F, places: &[usize]) -> Result<Outputs> {
    let each = call.each_loop();
    // SAFETY: the kernel belongs to ops of the type `F`.
    unsafe { applied(call, each.kernel_of::<F>(), ptr::from_ref(f).cast(), each.is_identity(), places) }
}

/// Converts the array at `place` to the second dtype of the call.
pub fn converted(_: &Numpyish, call: &mut Call<'_, '_>, place: usize) -> Result<Outputs> {
    let cast = Cast { from: call.dtype, to: call.to };
    // SAFETY: the kernel belongs to casts between these dtypes.
    unsafe { applied(call, cast.kernel(), ptr::from_ref(&cast).cast(), cast.from == cast.to, &[place]) }
}

/// # Safety
/// The kernel belongs to the op at `op`.
unsafe fn applied(
    call: &mut Call<'_, '_>,
    kernel: &'static Kernel,
    op: *const u8,
    is_identity: bool,
    places: &[usize],
) -> Result<Outputs> {
    if is_identity && let Arg::Array(ArrayRef::Numpyish(x)) = &call.args()[places[0]] {
        return Ok(Outputs::One(ArrayValue::Numpyish(x.handle())));
    }
    let mut free = 0_u8;
    for (i, &place) in places.iter().enumerate() {
        free |= u8::from(call.is_free::<Numpyish>(place, kernel.output())) << i;
    }
    let none = View { start: ptr::null(), dtype: DType::Bool, shape: &[], strides: &[] };
    let mut views = [none; 3];
    for (i, &place) in places.iter().enumerate() {
        views[i] = call.operand::<Numpyish>(place)?;
        if views[i].dtype != kernel.input(i) {
            return Err(Error::dtype(call.op, views[i].dtype));
        }
    }
    let operands = &views[..places.len()];
    for (i, &place) in places.iter().enumerate().filter(|(i, _)| free & (1 << i) != 0) {
        // SAFETY: the caller guarantees that the kernel belongs to the op; it also belongs to these dtypes. Nothing
        // else uses the memory of an operand in `free`.
        if unsafe { run_over(kernel, op, operands, operands[i]) } {
            return Ok(Outputs::One(match call.array_ref(place) {
                ArrayRef::Numpyish(x) => ArrayValue::Numpyish(x.handle()),
                other => return Err(foreign(call.op, other)),
            }));
        }
    }
    dispatch!(kernel.output(), T => {
        // SAFETY: the caller guarantees that the kernel belongs to the op; it also belongs to these dtypes. `T` is the
        // dtype of its result.
        let result = unsafe { T::numpyish_run(kernel, op, operands, At::default())? };
        Ok(Outputs::One(ArrayValue::Numpyish(T::numpyish_dynamic(result))))
    })
}

/// Folds the array at `place` over axes; the result has the dtype `result`.
pub fn fold<F: FoldSource>(
    _: &Numpyish,
    call: &Call<'_, '_>,
    f: &F,
    place: usize,
    result: DType,
    axis: Axes,
    keepdims: bool,
) -> Result<Outputs> {
    let x = call.array::<Numpyish>(place)?;
    Outputs::one(call, super::reduction::fold_of(f, x.into(), result, axis, keepdims))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{run::REUSED, testing::array},
        *,
    };
    use crate::{
        Each, Numeric,
        entry::{EachLoop, Row, one, run},
    };

    /// An op with a number as its field: `x1 + scale * x2`.
    struct Scaled {
        scale: f64,
    }

    impl EachSource for Scaled {
        const NAME: &'static str = "scaled";
        const CUDA: &'static str = "";
        const INPUTS: &'static [&'static str] = &[];
        const PARAMS: &'static [&'static str] = &[];
    }

    impl<T: Numeric> Each<2, T> for Scaled {
        type Out = T;
        #[inline(always)]
        fn apply(&self, &[x, y]: &[T; 2]) -> T {
            x.plus(T::from_f64(self.scale).times(y))
        }
    }

    const ROW: &Row = &Row::new(&crate::OpInfo::new("scaled", "", "", "", &[], &[], "", "", "", None))
        .with_loops(|dtype| match dtype {
            DType::Float32 => Some(EachLoop::new::<2, f32, Scaled>()),
            _ => Some(EachLoop::new::<2, f64, Scaled>()),
        })
        .with_numpyish(|b, call| each(b, call, &Scaled { scale: call.f64(2) }, &[0, 1]));

    fn scaled<T: Numeric>(args: &mut [Arg<'_>]) -> Result<NdArray<T>> {
        one::<Numpyish, T>("scaled", run(&Numpyish::new(), ROW, (T::DTYPE, T::DTYPE), args)?)
    }

    #[test]
    fn results_overwrite_arrays_that_are_given() {
        let n = REUSED / size_of::<f64>();
        let (mut x, y) = (array("test", &[n], vec![1.0; n]).unwrap(), array("test", &[n], vec![2.0; n]).unwrap());
        let start = x.as_ptr();
        let given = Arg::Given(ArrayMut::Numpyish(&mut x));
        let z = scaled::<f64>(&mut [given, Arg::array::<Numpyish, f64>(&y), Arg::Real(10.0)]).unwrap();
        assert_eq!((z.as_ptr(), z[[n - 1]]), (start, 21.0));
        drop(x);
        // the array has another handle
        let (mut z, other) = (z.clone(), z);
        let given = Arg::Given(ArrayMut::Numpyish(&mut z));
        let w = scaled::<f64>(&mut [given, Arg::element(1.0), Arg::Real(0.5)]).unwrap();
        assert_ne!(w.as_ptr(), start);
        assert_eq!((w[[0]], other[[0]]), (21.5, 21.0));
    }

    #[test]
    fn a_dtype_that_is_not_that_of_the_loop_is_refused() {
        let x = array("test", &[2], vec![1_i32, 2]).unwrap();
        let args = &mut [Arg::array::<Numpyish, i32>(&x), Arg::element(1.0_f32), Arg::Real(1.0)];
        assert_eq!(scaled::<f32>(args).unwrap_err(), Error::dtype("scaled", DType::Int32));
    }

    #[test]
    #[should_panic(expected = "the loop belongs to the op")]
    fn the_loop_of_another_op_is_refused() {
        struct Other;
        impl EachSource for Other {
            const NAME: &'static str = "other";
            const CUDA: &'static str = "";
            const INPUTS: &'static [&'static str] = &[];
            const PARAMS: &'static [&'static str] = &[];
        }
        let mut args = [Arg::element(1.0), Arg::element(2.0)];
        let _ = super::each(&Numpyish::new(), &mut Call::new(ROW, DType::Float64, &mut args), &Other, &[0, 1]);
    }
}
