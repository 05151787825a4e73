//! Zero-copy exchange of arrays with other libraries and languages by [DLPack](https://dmlc.github.io/dlpack/latest/).
//! NumPy, CuPy, PyTorch and JAX, for example, accept and export DLPack tensors.
//!
//! On every backend and in every dtype, [`Arrays::to_dlpack`] makes a [`ManagedTensor`] from an array, and
//! [`Arrays::from_dlpack`] makes an array from a tensor. Rust code needs nothing else; a binding for another language
//! exchanges pointers by [`ManagedTensor::into_raw`] and [`ManagedTensor::from_raw`].
//!
//! ```
//! use backends::{Error, dlpack::{CopyMode, ManagedTensor}, prelude::*};
//!
//! let b = Numpyish::new();
//! let x = b.from_iter((0..1000).map(f64::from))?;
//! let pointer = b.to_dlpack(&x)?.into_raw();
//! // .. in another library, which does not depend on this one
//! // SAFETY: the pointer comes from `into_raw`, and nothing else takes the tensor.
//! let tensor = unsafe { ManagedTensor::from_raw(pointer)? };
//! assert_eq!((tensor.shape(), tensor.is_read_only()), (&[1000][..], true));
//! let y = DynArray::from_dlpack(&b, tensor, CopyMode::IfNeeded)?; // has the dtype of the tensor
//! assert_eq!(y.get::<f64>().map(|y| y.as_ptr()), Some(x.as_ptr())); // no element was copied
//! # Ok::<(), Error>(())
//! ```
//!
//! # Arrays are values
//!
//! An array must not change while another handle shows it. Therefore the tensor of a shared array has the flag
//! *read-only*. NumPy respects this flag; PyTorch, as of 2.11, ignores it, so give PyTorch copies, or arrays without
//! other handles. An array that is passed by value and has no other handle is handed over completely, and the consumer
//! may write to it. Consumers from before DLPack 1.0 take tensors that cannot be marked as read-only, so
//! [`ManagedTensor::into_raw_legacy`] refuses to pass them a read-only tensor; use [`CopyMode::Always`] to give them a
//! copy.
//!
//! ```
//! use backends::{Error, dlpack::CopyMode, prelude::*};
//!
//! let b = Numpyish::new();
//! let x = b.asarray([1.0, 2.0, 3.0])?;
//! let shared = b.to_dlpack(&x)?;
//! assert!(shared.is_read_only() && shared.data() == x.as_ptr().cast());
//! assert!(shared.into_raw_legacy().is_err());
//! let copied = b.to_dlpack_with(&x, CopyMode::Always)?;
//! assert!(copied.is_copied() && !copied.is_read_only());
//! let given = b.to_dlpack(x)?; // no other handle shares it
//! assert!(!given.is_read_only());
//! # Ok::<(), Error>(())
//! ```
//!
//! In the other direction, the producer must not change the memory while an array uses it. If you cannot guarantee
//! this, for example for NumPy arrays of your users, use [`CopyMode::Always`].
//!
//! # What is shared, and what is copied
//!
//! | from a tensor | shared | copied, unless [`CopyMode::Never`] makes it an error |
//! |---|---|---|
//! | `Numpyish` | memory of the host (`kDLCPU`, `kDLCUDAHost`, `kDLROCMHost`) with any strides | elements that are not aligned to their type; elements that share memory (stride 0); arrays of less than 4 KiB |
//! | `Torch` on the CPU | as for `Numpyish`, without negative strides | negative strides, which libtorch lacks; elements that are not aligned |
//! | `Cuda`, `Torch` on a GPU | memory of the same GPU | negative strides (`Torch`); bools whose bytes are not all known to be 0 or 1 (`Cuda`) |
//!
//! [`CopyMode::Never`] also shares small arrays. Three kinds of tensors are errors: memory of another device, because
//! nothing is moved implicitly; unaligned elements on a GPU; and bytes on the host that are not valid bools. Exporting
//! an array makes no copy, unless the array has negative strides: PyTorch, as of 2.11, aborts the process on a tensor
//! with negative strides, so such an array is copied. With [`CopyMode::Never`] it is exported without a copy, for NumPy
//! and other consumers that support negative strides. Tensors without elements have no memory.
//!
//! An ndarray cannot run code when it is dropped. The tensor whose memory an ndarray uses is therefore freed after the
//! array: by one of the next calls that exchange arrays, or by [`release_unused`]. A `Torch` or `Cuda` array frees its
//! tensor at once. Dropping an array in any thread may call a deleter, which may wait for a lock such as Python's. The
//! thread must then hold no lock that other threads need.
//!
//! # GPUs
//!
//! A tensor of `Cuda` or `Torch` on a GPU is exported after all queued work has run, so any stream may read it. An
//! array that uses foreign GPU memory first waits for the queued work on the other streams of the device, and returns
//! the memory when its own stream has finished with it. The memory of `Cuda` itself is reused once the device is idle.
//! Python's protocol has an argument `stream`, which is therefore not needed, but both directions wait for queued work.
//!
//! The tests exchange arrays on the CPU with NumPy and libtorch, and arrays of `Cuda` on a device emulated in software.
//! The exchange of libtorch's GPU tensors, also with `Cuda`, has never run on a GPU; it uses the same calls with
//! another device.
//!
//! # In a binding for Python
//!
//! Python objects are exchanged by two methods, `__dlpack__` and `__dlpack_device__`. `__dlpack__` returns a capsule
//! that contains the pointer. A consumer renames the capsule when it takes the tensor; the destructor of a capsule that
//! was not renamed calls the deleter. With [PyO3](https://pyo3.rs), where `Array` is a class around a [`DynArray`]:
//!
//! ```ignore
//! #[pymethods]
//! impl Array {
//!     /// Called by numpy.from_dlpack(x), cupy.from_dlpack(x) and torch.from_dlpack(x).
//!     #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
//!     fn __dlpack__(&self, py: Python<'_>, stream: Option<Py<PyAny>>, max_version: Option<(u32, u32)>,
//!                   dl_device: Option<(i32, i32)>, copy: Option<bool>) -> PyResult<Py<PyAny>> {
//!         // `stream` is not needed: the tensor is ready for every stream
//!         let here = self.backend.dlpack_device();
//!         if dl_device.is_some_and(|wanted| wanted != (here.device_type, here.device_id)) {
//!             return Err(PyBufferError::new_err("the array is on another device"));
//!         }
//!         if max_version.is_some_and(|(major, _)| major >= 1) {
//!             let copy = if copy == Some(true) { CopyMode::Always } else { CopyMode::IfNeeded };
//!             let tensor = self.array.to_dlpack(&self.backend, copy)?.into_raw();
//!             return capsule(py, tensor.cast(), dlpack::CAPSULE, Some(unused));
//!         }
//!         // a consumer from before DLPack 1.0 knows no read-only flag, so it gets a copy
//!         if copy == Some(false) {
//!             return Err(PyBufferError::new_err("a read-only array is exchanged from DLPack 1.0 on"));
//!         }
//!         let tensor = self.array.to_dlpack(&self.backend, CopyMode::Always)?.into_raw_legacy()?;
//!         capsule(py, tensor.cast(), dlpack::LEGACY_CAPSULE, Some(unused_legacy))
//!     }
//!
//!     fn __dlpack_device__(&self) -> (i32, i32) {
//!         let device = self.backend.dlpack_device();
//!         (device.device_type, device.device_id)
//!     }
//!
//!     /// Array.from_dlpack(x), for any object that has these methods.
//!     #[staticmethod]
//!     fn from_dlpack(x: &Bound<'_, PyAny>) -> PyResult<Array> {
//!         let max = [("max_version", (1, 0))].into_py_dict(x.py())?;
//!         let given = x.call_method("__dlpack__", (), Some(&max))?;
//!         // producers from before DLPack 1.0 return a `LEGACY_CAPSULE`, which needs `from_raw_legacy`
//!         // SAFETY: the tensor is taken once: the destructor of a renamed capsule does not free it.
//!         let tensor = unsafe {
//!             let pointer = ffi::PyCapsule_GetPointer(given.as_ptr(), dlpack::CAPSULE.as_ptr());
//!             ffi::PyCapsule_SetName(given.as_ptr(), dlpack::USED_CAPSULE.as_ptr());
//!             ManagedTensor::from_raw(pointer.cast())?
//!         };
//!         // a copy, because Python code may still write to the array
//!         let array = DynArray::from_dlpack(&BACKEND, tensor, CopyMode::Always)?;
//!         Ok(Array { backend: BACKEND, array })
//!     }
//! }
//!
//! /// Destructor of the capsule. It frees the tensor if no consumer has renamed the capsule.
//! unsafe extern "C" fn unused(capsule: *mut ffi::PyObject) {
//!     if ffi::PyCapsule_IsValid(capsule, dlpack::CAPSULE.as_ptr()) != 0 {
//!         let pointer = ffi::PyCapsule_GetPointer(capsule, dlpack::CAPSULE.as_ptr());
//!         drop(ManagedTensor::from_raw(pointer.cast()));
//!     }
//! }
//! ```
//!
//! `tests/dlpack/exchange.py` of the repository does the same with `ctypes`; the tests run it against NumPy.

#[doc(inline)]
pub use crate::runtime::dlpack::{
    CAPSULE, CopyMode, DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor,
    IS_COPIED, LEGACY_CAPSULE, ManagedTensor, READ_ONLY, USED_CAPSULE, USED_LEGACY_CAPSULE, VERSION, release_unused,
};
#[cfg(doc)]
use crate::{Arrays, DynArray};
