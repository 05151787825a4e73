//! New arrays: constants, ranges, and arrays from bytes.

use super::{
    Torch, TorchArray,
    call::{OpContext, Schema, args},
    casting::narrow,
    ops,
    strategy::DtypeStrategy,
    tensor::{Arg, Number, Tensor},
    with::computed_in,
};
use crate::{
    Arrays, Complex, DType, DTypeKind, Element, Float, HostArray, MeshIndexing, RealNumeric, Result, numpyish,
    rules::{self, Steps},
};

/// An array with the elements of a host array; on the CPU nothing is copied.
pub fn asarray<T: Element>(b: &Torch, x: HostArray<T>) -> Result<TorchArray<T>> {
    b.from_ndarray(x).map_err(|e| e.within("asarray"))
}

/// A 1-D array from raw bytes in native byte order.
pub fn frombuffer<T: Element>(b: &Torch, buffer: &[u8], count: Option<usize>, offset: usize) -> Result<TorchArray<T>> {
    b.from_ndarray(numpyish::creation::frombuffer(b.host(), buffer, count, offset)?).map_err(|e| e.within("frombuffer"))
}

fn filled<T: Element>(b: &Torch, op: &'static str, shape: &[usize], value: T) -> Result<TorchArray<T>> {
    let on = b.on::<T>(op);
    on.array(on.full_typed(shape, value)?)
}

/// The element 1.
fn one<T: Element>() -> T {
    T::from_i64(1)
}

/// An array of zeros.
pub fn zeros<T: Element>(b: &Torch, shape: &[usize]) -> Result<TorchArray<T>> {
    filled(b, "zeros", shape, T::default())
}

/// An array of ones.
pub fn ones<T: Element>(b: &Torch, shape: &[usize]) -> Result<TorchArray<T>> {
    filled(b, "ones", shape, one())
}

/// An array with unspecified elements.
pub fn empty<T: Element>(b: &Torch, shape: &[usize]) -> Result<TorchArray<T>> {
    let on = b.on::<T>("empty");
    rules::count(on.op, shape, size_of::<T>())?;
    on.array(on.call(&ops::EMPTY, args![shape, T::DTYPE, Arg::None, Arg::Device])?)
}

/// An array with `value` in every element.
pub fn full<T: Element>(b: &Torch, shape: &[usize], value: T) -> Result<TorchArray<T>> {
    filled(b, "full", shape, value)
}

/// Zeros in the shape of `x`.
pub fn zeros_like<T: Element>(b: &Torch, x: &TorchArray<T>) -> Result<TorchArray<T>> {
    filled(b, "zeros_like", x.shape(), T::default())
}

/// Ones in the shape of `x`.
pub fn ones_like<T: Element>(b: &Torch, x: &TorchArray<T>) -> Result<TorchArray<T>> {
    filled(b, "ones_like", x.shape(), one())
}

/// Unspecified elements in the shape of `x`.
pub fn empty_like<T: Element>(b: &Torch, x: &TorchArray<T>) -> Result<TorchArray<T>> {
    empty(b, x.shape())
}

/// `value` in every element, in the shape of `x`.
pub fn full_like<T: Element>(b: &Torch, x: &TorchArray<T>, value: T) -> Result<TorchArray<T>> {
    filled(b, "full_like", x.shape(), value)
}

/// `start + i * step`, computed as in NumPy: in the dtype itself, but in float32 for 16-bit floats.
pub fn arange<T: RealNumeric>(b: &Torch, start: T, stop: T, step: T) -> Result<TorchArray<T>> {
    let on = b.on::<T>("arange");
    let Steps { n, from, by } = rules::steps(on.op, start, stop, step)?;
    rules::count(on.op, &[n], size_of::<T>())?;
    let index = on.count_up(n)?;
    if T::DTYPE.kind() == DTypeKind::Real {
        let counted = computed_in(T::DTYPE);
        let number = |x: f64| if counted == DType::Float64 { Number::of(x) } else { Number::of(x as f32) };
        let scaled = on.call(&ops::MUL, args![&on.cast(&index, counted)?, number(by)])?;
        let sum = on.cast(&on.call(&ops::ADD, args![&scaled, number(from)])?, T::DTYPE)?;
        // the first element is `start`, even if the step is infinite, so that 0 times the step is NaN
        let first = on.call(&ops::EQ, args![&index, Number::of(0_i64)])?;
        return on.array(on.select(&first, &on.number(Number::of(start))?, &sum)?);
    }
    let low_bits = |x: T| Number::of(x.cast::<i64>());
    let scaled = on.call(&ops::MUL, args![&index, low_bits(step)])?;
    let sum = on.call(&ops::ADD, args![&scaled, low_bits(start)])?;
    on.array(on.cast(&sum, T::DTYPE)?)
}

/// Evenly spaced values, computed in float64 and rounded once.
pub fn linspace<T: Float>(b: &Torch, start: T, stop: T, num: usize, endpoint: bool) -> Result<TorchArray<T>> {
    let on = b.on::<T>("linspace");
    rules::count(on.op, &[num], size_of::<T>())?;
    let index = on.cast(&on.count_up(num)?, DType::Float64)?;
    let intervals = if endpoint { num.saturating_sub(1) } else { num }.max(1) as f64;
    let [first, last] = [start, stop].map(|x| x.cast::<Complex<f64>>());
    let double = rules::doubled(first, last);
    let part = |start: f64, end: f64| -> Result<Tensor> {
        let (start, stop) = (start / double, end / double);
        let (difference, step) = (stop - start, (stop - start) / intervals);
        // if the step underflows to 0, the index is divided by the number of intervals first
        let scaled = match step {
            0.0 => on.call(
                &ops::MUL,
                args![&on.call(&ops::DIV, args![&index, Number::of(intervals)])?, Number::of(difference)],
            )?,
            step => on.call(&ops::MUL, args![&index, Number::of(step)])?,
        };
        let values = on.call(&ops::ADD, args![&scaled, Number::of(start)])?;
        let values = if double == 1.0 { values } else { on.call(&ops::MUL, args![&values, Number::of(double)])? };
        if !endpoint || num < 2 {
            return Ok(values);
        }
        let last = on.call(&ops::EQ, args![&index, Number::of(intervals)])?;
        on.select(&last, Number::of(end), &values)
    };
    let values = match T::DTYPE.kind() {
        DTypeKind::Complex => on.call(&ops::COMPLEX, args![&part(first.re, last.re)?, &part(first.im, last.im)?])?,
        _ => part(first.re, last.re)?,
    };
    on.array(narrow(on, &values, T::DTYPE)?)
}

/// A matrix with ones on diagonal `k` and zeros elsewhere.
pub fn eye<T: Element>(b: &Torch, n_rows: usize, n_cols: Option<usize>, k: isize) -> Result<TorchArray<T>> {
    let on = b.on::<T>("eye");
    let n_cols = n_cols.unwrap_or(n_rows);
    if rules::count(on.op, &[n_rows, n_cols], size_of::<T>())? == 0 {
        return on.array(on.full_typed(&[n_rows, n_cols], T::default())?);
    }
    // all diagonals beyond the corners are equivalent
    let k = (k as i64).clamp(-(n_rows as i64), n_cols as i64);
    let rows = on.call(&ops::ADD, args![&on.reshape(&on.count_up(n_rows)?, &[n_rows, 1])?, Number::of(k)])?;
    let ones = on.call(&ops::EQ, args![&rows, &on.count_up(n_cols)?])?;
    on.array(on.cast(&ones, T::DTYPE)?)
}

/// The lower triangle of each matrix: zeros above diagonal `k`.
pub fn tril<T: Element>(b: &Torch, x: &TorchArray<T>, k: isize) -> Result<TorchArray<T>> {
    triangle(b.on::<T>("tril"), &ops::TRIL, x, k)
}

/// The upper triangle of each matrix: zeros below diagonal `k`.
pub fn triu<T: Element>(b: &Torch, x: &TorchArray<T>, k: isize) -> Result<TorchArray<T>> {
    triangle(b.on::<T>("triu"), &ops::TRIU, x, k)
}

fn triangle<T: Element>(on: OpContext<'_>, op: &Schema, x: &TorchArray<T>, k: isize) -> Result<TorchArray<T>> {
    rules::matrix(on.op, x.shape())?;
    let x = on.enter_typed(DtypeStrategy::Wrap, x)?;
    on.leave_typed(DtypeStrategy::Wrap, on.call(op, args![&x, k])?)
}

/// Coordinate grids: each array varies along its own axis, and is repeated along the others without a copy.
pub fn meshgrid<T: Element>(b: &Torch, xs: &[&TorchArray<T>], indexing: MeshIndexing) -> Result<Vec<TorchArray<T>>> {
    let on = b.on::<T>("meshgrid");
    let axis = |i: usize| {
        if indexing == MeshIndexing::Xy && i < 2 && xs.len() > 1 { 1 - i } else { i }
    };
    let mut grid = vec![1; xs.len()];
    for (i, x) in xs.iter().enumerate() {
        grid[axis(i)] = x.tensor().size();
    }
    rules::count(on.op, &grid, size_of::<T>())?;
    let along = |(i, x): (usize, &&TorchArray<T>)| {
        let mut alone = vec![1; xs.len()];
        alone[axis(i)] = grid[axis(i)];
        on.array(on.call(&ops::EXPAND, args![&on.reshape(x.tensor(), &alone)?, &grid])?)
    };
    xs.iter().enumerate().map(along).collect()
}
