//! A binding for Python as small as it can be: functions in C that `exchange.py` calls with `ctypes`.
//!
//! Pointers to [`Held`] are arrays that Python owns. What fails returns null, and says why in [`array_error`].

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

/// An array with its backend.
pub enum Held {
    /// On the CPU.
    Numpyish(Numpyish, DynArray<Numpyish>),
    /// Of libtorch.
    Torch(Torch, DynArray<Torch>),
    /// On a GPU.
    Cuda(Cuda, DynArray<Cuda>),
}

/// Runs the expression with the backend and the array.
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

/// The value, or null.
fn pointer<T>(result: Result<*mut T>) -> *mut T {
    result.unwrap_or_else(|why| {
        ERROR.set(CString::new(why.to_string()).unwrap_or_default());
        ptr::null_mut()
    })
}

fn held(result: Result<Held>) -> *mut Held {
    pointer(result.map(|held| Box::into_raw(Box::new(held))))
}

/// Why the last call of this thread failed.
#[unsafe(no_mangle)]
pub extern "C" fn array_error() -> *const c_char {
    ERROR.with_borrow(|why| why.as_ptr())
}

/// Runs a function with the backend of this name.
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

/// `numpy.arange(4800) % 113` in the dtype (of bools, the remainder by 2), with `-1j` times the remainder by 7 where it is complex.
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

/// A new array with the numbers of [`numbers`].
///
/// # Safety
/// The strings end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_new(backend: *const c_char, dtype: *const c_char, layout: *const c_char) -> *mut Held {
    // SAFETY: the caller's promise.
    let [backend, dtype, layout] =
        [backend, dtype, layout].map(|text| unsafe { CStr::from_ptr(text) }.to_string_lossy());
    held(new(&backend, &dtype, &layout))
}

/// Another handle of an array.
///
/// # Safety
/// `x` is an array of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_clone(x: *const Held) -> *mut Held {
    // SAFETY: the caller's promise.
    held(Ok(match unsafe { &*x } {
        Held::Numpyish(b, x) => Held::Numpyish(b.clone(), x.clone()),
        Held::Torch(b, x) => Held::Torch(b.clone(), x.clone()),
        Held::Cuda(b, x) => Held::Cuda(b.clone(), x.clone()),
    }))
}

/// Drops an array.
///
/// # Safety
/// `x` is an array of this library, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_drop(x: *mut Held) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(x) });
}

/// Frees the tensors that no array uses any more.
#[unsafe(no_mangle)]
pub extern "C" fn array_release_unused() {
    release_unused();
}

/// Writes the dtype's name, and gives the number of axes; their lengths are written, too.
///
/// # Safety
/// `x` is an array of this library; `dtype` has room for 16 characters, `shape` for 8 lengths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_what(x: *const Held, dtype: *mut u8, shape: *mut i64) -> usize {
    // SAFETY: the caller's promise.
    with!(unsafe { &*x }, b, x => unsafe {
        let name = x.dtype().name();
        dtype.copy_from_nonoverlapping(name.as_ptr(), name.len());
        x.shape(b).iter().enumerate().for_each(|(axis, &len)| shape.add(axis).write(len as i64));
        x.shape(b).len()
    })
}

/// Writes the elements in C order; null is failure.
///
/// # Safety
/// `x` is an array of this library, and there is room for its elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_elements(x: *const Held, to: *mut u8) -> *mut u8 {
    fn write<B: Arrays>(b: &B, x: &DynArray<B>, to: *mut u8) -> Result<*mut u8> {
        dispatch!(x.dtype(), T => x.get::<T>().ok_or(Error::DType { op: "array_elements", dtype: x.dtype() }).and_then(|x| {
            let elements = b.to_vec::<T>(x)?;
            // SAFETY: the caller of `array_elements` promises that there is room.
            unsafe { to.cast::<T>().copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
            Ok(to)
        }))
    }
    // SAFETY: the caller's promise.
    pointer(with!(unsafe { &*x }, b, x => write(b, x, to)))
}

/// Where the first element is, and the device: its type and its number. 0 where there are no elements.
///
/// # Safety
/// `x` is an array of this library; there is room for two numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_place(x: *const Held, device: *mut i32) -> usize {
    // SAFETY: the caller's promise.
    with!(unsafe { &*x }, b, x => unsafe {
        let here = b.dlpack_device();
        device.write(here.device_type);
        device.add(1).write(here.device_id);
        x.to_dlpack(b, CopyMode::Never).map_or(0, |tensor| tensor.data().addr())
    })
}

/// Whether the array is the only handle of its memory: a tensor that is given by value can then be written to.
///
/// # Safety
/// `x` is an array of this library, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_into_dlpack(x: *mut Held) -> *mut DLManagedTensorVersioned {
    fn given<B: Arrays>(b: &B, x: DynArray<B>) -> Result<*mut DLManagedTensorVersioned> {
        dispatch!(x.dtype(), T => {
            let only = x.get::<T>().cloned().ok_or(Error::DType { op: "array_into_dlpack", dtype: x.dtype() });
            drop(x);
            only.and_then(|only| b.to_dlpack_with::<T>(only, CopyMode::Never)).map(ManagedTensor::into_raw)
        })
    }
    // SAFETY: the caller's promise.
    pointer(with!(*unsafe { Box::from_raw(x) }, b, x => given(&b, x)))
}

fn mode(copy: i32) -> CopyMode {
    match copy {
        0 => CopyMode::Never,
        1 => CopyMode::Always,
        _ => CopyMode::IfNeeded,
    }
}

/// The array as a tensor. `copy` is 0, 1, or -1 for what is needed.
///
/// # Safety
/// `x` is an array of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_dlpack(x: *const Held, copy: i32) -> *mut DLManagedTensorVersioned {
    // SAFETY: the caller's promise.
    pointer(with!(unsafe { &*x }, b, x => x.to_dlpack(b, mode(copy)).map(ManagedTensor::into_raw)))
}

/// The array as a tensor from before DLPack 1.0.
///
/// # Safety
/// `x` is an array of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_dlpack_legacy(x: *const Held, copy: i32) -> *mut DLManagedTensor {
    // SAFETY: the caller's promise.
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

/// An array of a tensor, which is taken.
///
/// # Safety
/// As for [`ManagedTensor::from_raw`]; the name ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_from(
    backend: *const c_char,
    tensor: *mut DLManagedTensorVersioned,
    copy: i32,
) -> *mut Held {
    // SAFETY: the caller's promise.
    unsafe { held(from(&CStr::from_ptr(backend).to_string_lossy(), ManagedTensor::from_raw(tensor), copy)) }
}

/// The same from before DLPack 1.0.
///
/// # Safety
/// As for [`array_from`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_from_legacy(
    backend: *const c_char,
    tensor: *mut DLManagedTensor,
    copy: i32,
) -> *mut Held {
    // SAFETY: the caller's promise.
    unsafe { held(from(&CStr::from_ptr(backend).to_string_lossy(), ManagedTensor::from_raw_legacy(tensor), copy)) }
}

/// `PyCapsule_IsValid`.
type IsValid = unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int;

/// `PyCapsule_GetPointer`.
type GetPointer = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

/// Two functions of Python, to which this library is not linked.
static CAPSULES: OnceLock<(IsValid, GetPointer)> = OnceLock::new();

/// Takes these functions, before any capsule is made.
#[unsafe(no_mangle)]
pub extern "C" fn array_python(is_valid: IsValid, get_pointer: GetPointer) {
    CAPSULES.get_or_init(|| (is_valid, get_pointer));
}

/// The pointer in a capsule that still has the name of one that nobody took.
fn unused(capsule: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    let (is_valid, get_pointer) = CAPSULES.get()?;
    // SAFETY: Python calls destructors with the capsule, and holds its lock.
    unsafe { (is_valid(capsule, name.as_ptr()) != 0).then(|| get_pointer(capsule, name.as_ptr())) }
}

/// The destructor of a capsule: frees the tensor if nobody took it. It is in C, as it runs where an exception of Python may be on its way.
///
/// # Safety
/// Python calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_unused(capsule: *mut c_void) {
    // SAFETY: nobody took the tensor.
    unused(capsule, dlpack::CAPSULE).into_iter().for_each(|x| drop(unsafe { ManagedTensor::from_raw(x.cast()) }));
}

/// The same from before DLPack 1.0.
///
/// # Safety
/// Python calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn array_unused_legacy(capsule: *mut c_void) {
    let tensor = unused(capsule, dlpack::LEGACY_CAPSULE).into_iter();
    // SAFETY: nobody took the tensor.
    tensor.for_each(|x| drop(unsafe { ManagedTensor::from_raw_legacy(x.cast()) }));
}
