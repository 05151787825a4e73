//! The owner of a tensor of DLPack.

use super::{
    abi::{self, DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor},
    layout::{Layout, OP},
};
use crate::{DType, Error, Result};
use std::{any::Any, ffi::c_void, fmt, mem::ManuallyDrop, ptr, ptr::NonNull};

/// A tensor of DLPack, which is well formed, with the duty to free it: its deleter is called once, when this is dropped.
///
/// [`Arrays::to_dlpack`](crate::Arrays::to_dlpack) makes one of an array, [`Arrays::from_dlpack`](crate::Arrays::from_dlpack)
/// an array of one. Pointers for other languages come from [`ManagedTensor::into_raw`] and go to [`ManagedTensor::from_raw`].
/// The module `dlpack` of the facade has the guide.
pub struct ManagedTensor {
    raw: Raw,
    layout: Layout,
    flags: u64,
    /// Made by this crate, and never given out as a pointer: what `manager_ctx` is, is known.
    own: bool,
}

#[derive(Clone, Copy)]
enum Raw {
    Versioned(NonNull<DLManagedTensorVersioned>),
    Legacy(NonNull<DLManagedTensor>),
}

// SAFETY: nothing is written through it; that the deleter runs on any thread, and others only read the memory, is what `from_raw` asks
// for, and what this crate makes is owned by a box that is `Send` and `Sync`.
unsafe impl Send for ManagedTensor {}
// SAFETY: as above.
unsafe impl Sync for ManagedTensor {}

/// Calls the deleter, if there is one.
///
/// # Safety
/// The pointer is a live tensor's, which nobody uses again.
unsafe fn delete(raw: Raw) {
    // SAFETY: the caller's promise; the deleter is the producer's for this very struct, whose place is the same in every version.
    unsafe {
        match raw {
            Raw::Versioned(tensor) => (*tensor.as_ptr()).deleter.into_iter().for_each(|delete| delete(tensor.as_ptr())),
            Raw::Legacy(tensor) => (*tensor.as_ptr()).deleter.into_iter().for_each(|delete| delete(tensor.as_ptr())),
        }
    }
}

impl Drop for ManagedTensor {
    fn drop(&mut self) {
        // SAFETY: this is the only owner.
        unsafe { delete(self.raw) };
    }
}

/// What a tensor is made of.
pub(crate) struct Parts<'a> {
    /// Address of the first element.
    pub first: *mut u8,
    pub dtype: DType,
    pub device: DLDevice,
    pub shape: &'a [usize],
    /// In elements.
    pub strides: &'a [isize],
    pub flags: u64,
}

/// A struct of DLPack with what it points to.
struct Exported<M> {
    managed: M,
    shape: Box<[i64]>,
    strides: Box<[i64]>,
    owner: Box<dyn Any + Send + Sync>,
}

/// Fills the struct with what it points to; it is freed by the deleter that `make` puts into it.
fn exported<M>(
    parts: &Parts<'_>,
    owner: Box<dyn Any + Send + Sync>,
    make: impl FnOnce(DLTensor) -> M,
) -> *mut Exported<M> {
    let shape: Box<[i64]> = parts.shape.iter().map(|&len| len as i64).collect();
    // along an axis of one index any will do, and libtorch says 1
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

/// The lists that a struct points to.
fn lists<M>(all: &mut Exported<M>) -> [*mut i64; 2] {
    if all.shape.is_empty() {
        return [ptr::null_mut(); 2];
    }
    [all.shape.as_mut_ptr(), all.strides.as_mut_ptr()]
}

unsafe extern "C" fn delete_versioned(tensor: *mut DLManagedTensorVersioned) {
    // SAFETY: the consumer gives back what it got, once; the context is the box that has the struct in it.
    unsafe { drop(Box::from_raw((*tensor).manager_ctx.cast::<Exported<DLManagedTensorVersioned>>())) }
}

unsafe extern "C" fn delete_legacy(tensor: *mut DLManagedTensor) {
    // SAFETY: as above.
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
    // SAFETY: the box was just made, and nobody else has it.
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
    // SAFETY: as above.
    unsafe {
        (*all).managed.manager_ctx = all.cast::<c_void>();
        [(*all).managed.dl_tensor.shape, (*all).managed.dl_tensor.strides] = lists(&mut *all);
        &raw mut (*all).managed
    }
}

impl ManagedTensor {
    /// A tensor over memory that lives as long as `owner`.
    ///
    /// # Safety
    /// Elements of the dtype are at the strides from `first` on, on the device; nobody writes to them, but for the consumer where the flags
    /// do not forbid it.
    pub(crate) unsafe fn new(parts: &Parts<'_>, owner: impl Any + Send + Sync) -> Result<ManagedTensor> {
        let tensor = versioned(parts, Box::new(owner));
        // SAFETY: it is a tensor, of this crate's making; a consumer of it keeps to the flags.
        let mut made = unsafe { ManagedTensor::from_raw(tensor) }?;
        made.own = true;
        Ok(made)
    }

    /// Takes a tensor from a producer, such as the pointer in a Python capsule `"dltensor_versioned"`.
    ///
    /// # Errors
    /// [`Error::Argument`] where the major version is not 1, or the tensor is not well formed: no dtype of ours, several lanes, a
    /// negative length, no memory although there are elements, lengths and strides beyond all memory. The deleter has then been called,
    /// so that the caller has nothing to do in any case.
    ///
    /// # Safety
    /// `tensor` is null, or points to a tensor that the producer gives away, as the
    /// [specification](https://dmlc.github.io/dlpack/latest/c_api.html) says. The elements are there until the deleter is called, which
    /// may be by any thread. As long as the tensor lives, or an array that shares its memory, nobody writes to the elements; where they
    /// may be written to, [`CopyMode::Always`](super::CopyMode::Always) takes a copy, during which nobody does. On a GPU, what writes
    /// them has been given to the device.
    pub unsafe fn from_raw(tensor: *mut DLManagedTensorVersioned) -> Result<ManagedTensor> {
        let tensor = NonNull::new(tensor).ok_or_else(|| Error::argument(OP, "a tensor that is null"))?;
        let raw = Raw::Versioned(tensor);
        // SAFETY: the caller's promise: version and deleter are where they are in every version, the rest in those of this major one.
        unsafe {
            let DLPackVersion { major, minor } = (*tensor.as_ptr()).version;
            if major != abi::VERSION.major {
                delete(raw);
                let why = format!("a tensor of DLPack {major}.{minor}, of which only 1.x is known");
                return Err(Error::argument(OP, why));
            }
            let all = &*tensor.as_ptr();
            ManagedTensor::checked(raw, &all.dl_tensor, all.flags)
        }
    }

    /// Takes a tensor without a version, such as the pointer in a Python capsule `"dltensor"`. It does not say whether it may be written to:
    /// it is taken to be read-only.
    ///
    /// # Errors
    /// As for [`ManagedTensor::from_raw`].
    ///
    /// # Safety
    /// As for [`ManagedTensor::from_raw`].
    pub unsafe fn from_raw_legacy(tensor: *mut DLManagedTensor) -> Result<ManagedTensor> {
        // SAFETY: the caller's promise.
        unsafe { ManagedTensor::from_legacy(tensor, abi::READ_ONLY) }
    }

    /// The same, with flags that are known.
    ///
    /// # Safety
    /// As for [`ManagedTensor::from_raw`].
    pub(crate) unsafe fn from_legacy(tensor: *mut DLManagedTensor, flags: u64) -> Result<ManagedTensor> {
        let tensor = NonNull::new(tensor).ok_or_else(|| Error::argument(OP, "a tensor that is null"))?;
        // SAFETY: the caller's promise.
        unsafe { ManagedTensor::checked(Raw::Legacy(tensor), &(*tensor.as_ptr()).dl_tensor, flags) }
    }

    /// # Safety
    /// As for [`ManagedTensor::from_raw`]; `tensor` is what `raw` holds.
    unsafe fn checked(raw: Raw, tensor: &DLTensor, flags: u64) -> Result<ManagedTensor> {
        // SAFETY: the caller's promise.
        match unsafe { Layout::read(tensor) } {
            Ok(layout) => Ok(ManagedTensor { raw, layout, flags, own: false }),
            Err(why) => {
                // SAFETY: the caller gave it away, and it is not used again.
                unsafe { delete(raw) };
                Err(why)
            }
        }
    }

    /// The tensor for a consumer, such as a Python capsule `"dltensor_versioned"`: who has the pointer has to call the deleter once.
    pub fn into_raw(self) -> *mut DLManagedTensorVersioned {
        match self.raw {
            Raw::Versioned(tensor) => {
                let _given = ManuallyDrop::new(self);
                tensor.as_ptr()
            }
            Raw::Legacy(_) => self.relayed(versioned),
        }
    }

    /// The same without a version, such as a Python capsule `"dltensor"`, for consumers from before DLPack 1.0.
    ///
    /// # Errors
    /// [`Error::Argument`] where the tensor is [read-only](ManagedTensor::is_read_only), which this form cannot say. A copy, as
    /// [`CopyMode::Always`](super::CopyMode::Always) makes it, is not read-only.
    pub fn into_raw_legacy(self) -> Result<*mut DLManagedTensor> {
        if self.is_read_only() {
            let why = "the memory is shared and must not be written to, which a tensor without a version cannot say; \
                       `CopyMode::Always` makes a copy";
            return Err(Error::argument("to_dlpack", why));
        }
        Ok(self.relayed(legacy))
    }

    /// The same for libtorch, which has no negative strides, and does not look at an offset in bytes: the tensor from its lowest element
    /// on, and the axes to be reversed. Nothing is written to it, whatever its flags are.
    #[cfg(feature = "torch")]
    pub(crate) fn into_raw_upward(mut self) -> (*mut DLManagedTensor, Vec<i64>) {
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

    /// Another struct for the same memory, which owns this one.
    fn relayed<M>(self, make: impl FnOnce(&Parts<'_>, Box<dyn Any + Send + Sync>) -> *mut M) -> *mut M {
        let Layout { dtype, device, shape, strides, first, .. } = self.layout.clone();
        let parts = Parts { first, dtype, device, shape: &shape, strides: &strides, flags: self.flags };
        make(&parts, Box::new(self))
    }

    /// What owns the memory, if this crate made the tensor of an `O` and it was never a pointer. The deleter is not called: the owner is
    /// handed over.
    pub(crate) fn into_owner<O: Any>(self) -> std::result::Result<O, ManagedTensor> {
        let Raw::Versioned(tensor) = self.raw else { return Err(self) };
        if !self.own {
            return Err(self);
        }
        // SAFETY: this crate made the context, and nobody else has had the pointer.
        let context = unsafe { (*tensor.as_ptr()).manager_ctx }.cast::<Exported<DLManagedTensorVersioned>>();
        // SAFETY: as above.
        if !unsafe { (*context).owner.is::<O>() } {
            return Err(self);
        }
        let _taken = ManuallyDrop::new(self);
        // SAFETY: as above; the tensor, which would free it, is gone.
        let all = unsafe { Box::from_raw(context) };
        Ok(*all.owner.downcast().expect("its type was asked for"))
    }

    /// What the tensor is, and where its elements are.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The dtype of the elements.
    pub fn dtype(&self) -> DType {
        self.layout.dtype
    }

    /// Lengths of the axes.
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// Distances of neighbours along each axis, in elements; of an axis with one index it may be any, and without elements those of C order.
    pub fn strides(&self) -> &[isize] {
        &self.layout.strides
    }

    /// The device that the memory is on, for `__dlpack_device__`.
    pub fn device(&self) -> DLDevice {
        self.layout.device
    }

    /// The address of the first element; null where there are no elements.
    pub fn data(&self) -> *const c_void {
        self.layout.first.cast()
    }

    /// Whether the consumer must not write to the memory, as others have it, too.
    pub fn is_read_only(&self) -> bool {
        self.flags & abi::READ_ONLY != 0
    }

    /// Whether the producer says that it made a copy, which nobody else has.
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
