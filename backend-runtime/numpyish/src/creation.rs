//! Ops that create arrays: constants, evenly spaced values, raw bytes, coordinate grids, diagonals and triangles.

use super::{
    NdArray, Numpyish, OpContext,
    buffer::Buffer,
    convert::Value,
    copy::{self, Ends, by_bits},
    parallel::{self, CHEAP},
    raw::{RawArray, View},
    typed::typed,
};
use backend_core::{
    Complex, DType, Element, HostArray, Integer, MeshIndexing, Result, bf16, bytes, f16,
    raw::RawElement,
    rules::{self, Steps},
};

/// Returns `x` unchanged, or an error if its shape is too large for this crate. If one of the lengths is 0, ndarray
/// allows larger shapes than this crate.
#[inline]
pub fn asarray<T: Element>(_: &Numpyish, x: HostArray<T>) -> Result<NdArray<T>> {
    rules::count("asarray", x.shape(), size_of::<T>())?;
    Ok(x)
}

/// Copies `count` elements from raw bytes, beginning at byte `offset`; all remaining elements if `count` is `None`. The
/// bytes may have any alignment.
pub fn frombuffer(on: OpContext<'_>, bytes: &[u8], count: Option<usize>, offset: usize) -> Result<RawArray> {
    bytes::from_buffer(on.dtype, bytes, count, offset)
}

/// An array of zeros. The system zeroes the pages of a large array when they are first used.
pub fn zeros(on: OpContext<'_>, shape: &[usize]) -> Result<RawArray> {
    let n = rules::count(on.op, shape, on.dtype.size())?;
    // SAFETY: bytes of zeros are a valid value of every dtype.
    unsafe { RawArray::new(on.op, shape.to_vec(), Buffer::zeroed(on.op, n, on.dtype)?) }
}

/// An array of ones.
pub fn ones(on: OpContext<'_>, shape: &[usize]) -> Result<RawArray> {
    filled(on.op, on.dtype, shape, Value::from_f64(on.dtype, 1.0))
}

/// An array of unspecified values. They are zeros here, because reading uninitialised memory is undefined behaviour.
pub fn empty(on: OpContext<'_>, shape: &[usize]) -> Result<RawArray> {
    zeros(on, shape)
}

/// An array in which every element is `value`.
pub fn full(on: OpContext<'_>, shape: &[usize], value: RawElement) -> Result<RawArray> {
    filled(on.op, value.dtype(), shape, value.into())
}

/// An array of zeros in the shape of `x`.
pub fn zeros_like(on: OpContext<'_>, x: View<'_>) -> Result<RawArray> {
    zeros(on, x.shape)
}

/// An array of ones in the shape of `x`.
pub fn ones_like(on: OpContext<'_>, x: View<'_>) -> Result<RawArray> {
    ones(on, x.shape)
}

/// An array of unspecified values in the shape of `x`, like [`empty`].
pub fn empty_like(on: OpContext<'_>, x: View<'_>) -> Result<RawArray> {
    empty(on, x.shape)
}

/// An array in the shape of `x`, in which every element is `value`.
pub fn full_like(on: OpContext<'_>, x: View<'_>, value: RawElement) -> Result<RawArray> {
    full(on, x.shape, value)
}

fn filled(op: &'static str, dtype: DType, shape: &[usize], value: Value) -> Result<RawArray> {
    // SAFETY: the value has this dtype, and `part` has room for `n` elements.
    by_index(op, dtype, shape, &|_, part, n| unsafe { value.fill(dtype, part, n) })
}

/// Creates an array in chunks, on several threads. `write` is called for each chunk, with the index of its first
/// element, its address and its length. It must write all elements of the chunk.
fn by_index(
    op: &'static str,
    dtype: DType,
    shape: &[usize],
    write: &(dyn Fn(usize, *mut u8, usize) + Sync),
) -> Result<RawArray> {
    let out = Buffer::new(op, rules::count(op, shape, dtype.size())?, dtype)?;
    parallel::parallel(out.len(), CHEAP, |range| {
        if !range.is_empty() {
            // SAFETY: the range lies in the buffer.
            write(range.start, unsafe { out.start().add(range.start * dtype.size()) }, range.len());
        }
    });
    // SAFETY: the chunks cover the array, and every `write` function in this file writes its whole chunk.
    unsafe { RawArray::new(op, shape.to_vec(), out) }
}

/// Values that begin with `start`, are `step` apart, and end before `stop`.
pub fn arange(on: OpContext<'_>, start: RawElement, stop: RawElement, step: RawElement) -> Result<RawArray> {
    let counted = rules::steps(on.op, start, stop, step)?;
    counting(start.dtype(), counted, start.into(), step.into())
}

fn counting(dtype: DType, steps: Steps, start: Value, step: Value) -> Result<RawArray> {
    const OP: &str = "arange";
    let Steps { n, from, by } = steps;
    let single = (from as f32, by as f32);
    use DType::*;
    by_index(OP, dtype, &[n], &|first, part, n| {
        // SAFETY: `part` has room for `n` elements of the dtype, which is also the dtype of both values.
        unsafe {
            match dtype {
                // signed and unsigned arithmetic produce the same bits
                Bool | Int8 | UInt8 => count_integers::<u8>(part, first, n, &start, &step),
                Int16 | UInt16 => count_integers::<u16>(part, first, n, &start, &step),
                Int32 | UInt32 => count_integers::<u32>(part, first, n, &start, &step),
                Int64 | UInt64 => count_integers::<u64>(part, first, n, &start, &step),
                Float16 => write::<f16>(part, first, n, |i| {
                    <f16 as Element>::from_f64((single.0 + i as f32 * single.1).into())
                }),
                BFloat16 => write::<bf16>(part, first, n, |i| {
                    <bf16 as Element>::from_f64((single.0 + i as f32 * single.1).into())
                }),
                Float32 => write::<f32>(part, first, n, |i| single.0 + i as f32 * single.1),
                _ => write::<f64>(part, first, n, |i| from + i as f64 * by),
            }
            if first == 0 {
                start.fill(dtype, part, 1); // the formula would give NaN for an infinite step
            }
        }
    })
}

unsafe fn count_integers<T: Integer>(part: *mut u8, first: usize, n: usize, start: &Value, step: &Value) {
    // SAFETY: the caller guarantees that both values are of type `T`, and room for `n` elements.
    unsafe {
        let (start, step) = (*start.start().cast::<T>(), *step.start().cast::<T>());
        write(part, first, n, |i| start.plus(step.times(T::from_i64(i))));
    }
}

/// Writes `value(i)` to `part` for the `n` indices `i` that begin with `first`.
#[inline(always)]
unsafe fn write<T>(part: *mut u8, first: usize, n: usize, value: impl Fn(i64) -> T) {
    for i in 0..n {
        // SAFETY: the caller guarantees room for `n` elements.
        unsafe { part.cast::<T>().add(i).write(value((first + i) as i64)) };
    }
}

/// Returns the indices of every element of an array of this shape, like `numpy.indices`. Entry `k` along the additional
/// first axis of the result has each element's index along axis `k`. The dtype must be able to hold every index.
pub fn all_indices<T: Integer>(op: &'static str, shape: &[usize]) -> Result<NdArray<T>> {
    typed(places(op, T::DTYPE, shape))
}

fn places(op: &'static str, dtype: DType, shape: &[usize]) -> Result<RawArray> {
    let whole = [&[shape.len()], shape].concat();
    let n = rules::count(op, &whole, dtype.size())?;
    let mut out = Buffer::new(op, n, dtype)?;
    let steps = Steps { n: shape.iter().copied().max().unwrap_or(0), from: 0.0, by: 1.0 };
    let counted = counting(dtype, steps, Value::from_f64(dtype, 0.0), Value::from_f64(dtype, 1.0))?;
    let strides = rules::c_strides(shape);
    for axis in 0..shape.len() {
        // the indices run along `axis` and are repeated along all other axes
        let mut repeated = vec![0; shape.len()];
        repeated[axis] = 1;
        let view = View { shape, strides: &repeated, ..counted.view(&[1]) };
        copy::place(&mut out, n / shape.len() * axis, &strides, view);
    }
    // SAFETY: for each axis of the shape, one copy has filled all elements at one index of the result's first axis.
    unsafe { RawArray::new(op, whole, out) }
}

/// `num` evenly spaced values from `start` to `stop`, which is included if `endpoint` is true.
pub fn linspace(
    on: OpContext<'_>,
    start: RawElement,
    stop: RawElement,
    num: usize,
    endpoint: bool,
) -> Result<RawArray> {
    let (dtype, last) = (stop.dtype(), Value::from(stop));
    let [from, to] = [start, stop].map(RawElement::to_complex);
    let intervals = if endpoint { num.saturating_sub(1) } else { num } as f64;
    // if `to - from` overflows, both ends are halved here, and each value is doubled when it is computed
    let double = rules::doubled(from, to);
    let (from, to) = (from / double, to / double);
    let distance = to - from;
    let step = distance / intervals;
    // as in NumPy, if the step underflows to 0, each index is first divided by the number of intervals, and then
    // multiplied by the distance; if there is only one value, this gives the start, unless the end is infinite
    let divided = intervals == 0.0 || step == Complex::ZERO;
    let (factor, divisor) = if divided { (distance, intervals.max(1.0)) } else { (step, 1.0) };
    by_index(on.op, dtype, &[num], &|first, part, n| {
        // local copies, because the compiler must assume that writes through pointers change captured values
        let (factor, divisor, from) = (factor, divisor, from);
        let real = move |i: i64| (factor.re * (i as f64 / divisor) + from.re) * double;
        let complex = move |i: i64| (factor * (i as f64 / divisor) + from) * double;
        // SAFETY: `part` has room for `n` elements of the dtype.
        unsafe {
            match dtype {
                DType::Float16 => write(part, first, n, |i| <f16 as Element>::from_f64(real(i))),
                DType::BFloat16 => write(part, first, n, |i| <bf16 as Element>::from_f64(real(i))),
                DType::Float32 => write(part, first, n, |i| real(i) as f32),
                DType::Float64 => write(part, first, n, real),
                DType::Complex64 => write(part, first, n, |i| Complex::<f32>::from_complex(complex(i))),
                _ => write(part, first, n, complex),
            }
            if endpoint && num > 1 && first + n == num {
                last.fill(dtype, part.add((n - 1) * dtype.size()), 1);
            }
        }
    })
}

/// A matrix with ones on diagonal `k` and zeros elsewhere.
pub fn eye(on: OpContext<'_>, n_rows: usize, n_cols: Option<usize>, k: isize) -> Result<RawArray> {
    let (op, dtype, n_cols) = (on.op, on.dtype, n_cols.unwrap_or(n_rows));
    let out = Buffer::zeroed(op, rules::count(op, &[n_rows, n_cols], dtype.size())?, dtype)?;
    let (down, right, length) = rules::diagonal(n_rows, n_cols, k);
    if length > 0 {
        let one = Value::from_f64(dtype, 1.0);
        // SAFETY: all elements of the diagonal lie in the array.
        unsafe { by_bits!(dtype, U => write_diagonal::<U>(&out, &one, down * n_cols + right, n_cols + 1, length)) };
    }
    // SAFETY: every element of the buffer is a zero, or a one on the diagonal.
    unsafe { RawArray::new(op, vec![n_rows, n_cols], out) }
}

/// Writes a value to `n` elements of `out`, from index `first` on, `step` elements apart.
///
/// # Safety
/// The buffer has elements at these indices, and `U` has the size of an element.
unsafe fn write_diagonal<U: Copy>(out: &Buffer, value: &Value, first: usize, step: usize, n: usize) {
    for i in 0..n {
        // SAFETY: the caller guarantees that the elements lie in the buffer.
        unsafe { *out.start().cast::<U>().add(first + i * step) = *value.start().cast::<U>() };
    }
}

/// Returns one coordinate grid for each array of coordinates in `xs`. Arrays whose rank is not 1 are flattened, as in
/// NumPy.
pub fn meshgrid(on: OpContext<'_>, xs: &[View<'_>], indexing: MeshIndexing) -> Result<Vec<RawArray>> {
    let op = on.op;
    // the axis of the grids along which the values of array `i` vary
    let axis = |i: usize| {
        if indexing == MeshIndexing::Xy && xs.len() > 1 && i < 2 { 1 - i } else { i }
    };
    let lengths: Vec<usize> = (0..xs.len()).map(|i| xs[axis(i)].len()).collect();
    rules::count(op, &lengths, on.dtype.size())?;
    let grid = |(i, x): (usize, &View<'_>)| {
        let values = copy::pack(op, *x)?;
        let mut strides = vec![0; xs.len()];
        strides[axis(i)] = 1;
        copy::to_raw(op, View { start: values.start(), dtype: x.dtype, shape: &lengths, strides: &strides })
    };
    xs.iter().enumerate().map(grid).collect()
}

/// Keeps the elements on and below diagonal `k` of each matrix; all other elements become 0.
pub fn tril(on: OpContext<'_>, x: View<'_>, k: isize) -> Result<RawArray> {
    triangle(on.op, x, &|row, n| (row.saturating_add(k).saturating_add(1).clamp(0, n), n))
}

/// Keeps the elements on and above diagonal `k` of each matrix; all other elements become 0.
pub fn triu(on: OpContext<'_>, x: View<'_>, k: isize) -> Result<RawArray> {
    triangle(on.op, x, &|row, n| (0, row.saturating_add(k).clamp(0, n)))
}

/// Copies an array, and sets a range of columns to 0 in each row of each matrix. `zeros` gets the index of the row and
/// the number of columns, and returns the start and the end of the range.
fn triangle(
    op: &'static str,
    x: View<'_>,
    zeros: &(dyn Fn(isize, isize) -> (isize, isize) + Sync),
) -> Result<RawArray> {
    let (rows, columns) = rules::matrix(op, x.shape)?;
    let size = x.dtype.size();
    let out = copy::to_buffer(op, x)?;
    if out.len() > 0 {
        let ends = Ends { from: x.start, to: out.start() };
        parallel::parallel(out.len() / columns, (CHEAP / columns).max(1), |range| {
            let ends = &ends;
            for i in range {
                let (from, to) = zeros((i % rows) as isize, columns as isize);
                let (from, to) = (from as usize, to as usize);
                // SAFETY: the range lies in the row, and bytes of zeros are a valid value of every dtype.
                unsafe { ends.to.add((i * columns + from) * size).write_bytes(0, to.saturating_sub(from) * size) };
            }
        });
    }
    // SAFETY: every element was copied; some elements were then set to 0.
    unsafe { RawArray::new(op, x.shape.to_vec(), out) }
}

/// The ops over arrays with a static dtype, for tests.
#[cfg(any(test, feature = "testing"))]
#[allow(missing_docs)] // each function is the op of its name
pub mod typed {
    use crate::creation;
    use backend_core::{
        Element, MeshIndexing, Result,
        numpyish::{NdArray, Numpyish, OpContext, raw::view, typed::typed},
        raw::{RawElement, finish_all},
    };

    backend_core::typed_ops! { creation:
        zeros_like<T: Element>(x;) -> T;
        tril<T: Element>(x; k: isize) -> T;
        triu<T: Element>(x; k: isize) -> T;
    }

    /// Defines a function for each given op without array parameters. The expressions after `=>` are the arguments of
    /// the op.
    macro_rules! created {
        ($($name:ident<$t:ident: $bound:ident>($($p:ident: $ty:ty),*) => $($argument:expr),*;)*) => {$(
            pub fn $name<$t: backend_core::$bound>(b: &Numpyish, $($p: $ty),*) -> Result<NdArray<$t>> {
                typed(creation::$name(OpContext::new(b, stringify!($name), $t::DTYPE), $($argument),*))
            }
        )*};
    }
    created! {
        frombuffer<T: Element>(x: &[u8], count: Option<usize>, offset: usize) => x, count, offset;
        zeros<T: Element>(shape: &[usize]) => shape;
        ones<T: Element>(shape: &[usize]) => shape;
        full<T: Element>(shape: &[usize], x: T) => shape, RawElement::of(x);
        arange<T: RealNumeric>(start: T, stop: T, step: T) =>
            RawElement::of(start), RawElement::of(stop), RawElement::of(step);
        linspace<T: Float>(start: T, stop: T, num: usize, endpoint: bool) =>
            RawElement::of(start), RawElement::of(stop), num, endpoint;
        eye<T: Element>(n_rows: usize, n_cols: Option<usize>, k: isize) => n_rows, n_cols, k;
    }

    pub fn meshgrid<T: Element>(b: &Numpyish, xs: &[&NdArray<T>], indexing: MeshIndexing) -> Result<Vec<NdArray<T>>> {
        let on = OpContext::new(b, "meshgrid", T::DTYPE);
        let xs: Vec<_> = xs.iter().map(|x| view(x)).collect();
        finish_all(on.op, creation::meshgrid(on, &xs, indexing)?, ())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        typed::{arange, eye, frombuffer, full, linspace, meshgrid, ones, tril, triu, zeros, zeros_like},
        *,
    };
    use backend_core::Error;
    use ndarray::arr2;

    const B: Numpyish = Numpyish::new();

    #[test]
    fn sizes_over_memory_are_errors() {
        assert!(matches!(zeros::<f64>(&B, &[usize::MAX, 2]), Err(Error::Memory { op: "zeros", .. })));
        assert!(matches!(full(&B, &[1 << 40, 1 << 20], 1.0), Err(Error::Memory { op: "full", .. })));
        assert!(matches!(ones::<u8>(&B, &[0, usize::MAX]), Err(Error::Memory { op: "ones", .. })));
        assert!(matches!(eye::<u8>(&B, 0, Some(usize::MAX), 0), Err(Error::Memory { op: "eye", .. })));
        assert!(matches!(arange(&B, 0.0, 1e300, 1.0), Err(Error::Memory { op: "arange", .. })));
        assert!(matches!(arange(&B, i64::MIN, i64::MAX, 1), Err(Error::Memory { op: "arange", .. })));
        assert!(matches!(linspace(&B, 0.0, 1.0, usize::MAX, true), Err(Error::Memory { op: "linspace", .. })));
        let x = zeros::<u8>(&B, &[1 << 22]).unwrap();
        assert!(matches!(meshgrid(&B, &[&x, &x, &x], MeshIndexing::Ij), Err(Error::Memory { op: "meshgrid", .. })));
    }

    #[test]
    fn arange_counts_as_numpy_does() {
        let list = |a: NdArray<i8>| a.iter().copied().collect::<Vec<_>>();
        assert_eq!(list(arange(&B, 5, -5, -4).unwrap()), [5, 1, -3]);
        assert_eq!(list(arange(&B, -128, 127, 100).unwrap()), [-128, -28, 72]);
        assert_eq!(list(arange(&B, 0, 5, -1).unwrap()), []);
        assert_eq!(arange(&B, 250_u8, 255, 2).unwrap().as_slice().unwrap(), [250, 252, 254]);
        assert_eq!(arange(&B, u64::MAX - 3, u64::MAX, 2).unwrap().as_slice().unwrap(), [u64::MAX - 3, u64::MAX - 1]);
        let floats = arange(&B, 1.0, 1.3, 0.1).unwrap();
        assert_eq!(floats.as_slice().unwrap(), [1.0, 1.1, 1.2000000000000002, 1.3000000000000003]);
        let halves = arange(&B, f16::from_f32(0.0), f16::from_f32(1.0), f16::from_f32(0.5)).unwrap();
        assert_eq!(halves.as_slice().unwrap(), [f16::from_f32(0.0), f16::from_f32(0.5)]);
        assert_eq!(arange(&B, bf16::ONE, bf16::ONE, bf16::ONE).unwrap().len(), 0);
        assert!(matches!(arange(&B, 0, 5, 0), Err(Error::Argument { op: "arange", .. })));
        assert!(matches!(arange(&B, 0.0, f64::NAN, 1.0), Err(Error::Argument { op: "arange", .. })));
        assert!(matches!(arange(&B, 0.0, 1.0, f64::NAN), Err(Error::Argument { op: "arange", .. })));
        assert!(arange(&B, 0.0, f64::INFINITY, 1.0).is_err());
        assert_eq!(arange(&B, 3.0, 4.0, f64::INFINITY).unwrap().as_slice().unwrap(), [3.0]);
        assert_eq!(arange(&B, 3.0, 4.0, -1e300).unwrap().len(), 0);
    }

    #[test]
    fn linspace_ends_exactly() {
        assert_eq!(linspace(&B, 0.1, 0.7, 4, true).unwrap()[[3]], 0.7);
        assert_eq!(linspace(&B, 3.0, 9.0, 1, true).unwrap().as_slice().unwrap(), [3.0]);
        assert_eq!(linspace(&B, 0.0, 5e-324, 3, true).unwrap().as_slice().unwrap(), [0.0, 0.0, 5e-324]);
        let c = linspace(&B, Complex::new(0.0, 1.0), Complex::new(2.0, -1.0), 3, true).unwrap();
        assert_eq!(c.as_slice().unwrap()[1], Complex::new(1.0, 0.0));
    }

    #[test]
    fn bytes_at_any_alignment() {
        let bytes: Vec<u8> = [0_u8].into_iter().chain([1.5_f64, -2.0].into_iter().flat_map(f64::to_ne_bytes)).collect();
        assert_eq!(frombuffer::<f64>(&B, &bytes, None, 1).unwrap().as_slice().unwrap(), [1.5, -2.0]);
        assert_eq!(frombuffer::<f64>(&B, &bytes, Some(1), 9).unwrap().as_slice().unwrap(), [-2.0]);
        assert_eq!(frombuffer::<u8>(&B, &bytes, Some(0), 17).unwrap().len(), 0);
        assert_eq!(frombuffer::<bool>(&B, &[0, 1, 2], Some(2), 0).unwrap().as_slice().unwrap(), [false, true]);
        for (count, offset) in [(None, 0), (None, 18), (Some(3), 1), (Some(usize::MAX), 1), (None, usize::MAX)] {
            let refused = frombuffer::<f64>(&B, &bytes, count, offset);
            assert!(matches!(refused, Err(Error::Argument { op: "frombuffer", .. })), "{count:?} {offset}");
        }
        assert!(matches!(frombuffer::<bool>(&B, &[0, 2], None, 0), Err(Error::Argument { .. })));
    }

    #[test]
    fn diagonals_far_outside() {
        for k in [isize::MIN, -3, 3, isize::MAX] {
            assert!(eye::<i32>(&B, 3, None, k).unwrap().iter().all(|&x| x == 0));
        }
        let x = arr2(&[[1, 2, 3], [4, 5, 6]]).into_dyn().into_shared();
        assert_eq!(tril(&B, &x, isize::MAX).unwrap(), x);
        assert_eq!(triu(&B, &x, isize::MIN).unwrap(), x);
        assert_eq!(triu(&B, &x, isize::MAX).unwrap(), zeros_like(&B, &x).unwrap());
        assert_eq!(tril(&B, &x, -1).unwrap(), arr2(&[[0, 0, 0], [4, 0, 0]]).into_dyn());
        let empty = zeros::<i32>(&B, &[2, 3, 0]).unwrap();
        assert_eq!(tril(&B, &empty, 0).unwrap().shape(), [2, 3, 0]);
        assert!(matches!(tril(&B, &zeros::<i32>(&B, &[3]).unwrap(), 0), Err(Error::Shape { op: "tril", .. })));
    }
}
