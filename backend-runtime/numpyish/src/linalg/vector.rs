//! Products of a matrix and a vector. They read every element of the matrix only once, so their speed is limited by
//! memory. Threads divide the rows of the matrix or, if there are few rows, blocks of the vector.
//!
//! Each element of the result is computed independently of the others: a sum is computed for each block of the
//! vector, and these sums are added in order. So the element has the same bits on any number of threads.

use super::{
    super::{
        buffer,
        parallel::{self, CHEAP},
        simd::versions,
    },
    Matrix,
};
use backend_core::{Numeric, rules::Product, threads};
use std::{array::from_fn, hint::black_box, mem::MaybeUninit, ops::Range, slice};

/// Number of partial sums that are computed in parallel for a row.
const LANES: usize = 32;

/// Number of elements of a block of the vector, if the rows of the matrix are contiguous. These elements stay in the
/// L1 cache. The products of a block are summed first, and this sum is then added to the sum of the earlier blocks.
const BLOCK: usize = 2048;

/// Number of elements of a block of the vector, if the columns of the matrix are contiguous. It is so small that
/// there are enough blocks for all threads. The product with a block adds whole columns, which are multiplied by the
/// block's elements.
const COLUMNS: usize = 256;

/// Number of results that are computed together, if the columns of the matrix are contiguous. The sums of these
/// results stay in the L1 cache.
const ROWS: usize = 1024;

/// Maximum length of a row for which [`LANES`] partial sums are too many. Several such rows are summed at a time. The
/// last block of a long row may be that short, too.
const SHORT: usize = 128;

/// Number of short rows that are summed at a time. Each of these rows has as many partial sums.
const TOGETHER: usize = 8;

/// Minimum number of results per task, so that each task writes whole cache lines.
const GROUP: usize = 64;

/// The matrix and the vector of a product. Returns `None` if neither operand is a vector, if the vector is not
/// contiguous, or if the matrix is contiguous along neither axis. A row times a matrix becomes the transposed matrix
/// times a column.
pub(super) fn operands<T>(a: Matrix, b: Matrix, shape: &Product) -> Option<(Matrix, *const T, [usize; 2])> {
    let (matrix, vector, stride, rows) = match (shape.rows, shape.columns) {
        (rows, 1) => (a, b.start, b.row, rows),
        (1, columns) => (Matrix { start: b.start, row: b.column, column: b.row }, a.start, a.column, columns),
        _ => return None,
    };
    let lies_together = stride == 1 && (matrix.column == 1 || matrix.row == 1);
    lies_together.then_some((matrix, vector.cast(), [rows, shape.inner]))
}

/// Writes the product of a matrix and a vector. If `alone`, several threads may share the product.
///
/// # Safety
/// `a` and `x` must come from [`operands`]. The matrix must have `rows` rows and `inner` columns, and the vector must
/// have `inner` elements. `to` must have room for `rows` results, which nobody else writes.
pub(super) unsafe fn product<T: Numeric>(to: *mut T, a: Matrix, x: *const T, [rows, inner]: [usize; 2], alone: bool) {
    let all = Operands { a, x, inner };
    let groups = rows.div_ceil(GROUP);
    // Tasks divide the rows, with two exceptions: too few rows for all threads, and so few cache lines of each column
    // per task that reading them is slow.
    let threads = threads::count();
    let few = threads * if a.column == 1 { 2 * GROUP } else { 4 * ROWS };
    let shares = threads > 1 && rows < few && all.blocks() >= 4 * threads;
    if alone && shares && rows * inner >= 2 * CHEAP {
        // SAFETY: the caller guarantees the operands and enough room.
        let done = unsafe { by_blocks(&all, to, rows) };
        if done {
            return;
        }
    }
    let grain = if alone { (CHEAP / (GROUP * inner)).max(1) } else { groups };
    let ends = Ends { all, to };
    parallel::parallel(groups, grain, |range| {
        let Ends { all, to } = &ends;
        let rows = range.start * GROUP..rows.min(range.end * GROUP);
        for block in 0..all.blocks() {
            // SAFETY: these rows of the matrix, and their results, belong to this task.
            unsafe { all.sum(block, rows.clone(), to.add(rows.start), block > 0) };
        }
    });
}

/// Like [`product`], for few rows. Tasks divide the blocks of the vector, and the sums of the blocks are then added in
/// order. Returns false, and changes nothing, if there is no memory for the sums.
///
/// # Safety
/// The conditions of [`product`] hold.
unsafe fn by_blocks<T: Numeric>(all: &Operands<T>, to: *mut T, rows: usize) -> bool {
    let blocks = all.blocks();
    let Ok(mut sums) = buffer::vec::<T>("matmul", blocks * rows) else { return false };
    let ends = Ends { all: *all, to: sums.as_mut_ptr() };
    parallel::parallel(blocks, (CHEAP / (all.block() * rows)).max(1), |range| {
        let Ends { all, to } = &ends;
        for block in range {
            // SAFETY: the rows belong to the matrix, and the sums of a block belong to one task.
            unsafe { all.sum(block, 0..rows, to.add(block * rows), false) };
        }
    });
    let results = Ends { all: *all, to };
    parallel::parallel(rows, (CHEAP / blocks).max(1), |range| {
        let (Ends { to, .. }, Ends { to: sums, .. }) = (&results, &ends);
        for block in 0..blocks {
            // SAFETY: the sums of all blocks have been written, and the results belong to this task.
            unsafe { put(to.add(range.start), sums.add(block * rows + range.start), range.len(), block > 0) };
        }
    });
    true
}

/// The operands of a product.
#[derive(Clone, Copy)]
struct Operands<T> {
    a: Matrix,
    x: *const T,
    /// Number of elements of the vector.
    inner: usize,
}

impl<T: Numeric> Operands<T> {
    /// Number of elements of the vector in a block.
    fn block(&self) -> usize {
        if self.a.column == 1 { BLOCK } else { COLUMNS }
    }

    fn blocks(&self) -> usize {
        self.inner.div_ceil(self.block())
    }

    /// Writes the inner products of these rows with a block of the vector, or adds them to `to` if `adds`.
    ///
    /// # Safety
    /// The rows must belong to the matrix, and `to` must have room for as many results, which nobody else writes. If
    /// `adds`, these results must have been written before.
    unsafe fn sum(&self, block: usize, rows: Range<usize>, to: *mut T, adds: bool) {
        let (Operands { a, x, inner }, first) = (*self, block * self.block());
        let n = self.block().min(inner - first);
        let start = a.start.cast::<T>().wrapping_offset(rows.start as isize * a.row + first as isize * a.column);
        // SAFETY: the caller guarantees the rows, the vector and the results.
        unsafe {
            let x = x.add(first);
            match a.column {
                1 => along_rows(start, a.row, x, to, rows.len(), n, adds),
                column => along_columns(start, column, x, to, rows.len(), n, adds),
            }
        }
    }
}

/// The operands and the output that the tasks of a product share.
struct Ends<T> {
    all: Operands<T>,
    to: *mut T,
}

// SAFETY: tasks read shared elements, but write different elements.
unsafe impl<T> Sync for Ends<T> {}

/// Writes `n` values, or adds them to the values at `to` if `adds`.
///
/// # Safety
/// `to` and `from` must be valid for `n` elements. The elements of `from` must be initialized. If `adds`, so must the
/// elements of `to`.
#[inline(always)]
unsafe fn put<T: Numeric>(to: *mut T, from: *const T, n: usize, adds: bool) {
    for i in 0..n {
        // SAFETY: the caller guarantees `n` elements at both addresses.
        unsafe { *to.add(i) = if adds { (*to.add(i)).plus(*from.add(i)) } else { *from.add(i) } };
    }
}

versions! {
    /// Multiplies `n` elements of each row by `n` elements of the vector, and sums the products. The rows are
    /// contiguous, and begin `row` elements apart.
    unsafe fn along_rows[T: Numeric][T](a: *const T, row: isize, x: *const T, to: *mut T, rows: usize, n: usize, adds: bool) {
        // SAFETY: the caller guarantees the rows, the vector and the results.
        unsafe {
            if n <= SHORT {
                let many = rows / TOGETHER * TOGETHER;
                for i in (0..many).step_by(TOGETHER) {
                    let sums = short::<T, TOGETHER>(a.offset(i as isize * row), row, x, n);
                    put(to.add(i), sums.as_ptr(), TOGETHER, adds);
                }
                for i in many..rows {
                    put(to.add(i), short::<T, 1>(a.offset(i as isize * row), row, x, n).as_ptr(), 1, adds);
                }
                return;
            }
            for i in 0..rows {
                let sum = dot(slice::from_raw_parts(a.offset(i as isize * row), n), slice::from_raw_parts(x, n));
                put(to.add(i), &sum, 1, adds);
            }
        }
    }

    /// Multiplies each of `n` columns by an element of the vector, and adds these products. The columns are
    /// contiguous, and begin `column` elements apart. Each step of the inner loop adds elements of four columns, one
    /// after another.
    unsafe fn along_columns[T: Numeric][T](a: *const T, column: isize, x: *const T, to: *mut T, rows: usize, n: usize, adds: bool) {
        let fours = n / 4 * 4;
        let mut sums = [const { MaybeUninit::<T>::uninit() }; ROWS];
        let sums = sums.as_mut_ptr().cast::<T>();
        for first in (0..rows).step_by(ROWS) {
            let rows = ROWS.min(rows - first);
            // SAFETY: the caller guarantees the columns, the vector and the results.
            unsafe {
                let a = a.add(first);
                for i in 0..rows {
                    *sums.add(i) = T::ZERO;
                }
                for k in (0..fours).step_by(4) {
                    let columns: [*const T; 4] = from_fn(|j| a.offset((k + j) as isize * column));
                    let x = [*x.add(k), *x.add(k + 1), *x.add(k + 2), *x.add(k + 3)];
                    for i in 0..rows {
                        let sum = (*sums.add(i)).plus((*columns[0].add(i)).times(x[0]));
                        let sum = sum.plus((*columns[1].add(i)).times(x[1]));
                        let sum = sum.plus((*columns[2].add(i)).times(x[2]));
                        *sums.add(i) = sum.plus((*columns[3].add(i)).times(x[3]));
                    }
                }
                for k in fours..n {
                    let (column, x) = (a.offset(k as isize * column), *x.add(k));
                    for i in 0..rows {
                        *sums.add(i) = (*sums.add(i)).plus((*column.add(i)).times(x));
                    }
                }
                put(to.add(first), sums, rows, adds);
            }
        }
    }
}

/// The inner product of a row and a vector, with several partial sums in parallel.
#[inline(always)]
fn dot<T: Numeric>(a: &[T], x: &[T]) -> T {
    let mut sums = [T::ZERO; LANES];
    let (many, rest) = a.as_chunks::<LANES>();
    let (many_x, rest_x) = x.as_chunks::<LANES>();
    for (a, x) in many.iter().zip(many_x) {
        for j in 0..LANES {
            sums[j] = sums[j].plus(a[j].times(x[j]));
        }
    }
    // The sums go through memory. Otherwise the compiler would also use the short vectors of the code below in the loop
    // above.
    black_box(&mut sums);
    let mut half = LANES / 2;
    while half > 0 {
        for j in 0..half {
            sums[j] = sums[j].plus(sums[j + half]);
        }
        half /= 2;
    }
    rest.iter().zip(rest_x).fold(sums[0], |sum, (a, x)| sum.plus(a.times(*x)))
}

/// The inner products of `R` rows with a vector. The rows and the vector have `n` elements, and the rows begin `row`
/// elements apart.
///
/// # Safety
/// The rows and the vector must have `n` elements.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // rows and sums are indexed in the same way
unsafe fn short<T: Numeric, const R: usize>(a: *const T, row: isize, x: *const T, n: usize) -> [T; R] {
    let rows: [*const T; R] = from_fn(|r| a.wrapping_offset(r as isize * row));
    let mut own = [[T::ZERO; TOGETHER]; R];
    let whole = n / TOGETHER * TOGETHER;
    // SAFETY: the caller guarantees `n` elements in the vector and in each row.
    unsafe {
        for k in (0..whole).step_by(TOGETHER) {
            for r in 0..R {
                for j in 0..TOGETHER {
                    own[r][j] = own[r][j].plus((*rows[r].add(k + j)).times(*x.add(k + j)));
                }
            }
        }
        // sums the partial sums of all rows in parallel
        let mut sums: [[T; R]; TOGETHER] = from_fn(|j| from_fn(|r| own[r][j]));
        let mut half = TOGETHER / 2;
        while half > 0 {
            for j in 0..half {
                for r in 0..R {
                    sums[j][r] = sums[j][r].plus(sums[j + half][r]);
                }
            }
            half /= 2;
        }
        let mut sums = sums[0];
        for k in whole..n {
            for r in 0..R {
                sums[r] = sums[r].plus((*rows[r].add(k)).times(*x.add(k)));
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use crate::linalg::typed::matmul;
    use backend_core::numpyish::{
        Numpyish,
        testing::{counting, layouts},
    };
    use ndarray::{ArrayD, Axis, IxDyn};

    const B: Numpyish = Numpyish::new();

    /// An array of integers, whose products and sums are exact in any order.
    fn numbers(shape: &[usize]) -> ArrayD<f64> {
        counting::<f64>(shape).mapv(|i| (i * 7.0) % 23.0 - 11.0)
    }

    #[test]
    fn matrices_of_any_layout_times_vectors() {
        for (rows, inner) in
            [(1, 1), (3, 5), (2, 16), (5, 40), (67, 33), (1, 70), (130, 1), (3, 4099), (1030, 3), (1030, 260)]
        {
            let (a, x, y) = (numbers(&[rows, inner]), numbers(&[inner]), numbers(&[rows]));
            let dot = |axis: usize, k: usize, v: &ArrayD<f64>| -> f64 {
                a.index_axis(Axis(axis), k).iter().zip(v).map(|(a, v)| a * v).sum()
            };
            let ax = ArrayD::from_shape_fn(IxDyn(&[rows]), |k| dot(0, k[0], &x));
            let ya = ArrayD::from_shape_fn(IxDyn(&[inner]), |k| dot(1, k[0], &y));
            for a in layouts(&a) {
                for x in layouts(&x) {
                    assert_eq!(matmul(&B, &a, &x).unwrap(), ax);
                    assert_eq!(
                        matmul(&B, &a.mapv(|v| v as f32).into_shared(), &x.mapv(|v| v as f32).into_shared())
                            .unwrap()
                            .mapv(f64::from),
                        ax
                    );
                }
                for y in layouts(&y) {
                    assert_eq!(matmul(&B, &y, &a).unwrap(), ya);
                }
            }
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        // the shapes have few rows and several blocks of the vector, or a single row, or many rows
        let shapes = [[8, 18_500], [1, 150_000], [700, 1000], [200, 2100], [1500, 4100]];
        for [rows, inner] in shapes.into_iter().take(if cfg!(miri) { 1 } else { 5 }) {
            let a = numbers(&[rows, inner]).mapv(|v| v * 0.1).into_shared();
            let x = numbers(&[inner]).mapv(|v| v * 0.3).into_shared();
            let bits = |v: &backend_core::numpyish::NdArray<f64>| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            let t = a.t().as_standard_layout().reversed_axes().into_shared();
            let of = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| (bits(&matmul(&B, &a, &x).unwrap()), bits(&matmul(&B, &t, &x).unwrap())))
            };
            let one = of(1);
            for threads in [2, 5] {
                assert!(of(threads) == one, "{rows} x {inner} on {threads} threads");
            }
        }
    }
}
