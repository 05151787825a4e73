//! The default dtype of real numbers. It can be set for the whole process, and for one thread while a guard lives.

use crate::{DType, Error, Result, scope::Stack};
use std::{
    marker::PhantomData,
    sync::atomic::{AtomicU8, Ordering},
};

const OP: &str = "precision";

/// Size in bytes (2, 4 or 8) of the process's default dtype. The size identifies the dtype.
static DEFAULT: AtomicU8 = AtomicU8::new(8);

thread_local!(static SCOPES: Stack<DType> = const { Stack::new() });

/// Returns the current dtype of real numbers in this thread: float16, float32 or float64. It applies if nothing else
/// determines the dtype.
///
/// Calls of ops by name, that is, by a string, use this dtype for numbers if no arrays are given, and for arrays
/// created without `dtype`. Complex numbers then get the complex dtype with parts of this dtype. Generic code uses this
/// dtype as a type with [`dispatch!`](crate::dispatch). The innermost [scope](enter_precision) determines this dtype.
/// Outside of scopes, it is the process's [default](set_default_precision), which is initially float64.
///
/// ```
/// # use backend_core as backends;
/// use backends::{DType, Element, Result, dispatch, enter_precision, precision};
///
/// fn bytes<T: Element>() -> Result<usize> {
///     Ok(3 * T::DTYPE.size())
/// }
///
/// let scope = enter_precision(DType::Float32)?;
/// assert_eq!(dispatch!(precision(), T: [Float16, Float32, Float64] => bytes::<T>())?, 12);
/// drop(scope);
/// assert_eq!(precision(), DType::Float64);
/// # Ok::<(), backends::Error>(())
/// ```
#[must_use]
pub fn precision() -> DType {
    let default = || match DEFAULT.load(Ordering::Relaxed) {
        2 => DType::Float16,
        4 => DType::Float32,
        _ => DType::Float64,
    };
    SCOPES.with(Stack::innermost).unwrap_or_else(default)
}

/// Sets the precision of this thread until the returned guard is dropped, even if a panic drops it. Such scopes can be
/// nested.
///
/// # Errors
/// [`Error::Argument`] for a dtype other than float16, float32 and float64.
pub fn enter_precision(dtype: DType) -> Result<PrecisionScope> {
    let number = SCOPES.with(|scopes| checked(dtype).map(|dtype| scopes.begin(dtype)))?;
    Ok(PrecisionScope { number, of_this_thread: PhantomData })
}

/// Sets the precision of this process, which applies to all threads outside of scopes. Returns the previous precision.
///
/// # Errors
/// The errors of [`enter_precision`].
pub fn set_default_precision(dtype: DType) -> Result<DType> {
    let bytes = checked(dtype)?.size() as u8;
    Ok(match DEFAULT.swap(bytes, Ordering::Relaxed) {
        2 => DType::Float16,
        4 => DType::Float32,
        _ => DType::Float64,
    })
}

fn checked(dtype: DType) -> Result<DType> {
    match dtype {
        DType::Float16 | DType::Float32 | DType::Float64 => Ok(dtype),
        other => Err(Error::argument(OP, format!("the precision is {other}, but must be float16, float32 or float64"))),
    }
}

/// Guard of a scope that sets the precision. The scope ends when the guard is dropped. The guard cannot leave its
/// thread.
#[derive(Debug)]
#[must_use = "the scope ends when the guard goes"]
pub struct PrecisionScope {
    number: u64,
    of_this_thread: PhantomData<*const ()>,
}

impl Drop for PrecisionScope {
    fn drop(&mut self) {
        // in a thread that is ending, the scopes may be gone already
        let _ = SCOPES.try_with(|scopes| scopes.end(self.number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_those_of_their_thread_and_end_in_panics() {
        let outer = enter_precision(DType::Float32).unwrap();
        let inner = enter_precision(DType::Float16).unwrap();
        let elsewhere = std::thread::spawn(precision).join().unwrap();
        assert_eq!((precision(), elsewhere), (DType::Float16, DType::Float64));
        drop(outer);
        assert_eq!(precision(), DType::Float16, "guards may go in any order");
        drop(inner);
        let panics = || {
            let _scope = enter_precision(DType::Float16).unwrap();
            panic!("as asked")
        };
        assert!(std::panic::catch_unwind(panics).is_err());
        assert_eq!(precision(), DType::Float64);
        assert!(enter_precision(DType::Int32).is_err() && set_default_precision(DType::Complex64).is_err());
    }
}
