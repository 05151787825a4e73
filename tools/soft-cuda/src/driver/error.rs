//! The driver's error codes, and the function that writes results to the caller's memory.

use std::ffi::{CStr, c_char};

/// An error code of the driver: a `CUresult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(pub u32);

/// The result of a function of the driver.
pub type Result<T, E = Code> = std::result::Result<T, E>;

/// Writes `value` to the caller's address `at`; returns an error if `at` is null.
///
/// # Safety
/// `at` must be null or valid for writing a `V`.
pub(crate) unsafe fn put<V>(at: *mut V, value: V) -> Result<()> {
    if at.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: `at` is not null, so the caller guarantees that it is valid for writing a `V`.
    unsafe { at.write(value) };
    Ok(())
}

macro_rules! codes {
    ($($name:ident = $number:literal, $text:literal;)*) => {
        impl Code {
            $(#[doc = $text] pub const $name: Code = Code($number);)*

            /// Returns the name and the English text of the code; `None` if the code is unknown.
            fn words(self) -> Option<(&'static CStr, &'static CStr)> {
                match self.0 {
                    0 => Some((c"CUDA_SUCCESS", c"no error")),
                    $($number => {
                        let bytes = concat!("CUDA_ERROR_", stringify!($name), "\0").as_bytes();
                        let name = CStr::from_bytes_with_nul(bytes).unwrap_or(c"");
                        let text = CStr::from_bytes_with_nul(concat!($text, "\0").as_bytes()).unwrap_or(c"");
                        Some((name, text))
                    })*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    INVALID_VALUE = 1, "invalid argument";
    OUT_OF_MEMORY = 2, "out of memory";
    NOT_INITIALIZED = 3, "initialization error";
    NO_DEVICE = 100, "no CUDA-capable device is detected";
    INVALID_DEVICE = 101, "invalid device ordinal";
    INVALID_IMAGE = 200, "device kernel image is invalid";
    INVALID_CONTEXT = 201, "invalid device context";
    NO_BINARY_FOR_GPU = 209, "no kernel image is available for execution on the device";
    INVALID_PTX = 218, "a PTX JIT compilation failed";
    INVALID_HANDLE = 400, "invalid resource handle";
    NOT_FOUND = 500, "named symbol not found";
    NOT_READY = 600, "device not ready";
    ILLEGAL_ADDRESS = 700, "an illegal memory access was encountered";
    LAUNCH_OUT_OF_RESOURCES = 701, "too many resources requested for launch";
    CONTEXT_IS_DESTROYED = 709, "context is destroyed";
    ILLEGAL_INSTRUCTION = 715, "an illegal instruction was encountered";
    MISALIGNED_ADDRESS = 716, "misaligned address";
    LAUNCH_FAILED = 719, "unspecified launch failure";
    NOT_SUPPORTED = 801, "operation not supported";
}

/// Returns the name of an error: `CUDA_ERROR_INVALID_VALUE`.
///
/// # Safety
/// `name` must be null or valid for writing a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(error: u32, name: *mut *const c_char) -> u32 {
    // SAFETY: the caller guarantees that `name` is null or valid for writing a pointer.
    unsafe { put_words(name, Code(error).words().map(|(name, _)| name)) }
}

/// Returns the English text of an error.
///
/// # Safety
/// `text` must be null or valid for writing a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(error: u32, text: *mut *const c_char) -> u32 {
    // SAFETY: the caller guarantees that `text` is null or valid for writing a pointer.
    unsafe { put_words(text, Code(error).words().map(|(_, text)| text)) }
}

/// # Safety
/// `at` must be null or valid for writing a pointer.
unsafe fn put_words(at: *mut *const c_char, words: Option<&'static CStr>) -> u32 {
    // SAFETY: the caller guarantees that `at` is null or valid for writing a pointer.
    let put = unsafe { put(at, words.map_or(std::ptr::null(), CStr::as_ptr)) };
    if put.is_ok() && words.is_some() { 0 } else { Code::INVALID_VALUE.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_names_and_texts() {
        let (name, text) = Code::ILLEGAL_ADDRESS.words().unwrap();
        assert_eq!(name, c"CUDA_ERROR_ILLEGAL_ADDRESS");
        assert_eq!(text, c"an illegal memory access was encountered");
        let mut at = std::ptr::null();
        // SAFETY: `at` is valid for writing a pointer.
        assert_eq!(unsafe { cuGetErrorName(2, &mut at) }, 0);
        // SAFETY: `at` points to a string of the driver.
        assert_eq!(unsafe { CStr::from_ptr(at) }, c"CUDA_ERROR_OUT_OF_MEMORY");
        // SAFETY: `at` is valid for writing a pointer.
        assert_eq!(unsafe { cuGetErrorString(12345, &mut at) }, 1);
        assert!(at.is_null());
        // SAFETY: the function allows a null pointer.
        assert_eq!(unsafe { cuGetErrorName(2, std::ptr::null_mut()) }, 1);
    }
}
