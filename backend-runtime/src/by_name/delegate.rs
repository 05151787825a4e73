//! Calls by name on a backend that can hold arrays of several libraries, such as `AnyBackend`. The arrays in a call's
//! arguments are converted to arrays of one library. This library runs the call, and its result is converted back.
//! The calls are compiled once for each library, and not again for the backend that holds its arrays.

use super::{DynArray, Value};
use crate::{Arrays, Element, Error, Result, dispatch};

/// A function that calls one op by name, on a backend of the type `B`.
pub type CallOf<B> = fn(&B, &[Value<B>], &[(&str, Value<B>)]) -> Result<Value<B>>;

/// A backend whose arrays may contain arrays of the backend `L`. For example, `AnyArray` may contain an array of
/// `Cuda`.
pub trait Holds<L: Arrays>: Arrays {
    /// Returns the array of `L` that `x` contains. Returns an error if `x` contains an array of another backend.
    fn held<'a, T: Element>(x: &'a Self::Array<T>, op: &'static str) -> Result<&'a L::Array<T>>;

    /// Makes an array of this backend that contains an array of `L`.
    fn hold<T: Element>(x: L::Array<T>) -> Self::Array<T>;
}

/// Runs a call by name on the library `l`: converts the arguments to arrays of the library, and the result back.
pub fn call_on_library<B: Holds<L>, L: Arrays>(
    l: &L,
    op: &'static str,
    call: Option<CallOf<L>>,
    args: &[Value<B>],
    options: &[(&str, Value<B>)],
) -> Result<Value<B>> {
    let Some(call) = call else {
        return Err(Error::unsupported(op, L::NAME));
    };
    let mut of_library = Vec::with_capacity(args.len());
    for value in args {
        of_library.push(held(op, value)?);
    }
    let mut named = Vec::with_capacity(options.len());
    for (name, value) in options {
        named.push((*name, held(op, value)?));
    }
    hold(op, call(l, &of_library, &named)?)
}

/// Replaces the arrays in a value by the arrays of the library `L` that they contain.
fn held<B: Holds<L>, L: Arrays>(op: &'static str, value: &Value<B>) -> Result<Value<L>> {
    value.with_arrays(op, &mut |x| {
        dispatch!(x.dtype(), T => {
            let x = x.get::<T>().ok_or_else(|| Error::dtype(op, x.dtype()))?;
            Ok(DynArray::of::<T>(B::held(x, op)?.clone()))
        })
    })
}

/// Replaces the arrays of the library `L` in a value by arrays of the backend `B` that contain them.
fn hold<B: Holds<L>, L: Arrays>(op: &'static str, value: Value<L>) -> Result<Value<B>> {
    value.with_arrays(op, &mut |x| {
        dispatch!(x.dtype(), T => {
            let x = x.get::<T>().ok_or_else(|| Error::dtype(op, x.dtype()))?;
            Ok(DynArray::of::<T>(B::hold::<T>(x.clone())))
        })
    })
}
