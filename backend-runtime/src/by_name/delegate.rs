//! Calls by name on a backend that holds the arrays of several libraries: the values of a call are converted to one
//! library, which runs the call, and the result is converted back. The calls are compiled once for each library, and
//! not again for the backend that holds its arrays.

use super::{DynArray, Value};
use crate::{Arrays, Element, Error, Result, dispatch};

/// A call of one op by name, on one backend.
pub type CallOf<B> = fn(&B, &[Value<B>], &[(&str, Value<B>)]) -> Result<Value<B>>;

/// A backend whose arrays may be arrays of the backend `L`.
pub trait Holds<L: Arrays>: Arrays {
    /// The array of `L`; returns an error if the array belongs to another backend.
    fn held<'a, T: Element>(x: &'a Self::Array<T>, op: &'static str) -> Result<&'a L::Array<T>>;

    /// An array of this backend that holds an array of `L`.
    fn hold<T: Element>(x: L::Array<T>) -> Self::Array<T>;
}

/// Runs a call on the library `l`.
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

/// Converts the value's arrays to arrays of the library `L`.
fn held<B: Holds<L>, L: Arrays>(op: &'static str, value: &Value<B>) -> Result<Value<L>> {
    value.with_arrays(op, &mut |x| {
        dispatch!(x.dtype(), T => {
            let x = x.get::<T>().ok_or_else(|| Error::dtype(op, x.dtype()))?;
            Ok(DynArray::of::<T>(B::held(x, op)?.clone()))
        })
    })
}

/// Converts the value's arrays to arrays of the backend `B`, which holds them.
fn hold<B: Holds<L>, L: Arrays>(op: &'static str, value: Value<L>) -> Result<Value<B>> {
    value.with_arrays(op, &mut |x| {
        dispatch!(x.dtype(), T => {
            let x = x.get::<T>().ok_or_else(|| Error::dtype(op, x.dtype()))?;
            Ok(DynArray::of::<T>(B::hold::<T>(x.clone())))
        })
    })
}
