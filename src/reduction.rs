//! Reductions that are composed of other ops, for any backend.

use crate::{
    Axes, Backend, Element, MaxOptions, MinOptions, Numeric, Ordered, ProdOptions, QuantileOptions, Real, Result,
    SumOptions, runtime::rules,
};

/// Sum of the elements after conversion to `U`. Integers are summed in 64 bits; the low bits of this sum equal the sum
/// in a narrower dtype, with wrapping.
pub fn sum_as<B: Backend, U: Numeric, T: Element>(
    b: &B,
    x: &B::Array<T>,
    axis: Axes,
    keepdims: bool,
) -> Result<B::Array<U>> {
    let options = SumOptions::new().keepdims(keepdims);
    // on a device, a formula would need a separately compiled kernel for each pair of dtypes
    let result = match b.host_view(x) {
        Some(_) => expr!(b, sum(astype::<U>(x), axis, keepdims = keepdims))?,
        None => b.sum_with(b.astype::<U, _>(x)?, axis, options)?,
    };
    b.astype::<U, _>(result)
}

/// Product of the elements after conversion to `U`.
pub fn prod_as<B: Backend, U: Numeric, T: Element>(
    b: &B,
    x: &B::Array<T>,
    axis: Axes,
    keepdims: bool,
) -> Result<B::Array<U>> {
    let options = ProdOptions::new().keepdims(keepdims);
    // on a device, a formula would need a separately compiled kernel for each pair of dtypes
    let result = match b.host_view(x) {
        Some(_) => expr!(b, prod(astype::<U>(x), axis, keepdims = keepdims))?,
        None => b.prod_with(b.astype::<U, _>(x)?, axis, options)?,
    };
    b.astype::<U, _>(result)
}

/// Median over the given axes; NaN for an empty axis.
pub fn median<B: Backend, T: Real>(b: &B, x: &B::Array<T>, axis: Axes, keepdims: bool) -> Result<B::Array<T>> {
    let shape = b.shape(x);
    let axes = rules::reduction("median", axis, shape.len())?;
    if axes.iter().any(|&axis| shape[axis] == 0) {
        return b.full(rules::reduced(shape, &axes, keepdims), T::of(f64::NAN));
    }
    let half = b.full([1], T::of(0.5))?;
    b.squeeze(&b.quantile_with(x, &half, axis, QuantileOptions::new().keepdims(keepdims))?, 0)
}

/// The maximum of `initial` and the elements over the given axes.
pub fn max_initial<B: Backend, T: Ordered>(
    b: &B,
    x: &B::Array<T>,
    initial: T,
    axis: Axes,
    keepdims: bool,
) -> Result<B::Array<T>> {
    match nothing_over(b, "max_initial", x, &axis, keepdims)? {
        Some(shape) => b.full(shape, initial),
        None => b.maximum(b.max_with(x, axis, MaxOptions::new().keepdims(keepdims))?, initial),
    }
}

/// The minimum of `initial` and the elements over the given axes.
pub fn min_initial<B: Backend, T: Ordered>(
    b: &B,
    x: &B::Array<T>,
    initial: T,
    axis: Axes,
    keepdims: bool,
) -> Result<B::Array<T>> {
    match nothing_over(b, "min_initial", x, &axis, keepdims)? {
        Some(shape) => b.full(shape, initial),
        None => b.minimum(b.min_with(x, axis, MinOptions::new().keepdims(keepdims))?, initial),
    }
}

/// The shape of the result if one of the reduced axes is empty, else `None`.
fn nothing_over<B: Backend, T: Element>(
    b: &B,
    op: &'static str,
    x: &B::Array<T>,
    axis: &Axes,
    keepdims: bool,
) -> Result<Option<Vec<usize>>> {
    let shape = b.shape(x);
    let axes = rules::reduction(op, *axis, shape.len())?;
    let empty = axes.iter().any(|&axis| shape.get(axis) == Some(&0));
    Ok(empty.then(|| rules::reduced(shape, &axes, keepdims)))
}
