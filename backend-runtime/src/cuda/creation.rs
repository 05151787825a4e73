//! New arrays: constants, ranges, and arrays from bytes.

use super::{
    Cuda, CudaArray,
    array::RawArray,
    copy::{contiguous, fill},
    kernel::{Argument, Bytes, Grid},
    loaded::Kernel,
    program::{Instance, KernelList, MOVERS, Program, ProgramSource, mover},
};
use crate::{
    Arrays, Complex, DType, DTypeKind, Element, Float, HostArray, MeshIndexing, RealNumeric, Result,
    numpyish::{self, Numpyish},
    rules::{self, Steps},
};

static PROGRAM: Program = Program { name: "create", source: ProgramSource::File(include_str!("kernels/create.cuh")) };

/// The kernels of this file, listed for the check that all kernels compile.
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

/// Elements from raw bytes, which need no alignment.
pub fn frombuffer<T: Element>(b: &Cuda, bytes: &[u8], count: Option<usize>, offset: usize) -> Result<CudaArray<T>> {
    let x = numpyish::creation::frombuffer(&Numpyish::new(), bytes, count, offset)?;
    b.from_ndarray(x).map_err(|e| e.within("frombuffer"))
}

/// An array of zeros.
pub fn zeros<T: Element>(b: &Cuda, shape: &[usize]) -> Result<CudaArray<T>> {
    zeros_of("zeros", b, shape)
}

/// An array of ones.
pub fn ones<T: Element>(b: &Cuda, shape: &[usize]) -> Result<CudaArray<T>> {
    filled("ones", b, shape, T::from_i64(1))
}

/// An array with unspecified elements.
pub fn empty<T: Element>(b: &Cuda, shape: &[usize]) -> Result<CudaArray<T>> {
    empty_of("empty", b, shape)
}

/// An array with `value` in every element.
pub fn full<T: Element>(b: &Cuda, shape: &[usize], value: T) -> Result<CudaArray<T>> {
    filled("full", b, shape, value)
}

/// [`zeros`] in the shape of `x`.
pub fn zeros_like<T: Element>(b: &Cuda, x: &CudaArray<T>) -> Result<CudaArray<T>> {
    zeros_of("zeros_like", b, x.shape())
}

/// [`ones`] in the shape of `x`.
pub fn ones_like<T: Element>(b: &Cuda, x: &CudaArray<T>) -> Result<CudaArray<T>> {
    filled("ones_like", b, x.shape(), T::from_i64(1))
}

/// [`empty`] in the shape of `x`.
pub fn empty_like<T: Element>(b: &Cuda, x: &CudaArray<T>) -> Result<CudaArray<T>> {
    empty_of("empty_like", b, x.shape())
}

/// [`full`] in the shape of `x`.
pub fn full_like<T: Element>(b: &Cuda, x: &CudaArray<T>, value: T) -> Result<CudaArray<T>> {
    filled("full_like", b, x.shape(), value)
}

fn zeros_of<T: Element>(op: &'static str, b: &Cuda, shape: &[usize]) -> Result<CudaArray<T>> {
    let out = b.uninit_raw(op, T::DTYPE, shape)?;
    b.set_bytes(op, &out, 0)?;
    Ok(CudaArray::of(out))
}

fn empty_of<T: Element>(op: &'static str, b: &Cuda, shape: &[usize]) -> Result<CudaArray<T>> {
    // an uninitialised byte may not be a valid bool
    if T::DTYPE == DType::Bool { zeros_of(op, b, shape) } else { b.uninit(op, shape) }
}

fn filled<T: Element>(op: &'static str, b: &Cuda, shape: &[usize], value: T) -> Result<CudaArray<T>> {
    let out = b.uninit_raw(op, T::DTYPE, shape)?;
    fill(b, op, value, &out)?;
    Ok(CudaArray::of(out))
}

/// Values from `start` (included) to `stop` (excluded) in steps of `step`.
pub fn arange<T: RealNumeric>(b: &Cuda, start: T, stop: T, step: T) -> Result<CudaArray<T>> {
    const OP: &str = "arange";
    let Steps { n, from, by } = rules::steps(OP, start, stop, step)?;
    let out = b.uninit_raw(OP, T::DTYPE, &[n])?;
    let kernel = b.kernel(OP, &PROGRAM, arange_kernel(T::DTYPE))?;
    let (start, step) = (Bytes::of(start), Bytes::of(step));
    if T::DTYPE.kind() < DTypeKind::Real {
        // SAFETY: the arguments match the parameters of `counted`: the result, its size, and two elements of its dtype.
        return unsafe { over(b, OP, kernel, &out, &[&start, &step]) };
    }
    // SAFETY: the arguments match the parameters of `stepped`: the result, its size, an element of its dtype, and two
    // doubles.
    unsafe { over(b, OP, kernel, &out, &[&start, &from, &by]) }
}

/// The kernel of `arange`: exact for integers, and in NumPy's precision for floats.
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
unsafe fn over<T: Element>(
    b: &Cuda,
    op: &'static str,
    kernel: Kernel,
    out: &RawArray,
    arguments: &[&dyn Argument],
) -> Result<CudaArray<T>> {
    let n = out.size();
    if n > 0 {
        let (pointer, size) = (out.pointer(), n as u64);
        let own: [&dyn Argument; 2] = [&pointer, &size];
        // SAFETY: the caller guarantees that the kernel takes these arguments, and the array has `n` elements.
        unsafe { b.launch(op, kernel, Grid::over(n), &[&own, arguments].concat())? };
    }
    Ok(CudaArray::of(out.clone()))
}

/// `num` evenly spaced values from `start` to `stop`.
pub fn linspace<T: Float>(b: &Cuda, start: T, stop: T, num: usize, endpoint: bool) -> Result<CudaArray<T>> {
    const OP: &str = "linspace";
    let intervals = if endpoint { num.saturating_sub(1) } else { num } as f64;
    let [from, to] = [start, stop].map(|x| x.cast::<Complex<f64>>());
    let double = rules::doubled(from, to);
    let (from, to) = (from / double, to / double);
    let distance = to - from;
    // as in NumPy, if the step underflows to 0, the division by the number of intervals comes last
    let (step, divisor) = match distance / intervals {
        _ if intervals == 0.0 => (distance * 0.0, 1.0),
        step if step == Complex::ZERO => (distance, intervals),
        step => (step, 1.0),
    };
    let out = b.uninit_raw(OP, T::DTYPE, &[num])?;
    let kernel = b.kernel(OP, &PROGRAM, Instance::new("spaced", "", &[T::DTYPE]))?;
    let (line, last) = ([from.re, from.im, step.re, step.im, divisor, double], Bytes::of(stop));
    let ends = u32::from(endpoint && num > 1);
    // SAFETY: the arguments match the parameters of `spaced`: the result, its size, six doubles, an element, and a
    // flag.
    unsafe { over(b, OP, kernel, &out, &[&line, &last, &ends]) }
}

/// A matrix with ones on diagonal `k` and zeros elsewhere.
pub fn eye<T: Element>(b: &Cuda, n_rows: usize, n_cols: Option<usize>, k: isize) -> Result<CudaArray<T>> {
    const OP: &str = "eye";
    let n_cols = n_cols.unwrap_or(n_rows);
    let out = zeros_of::<T>(OP, b, &[n_rows, n_cols])?;
    let (down, right, length) = rules::diagonal(n_rows, n_cols, k);
    if length > 0 {
        let diagonal = out.raw.view(vec![length], vec![n_cols as isize + 1], down * n_cols + right);
        fill(b, OP, T::from_i64(1), &diagonal)?;
    }
    Ok(out)
}

/// Coordinate grids, as views. Inputs that are not one-dimensional are flattened, as in NumPy.
pub fn meshgrid<T: Element>(b: &Cuda, xs: &[&CudaArray<T>], indexing: MeshIndexing) -> Result<Vec<CudaArray<T>>> {
    const OP: &str = "meshgrid";
    // the axis of the result along which array `i` varies
    let axis = |i: usize| {
        if indexing == MeshIndexing::Xy && xs.len() > 1 && i < 2 { 1 - i } else { i }
    };
    let lengths: Vec<usize> = (0..xs.len()).map(|i| xs[axis(i)].raw.size()).collect();
    rules::count(OP, &lengths, size_of::<T>())?;
    let grid = |(i, x): (usize, &&CudaArray<T>)| {
        let mut own = vec![1; xs.len()];
        own[axis(i)] = x.raw.size();
        super::manipulation::reshaped(b, OP, &x.raw, &own)?.broadcast(OP, &lengths).map(CudaArray::of)
    };
    xs.iter().enumerate().map(grid).collect()
}

/// The lower triangle of each matrix: zeros above diagonal `k`.
pub fn tril<T: Element>(b: &Cuda, x: &CudaArray<T>, k: isize) -> Result<CudaArray<T>> {
    triangle("tril", b, x, k, true)
}

/// The upper triangle of each matrix: zeros below diagonal `k`.
pub fn triu<T: Element>(b: &Cuda, x: &CudaArray<T>, k: isize) -> Result<CudaArray<T>> {
    triangle("triu", b, x, k, false)
}

/// The triangle of each matrix on one side of diagonal `k`, with zeros on the other side.
pub(super) fn triangle<T: Element>(
    op: &'static str,
    b: &Cuda,
    x: &CudaArray<T>,
    k: isize,
    lower: bool,
) -> Result<CudaArray<T>> {
    let (rows, columns) = rules::matrix(op, x.shape())?;
    let x = contiguous(b, op, &x.raw)?;
    let out = b.uninit_raw(op, x.dtype, &x.shape)?;
    let kernel = b.kernel(op, &PROGRAM, Instance::new("triangle", "", &[mover(x.dtype)]))?;
    let from = x.pointer();
    let (rows, columns, k, lower) = (rows as u64, columns as u64, k as i64, u32::from(lower));
    // SAFETY: the arguments match the parameters of `triangle`; `x` has as many elements as the result.
    unsafe { over(b, op, kernel, &out, &[&from, &rows, &columns, &k, &lower]) }
}
