//! Arrays that nobody changes any more.

use crate::{
    descriptor::{Descriptor, Kind, Layout},
    segment::Segment,
    system::{self, Map},
};
use backend_runtime::{
    Arrays, DType, DynArray, Element, Error, HostArray, IntoArray, IntoHost, Result, Value, bytes, dispatch,
};
use ndarray::{ArrayRef, ArrayView, IxDyn};
use std::{io::Write, sync::Arc};

/// So many elements that are not in C order are gathered at a time.
const BLOCK: usize = 1 << 14;

/// An array in shared memory, which nobody can change any more. Clones are handles of the same memory.
///
/// Its elements are written once, when it is made, and then sealed by the system: neither this process nor another can change them or cut
/// the memory. So views are as safe as those of an array of the process itself.
///
/// See [the crate](crate) for an example with several processes.
#[derive(Clone, Debug)]
pub struct SharedArray {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    segment: Segment,
    map: Map,
}

impl SharedArray {
    /// Shares a copy of an array of a backend.
    pub fn of<'a, B: Arrays, T: Element>(b: &B, x: impl IntoArray<'a, B::Array<T>>) -> Result<SharedArray> {
        const OP: &str = "SharedArray::of";
        let x: HostArray<T> = b.to_ndarray(&*x.into_array()).map_err(|why| why.within(OP))?;
        SharedArray::make(OP, &x)
    }

    /// The same of an array whose dtype is known at run time.
    pub fn of_value<B: Arrays>(b: &B, x: &Value<B>) -> Result<SharedArray> {
        const OP: &str = "SharedArray::of_value";
        let Some(x) = x.as_array() else {
            return Err(Error::argument(OP, format!("{x} is given, but must be an array")));
        };
        dispatch!(x.dtype(), T => match x.get::<T>() {
            Some(x) => SharedArray::of(b, x),
            None => Err(Error::DType { op: OP, dtype: x.dtype() }),
        })
    }

    /// Shares a copy of an ndarray.
    pub fn new<T: Element>(x: &ArrayRef<T, IxDyn>) -> Result<SharedArray> {
        SharedArray::make("SharedArray::new", x)
    }

    fn make<T: Element>(op: &'static str, x: &ArrayRef<T, IxDyn>) -> Result<SharedArray> {
        let layout = Layout { kind: Kind::Array, dtype: T::DTYPE, shape: x.shape().to_vec() };
        let segment = Segment::create(op, layout, |file, _| {
            if let Some(elements) = x.as_slice() {
                return file.write_all(bytes::as_bytes(elements));
            }
            let (mut elements, mut block) = (x.iter().copied(), Vec::with_capacity(BLOCK));
            loop {
                block.clear();
                block.extend(elements.by_ref().take(BLOCK));
                if block.is_empty() {
                    return Ok(());
                }
                file.write_all(bytes::as_bytes(&block))?;
            }
        })?;
        segment.seal(op)?;
        SharedArray::mapped(op, segment)
    }

    /// Opens the array that another process shares, or this one.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the process of the descriptor has ended or has dropped the array; [`Error::Argument`] where it has
    /// something else than the descriptor says.
    pub fn open(descriptor: &Descriptor) -> Result<SharedArray> {
        const OP: &str = "SharedArray::open";
        let shared = SharedArray::mapped(OP, Segment::open(OP, descriptor, Kind::Array)?)?;
        // a view shows bytes as elements, and not every byte is a bool
        if shared.dtype() == DType::Bool && shared.elements().iter().any(|&byte| byte > 1) {
            return Err(Error::argument(OP, "a byte of a bool must be 0 or 1"));
        }
        Ok(shared)
    }

    fn mapped(op: &'static str, segment: Segment) -> Result<SharedArray> {
        let map = system::map(op, &segment.file, segment.length())?;
        Ok(SharedArray { inner: Arc::new(Inner { segment, map }) })
    }

    fn elements(&self) -> &[u8] {
        &self.inner.map[self.inner.segment.start..]
    }

    /// What another process needs to open it: for as long as this process has a handle of it.
    pub fn descriptor(&self) -> Descriptor {
        self.inner.segment.descriptor()
    }

    /// The dtype of the elements.
    pub fn dtype(&self) -> DType {
        self.inner.segment.layout.dtype
    }

    /// The shape of the array.
    pub fn shape(&self) -> &[usize] {
        &self.inner.segment.layout.shape
    }

    /// The array without a copy.
    ///
    /// # Errors
    /// [`Error::Argument`] where the elements are not of `T`.
    pub fn view<T: Element>(&self) -> Result<ArrayView<'_, T, IxDyn>> {
        const OP: &str = "SharedArray::view";
        self.inner.segment.holds(OP, T::DTYPE)?;
        let (bytes, count) = (self.elements(), self.inner.segment.count);
        let start = bytes.as_ptr().cast::<T>();
        if bytes.len() != count * size_of::<T>() || !start.is_aligned() {
            return Err(Error::argument(OP, "the memory must have elements of this dtype"));
        }
        // SAFETY: the bytes are `count` elements, at an aligned address, and live as long as this handle is borrowed. Nobody changes them: the
        // memory is sealed. Any bytes are a number; those of bools were checked when the array was opened, or were bools.
        let elements = unsafe { std::slice::from_raw_parts(start, count) };
        ArrayView::from_shape(self.shape(), elements).map_err(|_| Error::shape(OP, self.shape(), "is too large"))
    }

    /// A copy on a backend. For a part of the array, `b.asarray(shared.view::<T>()?.slice(..))` copies no more than that.
    pub fn array<B: Arrays, T: Element>(&self, b: &B) -> Result<B::Array<T>> {
        b.from_ndarray(self.view::<T>()?.into_host()?)
    }

    /// A copy on a backend, in the dtype that the array has: `Value::as_array` has it, and calls by name take it.
    pub fn value<B: Arrays>(&self, b: &B) -> Result<Value<B>> {
        dispatch!(self.dtype(), T => Ok(Value::Array(DynArray::of::<T>(self.array::<B, T>(b)?))))
    }
}
