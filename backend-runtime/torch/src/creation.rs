//! New arrays: constants, ranges, and arrays from bytes.

use super::{
    Torch, TorchArray,
    call::{OpContext, Schema, args},
    casting::narrow,
    hosted::placed,
    ops,
    strategy::DtypeStrategy,
    tensor::{Arg, Number, Tensor},
    with::computed_in,
};
use backend_core::{
    Arrays, DType, DTypeKind, Element, HostArray, MeshIndexing, Result,
    raw::RawElement,
    rules::{self, Steps},
};

/// An array with the elements of a host array; on the CPU nothing is copied.
pub fn asarray<T: Element>(b: &Torch, x: HostArray<T>) -> Result<TorchArray<T>> {
    b.from_ndarray(x).map_err(|e| e.within("asarray"))
}

/// A 1-D array from raw bytes in native byte order.
pub fn frombuffer(on: OpContext<'_>, buffer: &[u8], count: Option<usize>, offset: usize) -> Result<Tensor> {
    let elements = backend_core::bytes::from_buffer(on.dtype, buffer, count, offset)?;
    placed(on, Ok(elements)).map_err(|e| e.within(on.op))
}

/// The element 1.
fn one(dtype: DType) -> RawElement {
    RawElement::of(1_i64).to(dtype)
}

/// An array of zeros.
pub fn zeros(on: OpContext<'_>, shape: &[usize]) -> Result<Tensor> {
    on.full(shape, RawElement::zero(on.dtype))
}

/// An array of ones.
pub fn ones(on: OpContext<'_>, shape: &[usize]) -> Result<Tensor> {
    on.full(shape, one(on.dtype))
}

/// An array with unspecified elements.
pub fn empty(on: OpContext<'_>, shape: &[usize]) -> Result<Tensor> {
    rules::count(on.op, shape, on.dtype.size())?;
    on.call(&ops::EMPTY, args![shape, on.dtype, Arg::None, Arg::Device])
}

/// An array with `value` in every element.
pub fn full(on: OpContext<'_>, shape: &[usize], value: RawElement) -> Result<Tensor> {
    on.full(shape, value)
}

/// Zeros in the shape of `x`.
pub fn zeros_like(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    on.full(x.shape(), RawElement::zero(on.dtype))
}

/// Ones in the shape of `x`.
pub fn ones_like(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    on.full(x.shape(), one(on.dtype))
}

/// Unspecified elements in the shape of `x`.
pub fn empty_like(on: OpContext<'_>, x: &Tensor) -> Result<Tensor> {
    empty(on, x.shape())
}

/// `value` in every element, in the shape of `x`.
pub fn full_like(on: OpContext<'_>, x: &Tensor, value: RawElement) -> Result<Tensor> {
    on.full(x.shape(), value)
}

/// `start + i * step`, computed as in NumPy: in the dtype itself, but in float32 for 16-bit floats.
pub fn arange(on: OpContext<'_>, start: RawElement, stop: RawElement, step: RawElement) -> Result<Tensor> {
    let Steps { n, from, by } = rules::steps(on.op, start, stop, step)?;
    rules::count(on.op, &[n], on.dtype.size())?;
    let index = on.count_up(n)?;
    if on.dtype.kind() == DTypeKind::Real {
        let counted = computed_in(on.dtype);
        let number = |x: f64| if counted == DType::Float64 { Number::of(x) } else { Number::of(x as f32) };
        let scaled = on.call(&ops::MUL, args![&on.cast(&index, counted)?, number(by)])?;
        let sum = on.cast(&on.call(&ops::ADD, args![&scaled, number(from)])?, on.dtype)?;
        // the first element is `start`, even if the step is infinite and 0 times the step is NaN
        let first = on.call(&ops::EQ, args![&index, Number::of(0_i64)])?;
        return on.select(&first, &on.number(start.into())?, &sum);
    }
    let low_bits = |x: RawElement| Number::of(x.cast::<i64>());
    let scaled = on.call(&ops::MUL, args![&index, low_bits(step)])?;
    let sum = on.call(&ops::ADD, args![&scaled, low_bits(start)])?;
    on.cast(&sum, on.dtype)
}

/// Evenly spaced values, computed in float64 and rounded once.
pub fn linspace(on: OpContext<'_>, start: RawElement, stop: RawElement, num: usize, endpoint: bool) -> Result<Tensor> {
    rules::count(on.op, &[num], on.dtype.size())?;
    let index = on.cast(&on.count_up(num)?, DType::Float64)?;
    let intervals = if endpoint { num.saturating_sub(1) } else { num }.max(1) as f64;
    let [first, last] = [start, stop].map(RawElement::to_complex);
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
    let values = match on.dtype.kind() {
        DTypeKind::Complex => on.call(&ops::COMPLEX, args![&part(first.re, last.re)?, &part(first.im, last.im)?])?,
        _ => part(first.re, last.re)?,
    };
    narrow(on, &values, on.dtype)
}

/// A matrix with ones on diagonal `k` and zeros elsewhere.
pub fn eye(on: OpContext<'_>, n_rows: usize, n_cols: Option<usize>, k: isize) -> Result<Tensor> {
    let n_cols = n_cols.unwrap_or(n_rows);
    if rules::count(on.op, &[n_rows, n_cols], on.dtype.size())? == 0 {
        return on.full(&[n_rows, n_cols], RawElement::zero(on.dtype));
    }
    // every diagonal beyond the corners gives a matrix of zeros, so `k` can be clamped
    let k = (k as i64).clamp(-(n_rows as i64), n_cols as i64);
    let rows = on.call(&ops::ADD, args![&on.reshape(&on.count_up(n_rows)?, &[n_rows, 1])?, Number::of(k)])?;
    let ones = on.call(&ops::EQ, args![&rows, &on.count_up(n_cols)?])?;
    on.cast(&ones, on.dtype)
}

/// The lower triangle of each matrix: zeros above diagonal `k`.
pub fn tril(on: OpContext<'_>, x: &Tensor, k: isize) -> Result<Tensor> {
    triangle(on, &ops::TRIL, x, k)
}

/// The upper triangle of each matrix: zeros below diagonal `k`.
pub fn triu(on: OpContext<'_>, x: &Tensor, k: isize) -> Result<Tensor> {
    triangle(on, &ops::TRIU, x, k)
}

fn triangle(on: OpContext<'_>, op: &Schema, x: &Tensor, k: isize) -> Result<Tensor> {
    rules::matrix(on.op, x.shape())?;
    let x = on.enter(DtypeStrategy::Wrap, x)?;
    on.leave(DtypeStrategy::Wrap, on.call(op, args![&x, k])?)
}

/// Coordinate grids: each array varies along its own axis, and is repeated along the others without a copy.
pub fn meshgrid(on: OpContext<'_>, xs: &[&Tensor], indexing: MeshIndexing) -> Result<Vec<Tensor>> {
    let axis = |i: usize| {
        if indexing == MeshIndexing::Xy && i < 2 && xs.len() > 1 { 1 - i } else { i }
    };
    let mut grid = vec![1; xs.len()];
    for (i, x) in xs.iter().enumerate() {
        grid[axis(i)] = x.size();
    }
    rules::count(on.op, &grid, on.dtype.size())?;
    let along = |(i, x): (usize, &&Tensor)| {
        let mut alone = vec![1; xs.len()];
        alone[axis(i)] = grid[axis(i)];
        on.call(&ops::EXPAND, args![&on.reshape(x, &alone)?, &grid])
    };
    xs.iter().enumerate().map(along).collect()
}
