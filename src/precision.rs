//! Conversion of arrays to the default precision of the thread.

use crate::{Backend, DTypeKind, DynArray, Result, Value, ops, precision};

/// Converts to the [`precision`] of the thread: complex arrays to complex numbers of this precision, all other arrays
/// to reals. An array that already has the right dtype is not copied.
///
/// # Errors
/// The errors of [`astype`](ops::astype).
///
/// ```
/// use backends::{Error, enter_precision, prelude::*, to_precision};
///
/// let b = Numpyish::new();
/// let x = DynArray::of::<i32>(b.asarray([1, 2])?);
/// let _scope = enter_precision(DType::Float32)?;
/// assert_eq!(to_precision(&b, &x)?.dtype(), DType::Float32);
/// # Ok::<(), Error>(())
/// ```
pub fn to_precision<B: Backend>(b: &B, x: &DynArray<B>) -> Result<DynArray<B>> {
    let real = precision();
    let to = if x.dtype().kind() == DTypeKind::Complex { real.to_complex() } else { real };
    if to == x.dtype() {
        return Ok(x.clone());
    }
    let changed = ops::astype::call(b, &[x.clone().into()], &[("dtype", to.into())])?;
    Ok(if let Value::Array(changed) = changed { changed } else { x.clone() })
}
