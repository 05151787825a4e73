//! Ops of the group `creation` that are composed of other ops, for any backend.

use crate::{
    Backend, DiagonalOptions, Element, Error, Integer, LinspaceOptions, Real, Result, Slice, TrilOptions, TriuOptions,
    lazy,
    runtime::{
        numpyish::{creation::all_indices, triangles::triangle_indices},
        rules,
    },
};

/// Returns a matrix with the diagonal `x` if `x` is 1-D, or the diagonal of a matrix `x`.
pub fn diag<B: Backend, T: Element>(b: &B, x: &B::Array<T>, k: isize) -> Result<B::Array<T>> {
    const OP: &str = "diag";
    match *b.shape(x) {
        [_, _] => b.diagonal_with(x, DiagonalOptions::new().offset(k)),
        [n] => {
            let side = n.checked_add(k.unsigned_abs()).ok_or_else(|| Error::memory(OP, usize::MAX))?;
            let count = rules::count(OP, &[side, side], T::dtype().size())?;
            let mut elements = b.zeros::<T>([count])?;
            if n > 0 {
                let (row, column, _) = rules::diagonal(side, side, k);
                let start = (row * side + column) as i128;
                let stop = start + (n as i128 - 1) * (side as i128 + 1) + 1;
                let places = Slice { start: Some(start), stop: Some(stop), step: side as isize + 1, drop: false };
                b.set(&mut elements, [places], x)?;
            }
            b.reshape(elements, [side, side])
        }
        ref shape => Err(Error::shape(OP, shape, "must have one or two axes")),
    }
}

/// Row and column indices of the lower triangle of a matrix.
#[allow(clippy::type_complexity)] // a pair of results
pub fn tril_indices<B: Backend, T: Integer>(
    b: &B,
    n: usize,
    k: isize,
    m: Option<usize>,
) -> Result<(B::Array<T>, B::Array<T>)> {
    const OP: &str = "tril_indices";
    let shape = triangle::<T>(OP, n, m)?;
    if on_host(b)? {
        if const { T::IS_DYNAMIC } {
            let (rows, columns) = triangle_indices::<i64>(OP, shape, k, false)?;
            return pair(b, vec![b.of_loop(rows)?, b.of_loop(columns)?]);
        }
        let (rows, columns) = triangle_indices::<T>(OP, shape, k, false)?;
        return Ok((b.of_loop(rows)?, b.of_loop(columns)?));
    }
    let whole = b.ones::<bool>(shape)?;
    pair(b, b.nonzero(&b.tril_with(whole, TrilOptions::new().k(k))?)?)
}

/// Row and column indices of the upper triangle of a matrix.
#[allow(clippy::type_complexity)] // a pair of results
pub fn triu_indices<B: Backend, T: Integer>(
    b: &B,
    n: usize,
    k: isize,
    m: Option<usize>,
) -> Result<(B::Array<T>, B::Array<T>)> {
    const OP: &str = "triu_indices";
    let shape = triangle::<T>(OP, n, m)?;
    if on_host(b)? {
        if const { T::IS_DYNAMIC } {
            let (rows, columns) = triangle_indices::<i64>(OP, shape, k, true)?;
            return pair(b, vec![b.of_loop(rows)?, b.of_loop(columns)?]);
        }
        let (rows, columns) = triangle_indices::<T>(OP, shape, k, true)?;
        return Ok((b.of_loop(rows)?, b.of_loop(columns)?));
    }
    let whole = b.ones::<bool>(shape)?;
    pair(b, b.nonzero(&b.triu_with(whole, TriuOptions::new().k(k))?)?)
}

/// Returns whether the backend's arrays are in host memory.
fn on_host<B: Backend>(b: &B) -> Result<bool> {
    let nothing = b.zeros::<bool>([0])?;
    Ok(b.host_view(&nothing).is_some())
}

/// Returns the shape of the matrix, or an error if its indices do not fit into memory or into the dtype.
fn triangle<T: Integer>(op: &'static str, n: usize, m: Option<usize>) -> Result<[usize; 2]> {
    let shape = [n, m.unwrap_or(n)];
    rules::count(op, &shape, size_of::<i64>())?;
    rules::check_indices(op, &shape, T::dtype())?;
    Ok(shape)
}

#[allow(clippy::type_complexity)] // a pair of results
fn pair<B: Backend, T: Integer>(b: &B, list: Vec<B::Array<i64>>) -> Result<(B::Array<T>, B::Array<T>)> {
    match &list[..] {
        [rows, columns] => Ok((b.astype::<T, _>(rows)?, b.astype::<T, _>(columns)?)),
        _ => Err(Error::argument("nonzero", "must give an array for each axis")),
    }
}

/// The indices of every element of an array of this shape. The result has a new leading axis, and its entry `k` along
/// this axis holds the indices along axis `k`.
pub fn indices<B: Backend, T: Integer>(b: &B, shape: &[usize]) -> Result<B::Array<T>> {
    const OP: &str = "indices";
    let whole = [&[shape.len()], shape].concat();
    if rules::count(OP, &whole, T::dtype().size())? == 0 {
        return b.zeros::<T>(whole);
    }
    rules::check_indices(OP, shape, T::dtype())?;
    if on_host(b)? {
        return match const { T::IS_DYNAMIC } {
            true => b.astype::<T, i64>(b.of_loop(all_indices(OP, shape)?)?),
            false => b.of_loop(all_indices::<T>(OP, shape)?),
        };
    }
    // the indices along each axis are broadcast views, if the library supports views, so that each element is written
    // only once
    let along = |(axis, &len): (usize, &usize)| {
        let mut lengths = vec![1; shape.len()];
        lengths[axis] = len;
        b.broadcast_to(b.reshape(b.astype::<T, _>(b.arange(0, len as i64, 1)?)?, lengths)?, shape)
    };
    b.stack(shape.iter().enumerate().map(along).collect::<Result<Vec<_>>>()?)
}

/// For each index, a row of `n` elements: 1 at that index, and 0 elsewhere.
pub fn one_hot<B: Backend, T: Element>(b: &B, indices: &B::Array<i64>, n: usize) -> Result<B::Array<T>> {
    rules::count("one_hot", &[b.shape(indices), &[n]].concat(), T::dtype().size().max(size_of::<i64>()))?;
    let places = b.expand_dims(indices, -1)?;
    let all = b.arange(0, n as i64, 1)?;
    lazy(&places).equal(&all).r#where(lazy(T::from_i64(1)), lazy(T::from_i64(0))).eval(b)
}

/// Powers of a base with evenly spaced exponents. They are computed in float64, because narrower exponents lose digits.
pub fn logspace<B: Backend, T: Real>(
    b: &B,
    start: T,
    stop: T,
    num: usize,
    endpoint: bool,
    base: f64,
) -> Result<B::Array<T>> {
    let exponents = b.linspace_with(start.to_f64(), stop.to_f64(), num, LinspaceOptions::new().endpoint(endpoint))?;
    expr!(b, astype::<T>(pow(base, exponents)))
}

/// A geometric sequence: each value is the same multiple of the value before it.
pub fn geomspace<B: Backend, T: Real>(b: &B, start: T, stop: T, num: usize, endpoint: bool) -> Result<B::Array<T>> {
    let (first, last) = (start.to_f64(), stop.to_f64());
    // NaN passes this check, because all comparisons with NaN are false
    if first == 0.0 || last == 0.0 || first.signum() * last < 0.0 {
        let why =
            format!("the sequence goes from {first} to {last}, but both must be other than 0 and of the same sign");
        return Err(Error::argument("geomspace", why));
    }
    let options = LinspaceOptions::new().endpoint(endpoint);
    let exponents = b.linspace_with(first.abs().log10(), last.abs().log10(), num, options)?;
    let sign = first.signum();
    let mut values = expr!(b, astype::<T>(sign * pow(10.0, exponents)))?;
    if num > 0 {
        b.set(&mut values, [Slice::from(0)], start)?;
    }
    if num > 1 && endpoint {
        b.set(&mut values, [Slice::from(-1)], stop)?;
    }
    Ok(values)
}
