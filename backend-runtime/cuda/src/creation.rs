//! New arrays: constants, ranges, and arrays from bytes.

use super::{
    Cuda, CudaArray, OpContext,
    array::RawArray,
    copy::{contiguous, fill},
    kernel::{Argument, Bytes, Grid},
    loaded::Kernel,
    manipulation::reshaped,
    program::{Instance, KernelList, MOVERS, Program, ProgramSource, mover},
};
use backend_core::{
    Arrays, Complex, DType, DTypeKind, Element, HostArray, MeshIndexing, Result, bytes, dispatch,
    numpyish::typed::typed,
    raw::RawElement,
    rules::{self, Steps},
};

static PROGRAM: Program = Program { name: "create", source: ProgramSource::File(include_str!("kernels/create.cuh")) };

/// The kernels of this file, listed so that `check` can compile them all.
pub(super) const KERNELS: KernelList = (&PROGRAM, || {
    let real = |dtype: &DType| dtype.kind() == DTypeKind::Real;
    let counted =
        DType::ALL.into_iter().filter(|d| !matches!(d.kind(), DTypeKind::Bool | DTypeKind::Complex)).map(arange_kernel);
    let spaced = DType::ALL.into_iter().filter(|d| real(d) || d.kind() == DTypeKind::Complex);
    let spaced = spaced.map(|dtype| Instance::new("spaced", "", &[dtype]));
    counted.chain(spaced).chain(MOVERS.map(|dtype| Instance::new("triangle", "", &[dtype]))).collect()
});

/// Copies an array of the host to the device.
pub fn asarray<T: Element>(b: &Cuda, x: HostArray<T>) -> Result<CudaArray<T>> {
    b.from_ndarray(x).map_err(|e| e.within("asarray"))
}

/// Makes an array from raw bytes, like `np.frombuffer`. The bytes need no alignment.
pub fn frombuffer(on: OpContext<'_>, bytes: &[u8], count: Option<usize>, offset: usize) -> Result<RawArray> {
    let array: Result<RawArray> = dispatch!(on.dtype, T => {
        let x = typed::<T>(bytes::from_buffer(on.dtype, bytes, count, offset))?;
        on.backend.from_ndarray(x).map(|x| x.raw)
    });
    array.map_err(|e| e.within(on.op))
}

/// An array of zeros.
pub fn zeros(on: OpContext<'_>, shape: &[usize]) -> Result<RawArray> {
    let out = on.backend.uninit_raw(on.op, on.dtype, shape)?;
    on.backend.set_bytes(on.op, &out, 0)?;
    Ok(out)
}

/// An array of ones.
pub fn ones(on: OpContext<'_>, shape: &[usize]) -> Result<RawArray> {
    full(on, shape, one(on.dtype))
}

/// An array with unspecified elements.
pub fn empty(on: OpContext<'_>, shape: &[usize]) -> Result<RawArray> {
    // an uninitialised byte may not be a valid bool
    if on.dtype == DType::Bool { zeros(on, shape) } else { on.backend.uninit_raw(on.op, on.dtype, shape) }
}

/// An array with `value` in every element.
pub fn full(on: OpContext<'_>, shape: &[usize], value: RawElement) -> Result<RawArray> {
    let out = on.backend.uninit_raw(on.op, value.dtype(), shape)?;
    fill(on.backend, on.op, value, &out)?;
    Ok(out)
}

/// Like [`zeros`], in the shape of `x`.
pub fn zeros_like(on: OpContext<'_>, x: &RawArray) -> Result<RawArray> {
    zeros(on, &x.shape)
}

/// Like [`ones`], in the shape of `x`.
pub fn ones_like(on: OpContext<'_>, x: &RawArray) -> Result<RawArray> {
    ones(on, &x.shape)
}

/// Like [`empty`], in the shape of `x`.
pub fn empty_like(on: OpContext<'_>, x: &RawArray) -> Result<RawArray> {
    empty(on, &x.shape)
}

/// Like [`full`], in the shape of `x`.
pub fn full_like(on: OpContext<'_>, x: &RawArray, value: RawElement) -> Result<RawArray> {
    full(on, &x.shape, value)
}

/// The element 1 of a dtype, or `true`.
fn one(dtype: DType) -> RawElement {
    RawElement::of(1_i64).to(dtype)
}

/// Values from `start` (included) to `stop` (excluded) in steps of `step`.
pub fn arange(on: OpContext<'_>, start: RawElement, stop: RawElement, step: RawElement) -> Result<RawArray> {
    let OpContext { backend: b, op, dtype, .. } = on;
    let Steps { n, from, by } = rules::steps(op, start, stop, step)?;
    let out = b.uninit_raw(op, dtype, &[n])?;
    let kernel = b.kernel(op, &PROGRAM, arange_kernel(dtype))?;
    let (start, step) = (Bytes::from(start), Bytes::from(step));
    if dtype.kind() < DTypeKind::Real {
        // SAFETY: the arguments match the parameters of `counted`: the result, its size, and two elements of its dtype.
        return unsafe { over(b, op, kernel, out, &[&start, &step]) };
    }
    // SAFETY: the arguments match the parameters of `stepped`: the result, its size, an element of its dtype, and two
    // doubles.
    unsafe { over(b, op, kernel, out, &[&start, &from, &by]) }
}

/// The kernel of `arange`. It is exact for integers, and computes 16-bit floats in float32, as NumPy does.
fn arange_kernel(dtype: DType) -> Instance {
    match dtype {
        DType::Float64 => Instance::new("stepped", "double", &[dtype]),
        real if real.kind() == DTypeKind::Real => Instance::new("stepped", "float", &[real]),
        _ => Instance::new("counted", "", &[dtype]),
    }
}

/// Runs a kernel over the elements of a new array.
///
/// # Safety
/// The kernel takes the array's pointer, its size and `arguments`.
unsafe fn over(
    b: &Cuda,
    op: &'static str,
    kernel: Kernel,
    out: RawArray,
    arguments: &[&dyn Argument],
) -> Result<RawArray> {
    let n = out.size();
    if n > 0 {
        let (pointer, size) = (out.pointer(), n as u64);
        let own: [&dyn Argument; 2] = [&pointer, &size];
        // SAFETY: the caller guarantees that the kernel takes these arguments, and the array has `n` elements.
        unsafe { b.launch(op, kernel, Grid::over(n), &[&own, arguments].concat())? };
    }
    Ok(out)
}

/// `num` evenly spaced values from `start` to `stop`, which is included if `endpoint` is true.
pub fn linspace(
    on: OpContext<'_>,
    start: RawElement,
    stop: RawElement,
    num: usize,
    endpoint: bool,
) -> Result<RawArray> {
    let OpContext { backend: b, op, dtype, .. } = on;
    let intervals = if endpoint { num.saturating_sub(1) } else { num } as f64;
    let [from, to] = [start, stop].map(RawElement::to_complex);
    let double = rules::doubled(from, to);
    let (from, to) = (from / double, to / double);
    let distance = to - from;
    // as in NumPy, if the step underflows to 0, the values are divided by the number of intervals at the end
    let (step, divisor) = match distance / intervals {
        _ if intervals == 0.0 => (distance * 0.0, 1.0),
        step if step == Complex::ZERO => (distance, intervals),
        step => (step, 1.0),
    };
    let out = b.uninit_raw(op, dtype, &[num])?;
    let kernel = b.kernel(op, &PROGRAM, Instance::new("spaced", "", &[dtype]))?;
    let (line, last) = ([from.re, from.im, step.re, step.im, divisor, double], Bytes::from(stop));
    let ends = u32::from(endpoint && num > 1);
    // SAFETY: the arguments match the parameters of `spaced`: the result, its size, six doubles, an element, and a
    // flag.
    unsafe { over(b, op, kernel, out, &[&line, &last, &ends]) }
}

/// A matrix with ones on diagonal `k` and zeros elsewhere.
pub fn eye(on: OpContext<'_>, n_rows: usize, n_cols: Option<usize>, k: isize) -> Result<RawArray> {
    let n_cols = n_cols.unwrap_or(n_rows);
    let out = zeros(on, &[n_rows, n_cols])?;
    let (down, right, length) = rules::diagonal(n_rows, n_cols, k);
    if length > 0 {
        let diagonal = out.view(vec![length], vec![n_cols as isize + 1], down * n_cols + right);
        fill(on.backend, on.op, one(on.dtype), &diagonal)?;
    }
    Ok(out)
}

/// Coordinate grids, as views of the inputs. Inputs that are not one-dimensional are flattened, as in NumPy.
pub fn meshgrid(on: OpContext<'_>, xs: &[&RawArray], indexing: MeshIndexing) -> Result<Vec<RawArray>> {
    on.require(xs)?;
    // the axis of the result along which array `i` varies
    let axis = |i: usize| {
        if indexing == MeshIndexing::Xy && xs.len() > 1 && i < 2 { 1 - i } else { i }
    };
    let lengths: Vec<usize> = (0..xs.len()).map(|i| xs[axis(i)].size()).collect();
    rules::count(on.op, &lengths, on.dtype.size())?;
    let grid = |(i, x): (usize, &&RawArray)| {
        let mut own = vec![1; xs.len()];
        own[axis(i)] = x.size();
        reshaped(on.backend, on.op, x, &own)?.broadcast(on.op, &lengths)
    };
    xs.iter().enumerate().map(grid).collect()
}

/// The lower triangle of each matrix: zeros above diagonal `k`.
pub fn tril(on: OpContext<'_>, x: &RawArray, k: isize) -> Result<RawArray> {
    triangle(on, x, k, true)
}

/// The upper triangle of each matrix: zeros below diagonal `k`.
pub fn triu(on: OpContext<'_>, x: &RawArray, k: isize) -> Result<RawArray> {
    triangle(on, x, k, false)
}

/// The lower or upper triangle of each matrix, including diagonal `k`, with zeros elsewhere.
pub(super) fn triangle(on: OpContext<'_>, x: &RawArray, k: isize, lower: bool) -> Result<RawArray> {
    let OpContext { backend: b, op, .. } = on;
    let (rows, columns) = rules::matrix(op, &x.shape)?;
    let x = contiguous(b, op, x)?;
    let out = b.uninit_raw(op, x.dtype, &x.shape)?;
    let kernel = b.kernel(op, &PROGRAM, Instance::new("triangle", "", &[mover(x.dtype)]))?;
    let from = x.pointer();
    let (rows, columns, k, lower) = (rows as u64, columns as u64, k as i64, u32::from(lower));
    // SAFETY: the arguments match the parameters of `triangle`; `x` has as many elements as the result.
    unsafe { over(b, op, kernel, out, &[&from, &rows, &columns, &k, &lower]) }
}
