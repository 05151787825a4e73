//! The shim's functions, and libtorch itself, loaded once per process.

use super::locate::{self, Place};
use backend_core::{DType, Error, Result, dlpack::DLManagedTensor, threads};
use std::{
    ffi::{CStr, c_char, c_int, c_void},
    sync::OnceLock,
};
#[cfg(unix)]
use {
    super::build,
    backend_load::{cache, check, examine, with_causes},
    std::path::Path,
};

/// A C++ `TensorImpl`.
#[repr(C)]
pub struct Impl {
    _opaque: [u8; 0],
}

/// The kinds of [`Value`], numbered as in the shim's `Tag`.
pub mod tag {
    #![allow(missing_docs)]
    pub const NONE: i32 = 0;
    pub const TENSOR: i32 = 1;
    pub const INT: i32 = 2;
    pub const DOUBLE: i32 = 3;
    pub const BOOL: i32 = 4;
    pub const INTS: i32 = 5;
    pub const TENSORS: i32 = 6;
    pub const SCALAR: i32 = 7;
    pub const DEVICE: i32 = 8;
    pub const TEXT: i32 = 9;
}

/// The status codes of the shim's functions, numbered as in the shim's `Status`.
pub mod status {
    #![allow(missing_docs)]
    use std::ffi::c_int;
    pub const DONE: c_int = 0;
    pub const WRONG_DEVICE: c_int = 2;
    pub const NO_MEMORY: c_int = 3;
    pub const UNSUPPORTED: c_int = 4;
}

/// An argument or a result that passes through the shim.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// The kind of value: one of the constants of [`tag`].
    pub tag: i32,
    /// Code of the dtype, for a scalar.
    pub aux: i32,
    /// An integer, the bits of a double, a pointer, or the first 8 bytes of a scalar.
    pub word: u64,
    /// Number of elements at the pointer, or the last 8 bytes of a scalar.
    pub count: u64,
}

impl Value {
    /// The absence of a value, such as an optional argument that is not passed.
    pub const NONE: Value = Value { tag: tag::NONE, aux: 0, word: 0, count: 0 };
}

/// Defines the struct of the shim's function pointers. Each field has the name of its function, without `backends_`.
macro_rules! shim {
    ($($name:ident: fn($($arg:ty),*) $(-> $ret:ty)?,)*) => {
        /// The shim's functions.
        #[cfg_attr(not(unix), allow(dead_code, reason = "libtorch is loaded on Unix only"))]
        pub struct Shim {
            $(#[allow(missing_docs)] pub $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
        }

        #[cfg(unix)]
        impl Shim {
            /// Looks up the functions in an open library.
            fn of(library: &libloading::os::unix::Library) -> std::result::Result<Shim, libloading::Error> {
                // SAFETY: the types match the functions with these names in shim.cpp, from which this crate
                // compiled the library.
                unsafe { Ok(Shim { $($name: *library.get(concat!("backends_", stringify!($name)).as_bytes())?,)* }) }
            }
        }
    };
}

shim! {
    built_for: fn() -> u32,
    version: fn() -> *const c_char,
    message: fn() -> *const c_char,
    find: fn(*const c_char, *const c_char, *mut *mut c_void) -> c_int,
    schema: fn(*mut c_void) -> c_int,
    call: fn(*mut c_void, c_int, *const Value, usize, *mut Value, usize, *mut usize) -> c_int,
    from_host: fn(*mut c_void, *const i64, *const i64, usize, c_int, c_int, c_int, unsafe extern "C" fn(*mut c_void), *mut c_void, *mut *mut Impl) -> c_int,
    to_host: fn(*mut Impl, *mut c_void) -> c_int,
    to_dlpack: fn(*mut Impl, c_int, *mut *mut DLManagedTensor) -> c_int,
    from_dlpack: fn(*mut DLManagedTensor, c_int, *const i64, usize, c_int, *mut *mut Impl) -> c_int,
    share: fn(*mut Impl),
    drop: fn(*mut Impl),
    drop_list: fn(*mut c_void),
    lengths: fn(*mut Impl, *mut usize) -> *const i64,
    strides: fn(*mut Impl) -> *const i64,
    dtype: fn(*mut Impl) -> c_int,
    offset: fn(*mut Impl) -> i64,
    data: fn(*mut Impl) -> *mut c_void,
    alone: fn(*mut Impl, usize) -> c_int,
    owned: fn(*mut Impl) -> c_int,
    device: fn(*mut Impl) -> c_int,
    device_count: fn() -> c_int,
    has_mps: fn() -> c_int,
    synchronize: fn(c_int) -> c_int,
    memory: fn(c_int, *mut u64) -> c_int,
    reset_peak: fn(c_int) -> c_int,
    free_cache: fn(c_int) -> c_int,
}

/// The end of the message "the op is not available on ..", for queries of GPU memory that libtorch does not support.
const OLD_GPUS: &str = "GPUs of Macs, and on other GPUs only with libtorch 2.10 or newer";

impl Shim {
    /// The reason why this thread's last call failed.
    pub fn message(&self) -> String {
        // SAFETY: the shim returns a NUL-terminated string that lives until this thread's next failure.
        unsafe { CStr::from_ptr((self.message)()) }.to_string_lossy().into_owned()
    }

    /// The version of libtorch, such as `"2.11.0"`.
    pub fn version_text(&self) -> String {
        // SAFETY: the shim returns a constant NUL-terminated text.
        unsafe { CStr::from_ptr((self.version)()) }.to_string_lossy().into_owned()
    }

    /// Converts a status other than [`status::DONE`] to an error of the op `op`.
    #[cold]
    #[inline(never)]
    pub fn error(&self, op: &'static str, status: c_int, device: &dyn std::fmt::Display) -> Error {
        let message = self.message();
        match status {
            status::WRONG_DEVICE => Error::device(op, device.to_string(), message),
            status::NO_MEMORY => Error::memory(op, bytes_in(&message)),
            status::UNSUPPORTED => Error::unsupported(op, OLD_GPUS),
            _ => Error::library(op, "torch", message),
        }
    }
}

/// Reads the size from a message such as "you tried to allocate 123 bytes". Returns `usize::MAX` if the message has
/// another form.
fn bytes_in(message: &str) -> usize {
    let number = message.split_once(" bytes").and_then(|(before, _)| before.rsplit(' ').next());
    number.and_then(|n| n.parse().ok()).unwrap_or(usize::MAX)
}

static SHIM: OnceLock<Result<Shim>> = OnceLock::new();

/// Finds and loads libtorch and the shim on the first call; later calls return the same result.
pub fn load() -> Result<&'static Shim> {
    let open = || {
        threads::watch_forks();
        locate::find().and_then(|place| open(&place))
    };
    SHIM.get_or_init(open).as_ref().map_err(Clone::clone)
}

/// The loaded shim; panics if it is not loaded. Call it only if a tensor exists, because the tensor proves that the
/// shim was loaded.
#[inline(always)]
pub fn shim() -> &'static Shim {
    match SHIM.get() {
        Some(Ok(shim)) => shim,
        _ => unreachable!("tensors and backends are made after libtorch is loaded"),
    }
}

#[cfg(not(unix))]
fn open(_: &Place) -> Result<Shim> {
    Err(locate::unavailable("libtorch is loaded on Unix systems only"))
}

#[cfg(unix)]
fn open(place: &Place) -> Result<Shim> {
    use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
    let dlopen = |path: &Path, scope| {
        // SAFETY: libtorch's initialisers are designed to run at load time; the shim has none.
        unsafe { Library::open(Some(path), RTLD_NOW | scope) }.map_err(|e| {
            locate::unavailable(format!("{} does not load: {}", path.display(), with_causes(&e))).caused_by(e)
        })
    };
    let examine = |path: &Path| {
        let path = check::path(path, place.trust).map_err(locate::unavailable)?;
        examine(&path, &locate::neighbours(&path), place.trust).map_err(locate::unavailable)
    };
    let cpu = dlopen(&examine(&locate::library(&place.torch, "torch_cpu"))?, RTLD_GLOBAL)?;
    let built = build::shim(&place.torch)?;
    if let Some(why) = built.unkept() {
        cache::say_once(why);
    }
    // a libtorch without CUDA, or with missing CUDA libraries, can still be used for the CPU, but a damaged CUDA
    // library is refused
    let cuda = locate::library(&place.torch, "torch_cuda");
    let cuda = if cuda.is_file() { dlopen(&examine(&cuda)?, RTLD_GLOBAL).ok() } else { None };
    let load = |path: &Path| {
        let library = dlopen(path, RTLD_LOCAL)?;
        let functions = Shim::of(&library).map_err(|e| {
            locate::unavailable(format!("{} is no shim: {}", path.display(), with_causes(&e))).caused_by(e)
        })?;
        Ok((library, functions))
    };
    let (library, functions) = match load(&built.path) {
        // the cached shim is removed, because it may belong to another build of this version, or lack functions
        Err(_) if built.unkept().is_none() => {
            std::fs::remove_file(&built.path)
                .map_err(|e| locate::unavailable(format!("{}: {e}", built.path.display())).caused_by(e))?;
            load(&build::shim(&place.torch)?.path)?
        }
        loaded => loaded?,
    };
    check_version(&cpu, &functions)?;
    // the libraries are never unloaded, because tensors and their functions may live as long as the process
    std::mem::forget((cpu, cuda, library));
    Ok(functions)
}

/// Returns an error if the shim was built for another version than the loaded libtorch's. A libtorch before 2.7 is
/// accepted, because it does not report its version.
#[cfg(unix)]
fn check_version(cpu: &libloading::os::unix::Library, shim: &Shim) -> Result<()> {
    // SAFETY: the function has had this type in all versions, and has no side effects.
    let Ok(version) = (unsafe { cpu.get::<unsafe extern "C" fn() -> u64>(b"aoti_torch_abi_version") }) else {
        return Ok(());
    };
    // SAFETY: `version` has no side effects and returns a number, and so does `built_for`.
    let (loaded, built) = unsafe { (version() >> 48, (shim.built_for)()) };
    let built = u64::from(built >> 16) << 8 | u64::from(built & 0xff);
    if loaded == built {
        return Ok(());
    }
    let name = |v: u64| format!("{}.{}", v >> 8, v & 0xff);
    Err(locate::unavailable(format!(
        "libtorch has version {}, but its headers have version {}",
        name(loaded),
        name(built)
    )))
}

/// libtorch's code of a dtype (`c10::ScalarType`); -1 if libtorch lacks the dtype.
pub const fn code(dtype: DType) -> i32 {
    match dtype {
        DType::UInt8 => 0,
        DType::Int8 => 1,
        DType::Int16 => 2,
        DType::Int32 => 3,
        DType::Int64 => 4,
        DType::Float16 => 5,
        DType::Float32 => 6,
        DType::Float64 => 7,
        DType::Complex64 => 9,
        DType::Complex128 => 10,
        DType::Bool => 11,
        DType::BFloat16 => 15,
        DType::UInt16 => 27,
        DType::UInt32 => 28,
        DType::UInt64 => 29,
        // no tensor has this code
        _ => -1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_sizes_are_read() {
        assert_eq!(bytes_in("can't allocate memory: you tried to allocate 800 bytes. Error code 12"), 800);
        assert_eq!(bytes_in("CUDA out of memory"), usize::MAX);
    }
}
