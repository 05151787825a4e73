//! `SharedArray`: immutable arrays in shared memory.

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

/// Number of elements that are gathered at once from an array that is not in C order.
const BLOCK: usize = 1 << 14;

/// An immutable array in shared memory. Clones are handles of the same memory.
///
/// The elements are written once, when the array is created. The system then seals the memory: no process can change
/// the elements or shorten the memory. Views are therefore as safe as views of an array in the process itself.
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

    /// Like `of`, for an array whose dtype is known only at run time.
    pub fn of_value<B: Arrays>(b: &B, x: &Value<B>) -> Result<SharedArray> {
        const OP: &str = "SharedArray::of_value";
        let Some(x) = x.as_array() else {
            return Err(Error::argument(OP, format!("{x} is given, but must be an array")));
        };
        dispatch!(x.dtype(), T => match x.get::<T>() {
            Some(x) => SharedArray::of(b, x),
            None => Err(Error::dtype(OP, x.dtype())),
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

    /// Opens an array that this process or another process shares.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if the process that made the descriptor has ended or has dropped the array;
    /// [`Error::Argument`] if the contents of the memory do not match the descriptor.
    pub fn open(descriptor: &Descriptor) -> Result<SharedArray> {
        const OP: &str = "SharedArray::open";
        let shared = SharedArray::mapped(OP, Segment::open(OP, descriptor, Kind::Array)?)?;
        // a byte other than 0 and 1 is not a valid bool, and a view would show it as a bool
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

    /// The descriptor with which other processes can open the array as long as this process holds a handle of it.
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

    /// A view of the array, without a copy.
    ///
    /// # Errors
    /// [`Error::Argument`] if `T` is not the dtype of the array.
    pub fn view<T: Element>(&self) -> Result<ArrayView<'_, T, IxDyn>> {
        const OP: &str = "SharedArray::view";
        self.inner.segment.holds(OP, T::DTYPE)?;
        let (bytes, count) = (self.elements(), self.inner.segment.count);
        let start = bytes.as_ptr().cast::<T>();
        if bytes.len() != count * size_of::<T>() || !start.is_aligned() {
            return Err(Error::argument(OP, "the memory must have elements of this dtype"));
        }
        // SAFETY: the bytes are those of `count` elements at an aligned address, and live as long as this handle is
        // borrowed. Nobody changes them, because the memory is sealed. All bytes are valid numbers; bools were checked
        // when the array was opened, or written as bools.
        let elements = unsafe { std::slice::from_raw_parts(start, count) };
        ArrayView::from_shape(self.shape(), elements).map_err(|_| Error::shape(OP, self.shape(), "is too large"))
    }

    /// Copies the array to a backend. To copy only a part of the array, use `b.asarray(shared.view::<T>()?.slice(..))`.
    pub fn array<B: Arrays, T: Element>(&self, b: &B) -> Result<B::Array<T>> {
        b.from_ndarray(self.view::<T>()?.into_host()?)
    }

    /// Copies the array to a backend, in the dtype of the shared array. The returned value can be passed to calls by
    /// name, and `Value::as_array` returns its array.
    pub fn value<B: Arrays>(&self, b: &B) -> Result<Value<B>> {
        dispatch!(self.dtype(), T => Ok(Value::Array(DynArray::of::<T>(self.array::<B, T>(b)?))))
    }
}
