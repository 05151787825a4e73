//! `ManagedTensor`, which owns a DLPack tensor and calls its deleter.

use super::{
    abi::{self, DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor},
    layout::{Layout, OP},
};
use crate::{DType, Error, Result};
use std::{any::Any, ffi::c_void, fmt, mem::ManuallyDrop, ptr, ptr::NonNull};

/// Owns a well-formed DLPack tensor, and calls the tensor's deleter once, when dropped.
///
/// [`Arrays::to_dlpack`](crate::Arrays::to_dlpack) makes a tensor from an array, and
/// [`Arrays::from_dlpack`](crate::Arrays::from_dlpack) makes an array from a tensor. [`ManagedTensor::into_raw`]
/// returns a pointer for other languages, and [`ManagedTensor::from_raw`] takes such a pointer. The guide is in the
/// module `dlpack` of the facade crate.
pub struct ManagedTensor {
    raw: Raw,
    layout: Layout,
    flags: u64,
    /// True if this crate made the tensor and never gave out its pointer, so that `manager_ctx` points to an
    /// `Exported`.
    own: bool,
}

#[derive(Clone, Copy)]
enum Raw {
    Versioned(NonNull<DLManagedTensorVersioned>),
    Legacy(NonNull<DLManagedTensor>),
}

// SAFETY: nothing is written through the pointer. `from_raw` requires that the deleter may run on any thread, and that
// other owners of the memory only read it. If this crate made the tensor, the value that owns the memory is `Send` and
// `Sync`.
unsafe impl Send for ManagedTensor {}
// SAFETY: the reasons for `Send` also hold for `Sync`.
unsafe impl Sync for ManagedTensor {}

/// Calls the deleter of the tensor, if it has one.
///
/// # Safety
/// `raw` points to a live tensor, which is not used again.
unsafe fn delete(raw: Raw) {
    // SAFETY: the caller guarantees a live tensor. The producer made the deleter for this kind of struct, and the field
    // `deleter` has the same offset in every version.
    unsafe {
        match raw {
            Raw::Versioned(tensor) => (*tensor.as_ptr()).deleter.into_iter().for_each(|delete| delete(tensor.as_ptr())),
            Raw::Legacy(tensor) => (*tensor.as_ptr()).deleter.into_iter().for_each(|delete| delete(tensor.as_ptr())),
        }
    }
}

impl Drop for ManagedTensor {
    fn drop(&mut self) {
        // SAFETY: this value is the only owner, and the tensor is not used again.
        unsafe { delete(self.raw) };
    }
}

/// The fields of a tensor that is to be made.
pub struct Parts<'a> {
    /// Address of the first element.
    pub first: *mut u8,
    /// Dtype of the elements.
    pub dtype: DType,
    /// Device of the memory.
    pub device: DLDevice,
    /// Lengths of the axes.
    pub shape: &'a [usize],
    /// Strides in elements.
    pub strides: &'a [isize],
    /// The flags of the tensor, such as [`READ_ONLY`](super::READ_ONLY).
    pub flags: u64,
}

/// A DLPack struct that this crate makes, together with the shape, the strides and the owner of the memory.
struct Exported<M> {
    managed: M,
    shape: Box<[i64]>,
    strides: Box<[i64]>,
    owner: Box<dyn Any + Send + Sync>,
}

/// Allocates an `Exported` with the struct that `make` returns. The struct's deleter must free the whole allocation.
/// The caller must then set the struct's pointers to shape, strides and context.
fn exported<M>(
    parts: &Parts<'_>,
    owner: Box<dyn Any + Send + Sync>,
    make: impl FnOnce(DLTensor) -> M,
) -> *mut Exported<M> {
    let shape: Box<[i64]> = parts.shape.iter().map(|&len| len as i64).collect();
    // the stride of an axis of length 1 has no meaning; libtorch sets it to 1
    let steps = parts.shape.iter().zip(parts.strides);
    let strides: Box<[i64]> = steps.map(|(&len, &stride)| if len > 1 { stride as i64 } else { 1 }).collect();
    let tensor = DLTensor {
        data: if shape.contains(&0) { ptr::null_mut() } else { parts.first.cast() },
        device: parts.device,
        ndim: shape.len() as i32,
        dtype: DLDataType::from(parts.dtype),
        shape: ptr::null_mut(),
        strides: ptr::null_mut(),
        byte_offset: 0,
    };
    Box::into_raw(Box::new(Exported { managed: make(tensor), shape, strides, owner }))
}

/// Returns pointers to the lengths and the strides. Both are null if there are no axes.
fn lists<M>(all: &mut Exported<M>) -> [*mut i64; 2] {
    if all.shape.is_empty() {
        return [ptr::null_mut(); 2];
    }
    [all.shape.as_mut_ptr(), all.strides.as_mut_ptr()]
}

unsafe extern "C" fn delete_versioned(tensor: *mut DLManagedTensorVersioned) {
    // SAFETY: the consumer calls the deleter once, with the struct that it got. The context is the box that contains
    // the struct.
    unsafe { drop(Box::from_raw((*tensor).manager_ctx.cast::<Exported<DLManagedTensorVersioned>>())) }
}

unsafe extern "C" fn delete_legacy(tensor: *mut DLManagedTensor) {
    // SAFETY: the consumer calls the deleter once, with the struct that it got. The context is the box that contains
    // the struct.
    unsafe { drop(Box::from_raw((*tensor).manager_ctx.cast::<Exported<DLManagedTensor>>())) }
}

fn versioned(parts: &Parts<'_>, owner: Box<dyn Any + Send + Sync>) -> *mut DLManagedTensorVersioned {
    let all = exported(parts, owner, |dl_tensor| DLManagedTensorVersioned {
        version: abi::VERSION,
        manager_ctx: ptr::null_mut(),
        deleter: Some(delete_versioned),
        flags: parts.flags,
        dl_tensor,
    });
    // SAFETY: `all` comes from a box that was just made, and no other pointer to the box exists.
    unsafe {
        (*all).managed.manager_ctx = all.cast::<c_void>();
        [(*all).managed.dl_tensor.shape, (*all).managed.dl_tensor.strides] = lists(&mut *all);
        &raw mut (*all).managed
    }
}

fn legacy(parts: &Parts<'_>, owner: Box<dyn Any + Send + Sync>) -> *mut DLManagedTensor {
    let all = exported(parts, owner, |dl_tensor| DLManagedTensor {
        dl_tensor,
        manager_ctx: ptr::null_mut(),
        deleter: Some(delete_legacy),
    });
    // SAFETY: `all` comes from a box that was just made, and no other pointer to the box exists.
    unsafe {
        (*all).managed.manager_ctx = all.cast::<c_void>();
        [(*all).managed.dl_tensor.shape, (*all).managed.dl_tensor.strides] = lists(&mut *all);
        &raw mut (*all).managed
    }
}

impl ManagedTensor {
    /// Creates a tensor over memory that lives as long as `owner`.
    ///
    /// # Safety
    /// The device has elements of the dtype in `parts`, beginning at `first`, with the shape and the strides in
    /// `parts`. Nobody writes to the elements, except the consumer if the flags allow it.
    pub unsafe fn new(parts: &Parts<'_>, owner: impl Any + Send + Sync) -> Result<ManagedTensor> {
        let tensor = versioned(parts, Box::new(owner));
        // SAFETY: this crate just made the tensor, and the caller guarantees its elements. Consumers obey the flags.
        let mut made = unsafe { ManagedTensor::from_raw(tensor) }?;
        made.own = true;
        Ok(made)
    }

    /// Takes a tensor from a producer, such as the pointer in a Python capsule `"dltensor_versioned"`.
    ///
    /// Returns [`Error::Argument`] if the pointer is null, the major version is not 1, or the tensor is not well
    /// formed: it has an unsupported dtype, several lanes, a negative length, elements without memory, or lengths and
    /// strides that exceed the address space. On errors the deleter has already been called, so the caller never has to
    /// free the tensor.
    ///
    /// # Safety
    /// `tensor` is null, or points to a tensor that the producer gives away, as described in the
    /// [specification](https://dmlc.github.io/dlpack/latest/c_api.html). The elements stay valid until the deleter is
    /// called, which any thread may do. Nobody writes to the elements as long as the tensor, or an array that shares
    /// its memory, lives. If this cannot be guaranteed, use [`CopyMode::Always`](super::CopyMode::Always), which copies
    /// the elements; then nobody may write to them until the copy is made. On a GPU, all work that writes the elements
    /// has been submitted to the device.
    pub unsafe fn from_raw(tensor: *mut DLManagedTensorVersioned) -> Result<ManagedTensor> {
        let tensor = NonNull::new(tensor).ok_or_else(|| Error::argument(OP, "the tensor pointer is null"))?;
        let raw = Raw::Versioned(tensor);
        // SAFETY: the caller guarantees a live tensor. `version` and `deleter` have the same offsets in every DLPack
        // version, and the other fields have the same offsets in every version 1.x.
        unsafe {
            let DLPackVersion { major, minor } = (*tensor.as_ptr()).version;
            if major != abi::VERSION.major {
                delete(raw);
                let why = format!("the tensor has DLPack version {major}.{minor}, but only 1.x is supported");
                return Err(Error::argument(OP, why));
            }
            let all = &*tensor.as_ptr();
            ManagedTensor::checked(raw, &all.dl_tensor, all.flags)
        }
    }

    /// Takes a tensor without a version, such as the pointer in a Python capsule `"dltensor"`. It is treated as
    /// read-only, because a tensor without a version has no flag that allows writing.
    ///
    /// # Errors
    /// The errors of [`ManagedTensor::from_raw`].
    ///
    /// # Safety
    /// The conditions of [`ManagedTensor::from_raw`] hold.
    pub unsafe fn from_raw_legacy(tensor: *mut DLManagedTensor) -> Result<ManagedTensor> {
        // SAFETY: the caller guarantees the conditions of `from_raw`, which `from_legacy` requires.
        unsafe { ManagedTensor::from_legacy(tensor, abi::READ_ONLY) }
    }

    /// Takes a tensor without a version, like `from_raw_legacy`, with `flags` as its flags.
    ///
    /// # Safety
    /// The conditions of [`ManagedTensor::from_raw`] hold.
    pub unsafe fn from_legacy(tensor: *mut DLManagedTensor, flags: u64) -> Result<ManagedTensor> {
        let tensor = NonNull::new(tensor).ok_or_else(|| Error::argument(OP, "the tensor pointer is null"))?;
        // SAFETY: the caller guarantees the conditions of `from_raw`, and the pointer is not null.
        unsafe { ManagedTensor::checked(Raw::Legacy(tensor), &(*tensor.as_ptr()).dl_tensor, flags) }
    }

    /// Reads and checks the layout of a tensor. On errors, the deleter is called.
    ///
    /// # Safety
    /// The conditions of [`ManagedTensor::from_raw`] hold, and `tensor` is the tensor in `raw`.
    unsafe fn checked(raw: Raw, tensor: &DLTensor, flags: u64) -> Result<ManagedTensor> {
        // SAFETY: the caller guarantees that `shape` and `strides` are null or have a number for each axis.
        match unsafe { Layout::read(tensor) } {
            Ok(layout) => Ok(ManagedTensor { raw, layout, flags, own: false }),
            Err(why) => {
                // SAFETY: the caller gave the tensor away, and nothing uses it afterwards.
                unsafe { delete(raw) };
                Err(why)
            }
        }
    }

    /// Returns the pointer to the tensor, for a consumer or for a Python capsule `"dltensor_versioned"`. The consumer
    /// must call the deleter once.
    pub fn into_raw(self) -> *mut DLManagedTensorVersioned {
        match self.raw {
            Raw::Versioned(tensor) => {
                let _given = ManuallyDrop::new(self);
                tensor.as_ptr()
            }
            Raw::Legacy(_) => self.relayed(versioned),
        }
    }

    /// Returns the pointer to a tensor without a version, for consumers older than DLPack 1.0 or for a Python capsule
    /// `"dltensor"`. The consumer must call the deleter once.
    ///
    /// # Errors
    /// [`Error::Argument`] if the tensor is [read-only](ManagedTensor::is_read_only), because a tensor without a
    /// version has no flag for this. A copy made by [`CopyMode::Always`](super::CopyMode::Always) is not read-only.
    pub fn into_raw_legacy(self) -> Result<*mut DLManagedTensor> {
        if self.is_read_only() {
            let why = "the memory is shared and must not be written to, which a tensor without a version cannot say; \
                       `CopyMode::Always` makes a copy";
            return Err(Error::argument("to_dlpack", why));
        }
        Ok(self.relayed(legacy))
    }

    /// Returns the pointer to a tensor without a version, for libtorch, which does not support negative strides and
    /// ignores byte offsets. The tensor begins at the element with the lowest address, and has positive strides. The
    /// returned list names the axes that the caller must reverse. The caller must prevent writes to the tensor,
    /// whatever its flags are.
    pub fn into_raw_upward(mut self) -> (*mut DLManagedTensor, Vec<i64>) {
        let layout = &mut self.layout;
        if layout.device.is_host() {
            layout.device = DLDevice::CPU;
        }
        (layout.first, layout.before) = (layout.lowest(), 0);
        let axes = layout.strides.iter().enumerate().filter(|(_, stride)| **stride < 0);
        let reversed = axes.map(|(axis, _)| axis as i64).collect();
        layout.strides.iter_mut().for_each(|stride| *stride = stride.wrapping_abs());
        (self.relayed(legacy), reversed)
    }

    /// Makes another DLPack struct over the same memory. The new struct owns this tensor.
    fn relayed<M>(self, make: impl FnOnce(&Parts<'_>, Box<dyn Any + Send + Sync>) -> *mut M) -> *mut M {
        let Layout { dtype, device, shape, strides, first, .. } = self.layout.clone();
        let parts = Parts { first, dtype, device, shape: &shape, strides: &strides, flags: self.flags };
        make(&parts, Box::new(self))
    }

    /// Returns the owner of the memory, if this crate made the tensor with an owner of type `O` and never gave out the
    /// pointer. Otherwise returns the tensor as the error. The deleter is not called.
    pub fn into_owner<O: Any>(self) -> std::result::Result<O, ManagedTensor> {
        let Raw::Versioned(tensor) = self.raw else { return Err(self) };
        if !self.own {
            return Err(self);
        }
        // SAFETY: this crate made the tensor and its context, and never gave out the pointer.
        let context = unsafe { (*tensor.as_ptr()).manager_ctx }.cast::<Exported<DLManagedTensorVersioned>>();
        // SAFETY: this crate made the context, and never gave out the pointer.
        if !unsafe { (*context).owner.is::<O>() } {
            return Err(self);
        }
        let _taken = ManuallyDrop::new(self);
        // SAFETY: this crate made the context as a box. `_taken` is never dropped, so the tensor does not free the box
        // again.
        let all = unsafe { Box::from_raw(context) };
        Ok(*all.owner.downcast().expect("its type was asked for"))
    }

    /// Returns the dtype, shape, strides and address of the elements.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the dtype of the elements.
    pub fn dtype(&self) -> DType {
        self.layout.dtype
    }

    /// Returns the lengths of the axes.
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// Returns the distances between neighbouring elements along each axis, in elements. The stride of an axis of
    /// length 1 has no meaning. A tensor without elements has the strides of C order.
    pub fn strides(&self) -> &[isize] {
        &self.layout.strides
    }

    /// Returns the device that has the memory. Python's `__dlpack_device__` returns this device.
    pub fn device(&self) -> DLDevice {
        self.layout.device
    }

    /// Returns the address of the first element; null if there are no elements.
    pub fn data(&self) -> *const c_void {
        self.layout.first.cast()
    }

    /// Returns whether the consumer must not write to the memory because it is shared.
    pub fn is_read_only(&self) -> bool {
        self.flags & abi::READ_ONLY != 0
    }

    /// Returns whether the producer declares that the tensor is a copy that nobody else uses.
    pub fn is_copied(&self) -> bool {
        self.flags & abi::IS_COPIED != 0
    }
}

impl fmt::Debug for ManagedTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Layout { dtype, device, shape, .. } = &self.layout;
        let written = if self.is_read_only() { ", read-only" } else { "" };
        write!(f, "ManagedTensor({shape:?}, {dtype}, {device}{written})")
    }
}
