//! Ops of the group `elementwise` that are composed of other ops, for any backend.

use crate::{Backend, Element, Float, IscloseOptions, Real, Result, finfo, lazy, runtime::rules};

/// Returns whether all corresponding elements are equal within the tolerances.
pub fn allclose<B: Backend, T: Float>(
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    rtol: f64,
    atol: f64,
    equal_nan: bool,
) -> Result<bool> {
    const OP: &str = "allclose";
    rules::broadcast(OP, b.shape(x1), b.shape(x2))?;
    let options = IscloseOptions::new().rtol(rtol).atol(atol).equal_nan(equal_nan);
    b.item(b.all(b.isclose_with(x1, x2, options)?, ..)?)
}

/// Returns whether two arrays have the same shape and equal elements.
pub fn array_equal<B: Backend, T: Element>(b: &B, x1: &B::Array<T>, x2: &B::Array<T>, equal_nan: bool) -> Result<bool> {
    if b.shape(x1) != b.shape(x2) {
        return Ok(false);
    }
    let equal = lazy(x1).equal(x2);
    let equal = if equal_nan {
        // only NaN differs from itself
        (equal | (lazy(x1).not_equal(x1) & lazy(x2).not_equal(x2))).eval(b)?
    } else {
        equal.eval(b)?
    };
    b.item(b.all(equal, ..)?)
}

/// Rounds to `decimals` decimal places. The computation uses float64, because powers of ten soon exceed the range of
/// narrower dtypes.
pub fn around<B: Backend, T: Real>(b: &B, x: &B::Array<T>, decimals: isize) -> Result<B::Array<T>> {
    // parsing gives the float nearest to the power of ten, unlike repeated multiplication by ten; a power out of range
    // becomes infinity
    let power: f64 = format!("1e{}", decimals.unsigned_abs()).parse().unwrap_or(f64::INFINITY);
    if decimals >= 0 {
        return expr!(b,
            let y = astype::<f64>(x) * power;
            astype::<T>(where(isfinite(y), round(y) / power, astype::<f64>(x)))
        );
    }
    if power.is_infinite() {
        // the power of ten exceeds the range of float64, so every finite number is rounded to 0
        return expr!(b, where(isfinite(x), x * T::of(0.0), x));
    }
    expr!(b, astype::<T>(round(astype::<f64>(x) / power) * power))
}

/// Replaces NaN and infinities by finite numbers, in the real and in the imaginary part of complex numbers.
pub fn nan_to_num<B: Backend, T: Float>(
    b: &B,
    x: &B::Array<T>,
    nan: f64,
    posinf: Option<f64>,
    neginf: Option<f64>,
) -> Result<B::Array<T>> {
    let limits = finfo(T::dtype()).map_err(|e| e.within("nan_to_num"))?;
    let [nan, high, low] = [nan, posinf.unwrap_or(limits.max), neginf.unwrap_or(limits.min)].map(T::Real::of);
    if T::dtype() == T::Real::dtype() {
        return expr!(b,
            let y = real(x);
            astype::<T>(where(isnan(y), nan, where(isinf(y), where(y > 0.0, high, low), y)))
        );
    }
    expr!(b,
        let re = real(x);
        let im = imag(x);
        astype::<T>(complex(
            where(isnan(re), nan, where(isinf(re), where(re > 0.0, high, low), re)),
            where(isnan(im), nan, where(isinf(im), where(im > 0.0, high, low), im))
        ))
    )
}

/// The fractional part and the integer part of each element.
pub fn modf<B: Backend, T: Real>(b: &B, x: &B::Array<T>) -> Result<(B::Array<T>, B::Array<T>)> {
    let fraction = lazy(x).isinf().r#where(0.0, lazy(x) - lazy(x).trunc()).copysign(x);
    Ok((fraction.eval(b)?, b.trunc(x)?))
}
