//! LU factorizations of one matrix at a time. The results have the same bits as in `stacked`.
//!
//! A room holds the rows of the matrix and of the right-hand sides, each padded with zeros to blocks of eight elements.

use super::{
    lanes::{AlignedVector, Vector, WIDTH},
    stacked::subtract,
};
use crate::scale::is_extreme;

/// Number of blocks of `n` elements.
pub const fn blocks(n: usize) -> usize {
    n.div_ceil(WIDTH)
}

/// Element `j` of a row.
#[inline(always)]
fn element(row: &[AlignedVector], j: usize) -> f64 {
    row[j / WIDTH].0[j % WIDTH]
}

/// Eliminates the elements below the diagonal of a matrix, in `n` rows of `w` blocks. Afterwards the elements above the
/// diagonal belong to the upper factor. Returns the sign of the permutation of the rows, or `None` if a pivot is 0.
#[inline(always)]
pub fn eliminate<V: Vector>(a: &mut [AlignedVector], n: usize, w: usize) -> Option<f64> {
    let mut sign = 1.0;
    for k in 0..n {
        let (mut largest, mut place) = (0.0, k);
        for (i, row) in a.chunks_exact(w).enumerate().take(n).skip(k) {
            let x = element(row, k).abs();
            if x > largest {
                (largest, place) = (x, i);
            }
        }
        if largest == 0.0 {
            return None;
        }
        let (upper, lower) = a[..n * w].split_at_mut((k + 1) * w);
        let row = &mut upper[k * w..];
        if place != k {
            sign = -sign;
            row[k / WIDTH..].swap_with_slice(&mut lower[(place - k - 1) * w..][k / WIDTH..w]);
        }
        let pivot = element(row, k);
        // in the first block, elements that are not read again may change too
        let from = (k + 1) / WIDTH;
        for other in lower.chunks_exact_mut(w) {
            let factor = V::splat(element(other, k) / pivot);
            subtract(&mut other[from..], factor, &row[from..]);
        }
    }
    Some(sign)
}

/// Solves the triangular system that the elimination leaves. Overwrites the right-hand sides with the solutions.
#[inline(always)]
pub fn substitute<V: Vector>(a: &mut [AlignedVector], n: usize, w: usize) {
    for i in (0..n).rev() {
        let (upper, lower) = a[..n * w].split_at_mut((i + 1) * w);
        let (of_a, of_b) = upper[i * w..].split_at_mut(blocks(n));
        let pivot = V::splat(element(of_a, i));
        for (c, x) in of_b.iter_mut().enumerate() {
            let mut sum = V::load(x);
            for (p, solved) in (i + 1..n).zip(lower.chunks_exact(w)) {
                sum = sum.minus_product(V::splat(element(of_a, p)), V::load(&solved[blocks(n) + c]));
            }
            sum.over(pivot).store(x);
        }
    }
}

/// The elements on the diagonal.
#[inline(always)]
pub fn pivots(a: &[AlignedVector], n: usize, w: usize) -> impl Iterator<Item = f64> + Clone {
    a.chunks_exact(w).take(n).enumerate().map(|(i, row)| element(row, i))
}

/// Returns whether an element of a matrix needs scaling, or is infinite or NaN.
#[inline(always)]
pub fn has_extremes(a: &[f64]) -> bool {
    a.iter().fold(false, |extreme, x| extreme | is_extreme(x.abs()))
}

/// Copies a matrix of `n` rows, stored column by column, to the blocks from `start` on of rows of `w` blocks. Fills the
/// last block with zeros.
#[inline(always)]
pub fn load(a: &mut [AlignedVector], from: &[f64], [n, columns]: [usize; 2], w: usize, start: usize) {
    for (i, row) in a.chunks_exact_mut(w).enumerate().take(n) {
        for (block, to) in row[start..][..blocks(columns)].iter_mut().enumerate() {
            *to = AlignedVector::ZERO;
            let first = block * WIDTH;
            for (x, j) in to.0.iter_mut().zip(first..columns) {
                *x = from[j * n + i];
            }
        }
    }
}

/// The inverse of [`load`].
#[inline(always)]
pub fn store(a: &[AlignedVector], to: &mut [f64], n: usize, w: usize, start: usize) {
    for (j, column) in to.chunks_exact_mut(n).enumerate() {
        for (x, row) in column.iter_mut().zip(a.chunks_exact(w)) {
            *x = element(&row[start..], j);
        }
    }
}
