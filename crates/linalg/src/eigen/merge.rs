//! Joins the eigenvalues and eigenvectors of two halves of a symmetric tridiagonal matrix.
//!
//! In the basis of the eigenvectors of the halves, the matrix is a diagonal matrix plus a matrix of rank one. If an
//! element of the rank-one vector is negligible, or if two diagonal elements are nearly equal, an eigenvalue of a half
//! is also an eigenvalue of the whole matrix up to rounding (it is deflated). The other eigenvalues are roots of the
//! secular equation, and their eigenvectors are products of two matrices.

use super::secular;
use crate::{
    Result,
    instructions::Set,
    lanes::LANES,
    room::{list, matrix, matrix_mut},
    scale,
};
use faer::{Accum, Par, linalg::matmul::matmul};
use std::f64::consts::FRAC_1_SQRT_2;

/// The number of eigenvectors that are computed at a time, so that they stay in the cache.
const TILE: usize = 96;

/// Numbers of lists in a [`Room`]: lists of floating-point numbers, and lists of indices.
const NUMBERS: usize = 8;
const INDICES: usize = 4;

/// Memory for the joins of all levels.
pub struct Room {
    columns: Vec<f64>,
    vectors: Vec<f64>,
    products: Vec<f64>,
    numbers: Vec<f64>,
    indices: Vec<usize>,
}

impl Room {
    /// Memory for a matrix of `n` rows. If `has_joins` is false, there is no memory for eigenvectors.
    pub fn new(n: usize, has_joins: bool) -> Result<Room> {
        let tile = if has_joins { n * n.min(TILE) } else { 0 };
        Ok(Room {
            columns: list(if tile > 0 { n * n } else { 0 }, 0.0)?,
            vectors: list(tile, 0.0)?,
            products: list(tile, 0.0)?,
            numbers: list(NUMBERS * n, 0.0)?,
            indices: list(INDICES * n, 0)?,
        })
    }
}

/// Rows in which an eigenvector may be nonzero: the first half, both halves, or the second half.
const FIRST: usize = 0;
const BOTH: usize = 1;
const SECOND: usize = 2;

/// The first `N` pieces of `length` elements of a list.
fn pieces<T, const N: usize>(list: &mut [T], length: usize) -> [&mut [T]; N] {
    let mut rest = list;
    [(); N].map(|()| {
        let (piece, others) = std::mem::take(&mut rest).split_at_mut(length);
        rest = others;
        piece
    })
}

/// Two different columns of `q`.
fn two_columns(q: &mut [f64], stride: usize, n: usize, i: usize, j: usize) -> (&mut [f64], &mut [f64]) {
    let (low, high) = (i.min(j), i.max(j));
    let (a, b) = q.split_at_mut(high * stride);
    let (a, b) = (&mut a[low * stride..][..n], &mut b[..n]);
    if i < j { (a, b) } else { (b, a) }
}

/// A rank-one update of a diagonal matrix, `diag(d) + rho z z'`, in the basis of the columns of `q`.
struct Update<'a> {
    d: &'a mut [f64],
    z: &'a mut [f64],
    kind: &'a mut [usize],
    q: &'a mut [f64],
    stride: usize,
}

impl Update<'_> {
    /// Rotates the columns `i` and `j` of `q` so that `z[i]` becomes 0. The rotation creates an off-diagonal element,
    /// which is ignored. If this element would exceed `tolerance`, does nothing and returns false.
    fn rotate(&mut self, i: usize, j: usize, tolerance: f64) -> bool {
        let length = self.z[i].hypot(self.z[j]);
        let (cosine, sine) = (self.z[j] / length, -self.z[i] / length);
        if ((self.d[j] - self.d[i]) * cosine * sine).abs() > tolerance {
            return false;
        }
        (self.z[i], self.z[j]) = (0.0, length);
        if self.kind[i] != self.kind[j] {
            self.kind[j] = BOTH;
        }
        let n = self.d.len();
        let (x, y) = two_columns(self.q, self.stride, n, i, j);
        for (x, y) in x.iter_mut().zip(y) {
            (*x, *y) = (cosine * *x + sine * *y, cosine * *y - sine * *x);
        }
        let (a, b) = (self.d[i], self.d[j]);
        self.d[i] = a * cosine * cosine + b * sine * sine;
        self.d[j] = a * sine * sine + b * cosine * cosine;
        true
    }

    /// Moves the indices of deflated eigenvalues to the end of `places`, and keeps the others at the beginning, in the
    /// order of ascending `d`. Returns the number of kept indices. `places` must hold all indices, in the order of
    /// ascending `d`.
    fn deflate(&mut self, places: &mut [usize], deflated: &mut [usize], rho: f64) -> usize {
        let largest = self.d.iter().fold(rho, |largest, d| largest.max(d.abs()));
        let tolerance = 8.0 * f64::EPSILON * largest;
        let (mut kept, mut gone) = (0, 0);
        let mut previous: Option<usize> = None;
        for at in 0..places.len() {
            let j = places[at];
            if rho * self.z[j].abs() <= tolerance {
                deflated[gone] = j;
                gone += 1;
                continue;
            }
            if let Some(i) = previous {
                if self.rotate(i, j, tolerance) {
                    deflated[gone] = i;
                    gone += 1;
                } else {
                    places[kept] = i;
                    kept += 1;
                }
            }
            previous = Some(j);
        }
        if let Some(i) = previous {
            places[kept] = i;
            kept += 1;
        }
        places[kept..].copy_from_slice(&deflated[..gone]);
        kept
    }
}

/// Joins two halves of a symmetric tridiagonal matrix. `d` has the eigenvalues of both halves, with `half` eigenvalues
/// of the first half in front. The columns of `q` are the eigenvectors, with zeros in the rows of the other half. `off`
/// is the off-diagonal element between the halves; its magnitude was subtracted from the diagonal elements on both
/// sides. Overwrites `d` with the eigenvalues of the whole matrix, in ascending order, and `q` with its eigenvectors.
pub fn merge(
    set: Set,
    d: &mut [f64],
    half: usize,
    off: f64,
    q: &mut [f64],
    stride: usize,
    room: &mut Room,
) -> Result<()> {
    let n = d.len();
    let [z, poles, squares, origins, distances, weights, sorted_poles, sorted_z] = pieces(&mut room.numbers, n);
    let [places, spare, kind, order] = pieces(&mut room.indices, n);
    // scales by a power of two, so that no square overflows or underflows
    let exponent = scale::needed(d.iter().copied().chain([off])).unwrap_or(0);
    scale::scale(d, -exponent);
    let off = scale::scaled(off, -exponent);
    let rho = 2.0 * off.abs();
    for j in 0..n {
        let element = if j < half { q[j * stride + half - 1] } else { q[j * stride + half] * 1_f64.copysign(off) };
        z[j] = element * FRAC_1_SQRT_2;
        kind[j] = if j < half { FIRST } else { SECOND };
        places[j] = j;
    }
    places.sort_unstable_by(|&i, &j| d[i].total_cmp(&d[j]).then(i.cmp(&j)));
    let k = Update { d, z, kind, q, stride }.deflate(places, spare, rho);
    let (kept, deflated) = places.split_at(k);

    let lists = [&mut *poles, &mut *squares, &mut *origins, &mut *distances, &mut *weights];
    solve(set, d, z, kept, rho, lists);
    let (origins, distances, weights) = (&origins[..k], &distances[..k], &weights[..k]);

    // orders the kept columns by their kinds
    let mut count = 0;
    let mut ends = [0; 3];
    for (of_kind, end) in ends.iter_mut().enumerate() {
        for (r, _) in kept.iter().enumerate().filter(|&(_, &i)| kind[i] == of_kind) {
            spare[count] = r;
            count += 1;
        }
        *end = count;
    }
    let by_kind = &spare[..k];
    for (to, &r) in by_kind.iter().enumerate() {
        sorted_poles[to] = poles[r];
        sorted_z[to] = weights[r].sqrt().copysign(z[kept[r]]);
    }
    let (in_first, from_second) = (ends[BOTH], ends[FIRST]);
    let (first, rest) = room.columns.split_at_mut(half * in_first);
    let (second, aside) = rest.split_at_mut((n - half) * (k - from_second));
    for (to, &r) in first.chunks_exact_mut(half).zip(by_kind) {
        to.copy_from_slice(&q[kept[r] * stride..][..half]);
    }
    for (to, &r) in second.chunks_exact_mut(n - half).zip(&by_kind[from_second..]) {
        to.copy_from_slice(&q[kept[r] * stride + half..][..n - half]);
    }
    for (to, &i) in aside.chunks_exact_mut(n).zip(deflated) {
        to.copy_from_slice(&q[i * stride..][..n]);
    }

    // sorts the eigenvalues; before, the roots have the indices below `k`, followed by the deflated eigenvalues
    let values = squares;
    (0..k).for_each(|j| values[j] = origins[j] + distances[j]);
    (k..n).for_each(|j| values[j] = d[deflated[j - k]]);
    (0..n).for_each(|j| order[j] = j);
    order.sort_unstable_by(|&i, &j| values[i].total_cmp(&values[j]).then(i.cmp(&j)));
    let to = kind;
    for (place, &j) in order.iter().enumerate() {
        d[place] = values[j];
        to[j] = place;
    }
    scale::scale(d, exponent);

    for (column, &place) in aside.chunks_exact(n).zip(&to[k..]) {
        q[place * stride..][..n].copy_from_slice(column);
    }
    for (tile, of_tile) in to[..k].chunks(TILE).enumerate() {
        let (from, width) = (tile * TILE, of_tile.len());
        let (origins, distances) = (&origins[from..][..width], &distances[from..][..width]);
        let vectors = &mut room.vectors[..k * width];
        secular::vectors(set, &sorted_poles[..k], &sorted_z[..k], origins, distances, vectors);
        let vectors = matrix(vectors, k, width);
        let products = &mut room.products[..n * width];
        let (above, below) = matrix_mut(products, n, width).split_at_row_mut(half);
        let (rows, replace) = (n - half, Accum::Replace);
        matmul(above, replace, matrix(first, half, in_first), vectors.subrows(0, in_first), 1.0, Par::Seq);
        let of_second = vectors.subrows(from_second, k - from_second);
        matmul(below, replace, matrix(second, rows, k - from_second), of_second, 1.0, Par::Seq);
        for (column, &place) in products.chunks_exact(n).zip(of_tile) {
            q[place * stride..][..n].copy_from_slice(column);
        }
    }
    Ok(())
}

/// Solves the secular equation for the kept columns. Fills the lists `poles`, `squares`, `origins`,
/// `distances` and `weights`.
fn solve(set: Set, d: &[f64], z: &[f64], kept: &[usize], rho: f64, lists: [&mut [f64]; 5]) {
    let k = kept.len();
    let [poles, squares, origins, distances, weights] = lists.map(|list| &mut list[..k]);
    for (r, &i) in kept.iter().enumerate() {
        poles[r] = d[i];
        squares[r] = z[i] * z[i];
    }
    if k == 1 {
        (origins[0], distances[0], weights[0]) = (poles[0], rho * squares[0], 1.0);
        return;
    }
    let sum = squares.iter().sum();
    let groups = origins.chunks_mut(LANES).zip(distances.chunks_mut(LANES));
    for (group, (origins, distances)) in groups.enumerate() {
        secular::roots(set, poles, squares, rho, sum, group * LANES, origins, distances);
    }
    for (group, weights) in weights.chunks_mut(LANES).enumerate() {
        secular::weights(set, poles, origins, distances, group * LANES, weights);
    }
}
