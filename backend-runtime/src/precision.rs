//! The precision of numbers that nothing else gives one: for a thread, within scopes, and for the process.

use crate::{DType, Error, Result, scope::Stack};
use std::{
    marker::PhantomData,
    sync::atomic::{AtomicU8, Ordering},
};

const OP: &str = "precision";

/// Bytes of the default of the process.
static DEFAULT: AtomicU8 = AtomicU8::new(8);

thread_local!(static SCOPES: Stack<DType> = const { Stack::new() });

/// The dtype of reals that nothing else gives one, at this moment in this thread: float16, float32 or float64.
///
/// Calls by name use it for numbers where there are no arrays, and for what is created without `dtype`; complex numbers have the dtype with parts of
/// it. Generic code takes it as a type with [`dispatch!`](crate::dispatch). It is that of the innermost [scope](enter_precision), else the
/// process's [default](set_default_precision), which is float64.
///
/// ```
/// # use backend_runtime as backends;
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

/// Makes it the precision of this thread until the guard goes, in a panic too. Scopes stand in one another.
///
/// # Errors
/// [`Error::Argument`] for a dtype that is none of float16, float32 and float64.
pub fn enter_precision(dtype: DType) -> Result<PrecisionScope> {
    let number = SCOPES.with(|scopes| checked(dtype).map(|dtype| scopes.begin(dtype)))?;
    Ok(PrecisionScope { number, of_this_thread: PhantomData })
}

/// Makes it the precision of this process, in all threads, outside of scopes. The one before.
///
/// # Errors
/// As those of [`enter_precision`].
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

/// A scope with a precision of its own, which ends when this goes; of one thread.
#[derive(Debug)]
#[must_use = "the scope ends when the guard goes"]
pub struct PrecisionScope {
    number: u64,
    of_this_thread: PhantomData<*const ()>,
}

impl Drop for PrecisionScope {
    fn drop(&mut self) {
        // a thread that ends has no scopes any more
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
