//! Matrix products. Floats are multiplied by the crate `gemm`. This module has its own loops for integers, because they
//! wrap around, and for a matrix times a vector, because memory limits the speed of such products.

mod cross;
mod dense;
mod diagonal;
mod factor;
mod pack;
mod sparse;
mod vector;

pub use cross::cross_of_rows;
pub use diagonal::diagonal;
pub use factor::{
    cholesky, det, eig, eigh, eigvals, eigvalsh, inv, qr, slogdet, solve, solve_triangular, svd, svdvals,
};
pub use sparse::{csc_matmul, csc_product, csr_matmul, csr_product, sampled_matmul, sampled_product};

use super::{
    OpContext,
    buffer::Buffer,
    convert::{computed_in, convert, is_half},
    copy,
    layout::{Dim, Offsets, dims},
    parallel::{self},
    raw::{RawArray, View},
    simd::versions,
};
use backend_core::{
    Complex, DType, DTypeKind, Error, Numeric, Result,
    rules::{self, Product},
    threads,
};

use std::{ops::Range, sync::OnceLock};

const OP: &str = "matmul";

/// Matrix product over the last two axes. All other axes broadcast.
pub fn matmul(_: OpContext<'_>, x1: View<'_>, x2: View<'_>) -> Result<RawArray> {
    let dtype = x1.dtype;
    let product = Product::of(OP, x1.shape, x2.shape, x1.dtype.size())?;
    let elements = if is_half(dtype) {
        let (wide1, wide2) = (converted(OP, x1, DType::Float32)?, converted(OP, x2, DType::Float32)?);
        let (s1, s2) = (rules::c_strides(x1.shape), rules::c_strides(x2.shape));
        let wide = |x: View<'_>, wide: &Buffer| (wide.start().cast_const(), x.shape.to_vec());
        let ((p1, d1), (p2, d2)) = (wide(x1, &wide1), wide(x2, &wide2));
        let x1 = View { start: p1, dtype: DType::Float32, shape: &d1, strides: &s1 };
        let x2 = View { start: p2, dtype: DType::Float32, shape: &d2, strides: &s2 };
        let wide = run(&product, x1, x2)?;
        let out = Buffer::new(OP, wide.len(), dtype)?;
        // SAFETY: both buffers have the same number of elements.
        unsafe { convert_all(&wide, &out) };
        out
    } else {
        run(&product, x1, x2)?
    };
    // SAFETY: every element has been written.
    unsafe { RawArray::new(OP, product.shape, elements) }
}

/// Copies the elements in C order, in another dtype.
fn converted(op: &'static str, x: View<'_>, to: DType) -> Result<Buffer> {
    let from = copy::to_buffer(op, x)?;
    let wide = Buffer::new(op, from.len(), to)?;
    // SAFETY: both buffers have the same number of elements.
    unsafe { convert_all(&from, &wide) };
    Ok(wide)
}

/// Converts all elements of `from` to the dtype of `to`, on several threads if that saves time.
///
/// # Safety
/// Both buffers must have the same number of elements, and all elements of `from` must have been written.
pub(super) unsafe fn convert_all(from: &Buffer, to: &Buffer) {
    parallel::parallel(from.len(), parallel::CHEAP, |range| {
        // SAFETY: the range is within both buffers, and tasks write different ranges.
        unsafe {
            let (x, out) = (from.start().add(range.start * from.dtype().size()), to.start());
            convert(from.dtype(), to.dtype(), x, out.add(range.start * to.dtype().size()), range.len());
        }
    });
}

/// A function that multiplies two matrices of one dtype. If `alone`, it may use several threads.
///
/// # Safety of the function
/// The matrices must have the shapes of the product, and nobody else may write the result.
type Multiply = unsafe fn(to: *mut u8, a: Matrix, b: Matrix, shape: &Product, alone: bool);

/// Chooses the function for a dtype. Signed and unsigned integers share functions, because their products have the same
/// bits.
fn multiply(dtype: DType) -> Multiply {
    use backend_core::dtype::Arithmetic::*;
    match dtype.arithmetic() {
        UInt8 => integer_product::<u8>,
        UInt16 => integer_product::<u16>,
        UInt32 => integer_product::<u32>,
        UInt64 => integer_product::<u64>,
        Float16 | BFloat16 | Float32 => real_product::<f32>,
        Float64 => real_product::<f64>,
        Complex64 => float_product::<Complex<f32>>,
        Complex128 => float_product::<Complex<f64>>,
    }
}

/// Computes the elements of a product, in C order.
fn run(product: &Product, x1: View<'_>, x2: View<'_>) -> Result<Buffer> {
    let dtype = computed_in(x1.dtype);
    let n = rules::count(OP, &product.shape, dtype.size())?;
    // integer products are added to the result, which must therefore begin with zeros
    let out = Buffer::zeroed(OP, n, dtype)?;
    if n == 0 || product.inner == 0 {
        return Ok(out);
    }
    // an integer product adds up multiples of rows of the right operand, so the elements of each row must be
    // contiguous
    let integers = matches!(dtype.kind(), DTypeKind::Signed | DTypeKind::Unsigned);
    let scattered = integers && dims(x2).last().is_some_and(|d| d.stride != 1 && d.len > 1);
    let packed = if scattered { copy::Packed::Owned(copy::to_buffer(OP, x2)?) } else { copy::Packed::Borrowed(x2) };
    let c_strides = rules::c_strides(x2.shape);
    let x2 = View { start: packed.start(), strides: if scattered { &c_strides } else { x2.strides }, ..x2 };
    let left = Matrices::of(x1, false, &product.batches);
    let right = Matrices::of(x2, true, &product.batches);
    let size = product.rows * product.columns;
    let flops = size.saturating_mul(product.inner);
    let batches = n / size;
    // a product that is large enough uses several threads itself; smaller products of a batch run in parallel
    let alone = batches == 1 || flops >= SEVERAL_THREADS * threads::count();
    let grain = if alone { batches } else { (SEVERAL_THREADS / flops.max(1)).max(1) };
    let multiply = multiply(dtype);
    if !integers {
        let sizes = [product.rows, product.inner, product.columns];
        let parts = if alone { Parts::of(sizes).count } else { 1 };
        let room = [product.rows, product.inner.saturating_mul(parts), product.columns];
        pack::room(OP, room, dtype.size(), alone && flops >= SEVERAL_THREADS)?;
    }
    let failed: OnceLock<Error> = OnceLock::new();
    parallel::parallel(batches, grain, |range| {
        if !integers && let Err(e) = pack::block(OP) {
            failed.get_or_init(|| e);
            return;
        }
        let lefts = Offsets::at(&left.batches, range.start);
        let rights = Offsets::at(&right.batches, range.start);
        for ((batch, a), b) in range.zip(lefts).zip(rights) {
            let (a, b) = (left.at(a), right.at(b));
            // SAFETY: the matrices belong to the operands, and have the shapes of the product. Each batch of the
            // result is written by one task.
            unsafe { multiply(out.start().add(batch * size * dtype.size()), a, b, product, alone) };
        }
    });
    failed.into_inner().map_or(Ok(out), Err)
}

/// Minimum number of multiplications for which a second thread saves time.
pub(super) const SEVERAL_THREADS: usize = 1 << 18;

/// A matrix within an array. `row` and `column` are the distances, in elements, from row to row and from column to
/// column.
#[derive(Clone, Copy)]
pub(super) struct Matrix {
    pub start: *const u8,
    pub row: isize,
    pub column: isize,
}

// SAFETY: the matrix is only read, and its elements may be shared.
unsafe impl Sync for Matrix {}

/// The matrices of an operand, one for each batch of the product.
struct Matrices {
    first: Matrix,
    size: isize,
    batches: Vec<Dim>,
}

impl Matrices {
    /// The matrices of `x`. If `x` has only one axis, it is a column if it is the right operand, and a row otherwise.
    fn of(x: View<'_>, right: bool, batches: &[usize]) -> Matrices {
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
        Matrices { first: Matrix { start: x.start, row, column }, size: x.dtype.size() as isize, batches }
    }

    fn at(&self, offset: isize) -> Matrix {
        Matrix { start: self.first.start.wrapping_offset(offset * self.size), ..self.first }
    }
}

/// Multiplies matrices of real floats.
///
/// # Safety
/// The conditions of [`Multiply`] hold, and `T` must be `f32` or `f64`.
unsafe fn real_product<T: Numeric>(to: *mut u8, a: Matrix, b: Matrix, shape: &Product, alone: bool) {
    // SAFETY: the caller guarantees the type, the matrices and the result.
    unsafe {
        match vector::operands::<T>(a, b, shape) {
            Some((matrix, x, sizes)) => vector::product(to.cast(), matrix, x, sizes, alone),
            None => float_product::<T>(to, a, b, shape, alone),
        }
    }
}

/// Multiplies matrices of floats.
///
/// # Safety
/// The conditions of [`Multiply`] hold, and `T` must be `f32`, `f64` or a complex type of these.
unsafe fn float_product<T: Numeric>(to: *mut u8, a: Matrix, b: Matrix, shape: &Product, alone: bool) {
    let sizes = [shape.rows, shape.inner, shape.columns];
    let parts = if alone { Parts::of(sizes) } else { Parts::ONE };
    if parts.count > 1 {
        let (ends, a) = (copy::Ends { from: b.start, to }, a);
        parallel::parallel(parts.count, 1, |range| {
            let (ends, a) = (&ends, &a);
            for part in range {
                let (rows, columns) = parts.part(part, sizes);
                // SAFETY: the caller guarantees the matrices, and each part of the result belongs to one task.
                unsafe {
                    let at = |x: *const u8, offset: isize| x.cast::<T>().wrapping_offset(offset).cast();
                    let a = Matrix { start: at(a.start, rows.start as isize * a.row), ..*a };
                    let b = Matrix { start: at(ends.from, columns.start as isize * b.column), ..b };
                    let to = ends.to.cast::<T>().add(rows.start * shape.columns + columns.start);
                    product_into(to, shape.columns, a, b, [rows.len(), shape.inner, columns.len()], false);
                }
            }
        });
        return;
    }
    let large = work(sizes) >= Parts::LARGE;
    let parallelism =
        if alone && large && threads::count() > 1 { gemm::Parallelism::Rayon(0) } else { gemm::Parallelism::None };
    // SAFETY: the caller guarantees the matrices, and that nobody else writes `to`.
    unsafe { product(to.cast::<T>(), shape.columns, a, b, sizes, false, parallelism) }
}

/// Number of multiplications of a product.
fn work([rows, inner, columns]: [usize; 3]) -> usize {
    (rows * columns).saturating_mul(inner)
}

/// Division of a product among threads, along the rows or along the columns of the result. Each part packs the rows and
/// columns of the operands that it needs, so several parts may pack the same elements. Therefore, `gemm` itself divides
/// products of at least [`LARGE`](Parts::LARGE) multiplications. It packs operands once, but uses all threads of the
/// pool, and waits until they are awake.
#[derive(Clone, Copy)]
struct Parts {
    count: usize,
    by_rows: bool,
}

impl Parts {
    const ONE: Parts = Parts { count: 1, by_rows: true };
    /// Minimum number of multiplications of a part.
    const MIN_MULTIPLICATIONS: usize = 1 << 19;
    /// Minimum number of multiplications of a product that `gemm` divides.
    const LARGE: usize = 1 << 27;
    /// Parts begin at multiples of these numbers: the first number for rows, the second for columns. The numbers are
    /// about the size of a register block.
    const REGISTERS: [usize; 2] = [8, 48];
    /// For results with at most this many rows and at most this many columns, `gemm` divides the inner axis into
    /// other blocks, so that sums are rounded differently. It also does so for results of at most [`FEW`](Parts::FEW)
    /// elements. Therefore no part is that small.
    const SMALL: usize = 64;
    /// Maximum number of elements of a result for which `gemm` divides the inner axis into other blocks; see
    /// [`SMALL`](Parts::SMALL).
    const FEW: usize = 256;

    fn of(sizes @ [rows, _, columns]: [usize; 3]) -> Parts {
        let work = work(sizes);
        if !(2 * Parts::MIN_MULTIPLICATIONS..Parts::LARGE).contains(&work) {
            return Parts::ONE;
        }
        let by_rows = 2 * rows >= columns;
        let (length, other) = if by_rows { (rows, columns) } else { (columns, rows) };
        let least = if other > Parts::SMALL { 1 } else { Parts::SMALL.max(Parts::FEW / other) + 1 };
        let most = length / (least + 2 * Parts::registers(by_rows));
        Parts { count: threads::count().min(work / Parts::MIN_MULTIPLICATIONS).min(most).max(1), by_rows }
    }

    fn registers(by_rows: bool) -> usize {
        Parts::REGISTERS[usize::from(!by_rows)]
    }

    /// The ranges of rows and columns of part `k`.
    fn part(self, k: usize, [rows, _, columns]: [usize; 3]) -> (Range<usize>, Range<usize>) {
        let registers = Parts::registers(self.by_rows);
        let range = |length: usize| {
            let first =
                |k: usize| if k == self.count { length } else { k * length / self.count / registers * registers };
            first(k)..first(k + 1)
        };
        if self.by_rows { (range(rows), 0..columns) } else { (0..rows, range(columns)) }
    }
}

/// Checks that one thread has memory for products of `rows` x `inner` with `inner` x `columns` matrices, and makes
/// `gemm` allocate its block for this thread.
pub(super) fn room(op: &'static str, [rows, inner, columns]: [usize; 3], element_size: usize) -> Result<()> {
    pack::room(op, [rows, inner, columns], element_size, false)?;
    pack::block(op)
}

/// Computes a product on this thread, after a successful [`room`]. Writes it to `to`, or adds it to the elements of
/// `to` if `adds`.
///
/// # Safety
/// The matrices must have these sizes, and `to` must have rows at distances of `row` elements, which nobody else
/// writes. `T` must be `f32`, `f64` or a complex type of these.
pub(super) unsafe fn product_into<T: Numeric>(
    to: *mut T,
    row: usize,
    a: Matrix,
    b: Matrix,
    sizes: [usize; 3],
    adds: bool,
) {
    // SAFETY: the caller guarantees the matrices and the rows of `to`.
    unsafe { product(to, row, a, b, sizes, adds, gemm::Parallelism::None) }
}

/// Like [`product_into`], but with the given parallelism.
///
/// # Safety
/// The conditions of [`product_into`] hold.
unsafe fn product<T: Numeric>(
    to: *mut T,
    row: usize,
    a: Matrix,
    b: Matrix,
    [rows, inner, columns]: [usize; 3],
    adds: bool,
    parallelism: gemm::Parallelism,
) {
    // SAFETY: the caller guarantees the matrices and the rows of `to`.
    unsafe {
        gemm::gemm(
            rows,
            columns,
            inner,
            to,
            1,
            row as isize,
            adds,
            a.start.cast::<T>(),
            a.column,
            a.row,
            b.start.cast::<T>(),
            b.column,
            b.row,
            if adds { T::ONE } else { T::ZERO },
            T::ONE,
            false,
            false,
            false,
            parallelism,
        );
    }
}

/// Multiplies matrices of integers, and adds the product to `to`, whose elements must be 0 before.
///
/// # Safety
/// The conditions of [`Multiply`] hold, and the rows of `b` must be contiguous.
unsafe fn integer_product<T: Numeric>(to: *mut u8, a: Matrix, b: Matrix, shape: &Product, alone: bool) {
    let (inner, columns) = (shape.inner, shape.columns);
    let work = columns.saturating_mul(inner).max(1);
    let grain = if alone { (SEVERAL_THREADS / work).max(1) } else { shape.rows };
    let ends = (copy::Ends { from: b.start, to }, a);
    parallel::parallel(shape.rows, grain, |rows| {
        let (ends, a) = &ends;
        // SAFETY: the caller guarantees the matrices, and the range is within the rows of the left matrix and of the
        // result.
        unsafe {
            let to = ends.to.cast::<T>().add(rows.start * columns);
            let a = Matrix { start: a.start.cast::<T>().wrapping_offset(rows.start as isize * a.row).cast(), ..*a };
            let b = Matrix { start: ends.from, ..b };
            if columns == 1 {
                dots(to, rows.len(), a, b, inner);
            } else {
                add_rows(to, rows.len(), a, b, inner, columns);
            }
        }
    });

    /// Adds the products of rows with a single column to the elements of `to`.
    ///
    /// # Safety
    /// `a` must have `rows` rows and `inner` columns, `b` must have `inner` rows, and `to` must have `rows` elements.
    unsafe fn dots<T: Numeric>(to: *mut T, rows: usize, a: Matrix, b: Matrix, inner: usize) {
        let (x, y) = (a.start.cast::<T>(), b.start.cast::<T>());
        for i in 0..rows {
            for k in 0..inner as isize {
                // SAFETY: the caller guarantees the rows and the columns.
                unsafe {
                    let product = (*x.offset(i as isize * a.row + k * a.column)).times(*y.offset(k * b.row));
                    *to.add(i) = (*to.add(i)).plus(product);
                }
            }
        }
    }
}

/// Number of rows of `b` that are processed together. [`WIDTH`] columns of each of these rows stay in the L2 cache.
const DEPTH: usize = 64;
const WIDTH: usize = 512;

versions! {
    /// Adds multiples of the rows of `b` to the rows of `to`. The factors for row `i` of `to` are the elements of row
    /// `i` of `a`.
    ///
    /// # Safety
    /// `to` must have `rows` contiguous rows of `columns` elements, `a` must have `rows` rows and `inner` columns, and
    /// `b` must have `inner` rows of stride 1.
    unsafe fn add_rows[T: Numeric][T](to: *mut T, rows: usize, a: Matrix, b: Matrix, inner: usize, columns: usize) {
        let (x, y) = (a.start.cast::<T>(), b.start.cast::<T>());
        for first in (0..columns).step_by(WIDTH) {
            let width = WIDTH.min(columns - first);
            for depth in (0..inner).step_by(DEPTH) {
                for i in 0..rows {
                    for k in depth as isize..inner.min(depth + DEPTH) as isize {
                        // SAFETY: the caller guarantees the rows and the columns.
                        unsafe {
                            let row = to.add(i * columns + first);
                            let other = y.offset(k * b.row + first as isize);
                            let factor = *x.offset(i as isize * a.row + k * a.column);
                            for j in 0..width {
                                *row.add(j) = (*row.add(j)).plus(factor.times(*other.add(j)));
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The ops over arrays with a static dtype, for tests.
#[cfg(any(test, feature = "testing"))]
#[allow(missing_docs)] // each function is the op of its name
pub mod typed {
    use crate::linalg;

    backend_core::typed_ops! { linalg:
        matmul<T: Numeric>(x1, x2;) -> T;
        diagonal<T: Element>(x; offset: isize, axis1: isize, axis2: isize) -> T;
    }
}

#[cfg(test)]
mod tests {
    use super::{typed::matmul, *};
    use backend_core::{
        Element, Error, f16,
        numpyish::{
            NdArray, Numpyish,
            testing::{counting, layouts},
        },
    };
    use ndarray::{ArrayD, IxDyn};

    const B: Numpyish = Numpyish::new();

    #[test]
    #[cfg_attr(miri, ignore = "too many products")]
    fn any_number_of_threads_gives_the_same_bits() {
        // the sizes of products that are divided among threads, along their rows or their columns, also into parts of
        // different sizes
        for [rows, inner, columns] in [
            [256, 256, 256],
            [1000, 3, 700],
            [40, 700, 1000],
            [3, 1000, 800],
            [129, 2000, 65],
            [700, 900, 5],
            [90, 600, 90],
        ] {
            let part = |shape: &[usize]| counting::<f64>(shape).mapv(|i| (i * 0.37).sin());
            let (a, b) = (part(&[rows, inner]), part(&[inner, columns]));
            let turned = b.t().as_standard_layout().reversed_axes().into_shared();
            let (a, b) = (a.into_shared(), b.into_shared());
            let single = [&a, &b].map(|x| x.mapv(|v| v as f32).into_shared());
            let complex = [&a, &b].map(|x| x.mapv(|v| backend_core::Complex::new(v, 0.5 - v)).into_shared());
            let of = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let wide = matmul(&B, &a, &b).unwrap();
                    assert_eq!(matmul(&B, &a, &turned).unwrap().shape(), wide.shape());
                    let bits = |x: &NdArray<f64>| x.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                    let narrow = matmul(&B, &single[0], &single[1]).unwrap().mapv(f64::from).into_shared();
                    let complex = matmul(&B, &complex[0], &complex[1]).unwrap();
                    let parts = complex.iter().flat_map(|z| [z.re.to_bits(), z.im.to_bits()]).collect::<Vec<_>>();
                    [bits(&wide), bits(&matmul(&B, &a, &turned).unwrap()), bits(&narrow), parts]
                })
            };
            let one = of(1);
            for threads in [2, 3, 7] {
                assert!(of(threads) == one, "{rows} x {inner} with {inner} x {columns} on {threads} threads");
            }
        }
    }

    fn values<T: Element>(shape: &[usize]) -> ArrayD<T> {
        counting::<i64>(shape).mapv(|i| T::from_i64(i * 7919 % 17 - 8))
    }

    /// Computes each element of a reference result by the definition.
    fn naive<T: Numeric>(x1: &ArrayD<T>, x2: &ArrayD<T>) -> Vec<T> {
        let a = if x1.ndim() == 1 { x1.clone().insert_axis(ndarray::Axis(0)) } else { x1.clone() };
        let b = if x2.ndim() == 1 { x2.clone().insert_axis(ndarray::Axis(1)) } else { x2.clone() };
        let (na, nb) = (a.ndim(), b.ndim());
        let (rows, inner, columns) = (a.shape()[na - 2], a.shape()[na - 1], b.shape()[nb - 1]);
        let batches = rules::broadcast("", &a.shape()[..na - 2], &b.shape()[..nb - 2]).unwrap();
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

    /// Checks products of arrays in several layouts. The elements are small integers, so that every dtype computes
    /// exact results.
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
