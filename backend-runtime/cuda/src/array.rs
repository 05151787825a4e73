//! Arrays in device memory. An array has a shape, strides, and an offset into an allocation; views refer to the same
//! allocation as the original array.

use super::{backend::Cuda, error::Checked, memory::Memory, outside::Notes};
use backend_core::{
    DType, Element, Error, Result,
    entry::LibraryArray,
    raw::{RawHandle, RawTarget, TypedArray},
    rules,
};
use cudarc::driver::{result, sys};
use std::{fmt, marker::PhantomData};

/// An array of [`Cuda`]. It is cheap to clone, and may be a view of another array's memory.
#[repr(transparent)]
pub struct CudaArray<T> {
    pub(crate) raw: RawArray,
    element: PhantomData<T>,
}

impl<T> CudaArray<T> {
    /// Lengths of the axes.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        &self.raw.shape
    }
}

impl<T> Clone for CudaArray<T> {
    fn clone(&self) -> Self {
        CudaArray { raw: self.raw.clone(), element: PhantomData }
    }
}

impl<T> fmt::Debug for CudaArray<T> {
    /// Writes the shape, the dtype and the device. The elements are not copied to the host.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        LibraryArray::write(&self.raw, f)
    }
}

/// An array whose dtype is a field instead of a type parameter. Most of this backend works on such arrays, so that its
/// code is compiled once for all dtypes.
#[derive(Clone, Debug)]
pub struct RawArray {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    /// Strides of the axes, in elements; negative for a reversed axis, and 0 for an axis that repeats one element.
    pub(crate) strides: Vec<isize>,
    /// Offset of the first element, in elements.
    pub(crate) offset: usize,
    pub(crate) memory: Memory,
}

impl RawArray {
    /// Number of elements.
    pub(crate) fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns whether the array has exactly one element.
    pub(crate) fn is_one(&self) -> bool {
        self.shape.iter().all(|&len| len == 1)
    }

    /// Address of the first element.
    pub(crate) fn pointer(&self) -> u64 {
        self.memory.pointer() + (self.offset * self.dtype.size()) as u64
    }

    /// Returns whether the elements are contiguous in C order.
    pub(crate) fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        self.size() == 0
            || self.shape.iter().zip(&self.strides).rev().all(|(&len, &stride)| {
                let fits = len == 1 || stride == expected;
                expected *= len as isize;
                fits
            })
    }

    /// Returns whether the elements fill memory without gaps, for some order of the axes.
    pub(crate) fn is_dense(&self) -> bool {
        let mut axes: Vec<usize> = (0..self.shape.len()).filter(|&axis| self.shape[axis] != 1).collect();
        axes.sort_by_key(|&axis| self.strides[axis]);
        let mut expected = 1;
        axes.iter().all(|&axis| {
            let fits = self.strides[axis] == expected;
            expected *= self.shape[axis] as isize;
            fits
        })
    }

    /// Returns whether an op may write its result over this array, if the result has the same shape and dtype and
    /// the caller does not use this handle again. Returns false if the array has exactly one element or has gaps, if
    /// another handle shares the memory, or if the memory is more than twice as large as the elements. The caller must
    /// ensure that each thread of the kernel reads only the elements that it writes.
    pub(crate) fn is_overwritable(&self) -> bool {
        let all = self.memory.size() <= 2 * self.size() * self.dtype.size();
        all && !self.is_one() && self.is_dense() && self.memory.is_only_handle()
    }

    /// A view of the same memory with another shape and other strides.
    pub(crate) fn view(&self, shape: Vec<usize>, strides: Vec<isize>, offset: usize) -> RawArray {
        RawArray { dtype: self.dtype, shape, strides, offset, memory: self.memory.clone() }
    }

    /// A view with the axes in the order `order`, which is a permutation of the axes.
    pub(crate) fn permuted(&self, order: &[usize]) -> RawArray {
        let shape = order.iter().map(|&axis| self.shape[axis]).collect();
        self.view(shape, order.iter().map(|&axis| self.strides[axis]).collect(), self.offset)
    }

    /// A view of `len` indices of one axis: `start`, `start + step` and so on, all within the axis.
    pub(crate) fn sliced(&self, axis: usize, start: usize, len: usize, step: isize) -> RawArray {
        let mut part = self.clone();
        // an empty slice has no first element, and its `start` may be one past the end
        if len > 0 {
            part.offset = self.offset.wrapping_add_signed(start as isize * self.strides[axis]);
        }
        part.shape[axis] = len;
        part.strides[axis] = self.strides[axis].wrapping_mul(step);
        part
    }

    /// A view with a new axis of length 1 before `axis`.
    pub(crate) fn expanded(&self, axis: usize) -> RawArray {
        let mut more = self.clone();
        more.shape.insert(axis, 1);
        more.strides.insert(axis, 0);
        more
    }

    /// The view at index 0 of `axis`, without this axis.
    pub(crate) fn without(&self, axis: usize) -> RawArray {
        let mut fewer = self.clone();
        fewer.shape.remove(axis);
        fewer.strides.remove(axis);
        fewer
    }

    /// A view broadcast to the shape `to`; an error if the shapes are incompatible.
    pub(crate) fn broadcast(&self, op: &'static str, to: &[usize]) -> Result<RawArray> {
        rules::check_broadcast_to(op, &self.shape, to)?;
        rules::count(op, to, self.dtype.size())?;
        let new = to.len() - self.shape.len();
        let mut strides = vec![0; new];
        let kept = self.shape.iter().zip(&self.strides).zip(&to[new..]);
        strides.extend(kept.map(|((&len, &stride), &target)| if len == target { stride } else { 0 }));
        Ok(self.view(to.to_vec(), strides, self.offset))
    }
}

impl RawHandle for RawArray {}

impl<T: Element> TypedArray for CudaArray<T> {
    type Raw = RawArray;

    #[inline(always)]
    fn raw(&self) -> &RawArray {
        &self.raw
    }

    fn target(&mut self) -> RawTarget<'_, RawArray> {
        RawTarget::new(&mut self.raw)
    }

    fn from_raw(op: &'static str, raw: RawArray) -> Result<Self> {
        if raw.dtype == T::dtype() {
            return Ok(CudaArray { raw, element: PhantomData });
        }
        Err(wrong_dtype(op, &raw, T::dtype()))
    }
}

pub(super) fn wrong_dtype(op: &'static str, found: &RawArray, dtype: DType) -> Error {
    Error::argument(op, format!("an array has the dtype {}, but {dtype} is needed", found.dtype))
}

impl<T: Element> CudaArray<T> {
    /// Views a raw array as an array; `None` if its dtype is not `T`.
    #[inline]
    pub(crate) fn of_raw_ref(raw: &RawArray) -> Option<&CudaArray<T>> {
        // SAFETY: an array has the representation of its raw array, whose dtype is checked.
        (raw.dtype == T::dtype()).then(|| unsafe { &*std::ptr::from_ref(raw).cast() })
    }

    /// Views a raw array as an array, exclusively; `None` if its dtype is not `T`.
    #[inline]
    pub(crate) fn of_raw_mut(raw: &mut RawArray) -> Option<&mut CudaArray<T>> {
        // SAFETY: an array has the representation of its raw array, whose dtype is checked. The methods of the array
        // keep the dtype.
        (raw.dtype == T::dtype()).then(|| unsafe { &mut *std::ptr::from_mut(raw).cast() })
    }

    /// Returns the raw array.
    #[inline]
    pub(crate) fn into_raw(self) -> RawArray {
        self.raw
    }

    /// The raw array, for changes that keep its dtype.
    pub(super) fn raw_mut(&mut self) -> &mut RawArray {
        &mut self.raw
    }

    /// Wraps a raw array; panics if its dtype is not `T`'s dtype.
    pub(crate) fn of(raw: RawArray) -> CudaArray<T> {
        assert_eq!(raw.dtype, T::dtype(), "an array was made for another dtype");
        CudaArray { raw, element: PhantomData }
    }
}

impl Cuda {
    /// Allocates a contiguous array with undefined content.
    pub(crate) fn uninit<T: Element>(&self, op: &'static str, shape: &[usize]) -> Result<CudaArray<T>> {
        Ok(CudaArray::of(self.uninit_raw(op, T::DTYPE, shape)?))
    }

    /// Like [`Cuda::uninit`], for a dtype known at run time.
    pub(crate) fn uninit_raw(&self, op: &'static str, dtype: DType, shape: &[usize]) -> Result<RawArray> {
        let size = rules::count(op, shape, dtype.size())?;
        let memory = self.device.allocate(op, size * dtype.size())?;
        Ok(RawArray { dtype, shape: shape.to_vec(), strides: rules::c_strides(shape), offset: 0, memory })
    }

    /// Checks that an op of this backend may use `x`. Returns an error if `x` is on another device than this backend.
    /// If another thread allocated the memory of `x`, also returns an unreported error of that thread: one of its ops
    /// may have used an out-of-range index. To find this out, the host may wait for the device.
    #[inline]
    pub(crate) fn check(&self, op: &'static str, x: &RawArray) -> Result<()> {
        let device = x.memory.device();
        if std::sync::Arc::ptr_eq(device, &self.device) {
            return x.memory.notes().wait_if_of_others(op);
        }
        Err(Error::device(op, self.device.name(), device.name()))
    }

    /// Copies host elements to the first elements of a contiguous array.
    pub(crate) fn upload<T: Element>(&self, op: &'static str, from: &[T], to: &RawArray) -> Result<()> {
        debug_assert!(to.dtype == T::DTYPE && to.size() >= from.len() && to.is_contiguous());
        if from.is_empty() {
            return Ok(());
        }
        self.device.bind(op)?;
        // SAFETY: the array has room for the elements of `from`. They are in ordinary host memory, which the driver
        // copies to its own staging buffer before the call returns.
        unsafe { result::memcpy_htod_async(to.pointer(), from, self.device.stream()) }.checked(op)?;
        self.device.after_put(op)
    }

    /// Copies the elements of a contiguous array to the host. Returns an error if an earlier op of this thread used an
    /// out-of-range index.
    pub(crate) fn download<T: Element>(&self, op: &'static str, from: &RawArray) -> Result<Vec<T>> {
        debug_assert!(from.dtype == T::DTYPE && from.is_contiguous());
        let size = from.size();
        let mut host: Vec<T> = Vec::new();
        host.try_reserve_exact(size).map_err(|_| Error::memory(op, size * T::DTYPE.size()))?;
        let notes = Notes::of_this_thread(&self.device);
        if size == 0 {
            return notes.wait_if_due(op).map(|()| host);
        }
        self.device.bind(op)?;
        let bytes = size * T::DTYPE.size();
        // SAFETY: the array has `bytes` bytes, and so has the vector's spare capacity. The host waits for the stream
        // before it sets the vector's length. Kernels write only valid elements (`bool` is 0 or 1).
        unsafe {
            let result =
                sys::cuMemcpyDtoHAsync_v2(host.as_mut_ptr().cast(), from.pointer(), bytes, self.device.stream());
            result.result().checked(op)?;
            notes.wait(op)?;
            host.set_len(size);
        }
        Ok(host)
    }

    /// Sets every byte of a contiguous array to `byte`.
    pub(crate) fn set_bytes(&self, op: &'static str, x: &RawArray, byte: u8) -> Result<()> {
        debug_assert!(x.is_contiguous());
        let bytes = x.size() * x.dtype.size();
        if bytes == 0 {
            return Ok(());
        }
        self.device.bind(op)?;
        // SAFETY: the array has `bytes` bytes.
        unsafe { result::memset_d8_async(x.pointer(), byte, bytes, self.device.stream()) }.checked(op)?;
        self.device.after_put(op)
    }
}
