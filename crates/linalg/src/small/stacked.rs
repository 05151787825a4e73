//! LU factorizations of eight matrices at a time: each lane has the elements of one matrix.
//!
//! The rows of a room hold the rows of the matrix, followed by the elements of the right-hand sides in this row. The
//! elimination therefore applies to the right-hand sides too, and only the back substitution remains to be done.
//!
//! Each element is the result of one chain of operations: the multiples of the pivot rows are subtracted in the order
//! of the pivots. The functions in `single` have the same chains.

use super::lanes::{AlignedVector, Mask, Vector, WIDTH};
use crate::{lu::PRODUCTS, scale::ORDINARY_RANGE};

/// Number of pivots whose rows are subtracted in one pass over the rest of the matrices.
const PANEL: usize = 4;

/// Result of the elimination in eight matrices.
pub struct Eliminated<V> {
    /// The sign of the permutation of the rows: 1 or -1.
    pub sign: V,
    /// One bit for each matrix, which is set if the matrix has a pivot of 0.
    pub singular: u8,
}

/// Number of rows: `N`, or `n` if `N` is 0.
#[inline(always)]
pub fn constant<const N: usize>(n: usize) -> usize {
    if N > 0 { N } else { n }
}

/// Subtracts `factor` times `y` from `x`.
#[inline(always)]
pub fn subtract<V: Vector>(x: &mut [AlignedVector], factor: V, y: &[AlignedVector]) {
    for (x, y) in x.iter_mut().zip(y) {
        V::load(x).minus_product(factor, V::load(y)).store(x);
    }
}

/// Eliminates the elements below the diagonal of eight matrices, in rows of `w` elements. Afterwards the elements above
/// the diagonal belong to the upper factor. After its first pivot of 0, a singular matrix has unspecified elements. `N`
/// is `n`, or 0 for code that accepts any `n`.
#[inline(always)]
pub fn eliminate<V: Vector, const N: usize>(a: &mut [AlignedVector], n: usize, w: usize) -> Eliminated<V> {
    let n = constant::<N>(n);
    let a = &mut a[..n * w];
    let mut done = Eliminated { sign: V::splat(1.0), singular: 0 };
    for first in (0..n).step_by(PANEL) {
        let end = (first + PANEL).min(n);
        for k in first..end {
            let place = pivot_rows::<V>(a, n, w, k);
            let unmoved = place.equals(V::splat(k as f64));
            if unmoved.bits() != u8::MAX {
                let opposite = V::splat(0.0).minus_product(V::splat(1.0), done.sign);
                done.sign = opposite.replaced(unmoved, done.sign);
                exchange(a, n, w, [first, k], place);
            }
            let pivot = V::load(&a[k * w + k]);
            done.singular |= pivot.equals(V::splat(0.0)).bits();
            finish_row::<V>(a, w, [first, k, end]);
            update_panel(a, w, [k, end], pivot);
        }
        update::<V>(a, w, [first, end]);
    }
    done
}

/// In each lane, the row of the largest element of column `k` in or below row `k`; the first row if
/// several elements are equally large.
#[inline(always)]
fn pivot_rows<V: Vector>(a: &[AlignedVector], n: usize, w: usize, k: usize) -> V {
    let (mut largest, mut place) = (V::load(&a[k * w + k]).abs(), V::splat(k as f64));
    for i in k + 1..n {
        let x = V::load(&a[i * w + k]).abs();
        let more = x.exceeds(largest);
        largest = largest.replaced(more, x);
        place = place.replaced(more, V::splat(i as f64));
    }
    place
}

/// Exchanges row `k` with the row `place` of each lane, from column `first` on.
#[inline(always)]
fn exchange<V: Vector>(a: &mut [AlignedVector], n: usize, w: usize, [first, k]: [usize; 2], place: V) {
    // the rows to exchange and their lanes; at most one row for each lane
    let mut others = [(0, place.equals(place)); WIDTH];
    let mut count = 0;
    for i in k + 1..n {
        let here = place.equals(V::splat(i as f64));
        if here.bits() != 0 {
            others[count % WIDTH] = (i - k - 1, here);
            count += 1;
        }
    }
    let (upper, lower) = a.split_at_mut((k + 1) * w);
    for (j, x) in (first..w).zip(&mut upper[k * w + first..]) {
        let old = V::load(x);
        let mut new = old;
        for &(i, here) in &others[..count] {
            let y = &mut lower[i * w + j];
            let of_y = V::load(y);
            new = new.replaced(here, of_y);
            of_y.replaced(here, old).store(y);
        }
        new.store(x);
    }
}

/// Subtracts multiples of rows `first..k` from row `k`, in the columns from `end` on.
#[inline(always)]
fn finish_row<V: Vector>(a: &mut [AlignedVector], w: usize, [first, k, end]: [usize; 3]) {
    let (upper, row) = a.split_at_mut(k * w);
    let row = &mut row[..w];
    for (p, above) in (first..k).zip(upper[first * w..].chunks_exact(w)) {
        let factor = V::load(&row[p]);
        subtract(&mut row[end..], factor, &above[end..]);
    }
}

/// Computes the factors of row `k` for the rows below, and subtracts the multiples of row `k` in the columns before
/// `end`.
#[inline(always)]
fn update_panel<V: Vector>(a: &mut [AlignedVector], w: usize, [k, end]: [usize; 2], pivot: V) {
    let (upper, lower) = a.split_at_mut((k + 1) * w);
    let row = &upper[k * w..][k + 1..end];
    for other in lower.chunks_exact_mut(w) {
        let factor = V::load(&other[k]).over(pivot);
        factor.store(&mut other[k]);
        subtract(&mut other[k + 1..end], factor, row);
    }
}

/// Subtracts the multiples of rows `first..end`, which are `PANEL` rows, from the rows below, in the columns from `end`
/// on.
#[inline(always)]
fn update<V: Vector>(a: &mut [AlignedVector], w: usize, [first, end]: [usize; 2]) {
    let (upper, lower) = a.split_at_mut(end * w);
    if lower.is_empty() {
        return;
    }
    let mut rows = upper[first * w..].chunks_exact(w);
    let [Some(r0), Some(r1), Some(r2), Some(r3)] = [(); PANEL].map(|()| rows.next()) else { return };
    let pivots = || r0[end..].iter().zip(&r1[end..]).zip(&r2[end..]).zip(&r3[end..]);
    for row in lower.chunks_exact_mut(w) {
        let f = [V::load(&row[first]), V::load(&row[first + 1]), V::load(&row[first + 2]), V::load(&row[first + 3])];
        for (x, (((y0, y1), y2), y3)) in row[end..].iter_mut().zip(pivots()) {
            let sum = V::load(x).minus_product(f[0], V::load(y0)).minus_product(f[1], V::load(y1));
            sum.minus_product(f[2], V::load(y2)).minus_product(f[3], V::load(y3)).store(x);
        }
    }
}

/// Solves the triangular systems that the elimination leaves. Overwrites the right-hand sides with the solutions.
#[inline(always)]
pub fn substitute<V: Vector, const N: usize>(a: &mut [AlignedVector], n: usize, w: usize) {
    let n = constant::<N>(n);
    for i in (0..n).rev() {
        let (upper, lower) = a[..n * w].split_at_mut((i + 1) * w);
        let (of_a, of_b) = upper[i * w..].split_at_mut(n);
        substitute_row::<V>(&of_a[i..n], of_b, lower, w, n);
    }
}

/// Computes a row of the solutions from the rows `solved` below, in which the solutions begin at column `start`.
/// `factors` has the pivot and the elements to the right of it.
#[inline(always)]
fn substitute_row<V: Vector>(
    factors: &[AlignedVector],
    b: &mut [AlignedVector],
    solved: &[AlignedVector],
    w: usize,
    start: usize,
) {
    let mut columns = b.chunks_exact_mut(4);
    let mut place = start;
    for x in &mut columns {
        substitute_columns::<V, 4>(factors, x, solved, w, place);
        place += 4;
    }
    for x in columns.into_remainder().chunks_exact_mut(1) {
        substitute_columns::<V, 1>(factors, x, solved, w, place);
        place += 1;
    }
}

/// Like [`substitute_row`], for `C` columns.
#[inline(always)]
fn substitute_columns<V: Vector, const C: usize>(
    factors: &[AlignedVector],
    x: &mut [AlignedVector],
    solved: &[AlignedVector],
    w: usize,
    place: usize,
) {
    let mut sums = [V::splat(0.0); C];
    for c in 0..C {
        sums[c] = V::load(&x[c]);
    }
    let pivot = V::load(&factors[0]);
    for (factor, row) in factors[1..].iter().zip(solved.chunks_exact(w)) {
        let factor = V::load(factor);
        let row = &row[place..][..C];
        for c in 0..C {
            sums[c] = sums[c].minus_product(factor, V::load(&row[c]));
        }
    }
    for c in 0..C {
        sums[c].over(pivot).store(&mut x[c]);
    }
}

/// Returns two results for the matrices, which are in rows of `n` elements: for each matrix, the product of its sign
/// and its diagonal elements; and one bit for each matrix, which is set if an intermediate product is close to the
/// limits of doubles.
#[inline(always)]
pub fn products<V: Vector>(a: &[AlignedVector], n: usize, sign: V) -> (V, u8) {
    let (least, most) = (V::splat(PRODUCTS.start), V::splat(PRODUCTS.end));
    let (mut product, mut far) = (sign, 0);
    for pivot in a.iter().step_by(n + 1).take(n) {
        product = product.times(V::load(pivot));
        let magnitude = product.abs();
        far |= !magnitude.reaches(least).and(most.exceeds(magnitude)).bits();
    }
    (product, far)
}

/// The elements on the diagonal in lane `l`, of matrices in rows of `n` elements.
pub fn pivots(a: &[AlignedVector], n: usize, l: usize) -> impl Iterator<Item = f64> + Clone {
    a.iter().step_by(n + 1).take(n).map(move |x| x.0[l])
}

/// Copies up to eight matrices into lanes: `n` rows, whose elements go to the places from `start` on of rows of `w`
/// elements. `from` has the matrices, column by column. Lanes without a matrix get the last one. Returns the bits of
/// the matrices with elements that need scaling, or that are infinite or NaN.
#[inline(always)]
pub fn load<V: Vector>(a: &mut [AlignedVector], from: &[f64], [n, columns]: [usize; 2], w: usize, start: usize) -> u8 {
    let size = n * columns;
    let last = (from.len() / size).max(1) - 1;
    let (zero, least, most) = (V::splat(0.0), V::splat(ORDINARY_RANGE[0]), V::splat(ORDINARY_RANGE[1]));
    let mut extremes = 0;
    for j in 0..columns {
        let of = |l: usize| &from[l.min(last) * size + j * n..][..n];
        let c: [&[f64]; WIDTH] = [of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)];
        for (i, to) in a[start + j..].iter_mut().step_by(w).take(n).enumerate() {
            let x = V::of([c[0][i], c[1][i], c[2][i], c[3][i], c[4][i], c[5][i], c[6][i], c[7][i]]);
            x.store(to);
            let magnitude = x.abs();
            let is_normal = magnitude.reaches(least).and(most.reaches(magnitude));
            extremes |= !is_normal.or(x.equals(zero)).bits();
        }
    }
    extremes
}

/// The inverse of [`load`]. Leaves the matrices of the bits `except` unchanged.
#[inline(always)]
pub fn store(a: &[AlignedVector], to: &mut [f64], [n, columns]: [usize; 2], w: usize, start: usize, except: u8) {
    for (l, matrix) in to.chunks_exact_mut(n * columns).enumerate().take(WIDTH) {
        if except >> l & 1 != 0 {
            continue;
        }
        for (j, column) in matrix.chunks_exact_mut(n).enumerate() {
            for (x, from) in column.iter_mut().zip(a[start + j..].iter().step_by(w)) {
                *x = from.0[l];
            }
        }
    }
}
