//! The op table's `aten` mappings, each from an op of this crate to an op of libtorch.

use super::{
    Torch, TorchArray,
    call::{OpContext, Results, Schema},
    schema,
    strategy::{Detour, DtypeStrategy},
    tensor::{Arg, Tensor},
};
use backend_core::{DType, Element, Error, Result, rules};

/// The mapping of an op of this crate: libtorch's op, and the strategy for dtypes that libtorch's op lacks.
#[derive(Debug)]
pub struct Aten {
    op: &'static str,
    schema: Schema,
    via: DtypeStrategy,
}

impl Aten {
    /// Maps this crate's op `op` to the overload `overload` of libtorch's op `name`: `Aten::new("add", "aten::add",
    /// "Tensor", DtypeStrategy::Parts)`.
    pub const fn new(op: &'static str, name: &'static str, overload: &'static str, via: DtypeStrategy) -> Aten {
        Aten { op, schema: Schema::new(name, overload), via }
    }

    /// Checks the mapping against libtorch's own schema: the op must exist, write to none of its arguments, take at
    /// least `args` arguments, have defaults for the other arguments, and return only values that [`FromTensors`]
    /// reads.
    pub fn check_schema(&self, args: usize) -> Result<()> {
        let text = self.schema.text(self.op)?;
        match schema::mismatch(&text, args) {
            None => Ok(()),
            Some(why) => Err(Error::argument(self.op, format!("{text}: {why}"))),
        }
    }
}

/// Conversion of the results of libtorch's op to the result of this crate's op: an array, a list or a tuple.
pub trait FromTensors: Sized {
    /// Takes the results in order; `back` converts each result back to the dtype of the call.
    fn from_tensors(results: &mut Results, back: &Back<'_>) -> Result<Self>;
}

/// Converts the results of a call back to the dtype of the call, after the arguments were converted to another dtype.
pub struct Back<'b> {
    on: OpContext<'b>,
    detour: Detour,
}

impl Back<'_> {
    #[inline]
    fn array<T: Element>(&self, x: Tensor) -> Result<TorchArray<T>> {
        self.on.array(self.left(x, T::DTYPE)?)
    }

    fn left(&self, x: Tensor, dtype: DType) -> Result<Tensor> {
        if self.detour.is_of(dtype) { self.detour.leave(self.on, x) } else { Ok(x) }
    }
}

impl<T: Element> FromTensors for TorchArray<T> {
    #[inline]
    fn from_tensors(results: &mut Results, back: &Back<'_>) -> Result<Self> {
        back.array(results.tensor()?)
    }
}

impl<T: Element> FromTensors for Vec<TorchArray<T>> {
    fn from_tensors(results: &mut Results, back: &Back<'_>) -> Result<Self> {
        results.list()?.into_iter().map(|x| back.array(x)).collect()
    }
}

macro_rules! tuples {
    ($(($($t:ident),*))*) => {$(
        impl<$($t: FromTensors),*> FromTensors for ($($t,)*) {
            fn from_tensors(results: &mut Results, back: &Back<'_>) -> Result<Self> {
                Ok(($($t::from_tensors(results, back)?,)*))
            }
        }
    )*};
}
tuples! { (A, B) (A, B, C) (A, B, C, D) }

/// Calls libtorch's op with the arguments of this crate's op. `T` is the dtype of the call.
pub fn aten<T: Element, R: FromTensors>(b: &Torch, aten: &Aten, args: &[Arg<'_>]) -> Result<R> {
    let (mut results, back) = called(b, aten, T::DTYPE, args)?;
    R::from_tensors(&mut results, &back)
}

/// Like [`aten`], for a call of dtype `dtype` with one result, whose dtype is `result`.
pub fn aten_of_dtype(b: &Torch, aten: &Aten, dtype: DType, args: &[Arg<'_>], result: DType) -> Result<Tensor> {
    let (mut results, back) = called(b, aten, dtype, args)?;
    back.left(results.tensor()?, result)
}

/// Calls libtorch's op with the arguments of this crate's op, for a call of dtype `dtype`.
fn called<'b>(b: &'b Torch, aten: &Aten, dtype: DType, args: &[Arg<'_>]) -> Result<(Results, Back<'b>)> {
    let on = OpContext::new(b, aten.op, dtype);
    let limited = infinite_beyond_float32(dtype, args);
    let args = limited.as_deref().unwrap_or(args);
    let detour = aten.via.detour(dtype);
    let results = match detour {
        Detour::None => on.results(&aten.schema, args),
        _ => {
            let owned = args.iter().map(|arg| detour.enter_arg(on, arg)).collect::<Result<Vec<_>>>()?;
            let args: Vec<Arg<'_>> = owned.iter().zip(args).map(|(new, old)| new.arg(old)).collect();
            on.results(&aten.schema, &args)
        }
    };
    Ok((results.map_err(|e| explain(aten.op, e, args))?, Back { on, detour }))
}

/// The error of a failed call: a broadcasting error if the operands do not broadcast, a memory error if their common
/// shape exceeds any memory, else libtorch's own error.
#[cold]
#[inline(never)]
fn explain(op: &'static str, error: Error, args: &[Arg<'_>]) -> Error {
    let shapes: Vec<&[usize]> =
        args.iter().filter_map(|a| if let Arg::Tensor(t) = a { Some(t.shape()) } else { None }).collect();
    match error {
        Error::Library { .. } if shapes.len() > 1 => {
            let size = rules::broadcast_all(op, shapes).and_then(|shape| rules::count(op, &shape, 1));
            size.err().unwrap_or(error)
        }
        other => other,
    }
}

/// Replaces the numbers beyond float32's range by infinity if libtorch computes in float32, because libtorch refuses
/// these numbers. Returns `None` if no argument changes.
fn infinite_beyond_float32<'a>(dtype: DType, args: &[Arg<'a>]) -> Option<Vec<Arg<'a>>> {
    let narrow = matches!(dtype, DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Complex64);
    let beyond = |arg: &Arg<'_>| matches!(arg, Arg::Real(x) if x.abs() > f64::from(f32::MAX));
    if !narrow || !args.iter().any(beyond) {
        return None;
    }
    let limited = args.iter().map(|arg| match arg {
        Arg::Real(x) if beyond(arg) => Arg::Real(f64::INFINITY.copysign(*x)),
        other => other.clone(),
    });
    Some(limited.collect())
}
