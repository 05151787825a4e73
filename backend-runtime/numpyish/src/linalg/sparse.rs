//! Products with sparse matrices in the formats CSR (compressed rows) and CSC (compressed columns).
//!
//! Rows are divided among threads so that each thread gets about the same number of elements. Each row is summed by one
//! thread in a fixed order, so results do not depend on the number of threads. Indices are checked in short ranges,
//! which stay in the cache until they are used.

use super::converted;
use backend_core::{
    Complex, DType, Error, Numeric, Result,
    numpyish::{
        OpContext,
        buffer::Buffer,
        convert::{computed_in, is_half},
        copy::{self, Packed},
        parallel::{CHEAP, parallel},
        raw::{RawArray, View},
        simd::versions,
    },
    rules::{self, Compressed},
};
use std::{
    ops::Range,
    sync::atomic::{AtomicBool, Ordering},
};

/// The product of a CSR matrix with a vector or a matrix.
pub fn csr_matmul(
    _: OpContext<'_>,
    values: View<'_>,
    indices: View<'_>,
    indptr: View<'_>,
    x: View<'_>,
) -> Result<RawArray> {
    csr_product(values, indices, indptr, x)
}

/// The product of a CSC matrix, the transpose of a CSR matrix, with a vector or a matrix.
pub fn csc_matmul(
    _: OpContext<'_>,
    values: View<'_>,
    indices: View<'_>,
    indptr: View<'_>,
    x: View<'_>,
    rows: usize,
) -> Result<RawArray> {
    csc_product(values, indices, indptr, x, rows)
}

/// Computes the elements of a product of dense matrices, but only those at the positions of a sparse matrix's elements.
pub fn sampled_matmul(
    _: OpContext<'_>,
    indices: View<'_>,
    indptr: View<'_>,
    x1: View<'_>,
    x2: View<'_>,
) -> Result<RawArray> {
    sampled_product(indices, indptr, x1, x2)
}

/// Like [`csr_matmul`], without the context of a call.
pub fn csr_product(values: View<'_>, indices: View<'_>, indptr: View<'_>, x: View<'_>) -> Result<RawArray> {
    const OP: &str = "csr_matmul";
    let p = rules::csr_product(OP, values.shape, indices.shape, indptr.shape, x.shape, x.dtype.size())?;
    let (values, x) = (Dense::of(OP, values)?, Dense::of(OP, x)?);
    let structure = Structure::of(OP, indices, indptr, &p)?;
    let out = Buffer::new(OP, p.rows * p.width, x.dtype)?;
    let product = loops(x.dtype).csr;
    structure.in_rows(OP, |structure, rows| {
        // SAFETY: there are as many values as indices, and all indices are less than the number of rows of `x`. Tasks
        // write different rows of the result.
        unsafe { product(structure, rows, values.start(), x.start(), out.start()) };
    })?;
    finished(OP, p.shape, out, values.narrow)
}

/// Like [`csc_matmul`], without the context of a call.
pub fn csc_product(
    values: View<'_>,
    indices: View<'_>,
    indptr: View<'_>,
    x: View<'_>,
    rows: usize,
) -> Result<RawArray> {
    const OP: &str = "csc_matmul";
    let p = rules::csc_product(OP, values.shape, indices.shape, indptr.shape, x.shape, rows, x.dtype.size())?;
    let (values, x) = (Dense::of(OP, values)?, Dense::of(OP, x)?);
    let structure = Structure::of(OP, indices, indptr, &p)?;
    structure.check_all(OP)?;
    let loops = loops(x.dtype);
    let n = p.columns * p.width;
    // Elements of different columns are added to the same rows. So the columns are divided into parts with separate
    // results, which are added up. The number of parts depends on the matrix, but not on the number of threads. If
    // there are many right-hand sides, these are divided instead, which needs no additions.
    let segments = if p.width >= 2 * SEGMENT { p.width.div_ceil(SEGMENT) } else { 1 };
    let work = p.stored.saturating_mul(p.width);
    let worth = (work / (n.saturating_mul(4).max(1))).min(work / CHEAP).clamp(1, MAX_PARTIAL_RESULTS);
    let parts = if segments > 1 { 1 } else { worth };
    let out = Buffer::zeroed(OP, n, x.dtype)?;
    let further = Buffer::zeroed(OP, n * (parts - 1), x.dtype)?;
    let grain = if segments * parts > 1 && work >= 2 * CHEAP { 1 } else { segments * parts };
    parallel(segments * parts, grain, |tasks| {
        for task in tasks {
            let (part, first) = (task / segments, task % segments * SEGMENT);
            let columns = if segments > 1 { first..p.width.min(first + SEGMENT) } else { 0..p.width };
            let at =
                if part == 0 { out.start() } else { further.start().wrapping_add((part - 1) * n * x.dtype.size()) };
            // SAFETY: there are as many values as indices, and all indices are less than the number of rows of the
            // result. Tasks write to different results, or to different columns.
            unsafe {
                (loops.csc)(&structure, structure.rows_of_part(part, parts), columns, values.start(), x.start(), at)
            };
        }
    });
    for part in 1..parts {
        parallel(n, CHEAP, |range| {
            let at = |start: *mut u8| start.wrapping_add(range.start * x.dtype.size());
            let from = further.start().wrapping_add((part - 1) * n * x.dtype.size());
            // SAFETY: the range is within the `n` elements of both buffers, and tasks write different ranges.
            unsafe { (loops.add)(at(out.start()), at(from), range.len()) };
        });
    }
    finished(OP, p.shape, out, values.narrow)
}

/// Like [`sampled_matmul`], without the context of a call.
pub fn sampled_product(indices: View<'_>, indptr: View<'_>, x1: View<'_>, x2: View<'_>) -> Result<RawArray> {
    const OP: &str = "sampled_matmul";
    let p = rules::sampled_product(OP, indices.shape, indptr.shape, x1.shape, x2.shape, x1.dtype.size())?;
    let (x1, x2) = (Dense::of(OP, x1)?, Dense::of(OP, x2)?);
    let structure = Structure::of(OP, indices, indptr, &p)?;
    let out = Buffer::new(OP, p.stored, x1.dtype)?;
    let product = loops(x1.dtype).sampled;
    structure.in_rows(OP, |structure, rows| {
        // SAFETY: `x1` has the rows of the matrix, and all indices are less than the number of rows of `x2`. Tasks
        // write the elements of different rows.
        unsafe { product(structure, rows, x1.start(), x2.start(), out.start()) };
    })?;
    finished(OP, p.shape, out, x1.narrow)
}

/// Returns the result in the dtype of the operands. 16-bit floats are rounded only here, once.
fn finished(op: &'static str, shape: Vec<usize>, elements: Buffer, narrow: Option<DType>) -> Result<RawArray> {
    let Some(dtype) = narrow else {
        // SAFETY: every row has been written.
        return unsafe { RawArray::new(op, shape, elements) };
    };
    let out = Buffer::new(op, elements.len(), dtype)?;
    // SAFETY: both buffers have the same number of elements.
    unsafe { super::convert_all(&elements, &out) };
    // SAFETY: every element has been converted.
    unsafe { RawArray::new(op, shape, out) }
}

/// The elements of an array in C order, in the dtype of computation.
struct Dense<'a> {
    elements: Packed<'a>,
    dtype: DType,
    /// The dtype of the array, if the dtype of computation differs from it.
    narrow: Option<DType>,
}

impl<'a> Dense<'a> {
    fn of(op: &'static str, x: View<'a>) -> Result<Dense<'a>> {
        let dtype = computed_in(x.dtype);
        let elements = if is_half(x.dtype) { Packed::Owned(converted(op, x, dtype)?) } else { copy::pack(op, x)? };
        Ok(Dense { elements, dtype, narrow: is_half(x.dtype).then_some(x.dtype) })
    }

    fn start(&self) -> *const u8 {
        self.elements.start()
    }
}

// SAFETY: the elements are only read.
unsafe impl Sync for Dense<'_> {}

/// Number of right-hand sides of one task of a product with a CSC matrix, if there are many right-hand sides.
const SEGMENT: usize = 8;

/// Maximum number of partial results of a product with a CSC matrix. The partial results are added up at the end.
const MAX_PARTIAL_RESULTS: usize = 8;

/// Approximate number of multiplications per task, for tasks that are ranges of rows.
const TASK: usize = 1 << 14;

/// Maximum number of indices that are checked at a time, before the loop uses them. A longer row is checked as a whole.
const LOOK: usize = 1 << 11;

/// The index arrays of a CSR matrix. A CSC matrix has the same structure, with its columns in place of the rows. The
/// pointers (`indptr`) ascend from 0 to the number of indices.
struct Structure<'a> {
    indices: Packed<'a>,
    indptr: Packed<'a>,
    shape: &'a Compressed,
}

// SAFETY: the indices are only read.
unsafe impl Sync for Structure<'_> {}

versions! {
    /// Returns whether the entries of `indptr` (`pointers`) are non-negative and ascend. The test has no branches: an
    /// entry that fails sets the sign bit of `bad`.
    unsafe fn ascending[][](pointers: &[i64]) -> bool {
        let mut bad = 0;
        for i in 1..pointers.len() {
            bad |= pointers[i] | pointers[i].wrapping_sub(pointers[i - 1]);
        }
        bad >= 0
    }

    /// Returns whether all indices are from 0 to `len` - 1.
    unsafe fn within[][](indices: &[i64], len: usize) -> bool {
        let last = len as i64 - 1;
        let mut bad = 0;
        for &i in indices {
            bad |= i | last.wrapping_sub(i);
        }
        bad >= 0
    }
}

impl<'a> Structure<'a> {
    fn of(op: &'static str, indices: View<'a>, indptr: View<'a>, shape: &'a Compressed) -> Result<Structure<'a>> {
        let structure = Structure { indices: copy::pack(op, indices)?, indptr: copy::pack(op, indptr)?, shape };
        let pointers = structure.indptr();
        let ends = [pointers.first(), pointers.last()];
        // SAFETY: the loop has no preconditions.
        if ends != [Some(&0), Some(&(shape.stored as i64))] || !unsafe { ascending(pointers) } {
            return Err(rules::bad_pointers(op, shape.stored));
        }
        Ok(structure)
    }

    fn indices(&self) -> &[i64] {
        // SAFETY: the packed copy has `stored` indices.
        unsafe { self.indices.slice::<i64>(self.shape.stored) }
    }

    fn indptr(&self) -> &[i64] {
        // SAFETY: the packed copy has one pointer more than the matrix has rows.
        unsafe { self.indptr.slice::<i64>(self.shape.rows + 1) }
    }

    /// Returns the range of the elements of consecutive rows.
    fn elements(&self, rows: Range<usize>) -> Range<usize> {
        let pointers = self.indptr();
        pointers[rows.start] as usize..pointers[rows.end] as usize
    }

    /// Returns the first row that begins at or after position `place`. Each row occupies one position for itself and
    /// one position for each of its elements.
    fn row_at(&self, place: usize) -> usize {
        let pointers = self.indptr();
        let (mut low, mut high) = (0, self.shape.rows);
        while low < high {
            let middle = low + (high - low) / 2;
            if pointers[middle] as usize + middle < place { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Returns the rows of part number `part`, if the rows are divided into `parts` parts of about the same number of
    /// elements.
    fn rows_of_part(&self, part: usize, parts: usize) -> Range<usize> {
        let places = (self.shape.stored + self.shape.rows) as u128;
        let at = |part: usize| {
            if part == parts { self.shape.rows } else { self.row_at((places * part as u128 / parts as u128) as usize) }
        };
        at(part)..at(part + 1)
    }

    /// Runs `f` on ranges that cover all rows, after checking the indices of each range. Uses several threads if that
    /// saves time.
    fn in_rows(&self, op: &'static str, f: impl Fn(&Structure<'_>, Range<usize>) + Sync) -> Result<()> {
        let work = (self.shape.stored + self.shape.rows).saturating_mul(self.shape.width);
        let tasks = work.div_ceil(TASK).clamp(1, self.shape.rows.max(1));
        let outside = AtomicBool::new(false);
        let (indices, pointers) = (self.indices(), self.indptr());
        parallel(tasks, 2, |range| {
            for task in range {
                let rows = self.rows_of_part(task, tasks);
                let mut first = rows.start;
                while first < rows.end {
                    // a range consists of whole rows, at least one
                    let most = pointers[first].saturating_add(LOOK as i64);
                    let last = rows.end.min(first + LOOK);
                    let end = first + 1 + pointers[first + 2..=last.max(first + 1)].partition_point(|&end| end <= most);
                    // SAFETY: the loop has no preconditions.
                    if !unsafe { within(&indices[self.elements(first..end)], self.shape.columns) } {
                        outside.store(true, Ordering::Relaxed);
                        return;
                    }
                    f(self, first..end);
                    first = end;
                }
            }
        });
        if outside.into_inner() { self.check_all(op) } else { Ok(()) }
    }

    /// Returns an error that names the first index out of range, if there is one.
    fn check_all(&self, op: &'static str) -> Result<()> {
        let (indices, len) = (self.indices(), self.shape.columns);
        // SAFETY: the loop has no preconditions.
        if unsafe { within(indices, len) } {
            return Ok(());
        }
        let index = indices.iter().copied().find(|&i| i < 0 || i as usize >= len).unwrap_or_default();
        Err(Error::index(op, index, 0, len))
    }
}

/// The loops of one dtype. Arrays must be in C order, and the indices and the entries of `indptr` must have been
/// checked.
struct Loops {
    csr: unsafe fn(&Structure<'_>, rows: Range<usize>, values: *const u8, x: *const u8, out: *mut u8),
    csc: unsafe fn(
        &Structure<'_>,
        rows: Range<usize>,
        columns: Range<usize>,
        values: *const u8,
        x: *const u8,
        out: *mut u8,
    ),
    sampled: unsafe fn(&Structure<'_>, rows: Range<usize>, x1: *const u8, x2: *const u8, out: *mut u8),
    add: unsafe fn(to: *mut u8, from: *const u8, n: usize),
}

/// Chooses the loops for a dtype. Signed and unsigned integers share loops, because their products have the same bits.
#[inline(never)] // not inlined into calling crates, which would compile all these loops again
fn loops(dtype: DType) -> Loops {
    fn of<T: Numeric>() -> Loops {
        Loops { csr: csr::<T>, csc: csc::<T>, sampled: sampled::<T>, add: add::<T> }
    }
    use backend_core::dtype::Arithmetic::*;
    match dtype.arithmetic() {
        UInt8 => of::<u8>(),
        UInt16 => of::<u16>(),
        UInt32 => of::<u32>(),
        UInt64 => of::<u64>(),
        Float16 | BFloat16 | Float32 => of::<f32>(),
        Float64 => of::<f64>(),
        Complex64 => of::<Complex<f32>>(),
        Complex128 => of::<Complex<f64>>(),
    }
}

versions! {
    /// Computes rows of a product with a CSR matrix.
    unsafe fn csr[T: Numeric][T](s: &Structure<'_>, rows: Range<usize>, values: *const u8, x: *const u8, out: *mut u8) {
        let (values, x, out) = (values.cast::<T>(), x.cast::<T>(), out.cast::<T>());
        let (indices, pointers, width) = (s.indices().as_ptr(), s.indptr(), s.shape.width);
        for row in rows {
            let elements = pointers[row] as usize..pointers[row + 1] as usize;
            // SAFETY: the caller guarantees that the elements belong to the matrix, that their indices are rows of `x`,
            // and that the row belongs to the result.
            unsafe {
                if width == 1 {
                    *out.add(row) = dot(values, indices, elements, x);
                    continue;
                }
                let to = out.add(row * width);
                let mut first = 0;
                while first + 8 <= width {
                    combined::<T, 8>(values, indices, elements.clone(), x.add(first), width, to.add(first));
                    first += 8;
                }
                if first + 4 <= width {
                    combined::<T, 4>(values, indices, elements.clone(), x.add(first), width, to.add(first));
                    first += 4;
                }
                if first + 2 <= width {
                    combined::<T, 2>(values, indices, elements.clone(), x.add(first), width, to.add(first));
                    first += 2;
                }
                if first < width {
                    combined::<T, 1>(values, indices, elements, x.add(first), width, to.add(first));
                }
            }
        }
    }

    /// Adds multiples of the columns of a CSC matrix, which are the rows of `s`, to the result. Row `j` of `x` has the
    /// factors of column `j`.
    unsafe fn csc[T: Numeric][T](
        s: &Structure<'_>,
        rows: Range<usize>,
        columns: Range<usize>,
        values: *const u8,
        x: *const u8,
        out: *mut u8,
    ) {
        let (values, x, out) = (values.cast::<T>(), x.cast::<T>(), out.cast::<T>());
        let (indices, pointers, width) = (s.indices().as_ptr(), s.indptr(), s.shape.width);
        for row in rows {
            let elements = pointers[row] as usize..pointers[row + 1] as usize;
            // SAFETY: the caller guarantees that the elements belong to the matrix, that their indices are rows of the
            // result, and that `row` is a row of `x`.
            unsafe {
                let from = x.add(row * width);
                let mut first = columns.start;
                while first + 8 <= columns.end {
                    spread::<T, 8>(values, indices, elements.clone(), from.add(first), width, out.add(first));
                    first += 8;
                }
                if first + 4 <= columns.end {
                    spread::<T, 4>(values, indices, elements.clone(), from.add(first), width, out.add(first));
                    first += 4;
                }
                if first + 2 <= columns.end {
                    spread::<T, 2>(values, indices, elements.clone(), from.add(first), width, out.add(first));
                    first += 2;
                }
                if first < columns.end {
                    spread::<T, 1>(values, indices, elements, from.add(first), width, out.add(first));
                }
            }
        }
    }

    /// Computes the elements of a product of dense matrices at the positions of the sparse matrix's elements, for a
    /// range of rows.
    unsafe fn sampled[T: Numeric][T](s: &Structure<'_>, rows: Range<usize>, x1: *const u8, x2: *const u8, out: *mut u8) {
        let (x1, x2, out) = (x1.cast::<T>(), x2.cast::<T>(), out.cast::<T>());
        let (indices, pointers, width) = (s.indices().as_ptr(), s.indptr(), s.shape.width);
        for row in rows {
            // SAFETY: the caller guarantees that `row` is a row of `x1`, that the elements belong to the matrix, and
            // that their indices are rows of `x2`.
            unsafe {
                let left = x1.add(row * width);
                for k in pointers[row] as usize..pointers[row + 1] as usize {
                    let right = x2.add(*indices.add(k) as usize * width);
                    *out.add(k) = if width == 1 { (*left).times(*right) } else { inner(left, right, width) };
                }
            }
        }
    }

    /// Adds `n` elements to the elements at `to`.
    unsafe fn add[T: Numeric][T](to: *mut u8, from: *const u8, n: usize) {
        let (to, from) = (to.cast::<T>(), from.cast::<T>());
        for i in 0..n {
            // SAFETY: both have `n` elements.
            unsafe { *to.add(i) = (*to.add(i)).plus(*from.add(i)) };
        }
    }
}

/// Returns the sum of the elements of a sparse row, each multiplied by the element of `x` at its index. There are four
/// separate partial sums, so that an addition does not wait for the one before it.
///
/// # Safety
/// The elements must have values and indices, and the indices must be within `x`.
#[inline(always)]
unsafe fn dot<T: Numeric>(values: *const T, indices: *const i64, elements: Range<usize>, x: *const T) -> T {
    // SAFETY: the caller guarantees values and indices for these elements.
    let term = |k: usize| unsafe { (*values.add(k)).times(*x.add(*indices.add(k) as usize)) };
    let (mut k, end) = (elements.start, elements.end);
    let mut sums = [T::ZERO; 4];
    while k + 4 <= end {
        for (i, sum) in sums.iter_mut().enumerate() {
            *sum = sum.plus(term(k + i));
        }
        k += 4;
    }
    let mut sum = sums[0].plus(sums[1]).plus(sums[2].plus(sums[3]));
    while k < end {
        sum = sum.plus(term(k));
        k += 1;
    }
    sum
}

/// Writes `W` columns of one row of the result. This row is the sum of the rows of `x` at the elements' indices, each
/// multiplied by the element's value.
///
/// # Safety
/// The elements must have values, and indices that are rows of `x`. From `x` on, rows must have `W` elements, at
/// distances of `width`. `to` must have room for `W` elements.
#[inline(always)]
unsafe fn combined<T: Numeric, const W: usize>(
    values: *const T,
    indices: *const i64,
    elements: Range<usize>,
    x: *const T,
    width: usize,
    to: *mut T,
) {
    let mut sums = [T::ZERO; W];
    for k in elements {
        // SAFETY: the caller guarantees the elements and the rows of `x`.
        unsafe {
            let (value, from) = (*values.add(k), x.add(*indices.add(k) as usize * width));
            for (c, sum) in sums.iter_mut().enumerate() {
                *sum = sum.plus(value.times(*from.add(c)));
            }
        }
    }
    for (c, sum) in sums.into_iter().enumerate() {
        // SAFETY: the caller guarantees room for `W` results.
        unsafe { *to.add(c) = sum };
    }
}

/// Multiplies the `W` elements at `from`, which are part of a row of `x`, by the value of each sparse element. Adds
/// each product to the row of `out` at the sparse element's index.
///
/// # Safety
/// The elements must have values, and indices that are rows of `out`. From `out` on, rows must have `W` elements, at
/// distances of `width`. `from` must have `W` elements.
#[inline(always)]
unsafe fn spread<T: Numeric, const W: usize>(
    values: *const T,
    indices: *const i64,
    elements: Range<usize>,
    from: *const T,
    width: usize,
    out: *mut T,
) {
    // SAFETY: the caller guarantees `W` elements at `from`.
    let factors: [T; W] = std::array::from_fn(|c| unsafe { *from.add(c) });
    for k in elements {
        // SAFETY: the caller guarantees the elements and the rows of `out`.
        unsafe {
            let (value, to) = (*values.add(k), out.add(*indices.add(k) as usize * width));
            let sums: [T; W] = std::array::from_fn(|c| (*to.add(c)).plus(value.times(factors[c])));
            for (c, sum) in sums.into_iter().enumerate() {
                *to.add(c) = sum;
            }
        }
    }
}

/// The inner product of two vectors of `n` elements.
///
/// # Safety
/// `left` and `right` must have `n` elements.
#[inline(always)]
unsafe fn inner<T: Numeric>(left: *const T, right: *const T, n: usize) -> T {
    const LANES: usize = 8;
    // SAFETY: the caller guarantees `n` elements in both vectors.
    let term = |i: usize| unsafe { (*left.add(i)).times(*right.add(i)) };
    let mut sums = [T::ZERO; LANES];
    let mut i = 0;
    while i + LANES <= n {
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum = sum.plus(term(i + lane));
        }
        i += LANES;
    }
    let mut sum = T::ZERO;
    for part in sums {
        sum = sum.plus(part);
    }
    while i < n {
        sum = sum.plus(term(i));
        i += 1;
    }
    sum
}

/// The ops over arrays with a static dtype, for tests. The tests use int64 for the values too, so all arrays have one
/// dtype.
#[cfg(test)]
mod typed {
    use crate::linalg;

    backend_core::typed_ops! { linalg:
        csr_matmul<T: Numeric>(values, indices, indptr, x;) -> T;
        csc_matmul<T: Numeric>(values, indices, indptr, x; rows: usize) -> T;
        sampled_matmul<T: Numeric>(indices, indptr, x1, x2;) -> T;
    }
}

#[cfg(test)]
mod tests {
    use super::{
        typed::{csc_matmul, csr_matmul, sampled_matmul},
        *,
    };
    use backend_core::numpyish::{NdArray, Numpyish, raw::view, testing::Dice, testing::array};

    const B: Numpyish = Numpyish::new();

    /// A matrix that is large enough for several threads. It has rows of many lengths, some empty, and one row with a
    /// third of all elements.
    struct Large {
        values: Vec<i64>,
        indices: Vec<i64>,
        indptr: Vec<i64>,
        columns: usize,
    }

    impl Large {
        fn new(columns: usize) -> Large {
            let mut dice = Dice(7);
            let mut indptr = vec![0];
            for row in 0..20_000 {
                let len = if row == 1234 { 100_000 } else { dice.below(20) };
                indptr.push(indptr[row] + len as i64);
            }
            let stored = indptr[20_000] as usize;
            let mut below = |n: usize| dice.below(n) as i64;
            let values = (0..stored).map(|_| below(100) - 50).collect();
            let indices = (0..stored).map(|_| below(columns)).collect();
            Large { values, indices, indptr, columns }
        }

        /// Calls `f` for each element with its index, row, column and value.
        fn each(&self, mut f: impl FnMut(usize, usize, usize, i64)) {
            for row in 0..self.indptr.len() - 1 {
                for k in self.indptr[row] as usize..self.indptr[row + 1] as usize {
                    f(k, row, self.indices[k] as usize, self.values[k]);
                }
            }
        }

        fn arrays(&self) -> [NdArray<i64>; 3] {
            let of = |x: &Vec<i64>| array("test", &[x.len()], x.clone()).unwrap();
            [of(&self.values), of(&self.indices), of(&self.indptr)]
        }
    }

    fn numbers(rows: usize, width: usize) -> Vec<i64> {
        (0..rows * width).map(|i| (i as i64).wrapping_mul(37) % 101 - 50).collect()
    }

    fn list(x: NdArray<i64>) -> Vec<i64> {
        x.iter().copied().collect()
    }

    #[test]
    fn large_matrices_on_several_threads() {
        for columns in [500, 30_000] {
            let a = Large::new(columns);
            let rows = a.indptr.len() - 1;
            let [values, indices, indptr] = a.arrays();
            for width in [1, 3, 15, 20] {
                let (x, y) = (numbers(a.columns, width), numbers(rows, width));
                let (mut there, mut back) = (vec![0; rows * width], vec![0; a.columns * width]);
                let mut sampled = vec![0; a.values.len()];
                a.each(|k, row, column, value| {
                    for c in 0..width {
                        there[row * width + c] += value * x[column * width + c];
                        back[column * width + c] += value * y[row * width + c];
                        sampled[k] += y[row * width + c] * x[column * width + c];
                    }
                });
                let x = array("test", &[a.columns, width], x).unwrap();
                let y = array("test", &[rows, width], y).unwrap();
                assert_eq!(list(csr_matmul(&B, &values, &indices, &indptr, &x).unwrap()), there);
                assert_eq!(list(csc_matmul(&B, &values, &indices, &indptr, &y, a.columns).unwrap()), back);
                assert_eq!(list(sampled_matmul(&B, &indices, &indptr, &y, &x).unwrap()), sampled);
            }
        }
    }

    #[test]
    fn the_first_index_outside_is_named_wherever_it_is() {
        for (place, second) in [(5, 7), (150_000, 150_001), (0, 200_000)] {
            let mut a = Large::new(500);
            (a.indices[place], a.indices[second]) = (500, -1);
            let [values, indices, indptr] = a.arrays();
            let x = array("test", &[500], numbers(500, 1)).unwrap();
            let y = array("test", &[20_000], numbers(20_000, 1)).unwrap();
            let error = |op| Err(Error::index(op, 500, 0, 500));
            assert_eq!(csr_matmul(&B, &values, &indices, &indptr, &x), error("csr_matmul"));
            assert_eq!(csc_matmul(&B, &values, &indices, &indptr, &y, 500), error("csc_matmul"));
            assert_eq!(sampled_matmul(&B, &indices, &indptr, &y, &x), error("sampled_matmul"));
        }
    }

    #[test]
    fn pointers_that_do_not_ascend() {
        let (values, indices) = (array("test", &[2], vec![1, 2]).unwrap(), array("test", &[2], vec![0, 1]).unwrap());
        let x = array("test", &[2], vec![3, 4]).unwrap();
        for bad in [[0, 3, 2], [0, 1, 1], [1, 1, 2], [0, -1, 2], [0, i64::MIN, 2], [0, i64::MAX, 2], [-1, 0, 2]] {
            let indptr = array("test", &[3], bad.to_vec()).unwrap();
            let found = csr_matmul(&B, &values, &indices, &indptr, &x);
            assert_eq!(found, Err(rules::bad_pointers("csr_matmul", 2)), "{bad:?}");
        }
    }

    #[test]
    fn tasks_are_all_rows() {
        let a = Large::new(500);
        let [_, indices, indptr] = a.arrays();
        let shape = Compressed { rows: 20_000, columns: 500, stored: a.values.len(), width: 1, shape: vec![] };
        let structure = Structure::of("test", view(&indices), view(&indptr), &shape).unwrap();
        for parts in [1, 2, 7, 20_000] {
            let mut next = 0;
            for part in 0..parts {
                let rows = structure.rows_of_part(part, parts);
                assert_eq!(rows.start, next);
                next = rows.end;
            }
            assert_eq!(next, 20_000);
        }
    }
}
