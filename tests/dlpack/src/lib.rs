//! A minimal Python binding. `exchange.py` calls its C functions through `ctypes`.
//!
//! Python owns its arrays as pointers to [`Held`]. A function that fails returns null, and [`array_error`] then returns
//! the reason.

use backend_runtime::{
    Arrays, Complex, DType, DynArray, Element, Error, HostArray, Result,
    cuda::Cuda,
    dispatch,
    dlpack::{self, CopyMode, DLManagedTensor, DLManagedTensorVersioned, ManagedTensor, release_unused},
    numpyish::Numpyish,
    torch::Torch,
};
use ndarray::s;
use std::{
    cell::RefCell,
    ffi::{CStr, CString, c_char, c_int, c_void},
    ptr,
    sync::OnceLock,
};

/// An array, together with its backend.
pub enum Held {
    /// An array on the CPU.
    Numpyish(Numpyish, DynArray<Numpyish>),
    /// A tensor of libtorch.
    Torch(Torch, DynArray<Torch>),
    /// An array on a GPU.
    Cuda(Cuda, DynArray<Cuda>),
}

/// Evaluates `$do` with the backend and the array of a [`Held`].
macro_rules! with {
    ($held:expr, $b:ident, $x:ident => $do:expr) => {
        match $held {
            Held::Numpyish($b, $x) => $do,
            Held::Torch($b, $x) => $do,
            Held::Cuda($b, $x) => $do,
        }
    };
}

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Returns the pointer, or stores the text of the error and returns null.
fn pointer<T>(result: Result<*mut T>) -> *mut T {
    result.unwrap_or_else(|why| {
        ERROR.set(CString::new(why.to_string()).unwrap_or_default());
        ptr::null_mut()
    })
}

fn held(result: Result<Held>) -> *mut Held {
    pointer(result.map(|held| Box::into_raw(Box::new(held))))
}

/// Returns the text of the last error on this thread; the text is empty if no call has failed on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn array_error() -> *const c_char {
    ERROR.with_borrow(|why| why.as_ptr())
}

/// Creates an array on the backend with the given name, by calling the function for this backend.
fn on(
    name: &str,
    numpyish: impl FnOnce(&Numpyish) -> Result<DynArray<Numpyish>>,
    torch: impl FnOnce(&Torch) -> Result<DynArray<Torch>>,
    cuda: impl FnOnce(&Cuda) -> Result<DynArray<Cuda>>,
) -> Result<Held> {
    match name {
        "numpyish" => numpyish(&Numpyish::new()).map(|x| Held::Numpyish(Numpyish::new(), x)),
        "torch" => Torch::cpu().and_then(|b| torch(&b).map(|x| Held::Torch(b, x))),
        "cuda" => Cuda::new(0).and_then(|b| cuda(&b).map(|x| Held::Cuda(b, x))),
        other => Err(Error::argument("array_new", format!("`{other}` is no backend"))),
    }
}

/// Returns an array with the elements `numpy.arange(4800) % 113`, as 60 rows of 80, in dtype `T`. Bool arrays contain
/// `arange % 2`. Complex arrays have the imaginary part `-(arange % 7)`.
fn numbers<T: Element>() -> HostArray<T> {
    let of = |i: usize| match T::DTYPE {
        DType::Bool => T::from_i64((i % 2) as i64),
        DType::Complex64 | DType::Complex128 => T::from_complex(Complex::new((i % 113) as f64, -((i % 7) as f64))),
        _ => T::from_i64((i % 113) as i64),
    };
    HostArray::from_shape_fn(vec![60, 80], |index| of(index[0] * 80 + index[1]))
}

fn laid_out<T: Element>(layout: &str) -> Result<HostArray<T>> {
    let x = numbers::<T>();
    Ok(match layout {
        "c" => x,
        "fortran" => x.reversed_axes(),
        "steps" => x.slice_move(s![1..;2, ..;3]).into_dyn(),
        "backward" => x.slice_move(s![..;-1, ..;-1]).into_dyn(),
        "scalar" => x.slice_move(s![3, 5]).into_dyn(),
        "empty" => x.slice_move(s![..0, ..]).into_dyn(),
        other => return Err(Error::argument("array_new", format!("`{other}` is no layout"))),
    })
}

fn new(backend: &str, dtype: &str, layout: &str) -> Result<Held> {
    fn made<B: Arrays>(b: &B, dtype: &str, layout: &str) -> Result<DynArray<B>> {
        dispatch!(dtype.parse::<DType>()?, T => b.from_ndarray(laid_out::<T>(layout)?).map(DynArray::of::<T>))
    }
    on(backend, |b| made(b, dtype, layout), |b| made(b, dtype, layout), |b| made(b, dtype, layout))
}

/// Creates an array with the elements of [`numbers`], in a dtype and a memory layout.
///
/// # Safety
/// The strings must end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_new(backend: *const c_char, dtype: *const c_char, layout: *const c_char) -> *mut Held {
    // SAFETY: the caller guarantees that the strings end in NUL.
    let [backend, dtype, layout] =
        [backend, dtype, layout].map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy());
    held(new(&backend, &dtype, &layout))
}

/// Returns another handle to an array.
///
/// # Safety
/// `x` must be an array of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_clone(x: *const Held) -> *mut Held {
    // SAFETY: the caller guarantees that `x` is an array of this library.
    held(Ok(match unsafe { &*x } {
        Held::Numpyish(b, x) => Held::Numpyish(b.clone(), x.clone()),
        Held::Torch(b, x) => Held::Torch(b.clone(), x.clone()),
        Held::Cuda(b, x) => Held::Cuda(b.clone(), x.clone()),
    }))
}

/// Drops an array.
///
/// # Safety
/// `x` must be an array of this library, and must not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_drop(x: *mut Held) {
    // SAFETY: the caller guarantees that `x` is an array of this library, which is not used again.
    drop(unsafe { Box::from_raw(x) });
}

/// Frees the exported tensors that are no longer used by any consumer.
#[unsafe(no_mangle)]
pub extern "C" fn array_release_unused() {
    release_unused();
}

/// Writes the name of the dtype and the lengths of the axes. Returns the number of axes.
///
/// # Safety
/// `x` must be an array of this library; `dtype` must have room for 16 bytes, `shape` for 8 lengths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_what(x: *const Held, dtype: *mut u8, shape: *mut i64) -> usize {
    // SAFETY: the caller guarantees that `x` is an array of this library, and that `dtype` and `shape` have enough
    // room.
    with!(unsafe { &*x }, b, x => unsafe {
        let name = x.dtype().name();
        dtype.copy_from_nonoverlapping(name.as_ptr(), name.len());
        x.shape(b).iter().enumerate().for_each(|(axis, &len)| shape.add(axis).write(len as i64));
        x.shape(b).len()
    })
}

/// Writes the elements to `to`, in C order. Returns `to`, or null on failure.
///
/// # Safety
/// `x` must be an array of this library, and `to` must have room for its elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_elements(x: *const Held, to: *mut u8) -> *mut u8 {
    fn write<B: Arrays>(b: &B, x: &DynArray<B>, to: *mut u8) -> Result<*mut u8> {
        dispatch!(x.dtype(), T => x.get::<T>().ok_or_else(|| Error::dtype("array_elements", x.dtype())).and_then(|x| {
            let elements = b.to_vec::<T>(x)?;
            // SAFETY: the caller of `array_elements` guarantees that `to` has room for the elements.
            unsafe { to.cast::<T>().copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
            Ok(to)
        }))
    }
    // SAFETY: the caller guarantees that `x` is an array of this library.
    pointer(with!(unsafe { &*x }, b, x => write(b, x, to)))
}

/// Returns the address of the first element, or 0 for an array without elements. Writes the type of the device and its
/// number to `device`.
///
/// # Safety
/// `x` must be an array of this library, and `device` must have room for two numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_place(x: *const Held, device: *mut i32) -> usize {
    // SAFETY: the caller guarantees that `x` is an array of this library, and that `device` has room for two numbers.
    with!(unsafe { &*x }, b, x => unsafe {
        let here = b.dlpack_device();
        device.write(here.device_type);
        device.add(1).write(here.device_id);
        x.to_dlpack(b, CopyMode::Never).map_or(0, |tensor| tensor.data().addr())
    })
}

/// Converts an array into a tensor. This consumes `x`. The tensor is writable if `x` was the only handle to the memory.
///
/// # Safety
/// `x` must be an array of this library, and must not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_into_dlpack(x: *mut Held) -> *mut DLManagedTensorVersioned {
    fn given<B: Arrays>(b: &B, x: DynArray<B>) -> Result<*mut DLManagedTensorVersioned> {
        dispatch!(x.dtype(), T => {
            let only = x.get::<T>().cloned().ok_or_else(|| Error::dtype("array_into_dlpack", x.dtype()));
            drop(x);
            only.and_then(|only| b.to_dlpack_with::<T>(only, CopyMode::Never)).map(ManagedTensor::into_raw)
        })
    }
    // SAFETY: the caller guarantees that `x` is an array of this library, which is not used again.
    pointer(with!(*unsafe { Box::from_raw(x) }, b, x => given(&b, x)))
}

fn mode(copy: i32) -> CopyMode {
    match copy {
        0 => CopyMode::Never,
        1 => CopyMode::Always,
        _ => CopyMode::IfNeeded,
    }
}

/// Exports the array as a tensor. `copy` is 0 to copy never, 1 to copy always, and -1 to copy only if needed.
///
/// # Safety
/// `x` must be an array of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_dlpack(x: *const Held, copy: i32) -> *mut DLManagedTensorVersioned {
    // SAFETY: the caller guarantees that `x` is an array of this library.
    pointer(with!(unsafe { &*x }, b, x => x.to_dlpack(b, mode(copy)).map(ManagedTensor::into_raw)))
}

/// Like `array_dlpack`, but the tensor has the memory layout of DLPack before version 1.0.
///
/// # Safety
/// `x` must be an array of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_dlpack_legacy(x: *const Held, copy: i32) -> *mut DLManagedTensor {
    // SAFETY: the caller guarantees that `x` is an array of this library.
    pointer(with!(unsafe { &*x }, b, x => x.to_dlpack(b, mode(copy)).and_then(ManagedTensor::into_raw_legacy)))
}

fn from(backend: &str, tensor: Result<ManagedTensor>, copy: i32) -> Result<Held> {
    let (tensor, copy) = (RefCell::new(Some(tensor?)), mode(copy));
    let take = || tensor.take().ok_or_else(|| Error::argument("array_from", "a tensor is taken once"));
    on(
        backend,
        |b| DynArray::from_dlpack(b, take()?, copy),
        |b| DynArray::from_dlpack(b, take()?, copy),
        |b| DynArray::from_dlpack(b, take()?, copy),
    )
}

/// Converts a tensor into an array. This consumes the tensor.
///
/// # Safety
/// See [`ManagedTensor::from_raw`]; the name must end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_from(
    backend: *const c_char,
    tensor: *mut DLManagedTensorVersioned,
    copy: i32,
) -> *mut Held {
    // SAFETY: the caller guarantees that the name ends in NUL, and that the tensor fulfils the conditions of
    // `from_raw`.
    unsafe { held(from(&CStr::from_ptr(backend).to_string_lossy(), ManagedTensor::from_raw(tensor), copy)) }
}

/// Like [`array_from`], but the tensor has the memory layout of DLPack before version 1.0.
///
/// # Safety
/// See [`array_from`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_from_legacy(
    backend: *const c_char,
    tensor: *mut DLManagedTensor,
    copy: i32,
) -> *mut Held {
    // SAFETY: the caller guarantees that the name ends in NUL, and that the tensor fulfils the conditions of
    // `from_raw_legacy`.
    unsafe { held(from(&CStr::from_ptr(backend).to_string_lossy(), ManagedTensor::from_raw_legacy(tensor), copy)) }
}

/// Type of `PyCapsule_IsValid`.
type IsValid = unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int;

/// Type of `PyCapsule_GetPointer`.
type GetPointer = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

/// Two functions of Python's C API. They are set at run time, because this library is not linked to Python.
static CAPSULES: OnceLock<(IsValid, GetPointer)> = OnceLock::new();

/// Sets the two functions of Python's C API. Must be called before the first capsule is made.
#[unsafe(no_mangle)]
pub extern "C" fn array_python(is_valid: IsValid, get_pointer: GetPointer) {
    CAPSULES.get_or_init(|| (is_valid, get_pointer));
}

/// Returns the pointer in a capsule, if no consumer has taken the tensor. (A consumer renames the capsule when it takes
/// the tensor.)
fn unused(capsule: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    let (is_valid, get_pointer) = CAPSULES.get()?;
    // SAFETY: Python calls a destructor with a live capsule while holding Python's lock, as both functions require.
    unsafe { (is_valid(capsule, name.as_ptr()) != 0).then(|| get_pointer(capsule, name.as_ptr())) }
}

/// Destructor of a capsule: frees the tensor if no consumer took it. It is a C function, because it may be called while
/// a Python exception is pending.
///
/// # Safety
/// Only Python may call it, with a capsule.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_unused(capsule: *mut c_void) {
    // SAFETY: no consumer took the tensor, so the capsule still owns it.
    unused(capsule, dlpack::CAPSULE).into_iter().for_each(|x| drop(unsafe { ManagedTensor::from_raw(x.cast()) }));
}

/// Like `array_unused`, but the tensor has the memory layout of DLPack before version 1.0.
///
/// # Safety
/// Only Python may call it, with a capsule.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_unused_legacy(capsule: *mut c_void) {
    let tensor = unused(capsule, dlpack::LEGACY_CAPSULE).into_iter();
    // SAFETY: no consumer took the tensor, so the capsule still owns it.
    tensor.for_each(|x| drop(unsafe { ManagedTensor::from_raw_legacy(x.cast()) }));
}
