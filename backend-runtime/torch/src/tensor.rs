//! References to libtorch tensors of any dtype, and the arguments of libtorch's ops.

use super::ffi::{self, Impl, Value, shim, tag};
use backend_core::{Axes, DType, Element, Result, raw::RawElement};
use std::{borrow::Cow, ffi::c_void, fmt, marker::PhantomData, ptr::NonNull};

/// A reference to a tensor. Cloning shares the tensor.
#[repr(transparent)]
pub struct Tensor(NonNull<Impl>);

// SAFETY: the reference count is atomic, and no function of this crate changes a shared tensor.
unsafe impl Send for Tensor {}
// SAFETY: the reference count is atomic, no function of this crate changes a shared tensor, and reading lengths,
// strides and elements changes nothing.
unsafe impl Sync for Tensor {}

impl Tensor {
    /// Takes ownership of a reference that the shim (this crate's C++ layer over libtorch) returned. Returns `None` if
    /// it is null.
    ///
    /// # Safety
    /// The pointer is null, or owns one reference to a live tensor.
    pub(super) unsafe fn owning(pointer: *mut Impl) -> Option<Tensor> {
        NonNull::new(pointer).map(Tensor)
    }

    /// The pointer to the tensor, for the shim.
    #[inline(always)]
    pub(super) fn as_ptr(&self) -> *mut Impl {
        self.0.as_ptr()
    }

    /// Lengths of the axes.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        const { assert!(size_of::<usize>() == size_of::<i64>(), "libtorch's lengths are 64-bit") };
        let mut ndim = 0;
        // SAFETY: lengths are never negative, and their list lives as long as the tensor, which nobody resizes. The
        // pointer of an empty list may be null, which a slice does not allow.
        unsafe {
            let lengths = (shim().lengths)(self.as_ptr(), &mut ndim);
            if ndim == 0 { &[] } else { std::slice::from_raw_parts(lengths.cast(), ndim) }
        }
    }

    /// Strides of the axes, in elements; libtorch has no negative strides.
    pub fn strides(&self) -> &[usize] {
        let ndim = self.shape().len();
        // SAFETY: strides are never negative, and their list lives as long as the tensor, which nobody resizes. The
        // pointer of an empty list may be null, which a slice does not allow.
        unsafe {
            if ndim == 0 { &[] } else { std::slice::from_raw_parts((shim().strides)(self.as_ptr()).cast(), ndim) }
        }
    }

    /// Number of axes.
    pub fn ndim(&self) -> usize {
        self.shape().len()
    }

    /// Number of elements.
    pub fn size(&self) -> usize {
        self.shape().iter().product()
    }

    /// libtorch's code of the tensor's dtype.
    #[inline]
    pub fn code(&self) -> i32 {
        // SAFETY: the tensor is alive.
        unsafe { (shim().dtype)(self.as_ptr()) }
    }

    /// Returns whether the elements have this dtype.
    #[inline]
    pub fn is(&self, dtype: DType) -> bool {
        self.code() == ffi::code(dtype)
    }

    /// The dtype of the elements; `None` if this library lacks the tensor's dtype.
    pub fn dtype(&self) -> Option<DType> {
        let code = self.code();
        DType::ALL.into_iter().find(|dtype| ffi::code(*dtype) == code)
    }

    /// -1 for the host, 256 for the GPU of a Mac, else the GPU's ordinal.
    pub fn device(&self) -> i32 {
        // SAFETY: the tensor is alive.
        unsafe { (shim().device)(self.as_ptr()) }
    }

    /// Offset of the first element in the tensor's memory, in elements.
    pub fn offset(&self) -> usize {
        // SAFETY: the tensor is alive.
        unsafe { (shim().offset)(self.as_ptr()) as usize }
    }

    /// Returns whether the tensor has exactly `handles` handles, nothing else uses its memory, and libtorch allocated
    /// or owns this memory.
    pub(super) fn is_alone(&self, handles: usize) -> bool {
        // SAFETY: the tensor is alive.
        unsafe { (shim().alone)(self.as_ptr(), handles) != 0 }
    }

    /// Returns whether libtorch allocated or owns the memory, so that freeing it runs no foreign code.
    pub(super) fn is_owned(&self) -> bool {
        // SAFETY: the tensor is alive.
        unsafe { (shim().owned)(self.as_ptr()) != 0 }
    }

    /// Pointer to the first element. It may be null if the tensor is empty.
    pub(super) fn data(&self) -> *mut c_void {
        // SAFETY: the tensor is alive.
        unsafe { (shim().data)(self.as_ptr()) }
    }
}

impl Clone for Tensor {
    #[inline]
    fn clone(&self) -> Tensor {
        // SAFETY: the tensor is alive; the clone owns the reference added here.
        unsafe { (shim().share)(self.as_ptr()) };
        Tensor(self.0)
    }
}

impl Drop for Tensor {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: `self` owns one reference, and does not use it again.
        unsafe { (shim().drop)(self.as_ptr()) };
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tensor {:?} of libtorch's dtype {}", self.shape(), self.code())
    }
}

impl Tensor {
    /// The name of the tensor's device.
    pub(crate) fn device_name(&self) -> String {
        device_name(self.device())
    }
}

/// The number that stands for the device `"mps"`. It is larger than the ordinals of all other GPUs. `shim.cpp` defines
/// the same number.
pub(super) const MPS: i32 = 256;

/// The name of a device, such as `"cpu"` or `"cuda:0"`.
pub(super) fn device_name(index: i32) -> String {
    match index {
        MPS => "mps".into(),
        0.. => format!("cuda:{index}"),
        _ => "cpu".into(),
    }
}

/// One element as bytes, to be passed as a 0-dimensional tensor or as a libtorch `Scalar`, depending on the op.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    /// libtorch's code of the dtype.
    pub code: i32,
    /// The element's bytes, followed by zeros.
    pub bytes: [u64; 2],
}

impl From<RawElement> for Number {
    fn from(x: RawElement) -> Number {
        Number { code: ffi::code(x.dtype()), bytes: x.bytes() }
    }
}

impl Number {
    /// Wraps an element.
    pub fn of<T: Element>(x: T) -> Number {
        RawElement::of(x).into()
    }

    /// A number in float64 if `is_float64` is true, else in float32. An operation on a 0-dimensional tensor and a
    /// number gives the wider of the two dtypes, so the number must have the dtype of the tensor.
    pub fn real(x: f64, is_float64: bool) -> Number {
        if is_float64 { Number::of(x) } else { Number::of(x as f32) }
    }
}

/// An argument of one of libtorch's ops.
#[derive(Clone, Debug)]
pub enum Arg<'a> {
    /// libtorch's `None`.
    None,
    /// A tensor.
    Tensor(&'a Tensor),
    /// A list of tensors, some of which may be `None`.
    Tensors(Tensors<'a>),
    /// A number, passed as a 0-dimensional tensor or as a `Scalar`, depending on the op.
    Number(Number),
    /// An integer, or the code of a dtype.
    Int(i64),
    /// A real number.
    Real(f64),
    /// A boolean.
    Bool(bool),
    /// A list of integers.
    Ints(Cow<'a, [i64]>),
    /// Axes of the first tensor argument.
    Axes(Axes),
    /// The device of the backend.
    Device,
    /// A string.
    Text(&'a str),
}

/// Pointers to tensors that live as long as `'a`.
#[derive(Clone, Debug)]
pub struct Tensors<'a>(Vec<Option<NonNull<Impl>>>, PhantomData<&'a Tensor>);

impl<'a> Tensors<'a> {
    /// Collects pointers to the tensors, in order.
    pub fn of(tensors: impl IntoIterator<Item = Option<&'a Tensor>>) -> Tensors<'a> {
        Tensors(tensors.into_iter().map(|t| t.map(|t| t.0)).collect(), PhantomData)
    }

    /// Iterates over the tensors, in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<&Tensor>> {
        let tensor = |pointer: &NonNull<Impl>| {
            // SAFETY: `Tensor` is a transparent wrapper of its pointer, and the tensor at this pointer lives for `'a`.
            unsafe { &*std::ptr::from_ref(pointer).cast::<Tensor>() }
        };
        self.0.iter().map(move |t| t.as_ref().map(tensor))
    }
}

impl Arg<'_> {
    /// A number of dtype `T`.
    pub fn element<T: Element>(x: T) -> Self {
        Arg::Number(Number::of(x))
    }

    /// Converts the argument to the shim's `Value`, which borrows from `self`. [`Arg::Axes`] are resolved for `ndim`
    /// axes and stored in `axes`.
    pub(super) fn value(&self, op: &'static str, ndim: usize, axes: &mut Vec<i64>) -> Result<Value> {
        let value = |tag, word, count| Value { tag, aux: 0, word, count };
        Ok(match self {
            Arg::None => Value::NONE,
            Arg::Tensor(t) => value(tag::TENSOR, t.as_ptr() as u64, 0),
            Arg::Tensors(list) => value(tag::TENSORS, list.0.as_ptr() as u64, list.0.len() as u64),
            Arg::Number(n) => Value { tag: tag::SCALAR, aux: n.code, word: n.bytes[0], count: n.bytes[1] },
            Arg::Int(i) => value(tag::INT, *i as u64, 0),
            Arg::Real(x) => value(tag::DOUBLE, x.to_bits(), 0),
            Arg::Bool(b) => value(tag::BOOL, u64::from(*b), 0),
            Arg::Ints(list) => value(tag::INTS, list.as_ptr() as u64, list.len() as u64),
            Arg::Axes(given) => {
                *axes = given.resolve(op, ndim)?.into_iter().map(|a| a as i64).collect();
                value(tag::INTS, axes.as_ptr() as u64, axes.len() as u64)
            }
            Arg::Device => value(tag::DEVICE, 0, 0),
            Arg::Text(text) => value(tag::TEXT, text.as_ptr() as u64, text.len() as u64),
        })
    }
}

impl<'a> From<&'a Tensor> for Arg<'a> {
    fn from(x: &'a Tensor) -> Self {
        Arg::Tensor(x)
    }
}

impl<'a> From<&'a [Tensor]> for Arg<'a> {
    fn from(xs: &'a [Tensor]) -> Self {
        Arg::Tensors(Tensors::of(xs.iter().map(Some)))
    }
}

impl<'a, A: Into<Arg<'a>>> From<Option<A>> for Arg<'a> {
    fn from(x: Option<A>) -> Self {
        x.map_or(Arg::None, Into::into)
    }
}

/// Converts a length or an index. Values over `i64::MAX` become `i64::MAX`, which is too large for any array.
fn int(x: usize) -> i64 {
    i64::try_from(x).unwrap_or(i64::MAX)
}

macro_rules! arg_from {
    ($($t:ty, $x:ident => $arg:expr;)*) => {$(
        impl<'a> From<$t> for Arg<'a> {
            fn from($x: $t) -> Self {
                $arg
            }
        }
    )*};
}
arg_from! {
    i64, x => Arg::Int(x);
    isize, x => Arg::Int(x as i64);
    usize, x => Arg::Int(int(x));
    f64, x => Arg::Real(x);
    bool, x => Arg::Bool(x);
    Number, x => Arg::Number(x);
    DType, x => Arg::Int(ffi::code(x).into());
    Axes, x => Arg::Axes(x);
    &'a str, x => Arg::Text(x);
    &'a [i64], x => Arg::Ints(Cow::Borrowed(x));
    &'a [isize], x => Arg::Ints(x.iter().map(|&i| i as i64).collect());
    &'a [usize], x => Arg::Ints(x.iter().map(|&i| int(i)).collect());
    &'a Vec<usize>, x => Arg::from(&x[..]);
}

impl<'a, const N: usize> From<[i64; N]> for Arg<'a> {
    fn from(x: [i64; N]) -> Self {
        Arg::Ints(x.to_vec().into())
    }
}
