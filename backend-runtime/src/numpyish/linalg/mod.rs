//! Matrix products: `gemm` for floats, our own loop for integers, which wrap.

mod pack;

use super::{
    NdArray, Numpyish,
    buffer::{self, Shared},
    convert::{convert, narrow},
    layout::{Dim, Offsets, dims},
};
use crate::{
    DType, Element, Error, Kind, Numeric, Result,
    shape::{self, Product},
};
use multiversion::multiversion;
use std::sync::OnceLock;

const OP: &str = "matmul";

/// Matrix product over the last two axes; the leading ones broadcast.
pub fn matmul<T: Numeric>(_: &Numpyish, x1: &NdArray<T>, x2: &NdArray<T>) -> Result<NdArray<T>> {
    let product = Product::of(OP, x1.shape(), x2.shape())?;
    match T::DTYPE {
        DType::Float16 | DType::BFloat16 => {
            let wide = product.run::<f32>(&widened(x1)?, &widened(x2)?)?;
            let mut out = buffer::zeroed::<T>(OP, wide.len())?;
            buffer::chunks(&mut out, 1, buffer::CHEAP, |start, part| narrow(&wide[start..start + part.len()], part));
            buffer::array(OP, &product.shape, out)
        }
        _ => buffer::array(OP, &product.shape, product.run::<T>(x1, x2)?),
    }
}

impl Product {
    /// The elements of the result, in C order.
    fn run<T: Numeric>(&self, x1: &NdArray<T>, x2: &NdArray<T>) -> Result<Vec<T>> {
        let n = shape::count(OP, &self.shape, size_of::<T>())?;
        let mut out = buffer::zeroed::<T>(OP, n)?;
        if n == 0 || self.inner == 0 {
            return Ok(out);
        }
        // rows of an integer product are added to one another: they have to lie together
        let integers = matches!(T::DTYPE.kind(), Kind::Signed | Kind::Unsigned);
        let packed = match integers && dims(x2).last().is_some_and(|d| d.stride != 1 && d.len > 1) {
            true => Some(buffer::array(OP, x2.shape(), buffer::owned(OP, x2)?)?),
            false => None,
        };
        let x2 = packed.as_ref().unwrap_or(x2);
        let left = Matrices::of(x1, false, &self.batches);
        let right = Matrices::of(x2, true, &self.batches);
        let size = self.rows * self.columns;
        let flops = size.saturating_mul(self.inner);
        let batches = n / size;
        let target = Shared::new(&mut out);
        // a product large enough for several threads uses them itself; smaller ones run side by side
        let alone = batches == 1 || flops >= SEVERAL_THREADS * rayon::current_num_threads();
        let grain = if alone { batches } else { (SEVERAL_THREADS / flops.max(1)).max(1) };
        if !integers {
            pack::room::<T>(OP, self, alone && flops >= SEVERAL_THREADS)?;
        }
        let failed: OnceLock<Error> = OnceLock::new();
        buffer::parallel(batches, grain, |range| {
            if !integers && let Err(e) = pack::block(OP) {
                failed.get_or_init(|| e);
                return;
            }
            let lefts = Offsets::at(&left.batches, range.start);
            let rights = Offsets::at(&right.batches, range.start);
            for ((batch, a), b) in range.zip(lefts).zip(rights) {
                // SAFETY: each batch of the result is written by one task.
                let to = unsafe { target.part(batch * size..(batch + 1) * size) };
                let (a, b) = (left.at(a), right.at(b));
                // SAFETY: the matrices are parts of the operands, of the product's shape.
                unsafe {
                    if integers {
                        integer_product(to, a, b, self, alone);
                    } else {
                        float_product(to, a, b, self, alone);
                    }
                }
            }
        });
        failed.into_inner().map_or(Ok(out), Err)
    }
}

/// Multiplications worth a second thread.
const SEVERAL_THREADS: usize = 1 << 18;

/// A matrix somewhere in an array: strides from row to row and from column to column.
#[derive(Clone, Copy)]
struct Matrix<T> {
    start: *const T,
    row: isize,
    column: isize,
}

// SAFETY: it is only read, and its elements may be shared.
unsafe impl<T: Sync> Sync for Matrix<T> {}

impl<T> Matrix<T> {
    /// The matrix from this row on.
    fn below(self, row: isize) -> Matrix<T> {
        Matrix { start: self.start.wrapping_offset(row * self.row), ..self }
    }
}

/// The matrices of an operand, one for each batch of the product.
struct Matrices<T> {
    first: Matrix<T>,
    batches: Vec<Dim>,
}

impl<T: Element> Matrices<T> {
    /// `right`: a lone axis is a column, else a row.
    fn of(x: &NdArray<T>, right: bool, batches: &[usize]) -> Matrices<T> {
        let dims = dims(x);
        let (leading, row, column) = match dims[..] {
            [] => (&[][..], 0, 0),
            [only] if right => (&[][..], only.stride, 0),
            [only] => (&[][..], 0, only.stride),
            [ref leading @ .., row, column] => (leading, row.stride, column.stride),
        };
        let missing = batches.len() - leading.len();
        let stride =
            |i: usize| leading.get(i.wrapping_sub(missing)).map_or(0, |d| if d.len == 1 { 0 } else { d.stride });
        let batches = batches.iter().enumerate().map(|(i, &len)| Dim { len, stride: stride(i) }).collect();
        Matrices { first: Matrix { start: x.as_ptr(), row, column }, batches }
    }

    fn at(&self, offset: isize) -> Matrix<T> {
        Matrix { start: self.first.start.wrapping_offset(offset), ..self.first }
    }
}

/// A product of floats.
///
/// # Safety
/// The matrices have the shapes of the product, `to` as well; `T` is `f32`, `f64` or a complex number of these.
unsafe fn float_product<T: Numeric>(to: &mut [T], a: Matrix<T>, b: Matrix<T>, shape: &Product, threads: bool) {
    let work = to.len().saturating_mul(shape.inner);
    let parallelism =
        if threads && work >= SEVERAL_THREADS { gemm::Parallelism::Rayon(0) } else { gemm::Parallelism::None };
    // SAFETY: as the caller promises; nobody else writes `to`.
    unsafe {
        gemm::gemm(
            shape.rows,
            shape.columns,
            shape.inner,
            to.as_mut_ptr(),
            1,
            shape.columns as isize,
            false,
            a.start,
            a.column,
            a.row,
            b.start,
            b.column,
            b.row,
            T::ZERO,
            T::ONE,
            false,
            false,
            false,
            parallelism,
        );
    }
}

/// A product of integers, added to `to`, which holds zeros.
///
/// # Safety
/// The matrices have the shapes of the product, `to` as well; rows of `b` are contiguous.
unsafe fn integer_product<T: Numeric>(to: &mut [T], a: Matrix<T>, b: Matrix<T>, shape: &Product, threads: bool) {
    let work = shape.columns.saturating_mul(shape.inner).max(1);
    let grain = if threads { (SEVERAL_THREADS / work).max(1) * shape.columns } else { to.len() };
    buffer::chunks(to, shape.columns, grain, |start, part| {
        let first = (start / shape.columns) as isize;
        // SAFETY: a part of the rows of both, as the caller promises.
        unsafe {
            let a = a.below(first);
            if shape.columns == 1 {
                dots(part, a, b, shape.inner)
            } else {
                rows(part, a, b, shape.inner, shape.columns)
            }
        }
    });
}

/// Rows times one column.
///
/// # Safety
/// `a` has `to.len()` rows and `inner` columns, `b` has `inner` rows.
unsafe fn dots<T: Numeric>(to: &mut [T], a: Matrix<T>, b: Matrix<T>, inner: usize) {
    for (i, t) in to.iter_mut().enumerate() {
        for k in 0..inner as isize {
            // SAFETY: the caller's promise.
            let (x, y) = unsafe { (*a.start.offset(i as isize * a.row + k * a.column), *b.start.offset(k * b.row)) };
            *t = t.plus(x.times(y));
        }
    }
}

/// Rows of `b` and of the result that are worked on together: they stay in the second-level cache.
const DEPTH: usize = 64;
const WIDTH: usize = 512;

/// Adds multiples of the rows of `b` to the rows of `to`.
///
/// # Safety
/// `to` has whole rows of `columns`, `a` as many rows and `inner` columns, `b` has `inner` rows of stride 1.
#[multiversion(targets("x86_64+avx2+fma"))]
unsafe fn rows<T: Numeric>(to: &mut [T], a: Matrix<T>, b: Matrix<T>, inner: usize, columns: usize) {
    for first in (0..columns).step_by(WIDTH) {
        let width = WIDTH.min(columns - first);
        for depth in (0..inner).step_by(DEPTH) {
            for (i, row) in to.chunks_exact_mut(columns).enumerate() {
                let row = &mut row[first..first + width];
                for k in depth as isize..inner.min(depth + DEPTH) as isize {
                    // SAFETY: the caller's promise.
                    let (factor, other) = unsafe {
                        let other = b.start.offset(k * b.row + first as isize);
                        (*a.start.offset(i as isize * a.row + k * a.column), std::slice::from_raw_parts(other, width))
                    };
                    row.iter_mut().zip(other).for_each(|(t, &o)| *t = t.plus(factor.times(o)));
                }
            }
        }
    }
}

/// A 16-bit array in `f32`, in C order.
fn widened<T: Element>(x: &NdArray<T>) -> Result<NdArray<f32>> {
    let from = buffer::packed(OP, x)?;
    let mut wide = buffer::zeroed::<f32>(OP, from.len())?;
    buffer::chunks(&mut wide, 1, buffer::CHEAP, |start, part| convert(&from[start..start + part.len()], part));
    buffer::array(OP, x.shape(), wide)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Complex, f16,
        numpyish::layout::tests::{counting, layouts},
    };
    use ndarray::{ArrayD, IxDyn};

    const B: Numpyish = Numpyish::new();

    fn values<T: Element>(shape: &[usize]) -> ArrayD<T> {
        counting::<i64>(shape).mapv(|i| T::from_i64(i * 7919 % 17 - 8))
    }

    /// Element by element, by the definition.
    fn naive<T: Numeric>(x1: &ArrayD<T>, x2: &ArrayD<T>) -> Vec<T> {
        let a = if x1.ndim() == 1 { x1.clone().insert_axis(ndarray::Axis(0)) } else { x1.clone() };
        let b = if x2.ndim() == 1 { x2.clone().insert_axis(ndarray::Axis(1)) } else { x2.clone() };
        let (na, nb) = (a.ndim(), b.ndim());
        let (rows, inner, columns) = (a.shape()[na - 2], a.shape()[na - 1], b.shape()[nb - 1]);
        let batches = shape::broadcast("", &a.shape()[..na - 2], &b.shape()[..nb - 2]).unwrap();
        let with = |tail: [usize; 2]| batches.iter().copied().chain(tail).collect::<Vec<_>>();
        let (a, b) = (a.broadcast(with([rows, inner])).unwrap(), b.broadcast(with([inner, columns])).unwrap());
        let (a, b): (Vec<T>, Vec<T>) = (a.iter().copied().collect(), b.iter().copied().collect());
        let mut out = Vec::new();
        for batch in 0..batches.iter().product() {
            for i in 0..rows {
                for j in 0..columns {
                    let terms = (0..inner)
                        .map(|k| a[(batch * rows + i) * inner + k].times(b[(batch * inner + k) * columns + j]));
                    out.push(terms.fold(T::ZERO, T::plus));
                }
            }
        }
        out
    }

    /// Small integers, so that every dtype computes them exactly.
    fn check<T: Numeric>(left: &[usize], right: &[usize], expected: &[usize]) {
        let (x1, x2) = (values::<T>(left), values::<T>(right));
        let correct = naive(&x1, &x2);
        let few = x1.len() * x2.len() > 10_000;
        for a in layouts(&x1).iter().take(if few { 2 } else { 99 }) {
            for b in layouts(&x2).iter().take(if few { 2 } else { 99 }) {
                let c = matmul(&B, a, b).unwrap();
                assert_eq!(c.shape(), expected);
                assert!(c.iter().eq(&correct), "{left:?} {:?} {right:?} {:?}", a.strides(), b.strides());
            }
        }
    }

    fn shapes<T: Numeric>() {
        check::<T>(&[3], &[3], &[]);
        check::<T>(&[2, 3], &[3], &[2]);
        check::<T>(&[3], &[3, 2], &[2]);
        check::<T>(&[5, 3], &[3, 7], &[5, 7]);
        check::<T>(&[2, 5, 3], &[3, 4], &[2, 5, 4]);
        check::<T>(&[2, 5, 3], &[3], &[2, 5]);
        check::<T>(&[5, 3], &[2, 3, 4], &[2, 5, 4]);
        check::<T>(&[2, 1, 5, 3], &[4, 3, 2], &[2, 4, 5, 2]);
        check::<T>(&[2, 0], &[0, 3], &[2, 3]);
        check::<T>(&[0, 2], &[2, 3], &[0, 3]);
        check::<T>(&[0, 2, 2], &[2, 3], &[0, 2, 3]);
    }

    #[test]
    fn every_kind_of_dtype_and_layout() {
        shapes::<f32>();
        shapes::<f64>();
        shapes::<Complex<f32>>();
        shapes::<Complex<f64>>();
        shapes::<f16>();
        shapes::<i32>();
        shapes::<u8>();
    }

    #[test]
    fn sizes_for_several_threads() {
        check::<f64>(&[90, 80], &[80, 100], &[90, 100]);
        check::<i64>(&[90, 80], &[80, 600], &[90, 600]);
        check::<i64>(&[3000, 101], &[101], &[3000]);
        check::<f32>(&[70, 20, 20], &[70, 20, 20], &[70, 20, 20]);
        check::<i32>(&[70, 20, 20], &[20, 20], &[70, 20, 20]);
    }

    #[test]
    fn what_does_not_fit() {
        let x = |shape: &[usize]| ArrayD::<f64>::zeros(IxDyn(shape)).into_shared();
        for (a, b) in [(&[2, 3][..], &[2, 3][..]), (&[], &[3]), (&[3], &[]), (&[3], &[4]), (&[2, 2, 3], &[3, 3, 2])] {
            assert_eq!(matmul(&B, &x(a), &x(b)), Err(Error::shapes("matmul", a, b)));
        }
        let huge = ArrayD::<f64>::zeros(IxDyn(&[1 << 31, 0])).into_shared();
        let too = ArrayD::<f64>::zeros(IxDyn(&[0, 1 << 31])).into_shared();
        assert!(matches!(matmul(&B, &huge, &too), Err(Error::Memory { op: "matmul", .. })));
    }
}
