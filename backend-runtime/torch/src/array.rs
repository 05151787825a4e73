//! Arrays of the backend: libtorch tensors with their dtype in the type.

use super::{
    ffi::{code, load, shim, status},
    tensor::{Arg, Number, Tensor, Tensors, device_name},
};
use backend_core::{
    ArrayAttributes, Arrays, DType, Element, Error, HostArray, Operand, Result, dispatch,
    numpyish::{
        raw::{HostView, View},
        run::REUSED,
        typed::copied,
    },
    raw::{RawHandle, RawTarget, TypedArray},
    rules,
};
use ndarray::{ArrayViewD, IxDyn, ShapeBuilder};
use std::{
    ffi::c_void,
    fmt,
    marker::PhantomData,
    sync::atomic::{Ordering, fence},
};

/// An array of [`Torch`](super::Torch): a reference to a libtorch tensor of dtype `T`. Cloning shares the tensor.
#[repr(transparent)]
pub struct TorchArray<T> {
    tensor: Tensor,
    dtype: PhantomData<fn() -> T>,
}

impl<T> Clone for TorchArray<T> {
    #[inline]
    fn clone(&self) -> Self {
        TorchArray { tensor: self.tensor.clone(), dtype: PhantomData }
    }
}

impl<T: Element> TorchArray<T> {
    /// Wraps a tensor; returns an error if its dtype is not `T`.
    #[inline]
    pub fn new(op: &'static str, tensor: Tensor) -> Result<TorchArray<T>> {
        if tensor.code() == code(T::dtype()) {
            return Ok(TorchArray { tensor, dtype: PhantomData });
        }
        Err(wrong_dtype(op, &tensor, T::dtype()))
    }

    /// The libtorch tensor of this array.
    #[inline(always)]
    pub fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// Lengths of the axes.
    pub fn shape(&self) -> &[usize] {
        self.tensor.shape()
    }

    /// A view of the elements, which may have any strides; nothing is copied. Returns an error if the array is not on
    /// the host.
    pub fn view(&self) -> Result<ArrayViewD<'_, T>> {
        if self.tensor.device() >= 0 {
            let found = device_name(self.tensor.device());
            return Err(Error::device("view", "cpu", found));
        }
        let shape = self.shape();
        if self.tensor.size() == 0 {
            return ArrayViewD::from_shape(shape, &[])
                .map_err(|e| Error::shape("view", shape, format!("cannot be viewed: {e}")));
        }
        let layout = IxDyn(shape).strides(IxDyn(self.tensor.strides()));
        if T::DTYPE == DType::Bool {
            // SAFETY: the tensor has elements at these strides, each of the size of a byte, and every byte is a valid
            // `u8`.
            let bytes = unsafe { ArrayViewD::from_shape_ptr(layout.clone(), self.tensor.data().cast::<u8>()) };
            check_bools("view", bytes.iter())?;
        }
        // SAFETY: the tensor has elements of this dtype (`new` checked it) at these strides, and they neither change
        // nor are freed while `self` is borrowed; the shim resolves lazy conjugation and negation.
        Ok(unsafe { ArrayViewD::from_shape_ptr(layout, self.tensor.data().cast::<T>()) })
    }
}

impl<T: Element> TorchArray<T> {
    /// Views a tensor as an array; `None` if its dtype is not `T`.
    #[inline]
    pub(crate) fn of_raw_ref(tensor: &Tensor) -> Option<&TorchArray<T>> {
        let has_dtype = tensor.code() == code(T::dtype());
        // SAFETY: an array has the representation of its tensor, whose dtype was checked.
        has_dtype.then(|| unsafe { &*std::ptr::from_ref(tensor).cast() })
    }

    /// Views a tensor as an array, exclusively; `None` if its dtype is not `T`.
    #[inline]
    pub(crate) fn of_raw_mut(tensor: &mut Tensor) -> Option<&mut TorchArray<T>> {
        let has_dtype = tensor.code() == code(T::dtype());
        // SAFETY: an array has the representation of its tensor, whose dtype was checked. The methods of the array
        // keep the dtype.
        has_dtype.then(|| unsafe { &mut *std::ptr::from_mut(tensor).cast() })
    }

    /// Returns the tensor of the array.
    #[inline]
    pub(crate) fn into_raw(self) -> Tensor {
        self.tensor
    }

    /// The tensor, for changes that keep its dtype.
    pub(super) fn raw_mut(&mut self) -> &mut Tensor {
        &mut self.tensor
    }

    /// Returns whether a result may overwrite the memory. The memory must be on the host and large enough to be worth
    /// reusing, and this array must be its only handle.
    pub(super) fn is_alone(&self) -> bool {
        is_alone(&self.tensor, T::dtype())
    }

    /// A view of a tensor on the host; `None` on a GPU, or if a bool is neither 0 nor 1.
    pub(super) fn host_view(&self) -> Option<HostView<'_, T>> {
        let View { start, shape, strides, .. } = view_of(&self.tensor, T::DTYPE)?;
        // SAFETY: the tensor has elements of this dtype (`new` checked it) at these strides, and they neither change
        // nor are freed while `self` is borrowed; the shim resolves lazy conjugation and negation.
        Some(unsafe { HostView::new(start.cast(), shape, strides) })
    }
}

/// Returns whether a result may overwrite the memory of a tensor of dtype `dtype`; see [`TorchArray::is_alone`].
pub(super) fn is_alone(tensor: &Tensor, dtype: DType) -> bool {
    let bytes = tensor.size().saturating_mul(dtype.size());
    let alone = bytes >= REUSED && tensor.device() < 0 && tensor.is_alone(1);
    // the fence orders the reads of threads that have dropped their handles before the writes that follow
    fence(Ordering::Acquire);
    alone
}

/// A view of a tensor on the host; `None` if it has another dtype, is on a GPU, or has a bool that is neither 0 nor 1.
pub(super) fn view_of(tensor: &Tensor, dtype: DType) -> Option<View<'_>> {
    const { assert!(size_of::<usize>() == size_of::<isize>()) };
    let are_bools = || TorchArray::<bool>::new("view", tensor.clone())?.view().map(drop);
    if tensor.device() >= 0 || !tensor.is(dtype) || dtype == DType::Bool && are_bools().is_err() {
        return None;
    }
    let strides = tensor.strides();
    // SAFETY: libtorch's strides are never negative, so they have the same values as `usize` and as `isize`.
    let strides = unsafe { std::slice::from_raw_parts(strides.as_ptr().cast(), strides.len()) };
    // a tensor without elements gets a placeholder address, which is aligned for every dtype
    let none = std::ptr::dangling::<u64>().cast();
    let start = if tensor.size() == 0 { none } else { tensor.data().cast_const().cast() };
    Some(View { start, dtype, shape: tensor.shape(), strides })
}

impl RawHandle for Tensor {}

impl<T: Element> TypedArray for TorchArray<T> {
    type Raw = Tensor;

    #[inline(always)]
    fn raw(&self) -> &Tensor {
        &self.tensor
    }

    fn target(&mut self) -> RawTarget<'_, Tensor> {
        RawTarget::new(&mut self.tensor)
    }

    #[inline]
    fn from_raw(op: &'static str, raw: Tensor) -> Result<Self> {
        TorchArray::new(op, raw)
    }
}

impl<T: Element> ArrayAttributes for TorchArray<T> {
    type DType = T;

    #[inline]
    fn shape(&self) -> &[usize] {
        self.tensor.shape()
    }

    fn device(&self) -> String {
        device_name(self.tensor.device())
    }
}

impl<T: Element> fmt::Debug for TorchArray<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_tensor(&self.tensor, f)
    }
}

/// Writes the elements of a tensor, its dtype and its device.
pub(super) fn write_tensor(x: &Tensor, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some(dtype) = x.dtype() else { return write!(f, "{x:?}") };
    let device = device_name(x.device());
    let elements: Result<String> = dispatch!(dtype, T => to_host::<T>(x).map(|x| format!("{x:?}")));
    match elements {
        Ok(elements) => write!(f, "{elements}, dtype={dtype}, device={device}"),
        Err(e) => write!(f, "{:?} of {dtype}: {e}", x.shape()),
    }
}

#[cold]
#[inline(never)]
pub(super) fn wrong_dtype(op: &'static str, tensor: &Tensor, dtype: DType) -> Error {
    let message = format!("a tensor has libtorch's dtype {}, but {dtype} was expected", tensor.code());
    Error::library(op, "torch", message)
}

/// Returns an error for bytes other than 0 and 1, which are not valid as `bool`. libtorch accepts such bytes: one of
/// its ops can reinterpret any memory as bools.
fn check_bools<'a>(op: &'static str, mut bytes: impl Iterator<Item = &'a u8>) -> Result<()> {
    match bytes.find(|byte| **byte > 1) {
        None => Ok(()),
        Some(byte) => Err(Error::library(op, "torch", format!("a byte of a bool is {byte}, but must be 0 or 1"))),
    }
}

/// Copies the elements to the host, in C order. The tensor must have dtype `T`.
pub(super) fn to_host<T: Element>(tensor: &Tensor) -> Result<HostArray<T>> {
    const OP: &str = "to_ndarray";
    let shape = tensor.shape();
    let count = rules::count(OP, shape, size_of::<T>())?;
    let mut elements = Vec::<T>::new();
    elements.try_reserve_exact(count).map_err(|_| Error::memory(OP, count * size_of::<T>()))?;
    if count > 0 {
        // SAFETY: `elements` has room for `count` elements of the tensor's dtype, and on success all of them are
        // written.
        let status = unsafe { (shim().to_host)(tensor.as_ptr(), elements.as_mut_ptr().cast()) };
        if status != status::DONE {
            return Err(shim().error(OP, status, &""));
        }
        if T::DTYPE == DType::Bool {
            // SAFETY: `count` bytes were written, one for each bool.
            check_bools(OP, unsafe { std::slice::from_raw_parts(elements.as_ptr().cast::<u8>(), count) }.iter())?;
        }
        // SAFETY: all elements are written, the bools are checked, and any bytes are valid for the other dtypes.
        unsafe { elements.set_len(count) };
    }
    HostArray::from_shape_vec(shape, elements).map_err(|e| Error::shape(OP, shape, e.to_string()))
}

/// Makes a tensor from an array. On the host (`device` is -1), the tensor shares the array's memory and keeps it alive;
/// on a GPU, the tensor is a copy. An array with negative strides is copied. If the memory has no other handle, the
/// tensor becomes its only owner.
pub(super) fn from_host<T: Element>(x: HostArray<T>, device: i32) -> Result<TorchArray<T>> {
    const OP: &str = "from_ndarray";
    let shim = load()?;
    rules::count(OP, x.shape(), size_of::<T>())?;
    let x = if x.is_empty() || x.strides().iter().any(|&s| s < 0) { copied(OP, x.view())? } else { x };
    let given = x.is_unique();
    let lengths: Vec<i64> = x.shape().iter().map(|&d| d as i64).collect();
    let strides: Vec<i64> = x.strides().iter().map(|&s| s as i64).collect();
    let (data, owner) = (x.as_ptr(), Box::into_raw(Box::new(x)));
    let mut result = std::ptr::null_mut();
    // SAFETY: `owner` keeps the elements at `data` alive and unchanged until the shim drops it, once: a shared ndarray
    // is copied before it is changed, and an ndarray passed by value belongs to the tensor alone. Elements are `Send`,
    // so any thread may drop them.
    let status = unsafe {
        (shim.from_host)(
            data.cast_mut().cast(),
            lengths.as_ptr(),
            strides.as_ptr(),
            lengths.len(),
            code(T::DTYPE),
            device,
            given.into(),
            drop_owner::<T>,
            owner.cast(),
            &mut result,
        )
    };
    if status != status::DONE {
        return Err(shim.error(OP, status, &""));
    }
    // SAFETY: the shim returned one reference.
    let tensor = unsafe { Tensor::owning(result) };
    TorchArray::new(OP, tensor.ok_or_else(|| Error::library(OP, "torch", "no tensor"))?)
}

/// Drops the array that owns a tensor's memory.
unsafe extern "C" fn drop_owner<T: Element>(owner: *mut c_void) {
    // SAFETY: `owner` is the box that `from_host` passed to the shim, which calls this function once.
    drop(unsafe { Box::from_raw(owner.cast::<HostArray<T>>()) });
}

impl<'a, T: Element> From<&'a TorchArray<T>> for Arg<'a> {
    fn from(x: &'a TorchArray<T>) -> Self {
        Arg::Tensor(x.tensor())
    }
}

impl<'a, T: Element> From<&'a [&'a TorchArray<T>]> for Arg<'a> {
    fn from(xs: &'a [&'a TorchArray<T>]) -> Self {
        Arg::Tensors(Tensors::of(xs.iter().map(|x| Some(x.tensor()))))
    }
}

impl<'a, B: Arrays<Array<T> = TorchArray<T>>, T: Element> From<&'a Operand<'_, B, T>> for Arg<'a> {
    fn from(x: &'a Operand<'_, B, T>) -> Self {
        match x {
            Operand::Array(x) => Arg::Tensor(x.tensor()),
            Operand::Scalar(x) => Arg::Number(Number::of(*x)),
        }
    }
}
