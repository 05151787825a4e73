//! Products of a matrix and a vector, which read every element once: they wait for memory, and are split among threads by rows.
//!
//! Every element of the result is computed in an order of its own, which does not depend on the others, so that it has the same bits on any number of threads.

use super::{
    super::{
        parallel::{self, CHEAP},
        simd::versions,
    },
    Matrix,
};
use crate::{Numeric, rules::Product};
use std::{array::from_fn, hint::black_box, slice};

/// Running sums of a row.
const LANES: usize = 32;

/// Elements of a vector, or of a result, that stay in the first-level cache.
const BLOCK: usize = 2048;

/// Results that a task has at least: whole lines of the caches.
const GROUP: usize = 64;

/// The matrix that a product applies to a vector, and the vector, where it is one of these: a product with a row is that of the other matrix, transposed,
/// with a column. Neighbours of the vector and of the matrix, along one of its axes, have to lie together.
pub(super) fn operands<T>(a: Matrix, b: Matrix, shape: &Product) -> Option<(Matrix, *const T, [usize; 2])> {
    let (matrix, vector, stride, rows) = match (shape.rows, shape.columns) {
        (rows, 1) => (a, b.start, b.row, rows),
        (1, columns) => (Matrix { start: b.start, row: b.column, column: b.row }, a.start, a.column, columns),
        _ => return None,
    };
    let lies_together = stride == 1 && (matrix.column == 1 || matrix.row == 1);
    lies_together.then_some((matrix, vector.cast(), [rows, shape.inner]))
}

/// Writes the product of a matrix and a vector.
///
/// # Safety
/// The matrix has so many rows and columns, and is one that [`operands`] gave, as the vector is, which has as many elements as the matrix has columns; there is room for
/// as many results as it has rows, which nobody else writes.
pub(super) unsafe fn product<T: Numeric>(to: *mut T, a: Matrix, x: *const T, [rows, inner]: [usize; 2], alone: bool) {
    let ends = Ends { a, x, to };
    let groups = rows.div_ceil(GROUP);
    let grain = if alone { (CHEAP / (GROUP * inner)).max(1) } else { groups };
    parallel::parallel(groups, grain, |range| {
        let ends = &ends;
        let Ends { a, x, to } = *ends;
        let (first, end) = (range.start * GROUP, rows.min(range.end * GROUP));
        // SAFETY: rows of the matrix, and their results, which are those of one task.
        unsafe {
            let start = a.start.cast::<T>().wrapping_offset(first as isize * a.row);
            match a.column {
                1 => along_rows(start, a.row, x, to.add(first), end - first, inner),
                column => along_columns(start, column, x, to.add(first), end - first, inner),
            }
        }
    });
}

/// What the tasks of a product share.
#[derive(Clone, Copy)]
struct Ends<T> {
    a: Matrix,
    x: *const T,
    to: *mut T,
}

// SAFETY: tasks read shared elements, and write different ones.
unsafe impl<T> Sync for Ends<T> {}

versions! {
    /// Rows whose elements lie together, `row` apart: a block of the vector at a time, which stays in the first-level cache.
    unsafe fn along_rows[T: Numeric][T](a: *const T, row: isize, x: *const T, to: *mut T, rows: usize, inner: usize) {
        for first in (0..inner).step_by(BLOCK) {
            let n = BLOCK.min(inner - first);
            for i in 0..rows {
                // SAFETY: the caller's rows, vector and results.
                unsafe {
                    let a = a.offset(i as isize * row).add(first);
                    let sum = dot(slice::from_raw_parts(a, n), slice::from_raw_parts(x.add(first), n));
                    *to.add(i) = if first == 0 { sum } else { (*to.add(i)).plus(sum) };
                }
            }
        }
    }

    /// Columns whose elements lie together, `column` apart: four of them are added at a time, one after the other.
    unsafe fn along_columns[T: Numeric][T](a: *const T, column: isize, x: *const T, to: *mut T, rows: usize, inner: usize) {
        let fours = inner / 4 * 4;
        for first in (0..rows).step_by(BLOCK) {
            let n = BLOCK.min(rows - first);
            // SAFETY: the caller's columns, vector and results.
            unsafe {
                let (a, to) = (a.add(first), to.add(first));
                for i in 0..n {
                    *to.add(i) = T::ZERO;
                }
                for k in (0..fours).step_by(4) {
                    let columns: [*const T; 4] = from_fn(|j| a.offset((k + j) as isize * column));
                    let x = [*x.add(k), *x.add(k + 1), *x.add(k + 2), *x.add(k + 3)];
                    for i in 0..n {
                        let sum = (*to.add(i)).plus((*columns[0].add(i)).times(x[0]));
                        let sum = sum.plus((*columns[1].add(i)).times(x[1]));
                        let sum = sum.plus((*columns[2].add(i)).times(x[2]));
                        *to.add(i) = sum.plus((*columns[3].add(i)).times(x[3]));
                    }
                }
                for k in fours..inner {
                    let (column, x) = (a.offset(k as isize * column), *x.add(k));
                    for i in 0..n {
                        *to.add(i) = (*to.add(i)).plus((*column.add(i)).times(x));
                    }
                }
            }
        }
    }
}

/// The sum of the products of a row and a vector, in sums side by side.
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
    // in memory: the compiler would give the loop above the short vectors of what follows
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

#[cfg(test)]
mod tests {
    use crate::numpyish::{
        Numpyish,
        layout::tests::{counting, layouts},
        linalg::matmul,
    };
    use ndarray::{ArrayD, Axis, IxDyn};

    const B: Numpyish = Numpyish::new();

    /// Whole numbers, whose products and sums are exact in any order.
    fn numbers(shape: &[usize]) -> ArrayD<f64> {
        counting::<f64>(shape).mapv(|i| (i * 7.0) % 23.0 - 11.0)
    }

    #[test]
    fn matrices_of_any_layout_times_vectors() {
        for (rows, inner) in [(1, 1), (3, 5), (2, 16), (5, 40), (67, 33), (1, 70), (130, 1)] {
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
        let a = numbers(&[700, 1000]).mapv(|v| v * 0.1).into_shared();
        let x = numbers(&[1000]).mapv(|v| v * 0.3).into_shared();
        let bits = |v: &crate::numpyish::NdArray<f64>| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        let t = a.t().as_standard_layout().reversed_axes().into_shared();
        let of = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| (bits(&matmul(&B, &a, &x).unwrap()), bits(&matmul(&B, &t, &x).unwrap())))
        };
        let one = of(1);
        assert_eq!(of(2), one);
        assert_eq!(of(5), one);
    }
}
