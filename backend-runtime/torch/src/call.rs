//! Calls to libtorch's ops by name.

use super::{
    array::{TorchArray, wrong_dtype},
    backend::Torch,
    ffi::{Value, load, shim, status, tag},
    schema,
    tensor::{Arg, Tensor},
};
use backend_core::{
    Arrays, DType, Element, Error, Result,
    foreign::{self, Owner},
    threads,
};
use std::{
    ffi::{CString, c_void},
    fmt,
    ptr::NonNull,
    sync::OnceLock,
};

/// Maximum number of arguments of an op.
const MAX_ARGUMENTS: usize = 16;

/// Maximum number of values that an op returns.
const MAX_RESULTS: usize = 4;

/// One of libtorch's ops: a name and an overload. It is looked up once, at the first call.
pub struct Schema {
    name: &'static str,
    overload: &'static str,
    /// Whether the op may write to its arguments.
    in_place: bool,
    handle: OnceLock<Handle>,
}

#[derive(Clone, Copy)]
struct Handle(NonNull<c_void>);

// SAFETY: an operator handle is immutable, and libtorch calls it from any thread.
unsafe impl Send for Handle {}
// SAFETY: an operator handle is immutable, and libtorch calls it from any thread.
unsafe impl Sync for Handle {}

impl Schema {
    /// The op `name` (`"aten::sum"`) with its overload (`"dim_IntList"`, or `""` if it has none).
    pub const fn new(name: &'static str, overload: &'static str) -> Schema {
        Schema { name, overload, in_place: false, handle: OnceLock::new() }
    }

    /// An op that writes to an argument. Functions of this backend may use it only on a tensor that has no other
    /// handle.
    pub(super) const fn in_place(name: &'static str, overload: &'static str) -> Schema {
        Schema { name, overload, in_place: true, handle: OnceLock::new() }
    }

    fn handle(&self, op: &'static str) -> Result<Handle> {
        if let Some(handle) = self.handle.get() {
            return Ok(*handle);
        }
        let shim = load()?;
        let text =
            |s: &str| CString::new(s).map_err(|_| Error::argument(op, format!("`{s}` must be the name of an op")));
        let (name, overload) = (text(self.name)?, text(self.overload)?);
        let mut handle = std::ptr::null_mut();
        // SAFETY: both strings outlive the call, and on success the shim writes `handle`.
        let status = unsafe { (shim.find)(name.as_ptr(), overload.as_ptr(), &mut handle) };
        let Some(handle) = NonNull::new(handle).map(Handle) else {
            return Err(shim.error(op, status, &""));
        };
        if !self.in_place {
            let text = handle.text(op)?;
            if let Some(why) = schema::written(&text) {
                return Err(Error::argument(op, format!("{text}: {why}")));
            }
        }
        Ok(*self.handle.get_or_init(|| handle))
    }

    /// The schema as libtorch writes it: `aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`.
    /// `op` is the name in errors.
    pub fn text(&self, op: &'static str) -> Result<String> {
        self.handle(op)?.text(op)
    }
}

impl Handle {
    fn text(self, op: &'static str) -> Result<String> {
        // SAFETY: the shim returned this handle.
        match unsafe { (shim().schema)(self.0.as_ptr()) } {
            status::DONE => Ok(shim().message()),
            status => Err(shim().error(op, status, &"")),
        }
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.name, self.overload)
    }
}

/// The results of a call, taken in order. Results that are not taken are dropped.
pub struct Results {
    op: &'static str,
    values: [Value; MAX_RESULTS],
    next: usize,
}

impl Results {
    /// The name of this crate's op that called libtorch's op.
    pub fn op(&self) -> &'static str {
        self.op
    }

    fn take(&mut self, tag: i32, wanted: &str) -> Result<Value> {
        let value = self.values.get(self.next).filter(|v| v.tag == tag).copied();
        self.next += usize::from(value.is_some());
        value.ok_or_else(|| Error::library(self.op, "torch", format!("result {} is no {wanted}", self.next)))
    }

    /// Takes the next result, which must be a tensor.
    #[inline]
    pub fn tensor(&mut self) -> Result<Tensor> {
        let value = self.take(tag::TENSOR, "tensor")?;
        // SAFETY: the shim returned one reference, which `take` hands out once.
        unsafe { Tensor::owning(value.word as *mut _) }.ok_or_else(|| undefined(self.op))
    }

    /// Takes the next result, which must be a list of tensors.
    pub fn list(&mut self) -> Result<Vec<Tensor>> {
        let value = self.take(tag::TENSORS, "list of tensors")?;
        Ok(tensors(&value))
    }
}

fn undefined(op: &'static str) -> Error {
    Error::library(op, "torch", "an undefined tensor")
}

/// Takes the tensors of a list that the shim returned, and frees the list.
fn tensors(value: &Value) -> Vec<Tensor> {
    let list = value.word as *mut *mut super::ffi::Impl;
    // SAFETY: the shim returned a list of `count` pointers with one reference each; this function takes each reference
    // and the list once.
    unsafe {
        let tensors = (0..value.count as usize).filter_map(|i| Tensor::owning(*list.add(i))).collect();
        (shim().drop_list)(list.cast());
        tensors
    }
}

impl Drop for Results {
    fn drop(&mut self) {
        for value in &self.values[self.next.min(MAX_RESULTS)..] {
            match value.tag {
                // SAFETY: the value owns one reference, which was not taken.
                tag::TENSOR => drop(unsafe { Tensor::owning(value.word as *mut _) }),
                tag::TENSORS => drop(tensors(value)),
                _ => {}
            }
        }
    }
}

backend_core::op_context!(Torch);

impl OpContext<'_> {
    /// Returns an error if the call's dtype is bool. Ops that are undefined for bools call this method before they run
    /// a loop on the host.
    pub fn require_numbers(self) -> Result<()> {
        if self.dtype == DType::Bool { Err(Error::dtype(self.op, self.dtype)) } else { Ok(()) }
    }

    /// Returns an error if an array's dtype differs from the call's dtype.
    pub fn require(self, arrays: &[&Tensor]) -> Result<()> {
        match arrays.iter().find(|x| !x.is(self.dtype)) {
            None => Ok(()),
            Some(x) => Err(wrong_dtype(self.op, x, self.dtype)),
        }
    }
}

impl OpContext<'_> {
    /// Calls libtorch's op; omitted trailing arguments take their defaults.
    pub fn results(self, schema: &Schema, args: &[Arg<'_>]) -> Result<Results> {
        threads::refuse_forked(Torch::NAME)?;
        foreign::release_some(Owner::Library);
        let handle = schema.handle(self.op)?;
        let ndim = args.iter().find_map(|a| if let Arg::Tensor(t) = a { Some(t.ndim()) } else { None }).unwrap_or(0);
        let mut values = [Value::NONE; MAX_ARGUMENTS];
        // no op of libtorch has more than two lists of axes
        let (mut axes, mut spare) = ([Vec::new(), Vec::new()], Vec::new());
        let mut lists = axes.iter_mut();
        if args.len() > MAX_ARGUMENTS {
            return Err(Error::argument(
                self.op,
                format!("{schema:?} takes at most {MAX_ARGUMENTS} arguments, but {} were given", args.len()),
            ));
        }
        for (value, arg) in values.iter_mut().zip(args) {
            let room = if matches!(arg, Arg::Axes(_)) { lists.next() } else { Some(&mut spare) };
            let room = room.ok_or_else(|| Error::argument(self.op, "at most two lists of axes must be given"))?;
            *value = arg.value(self.op, ndim, room)?;
        }
        let (mut results, mut given) = ([Value::NONE; MAX_RESULTS], 0);
        // SAFETY: the shim returned the handle; `values` borrow from `args`, `axes` and `spare`, which outlive the
        // call.
        let status = unsafe {
            (shim().call)(
                handle.0.as_ptr(),
                self.backend.index(),
                values.as_ptr(),
                args.len(),
                results.as_mut_ptr(),
                MAX_RESULTS,
                &mut given,
            )
        };
        let results = Results { op: self.op, values: results, next: 0 };
        if status == status::DONE { Ok(results) } else { Err(self.failed(status, args)) }
    }

    /// The error of a failed call: libtorch's message, then the shapes of the operands.
    #[cold]
    #[inline(never)]
    fn failed(self, status: i32, args: &[Arg<'_>]) -> Error {
        let error = shim().error(self.op, status, self.backend);
        let shapes: Vec<String> = args
            .iter()
            .filter_map(|a| if let Arg::Tensor(t) = a { Some(format!("{:?}", t.shape())) } else { None })
            .collect();
        match error {
            Error::Library { op, backend, message, .. } if !shapes.is_empty() => {
                Error::library(op, backend, format!("{message} (shapes {})", shapes.join(", ")))
            }
            other => other,
        }
    }

    /// Like [`OpContext::results`], for an op that returns one tensor.
    #[inline]
    pub fn call(self, schema: &Schema, args: &[Arg<'_>]) -> Result<Tensor> {
        self.results(schema, args)?.tensor()
    }

    /// Like [`OpContext::results`], for an op that returns two tensors.
    pub fn pair(self, schema: &Schema, args: &[Arg<'_>]) -> Result<(Tensor, Tensor)> {
        let mut results = self.results(schema, args)?;
        Ok((results.tensor()?, results.tensor()?))
    }

    /// Like [`OpContext::results`], for an op that returns a list of tensors.
    pub fn list(self, schema: &Schema, args: &[Arg<'_>]) -> Result<Vec<Tensor>> {
        self.results(schema, args)?.list()
    }

    /// Wraps a tensor as an array; an error if it has another dtype than `T`.
    #[inline]
    pub fn array<T: Element>(self, tensor: Tensor) -> Result<TorchArray<T>> {
        TorchArray::new(self.op, tensor)
    }
}

#[cfg(test)]
impl Torch {
    /// The context of the op `op` on this backend, with the dtype `T`.
    #[inline(always)]
    pub(super) fn on<T: Element>(&self, op: &'static str) -> OpContext<'_> {
        OpContext::new(self, op, T::DTYPE)
    }
}

/// Arguments of a call: `args![&x, axis, true]`.
macro_rules! args {
    ($($arg:expr),* $(,)?) => { &[$($crate::tensor::Arg::from($arg)),*] };
}
pub(super) use args;
