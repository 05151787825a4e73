//! Eigenvalues and eigenvectors of a diagonal matrix plus a matrix of rank one, by the secular equation.
//!
//! The matrix is `diag(poles) + rho z z'` with ascending poles, `rho > 0`, and no zeros in `z`. Its eigenvalues are the
//! roots of `f(x) = 1 / rho + sum of z_i^2 / (pole_i - x)`. One root lies between each pole and the next pole, and one
//! root lies above the last pole.
//!
//! A root is stored as the nearer of its neighbouring poles (the origin) and the distance from this pole. The
//! differences between roots and poles are therefore accurate, even if a root and a pole are equal as doubles.

use crate::{
    instructions::versions,
    lanes::{F64x8, LANES, Mask},
};

/// Maximum number of iterations for one root. From iteration `SLOW` on, every second iteration halves the number of
/// doubles in the root's bracket. This number is at most 2^64, so every root is found.
const MAX_ITERATIONS: usize = SLOW + 2 * 66;
const SLOW: usize = 10;

/// The sum over the poles below the root (`psi`), the sum over the poles above it (`phi`), and their derivatives.
struct Sums {
    psi: F64x8,
    of_psi: F64x8,
    phi: F64x8,
    of_phi: F64x8,
}

/// Sums of `z_i^2 / (pole_i - x)` at `x = origin + distance`. The lanes belong to the roots `first`, `first + 1`, ...
#[inline(always)]
fn sums(poles: &[f64], squares: &[f64], first: usize, origin: F64x8, distance: F64x8) -> Sums {
    let zero = F64x8::all(0.0);
    let term = |pole: f64, square: f64| {
        let inverse = F64x8::all(1.0) / ((F64x8::all(pole) - origin) - distance);
        let term = F64x8::all(square) * inverse;
        (term, term * inverse)
    };
    let (mut psi, mut of_psi, mut phi, mut of_phi) = (zero, zero, zero, zero);
    let end = poles.len().min(first + LANES);
    for (&pole, &square) in poles[..first].iter().zip(&squares[..first]) {
        let (term, derivative) = term(pole, square);
        (psi, of_psi) = (psi + term, of_psi + derivative);
    }
    let lane = F64x8::from_fn(|l| l as f64);
    for (i, (&pole, &square)) in poles[first..end].iter().zip(&squares[first..end]).enumerate() {
        let (term, derivative) = term(pole, square);
        let below = lane.at_least(F64x8::all(i as f64));
        psi = psi + below.choose(term, zero);
        of_psi = of_psi + below.choose(derivative, zero);
        phi = phi + below.choose(zero, term);
        of_phi = of_phi + below.choose(zero, derivative);
    }
    for (&pole, &square) in poles[end..].iter().zip(&squares[end..]) {
        let (term, derivative) = term(pole, square);
        (phi, of_phi) = (phi + term, of_phi + derivative);
    }
    Sums { psi, of_psi, phi, of_phi }
}

/// The root of smaller magnitude of `c x^2 - a x + b`.
#[inline(always)]
fn smaller_root(a: F64x8, b: F64x8, c: F64x8) -> F64x8 {
    let two = F64x8::all(2.0);
    let root = (a * a - F64x8::all(4.0) * (b * c)).abs().map(f64::sqrt);
    let positive = a.greater(F64x8::all(0.0));
    // chooses the form without cancellation, so that one division is enough
    let above = positive.choose(two * b, a - root);
    let below = positive.choose(a + root, two * c);
    above / below
}

/// A number between `low` and `high`; these two must not have opposite signs. Without `by_bits`, it is their mean. With
/// `by_bits`, as many doubles are between it and `low` as between it and `high`.
#[inline(always)]
fn middle(low: F64x8, high: F64x8, by_bits: bool) -> F64x8 {
    if !by_bits {
        return F64x8::all(0.5) * (low + high);
    }
    let bits = |x: f64| x.abs().to_bits();
    F64x8::from_fn(|l| {
        let (low, high) = (low.0[l], high.0[l]);
        let between = f64::from_bits(u64::midpoint(bits(low), bits(high)));
        if low < 0.0 || high < 0.0 { -between } else { between }
    })
}

versions! {
    /// Computes up to eight roots, from root `first` on, as origins and distances. `squares` are the squares of the
    /// elements of `z`, and `sum` is their sum. `origins` and `distances` have one element per root.
    pub fn roots(
        poles: &[f64], squares: &[f64], rho: f64, sum: f64, first: usize, origins: &mut [f64], distances: &mut [f64],
    ) {
        let (k, count) = (poles.len(), origins.len());
        let (zero, half) = (F64x8::all(0.0), F64x8::all(0.5));
        // the lanes beyond the last root compute the last root
        let index = |l: usize| first + l.min(count - 1);
        let last = F64x8::from_fn(|l| index(l) as f64).at_least(F64x8::all((k - 1) as f64));
        let pole = F64x8::from_fn(|l| poles[index(l)]);
        // the last root exceeds its pole by at most `rho * sum`; the factor slightly above 1 allows for rounding errors
        let end = rho * sum * (1.0 + 16.0 * f64::EPSILON);
        let gap = F64x8::from_fn(|l| poles.get(index(l) + 1).map_or(end, |next| next - poles[index(l)]));
        let square = F64x8::from_fn(|l| squares[index(l)]);
        let of_next = F64x8::from_fn(|l| squares.get(index(l) + 1).map_or(0.0, |&next| next));
        let inverse = F64x8::all(1.0 / rho);

        // the sign of f in the middle of the interval tells which pole is nearer
        let mid = gap * half;
        let at_mid = sums(poles, squares, first, pole, mid);
        let f = inverse + (at_mid.psi + at_mid.phi);
        let is_left = f.at_least(zero);
        let from_left = is_left.or(last);
        let next = F64x8::from_fn(|l| poles.get(index(l) + 1).map_or(0.0, |&next| next));
        let origin = from_left.choose(pole, next);
        // the bracket of the distance
        let mut low = is_left.choose(zero, from_left.choose(mid, zero - mid));
        let mut high = is_left.choose(mid, from_left.choose(gap, zero));

        // the first guess: the root if the terms of all poles but the two nearest are constant
        let rest = f + (square - of_next) / mid;
        let both = square + of_next;
        let a = from_left.choose(rest * gap + both, both - rest * gap);
        let b = from_left.choose(square, zero - of_next) * gap;
        let mut distance = smaller_root(a, b, rest);
        distance = distance.greater(low).and(distance.less(high)).choose(distance, middle(low, high, false));

        let (to_pole, to_next) = (from_left.choose(zero, zero - gap), from_left.choose(gap, zero));
        let mut open = Mask::all(true);
        for iteration in 0..MAX_ITERATIONS {
            let at = sums(poles, squares, first, origin, distance);
            let f = inverse + (at.psi + at.phi);
            let size = inverse + (at.phi - at.psi);
            let is_low = f.less(zero);
            low = is_low.choose(distance, low);
            high = is_low.choose(high, distance);
            let ulp = F64x8::all(f64::EPSILON) * distance.abs();
            open = open.and(f.abs().greater(F64x8::all(8.0 * f64::EPSILON) * size)).and((high - low).greater(ulp));
            if !open.any() {
                break;
            }
            // replaces each sum in f by a constant and one pole, with the same value and derivative
            let (left, right) = (to_pole - distance, to_next - distance);
            let slope = at.of_psi + at.of_phi;
            let product = left * right;
            let step = smaller_root(
                (left + right) * f - product * slope,
                product * f,
                f - left * at.of_psi - right * at.of_phi,
            );
            // above the last pole, there is only one sum
            let of_one = left * at.of_psi;
            let step = last.choose(left + (left * of_one) / (f - of_one), step);
            let is_right = (f * step).less(zero);
            let step = is_right.choose(step, (zero - f) / slope);
            open = open.and(step.abs().greater(half * ulp));
            let next = distance + step;
            let by_bits = iteration >= SLOW && iteration % 2 == 0;
            let is_inside = next.greater(low).and(next.less(high)).and(Mask::all(!by_bits));
            distance = open.choose(is_inside.choose(next, middle(low, high, by_bits)), distance);
        }
        origins.copy_from_slice(&origin.0[..count]);
        distances.copy_from_slice(&distance.0[..count]);
    }

    /// Computes the weights of up to eight poles, from pole `first` on. They are the squares of the elements of
    /// `sqrt(rho) z` for the vector `z` with which the given roots are exact.
    ///
    /// The eigenvectors of the matrix with this `z` are orthogonal to working precision, even if the roots are not
    /// accurate (M. Gu and S. Eisenstat, SIAM J. Matrix Anal. Appl. 15, 1994).
    pub fn weights(poles: &[f64], origins: &[f64], distances: &[f64], first: usize, weights: &mut [f64]) {
        let (k, count) = (poles.len(), weights.len());
        let end = first + count;
        let own = F64x8::from_fn(|l| poles[first + l.min(count - 1)]);
        let lane = F64x8::from_fn(|l| l as f64);
        let to_root = |j: usize| (own - F64x8::all(origins[j])) - F64x8::all(distances[j]);
        // divides the distance to each root by the distance to the pole behind the root, so every factor is at most 1
        let mut product = to_root(k - 1);
        for (j, &pole) in poles[..first].iter().enumerate() {
            product = product * (to_root(j) / (own - F64x8::all(pole)));
        }
        for j in first..end.min(k - 1) {
            let is_below = lane.greater(F64x8::all((j - first) as f64));
            product = product * (to_root(j) / (own - is_below.choose(F64x8::all(poles[j]), F64x8::all(poles[j + 1]))));
        }
        for j in end..(k - 1).max(end) {
            product = product * (to_root(j) / (own - F64x8::all(poles[j + 1])));
        }
        weights.copy_from_slice(&product.abs().0[..count]);
    }

    /// Fills the columns of `vectors` with eigenvectors of length 1, one for each root. A column is
    /// as long as `poles`. `poles` may have any order, and `z` must have the same order.
    pub fn vectors(poles: &[f64], z: &[f64], origins: &[f64], distances: &[f64], vectors: &mut [f64]) {
        let of_roots = origins.iter().zip(distances);
        for (vector, (&origin, &distance)) in vectors.chunks_exact_mut(poles.len()).zip(of_roots) {
            let mut squares = F64x8::all(0.0);
            let (origins, distances) = (F64x8::all(origin), F64x8::all(distance));
            let (groups, rest) = vector.as_chunks_mut::<LANES>();
            let (of_poles, rest_of_poles) = poles.as_chunks::<LANES>();
            let (of_z, rest_of_z) = z.as_chunks::<LANES>();
            for ((group, &pole), &z) in groups.iter_mut().zip(of_poles).zip(of_z) {
                let x = F64x8(z) / ((F64x8(pole) - origins) - distances);
                squares = squares + x * x;
                *group = x.0;
            }
            let mut square: f64 = squares.0.iter().sum();
            for ((x, pole), z) in rest.iter_mut().zip(rest_of_poles).zip(rest_of_z) {
                *x = z / ((pole - origin) - distance);
                square += *x * *x;
            }
            let length = 1.0 / square.sqrt();
            vector.iter_mut().for_each(|x| *x *= length);
        }
    }
}
