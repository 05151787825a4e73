//! Eigenvalues and eigenvectors of small symmetric tridiagonal matrices, by the QL method with implicit shifts.

use crate::{
    Failure, Result,
    instructions::{Set, versions},
    scale,
};

/// The largest matrix for this method.
pub const LARGEST: usize = 32;

/// Maximum number of sweeps for one eigenvalue. Two are usual.
const MAX_SWEEPS: usize = 100;

/// After this number of sweeps for one eigenvalue, an off-diagonal element counts as 0 up to the rounding error of the
/// matrix's largest element. Until then, the limit is the rounding error of the neighbouring diagonal elements.
const PATIENT: usize = 40;

/// The order of the rows and columns may be reversed before the first sweep for an eigenvalue, and
/// again after each `REVERSE` sweeps.
const REVERSE: usize = 25;

/// Off-diagonal elements smaller than 2^-900 count as 0. The largest element is at least 2^-200.
const NEGLIGIBLE: f64 = f64::from_bits((1023 - 900) << 52);

/// The length of a vector of two elements.
#[inline(always)]
fn length(x: f64, y: f64) -> f64 {
    let square = x * x + y * y;
    if (1e-280..1e280).contains(&square) { square.sqrt() } else { x.hypot(y) }
}

/// Reverses the order of rows and columns. `v` has one column per element of `d`.
fn reverse(d: &mut [f64], e: &mut [f64], v: &mut [f64]) {
    d.reverse();
    e.reverse();
    let n = v.len() / d.len();
    let count = d.len();
    for j in 0..count / 2 {
        let (first, second) = v.split_at_mut((count - 1 - j) * n);
        first[j * n..][..n].swap_with_slice(&mut second[..n]);
    }
}

versions! {
    /// Replaces the diagonal `d` by the eigenvalues, in any order, and multiplies `v` from the
    /// right by the matrix of the eigenvectors. `e` has the elements below the diagonal, followed
    /// by a 0; it is overwritten. Returns whether the iteration converged.
    pub fn sweeps(d: &mut [f64], e: &mut [f64], v: &mut [f64]) -> bool {
        let n = d.len();
        let largest = d.iter().chain(e.iter()).fold(0.0, |largest: f64, x| largest.max(x.abs()));
        for first in 0..n {
            let (mut count, mut negligible) = (0, NEGLIGIBLE);
            loop {
                let is_negligible = |e: f64, d: f64, next: f64| {
                    e.abs() <= f64::EPSILON * (d.abs() + next.abs()) || e.abs() < negligible
                };
                let mut end = first;
                while end + 1 < n && !is_negligible(e[end], d[end], d[end + 1]) {
                    end += 1;
                }
                if end == first {
                    break;
                }
                // puts small elements first: otherwise the shift is lost in the rounding errors of large elements
                if count % REVERSE == 0 && d[end].abs() + e[end - 1].abs() < d[first].abs() + e[first].abs() {
                    reverse(&mut d[first..=end], &mut e[first..end], &mut v[first * n..(end + 1) * n]);
                }
                count += 1;
                if count > PATIENT {
                    negligible = f64::EPSILON * largest;
                }
                if count > MAX_SWEEPS {
                    return false;
                }
                // the shift is the eigenvalue of the first 2 by 2 block that is nearer to the block's first element
                let half = (d[first + 1] - d[first]) / (2.0 * e[first]);
                let shift = half + length(half, 1.0).copysign(half);
                let mut g = d[end] - d[first] + e[first] / shift;
                let (mut sine, mut cosine, mut p) = (1.0, 1.0, 0.0);
                let mut is_whole = true;
                for i in (first..end).rev() {
                    let (f, b) = (sine * e[i], cosine * e[i]);
                    let r = length(f, g);
                    e[i + 1] = r;
                    if r == 0.0 {
                        // the matrix splits here
                        d[i + 1] -= p;
                        e[end] = 0.0;
                        is_whole = false;
                        break;
                    }
                    (sine, cosine) = (f / r, g / r);
                    g = d[i + 1] - p;
                    let t = (d[i] - g) * sine + 2.0 * cosine * b;
                    p = sine * t;
                    d[i + 1] = g + p;
                    g = cosine * t - b;
                    let (x, y) = v[i * n..(i + 2) * n].split_at_mut(n);
                    for (x, y) in x.iter_mut().zip(y) {
                        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
                    }
                }
                if is_whole {
                    d[first] -= p;
                    e[first] = g;
                    e[end] = 0.0;
                }
            }
        }
        true
    }
}

/// Replaces the diagonal `d` of a symmetric tridiagonal matrix by its eigenvalues in ascending
/// order, and the columns of `q` by its eigenvectors. `e` has the elements below the diagonal. The
/// columns of `q` are `stride` apart. The matrix has at most [`LARGEST`] rows.
pub fn small(set: Set, d: &mut [f64], e: &[f64], q: &mut [f64], stride: usize) -> Result<()> {
    let n = d.len();
    let (mut v, mut off) = ([0.0; LARGEST * LARGEST], [0.0; LARGEST]);
    let v = &mut v[..n * n];
    (0..n).for_each(|i| v[i * (n + 1)] = 1.0);
    let off = &mut off[..n];
    off[..n - 1].copy_from_slice(e);
    // a small block of a matrix with large elements may need scaling, although the whole matrix does not
    let exponent = scale::needed(d.iter().chain(off.iter()).copied()).unwrap_or(0);
    scale::scale(d, -exponent);
    scale::scale(off, -exponent);
    if !sweeps(set, d, off, v) {
        return Err(Failure::NoConvergence);
    }
    scale::scale(d, exponent);
    let mut order: [usize; LARGEST] = std::array::from_fn(|i| i);
    let order = &mut order[..n];
    order.sort_unstable_by(|&i, &j| d[i].total_cmp(&d[j]).then(i.cmp(&j)));
    let mut values = [0.0; LARGEST];
    for (j, &i) in order.iter().enumerate() {
        values[j] = d[i];
        q[j * stride..][..n].copy_from_slice(&v[i * n..][..n]);
    }
    d.copy_from_slice(&values[..n]);
    Ok(())
}
